"""Linear assignment among a few candidates per object: an auction whose memory is linear in the number of objects."""

import numpy as np

from pairup.compiled import compiled
from pairup.types import Float32Array, Indices, Int32Array

INCREMENT = 0.01  # least rise of a price, in units of the median spread of the profits of an object
# An object gives up when all its candidates are this many of its own spreads worse than the worst of them was. Where
# n + 1 objects have n candidates in common, they bid until then: by spreads of all profits that takes thousands of bids
# for every object that is left over. With 1, four times as many are left over and get partners that lie far away.
PATIENCE = 3.0
LONE_PATIENCE = 5.0  # spreads of all profits, where an object has one candidate only and so no spread


def assign_sparse(candidates: Int32Array, profit: Float32Array, m: int, *, increment: float = INCREMENT) -> Indices:
    """Return a matching of large total profit in which every object has one of its candidates or no partner.

    Objects bid for their candidates (Bertsekas' auction). One whose candidates have all become too dear stays without
    a partner. Prices start from 0 once: those of columns that nobody takes must stay 0, or the matching is not the best
    (so there is no scaling of the increment). Among those that get a partner, the total profit is at most one increment
    each below the largest.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns that each row may be matched with; −1 stands for none.
    profit : ndarray of float32, shape (n, k)
        The profit of each of these pairs.
    m : int
        Number of columns.
    increment : float, default 0.01
        The least rise of a price, in units of the median spread of the profits of an object.

    Returns
    -------
    ndarray of int, shape (n,)
        The column of each row, −1 where it has none.

    Examples
    --------
    >>> candidates = np.array([[0, 1], [0, 2]], dtype=np.int32)
    >>> assign_sparse(candidates, np.array([[3.0, 1.0], [2.0, 0.0]], dtype=np.float32), 3).tolist()
    [0, 2]
    """
    if candidates.size == 0:
        return np.full(len(candidates), -1, dtype=np.intp)
    is_there = candidates >= 0
    offered = profit[is_there]
    if offered.size == 0:
        return np.full(len(candidates), -1, dtype=np.intp)
    low, high = float(offered.min()), float(offered.max())
    overall = max(high - low, 1e-6 * max(abs(high), 1.0))
    several = is_there.sum(axis=1) > 1
    lows = np.where(is_there, profit, np.float32(np.inf)).min(axis=1)
    spreads = np.where(is_there, profit, np.float32(-np.inf)).max(axis=1) - lows
    usual = max(float(np.median(spreads[several])) if several.any() else overall, 1e-5 * overall)
    floor = np.full(len(candidates), low - LONE_PATIENCE * overall, dtype=np.float32)
    floor[several] = lows[several] - np.float32(PATIENCE) * np.maximum(spreads[several], np.float32(usual))
    prices = np.zeros(m, dtype=np.float32)
    mine = _auction(candidates, profit, prices, np.float32(increment * usual), floor)
    return mine.astype(np.intp, copy=False)


@compiled
def _auction(
    candidates: Int32Array, profit: Float32Array, prices: Float32Array, increment: np.float32, floor: Float32Array
) -> Indices:
    """Let every row bid until each has a column or has given up."""
    n, k = candidates.shape
    owner = np.full(len(prices), -1, np.int64)
    mine = np.full(n, -1, np.int64)
    queue = np.arange(n)
    head, waiting = 0, n
    while waiting > 0:
        i = queue[head]
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        best, second, wanted = np.float32(-np.inf), floor[i], -1
        for c in range(k):
            j = candidates[i, c]
            if j < 0:
                continue
            value = profit[i, c] - prices[j]
            if value > best:
                second = max(second, best)
                best, wanted = value, j
            elif value > second:
                second = value
        if wanted < 0 or best < floor[i]:
            continue
        # A price that float32 cannot raise any further would let two rows bid for ever.
        dearer = prices[wanted] + (best - second) + increment
        if dearer <= prices[wanted]:
            continue
        prices[wanted] = dearer
        loser = owner[wanted]
        owner[wanted] = i
        mine[i] = wanted
        if loser >= 0:
            mine[loser] = -1
            place = head + waiting
            queue[place if place < n else place - n] = loser
            waiting += 1
    return mine
