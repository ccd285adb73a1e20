import numpy as np
import pytest
from scipy.linalg import eigh

import pairup
from pairup.measures import Quadratic
from pairup.starts import LANCZOS_FROM, both_signs, leading_eigenvectors, sort_match


@pytest.mark.parametrize("n", [20, LANCZOS_FROM + 30])
def test_eigenvectors_agree_with_a_dense_solver(rng, n):
    A = rng.normal(size=(n, 5))
    K = A @ A.T
    V = leading_eigenvectors(K, 2)
    dense = eigh(K)[1][:, [-1, -2]]
    np.testing.assert_allclose(np.abs(np.sum(V * dense, axis=0)), 1, atol=1e-8)


def test_eigenvectors_are_repeatable_and_signed_alike(rng):
    A = rng.normal(size=(200, 3))
    K = A @ A.T
    first, second = leading_eigenvectors(K), leading_eigenvectors(K)
    np.testing.assert_array_equal(first, second)
    assert first[np.abs(first).argmax()] > 0


def test_the_start_is_optimal_for_rank_one_kernels(rng):
    from itertools import permutations

    for _ in range(5):
        f, g = rng.normal(size=6), rng.normal(size=6)
        measure = Quadratic(np.outer(f, f), np.outer(g, g))
        best = max(measure.value(np.array(q)) for q in permutations(range(6)))
        assert max(measure.value(start) for start in both_signs(f, g)) == pytest.approx(best)


def test_sorting_alike_maximises_the_inner_product(rng):
    f, g = rng.normal(size=50), rng.normal(size=50)
    assert f @ g[sort_match(f, g)] == pytest.approx(np.sort(f) @ np.sort(g))


def test_equal_eigenvalues_lose_no_eigenvector():
    rng = np.random.default_rng(100)
    rng.normal(size=(50, 4)), rng.normal(size=(50, 3))
    X, Y = np.repeat(rng.normal(size=(3, 3)), 8, axis=0), np.repeat(rng.normal(size=(4, 2)), 6, axis=0)
    assert len(pairup.match(X, Y)) == 24  # a subset of the eigenvectors came one short
