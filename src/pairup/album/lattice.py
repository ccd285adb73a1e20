"""Lattices: the cells of a frame as points, as raster positions, and as neighbours of each other."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from pairup.types import Array, BoolArray, Float32Array, Indices, Int32Array

NEAR = 9  # cells tried for an item around its own, itself included: the 8 nearest on a grid
REACH = 1.5  # radius of the neighbourhood that swaps improve, in cells: the 8 nearest on a grid
CLOSEST = 0.5  # smallest squared distance used in a weight: cells at almost the same place keep finite weights
WIDEST_GAP = 3  # raster lines between two occupied lines at most: far outliers do not make a huge raster
GRID_LIMIT = 2**28  # raster positions at most of a frame that is taken for a grid
RASTER = (64, 4096)  # raster positions per cell, and in any case, before a coarser raster is taken


@dataclass(frozen=True)
class Lattice:
    """The cells of a frame, in units of the distance between neighbouring cells.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
        Coordinates in units of that distance, from 0.
    row, column : ndarray of shape (m,)
        Coordinates rounded to a raster; each cell has its own position.
    """

    points: Array
    row: Int32Array
    column: Int32Array

    @classmethod
    def of(cls, coordinates: Array) -> "Lattice":
        """Make a lattice from coordinates in any unit.

        Parameters
        ----------
        coordinates : ndarray of shape (m, 2)
            Cells as rows (vertical, horizontal), in any arrangement.

        Returns
        -------
        Lattice
            The cells in units of the median distance to the nearest cell.

        Examples
        --------
        >>> lattice = Lattice.of(np.array([[0.0, 0.0], [0.0, 5.0], [5.0, 0.0]]))
        >>> lattice.row.tolist(), lattice.column.tolist()
        ([0, 0, 1], [0, 1, 0])
        """
        points = np.asarray(coordinates, dtype=np.float64)
        points = points - points.min(axis=0)
        points = points / (_median_distance(points) or 1.0)
        row, column = (_close_gaps(values) for values in points.T)
        excess = float(row.max() + 1) * float(column.max() + 1) / (RASTER[0] * len(points) + RASTER[1])
        if excess > 1:  # scattered cells, such as points along a curve
            row, column = (_close_gaps(values / np.sqrt(excess)) for values in points.T)
        return cls(points, *separate(row, column))

    @property
    def longest(self) -> int:
        """Raster lines along the longer side."""
        return int(max(self.row.max(), self.column.max())) + 1

    @cached_property
    def near(self) -> Int32Array:
        """The nearest cells of each cell, itself first; shape (m, q)."""
        k = min(NEAR, len(self.points))
        return np.reshape(cKDTree(self.points).query(self.points, k)[1], (-1, k)).astype(np.int32)

    @property
    def neighbours(self) -> Int32Array:
        """The cells within 1.5 units of each cell, and those near in either direction, padded with −1; shape (m, k)."""
        return self._neighbours_and_weights[0]

    @property
    def weights(self) -> Float32Array:
        """1 / d⁴ for each neighbour at distance d, padded with 0; shape (m, k)."""
        return self._neighbours_and_weights[1]

    @cached_property
    def _neighbours_and_weights(self) -> tuple[Int32Array, Float32Array]:
        return _find_neighbours(self.points, self.near)


def _median_distance(points: Array) -> float:
    """Return the median distance to the nearest cell; 1 at once for the cells of a grid, however many."""
    if not (points % 1).any() and points.max(initial=0) < GRID_LIMIT:
        lines = points.astype(np.int64)
        used = np.zeros(lines.max(axis=0) + 3, dtype=bool) if np.prod(lines.max(axis=0) + 3.0) < GRID_LIMIT else None
        if used is not None:
            r, c = lines.T + 1
            used[r, c] = True
            beside = used[r - 1, c] | used[r + 1, c] | used[r, c - 1] | used[r, c + 1]
            if used.sum() == len(points) and beside.mean() > 0.5:
                return 1.0
    k = min(2, len(points))
    return float(np.median(np.reshape(cKDTree(points).query(points, k)[0], (-1, k))[:, -1]))


def separate(row: Int32Array, column: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Give each cell its own position: of several at one position, all but the first move to the nearest free one.

    Parameters
    ----------
    row, column : ndarray of shape (m,)
        Position of each cell.

    Returns
    -------
    row, column : ndarray of shape (m,)
        Positions, from 0, no two the same.

    Examples
    --------
    >>> separate(np.zeros(3, np.int32), np.array([0, 0, 1], np.int32))[0].tolist()
    [1, 0, 1]
    """
    width = int(column.max()) + 1
    used = np.zeros((int(row.max()) + 1, width), dtype=bool)
    used[row, column] = True
    if used.sum() == len(row):
        return row, column
    _, first = np.unique(row.astype(np.int64) * width + column, return_index=True)
    margin = int(np.ceil(np.sqrt(len(row) - len(first)))) + 1  # as much room around as the others need
    place = np.stack([row, column], axis=1) + margin
    used = np.zeros(place.max(axis=0) + margin + 1, dtype=bool)
    used[tuple(place[first].T)] = True
    for cell in np.setdiff1d(np.arange(len(row)), first):
        place[cell] = _find_free(used, place[cell])
        used[tuple(place[cell])] = True
    place -= place.min(axis=0)
    return place[:, 0].astype(np.int32), place[:, 1].astype(np.int32)


def _find_free(used: BoolArray, place: Indices) -> Indices:
    """Return the free position nearest to a place."""
    reach = 1
    while True:
        low = np.maximum(place - reach, 0)
        free = np.argwhere(~used[low[0] : place[0] + reach + 1, low[1] : place[1] + reach + 1]) + low
        if len(free):
            nearest: Indices = free[np.argmin(((free - place) ** 2).sum(axis=1))]
            return nearest
        reach *= 2


def _close_gaps(values: Array) -> Int32Array:
    """Round coordinates to raster lines, with at most two empty lines between two that are used."""
    found, place = np.unique(np.rint(values), return_inverse=True)
    lines = np.concatenate([[0], np.cumsum(np.minimum(np.diff(found), WIDEST_GAP))])
    return lines[place].astype(np.int32)


def _find_neighbours(points: Array, near: Int32Array) -> tuple[Int32Array, Float32Array]:
    """Return for each cell the cells around it, padded with −1, and their weights 1 / d⁴."""
    m = len(points)
    close = cKDTree(points).query_pairs(REACH, output_type="ndarray")
    # Scattered cells may have no other within reach: the nearest cells count in any case.
    nearest = np.stack([np.repeat(np.arange(m), near.shape[1]), near.ravel()], axis=1)
    both = np.concatenate([close, close[:, ::-1], nearest, nearest[:, ::-1]])
    both = np.unique(both[both[:, 0] != both[:, 1]], axis=0)
    counts = np.bincount(both[:, 0], minlength=m)
    place = np.arange(len(both)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbours = np.full((m, max(int(counts.max()), 1)), -1, dtype=np.int32)
    weights = np.zeros(neighbours.shape, dtype=np.float32)
    neighbours[both[:, 0], place] = both[:, 1]
    squares = ((points[both[:, 0]] - points[both[:, 1]]) ** 2).sum(axis=1)
    weights[both[:, 0], place] = np.maximum(squares, CLOSEST) ** -2
    return neighbours, weights


def split_blocks(points: Array, size: int, *, diagonal: bool = False) -> list[Indices]:
    """Split the cells into compact blocks, by halving the longer side again and again.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
        Coordinates of the cells.
    size : int
        Cells per block at most.
    diagonal : bool, default False
        Whether to cut along the diagonals, so that the borders differ from those of the other partition.

    Returns
    -------
    list of ndarray
        The cells of each block; each cell is in one block.

    Examples
    --------
    >>> [block.tolist() for block in split_blocks(np.array([[0, 0], [0, 1], [0, 2], [0, 3.0]]), 2)]
    [[2, 3], [0, 1]]
    """
    if diagonal:
        points = points @ np.array([[1.0, 1.0], [-1.0, 1.0]])
    blocks, waiting = [], [np.arange(len(points))]
    while waiting:
        block = waiting.pop()
        if len(block) <= size:
            blocks.append(block)
            continue
        axis = int(np.argmax(np.ptp(points[block], axis=0)))
        by_place = block[np.argsort(points[block, axis], kind="stable")]
        waiting += [by_place[: len(block) // 2], by_place[len(block) // 2 :]]
    return blocks
