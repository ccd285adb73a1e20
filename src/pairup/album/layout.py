"""Sorting: every item to a cell, similar items side by side.

The items are one domain and the frame is the other, as in kernelized sorting: maximise tr(X Xᵀ W) over the orders of
the rows of X, where W is a box kernel on the frame. Its width shrinks from the frame's to one cell. At each width
every cell gets the mean features of its surroundings, and a sparse auction reassigns all items at once: an item bids
for the cells around it and for cells near items like it, so that it can cross the frame in one step. The increment
of the bids falls with the width and acts as a temperature. At the end swaps are annealed on Σ ‖x_j − x_k‖ / d_jk²
over neighbouring cells j, k at distance d_jk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial import cKDTree

from pairup.compiled import compiled
from pairup.parallel import run
from pairup.types import Array, BoolArray, Float32Array, Indices, Int32Array

STEPS, DRAFT_STEPS = 400, 60  # widths of the continuation; fewer above `MANY` items
MANY = 4096
WIDEST = 0.45  # half the first box, as a share of the frame's longer side
INCREMENTS = (0.1, 0.003)  # first and last increment of the bids, in units of the features' variance
NEAR, FAR, ALIKE = 9, 12, 12  # cells tried around an item, cells tried far from it, items taken for alike
DIMENSIONS = 48  # principal components in which items are compared with means of items
REACH = 1.5  # radius of the neighbourhood that swaps improve, in cells: the 8 nearest on a grid
PROPOSALS = 700  # swaps tried per item
TEMPERATURES = (0.05, 0.005)  # first and last, in units of the mean distance
BLOCK = 2048  # cells whose distances are tabulated at once


@dataclass(frozen=True)
class Step:
    """A moment of the sorting: how far it is (0 to 1), and the item on each cell."""

    progress: float
    order: Indices


def sort_steps(
    features: Array,
    coordinates: Array,
    *,
    pins: Mapping[int, int] | None = None,
    draft: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[Step]:
    """Yield better and better orders of n items on n cells; the last is the result.

    Parameters
    ----------
    features : n items as rows.
    coordinates : n cells as rows (vertical, horizontal), in any arrangement.
    pins : cell of each item that must not move.
    draft : stop after a rough sorting, ten times sooner.
    n_jobs : blocks polished at the same time; the result does not depend on it.

    >>> *_, last = sort_steps(np.array([[2.0], [0.0], [1.0], [3.0]]), np.array([[0, 0], [0, 1], [0, 2], [0, 3]]))
    >>> last.order.tolist() in ([1, 2, 0, 3], [3, 0, 2, 1])
    True
    """
    n = len(features)
    rng = np.random.default_rng(seed)
    order, fixed = np.empty(n, dtype=np.intp), np.zeros(n, dtype=bool)
    pinned = dict(pins or {})
    fixed[list(pinned.values())] = True
    order[list(pinned.values())] = list(pinned)
    order[~fixed] = rng.permutation(np.setdiff1d(np.arange(n), list(pinned)))
    X = principal_components(features)
    yield Step(0.0, order.copy())
    if X.any() and not fixed.all():
        nearest = similar_items(X, n_jobs)
        cells = Lattice.of(coordinates)
        steps = round((DRAFT_STEPS if draft else STEPS) * min(1.0, MANY / n) ** 0.75)
        for done in _continue(X, cells, nearest, order, fixed, steps, seed):
            yield Step(0.7 * done, order.copy())
        if not draft:
            for done in _polish(X, cells, nearest, order, fixed, TEMPERATURES, seed, n_jobs):
                yield Step(0.7 + 0.3 * done, order.copy())
    yield Step(1.0, order.copy())


def settle(features: Array, coordinates: Array, order: Indices, fixed: BoolArray, *, seed: int = 0) -> Indices:
    """Return `order` after the swaps that make it better, and no others: what a move by hand leaves to mend.

    Parameters
    ----------
    order : the item on each cell.
    fixed : the cells whose item stays.
    """
    X, order = principal_components(features), np.array(order, dtype=np.intp)
    if X.any() and not fixed.all():
        for _ in _polish(X, Lattice.of(coordinates), similar_items(X), order, fixed, (0.0, 0.0), seed, None):
            pass
    return order


def principal_components(features: Array) -> Float32Array:
    """Rotate the items to their principal components: distances are kept, and dimensions without variance go."""
    X = features - features.mean(axis=0)
    if X.shape[1] > 3:
        # The smaller of the two Gram matrices: n × n for pictures, d × d for short vectors.
        if len(X) < X.shape[1]:
            values, vectors = np.linalg.eigh(X @ X.T)
            X = vectors * np.sqrt(np.maximum(values, 0))
        else:
            values, vectors = np.linalg.eigh(X.T @ X)
            X = X @ vectors
        X = X[:, values > 1e-10 * max(values[-1], 0)][:, ::-1]
    return np.ascontiguousarray(X, dtype=np.float32)


def similar_items(X: Float32Array, n_jobs: int | None = None) -> Int32Array:
    """Return for each item the `ALIKE` most similar others, in rows."""
    n = len(X)
    k = min(ALIKE, n - 1)
    X = np.ascontiguousarray(X[:, :DIMENSIONS])
    if X.shape[1] <= 8:  # a tree beats all pairs in few dimensions
        found = cKDTree(X).query(X, k + 1)[1].reshape(n, k + 1)
        return np.ascontiguousarray(found[:, 1:] if k else found, dtype=np.int32)
    rows = max(1, 2**22 // n)
    tasks = [partial(_most_similar, X, start, min(start + rows, n), k) for start in range(0, n, rows)]
    return np.concatenate(list(run(tasks, n_jobs=n_jobs)))


def _most_similar(X: Float32Array, start: int, stop: int, k: int) -> Int32Array:
    D = (X**2).sum(axis=1) - 2 * X[start:stop] @ X.T
    D[np.arange(stop - start), np.arange(start, stop)] = np.inf
    return np.argpartition(D, k - 1, axis=1)[:, :k].astype(np.int32)


@dataclass(frozen=True)
class Lattice:
    """The cells on a raster whose pitch is the distance of neighbouring cells."""

    points: Array  # coordinates in units of that distance, from 0
    row: Int32Array
    column: Int32Array
    near: Int32Array  # the nearest cells of each cell, itself first

    @classmethod
    def of(cls, coordinates: Array) -> "Lattice":
        """Find the pitch, and place the cells."""
        points = np.asarray(coordinates, dtype=np.float64)
        points = points - points.min(axis=0)
        k = min(NEAR, len(points))
        distances, near = (np.reshape(found, (len(points), k)) for found in cKDTree(points).query(points, k))
        points = points / (float(np.median(distances[:, min(1, k - 1)])) or 1.0)
        row, column = (_closed_up(values) for values in points.T)
        spare = float(row.max() + 1) * float(column.max() + 1) / (64 * len(points) + 4096)
        if spare > 1:  # cells strewn along a curve: a coarser raster holds them
            row, column = (_closed_up(values / np.sqrt(spare)) for values in points.T)
        return cls(points, row, column, near.astype(np.int32))


def _closed_up(values: Array) -> Int32Array:
    """Round coordinates to a raster on which empty gaps shrink to two lines."""
    found, place = np.unique(np.rint(values), return_inverse=True)
    lines = np.concatenate([[0], np.cumsum(np.minimum(np.diff(found), 3))])
    return lines[place].astype(np.int32)


def _continue(
    X: Float32Array,
    cells: Lattice,
    nearest: Int32Array,
    order: Indices,
    fixed: BoolArray,
    steps: int,
    seed: int,
) -> Iterator[float]:
    """Sort `order` in place by auctions on shrinking boxes."""
    X = np.ascontiguousarray(X[:, :DIMENSIONS])
    where = np.argsort(order)
    prices = np.zeros(len(order), dtype=np.float32)
    variance = float(X.var(axis=0).sum())
    longest = int(max(cells.row.max(), cells.column.max())) + 1
    widths = np.geomspace(max(WIDEST * longest, 1.0), 0.9, steps)
    increments = variance * np.geomspace(*INCREMENTS, steps)
    for step, (width, increment) in enumerate(zip(widths, increments, strict=True)):
        means = box_means(X, order, cells.row, cells.column, fixed, max(1, round(width)))
        auction(X, means, order, where, cells.near, nearest, fixed, prices, np.float32(increment), FAR, seed + step)
        if step % 10 == 0:
            yield step / steps


@compiled
def box_means(
    X: Float32Array, order: Indices, row: Int32Array, column: Int32Array, fixed: BoolArray, half: int
) -> Float32Array:
    """Return for each cell the mean of the items within `half` rows and columns of it.

    An item that is fixed counts for an eighth of the box beside its own cell, so that items like it gather round it.
    """
    m, d = len(order), X.shape[1]
    height, width = row.max() + 1, column.max() + 1
    sums = np.zeros((height + 1, width + 1, d))
    mass = np.zeros((height + 1, width + 1))
    for c in range(m):
        weight = 1.0 + (2 * half + 1) ** 2 / 8 if fixed[c] else 1.0
        mass[row[c] + 1, column[c] + 1] += weight
        for q in range(d):
            sums[row[c] + 1, column[c] + 1, q] += weight * X[order[c], q]
    for r in range(1, height + 1):  # integral images: a box then costs four lookups
        for s in range(1, width + 1):
            mass[r, s] += mass[r - 1, s] + mass[r, s - 1] - mass[r - 1, s - 1]
            for q in range(d):
                sums[r, s, q] += sums[r - 1, s, q] + sums[r, s - 1, q] - sums[r - 1, s - 1, q]
    means = np.empty((m, d), dtype=np.float32)
    for c in range(m):
        top, bottom = max(row[c] - half, 0), min(row[c] + half + 1, height)
        left, right = max(column[c] - half, 0), min(column[c] + half + 1, width)
        count = mass[bottom, right] - mass[top, right] - mass[bottom, left] + mass[top, left]
        for q in range(d):
            total = sums[bottom, right, q] - sums[top, right, q] - sums[bottom, left, q] + sums[top, left, q]
            means[c, q] = total / count
    return means


@compiled
def advance(state: np.uint64) -> np.uint64:
    """Return the next state of an xorshift generator: much cheaper than numba's, and here every draw counts."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@compiled
def below(n: int, state: np.uint64) -> np.int64:
    """Return the number from 0 to n − 1 that a state stands for."""
    return np.int64(((state >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def auction(
    X: Float32Array,
    means: Float32Array,
    order: Indices,
    where: Indices,
    near: Int32Array,
    nearest: Int32Array,
    fixed: BoolArray,
    prices: Float32Array,
    increment: np.float32,
    far: int,
    seed: int,
) -> int:
    """Reassign the items that are not fixed so that Σ x_i · mean(cell of i) grows; return the number of bids.

    Each item bids for its own cell and the cells near it, and for `far` random cells near the items most like it.
    Every item can keep its own cell, so the auction always ends. Prices carry over from auction to auction.
    """
    state = np.uint64(2 * seed + 1) * np.uint64(0x9E3779B97F4A7C15)  # odd seeds and an odd factor: never 0
    m, d = means.shape
    q, k = near.shape[1], nearest.shape[1]
    options = np.empty((m, q + far), dtype=np.int32)
    profit = np.empty((m, q + far), dtype=np.float32)
    waiting = np.empty(m, dtype=np.int64)
    top = 0
    for i in range(m):
        own = where[i]
        if fixed[own]:
            continue
        waiting[top] = i
        top += 1
        for s in range(q + far):
            if s < q:
                c = near[own, s]
            else:
                state = advance(state)
                friend = nearest[i, below(k, state)]
                state = advance(state)
                c = near[where[friend], below(q, state)]
            if fixed[c]:
                c = own
            options[i, s] = c
            # Four sums at once: a single one would wait for each addition.
            z0, z1, z2, z3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            p = 0
            while p + 4 <= d:
                z0 += X[i, p] * means[c, p]
                z1 += X[i, p + 1] * means[c, p + 1]
                z2 += X[i, p + 2] * means[c, p + 2]
                z3 += X[i, p + 3] * means[c, p + 3]
                p += 4
            while p < d:
                z0 += X[i, p] * means[c, p]
                p += 1
            profit[i, s] = (z0 + z1) + (z2 + z3)
    owner = np.full(m, -1, dtype=np.int64)
    bids = 0
    while top > 0:
        top -= 1
        i = waiting[top]
        bids += 1
        best, second, c = np.float32(-np.inf), np.float32(-np.inf), np.int32(-1)
        for s in range(q + far):
            gain = profit[i, s] - prices[options[i, s]]
            if gain > second:
                if gain > best:
                    best, second, c = gain, best, options[i, s]
                elif options[i, s] != c:  # one cell listed twice is not a choice of two
                    second = gain
        loser = owner[c]
        owner[c] = i
        prices[c] += increment
        if second > -np.inf:
            prices[c] += best - second
        if loser >= 0:
            waiting[top] = loser
            top += 1
    total = np.float32(0)
    for c in range(m):
        total += prices[c]
        if owner[c] >= 0:
            order[c] = owner[c]
            where[owner[c]] = c
    for c in range(m):
        prices[c] -= total / np.float32(m)
    return bids


def _polish(
    X: Float32Array,
    cells: Lattice,
    nearest: Int32Array,
    order: Indices,
    fixed: BoolArray,
    temperatures: tuple[float, float],
    seed: int,
    n_jobs: int | None,
) -> Iterator[float]:
    """Anneal swaps on `order` in place, block by block where the frame is large; two partitions hide the seams."""
    neighbours, weights = _neighbourhoods(cells)
    passes = 1 if len(order) <= BLOCK else 2
    for number in range(passes):
        blocks = _blocks(cells.points, BLOCK, turned=number == 1)
        before = order.copy()
        tasks = [
            partial(
                _polish_block,
                X,
                cells.near,
                nearest,
                neighbours,
                weights,
                before,
                fixed,
                block,
                temperatures,
                seed + i,
                passes,
            )
            for i, block in enumerate(blocks)
        ]
        for i, (block, items) in enumerate(zip(blocks, run(tasks, n_jobs=n_jobs), strict=True)):
            order[block] = items
            yield (number + (i + 1) / len(blocks)) / passes


def _neighbourhoods(cells: Lattice) -> tuple[Int32Array, Float32Array]:
    """Return for each cell the cells around it, padded with −1, and their weights 1 / d²."""
    m = len(cells.points)
    close = cKDTree(cells.points).query_pairs(REACH, output_type="ndarray")
    # Strewn cells may have nobody within reach: their nearest cells count in any case.
    nearest = np.stack([np.repeat(np.arange(m), cells.near.shape[1]), cells.near.ravel()], axis=1)
    both = np.concatenate([close, close[:, ::-1], nearest, nearest[:, ::-1]])
    both = np.unique(both[both[:, 0] != both[:, 1]], axis=0)
    counts = np.bincount(both[:, 0], minlength=m)
    place = np.arange(len(both)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbours = np.full((m, max(int(counts.max()), 1)), -1, dtype=np.int32)
    weights = np.zeros(neighbours.shape, dtype=np.float32)
    neighbours[both[:, 0], place] = both[:, 1]
    squares = ((cells.points[both[:, 0]] - cells.points[both[:, 1]]) ** 2).sum(axis=1)
    weights[both[:, 0], place] = 1 / np.maximum(squares, 0.25)  # cells on top of each other stay finite
    return neighbours, weights


def _blocks(points: Array, size: int, *, turned: bool) -> list[Indices]:
    """Cut the cells into compact blocks of at most `size`, by halving the longer side again and again."""
    if turned:
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


def _polish_block(
    X: Float32Array,
    near: Int32Array,
    nearest: Int32Array,
    neighbours: Int32Array,
    weights: Float32Array,
    order: Indices,
    fixed: BoolArray,
    block: Indices,
    temperatures: tuple[float, float],
    seed: int,
    passes: int,
) -> Indices:
    """Return the new items of a block's cells; the cells around it count, and keep theirs."""
    around = np.setdiff1d(neighbours[block], block)
    local = np.concatenate([block, around[around >= 0]])
    number = np.full(len(order) + 1, -1, dtype=np.int32)  # global cell -> local cell; the last stands for −1
    number[local] = np.arange(len(local))
    item_number = np.full(len(order), -1, dtype=np.int32)
    item_number[order[local]] = np.arange(len(local))
    Z = X[order[local]]
    norms = (Z**2).sum(axis=1)
    D = np.sqrt(np.maximum(norms[:, None] - 2 * Z @ Z.T + norms, 0))
    np.fill_diagonal(D, 0)
    still = fixed[local].copy()
    still[len(block) :] = True
    scale = float(D.mean())
    placed = np.arange(len(local))
    anneal_swaps(
        D,
        placed,
        number[neighbours[local]],
        weights[local],
        number[near[local]],
        item_number[nearest[order[local]]],
        still,
        temperatures[0] * scale,
        temperatures[1] * scale,
        PROPOSALS * len(block) // passes,
        seed,
    )
    items: Indices = order[local][placed[: len(block)]]
    return items


@compiled
def anneal_swaps(
    D: Float32Array,
    order: Indices,
    neighbours: Int32Array,
    weights: Float32Array,
    near: Int32Array,
    nearest: Int32Array,
    fixed: BoolArray,
    hot: float,
    cold: float,
    proposals: int,
    seed: int,
) -> int:
    """Swap items as long as it lowers Σ_jk w_jk D[order_j, order_k], or raises it by a few temperatures.

    Half of the proposals are swaps with a cell nearby, half bring an item beside one of those most like it. Entries
    of −1 in `neighbours`, `near` and `nearest` are ignored. Returns how many swaps were made.
    """
    state = np.uint64(2 * seed + 1) * np.uint64(0x9E3779B97F4A7C15)
    m, k = neighbours.shape
    where = np.empty(m, dtype=np.int64)
    for c in range(m):
        where[order[c]] = c
    temperature = hot
    decay = (cold / hot) ** (1 / (0.9 * proposals)) if hot > 0 else 1.0
    made = 0
    for t in range(proposals):
        temperature = temperature * decay if 10 * t < 9 * proposals else 0.0  # the last tenth only improves
        state = advance(state)
        i = below(m, state)
        a = where[i]
        target = a
        if t % 2 == 0:
            state = advance(state)
            other = nearest[i, below(nearest.shape[1], state)]
            if other < 0:
                continue
            target = where[other]
        state = advance(state)
        b = near[target, below(near.shape[1], state)]
        if b < 0 or b == a or fixed[a] or fixed[b]:
            continue
        j = order[b]
        rise = 0.0
        for s in range(k):
            c = neighbours[a, s]
            if c >= 0 and c != b:
                rise += weights[a, s] * (D[j, order[c]] - D[i, order[c]])
            c = neighbours[b, s]
            if c >= 0 and c != a:
                rise += weights[b, s] * (D[i, order[c]] - D[j, order[c]])
        accepted = rise < 0
        if not accepted and rise < 16 * temperature:  # beyond, one in ten million would pass
            state = advance(state)
            accepted = below(2**30, state) < 2**30 * np.exp(-rise / temperature)
        if accepted:
            order[a], order[b] = j, i
            where[i], where[j] = b, a
            made += 1
    return made
