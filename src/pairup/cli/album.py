"""``pairup album``: photos in, a sorted album out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from pairup.album import Album, Photos


@click.command()
@click.argument("sources", nargs=-1, metavar="PHOTOS...")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Write the album here: .html .png .jpg .pdf .svg .json or .csv; may be given several times.",
)
@click.option(
    "--frame",
    default="auto",
    show_default=True,
    help="16x20 (rows x columns), auto, auto:1.5, text:777, shape:heart, mask:logo.png, ascii:drawing.txt, "
    "points:cells.csv or paper:mountain.",
)
@click.option("--font", type=click.Path(dir_okay=False), help="Font file for text frames [default: one that is found].")
@click.option("--pin", "pins", multiple=True, metavar="PHOTO=ROW,COLUMN", help="A photo that has its place.")
@click.option("--features", type=click.Path(path_type=Path), help="Your own vectors: .npy, or csv keyed by file name.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Weight of colour, edges, date, pixels (Lab, as the paper) or vectors.",
)
@click.option(
    "--method", type=click.Choice(["default", "lsom", "ks-hsic", "ks-nocco"]), default="default", show_default=True
)
@click.option("--draft", is_flag=True, help="Sort roughly, ten times sooner.")
@click.option("--preview", is_flag=True, help="Print the frame for this number of photos, and do nothing else.")
@click.option("--cell", type=int, help="Pixels of a cell [default: so that the longer side has 4096].")
@click.option("--gap", type=float, default=0.04, show_default=True, help="Space between cells, in cells.")
@click.option("--background", default="white", show_default=True, help="A colour, or transparent.")
@click.option("--radius", type=float, default=0.0, show_default=True, help="Roundness of corners, 0 to 0.5.")
@click.option("--fit", type=click.Choice(["crop", "whole"]), default="crop", show_default=True)
@click.option("--paper", help="Size of a PDF page: a0 to a6, letter, legal, tabloid.")
@click.option("--dpi", type=int, default=300, show_default=True, help="Resolution of a PDF.")
@click.option("--title", default="Album", show_default=True)
@click.option("--cluster", metavar="ADDRESS", help="Decode the photos on the Dask scheduler at this address.")
@click.option("--no-cache", is_flag=True, help="Do not remember thumbnails on disk.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    sources: tuple[str, ...],
    outputs: tuple[Path, ...],
    frame: str,
    font: str | None,
    pins: tuple[str, ...],
    features: Path | None,
    weights: tuple[str, ...],
    method: str,
    draft: bool,
    preview: bool,
    cell: int | None,
    gap: float,
    background: str,
    radius: float,
    fit: Literal["crop", "whole"],
    paper: str | None,
    dpi: int,
    title: str,
    cluster: str | None,
    no_cache: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Arrange PHOTOS (folders, files or globs) in a frame, similar photos side by side.

    A single .json that an earlier call wrote is opened again, to be written in other forms. Without -o the album is
    only measured.
    """
    from pairup.album import Album, Frame, Style, arrange_steps, photo_features, read_photos
    from pairup.album.album import check_output
    from pairup.album.features import read_vectors
    from pairup.cli.shell import progress
    from pairup.parallel import on_cluster

    if not sources:
        raise click.UsageError(
            "name the photos: a folder, files or a glob, such as: pairup album photos/ -o album.html"
        )
    for output in outputs:
        check_output(output)
    style = Style(
        cell=cell,
        gap=gap,
        background=background,
        radius=radius,
        fit=fit,
        paper=paper,
        dpi=dpi,
        title=title,
    )
    if len(sources) == 1 and sources[0].lower().endswith(".json"):
        album = Album.open(sources[0])
    else:
        chosen = Frame.parse(frame, font)
        places = dict(_pin(pin) for pin in pins)
        shares = dict(_weight(weight) for weight in weights)
        with progress("reading photos", total=1) as bar, on_cluster(cluster):
            photos = read_photos(
                sources,
                cache=not no_cache,
                progress=lambda done, total: bar.update(f"reading photos {done}/{total}", done / total),
            )
        if preview:
            click.echo(chosen.fit(len(photos)).preview())
            return
        vectors = None if features is None else read_vectors(features, photos)
        with progress(f"sorting {len(photos)} photos", total=1) as bar:
            steps = arrange_steps(
                photos,
                chosen,
                features=photo_features(photos, shares, vectors),
                pins=places,
                method=method,
                draft=draft,
                seed=seed,
                n_jobs=-1,
            )
            for step in steps:
                if isinstance(step, Album):
                    album = step
                else:
                    bar.update(f"sorting {len(photos)} photos", step.progress)
        _tell_skipped(photos)
    with progress("writing"):
        for output in outputs:
            album.save(output, style)
    click.echo(json.dumps(_answer(album, outputs), ensure_ascii=False) if as_json else _line(album, outputs))


def _pin(text: str) -> tuple[str, tuple[float, float]]:
    name, equals, place = text.rpartition("=")
    row, comma, column = place.partition(",")
    try:
        if not (equals and comma):
            raise ValueError
        return name, (float(row), float(column))
    except ValueError:
        raise click.UsageError(f"--pin {text}: expected PHOTO=ROW,COLUMN, such as me.jpg=0,3") from None


def _weight(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise click.UsageError(f"--weight {text}: expected NAME=NUMBER, such as date=0.5") from None


def _tell_skipped(photos: "Photos") -> None:
    if photos.skipped:
        click.echo(f"{len(photos.skipped)} files skipped:", err=True)
        for name, why in photos.skipped:
            click.echo(f"  {name!r}: {why}", err=True)


def _line(album: "Album", outputs: tuple[Path, ...]) -> str:
    shown = int((album.order >= 0).sum())
    text = f"{shown} photos in {album.frame.name}: {album.quality}"
    if album.left_out:
        names = ", ".join(repr(album.name(item)) for item in album.left_out)
        text += f"\n{len(album.left_out)} photos left out, for which others stand: {names}"
    return text + "".join(f"\nwritten: {output}" for output in outputs)


def _answer(album: "Album", outputs: tuple[Path, ...]) -> dict[str, Any]:
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
