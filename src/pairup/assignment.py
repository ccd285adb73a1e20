"""Exact linear assignment, the inner loop of every search."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from pairup.compiled import compiled
from pairup.types import Array, Float32Array, Indices

# Compiled code is faster from some 90 rows on, but up to this many rows a whole search by scipy takes less
# than the half second that loading numba does.
SMALL = 160
BLOCK = 64  # columns evaluated at once: a few vector registers


def assign(profit: ArrayLike) -> Indices:
    """Choose one column for each row, no column twice, so that the total profit is largest.

    Maximises Σ_i profit[i, indices[i]]. Small problems go to scipy; above, an auction finds nearly right column prices
    in single precision and shortest augmenting paths make the answer exact in double precision, whatever the prices
    were.

    Parameters
    ----------
    profit : array_like of shape (n, m)
        Profit of each row (n) with each column (m), finite.

    Returns
    -------
    ndarray of shape (n,)
        The column of each row; with more rows than columns, the rows left over get −1.

    Examples
    --------
    >>> assign([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    array([0, 2, 1])
    >>> assign([[4], [7], [3]])
    array([-1,  0, -1])
    """
    profit = np.asarray(profit)
    if profit.ndim != 2:
        raise ValueError(
            f"profit must be a matrix (rows to be assigned × columns), got {profit.ndim} dimension(s); "
            "pass one row per object to be assigned"
        )
    if 0 in profit.shape:
        return np.full(len(profit), -1, dtype=np.intp)
    low, high = float(profit.min()), float(profit.max())
    if not high - low < 1e300:  # NaN too; beyond, sums of differences overflow
        raise ValueError(
            f"profit must be finite and span less than 1e300, got values from {low} to {high}; replace NaN and "
            "infinities, for instance a forbidden pair by a value well below the smallest allowed one"
        )
    if profit.shape[0] > profit.shape[1]:
        rows = assign(profit.T)
        indices = np.full(len(profit), -1, dtype=np.intp)
        indices[rows] = np.arange(len(rows))
        return indices
    if len(profit) <= SMALL:
        return linear_sum_assignment(profit, maximize=True)[1].astype(np.intp, copy=False)
    return _assign_large(profit)


def _assign_large(profit: NDArray[Any]) -> Indices:
    """Solve a problem with at most as many rows as columns in compiled code."""
    rows, columns = profit.shape
    # Medians, not extremes: a few forbidding or overwhelming entries must not set the scale of all.
    top = float(np.median(profit.max(axis=1)))
    if 0.9 * columns < rows < columns:  # nearly square is as hard as square: dummy rows take what is left
        dummies = np.full((columns - rows, columns), top)
        return _assign_large(np.vstack([profit, dummies]))[:rows]
    # one layout and type only: every other one would be compiled anew
    profit = np.require(profit, np.float64, ["C", "W"])
    prices = np.zeros(columns)
    scale = top - float(np.median(profit[:: rows // 50 + 1, :: columns // 50 + 1]))
    # Paths may start from any prices if every column is taken in the end; otherwise columns that stay
    # free must have the lowest price, which only equal prices guarantee.
    if rows == columns and scale > np.finfo(np.float64).tiny:
        prices = _auction(profit, top, scale)
    return _augment(profit, prices)


@compiled
def _auction(profit: Array, top: float, scale: float) -> Array:
    """Return column prices at which few rows want the same column, by auctions of shrinking ε (Bertsekas)."""
    n = len(profit)
    blocks = (n + BLOCK - 1) // BLOCK
    scaled = np.empty((n, blocks * BLOCK), np.float32)
    inverse = 1 / scale
    for i in range(n):
        for j in range(n):  # bounded, or prices would grow until double precision is lost
            scaled[i, j] = min(max((profit[i, j] - top) * inverse, -1e4), 1e4)
        scaled[i, n:] = -np.inf
    prices = np.zeros((blocks, BLOCK), np.float32)
    bounds = np.full((n, blocks), np.float32(np.inf))
    epsilon = 0.25  # this schedule was the fastest over gradients, plans and distances
    while epsilon > 1 / (16 * n):
        _bid(scaled.reshape((n, blocks, BLOCK)), prices, bounds, np.float32(epsilon))
        epsilon /= 5
    return prices.reshape(-1)[:n].astype(np.float64) * scale


@compiled
def _bid(
    profit: Float32Array,
    prices: Float32Array,
    bounds: Float32Array,
    epsilon: np.float32,
) -> None:
    """Let rows outbid each other until each has a column, raising `prices` in place.

    Prices only rise, so `bounds[i, b]`, the largest profit minus price that row i once saw in block b,
    bounds what it can find there now: most blocks need not be looked at again.
    """
    n, blocks, _ = profit.shape
    owners = np.full(blocks * BLOCK, -1)
    favourite = np.zeros(n, np.intp)  # the block of the last bid is looked at first
    waiting = np.arange(n)[::-1].copy()
    n_waiting = n
    values, fold = np.empty(BLOCK, np.float32), np.empty(BLOCK // 2, np.float32)
    # Few rows keep bidding for long, and ties would never end: paths place the rest faster.
    for _ in range(4 * n):
        if n_waiting == 0:
            break
        n_waiting -= 1
        i = waiting[n_waiting]
        best = second = np.float32(-np.inf)
        choice = 0
        for turn in range(-1, blocks):
            b = int(favourite[i]) if turn < 0 else turn
            if turn >= 0 and (b == favourite[i] or bounds[i, b] <= second):
                continue
            # The maximum by folding halves onto each other: a plain loop over it is not vectorised.
            for t in range(BLOCK):
                values[t] = profit[i, b, t] - prices[b, t]
            for t in range(BLOCK // 2):
                fold[t] = max(values[t], values[t + BLOCK // 2])
            half = BLOCK // 4
            while half > 0:
                for t in range(half):
                    fold[t] = max(fold[t], fold[t + half])
                half //= 2
            bounds[i, b] = fold[0]
            if fold[0] > second:
                for t in range(BLOCK):
                    if values[t] > best:
                        best, second, choice = values[t], best, b * BLOCK + t
                    elif values[t] > second:
                        second = values[t]
        favourite[i] = choice // BLOCK
        prices[choice // BLOCK, choice % BLOCK] += best - second + epsilon
        if owners[choice] >= 0:
            waiting[n_waiting] = owners[choice]
            n_waiting += 1
        owners[choice] = i


@compiled
def _augment(profit: Array, prices: Array) -> Indices:
    """Assign row after row along shortest augmenting paths (Jonker and Volgenant), changing `prices`.

    Invariant: every assigned row has its column at the largest profit minus price.
    """
    n, m = profit.shape
    indices, owners = np.full(n, -1), np.full(m, -1)
    free, n_free = np.arange(m), m
    open_prices = prices.copy()  # infinite for columns whose distance is final
    distances, parents = np.empty(m), np.empty(m, np.int32)
    done, done_distances = np.empty(n, np.intp), np.empty(n)
    for source in range(n):
        distances[:] = np.inf
        i, offset, n_done, sink = source, 0.0, 0, -1
        while True:
            row, parent = profit[i], np.int32(i)
            for j in range(m):
                distance = offset + (open_prices[j] - row[j])
                if distance < distances[j]:
                    distances[j] = distance
                    parents[j] = parent
            shortest, nearest = _smallest(distances)
            for t in range(n_free):  # among equals a free column: with ties, paths stay short
                if distances[free[t]] <= shortest:
                    sink = t
                    break
            if sink >= 0:
                break
            done[n_done], done_distances[n_done] = nearest, shortest
            n_done += 1
            i = owners[nearest]
            offset = shortest - (prices[nearest] - profit[i, nearest])
            distances[nearest] = open_prices[nearest] = np.inf
        j = free[sink]
        n_free -= 1
        free[sink] = free[n_free]
        for t in range(n_done):
            prices[done[t]] += shortest - done_distances[t]
            open_prices[done[t]] = prices[done[t]]
        i = -1
        while i != source:
            i = parents[j]
            owners[j] = i
            indices[i], j = j, indices[i]
    return indices


@compiled
def _smallest(distances: Array) -> tuple[float, int]:
    """Return the smallest distance and its index; blocks that hold nothing smaller are skipped by vectors."""
    smallest, place = np.inf, -1
    for start in range(0, len(distances), BLOCK):
        block = distances[start : start + BLOCK]
        hits = 0
        for t in range(len(block)):
            hits += block[t] < smallest
        if hits:
            for t in range(len(block)):
                if block[t] < smallest:
                    smallest, place = block[t], start + t
    return smallest, place
