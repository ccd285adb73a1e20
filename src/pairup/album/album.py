"""Albums: items on the cells of a frame, measured, changed by hand, saved and loaded."""

import base64
import csv
import io
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup import metrics
from pairup.album.frames import Frame
from pairup.album.layout import settle
from pairup.album.photos import Photos, StoredPhotos
from pairup.album.reading import read_photos
from pairup.album.render import WRITERS, Style, choose_colours
from pairup.album.wall import Originals, Wall, WallStep, check_wall_path, is_wall_path, write_wall
from pairup.archives import check_format, expect, is_count, is_number, open_file, read_json, refuse_damage
from pairup.files import check_writable, replace_file
from pairup.types import Array, Images, Indices

FORMAT, VERSION = "pairup album", 1
FAR = 1e9  # rows and columns of a saved frame at most
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
    likeness : float, default 1.0
        How many times nearer neighbours are to each other than in a random order: 1 for random orders.
    """

    dpq: float
    random: float
    tie_free: float
    kept: float
    likeness: float = 1.0

    @property
    def in_words(self) -> str:
        """The quality in words, for who does not know DPQ.

        Examples
        --------
        >>> Quality(0.87, 0.41, 0.74, 0.4, likeness=2.08).in_words
        'neighbours are 2.1× more alike than in a random order'
        """
        if self.random >= 1:  # fewer than three items, or all alike
            return "too few different items to sort"
        if self.likeness < 1.05:
            return "neighbours are no more alike than in a random order"
        return f"neighbours are {self.likeness:.1f}× more alike than in a random order"

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
        return self.photos.names[item] if self.photos is not None else str(item)

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
            metrics.neighbour_likeness(X, cells, rows=rows),
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
        """Write the album to a file, or as a wall to a folder.

        Parameters
        ----------
        path : path
            The file; its suffix decides the format: .html .png .jpg .pdf .svg .json .csv. A name without suffix, or
            .zip, becomes a wall, as by `write_wall`.
        style : Style, optional
            The look; `Style()` by default.

        Returns
        -------
        Path
            The file.
        """
        path = check_output(path)
        suffix = path.suffix.lower()
        if is_wall_path(path):
            for _ in self.write_wall(path, style, force=True):
                pass
            return path
        if suffix == ".json":
            content = self.to_json(path.parent)
        elif suffix == ".csv":
            content = self.to_csv().encode(errors="surrogateescape")  # file names byte by byte, as they are
        else:
            content = WRITERS[suffix](self, style or Style())
        with replace_file(path) as temporary:
            temporary.write_bytes(content)
        return path

    def write_wall(
        self,
        path: str | os.PathLike[str],
        style: Style | None = None,
        *,
        originals: Originals = "none",
        force: bool = False,
    ) -> Iterator[WallStep]:
        """Write the album as a wall, step by step: tiles of all scales and a page that zooms into them.

        A wall that was not finished is continued.

        Parameters
        ----------
        path : path
            A folder, or a file that ends in .zip.
        style : Style, optional
            The look; `Style()` by default.
        originals : {"none", "link", "copy"}, default "none"
            Whether the page leads to the photos' own files, where they are or as copies. Copies carry whatever is in
            the files, their places too.
        force : bool, default False
            Whether a wall that is there is replaced; any other folder is refused.

        Yields
        ------
        WallStep
            What is done.
        """
        yield from write_wall(Wall(self, self.features, style or Style(), originals), path, force=force)

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

    def to_json(self, folder: str | os.PathLike[str] | None = None) -> bytes:
        """Return the album as the file that `load` reads.

        Parameters
        ----------
        folder : path, optional
            Paths of photos are relative to it; whole paths by default.

        Returns
        -------
        bytes
            JSON.
        """
        # A byte of a file name that is not UTF-8 is written as \\udcXX, which JSON reads back.
        text = json.dumps(self.to_dict(folder), ensure_ascii=False, indent=1)
        return text.encode(errors="backslashreplace") + b"\n"

    def to_dict(self, folder: str | os.PathLike[str] | None = ".") -> dict[str, Any]:
        """Return the album as plain values, ready for JSON.

        Parameters
        ----------
        folder : path, default "."
            Paths of photos are relative to it; None for whole paths.

        Returns
        -------
        dict
            What `load` reads.
        """
        photos = None
        if self.photos is not None:
            paths = [None if path is None else _relate(path, folder) for path in self.photos.paths]
            turns = [{"quarters": quarters} if quarters else {} for quarters in self.photos.quarters]
            photos = [
                {"name": name, "path": path, **turn}
                for name, path, turn in zip(self.photos.names, paths, turns, strict=True)
            ]
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
        what, expected = "a saved album", "a file that album.save wrote as .json"
        with open_file(path, what) as file, refuse_damage(path, what, expected):
            saved = read_json(file)
            expect(isinstance(saved, dict) and saved.get("format") == FORMAT, f"it does not say format: {FORMAT!r}")
            check_format(path, saved.get("version"), VERSION)
            cells, features = _check_cells(saved.get("frame")), _decode_features(saved.get("features"))
            _check_places(saved, len(cells), len(features))
            _check_names(saved.get("photos", ""), len(features))
        frame, order = Frame(saved["frame"]["name"], cells), np.array(saved["order"], dtype=np.intp)
        left_out, pins = tuple(saved["left_out"]), dict(saved["pins"])
        photos = None if saved["photos"] is None else _read_again(path, saved["photos"])
        return cls(frame, order, features, photos, left_out, pins)

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
    known = [*WRITERS, ".json", ".csv", ".zip"]
    if is_wall_path(path):
        return check_wall_path(path, force=True)
    if path.suffix.lower() not in known:
        raise ValueError(
            f"unknown format of {path}; end its name in one of: {' '.join(known)} (a wall's folder has no suffix)"
        )
    return check_writable(path)


def _relate(path: Path, folder: str | os.PathLike[str] | None) -> str:
    """Return a path relative to a folder, or the whole path without one or if they are on different drives."""
    if folder is None:
        return str(path.absolute())
    try:
        return Path(os.path.relpath(path.absolute(), Path(folder).absolute())).as_posix()
    except ValueError:
        return str(path.absolute())


def _encode_features(features: Array) -> dict[str, Any]:
    """Return features as text, in half precision: enough to compare items, and short."""
    scale = float(np.abs(features).max(initial=0)) or 1.0
    data = base64.b64encode((features / scale).astype("<f2").tobytes()).decode()
    return {"shape": list(features.shape), "scale": scale, "float16": data}


def _decode_features(encoded: Any) -> Array:
    """Return the features that `_encode_features` encoded, or refuse them."""
    expect(isinstance(encoded, dict), "features should be a dictionary")
    shape, scale, data = (encoded.get(name) for name in ("shape", "scale", "float16"))
    expect(
        isinstance(shape, list) and len(shape) == 2 and all(is_count(side, 1) for side in shape),
        "the shape of the features should be two whole numbers",
    )
    expect(is_number(scale, 0, 1e300), "the scale of the features should be a number from 0 on")
    expect(isinstance(data, str), "the features should be a text in base64")
    stored = base64.b64decode(data, validate=True)
    wanted = 2 * shape[0] * shape[1]
    expect(len(stored) == wanted, f"the features should have {wanted} bytes by their shape, got {len(stored)}")
    values = np.frombuffer(stored, dtype="<f2").astype(np.float64)
    expect(bool((np.abs(values) <= 1).all()), "the features should lie between -1 and 1 before they are scaled")
    features: Array = values.reshape(shape) * scale
    return features


def _check_cells(frame: Any) -> NDArray[Any]:
    """Return the cells of a saved frame, or refuse it."""
    expect(isinstance(frame, dict) and isinstance(frame.get("name"), str), "frame should be a dictionary with a name")
    cells = frame.get("cells")
    expect(
        isinstance(cells, list)
        and len(cells) > 0
        and all(
            isinstance(cell, list) and len(cell) == 2 and all(is_number(value, -FAR, FAR) for value in cell)
            for cell in cells
        ),
        "the cells of the frame should be a list of row and column each",
    )
    expect(len({tuple(cell) for cell in cells}) == len(cells), "the frame has a cell twice")
    return np.array(cells)


def _check_places(saved: Mapping[str, Any], m: int, n: int) -> None:
    """Refuse an order of n items on m cells, with what is pinned and left out, that contradicts itself."""
    order: Any = saved.get("order")
    left_out: Any = saved.get("left_out")
    pins: Any = saved.get("pins")
    items = f"the items from 0 to {n - 1}"
    expect(
        isinstance(order, list) and len(order) == m and all(is_count(item, -1, n - 1) for item in order),
        f"order should hold, for each of {m} cells, one of {items}, or -1 for a blank",
    )
    expect(
        isinstance(left_out, list) and all(is_count(item, 0, n - 1) for item in left_out),
        f"left_out should list some of {items}",
    )
    placed = [item for item in order if item >= 0]
    expect(sorted(placed + left_out) == list(range(n)), f"order and left_out together should hold {items} once")
    expect(
        isinstance(pins, list)
        and all(isinstance(pin, list) and len(pin) == 2 and all(is_count(number) for number in pin) for pin in pins)
        and all(cell < m and order[cell] == item for item, cell in pins)
        and len(dict(pins)) == len(pins),
        "pins should be a list of item and cell each, as in order",
    )


def _check_names(photos: Any, n: int) -> None:
    """Refuse a list of photos that is not one of n names and paths."""
    expect(
        photos is None
        or (
            isinstance(photos, list)
            and all(isinstance(photo, dict) and isinstance(photo.get("name"), str) for photo in photos)
            and all("path" in photo and isinstance(photo["path"], str | None) for photo in photos)
            and all(is_count(photo.get("quarters", 0), 0, 3) for photo in photos)
        ),
        "photos should be null, or a list of name and path each",
    )
    expect(photos is None or len(photos) == n, f"photos should list all {n} items")
    expect(
        photos is None or all(photo["path"] is not None for photo in photos),
        "it was made from arrays, not from files; its photos cannot be read again",
    )


def _read_again(path: Path, saved: list[dict[str, Any]]) -> Photos:
    """Read the photos of an album from their files, which may have changed."""
    paths = [path.parent / photo["path"] for photo in saved]
    lost = [(str(file), "no such file") for file in paths if not os.path.isfile(file)]  # a folder would be searched
    read: StoredPhotos | None = None
    if not lost:
        try:
            photos = read_photos(paths)
        except ValueError as error:
            raise FileNotFoundError(f"the photos of {path} cannot be read: {error}") from error
        assert isinstance(photos.items, StoredPhotos)
        read, lost = photos.items, list(photos.skipped)
    if read is None or len(read) < len(saved):
        reasons = ", ".join(f"{name} ({why})" for name, why in lost[:3])
        raise FileNotFoundError(
            f"{len(lost)} photos of {path} cannot be read: {reasons}" if lost else f"{path} lists a photo twice"
        )
    quarters = np.array([photo.get("quarters", 0) for photo in saved])
    return Photos(replace(read, names=[photo["name"] for photo in saved], quarters=quarters))
