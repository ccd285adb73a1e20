"""Dynamic time warping: two takes of the same words, aligned in time."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from pairup.compiled import compiled
from pairup.types import Array

Path = NDArray[np.intp]


def align(X: Array, Y: Array) -> Path:
    """Align two sequences by dynamic time warping.

    The path runs from the first rows of X and Y to the last and minimises Σ ‖x_i − y_j‖ over its pairs (i, j). Each
    step moves on by one row in X, in Y, or in both.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, d)
        Features of the frames of two recordings, in the order of time.

    Returns
    -------
    path : ndarray of int of shape (k, 2)
        Pairs (i, j), ascending in both columns.

    Examples
    --------
    >>> align(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [5.0]])).tolist()
    [[0, 0], [1, 0], [2, 1]]
    """
    return _find_cheapest_path(cdist(X, Y))


@compiled
def _find_cheapest_path(cost: Array) -> Path:
    """Fill the table of cumulative costs, then walk back through it."""
    n, m = cost.shape
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            total[i + 1, j + 1] = cost[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
    path = np.empty((n + m - 1, 2), dtype=np.intp)
    k, i, j = n + m - 1, n, m
    while i > 0 and j > 0:
        k -= 1
        path[k] = i - 1, j - 1
        diagonal, up, left = total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]
        if diagonal <= up and diagonal <= left:
            i, j = i - 1, j - 1
        elif up <= left:
            i -= 1
        else:
            j -= 1
    return path[k:]
