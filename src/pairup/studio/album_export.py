"""What the worker does to write an album to a file."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pairup.album import Album, Frame, Photos, Style
from pairup.studio.album_tasks import compute_features, load_photos, load_vectors
from pairup.studio.project import FILES


def export(
    folder: Path,
    photos: list[int],
    names: list[str],
    paths: list[Path],
    rotations: dict[int, int],
    cells: list[list[int]],
    order: list[int],
    pins: list[int],
    frame: str,
    weights: dict[str, float],
    style: dict[str, Any],
    suffix: str,
    vectors: dict[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Write an album to a file in the project.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    photos : list of int
        Numbers of the photos.
    names : list of str
        Their names.
    paths : list of Path
        Files of all photos of the project, by their numbers.
    rotations : dict of int to int
        Quarter turns of photos.
    cells : list of [int, int]
        Row and column of each cell.
    order : list of int
        The photo on each cell, −1 for none.
    pins : list of int
        Photos that are pinned.
    frame : str
        Name of the frame.
    weights : dict of str to float
        Weights of the features.
    style : dict
        The look, as `pairup.album.Style` takes it.
    suffix : str
        The format, such as ".png".
    vectors : dict, optional
        The person's own features; see `pairup.studio.album_tasks.load_vectors`.

    Yields
    ------
    dict
        Progress; the identifier of the file last.
    """
    yield {"progress": None, "text": "loading the photos"}
    loaded = load_photos(folder, photos, paths, rotations)
    items = Photos(tuple(replace(photo, name=name) for photo, name in zip(loaded, names, strict=True)))
    index = {photo: item for item, photo in enumerate(photos)}
    placed = np.array([index.get(photo, -1) for photo in order], dtype=np.intp)
    left_out = tuple(sorted(set(range(len(photos))) - set(placed.tolist())))
    # Only a saved album holds the features; the other formats show what is there.
    features = np.zeros((len(items), 1))
    if suffix == ".json":
        features = compute_features(items, weights, load_vectors(vectors, photos))
    where = {item: cell for cell, item in enumerate(placed.tolist()) if item >= 0}
    pinned = {index[photo]: where[index[photo]] for photo in pins}
    album = Album(Frame(frame, np.array(cells)), placed, features, items, left_out, pinned)
    yield {"progress": None, "text": f"writing {suffix[1:]}"}
    identifier = secrets.token_hex(8)
    written = folder / FILES / f".{identifier}{suffix}"  # the suffix decides the format
    if suffix == ".json":
        written.write_bytes(album.to_json())  # with whole paths: the file is downloaded to who knows where
    else:
        album.save(written, Style(**style))
    written.replace(folder / FILES / identifier)
    yield {"result": {"id": identifier}}
