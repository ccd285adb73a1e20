"""Local search of a layout, compiled: means around cells, a sparse auction, annealed swaps.

These functions call each other, so they share a file (`pairup.compiled`).
"""

import numpy as np

from pairup.compiled import compiled
from pairup.types import BoolArray, Float32Array, Indices, Int32Array

PIN_SHARE = 0.125  # weight of a fixed item, beside its own, as a share of the cells of a box as wide as the kernel
OWN = np.float32(0.5)  # share of a cell's own item that does not count in its mean (.3 and .7 sort no better)
TRUNCATION = 2.5  # the kernel ends at so many standard deviations
COOLING = 0.9  # share of the proposals during which the temperature falls; the others only improve
NEGLIGIBLE = 16  # a rise of more temperatures is refused at once: exp(−16) is one in ten million
RESOLUTION = 2**30  # steps in which a probability is drawn


@compiled
def gaussian_means(
    X: Float32Array, order: Indices, row: Int32Array, column: Int32Array, fixed: BoolArray, width: float
) -> Float32Array:
    """Return for each cell the mean features of the items around it, weighted by exp(−d² / (2 width²)).

    The cell's own item has half its weight: with all of it items vote for their own cells, without it neighbours swap
    back and forth. A fixed item weighs an eighth of a box of the kernel's variance more, so that similar items gather
    around it.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features of the items.
    order : ndarray of shape (m,)
        The item on each cell.
    row, column : ndarray of shape (m,)
        Raster position of each cell.
    fixed : ndarray of bool, shape (m,)
        Whether a cell keeps its item.
    width : float
        Standard deviation of the kernel, in cells.

    Returns
    -------
    ndarray of shape (m, d)
        The mean around each cell.
    """
    m, d = len(order), X.shape[1]
    reach = int(np.ceil(TRUNCATION * width))
    taps = np.empty(2 * reach + 1, dtype=np.float32)
    for k in range(2 * reach + 1):
        taps[k] = np.exp(-0.5 * ((k - reach) / width) ** 2)
    height = row.max() + 1
    # Along rows every item is spread over the columns around its own; along columns every cell collects.
    spread = np.zeros((height, column.max() + 1 + 2 * reach, d + 1), dtype=np.float32)
    for c in range(m):
        weight = np.float32(1.0 + PIN_SHARE * 12 * width**2 if fixed[c] else 1.0)
        i = order[c]
        for k in range(2 * reach + 1):
            share = weight * taps[k]
            place = spread[row[c], column[c] + k]
            for q in range(d):
                place[q] += share * X[i, q]
            place[d] += share
    means = np.empty((m, d), dtype=np.float32)
    total = np.empty(d + 1, dtype=np.float32)
    for c in range(m):
        i = order[c]
        for q in range(d):
            total[q] = -OWN * X[i, q]
        total[d] = -OWN
        for k in range(max(0, reach - row[c]), min(2 * reach + 1, height - row[c] + reach)):
            place = spread[row[c] + k - reach, column[c] + reach]
            for q in range(d + 1):
                total[q] += taps[k] * place[q]
        for q in range(d):
            means[c, q] = total[q] / total[d]
    return means


@compiled
def seed_state(seed: int) -> np.uint64:
    """Return the first state of a random generator, never 0.

    Parameters
    ----------
    seed : int
        Any integer.

    Returns
    -------
    uint64
        The state.
    """
    return np.uint64(2 * seed + 1) * np.uint64(0x9E3779B97F4A7C15)  # odd times odd: not 0


@compiled
def advance(state: np.uint64) -> np.uint64:
    """Return the next state of a random generator (xorshift64): much quicker than numba's own.

    Parameters
    ----------
    state : uint64
        Not 0.

    Returns
    -------
    uint64
        The next state, not 0.
    """
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@compiled
def scale(state: np.uint64, n: int) -> np.int64:
    """Scale a state of the random generator to an integer from 0 to n − 1.

    Parameters
    ----------
    state : uint64
        State of the generator.
    n : int
        How many integers there are, at most 2³².

    Returns
    -------
    int64
        The integer.
    """
    return np.int64(((state >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def auction(
    X: Float32Array,
    means: Float32Array,
    order: Indices,
    where: Indices,
    near: Int32Array,
    similar: Int32Array,
    fixed: BoolArray,
    prices: Float32Array,
    increment: np.float32,
    far: int,
    seed: int,
) -> int:
    """Reassign items to cells so that Σ_i x_i · mean(cell of i) grows, by a sparse auction.

    Each item bids for its own cell and the cells near it, and for `far` random cells near the items most similar to
    it. Every item can keep its own cell, so the auction always ends.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features of the items.
    means : ndarray of shape (m, d)
        Mean features around each cell.
    order : ndarray of shape (m,)
        The item on each cell; changed in place.
    where : ndarray of shape (m,)
        The cell of each item; changed in place.
    near : ndarray of shape (m, q)
        The nearest cells of each cell, itself first.
    similar : ndarray of shape (m, k)
        The items most similar to each item.
    fixed : ndarray of bool, shape (m,)
        Whether a cell keeps its item.
    prices : ndarray of shape (m,)
        Prices of the cells from the auction before; changed in place.
    increment : float32
        Least increment of a bid.
    far : int
        Number of random cells an item bids for.
    seed : int
        Seed of the random cells.

    Returns
    -------
    int
        The number of bids.
    """
    state = seed_state(seed)
    m, d = means.shape
    q, k = near.shape[1], similar.shape[1]
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
                other = similar[i, scale(state, k)]
                state = advance(state)
                c = near[where[other], scale(state, q)]
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
                elif options[i, s] != c:  # a cell listed twice is one option
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


@compiled
def anneal_swaps(
    D: Float32Array,
    order: Indices,
    neighbours: Int32Array,
    weights: Float32Array,
    near: Int32Array,
    similar: Int32Array,
    fixed: BoolArray,
    hot: float,
    cold: float,
    proposals: int,
    seed: int,
) -> int:
    """Lower Σ_jk w_jk D[order_j, order_k] by simulated annealing over swaps of two items.

    Half of the proposals swap an item with one on a cell nearby, half move it next to a similar item. Entries of −1
    in `neighbours`, `near` and `similar` are ignored.

    Parameters
    ----------
    D : ndarray of shape (m, m)
        Distances between the items.
    order : ndarray of shape (m,)
        The item on each cell; changed in place.
    neighbours : ndarray of shape (m, k)
        Cells whose distances from a cell count.
    weights : ndarray of shape (m, k)
        Their weights w.
    near : ndarray of shape (m, q)
        The nearest cells of each cell.
    similar : ndarray of shape (m, p)
        The items most similar to each item.
    fixed : ndarray of bool, shape (m,)
        Whether a cell keeps its item.
    hot, cold : float
        First and last temperature; 0 accepts only swaps that lower the sum.
    proposals : int
        Number of swaps tried.
    seed : int
        Seed of the proposals.

    Returns
    -------
    int
        The number of swaps made.
    """
    state = seed_state(seed)
    m, k = neighbours.shape
    where = np.empty(m, dtype=np.int64)
    for c in range(m):
        where[order[c]] = c
    temperature = hot
    decay = (cold / hot) ** (1 / (COOLING * proposals)) if hot > 0 else 1.0
    cooling = round(COOLING * proposals)
    made = 0
    for t in range(proposals):
        temperature = temperature * decay if t < cooling else 0.0
        state = advance(state)
        i = scale(state, m)
        a = where[i]
        target = a
        if t % 2 == 0:
            state = advance(state)
            other = similar[i, scale(state, similar.shape[1])]
            if other < 0:
                continue
            target = where[other]
        state = advance(state)
        b = near[target, scale(state, near.shape[1])]
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
        if not accepted and rise < NEGLIGIBLE * temperature:
            state = advance(state)
            accepted = scale(state, RESOLUTION) < RESOLUTION * np.exp(-rise / temperature)
        if accepted:
            order[a], order[b] = j, i
            where[i], where[j] = b, a
            made += 1
    return made
