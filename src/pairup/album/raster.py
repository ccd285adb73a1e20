"""A raster: items at the positions of a frame, and the swaps that sort them, on several threads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from pairup.album.lattice import Lattice
from pairup.album.sweeps import (
    HELD,
    NOISE,
    average_boxes,
    choose_swaps,
    draw_noise,
    make_swaps,
    pack,
    propose_similar,
    sweep,
)
from pairup.types import BoolArray, Float32Array, Indices, Int32Array

PIN_SHARE = 0.125  # weight of a fixed item, beside its own, as a share of the cells of the box
BAND = 64  # rows worked on by one task at least
CACHE = 2**19  # bytes of a core's cache that the rows of a class may fill
ROWS = (16, 64)  # rows of a class: enough for swaps at many distances, and enough classes for all threads
TASKS = 16  # tasks at once, more or less: a task begins within 20 µs
SPARSE = 8  # sweeps where few positions have a cell are more, up to this factor

Run = Callable[[list[Callable[[], Any]]], None]  # calls all tasks and returns when all are done


@dataclass
class Raster:
    """Items at the positions of a raster, features in the layout of `pairup.album.sweeps`.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features of the items, and the means around each position.
    items : ndarray of shape (H, W)
        The item at each position, −1 where no cell is.
    pinned : ndarray of bool, shape (H, W)
        Where an item must not move.
    row, column : ndarray of shape (m,)
        Position of each cell.
    """

    Z: Float32Array
    M: Float32Array
    items: Int32Array
    pinned: BoolArray
    row: Int32Array
    column: Int32Array
    held: Float32Array = field(init=False)
    noise: Float32Array = field(init=False)
    used: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        self.used = self.items >= 0
        self.held = np.where(self.used & ~self.pinned, np.float32(0), HELD).astype(np.float32)
        self.noise = draw_noise(self.items.shape[1])
        self.fill = len(self.row) / self.items.size
        place = self.row.astype(np.int64) * self.items.shape[1] + self.column
        self.whole = len(place) == self.items.size and bool((np.diff(place) == 1).all())  # a rectangle, row by row
        (H, d, W), edged = self.Z.shape, (self.items.shape[0] + 2) * (self.items.shape[1] + 2)
        self.rows = int(np.clip(CACHE // (8 * (d + 1) * W), *ROWS))
        self.errors = np.zeros(H)
        self.packed = np.full((edged, 2 * d + 2), HELD, dtype=np.float32)
        self.where = np.empty(len(self.row), dtype=np.int32)
        self.wanted, self.counts = np.empty((H, 2, W), dtype=np.int32), np.empty(H, dtype=np.int32)
        self.touched, self.chosen = np.empty(edged, dtype=bool), np.empty((edged // 2 + 1, 2), dtype=np.int32)

    @classmethod
    def of(cls, X: Float32Array, order: Indices, cells: Lattice, fixed: BoolArray) -> "Raster":
        """Lay the items out.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Features of the items.
        order : ndarray of shape (m,)
            The item on each cell.
        cells : Lattice
            The cells.
        fixed : ndarray of bool, shape (m,)
            Whether a cell keeps its item.

        Returns
        -------
        Raster
            The items at the positions of their cells; its rows run along the frame's longer side.
        """
        row, column = (cells.row, cells.column) if cells.row.max() >= cells.column.max() else (cells.column, cells.row)
        H, W = int(row.max()) + 1, int(column.max()) + 1
        Z = np.zeros((H, X.shape[1], W), dtype=np.float32)
        Z[row, :, column] = X[order]
        items, pinned = np.full((H, W), -1, dtype=np.int32), np.zeros((H, W), dtype=bool)
        items[row, column], pinned[row, column] = order, fixed
        return cls(Z, np.zeros_like(Z), items, pinned, row, column)

    @property
    def order(self) -> Indices:
        """The item on each cell."""
        return (self.items.ravel() if self.whole else self.items[self.row, self.column]).astype(np.intp)

    def average(self, half: int, run: Run) -> float:
        """Compute the means of boxes; a pinned item weighs an eighth of the box, so that similar ones gather round it.

        Parameters
        ----------
        half : int
            Half the side of the box.
        run : callable
            Runs tasks.

        Returns
        -------
        float
            The mean squared distance between the items and the means around them.
        """
        mass = self.used.astype(np.float32)
        mass[self.pinned] += PIN_SHARE * (2 * half + 1) ** 2
        bands = _split_rows(len(self.items), max(BAND, 2 * half), 0)
        run([partial(average_boxes, self.Z, mass, self.M, self.errors, half, *band) for band in bands])
        return float(self.errors.sum() / mass.sum())

    def sort(self, width: float, reach: int, passes: int, heat: float, seed: int, run: Run) -> None:
        """Swap items so that each becomes more like the mean of the box around it.

        Parameters
        ----------
        width : float
            Half the side of the box.
        reach : int
            Rows and columns between two positions that are swapped, at most.
        passes : int
            Offsets at which swaps are tried.
        heat : float
            The temperature, as a share of the mean squared distance between items and means.
        seed : int
            Seed of the offsets.
        run : callable
            Runs tasks.
        """
        rng = np.random.default_rng(seed)
        self.temperature = np.float32(heat * self.average(max(1, round(width)), run))
        H, W = self.items.shape
        apart = max(min(-(-2 * reach // self.rows), H // self.rows), 1)
        bands = _split_rows(H, self.rows * apart, int(rng.integers(H)))
        count = round(passes * min(1 / self.fill, SPARSE))
        together = max(len(bands) * apart // TASKS, 1)  # classes of a task
        down = np.array([min(reach // apart, (bottom - top) // apart - 1) for top, bottom in bands])
        if W == 1 and not down.all():  # a single cell, or a column of few: nowhere to go
            return
        tasks: list[Callable[[], Any]] = []
        for (top, bottom), offsets in zip(bands, draw_offsets(rng, count, down, min(reach, W - 1)), strict=True):
            for first in range(0, apart, together):
                classes = apart, first, min(first + together, apart)
                fixed = self.Z, self.M, self.items, self.held, top, bottom, *classes
                tasks.append(partial(sweep, *fixed, offsets, self.noise, self.temperature))
        run(tasks)

    def gather(self, similar: Int32Array, rounds: int, seed: int, run: Run) -> None:
        """Swap items to positions beside similar items, however far, where they become more like the mean there.

        Parameters
        ----------
        similar : ndarray of shape (m, k)
            The items most similar to each item.
        rounds : int
            Proposals per item.
        seed : int
            Seed of the proposals.
        run : callable
            Runs tasks.
        """
        bands = _split_rows(len(self.items), max(BAND, len(self.items) // TASKS), 0)
        for number in range(rounds):
            stamp = seed * rounds + number
            places = self.Z, self.M, self.items, self.held, self.packed, self.where
            run([partial(pack, *places, *band) for band in bands])
            frozen = self.items, self.packed, self.where, similar
            noise = self.noise, self.temperature
            run(
                [
                    partial(propose_similar, *frozen, top, bottom, *noise, stamp, self.wanted, self.counts)
                    for top, bottom in bands
                ]
            )
            made = choose_swaps(self.wanted, self.counts, self.touched, self.chosen)
            parts = np.linspace(0, made, len(bands) + 1).astype(int).tolist()
            run([partial(make_swaps, self.Z, self.items, self.chosen[i:j]) for i, j in pairwise(parts)])


def _split_rows(H: int, size: int, shift: int) -> list[tuple[int, int]]:
    """Split H rows into bands of at least `size`, all borders shifted by a part of a band."""
    count = max(H // size, 1)
    borders = np.linspace(0, H, count + 1).astype(int)
    if count > 1:
        inner = borders[1:-1] + shift % size - size // 2
        borders = np.concatenate([[0], inner, [H]])
    return [(int(top), int(bottom)) for top, bottom in pairwise(borders)]


def draw_offsets(rng: np.random.Generator, count: int, down: Indices, right: int) -> Int32Array:
    """Draw offsets for `sweep`, for all bands at once: numpy takes 20 µs for each call.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws them.
    count : int
        How many per band.
    down : ndarray of shape (bands,)
        Rows at most, in each band.
    right : int
        Columns at most; where `down` is 0 there must be at least 1.

    Returns
    -------
    ndarray of shape (bands, count, 4)
        Rows, columns, where blocks begin, where the noise begins.

    Examples
    --------
    >>> draw_offsets(np.random.default_rng(0), 2, np.array([0]), 1)[0, :, :2].tolist()
    [[0, 1], [0, 1]]
    """
    drawn = rng.random((4, len(down), count))
    rows = np.floor(drawn[0] * (down[:, None] + 1))
    columns = np.floor(drawn[1] * (2 * right + 1)) - right
    columns = np.where(rows == 0, np.abs(columns), columns)
    nowhere = (rows == 0) & (columns == 0)
    rows[nowhere], columns[nowhere] = (0, 1) if right else (1, 0)
    places = np.floor(drawn[2] * 2**15), np.floor(drawn[3] * NOISE)
    return np.stack([rows, columns, *places], axis=2).astype(np.int32)
