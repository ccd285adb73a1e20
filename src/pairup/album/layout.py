"""Layouts: each item on a cell, similar items side by side.

The items are one domain and the frame is the other, as in kernelized sorting: maximise tr(X Xᵀ W) over the orders of
the rows of X, where W is a box kernel on the frame. Its width shrinks from the frame's to one cell. At each width
every cell gets the mean features of its surroundings, and a sparse auction reassigns all items at once: an item bids
for the cells around it and for cells near similar items, so that it can cross the frame in one step. The increment
of the bids falls with the width and acts as a temperature. At the end, swaps are annealed on Σ ‖x_j − x_k‖ / d_jk²
over neighbouring cells j, k at distance d_jk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial import cKDTree

from pairup.album.lattice import Lattice, split_blocks
from pairup.album.local_search import anneal_swaps, auction, box_means
from pairup.components import principal_components
from pairup.parallel import run
from pairup.types import Array, BoolArray, Float32Array, Indices, Int32Array

STEPS, DRAFT_STEPS = 400, 60  # box widths, for up to `MANY` items
MANY = 4096
FEWER = 0.75  # above `MANY` items, n^−0.75 times as many widths: the time of all auctions grows as n^0.25
WIDEST = 0.45  # half the first box, as a share of the frame's longer side
NARROWEST = 0.9  # half the last box in cells: below 1, so that several of the last steps have the smallest box
RESTART = (0.2, 0.03, 0.75)  # first width, first increment and share of the steps where an order is there to begin with
INCREMENTS = (0.1, 0.003)  # first and last increment of the bids, in units of the features' variance
REPORT = 10  # auctions between two steps that are yielded
AUCTIONS = 0.7  # share of the time that the auctions take; swaps take the rest
FAR, SIMILAR = 12, 12  # cells tried near similar items, and how many items count as similar
DIMENSIONS = 48  # principal components in which items are compared with means of items
TREE_DIMENSIONS = 8  # up to here a k-d tree finds similar items quicker than all distances
DISTANCES = 2**22  # distances between items computed at once
PROPOSALS = 700  # swaps tried per item
TEMPERATURES = (0.05, 0.005)  # first and last, in units of the mean distance
BLOCK = 2048  # cells whose distances are tabulated at once


@dataclass(frozen=True)
class SortStep:
    """A state of the sorting.

    Parameters
    ----------
    progress : float
        Share of the work done, from 0 to 1.
    order : ndarray of shape (m,)
        The item on each cell.
    """

    progress: float
    order: Indices


@dataclass(frozen=True)
class SortProblem:
    """What a sorting does not change.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features of the items, in principal components.
    similar : ndarray of shape (m, k)
        The items most similar to each item.
    cells : Lattice
        The cells.
    fixed : ndarray of bool, shape (m,)
        Whether a cell keeps its item.
    """

    X: Float32Array
    similar: Int32Array
    cells: Lattice
    fixed: BoolArray


def sort_steps(
    features: Array,
    coordinates: Array,
    *,
    pins: Mapping[int, int] | None = None,
    start: Indices | None = None,
    draft: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Iterator[SortStep]:
    """Sort n items onto n cells, step by step.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Items as rows.
    coordinates : ndarray of shape (n, 2)
        Cells as rows (vertical, horizontal), in any arrangement.
    pins : mapping of int to int, optional
        Cell of each item that must not move.
    start : ndarray of shape (n,), optional
        The item on each cell to begin with, such as a draft, pinned items on their cells: the boxes begin narrower, and
        most items stay near where they are. By default a random order.
    draft : bool, default False
        Whether to stop after a rough sorting, about ten times sooner.
    random_state : int, default 0
        Seed of the first order and of the search.
    n_jobs : int, optional
        Blocks improved at the same time, as in joblib; the result does not depend on it.

    Yields
    ------
    SortStep
        Better and better orders; the last is the result.

    Examples
    --------
    >>> *_, last = sort_steps(np.array([[2.0], [0.0], [1.0], [3.0]]), np.array([[0, 0], [0, 1], [0, 2], [0, 3]]))
    >>> last.order.tolist() in ([1, 2, 0, 3], [3, 0, 2, 1])
    True
    """
    n = len(features)
    rng = np.random.default_rng(random_state)
    order, fixed = np.empty(n, dtype=np.intp), np.zeros(n, dtype=bool)
    pinned = dict(pins or {})
    fixed[list(pinned.values())] = True
    order[list(pinned.values())] = list(pinned)
    order[~fixed] = rng.permutation(np.setdiff1d(np.arange(n), list(pinned))) if start is None else start[~fixed]
    X = rotate(features)
    yield SortStep(0.0, order.copy())
    if X.any() and not fixed.all():
        problem = SortProblem(X, find_similar(X, n_jobs), Lattice.of(coordinates), fixed)
        steps = round((DRAFT_STEPS if draft else STEPS) * min(1.0, MANY / n) ** FEWER)
        for done in _auction_on_boxes(problem, order, steps, random_state, start is not None):
            yield SortStep(AUCTIONS * done, order.copy())
        if not draft:
            for done in _anneal(problem, order, TEMPERATURES, random_state, n_jobs):
                yield SortStep(AUCTIONS + (1 - AUCTIONS) * done, order.copy())
    yield SortStep(1.0, order.copy())


def settle(features: Array, coordinates: Array, order: Indices, fixed: BoolArray, *, random_state: int = 0) -> Indices:
    """Improve an order by swaps that lower the distances of neighbours, and no others.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Items as rows.
    coordinates : ndarray of shape (n, 2)
        Cells as rows (vertical, horizontal).
    order : ndarray of shape (n,)
        The item on each cell.
    fixed : ndarray of bool, shape (n,)
        Whether a cell keeps its item.
    random_state : int, default 0
        Seed of the swaps tried.

    Returns
    -------
    ndarray of shape (n,)
        The new item on each cell.

    Examples
    --------
    >>> row = np.array([[0, 0], [0, 1], [0, 2], [0, 3]])
    >>> settle(np.array([[0.0], [1.0], [2.0], [3.0]]), row, np.array([0, 2, 1, 3]), np.arange(4) == 0)
    array([0, 1, 2, 3])
    """
    X, order = rotate(features), np.array(order, dtype=np.intp)
    if X.any() and not fixed.all():
        problem = SortProblem(X, find_similar(X), Lattice.of(coordinates), fixed)
        for _ in _anneal(problem, order, (0.0, 0.0), random_state, None):
            pass
    return order


def rotate(features: Array) -> Float32Array:
    """Rotate the items to their principal components: distances stay, dimensions without variance go.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Items as rows.

    Returns
    -------
    ndarray of float32, shape (n, k)
        The centred items; up to three columns are not rotated, for there is nothing to gain.

    Examples
    --------
    >>> rotate(np.array([[0.0, 0, 0, 0], [0, 3, 4, 0]])).shape
    (2, 1)
    """
    X = features - features.mean(axis=0)
    if X.shape[1] > 3:
        U, variances = principal_components(X, solver="gram")
        X = U * np.sqrt(variances)
    return np.ascontiguousarray(X, dtype=np.float32)


def find_similar(X: Float32Array, n_jobs: int | None = None) -> Int32Array:
    """Find for each item the most similar others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Items as rows, in principal components.
    n_jobs : int, optional
        Blocks of items compared at the same time, as in joblib.

    Returns
    -------
    ndarray of shape (n, k)
        For each item the numbers of the k = 12 nearest others (fewer if there are fewer items).
    """
    n = len(X)
    k = min(SIMILAR, n - 1)
    X = np.ascontiguousarray(X[:, :DIMENSIONS])
    if X.shape[1] <= TREE_DIMENSIONS:
        found = cKDTree(X).query(X, k + 1)[1].reshape(n, k + 1)
        return np.ascontiguousarray(found[:, 1:] if k else found, dtype=np.int32)
    rows = max(1, DISTANCES // n)
    tasks = [partial(_find_similar_rows, X, start, min(start + rows, n), k) for start in range(0, n, rows)]
    return np.concatenate(list(run(tasks, n_jobs=n_jobs)))


def _find_similar_rows(X: Float32Array, start: int, stop: int, k: int) -> Int32Array:
    """Find the k items nearest to each item from `start` to `stop`, by all distances."""
    D = (X**2).sum(axis=1) - 2 * X[start:stop] @ X.T
    D[np.arange(stop - start), np.arange(start, stop)] = np.inf
    return np.argpartition(D, k - 1, axis=1)[:, :k].astype(np.int32)


def _auction_on_boxes(
    problem: SortProblem, order: Indices, steps: int, seed: int, restart: bool = False
) -> Iterator[float]:
    """Sort `order` in place by auctions on shrinking boxes; yield the share done."""
    X, cells, fixed = np.ascontiguousarray(problem.X[:, :DIMENSIONS]), problem.cells, problem.fixed
    where = np.argsort(order)
    prices = np.zeros(len(order), dtype=np.float32)
    variance = float(X.var(axis=0).sum())
    longest = int(max(cells.row.max(), cells.column.max())) + 1
    widest, increment = WIDEST, INCREMENTS[0]
    if restart:
        widest, increment, share = RESTART
        steps = max(round(share * steps), 1)
    widths = np.geomspace(max(widest * longest, 1.0), NARROWEST, steps)
    increments = (variance * np.geomspace(increment, INCREMENTS[1], steps)).astype(np.float32)
    for step, (width, bid) in enumerate(zip(widths, increments, strict=True)):
        means = box_means(X, order, cells.row, cells.column, fixed, max(1, round(width)))
        auction(X, means, order, where, cells.near, problem.similar, fixed, prices, bid, FAR, seed + step)
        if step % REPORT == 0:
            yield step / steps


def _anneal(
    problem: SortProblem, order: Indices, temperatures: tuple[float, float], seed: int, n_jobs: int | None
) -> Iterator[float]:
    """Anneal swaps on `order` in place, block by block; yield the share done.

    A large frame is done twice, by two partitions: each improves the borders of the other.
    """
    passes = 1 if len(order) <= BLOCK else 2
    for number in range(passes):
        blocks = split_blocks(problem.cells.points, BLOCK, diagonal=number == 1)
        before = order.copy()
        tasks = [
            partial(_anneal_block, problem, before, block, temperatures, PROPOSALS * len(block) // passes, seed + i)
            for i, block in enumerate(blocks)
        ]
        for i, (block, items) in enumerate(zip(blocks, run(tasks, n_jobs=n_jobs), strict=True)):
            order[block] = items
            yield (number + (i + 1) / len(blocks)) / passes


def _anneal_block(
    problem: SortProblem, order: Indices, block: Indices, temperatures: tuple[float, float], proposals: int, seed: int
) -> Indices:
    """Return the new items of a block's cells; the cells around it count, and keep theirs."""
    cells = problem.cells
    around = np.setdiff1d(cells.neighbours[block], block)
    local = np.concatenate([block, around[around >= 0]])
    number = np.full(len(order) + 1, -1, dtype=np.int32)  # global cell -> local cell; the last entry serves −1
    number[local] = np.arange(len(local))
    item_number = np.full(len(order), -1, dtype=np.int32)
    item_number[order[local]] = np.arange(len(local))
    Z = problem.X[order[local]]
    norms = (Z**2).sum(axis=1)
    D = np.sqrt(np.maximum(norms[:, None] - 2 * Z @ Z.T + norms, 0))
    np.fill_diagonal(D, 0)
    fixed = problem.fixed[local].copy()
    fixed[len(block) :] = True
    hot, cold = (float(D.mean()) * temperature for temperature in temperatures)
    placed = np.arange(len(local))
    anneal_swaps(
        D,
        placed,
        number[cells.neighbours[local]],
        cells.weights[local],
        number[cells.near[local]],
        item_number[problem.similar[order[local]]],
        fixed,
        hot,
        cold,
        proposals,
        seed,
    )
    items: Indices = order[local][placed[: len(block)]]
    return items
