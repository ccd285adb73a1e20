"""Albums: items on the cells of a frame, measured, changed by hand, saved and loaded."""

import base64
import csv
import io
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pairup import metrics
from pairup.album.frames import Frame
from pairup.album.layout import settle
from pairup.album.photos import Photos, read_photos
from pairup.album.render import WRITERS, Style, choose_colours
from pairup.files import check_writable, replace_file
from pairup.types import Array, Images, Indices

FORMAT, VERSION = "pairup album", 1
SAMPLE = 400  # items over which the quality of a large album is averaged

Cell = tuple[float, float]


@dataclass(frozen=True)
class Quality:
    """How well an album keeps similar items together.

    Parameters
    ----------
    dpq : float
        Distance preservation quality (DPQ16); 1 would be perfect, which no plane frame allows.
    random : float
        DPQ16 of a random order of the same items.
    tie_free : float
        DPQ16 with ties averaged: about 0 for random orders.
    kept : float
        Share of the 8 nearest items that are among the 8 nearest on the frame.
    """

    dpq: float
    random: float
    tie_free: float
    kept: float

    def __str__(self) -> str:
        return (
            f"DPQ16 {self.dpq:.3f} (random {self.random:.3f}), tie-free {self.tie_free:.3f} (random 0), "
            f"{self.kept:.0%} of the 8 nearest kept"
        )


@dataclass(frozen=True)
class Album:
    """Items arranged in a frame; `arrange` makes one.

    Parameters
    ----------
    frame : Frame
        The frame, with its cells.
    order : ndarray of shape (m,)
        The item on each cell, −1 for a blank.
    features : ndarray of shape (n, d)
        Features of all items, as rows.
    photos : Photos, optional
        The photos; None for an album of plain vectors.
    left_out : tuple of int, default ()
        Items for which there was no cell.
    pins : mapping of int to int, default empty
        Cell of each pinned item.
    """

    frame: Frame
    order: Indices
    features: Array = field(repr=False)
    photos: Photos | None = None
    left_out: tuple[int, ...] = ()
    pins: Mapping[int, int] = field(default_factory=dict)

    def name(self, item: int) -> str:
        """Return the name of an item.

        Parameters
        ----------
        item : int
            Number of the item.

        Returns
        -------
        str
            The name of a photo, or the number of a vector.
        """
        return self.photos[item].name if self.photos is not None else str(item)

    @cached_property
    def quality(self) -> Quality:
        """How well similar items lie together, beside a random order of the same items."""
        used = self.order >= 0
        X, cells = self.features[self.order[used]], self.frame.cells[used]
        if len(X) < 3 or not np.ptp(X, axis=0).any():
            return Quality(1.0, 1.0, 1.0, 1.0)
        rows = SAMPLE if len(X) > 5 * SAMPLE else None
        shuffled = X[np.random.default_rng(0).permutation(len(X))]
        return Quality(
            metrics.distance_preservation_quality(X, cells, rows=rows),
            metrics.distance_preservation_quality(shuffled, cells, rows=rows),
            metrics.distance_preservation_quality(X, cells, ties="average", rows=rows),
            metrics.neighbour_preservation(X, cells, rows=rows),
        )

    @cached_property
    def colours(self) -> Images:
        """A colour for each item, by which vectors are drawn, as an array of uint8 of shape (n, 3)."""
        colours: Images = choose_colours(self.features)
        return colours

    def move(self, item: int | str, cell: Cell, *, random_state: int = 0) -> "Album":
        """Move one item to a cell and pin it there.

        The item on that cell takes the place of the moved one. Then items are swapped where that lowers the distances
        of neighbours; items far from both cells stay.

        Parameters
        ----------
        item : int or str
            Number of the item, or the name of a photo.
        cell : tuple of float
            Row and column.
        random_state : int, default 0
            Seed of the swaps tried.

        Returns
        -------
        Album
            A new album.

        Examples
        --------
        >>> from pairup.album import arrange
        >>> album = arrange([[0.1], [0.9], [0.5], [0.7]], Frame.grid(1, 4))
        >>> int(album.move(2, (0, 0)).order[0])
        2
        """
        number, target = find_item(item, self.photos, len(self.features)), find_cell(self.frame, cell)
        if number in self.left_out:
            raise ValueError(f"{self.name(number)} is not in the album; call arrange again with a pin for it")
        if target in self.pins.values() and self.pins.get(number) != target:
            raise ValueError(f"the cell {format_cell(cell)} holds a pinned item; choose another cell")
        order = self.order.copy()
        home = int(np.flatnonzero(order == number)[0])
        order[home], order[target] = order[target], order[home]
        pins = {**self.pins, number: target}
        used = np.flatnonzero(order >= 0)
        numbers = np.unique(order[used])
        settled = settle(
            self.features[numbers],
            self.frame.cells[used],
            np.searchsorted(numbers, order[used]),
            np.isin(used, list(pins.values())),
            random_state=random_state,
        )
        order[used] = numbers[settled]
        return replace(self, order=order, pins=pins)

    def save(self, path: str | os.PathLike[str], style: Style | None = None) -> Path:
        """Write the album to a file.

        Parameters
        ----------
        path : path
            The file; its suffix decides the format: .html .png .jpg .pdf .svg .json .csv.
        style : Style, optional
            The look; `Style()` by default.

        Returns
        -------
        Path
            The file.
        """
        path = check_output(path)
        suffix = path.suffix.lower()
        if suffix == ".json":
            content = json.dumps(self.to_dict(path.parent), ensure_ascii=False, indent=1).encode() + b"\n"
        elif suffix == ".csv":
            content = self.to_csv().encode()
        else:
            content = WRITERS[suffix](self, style or Style())
        with replace_file(path) as temporary:
            temporary.write_bytes(content)
        return path

    def to_csv(self) -> str:
        """Return the cell of each item as csv.

        Returns
        -------
        str
            Lines of item, row and column; without row and column for items left out.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["photo" if self.photos is not None else "item", "row", "column"])
        for item, cell in zip(self.order, self.frame.cells.tolist(), strict=True):
            if item >= 0:
                writer.writerow([self.name(item), *cell])
        for item in self.left_out:
            writer.writerow([self.name(item), "", ""])
        return text.getvalue()

    def to_dict(self, folder: str | os.PathLike[str] = ".") -> dict[str, Any]:
        """Return the album as plain values, ready for JSON.

        Parameters
        ----------
        folder : path, default "."
            Paths of photos are relative to it.

        Returns
        -------
        dict
            What `load` reads.
        """
        photos = None
        if self.photos is not None:
            paths = [None if p.path is None else _relate(p.path, Path(folder)) for p in self.photos]
            photos = [{"name": p.name, "path": path} for p, path in zip(self.photos, paths, strict=True)]
        return {
            "format": FORMAT,
            "version": VERSION,
            "frame": {"name": self.frame.name, "cells": self.frame.cells.tolist()},
            "order": self.order.tolist(),
            "pins": [[item, cell] for item, cell in self.pins.items()],
            "left_out": list(self.left_out),
            "photos": photos,
            "features": _encode_features(self.features),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Album":
        """Load an album that was saved as .json; the photos are read again from their files.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Album
            The album.

        Raises
        ------
        ValueError
            If the file is not an album, or of a newer format.
        FileNotFoundError
            If photos are missing or cannot be read any more.
        """
        path = Path(path)
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} is not an album: {error}") from error
        if not isinstance(saved, dict) or saved.get("format") != FORMAT:
            raise ValueError(f"{path} is not an album saved by pairup; choose a file that album.save wrote as .json")
        if saved["version"] > VERSION:
            raise ValueError(
                f"{path} has format version {saved['version']}, this pairup reads up to {VERSION}; upgrade"
            )
        frame = Frame(saved["frame"]["name"], np.array(saved["frame"]["cells"]))
        order = np.array(saved["order"], dtype=np.intp)
        left_out, pins = tuple(saved["left_out"]), dict(saved["pins"])
        features = _decode_features(saved["features"])
        if saved["photos"] is None:
            return cls(frame, order, features, None, left_out, pins)
        if any(photo["path"] is None for photo in saved["photos"]):
            raise ValueError(f"{path} was made from arrays, not from files; its photos cannot be read again")
        paths = [path.parent / photo["path"] for photo in saved["photos"]]
        read = read_photos(paths)
        if len(read) < len(paths):
            missing = ", ".join(f"{name} ({why})" for name, why in read.skipped[:3])
            raise FileNotFoundError(f"{len(paths) - len(read)} photos of {path} cannot be read: {missing}")
        named = [replace(photo, name=old["name"]) for photo, old in zip(read, saved["photos"], strict=True)]
        return cls(frame, order, features, Photos(tuple(named)), left_out, pins)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Album":
        """Load an album: the old name of `load`.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Album
            The album.
        """
        warnings.warn("Album.open is now called Album.load", FutureWarning, stacklevel=2)
        return cls.load(path)


def find_cell(frame: Frame, cell: Cell) -> int:
    """Find a cell by its row and column.

    Parameters
    ----------
    frame : Frame
        The frame, with its cells.
    cell : tuple of float
        Row and column.

    Returns
    -------
    int
        The number of the cell.

    Raises
    ------
    ValueError
        If the frame has no such cell.

    Examples
    --------
    >>> find_cell(Frame.grid(2, 3), (1, 0))
    3
    """
    hits = np.flatnonzero((frame.cells == np.asarray(cell)).all(axis=1))
    if not len(hits):
        low, high = frame.cells.min(axis=0), frame.cells.max(axis=0)
        raise ValueError(
            f"the frame {frame.name} has no cell at {format_cell(cell)}; its rows go from {low[0]} to {high[0]}, its "
            f"columns from {low[1]} to {high[1]}"
            + (", with gaps (see --preview)" if len(frame.cells) < np.prod(high - low + 1) else "")
        )
    return int(hits[0])


def format_cell(cell: Cell) -> str:
    """Write a cell as on the command line.

    Parameters
    ----------
    cell : tuple of float
        Row and column.

    Returns
    -------
    str
        Both, with a comma between them.

    Examples
    --------
    >>> format_cell((0, 2.5))
    '0,2.5'
    """
    return ",".join(f"{value:g}" for value in cell)


def find_item(item: int | str, photos: Photos | None, n: int) -> int:
    """Find an item by its number or, for photos, by its name.

    Parameters
    ----------
    item : int or str
        Number of the item, or the name of a photo.
    photos : Photos or None
        The photos, if the items are photos.
    n : int
        Number of items.

    Returns
    -------
    int
        The number of the item.

    Raises
    ------
    ValueError
        If there is no such item.
    """
    if isinstance(item, str) and photos is not None:
        return photos.find(item)
    number = int(item)
    if not 0 <= number < n:
        raise ValueError(f"there is no item {number}; items are numbered from 0 to {n - 1}")
    return number


def check_output(path: str | os.PathLike[str]) -> Path:
    """Check that an album can be written to a file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Path
        The same file.

    Raises
    ------
    ValueError
        If the suffix is unknown.
    OSError
        If nothing can be written there.
    """
    path = Path(path)
    known = [*WRITERS, ".json", ".csv"]
    if path.suffix.lower() not in known:
        raise ValueError(f"unknown format of {path}; end its name in one of: {' '.join(known)}")
    return check_writable(path)


def _relate(path: Path, folder: Path) -> str:
    """Return a path relative to a folder, or the whole path if they are on different drives."""
    try:
        return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:
        return str(path.absolute())


def _encode_features(features: Array) -> dict[str, Any]:
    """Return features as text, in half precision: enough to compare items, and short."""
    scale = float(np.abs(features).max(initial=0)) or 1.0
    data = base64.b64encode((features / scale).astype("<f2").tobytes()).decode()
    return {"shape": list(features.shape), "scale": scale, "float16": data}


def _decode_features(encoded: Mapping[str, Any]) -> Array:
    """Return the features that `_encode_features` encoded."""
    values = np.frombuffer(base64.b64decode(encoded["float16"]), dtype="<f2").astype(np.float64)
    features: Array = values.reshape(encoded["shape"]) * encoded["scale"]
    return features
