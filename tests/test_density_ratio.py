import numpy as np
import pytest

from pairup.density_ratio import Subspace, density_ratios, eigendecompose, held_out_scores, leave_one_out, whiten
from pairup.kernels import center, gaussian, median_width
from pairup.measures import normalize


@pytest.fixture
def kernels(rng):
    X = rng.normal(size=(25, 3))
    Y = np.sin(X) + 0.1 * rng.normal(size=(25, 3))
    return gaussian(X, width=median_width(X)), gaussian(Y, width=median_width(Y))


def fitted(K, L, epsilon, n):
    """Θ of the product basis by its definition: argmin ½ mean r² − mean r_ii + the separable ridge."""
    m = len(K)
    return m * np.linalg.solve(K + n * epsilon * np.eye(m), np.linalg.inv(L + n * epsilon * np.eye(m)))


def test_left_out_rows_are_those_of_a_fit_without_the_row(kernels):
    K, _ = kernels
    A = leave_one_out(eigendecompose(K.copy()), 0.01)
    others = np.arange(25) != 7
    row = K[7, others] @ np.linalg.inv(K[np.ix_(others, others)] + 25 * 0.01 * np.eye(24))
    np.testing.assert_allclose(A[7, others], row, atol=2e-4)
    assert A[7, 7] == 0


def test_ratios_are_those_of_a_fit_without_the_pair(kernels, rng):
    K, L = kernels
    p = rng.permutation(25)
    r = density_ratios(eigendecompose(K.copy()), eigendecompose(L.copy()), p, 0.01)
    others = np.arange(25) != 3
    q = p[others]
    theta = fitted(K[np.ix_(others, others)], L[np.ix_(q, q)], 0.01, 25)
    by_hand = K[3, others] @ theta @ L[p[3], q]
    assert r[3, p[3]] == pytest.approx(by_hand * 25 / 24, rel=1e-2, abs=1e-3)


def test_held_out_score_is_that_of_the_ratios(kernels, rng):
    K, L = kernels
    x, y = eigendecompose(K.copy()), eigendecompose(L.copy())
    p = rng.permutation(25)
    r = density_ratios(x, y, p, 0.03)
    J = 0.5 * (r**2).mean() - r[np.arange(25), p].mean()
    assert held_out_scores(x, y, [p], [0.03])[0, 0] == pytest.approx(J, rel=1e-3)


def test_held_out_score_knows_the_truth(kernels, rng):
    K, L = kernels
    x, y = eigendecompose(K.copy()), eigendecompose(L.copy())
    J = held_out_scores(x, y, [np.arange(25), *(rng.permutation(25) for _ in range(20))]).min(axis=1)
    assert J[0] < J[1:].min()


def test_unmatched_objects_are_left_out_of_the_score(kernels):
    K, L = kernels
    x, y = eigendecompose(K.copy()), eigendecompose(L.copy())
    some = np.where(np.arange(25) < 20, np.arange(25), -1)
    assert np.isfinite(held_out_scores(x, y, [some])).all()


def test_whitened_kernels_are_noccos_without_diagonal(kernels):
    K, _ = kernels
    W = whiten(eigendecompose(K.copy()), 0.05)
    expected = center(normalize(K, 0.05))
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(W, expected / np.linalg.norm(expected), atol=1e-5)


def test_compressed_kernels_are_the_whitened_ones_but_for_their_diagonals(kernels):
    x = Subspace.from_kernels(kernels, 25)
    A, S = x.whiten(0.1, [1])
    W = A @ S[0] @ A.T
    np.fill_diagonal(W, 0)
    np.testing.assert_allclose(W, whiten(eigendecompose(kernels[1].copy()), 0.1), atol=1e-5)


def test_few_directions_hold_most_of_the_whitened_kernels(rng):
    X = rng.normal(size=(300, 3))
    K = [gaussian(X, width=c * median_width(X)) for c in (1, 2)]
    A, S = Subspace.from_kernels(K, 300).whiten(0.1, [0, 1])
    assert A.shape == (300, 48)
    for k in (0, 1):
        W = A @ S[k] @ A.T
        np.fill_diagonal(W, 0)
        assert np.vdot(W, whiten(eigendecompose(K[k].copy()), 0.1)) > 0.99
