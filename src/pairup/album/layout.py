"""Layouts: each item on a cell, similar items side by side.

The items are one domain and the frame is the other, as in kernelized sorting: maximise tr(X Xᵀ W) over the orders of
the rows of X, where W is a box kernel on the frame. Its width shrinks from the frame's to one cell. At each width
every cell gets the mean features of its surroundings, and items move to cells whose means are more like them:

1. Sweeps: items swap with those at random offsets, and with those beside similar items, so that they can cross the
   frame in one step. A swap that loses little is accepted too; the temperature follows the mean squared distance
   between items and means. The time of a step grows as n, the number of steps as log n.
2. Auctions: from a narrower width on, with a Gaussian kernel instead of the box, all items are reassigned at once by a
   sparse auction: an item that loses its cell bids for another. Slower, and better.
3. Annealing: swaps lower Σ ‖x_j − x_k‖ / d_jk⁴ over neighbouring cells j, k at distance d_jk.

A preset (`DRAFT`, `DEFAULT`, `BEST`) says how much of each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial import cKDTree

from pairup.album.lattice import Lattice, split_blocks
from pairup.album.local_search import anneal_swaps, auction, gaussian_means
from pairup.album.raster import Raster, Run
from pairup.components import principal_components
from pairup.parallel import count_threads, run, thread_runner
from pairup.types import Array, BoolArray, Float32Array, Indices, Int32Array

WIDEST = 0.45  # half the first box, as a share of the frame's longer side
NARROWEST = 0.9  # half the last box in cells: below 1, so that several of the last steps have the smallest box
# Half the box in cells beyond which it may shrink faster. At 90,000 to 250,000 items a hurry of 2 changes the distances
# of neighbours by less than .2 % (colours, a mixture), 1.6 % where the items lie on a sheet, and saves a fifth of the
# time; a hurry of 4 costs 23 % on a sheet.
WIDE = 16.0
RESTART = 0.25  # the same for the first box where an order is there to begin with: most items stay near their cell
HEAT = 0.2  # temperature of sweeps in units of the residual per dimension (colours, photos, sentences, cells, mixtures)
REACH = 2.0  # farthest swap of a sweep in units of half the box
COLD = 5  # sweeps without temperature at the end
KERNEL = 1 / 2.9  # standard deviation of the kernel of the auctions, in units of half a box of about that variance
SHARPEST = 0.7  # standard deviation of its last kernel, in cells
INCREMENT = 0.0037  # of the bids at the narrowest kernel, in units of the variance, for 1,024 items
WIDENING = 4 / 3  # the increment grows as this power of the width: so do squared distances in a box of colours
AUCTIONS = 0.7  # share of the time that the auctions take; annealing takes the rest
REPORT = 0.02  # share of the work between two steps that are yielded
BESIDE = 5  # cells an auction tries around an item's own, itself included: 9 take longer and sort no better
FAR, SIMILAR = 4, 6  # cells tried near similar items, and how many items count as similar
ROUNDING = 1e-12  # a column whose deviations from its mean are a smaller share of its values does not vary
DIMENSIONS = 48  # principal components in which items are compared with means of items
TREE_DIMENSIONS = 8  # up to here a k-d tree finds similar items quicker than all distances
MANY = 16384  # from so many items on it is slow beyond four dimensions
FEW = 4096  # items up to which all distances are computed, to find the similar ones
CANDIDATES, CANDIDATE_DIMENSIONS = 32, 4  # beyond: how many candidates, by how many components
EXCHANGES = 3  # and how often neighbours of neighbours are tried: .83 instead of .55 of the nearest photos are found
DISTANCES = 2**22  # distances between items computed at once
TEMPERATURES = (0.05, 0.005)  # of the annealing, first and last, in units of the mean distance
BLOCK = 2048  # cells whose distances are tabulated at once


@dataclass(frozen=True)
class Preset:
    """How much work a sorting does. Chosen by `benchmarks/albums.py frontier`.

    Parameters
    ----------
    decay : float
        The width of a box as a share of the one before.
    hurry : int
        Boxes wider than `WIDE` shrink by this power of `decay`.
    passes : int
        Offsets tried at each width.
    rounds : int
        Proposals per item beside similar items, at each width.
    bidding : int
        Half a box as wide as the first kernel of the auctions, in cells.
    auctions, swaps : int
        Number of auctions, and swaps tried per item, for 1,024 items.
    shrink : float
        For n items these are (1024 / n) ** shrink times as many.
    most : float
        At most this many times as many: few items are done soon.
    least : int
        Auctions below this number are left out, and the annealing with them.
    floor : float
        Items of more than 8 dimensions have at least this share of them, however many they are: they gain most.
    """

    decay: float
    hurry: int
    passes: int
    rounds: int
    bidding: int
    auctions: int
    swaps: int
    shrink: float
    most: float
    least: int
    floor: float

    def share(self, n: int, dimensions: int) -> float:
        """Return the share of auctions and swaps that n items get; 0 where it would be too little to help.

        Parameters
        ----------
        n : int
            Number of items.
        dimensions : int
            Number of their features.

        Returns
        -------
        float
            The share, 1 for 1,024 items.

        Examples
        --------
        >>> DEFAULT.share(1024, 3), DEFAULT.share(10**6, 3), DEFAULT.share(10**6, 48)
        (1.0, 0.0, 0.07)
        """
        share = min(self.most, (1024 / n) ** self.shrink)
        share = share if round(self.auctions * share) >= self.least else 0.0
        return max(share, self.floor) if dimensions > TREE_DIMENSIONS else share


# The auctions and swaps of `DRAFT` and `DEFAULT` take 0.02 and 0.2 CPU s in all, however many colours there are, and
# end where that is too little for each; those of `BEST` grow as n^0.4. The floor of `DEFAULT` lowers the mean distance
# of neighbours by 8 % for 12,768 photos, in 1 CPU s.
DRAFT = Preset(0.93, 2, 10, 1, 6, 55, 100, 1.0, 1.0, 27, 0.0)
DEFAULT = Preset(0.96, 2, 10, 1, 14, 550, 700, 1.0, 4.0, 137, 0.07)
BEST = Preset(0.99, 1, 20, 2, 14, 5500, 3000, 0.6, 4.0, 1, 0.0)


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
    preset: Preset = DEFAULT,
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
    preset : Preset, default DEFAULT
        How much work to do.
    random_state : int, default 0
        Seed of the first order and of the search.
    n_jobs : int, optional
        Bands of rows, and blocks, improved at the same time, as in joblib; the result does not depend on it.

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
    order[~fixed] = rng.permutation(remaining(n, list(pinned))) if start is None else start[~fixed]
    X = rotate(features)
    yield SortStep(0.0, order.copy())
    if X.any() and not fixed.all():
        # Similar items get numbers near each other: what is looked up together then lies together in memory.
        numbers = number_items(X)
        rank = np.argsort(numbers)
        X = X[numbers]
        problem = SortProblem(X, find_similar(X, n_jobs), Lattice.of(coordinates), fixed)
        for step in _sort(problem, rank[order], preset, start is None, random_state, n_jobs):
            order = numbers.take(step.order)
            yield SortStep(step.progress, order)
    yield SortStep(1.0, order.copy())


def _sort(
    problem: SortProblem, order: Indices, preset: Preset, fresh: bool, seed: int, n_jobs: int | None
) -> Iterator[SortStep]:
    """Sweep, auction and anneal; yield the share done and the order.

    Where the auctions begin with boxes as wide as the frame, nothing is left for the sweeps to do.
    """
    share = preset.share(*problem.X.shape)
    bids, swaps = round(preset.auctions * share), round(preset.swaps * share)
    widest = (WIDEST if fresh else RESTART) * problem.cells.longest
    swept = 1.0 if not bids else 0.2 if widest > preset.bidding + 1 else 0.0  # shares of the time
    sold = swept + AUCTIONS * (1 - swept)
    if swept:
        raster = Raster.of(np.ascontiguousarray(problem.X[:, :DIMENSIONS]), order, problem.cells, problem.fixed)
        with thread_runner(n_jobs) as threads:
            for done in _sweep_on_boxes(problem, raster, preset, widest, seed, threads):
                yield SortStep(swept * done, raster.order)
        order = raster.order
    if bids:
        for done in _auction(problem, order, min(widest, preset.bidding), bids, seed):
            yield SortStep(swept + (sold - swept) * done, order.copy())
        for done in _anneal(problem, order, TEMPERATURES, swaps, seed, n_jobs):
            yield SortStep(sold + (1 - sold) * done, order.copy())


def _sweep_on_boxes(
    problem: SortProblem, raster: Raster, preset: Preset, widest: float, seed: int, threads: Run
) -> Iterator[float]:
    """Sort a raster by swaps on shrinking boxes; yield the share done."""
    widths = shrink_boxes(widest, preset)
    steps, told = len(widths), 0.0
    dimensions = count_dimensions(problem.X)
    for step, width in enumerate([*widths, *[NARROWEST] * COLD]):
        heat = HEAT / dimensions if step < steps else 0.0
        number = seed * (steps + COLD) + step
        raster.sort(width, max(2, int(REACH * width)), preset.passes, heat, number, threads)
        raster.gather(problem.similar, preset.rounds, number, threads)
        done = (step + 1) / (steps + COLD)
        if done >= told + REPORT:
            told = done
            yield done


def shrink_boxes(widest: float, preset: Preset) -> Array:
    """Return half the sides of the boxes of the sweeps, from the widest to the narrowest.

    Parameters
    ----------
    widest : float
        Half the side of the first, in cells.
    preset : Preset
        How fast they shrink.

    Returns
    -------
    ndarray of shape (k,)
        Half the sides.

    Examples
    --------
    >>> shrink_boxes(32, DRAFT)[[0, 1, 5, -1]].round(1).tolist()
    [32.0, 27.9, 16.0, 0.9]
    """
    narrow = max(min(widest, WIDE), 1.0)
    fast = round(np.log(narrow / max(widest, 1.0)) / (preset.hurry * np.log(preset.decay)))
    slow = max(round(np.log(NARROWEST / narrow) / np.log(preset.decay)), 1)
    wide = np.geomspace(max(widest, 1.0), narrow, fast, endpoint=False)
    return np.concatenate([wide, np.geomspace(narrow, NARROWEST, slow)])


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
        for _ in _anneal(problem, order, (0.0, 0.0), DEFAULT.swaps, random_state, None):
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
        The centred items, divided by a power of two so that none is larger than 1; up to three columns are not rotated,
        for there is nothing to gain. Columns that vary by rounding alone are 0.

    Examples
    --------
    >>> rotate(np.array([[0.0, 0, 0, 0], [0, 3, 4, 0]])).shape
    (2, 1)
    >>> bool(rotate(np.array([[0.1], [0.1], [0.1]])).any())
    False
    """
    X = features - features.mean(axis=0)
    X[:, np.abs(X).max(axis=0) <= ROUNDING * np.abs(features).max(axis=0)] = 0
    X = np.ldexp(X, -int(np.frexp(np.abs(X).max(initial=0))[1]))  # exact, and no square is too small or too large
    if X.shape[1] > 3:
        U, variances = principal_components(X, solver="gram")
        X = U * np.sqrt(variances)
    return np.ascontiguousarray(X, dtype=np.float32)


def remaining(n: int, taken: Sequence[int] | Indices) -> Indices:
    """Return the numbers below n that are not taken.

    Parameters
    ----------
    n : int
        How many numbers there are.
    taken : sequence of int
        Numbers that are taken, in any order.

    Returns
    -------
    ndarray of int
        The others, ascending.

    Examples
    --------
    >>> remaining(4, [2, 0]).tolist()
    [1, 3]
    """
    free = np.ones(n, dtype=bool)  # a table, for numpy's sets of a million numbers take a third of a second
    free[np.asarray(taken, dtype=np.intp)] = False
    return np.flatnonzero(free)


def number_items(X: Float32Array) -> Indices:
    """Return the items in an order in which similar ones are near each other: that of the leaves of a k-d tree.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Items as rows, in principal components.

    Returns
    -------
    ndarray of shape (n,)
        The items.

    Examples
    --------
    >>> sorted(number_items(np.array([[0.0], [2.0], [1.0]], dtype=np.float32)).tolist())
    [0, 1, 2]
    """
    return np.array(cKDTree(X[:, :CANDIDATE_DIMENSIONS]).indices, dtype=np.intp)


def count_dimensions(X: Float32Array) -> float:
    """Return the effective number of dimensions, (Σ λ)² / Σ λ² of the eigenvalues λ of the covariance.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Centred items as rows, not all 0.

    Returns
    -------
    float
        From 1, where all items lie on a line, to d, where they spread alike in all directions.

    Examples
    --------
    >>> count_dimensions(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], dtype=np.float32))
    2.0
    """
    C = (X.T @ X).astype(np.float64)
    return float(np.trace(C) ** 2 / (C**2).sum())


def find_similar(X: Float32Array, n_jobs: int | None = None, *, k: int = SIMILAR, few: int = FEW) -> Int32Array:
    """Find for each item the most similar others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Items as rows, in principal components.
    n_jobs : int, optional
        Blocks of items compared at the same time, as in joblib.
    k : int, default 6
        How many others.
    few : int, default 4096
        Items up to which all are compared with all.

    Returns
    -------
    ndarray of shape (n, k)
        For each item the numbers of the nearest others (fewer than k if there are fewer items). Of many items in many
        dimensions these are most of the nearest: they are looked for among those that the first components bring near,
        and then among the neighbours of neighbours.
    """
    n = len(X)
    k = min(k, n - 1)
    X = np.ascontiguousarray(X[:, :DIMENSIONS])
    if X.shape[1] <= (TREE_DIMENSIONS if n < MANY else CANDIDATE_DIMENSIONS):
        nearest = _query(X, k + 1, n_jobs)
        return np.ascontiguousarray(nearest[:, 1:] if k else nearest, dtype=np.int32)
    if n <= few:
        rows = max(1, DISTANCES // n)
        tasks = [partial(_find_similar_rows, X, s, min(s + rows, n), k) for s in range(0, n, rows)]
        return np.concatenate(list(run(tasks, n_jobs=n_jobs)))
    found = _query(X[:, :CANDIDATE_DIMENSIONS], CANDIDATES + 1, n_jobs)[:, 1:].astype(np.int32)
    rows = max(1, DISTANCES // (k * k + k + CANDIDATES) // X.shape[1])
    for number in range(1 + EXCHANGES):
        tasks = [partial(_choose_nearest, X, found, s, min(s + rows, n), k, number > 0) for s in range(0, n, rows)]
        found = np.concatenate(list(run(tasks, n_jobs=n_jobs)))
    return found


def _query(X: Float32Array, k: int, n_jobs: int | None) -> Indices:
    """Return for each item the k nearest, itself among them and in general first."""
    found = cKDTree(X).query(X, k, workers=count_threads(n_jobs))[1]
    return np.reshape(found, (len(X), k))


def _choose_nearest(X: Float32Array, found: Int32Array, start: int, stop: int, k: int, exchange: bool) -> Int32Array:
    """Return the k nearest of what was found for the items from `start` to `stop`, and of what was found for these."""
    near = found[start:stop]
    if exchange:
        near = np.sort(np.concatenate([near, found[near].reshape(len(near), -1)], axis=1), axis=1)
    own = np.arange(start, stop)[:, None]
    squares = ((X[near] - X[own]) ** 2).sum(axis=2)
    squares[near == own] = np.inf
    squares[:, 1:][near[:, 1:] == near[:, :-1]] = np.inf  # each but once
    best = np.argpartition(squares, k - 1, axis=1)[:, :k]
    return np.take_along_axis(near, best, axis=1).astype(np.int32)


def _find_similar_rows(X: Float32Array, start: int, stop: int, k: int) -> Int32Array:
    """Find the k items nearest to each item from `start` to `stop`, by all distances."""
    D = (X**2).sum(axis=1) - 2 * X[start:stop] @ X.T
    D[np.arange(stop - start), np.arange(start, stop)] = np.inf
    return np.argpartition(D, k - 1, axis=1)[:, :k].astype(np.int32)


def _auction(problem: SortProblem, order: Indices, widest: float, steps: int, seed: int) -> Iterator[float]:
    """Sort `order` in place by auctions on shrinking kernels; yield the share done."""
    X, cells, fixed = np.ascontiguousarray(problem.X[:, :DIMENSIONS]), problem.cells, problem.fixed
    where = np.argsort(order)
    prices = np.zeros(len(order), dtype=np.float32)
    variance = float(X.var(axis=0).sum())
    widths = np.geomspace(max(KERNEL * widest, SHARPEST), SHARPEST, steps)
    # The squared distance of neighbours falls as n^−⅔ for colours, and so do the increments.
    scale = INCREMENT * variance * (1024 / len(order)) ** (2 / 3)
    near = np.ascontiguousarray(cells.near[:, :BESIDE])
    increments = (scale * (widths / SHARPEST) ** WIDENING).astype(np.float32)
    told = 0.0
    for step, (width, bid) in enumerate(zip(widths, increments, strict=True)):
        means = gaussian_means(X, order, cells.row, cells.column, fixed, width)
        auction(X, means, order, where, near, problem.similar, fixed, prices, bid, FAR, seed + step)
        if step / steps >= told + REPORT:
            told = step / steps
            yield told


def _anneal(
    problem: SortProblem, order: Indices, temperatures: tuple[float, float], swaps: int, seed: int, n_jobs: int | None
) -> Iterator[float]:
    """Anneal swaps on `order` in place, block by block; yield the share done.

    A large frame is done twice, by two partitions: each improves the borders of the other.
    """
    passes = 1 if len(order) <= BLOCK else 2
    for number in range(passes):
        blocks = split_blocks(problem.cells.points, BLOCK, diagonal=number == 1)
        before = order.copy()
        tasks = [
            partial(_anneal_block, problem, before, block, temperatures, swaps * len(block) // passes, seed + i)
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
