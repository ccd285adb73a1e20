"""Lattices: the cells of a frame as points, as raster positions, and as neighbours of each other."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from pairup.types import Array, Float32Array, Indices, Int32Array

NEAR = 9  # cells tried for an item around its own, itself included: the 8 nearest on a grid
REACH = 1.5  # radius of the neighbourhood that swaps improve, in cells: the 8 nearest on a grid
CLOSEST = 0.25  # smallest squared distance used in a weight: cells at almost the same place keep finite weights
WIDEST_GAP = 3  # raster lines between two occupied lines at most: far outliers do not make a huge raster
RASTER = (64, 4096)  # raster positions per cell, and in any case, before a coarser raster is taken


@dataclass(frozen=True)
class Lattice:
    """The cells of a frame, in units of the distance between neighbouring cells.

    Parameters
    ----------
    points : ndarray of shape (m, 2)
        Coordinates in units of that distance, from 0.
    row, column : ndarray of shape (m,)
        Coordinates rounded to a raster.
    near : ndarray of shape (m, q)
        The nearest cells of each cell, itself first.
    neighbours : ndarray of shape (m, k)
        The cells within 1.5 units of each cell, and those that are near in either direction, padded with −1.
    weights : ndarray of shape (m, k)
        1 / d² for each neighbour at distance d, padded with 0.
    """

    points: Array
    row: Int32Array
    column: Int32Array
    near: Int32Array
    neighbours: Int32Array
    weights: Float32Array

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
        k = min(NEAR, len(points))
        distances, near = (np.reshape(found, (len(points), k)) for found in cKDTree(points).query(points, k))
        points = points / (float(np.median(distances[:, min(1, k - 1)])) or 1.0)
        row, column = (_close_gaps(values) for values in points.T)
        excess = float(row.max() + 1) * float(column.max() + 1) / (RASTER[0] * len(points) + RASTER[1])
        if excess > 1:  # scattered cells, such as points along a curve
            row, column = (_close_gaps(values / np.sqrt(excess)) for values in points.T)
        near = near.astype(np.int32)
        return cls(points, row, column, near, *_find_neighbours(points, near))


def _close_gaps(values: Array) -> Int32Array:
    """Round coordinates to raster lines, with at most two empty lines between two that are used."""
    found, place = np.unique(np.rint(values), return_inverse=True)
    lines = np.concatenate([[0], np.cumsum(np.minimum(np.diff(found), WIDEST_GAP))])
    return lines[place].astype(np.int32)


def _find_neighbours(points: Array, near: Int32Array) -> tuple[Int32Array, Float32Array]:
    """Return for each cell the cells around it, padded with −1, and their weights 1 / d²."""
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
    weights[both[:, 0], place] = 1 / np.maximum(squares, CLOSEST)
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
