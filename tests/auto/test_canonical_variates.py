"""Canonical variates of partners."""

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates


def correlated(n, rho, seed=0):
    """Two sets of uncorrelated columns; the k-th of both have correlation rho[k]."""
    rng = np.random.default_rng(seed)
    a, noise = rng.normal(size=(2, n, len(rho)))
    b = a * rho + noise * np.sqrt(1 - np.square(rho))
    return a.astype(np.float32), b.astype(np.float32)


def test_profits_are_logarithms_of_gaussian_density_ratios():
    rho = np.array([0.9, 0.5])
    variates = CanonicalVariates(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), rho)
    a, b = correlated(6, rho)
    A, B = variates.images(a, b)
    exact = np.zeros((6, 6))
    for k, r in enumerate(rho):
        u, v = a[:, k, None], b[None, :, k]
        exact += (r * u * v - 0.5 * r**2 * (u**2 + v**2)) / (1 - r**2)
    np.testing.assert_allclose(A @ B.T, exact, atol=1e-4)


def test_correlations_are_those_of_pairs_left_out():
    rho = np.array([0.95, 0.7, 0.0, 0.0, 0.0])
    a, b = correlated(4000, rho)
    variates = CanonicalVariates.fit(a, b, np.arange(4000), 5)
    np.testing.assert_allclose(variates.correlations, rho, atol=0.05)
    assert (np.diff(variates.correlations) <= 1e-12).all()


def test_rotations_of_either_set_change_no_profit():
    rho = np.array([0.9, 0.6, 0.3])
    a, b = correlated(500, rho)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0].astype(np.float32)
    A, B = CanonicalVariates.fit(a, b, np.arange(500), 3).images(a, b)
    C, D = CanonicalVariates.fit(a @ turn, b, np.arange(500), 3).images(a @ turn, b)
    np.testing.assert_allclose(A @ B.T, C @ D.T, atol=0.05)


def test_the_right_partner_has_the_largest_profit_where_correlations_are_high():
    a, b = correlated(300, np.full(12, 0.98))
    A, B = CanonicalVariates.fit(a, b, np.arange(300), 12).images(a, b)
    assert ((A @ B.T).argmax(axis=1) == np.arange(300)).mean() > 0.99
