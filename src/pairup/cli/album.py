"""``pairup album``: photos in, a sorted album out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pairup.cli.shell import MethodChoice, count
from pairup.methods import ALBUM_METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairup.album import Album, Frame, Photos, Style
    from pairup.album.wall import WallStep
    from pairup.cli.shell import Progress

LISTED = 10  # photos left out that are named at most
LARGE = 3000  # photos from which on a wall is quicker to open than a page in one file, which then has no animation


@click.command()
@click.argument("sources", nargs=-1, metavar="PHOTOS...")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the album here: .html .png .jpg .pdf .svg .json or .csv; a folder or .zip becomes a wall that zooms, "
    "for any number of photos. May be given several times.",
)
@click.option(
    "--frame",
    default="auto",
    show_default=True,
    help="16x20 (rows x columns), auto, auto:1.5, text:777, shape:heart, mask:logo.png, ascii:drawing.txt, "
    "points:cells.csv or paper:mountain.",
)
@click.option(
    "--font",
    type=click.Path(exists=True, dir_okay=False),
    help="Font file for text frames [default: a font of this computer that has all characters].",
)
@click.option(
    "--pin",
    "pins",
    multiple=True,
    metavar="PHOTO=ROW,COLUMN",
    help="Put a photo on a cell, counted from 0; may be given several times.",
)
@click.option(
    "--features",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Your own vectors, such as embeddings: .npy, or parquet or csv with file names.",
)
@click.option(
    "--feature-names",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File names of the rows of a .npy of --features, one per line [default: listing order].",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Weight of colour, edges, date, pixels (Lab, as in the paper) or vectors; may be given several times.",
)
@click.option(
    "--method",
    type=MethodChoice(ALBUM_METHODS),
    default="auto",
    show_default=True,
    help="auto, or one of the paper's methods.",
)
@click.option("--draft", is_flag=True, help="Sort roughly, several times sooner.")
@click.option("--best", is_flag=True, help="Sort as well as possible, ten times as long or more.")
@click.option("--preview", is_flag=True, help="Print the frame for this number of photos, without sorting.")
@click.option("--cell", type=int, help="Pixels of a cell [default: so that the longer side has 4096, but at most 256].")
@click.option("--gap", type=float, default=0.04, show_default=True, help="Space between cells, as a share of a cell.")
@click.option("--background", default="white", show_default=True, help="A colour, or transparent.")
@click.option("--radius", type=float, default=0.0, show_default=True, help="Radius of corners, 0 to 0.5 cells.")
@click.option(
    "--fit",
    type=click.Choice(["crop", "whole"]),
    default="crop",
    show_default=True,
    help="crop fills the cell with the middle of the photo, whole shows all of it.",
)
@click.option(
    "--paper",
    help="Size of a PDF page: a0 to a6, letter, legal, tabloid, or 210x210 in mm [default: the size of the picture].",
)
@click.option("--dpi", type=int, default=300, show_default=True, help="Resolution of a PDF.")
@click.option("--title", default="Album", show_default=True, help="Title of the web page and the PDF.")
@click.option(
    "--originals",
    type=click.Choice(["none", "link", "copy"]),
    default="none",
    show_default=True,
    help="Whether a wall leads to the photos' own files, where they are or as copies; these keep their places and "
    "camera data.",
)
@click.option(
    "--previews",
    is_flag=True,
    help="Sort by the small previews that cameras put into photos: much quicker for large photos, and wrong for those "
    "edited since.",
)
@click.option("--cluster", metavar="ADDRESS", help="Decode the photos on the Dask scheduler at this address.")
@click.option("--no-cache", is_flag=True, help="Do not keep thumbnails on disk.")
@click.option(
    "--random-state",
    "--seed",
    "random_state",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the search; the same seed gives the same album.",
)
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
@click.option("-v", "--verbose", is_flag=True, help="Print the quality as DPQ16 too, and all photos left out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.option(
    "--captions",
    default="none",
    metavar="name|date|FILE",
    help="A line under each photo: its name, its date, or your own text from a csv of photo and caption.",
)
@click.option("--margin", type=float, default=10.0, show_default=True, help="Millimetres of paper around a PDF album.")
@click.option(
    "--bleed", type=float, default=0.0, show_default=True, help="Millimetres beyond the paper that are cut off."
)
@click.option(
    "--contact-sheet",
    metavar="ROWSxCOLUMNS",
    help="A PDF of many pages with so many photos each, such as 7x5; on a4 unless --paper is given.",
)
def command(
    sources: tuple[str, ...],
    outputs: tuple[Path, ...],
    frame: str,
    font: str | None,
    pins: tuple[str, ...],
    features: Path | None,
    feature_names: Path | None,
    weights: tuple[str, ...],
    method: str,
    draft: bool,
    best: bool,
    preview: bool,
    cell: int | None,
    gap: float,
    background: str,
    radius: float,
    fit: Literal["crop", "whole"],
    paper: str | None,
    dpi: int,
    title: str,
    originals: Literal["none", "link", "copy"],
    previews: bool,
    cluster: str | None,
    no_cache: bool,
    random_state: int,
    force: bool,
    verbose: bool,
    as_json: bool,
    captions: str,
    margin: float,
    bleed: float,
    contact_sheet: str | None,
) -> None:
    """Arrange PHOTOS (folders, files or globs) in a frame, similar photos side by side.

    A single .json that an earlier call wrote is loaded, to be written in other formats. Without -o only the quality
    of the album is printed.

    \b
    Examples:
      pairup album photos/ -o album.html
      pairup album photos/ -o heart.png -o heart.pdf --frame shape:heart
      pairup album archive/ -o wall/
      pairup album photos/ -o sheets.pdf --contact-sheet 7x5 --captions name
    """
    from pairup.album import Album, Frame, Style, arrange_steps, photo_features, read_photos
    from pairup.album.album import check_output
    from pairup.album.vectors import read_vectors
    from pairup.album.wall import check_wall_path, is_wall_path
    from pairup.cli.shell import no_chatter, progress, refuse_existing
    from pairup.cluster import on_cluster

    if not sources:
        raise click.UsageError(
            "no photos given; give a folder, files or a glob, such as: pairup album photos/ -o album.html"
        )
    if feature_names is not None and features is None:
        raise click.UsageError("--feature-names names the rows of --features; give that too")
    walls = [output for output in outputs if is_wall_path(output)]
    for output in outputs:
        check_output(output)
    for output in walls:
        check_wall_path(output, force=force)
    refuse_existing((output for output in outputs if output not in walls), force)
    page_rows, columns = _parse_contact_sheet(contact_sheet, frame, sources)
    style = Style(
        cell=cell,
        gap=gap,
        background=background,
        radius=radius,
        fit=fit,
        paper=paper or ("a4" if contact_sheet else None),
        dpi=dpi,
        title=title,
        captions=_read_captions(captions),
        margin=margin,
        bleed=bleed,
        page_rows=page_rows,
    )
    if len(sources) == 1 and sources[0].lower().endswith(".json"):
        with no_chatter():
            album = Album.load(sources[0])
        style = _name_captions(style, album.photos)
    else:
        chosen = Frame.parse(frame, font)
        places = dict(_parse_pin(pin) for pin in pins)
        shares = dict(_parse_weight(weight) for weight in weights)
        with no_chatter(), progress("reading photos", unit="photos") as bar, on_cluster(cluster):
            photos = read_photos(
                sources,
                cache=not no_cache,
                previews=previews,
                progress=lambda done, total: bar.update(f"reading photos {done}/{total}", done, total),
            )
        style = _name_captions(style, photos)
        if columns is not None:
            chosen = Frame.grid(-(-len(photos) // columns), columns)
        fitted = chosen.fit(len(photos))
        _warn_of_frame(chosen, fitted, len(photos))
        if preview:
            click.echo(fitted.preview())
            return
        vectors = None if features is None else read_vectors(features, photos, names=feature_names)
        sorting = f"sorting {count(len(photos), 'photo')}"
        with progress(sorting, total=1) as bar:
            steps = arrange_steps(
                photos,
                fitted,
                features=photo_features(photos, shares, vectors),
                pins=places,
                method=method,
                draft=draft,
                best=best,
                random_state=random_state,
                n_jobs=-1,
            )
            for step in steps:
                if isinstance(step, Album):
                    album = step
                else:
                    bar.update(sorting, step.progress)
        _tell_skipped(photos)
    with no_chatter(), progress("writing") as bar:
        for output in outputs:
            bar.update(f"writing {output.name}")
            if output in walls:
                _write_wall(album.write_wall(output, style, originals=originals, force=force), bar)
            else:
                album.save(output, style)
    _suggest_wall(album, outputs)
    text = json.dumps(_summarize(album, outputs), ensure_ascii=False) if as_json else _describe(album, outputs, verbose)
    click.echo(text.encode(errors="backslashreplace").decode())  # file names need not be UTF-8


def _parse_pin(text: str) -> tuple[str, tuple[float, float]]:
    """Read PHOTO=ROW,COLUMN."""
    name, equals, place = text.rpartition("=")
    row, comma, column = place.partition(",")
    try:
        if not (equals and comma):
            raise ValueError
        return name, (float(row), float(column))
    except ValueError:
        raise click.UsageError(f"--pin {text}: expected PHOTO=ROW,COLUMN, such as me.jpg=0,3") from None


def _parse_weight(text: str) -> tuple[str, float]:
    """Read NAME=NUMBER."""
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise click.UsageError(f"--weight {text}: expected NAME=NUMBER, such as date=0.5") from None


def _parse_contact_sheet(text: str | None, frame: str, sources: tuple[str, ...]) -> tuple[int, int] | tuple[None, None]:
    """Read ROWSxCOLUMNS."""
    if text is None:
        return None, None
    if frame != "auto":
        raise click.UsageError("--contact-sheet has its own frame; leave --frame out")
    if sources[0].lower().endswith(".json"):
        raise click.UsageError("--contact-sheet arranges photos anew; give the photos, not a saved album")
    rows, _, columns = text.lower().replace("×", "x").partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and 0 < int(rows) <= 1000 and 0 < int(columns) <= 1000):
        raise click.UsageError(f"--contact-sheet {text}: expected ROWSxCOLUMNS of each page, such as 7x5")
    return int(rows), int(columns)


def _read_captions(text: str) -> Any:
    """Read a csv of photo and caption; name, date and none are what they are."""
    import csv

    if text in ("none", "name", "date"):
        return text
    path = Path(text)
    if not path.is_file():
        raise click.UsageError(f"--captions {text}: expected name, date, or a csv file of photo and caption")
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if bad := next((line for line in lines if len(line) != 2), None):
        raise ValueError(f"{path}: expected two cells in each line, photo and caption, got {len(bad)}: {bad[:3]}")
    if lines and lines[0][0].lower() in ("photo", "file", "name", "filename"):
        lines = lines[1:]
    return dict(lines)


def _name_captions(style: "Style", photos: "Photos | None") -> "Style":
    """Find the photos that captions are for, whose names may be given without their folders."""
    if isinstance(style.captions, str) or photos is None:
        return style
    return replace(style, captions={photos[photos.find(name)].name: text for name, text in style.captions.items()})


def _tell_skipped(photos: "Photos") -> None:
    """List the files that were skipped, on stderr."""
    if photos.skipped:
        click.echo(f"{count(len(photos.skipped), 'file')} skipped:", err=True)
        for name, why in photos.skipped:
            click.echo(f"  {name!r}: {why}", err=True)


def _write_wall(steps: "Iterator[WallStep]", bar: "Progress") -> None:
    """Write a wall and draw its progress."""
    try:
        for step in steps:
            bar.update(f"{step.text} {step.done}/{step.total}", step.done, step.total)
    except KeyboardInterrupt:
        click.echo("the wall is not finished; the same command goes on where it was", err=True)
        raise


def _suggest_wall(album: "Album", outputs: tuple[Path, ...]) -> None:
    """Say on stderr that a wall would show so many photos better than a page in one file."""
    pages = [output for output in outputs if output.suffix.lower() == ".html"]
    if pages and len(album.order) > LARGE:
        click.echo(
            f"{pages[0].name} holds {len(album.order)} photos in one file, small and slow to open; -o "
            f"{pages[0].with_suffix('')}/ writes a wall that zooms to each of them",
            err=True,
        )


def _warn_of_frame(chosen: "Frame", fitted: "Frame", n: int) -> None:
    """Say on stderr where a frame does not show what was asked for."""
    if not fitted.legible:
        enough = chosen.find_legible(n)
        wanted = "many more" if enough is None else f"about {enough}"
        few = "is" if n == 1 else "are"
        click.echo(
            f"Warning: {count(n, 'photo')} {few} too few to show {chosen.name}; it needs {wanted}, or a simpler frame",
            err=True,
        )
    if 0 < len(fitted.cells) < len(chosen.cells):
        rows = int(chosen.cells[:, 0].max() - fitted.cells[:, 0].max())
        click.echo(
            f"{count(rows, 'row')} of {chosen.name} left out: {count(n, 'photo')} would leave them blank", err=True
        )


def _describe(album: "Album", outputs: tuple[Path, ...], verbose: bool) -> str:
    """Return the result as text."""
    shown = count(int((album.order >= 0).sum()), "photo")
    lines = [f"{shown} in {album.frame.name}: {album.quality.in_words}"]
    if verbose:
        lines.append(str(album.quality))
    if album.left_out:
        names = [repr(album.name(item)) for item in album.left_out]
        lines.append(f"{count(len(names), 'photo')} left out; a similar photo represents each:")
        lines += [f"  {name}" for name in names[: None if verbose else LISTED]]
        if len(names) > LISTED and not verbose:
            lines.append(f"  … and {len(names) - LISTED} more; --verbose lists all")
    return "\n".join([*lines, *(f"written: {output}" for output in outputs)])


def _summarize(album: "Album", outputs: tuple[Path, ...]) -> dict[str, Any]:
    """Return the result as plain values."""
    from dataclasses import asdict

    skipped = album.photos.skipped if album.photos is not None else ()
    return {
        "frame": album.frame.name,
        "cells": len(album.frame.cells),
        "photos": int((album.order >= 0).sum()),
        "left_out": [album.name(item) for item in album.left_out],
        "skipped": [{"file": name, "reason": why} for name, why in skipped],
        "quality": asdict(album.quality),
        "written": [str(output) for output in outputs],
    }
