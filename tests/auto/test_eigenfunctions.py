"""Eigenfunctions of a kernel by landmarks."""

import numpy as np

from pairup.auto.eigenfunctions import Eigenfunctions


def sample(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)


def test_they_have_mean_0_variance_1_and_are_uncorrelated():
    Z = sample(400)
    U = Eigenfunctions.fit(Z, np.random.default_rng(0))(Z)
    np.testing.assert_allclose(U.mean(axis=0), 0.0, atol=2e-3)
    np.testing.assert_allclose(U.T @ U / len(U), np.eye(U.shape[1]), atol=2e-2)


def test_with_all_objects_as_landmarks_they_give_the_centred_kernel():
    Z = sample(150)
    functions = Eigenfunctions.fit(Z, np.random.default_rng(0))
    K = functions._kernel(functions.landmarks).astype(np.float64)
    centring = np.eye(150) - 1 / 150
    U = functions(functions.landmarks).astype(np.float64)
    found = (U * functions.eigenvalues) @ U.T
    difference = np.linalg.norm(found - centring @ K @ centring) / np.linalg.norm(centring @ K @ centring)
    assert difference < 0.02


def test_eigenvalues_fall_and_shrinkage_lies_between_0_and_1():
    functions = Eigenfunctions.fit(sample(300), np.random.default_rng(0))
    assert (np.diff(functions.eigenvalues) <= 0).all()
    for epsilon in (0.1, 0.001):
        w = functions.shrinkage(epsilon)
        assert ((w > 0) & (w < 1)).all()
    assert len(functions.shrinkage(0.1)) < len(functions.shrinkage(0.001))


def test_blocks_change_nothing():
    functions = Eigenfunctions.fit(sample(300), np.random.default_rng(0))
    new = sample(5000, 1)
    # float32: rounding errors are divided by the roots of small eigenvalues, and depend on the processor
    np.testing.assert_allclose(functions(new)[4990:], functions(new[4990:]), atol=1e-3)
