"""What the worker does for albums: read photos, arrange them, draw sheets of tiles."""

import io
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pairup.album import Album, Frame, Photos, Style, arrange_steps, photo_features
from pairup.album.cache import Reduced
from pairup.album.decoding import RAW
from pairup.album.layout import SortStep
from pairup.album.listing import find_files
from pairup.album.photos import Photo
from pairup.album.reading import read_files
from pairup.album.render import draw_picture
from pairup.album.vectors import read_vectors
from pairup.extras import require
from pairup.files import replace_file
from pairup.studio.album_document import MOST_PHOTOS
from pairup.studio.album_store import Store, write_miniatures, write_tiles
from pairup.studio.named_files import open_named
from pairup.studio.project import COVER, FILES
from pairup.types import Array

SHOWN = 0.8  # seconds between two sheets that are drawn while photos are read
DRAFT, DRAWN = 0.1, 0.3  # share of the work that is done after the draft, and after the tiles are drawn
COVER_SIDE = 640  # pixels
COVER_FORM = (4, 3)  # width and height of a picture on the home page
COVER_PHOTOS = 120  # up to which the cover is drawn from thumbnails; miniatures are enough for more
REPLACED = "\ufffd"  # stands for bytes of a file name that are not UTF-8
DEMO = 320  # pictures of the demo


def warm() -> Iterator[None]:
    """Arrange a few points, so that all is loaded and compiled before the first job.

    Yields
    ------
    None
        Between parts: when a job has come, the rest is better left to it.
    """
    require("PIL.Image", extra="album").init()
    X = np.random.default_rng(0).normal(size=(40, 5))
    for draft in (True, False):
        yield
        *_, album = arrange_steps(X, "auto", draft=draft)
    assert isinstance(album, Album)
    yield
    _ = album.quality


def read(folder: Path, sources: list[dict[str, Any]], first: int) -> Iterator[dict[str, Any]]:
    """Read the photos that were added.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    sources : list of dict
        Identifier, role, name and path of each file that was not read yet: a photo, a folder, or the demo.
    first : int
        Number of the first new photo.

    Yields
    ------
    dict
        Progress, and how many photos can be shown; a description of each file last.
    """
    yield {"progress": 0.0, "text": "looking for photos"}
    entries = list(_expand(folder, sources))
    room = max(MOST_PHOTOS - first, 0)
    store, total, done, told = Store.load(folder), len(entries), 0, time.monotonic()
    miniatures, taken = [store.miniatures[:first]], store.taken[:first]
    described: list[dict[str, Any]] = []
    number = first
    for results in read_files([Path(entry["path"]) for entry in entries]):
        for result in results:
            entry = entries[done]
            done += 1
            if Path(entry["name"]).suffix[1:].lower() in RAW:
                result = "a RAW file; export it as JPEG"
            elif REPLACED in entry["path"]:
                result = "its name cannot be written in UTF-8; rename it"
            elif number >= first + room:
                result = f"too many: an album here holds {MOST_PHOTOS:,} photos"
            if isinstance(result, str):
                described.append({**entry, "details": {"skipped": result}})
                continue
            miniatures.append(result.miniature[None])
            taken.append(result.taken.isoformat(timespec="seconds") if result.taken else "")
            details = {"number": number, "ratio": _measure_ratio(result), "dated": bool(result.taken)}
            described.append({**entry, "details": details})
            number += 1
        shown = {}
        if number > first and (time.monotonic() - told > SHOWN or done == total):
            told = time.monotonic()
            miniatures = [np.concatenate(miniatures)]
            write_miniatures(folder, miniatures[0])
            shown = {"count": number}
        yield {"progress": done / max(total, 1), "text": f"reading photos: {done:,} of {total:,}", **shown}
    Store(np.concatenate(miniatures), taken).save(folder)
    yield {"result": {"files": described, "sources": [source["id"] for source in sources]}}


def _expand(folder: Path, sources: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one entry for each photo: those that are new to the project get an identifier."""
    known: set[str] = set()
    for source in sources:
        path = Path(source["path"])
        if source["role"] == "photo":
            yield {"id": source["id"], "name": source["name"], "path": str(path), "known": True}
        elif source["role"] == "demo":
            yield from _make_demo(folder)
        else:
            for found in find_files([path]):
                if str(found) not in known:
                    known.add(str(found))
                    name = found.relative_to(path).as_posix() if path.is_dir() else found.name
                    made = {"id": secrets.token_hex(8), "known": False}
                    yield {**made, "name": _to_text(name), "path": _to_text(str(found))}


def _to_text(name: str) -> str:
    """Return a name as text that a project can hold: bytes that are not UTF-8 are replaced."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _make_demo(folder: Path) -> Iterator[dict[str, Any]]:
    """Write the demo pictures into the project."""
    from pairup.datasets import load_tiles

    image = require("PIL.Image", extra="album")
    for number, tile in enumerate(load_tiles(DEMO), 1):
        identifier = secrets.token_hex(8)
        with replace_file(folder / FILES / identifier) as temporary:
            image.fromarray(tile).save(temporary, "PNG")
        path = folder / FILES / identifier
        yield {"id": identifier, "name": f"picture {number}", "path": str(path), "known": False, "own": True}


def _measure_ratio(result: Reduced) -> float:
    """Return width over height of a photo."""
    picture = require("PIL.Image", extra="album").open(io.BytesIO(result.thumbnail), formats=("JPEG", "PNG"))
    return round(float(picture.width / picture.height), 4)


def make_frame(description: dict[str, Any]) -> Frame:
    """Make a frame from its description in a document.

    Parameters
    ----------
    description : dict
        As `pairup.studio.album_document.Frame` in plain values; the picture of a mask as a path.

    Returns
    -------
    Frame
        The frame, without cells where their number depends on the photos.
    """
    kind = description["kind"]
    if kind == "auto":
        return Frame.auto(description["aspect"])
    if kind == "grid":
        return Frame.grid(description["rows"], description["columns"])
    if kind == "text":
        return Frame.text(description["text"])
    if kind == "shape":
        return Frame.shape(description["name"])
    if kind == "paper":
        return Frame.drawing(description["name"])
    if kind == "cells":
        return Frame.ascii("\n".join(description["lines"]), "painted")
    try:
        return replace(Frame.mask(description["path"]), name="picture")
    except ValueError as error:  # not the path, which says nothing to a person here
        raise ValueError(str(error).replace(description["path"], "picture")) from error


def fit(frame: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Give a frame its cells, for a preview.

    Parameters
    ----------
    frame : dict
        Description of the frame.
    count : int
        Number of photos.

    Yields
    ------
    dict
        The cells.
    """
    yield {"result": make_frame(frame).fit(max(count, 1)).cells.astype(int).tolist()}


def arrange(
    folder: Path,
    photos: list[int],
    paths: list[Path],
    rotations: dict[int, int],
    frame: dict[str, Any],
    pins: dict[int, tuple[int, int]],
    weights: dict[str, float],
    style: dict[str, Any],
    seed: int,
    vectors: dict[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Arrange photos: a draft, then the tiles, then the refinement.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    photos : list of int
        Numbers of the photos.
    paths : list of Path
        Files of all photos of the project, by their numbers.
    rotations : dict of int to int
        Quarter turns of photos.
    frame : dict
        Description of the frame.
    pins : dict of int to (int, int)
        Row and column of photos that must not move; those without a cell in the frame are let go.
    weights : dict of str to float
        Weights of the features.
    style : dict
        The look, for the cover.
    seed : int
        Seed of the search.
    vectors : dict, optional
        The person's own features; see `load_vectors`.

    Yields
    ------
    dict
        Progress, cells and order of each step; with the quality last.
    """
    yield {"progress": 0.0, "text": "comparing the photos"}
    items = Store.load(folder).photos(photos, rotations)
    features = compute_features(items, weights, load_vectors(vectors, photos))
    fitted = make_frame(frame).fit(len(items))
    cells = fitted.cells.astype(int).tolist()
    places = {tuple(cell) for cell in cells}
    fixed = {photos.index(photo): cell for photo, cell in pins.items() if photo in photos and cell in places}
    numbers = np.array([*photos, -1])  # the last entry serves −1

    def show(step: SortStep, low: float, high: float, text: str) -> dict[str, Any]:
        order = numbers[step.order].tolist()
        return {"progress": low + (high - low) * step.progress, "text": text, "cells": cells, "order": order}

    album: Album | None = None
    told: dict[str, Any] = {}
    for state in arrange_steps(items, fitted, features=features, pins=fixed, draft=True, random_state=seed):
        if isinstance(state, Album):
            album = state
        elif state.progress > 0:  # the first order is a random one
            told = show(state, 0.0, DRAFT, "drafting")
            yield told
    assert album is not None
    for share in write_tiles(folder, paths, 128, "crop"):
        yield {**told, "progress": DRAFT + (DRAWN - DRAFT) * share, "text": "drawing the photos", "tiles": True}
    steps = arrange_steps(items, fitted, features=features, pins=fixed, start=album.order, random_state=seed, n_jobs=-1)
    for state in steps:
        if isinstance(state, Album):
            album = state
        else:
            yield show(state, DRAWN, 1.0, "refining")
    write_cover(folder, album, photos, paths, rotations, style)
    result = {"frame": frame, "cells": cells, "order": numbers[album.order].tolist(), "quality": measure(album)}
    yield {"result": result}


def load_vectors(source: dict[str, Any] | None, photos: list[int]) -> Array | None:
    """Load the person's own features of photos.

    Parameters
    ----------
    source : dict, optional
        Path and name of the file, and the names of all photos of the project, by their numbers.
    photos : list of int
        Numbers of the photos.

    Returns
    -------
    ndarray of shape (n, d) or None
        Features as rows; None without a file.
    """
    if source is None:
        return None
    by_row = source["name"].lower().endswith(".npy")  # a row for each photo that was read, also for those taken out
    numbers = range(len(source["names"])) if by_row else photos
    blank = np.zeros((1, 1, 3), dtype=np.uint8)
    named = Photos(tuple(Photo(source["names"][number], blank, b"") for number in numbers))
    with open_named(source["path"], source["name"]) as path:
        rows = read_vectors(path, named)
    return rows[photos] if by_row else rows


def compute_features(items: Photos, weights: dict[str, float], vectors: Array | None = None) -> Array:
    """Compute what photos are compared by.

    Parameters
    ----------
    items : Photos
        The photos.
    weights : dict of str to float
        Weights of colour, edges, date, pixels and vectors; the date counts only where photos have one.
    vectors : ndarray of shape (n, d), optional
        The person's own features.

    Returns
    -------
    ndarray of shape (n, k)
        Features as rows.
    """
    chosen = dict(weights)
    if not any(photo.taken for photo in items):
        chosen["date"] = 0.0
        if not any(chosen.values()):
            raise ValueError("none of the photos says when it was taken; give colour or edges a weight")
    return photo_features(items, chosen, vectors)


def measure(album: Album) -> dict[str, float]:
    """Return the quality of an album in plain values.

    Parameters
    ----------
    album : Album
        The album.

    Returns
    -------
    dict of str to float
        As `pairup.studio.album_document.Quality`.
    """
    quality = album.quality
    values = {"likeness": quality.likeness, "dpq": quality.dpq, "random": quality.random, "kept": quality.kept}
    return {name: round(min(float(value), 1000.0), 4) for name, value in values.items()}


def measure_places(
    folder: Path,
    photos: list[int],
    rotations: dict[int, int],
    weights: dict[str, float],
    vectors: dict[str, Any] | None,
    cells: list[list[int]],
    order: list[int],
) -> Iterator[dict[str, Any]]:
    """Measure the places that photos have now, moved by hand or not.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    photos : list of int
        Numbers of the photos.
    rotations : dict of int to int
        Quarter turns of photos.
    weights : dict of str to float
        Weights of the features.
    vectors : dict or None
        The person's own features; see `load_vectors`.
    cells : list of [int, int]
        Row and column of each cell.
    order : list of int
        The photo on each cell, −1 for none.

    Yields
    ------
    dict
        The quality, as `measure` returns it.
    """
    items = Store.load(folder).photos(photos, rotations)
    features = compute_features(items, weights, load_vectors(vectors, photos))
    index = {photo: item for item, photo in enumerate(photos)}
    placed = np.array([index.get(photo, -1) for photo in order], dtype=np.intp)
    yield {"result": measure(Album(Frame("present", np.array(cells)), placed, features))}


def load_photos(folder: Path, photos: list[int], paths: list[Path], rotations: dict[int, int]) -> Photos:
    """Load photos with their pictures.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    photos : list of int
        Numbers of the photos.
    paths : list of Path
        Files of all photos of the project, by their numbers.
    rotations : dict of int to int
        Quarter turns of photos.

    Returns
    -------
    Photos
        The photos; those whose files are gone as their miniatures.
    """
    plain = Store.load(folder).photos(photos, {})
    files = [paths[number] for number in photos]
    results = [result for part in read_files(files) for result in part]
    made: list[Photo] = []
    for number, path, photo, result in zip(photos, files, plain, results, strict=True):
        if isinstance(result, str):
            lost = Photos.from_arrays([photo.miniature])[0]
            loaded = replace(photo, thumbnail=lost.thumbnail)
        else:
            loaded = replace(photo, thumbnail=result.thumbnail, path=path)
        made.append(loaded.turn(rotations.get(number, 0)))
    return Photos(tuple(made))


def write_cover(
    folder: Path, album: Album, photos: list[int], paths: list[Path], rotations: dict[int, int], style: dict[str, Any]
) -> None:
    """Write the picture of an album for the home page.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    album : Album
        The album.
    photos : list of int
        Numbers of its photos.
    paths : list of Path
        Files of all photos of the project, by their numbers.
    rotations : dict of int to int
        Quarter turns of photos.
    style : dict
        The look.
    """
    if len(photos) <= COVER_PHOTOS:
        items = load_photos(folder, photos, paths, rotations)
    else:
        items = Photos.from_arrays(photo.miniature for photo in album.photos or ())
    extent = float(np.ptp(album.frame.cells, axis=0).max()) + 1
    cell = int(np.clip(COVER_SIDE / extent / (1 + style["gap"]), 4, 320))
    drawn = draw_picture(replace(album, photos=items), Style(cell=cell, **style))
    image = require("PIL.Image", extra="album")
    # On a sheet of the form that the home page shows, in the album's own colour: no bars beside a heart.
    side = max(drawn.width / COVER_FORM[0], drawn.height / COVER_FORM[1])
    size = round(side * COVER_FORM[0]), round(side * COVER_FORM[1])
    colour = "white" if style["background"] == "transparent" else style["background"]
    sheet = image.new("RGBA", size, colour)
    sheet.alpha_composite(drawn, ((size[0] - drawn.width) // 2, (size[1] - drawn.height) // 2))
    flat = sheet.convert("RGB")
    with replace_file(folder / COVER) as temporary:
        flat.save(temporary, "JPEG", quality=85)


def draw_tiles(folder: Path, paths: list[Path], level: int, fit: Literal["crop", "whole"]) -> Iterator[dict[str, Any]]:
    """Draw the sheets of a size that are missing.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    paths : list of Path
        Files of all photos of the project, by their numbers.
    level : int
        Pixels of a tile.
    fit : {"crop", "whole"}
        Whether photos fill their tiles.

    Yields
    ------
    dict
        Progress.
    """
    for share in write_tiles(folder, paths, level, fit):
        yield {"progress": share, "text": "drawing the photos sharper", "tiles": True}
    yield {"result": {}}


def preview(path: Path, side: int, quarters: int) -> Iterator[dict[str, Any]]:
    """Decode one photo to be shown large.

    Parameters
    ----------
    path : Path
        Its file.
    side : int
        Pixels of the longer side at most.
    quarters : int
        Quarter turns clockwise.

    Yields
    ------
    dict
        The picture as JPEG, without metadata.
    """
    from pairup.album.decoding import UnreadableError, decode, ignore_warnings

    try:
        with ignore_warnings():
            picture, _ = decode(path, side)
    except UnreadableError as error:
        raise ValueError(f"this photo cannot be shown: {error}") from error
    turned = picture.rotate(-90 * quarters, expand=True)
    encoded = io.BytesIO()
    turned.save(encoded, "JPEG", quality=88)
    yield {"result": encoded.getvalue()}
