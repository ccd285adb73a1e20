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
    draw_noise,
    find_positions,
    make_swaps,
    propose_similar,
    residual,
    sweep,
)
from pairup.types import BoolArray, Float32Array, Indices, Int32Array

PIN_SHARE = 0.125  # weight of a fixed item, beside its own, as a share of the cells of the box
BAND = 64  # rows worked on by one task at least: they fit into the cache of a core, and borders are few
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
        self.where = np.empty(len(self.row), dtype=np.int32)
        self.wanted = np.empty(self.items.shape, dtype=np.int32)
        self.touched = np.full(self.items.shape, -1, dtype=np.int32)
        self.fill = len(self.row) / self.items.size

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
        return self.items[self.row, self.column].astype(np.intp)

    def average(self, half: int, run: Run) -> Float32Array:
        """Compute the means of boxes; a pinned item weighs an eighth of the box, so that similar ones gather round it.

        Parameters
        ----------
        half : int
            Half the side of the box.
        run : callable
            Runs tasks.

        Returns
        -------
        ndarray of shape (H, W)
            The weights of the positions.
        """
        mass = self.used.astype(np.float32)
        mass[self.pinned] += PIN_SHARE * (2 * half + 1) ** 2
        H = len(self.items)
        bands = _split_rows(H, max(BAND, 2 * half), 0)
        run([partial(average_boxes, self.Z, mass, self.M, half, *band) for band in bands])
        return mass

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
        mass = self.average(max(1, round(width)), run)
        self.temperature = np.float32(heat * residual(self.Z, self.M, mass) if heat else 0.0)
        H, W = self.items.shape
        bands = _split_rows(H, max(BAND, 2 * reach), int(rng.integers(H)))
        count = round(passes * min(1 / self.fill, SPARSE))
        run(
            [
                partial(
                    sweep,
                    self.Z,
                    self.M,
                    self.items,
                    self.held,
                    *band,
                    draw_offsets(rng, count, min(reach, band[1] - band[0] - 1), min(reach, W - 1)),
                    self.noise,
                    self.temperature,
                )
                for band in bands
            ]
        )

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
        arguments = self.Z, self.M, self.items, self.held, self.where, similar
        for number in range(rounds):
            stamp = seed * rounds + number
            find_positions(self.items, self.where)
            bands = _split_rows(len(self.items), BAND, 0)
            run(
                [
                    partial(propose_similar, *arguments, *band, self.noise, self.temperature, stamp, self.wanted)
                    for band in bands
                ]
            )
            make_swaps(self.Z, self.items, self.wanted, self.touched, stamp)


def _split_rows(H: int, size: int, shift: int) -> list[tuple[int, int]]:
    """Split H rows into bands of at least `size`, all borders shifted by a part of a band."""
    count = max(H // size, 1)
    borders = np.linspace(0, H, count + 1).astype(int)
    if count > 1:
        inner = borders[1:-1] + shift % size - size // 2
        borders = np.concatenate([[0], inner, [H]])
    return [(int(top), int(bottom)) for top, bottom in pairwise(borders)]


def draw_offsets(rng: np.random.Generator, count: int, down: int, right: int) -> Int32Array:
    """Draw offsets for `sweep`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws them.
    count : int
        How many.
    down, right : int
        Rows and columns at most; one of them is positive.

    Returns
    -------
    ndarray of shape (at most count, 4)
        Rows, columns, where blocks begin, where the noise begins.

    Examples
    --------
    >>> draw_offsets(np.random.default_rng(0), 2, 0, 1)[:, :2].tolist()
    [[0, 1], [0, 1]]
    """
    offsets = np.empty((count, 4), dtype=np.int32)
    offsets[:, 0] = rng.integers(0, down + 1, count)
    offsets[:, 1] = rng.integers(-right, right + 1, count)
    offsets[:, 2] = rng.integers(0, 2**15, count)
    offsets[:, 3] = rng.integers(0, NOISE, count)
    still = offsets[:, 0] == 0
    offsets[still, 1] = np.abs(offsets[still, 1])
    nowhere = still & (offsets[:, 1] == 0)
    offsets[nowhere, :2] = (0, 1) if right else (1, 0)
    return offsets if down or right else offsets[:0]
