from itertools import product

import numpy as np
from numpy.testing import assert_array_equal

from pairup.voice.alignment import align


def cheapest_cost(D):
    """Every monotone path, tried."""
    n, m = D.shape
    best = np.inf
    stack = [(0, 0, D[0, 0])]
    while stack:
        i, j, cost = stack.pop()
        if (i, j) == (n - 1, m - 1):
            best = min(best, cost)
        for di, dj in product((0, 1), repeat=2):
            if di + dj and i + di < n and j + dj < m:
                stack.append((i + di, j + dj, cost + D[i + di, j + dj]))
    return best


def test_the_path_is_the_cheapest(rng):
    for n, m in ((1, 1), (1, 4), (5, 3), (5, 5)):
        X, Y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
        D = np.linalg.norm(X[:, None] - Y, axis=2)
        path = align(X, Y)
        assert_array_equal(path[0], (0, 0))
        assert_array_equal(path[-1], (n - 1, m - 1))
        steps = np.diff(path, axis=0)
        assert ((steps >= 0) & (steps <= 1)).all()
        assert (steps.sum(axis=1) >= 1).all()
        assert np.isclose(D[tuple(path.T)].sum(), cheapest_cost(D))


def test_a_stretched_take_is_found(rng):
    X = np.cumsum(rng.normal(size=(20, 3)), axis=0)
    slow = np.repeat(np.arange(20), 3)
    assert_array_equal(align(X, X[slow]), np.column_stack([slow, np.arange(60)]))
