"""Albums: items on the cells of a frame."""

import base64
import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup import metrics
from pairup.album.features import photo_features
from pairup.album.frames import Frame
from pairup.album.layout import Step, settle, sort_steps
from pairup.album.photos import Photos, read_photos
from pairup.album.render import WRITERS, Style
from pairup.files import check_writable, replacing
from pairup.types import Array, Indices
from pairup.validation import check_set

FORMAT, VERSION = "pairup album", 1
METHODS = ("default", "lsom", "ks-hsic", "ks-nocco")
SAMPLE = 400  # items that the quality of a large album is averaged over

Cell = tuple[float, float]


@dataclass(frozen=True)
class Quality:
    """How well similar items lie together: 1 is the unreachable optimum of DPQ, `random` what chance gives."""

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
    """Items arranged in a frame; `arrange` makes one, `save` writes it."""

    frame: Frame
    order: Indices  # the item on each cell, −1 for a blank
    features: Array = field(repr=False)
    photos: Photos | None = None
    left_out: tuple[int, ...] = ()  # items for which there was no cell
    pins: Mapping[int, int] = field(default_factory=dict)  # cell of each pinned item

    def name(self, item: int) -> str:
        """Return the name of an item: its file, or its number."""
        return self.photos[item].name if self.photos is not None else str(item)

    @cached_property
    def quality(self) -> Quality:
        """Measure the album, against a random order of the same items."""
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
            metrics.neighbours_kept(X, cells, rows=rows),
        )

    def move(self, item: int | str, cell: Cell, *, seed: int = 0) -> "Album":
        """Return the album with one item moved to a cell and pinned there.

        It changes places with the item it finds, and around both the swaps follow that make the album better; all
        else stays.
        """
        number, target = self._item(item), cell_number(self.frame, cell)
        if number in self.left_out:
            raise ValueError(f"{self.name(number)} is not in the album; arrange it anew with a pin")
        if target in self.pins.values() and self.pins.get(number) != target:
            raise ValueError(f"the cell {_cell(cell)} holds a pinned item; choose another cell")
        order = self.order.copy()
        home = int(np.flatnonzero(order == number)[0])
        order[home], order[target] = order[target], order[home]
        pins = {**self.pins, number: target}
        used = np.flatnonzero(order >= 0)
        fixed = np.isin(used, list(pins.values()))
        numbers = np.unique(order[used])
        settled = settle(
            self.features[numbers], self.frame.cells[used], np.searchsorted(numbers, order[used]), fixed, seed=seed
        )
        order[used] = numbers[settled]
        return replace(self, order=order, pins=pins)

    def _item(self, item: int | str) -> int:
        return _find(item, self.photos, len(self.features))

    def save(self, path: str | os.PathLike[str], style: Style | None = None) -> Path:
        """Write the album; the suffix says as what: .html .png .jpg .pdf .svg .json .csv."""
        path = check_output(path)
        suffix = path.suffix.lower()
        if suffix == ".json":
            content = json.dumps(self.to_dict(path.parent), ensure_ascii=False, indent=1).encode() + b"\n"
        elif suffix == ".csv":
            content = self.to_csv().encode()
        else:
            content = WRITERS[suffix](self, style or Style())
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return path

    def to_csv(self) -> str:
        """Return the cell of each item, as csv: item, row, column; those left out with empty cells."""
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
        """Return the album as plain values, photos by their path relative to `folder`."""
        photos = None
        if self.photos is not None:
            paths = [None if p.path is None else _relative(p.path, Path(folder)) for p in self.photos]
            photos = [{"name": p.name, "path": path} for p, path in zip(self.photos, paths, strict=True)]
        return {
            "format": FORMAT,
            "version": VERSION,
            "frame": {"name": self.frame.name, "cells": self.frame.cells.tolist()},
            "order": self.order.tolist(),
            "pins": [[item, cell] for item, cell in self.pins.items()],
            "left_out": list(self.left_out),
            "photos": photos,
            "features": _packed(self.features),
        }

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Album":
        """Open an album saved as .json; its photos are read again from where they are."""
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
        features = _unpacked(saved["features"])
        if saved["photos"] is None:
            return cls(frame, order, features, None, left_out, pins)
        if any(photo["path"] is None for photo in saved["photos"]):
            raise ValueError(f"{path} was made from pictures that were no files; its photos cannot be read again")
        paths = [path.parent / photo["path"] for photo in saved["photos"]]
        read = read_photos(paths)
        if len(read) < len(paths):
            missing = ", ".join(f"{name} ({why})" for name, why in read.skipped[:3])
            raise FileNotFoundError(f"{len(paths) - len(read)} photos of {path} cannot be read: {missing}")
        named = [replace(photo, name=old["name"]) for photo, old in zip(read, saved["photos"], strict=True)]
        return cls(frame, order, features, Photos(tuple(named)), left_out, pins)


def arrange(items: Photos | ArrayLike, frame: Frame | str, **options: Any) -> Album:
    """Arrange photos, or plain vectors, in a frame; options as in `arrange_steps`.

    >>> album = arrange([[0.1], [0.9], [0.5], [0.7]], Frame.grid(1, 4))
    >>> album.order.tolist() in ([0, 2, 3, 1], [1, 3, 2, 0])
    True
    """
    album = None
    for album in arrange_steps(items, frame, **options):
        if isinstance(album, Album):
            return album
    raise AssertionError("arrange_steps ends with an album")


def arrange_steps(
    items: Photos | ArrayLike,
    frame: Frame | str,
    *,
    features: ArrayLike | None = None,
    pins: Mapping[Any, Cell] | None = None,
    method: str = "default",
    draft: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[Step | Album]:
    """Arrange step by step: yields steps, whose `order` is that of the cells, and the album at the end.

    Parameters
    ----------
    items : photos, or an n × d array of vectors.
    frame : a frame, or its description as in `Frame.parse`.
    features : what the items are compared by, a row each; by default `photo_features`, or the vectors themselves.
    pins : (row, column) of items that have their place; an item is named by its number or, for photos, its file.
    method : "default"; or "lsom", "ks-hsic", "ks-nocco": the paper's, exactly as published.
    draft : a rough sorting, ten times sooner.
    """
    photos = items if isinstance(items, Photos) else None
    if features is not None:
        X = check_set(features, "the features", at_least=1)
    elif isinstance(items, Photos):
        X = photo_features(items)
    else:
        X = check_set(items, "the items", at_least=1)
    count = len(photos if photos is not None else np.asarray(items))
    if len(X) != count:
        raise ValueError(f"the features have {len(X)} rows for {count} items; give a row per item")
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of: {', '.join(METHODS)}")
    frame = (Frame.parse(frame) if isinstance(frame, str) else frame).fit(len(X))
    pinned = check_pins(pins or {}, frame, photos, len(X))
    m = len(frame.cells)
    kept = representatives(X, m, always=list(pinned)) if len(X) > m else np.arange(len(X))
    blank = frame.blanks(len(kept))
    # A pin on a cell that would be blank takes it: the blank moves to the last cell that is free.
    free = np.setdiff1d(np.arange(m), np.union1d(blank, list(pinned.values())))
    wanted = np.intersect1d(blank, list(pinned.values()))
    blank = np.concatenate([np.setdiff1d(blank, wanted), free[::-1][: len(wanted)]]).astype(np.intp)
    used = np.setdiff1d(np.arange(m), blank)

    def on_cells(order: Indices) -> Indices:
        whole = np.full(m, -1, dtype=np.intp)
        whole[used] = kept[order]
        return whole

    local = {
        int(np.searchsorted(kept, item)): int(np.searchsorted(used, cell)) for item, cell in sorted(pinned.items())
    }
    coordinates = frame.cells[used].astype(np.float64)
    if method == "default":
        steps = sort_steps(X[kept], coordinates, pins=local, draft=draft, seed=seed, n_jobs=n_jobs)
    elif pinned:
        raise ValueError(f"the method {method} knows no pins; use the default method, or leave the pins out")
    else:
        steps = _published(X[kept], coordinates, method, n_jobs)
    order = None
    for step in steps:
        order = on_cells(step.order)
        yield Step(step.progress, order)
    assert order is not None
    left_out = tuple(np.setdiff1d(np.arange(len(X)), kept).tolist())
    yield Album(frame, order, X, photos, left_out, pinned)


def _published(X: Array, coordinates: Array, method: str, n_jobs: int | None) -> Iterator[Step]:
    """Arrange by one of the paper's methods: the items are its first domain, the coordinates its second."""
    from pairup.matchers import KSHSIC, KSNOCCO, LSOM

    if len(X) < 3:
        yield Step(1.0, np.arange(len(X)))
        return
    matcher = {"lsom": LSOM, "ks-hsic": KSHSIC, "ks-nocco": KSNOCCO}[method](n_jobs=n_jobs)
    for step in matcher.steps(X, coordinates):
        yield Step(
            min((step.start + step.iteration / matcher.max_iter) / (2 * matcher.n_starts), 0.99),
            np.argsort(step.indices),
        )
    yield Step(1.0, np.argsort(matcher.assignment_))


def representatives(X: Array, m: int, always: Sequence[int] = ()) -> Indices:
    """Choose m of the items, so that they are diverse and stand for the others.

    Each in turn lies farthest from those before it; then each gives way, three times over, to the item in the
    middle of those it stands for.

    Parameters
    ----------
    always : items that must be among them.

    >>> representatives(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2)
    array([1, 4])
    """
    X = X - X.mean(axis=0)
    norms = (X**2).sum(axis=1)

    def distances(centres: Array) -> Array:
        D: Array = norms[:, None] - 2 * X @ centres.T + (centres**2).sum(axis=1)
        return D

    chosen = list(always) or [int(norms.argmin())]
    nearest = distances(X[chosen]).min(axis=1)
    nearest[chosen] = -np.inf
    while len(chosen) < m:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances(X[chosen[-1:]])[:, 0])
        nearest[chosen] = -np.inf
    for _ in range(3):
        group = distances(X[chosen]).argmin(axis=1)
        group[chosen] = np.arange(m)  # duplicates stand for themselves
        sums = np.zeros((m, X.shape[1]))
        np.add.at(sums, group, X)
        means = sums / np.bincount(group, minlength=m)[:, None]
        off = ((X - means[group]) ** 2).sum(axis=1)
        first = np.lexsort((off, group))
        chosen[len(always) :] = first[np.searchsorted(group[first], np.arange(m))][len(always) :].tolist()
    return np.sort(np.array(chosen, dtype=np.intp))


def check_pins(pins: Mapping[Any, Cell], frame: Frame, photos: Photos | None, n: int) -> dict[int, int]:
    """Return the cell number of each pinned item, or say what is wrong with a pin."""
    found: dict[int, int] = {}
    for item, cell in pins.items():
        number, target = _find(item, photos, n), cell_number(frame, cell)
        if target in found.values():
            raise ValueError(f"two items are pinned to the cell {_cell(cell)}; give each its own")
        if number in found:
            raise ValueError(f"the item {item} is pinned twice; pin it to one cell")
        found[number] = target
    return found


def cell_number(frame: Frame, cell: Cell) -> int:
    """Return which cell lies at (row, column)."""
    hits = np.flatnonzero((frame.cells == np.asarray(cell)).all(axis=1))
    if not len(hits):
        low, high = frame.cells.min(axis=0), frame.cells.max(axis=0)
        raise ValueError(
            f"the frame {frame.name} has no cell at {_cell(cell)}; its rows go from {low[0]} to {high[0]}, its columns "
            f"from {low[1]} to {high[1]}"
            + (", with gaps (look with --preview)" if len(frame.cells) < np.prod(high - low + 1) else "")
        )
    return int(hits[0])


def check_output(path: str | os.PathLike[str]) -> Path:
    """Return the path of an album to be written, or say before the work why it cannot be."""
    path = Path(path)
    known = [*WRITERS, ".json", ".csv"]
    if path.suffix.lower() not in known:
        raise ValueError(f"cannot tell what {path} should be; end its name in one of: {' '.join(known)}")
    return check_writable(path)


def _find(item: int | str, photos: Photos | None, n: int) -> int:
    if isinstance(item, str) and photos is not None:
        return photos.find(item)
    number = int(item)
    if not 0 <= number < n:
        raise ValueError(f"there is no item {number}; items are numbered from 0 to {n - 1}")
    return number


def _cell(cell: Cell) -> str:
    return ",".join(f"{value:g}" for value in cell)


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # another drive
        return str(path.absolute())


def _packed(features: Array) -> dict[str, Any]:
    """Return features as text: half precision is plenty for telling what is similar, and short."""
    scale = float(np.abs(features).max(initial=0)) or 1.0
    data = base64.b64encode((features / scale).astype("<f2").tobytes()).decode()
    return {"shape": list(features.shape), "scale": scale, "float16": data}


def _unpacked(packed: Mapping[str, Any]) -> Array:
    values = np.frombuffer(base64.b64decode(packed["float16"]), dtype="<f2").astype(np.float64)
    features: Array = values.reshape(packed["shape"]) * packed["scale"]
    return features
