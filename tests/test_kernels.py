import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from pairup.kernels import KernelFamily, center, gaussian, laplacian, linear, median_width, squared_distances


def test_gaussian_agrees_with_scikit_learn(rng):
    X, Z = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    np.testing.assert_allclose(gaussian(X, Z, width=1.7), rbf_kernel(X, Z, gamma=1 / (2 * 1.7**2)), rtol=1e-12)


def test_laplacian_is_of_euclidean_distances(rng):
    X = rng.normal(size=(9, 2))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(laplacian(X, width=0.7), np.exp(-distances / 0.7), rtol=1e-7)


def test_linear_is_the_inner_product(rng):
    X, Z = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    np.testing.assert_allclose(linear(X, Z), X @ Z.T)


def test_centring_is_multiplication_by_gamma(rng):
    A = rng.normal(size=(12, 12))
    K = A @ A.T
    gamma = np.eye(12) - 1 / 12
    np.testing.assert_allclose(center(K), gamma @ K @ gamma, atol=1e-12)
    np.testing.assert_allclose(center(K).sum(axis=0), 0, atol=1e-12)


def test_median_width_counts_all_pairs_with_the_diagonal(rng):
    X = rng.normal(size=(11, 4))
    distances = [np.linalg.norm(a - b) for a in X for b in X]
    assert median_width(X) == pytest.approx(np.median(distances) / 2**0.5)


def test_median_width_of_mostly_duplicates_is_positive():
    X = np.zeros((10, 1))
    X[0] = 3.0
    assert median_width(X) == pytest.approx(3 / 2**0.5)


def test_distances_are_accurate_far_from_the_origin(rng):
    X = rng.normal(size=(30, 5))
    np.testing.assert_allclose(squared_distances(X + 1e6), squared_distances(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_a_family_scales_the_width_by_the_median(rng, kernel):
    X = rng.normal(size=(15, 3))
    function = {"gaussian": gaussian, "laplacian": laplacian}[kernel]
    np.testing.assert_allclose(
        KernelFamily(X, kernel).matrix(2.5), function(X, width=2.5 * median_width(X)), rtol=1e-12
    )


def test_a_family_takes_names_and_callables(rng):
    X = rng.uniform(size=(8, 3))
    by_name = KernelFamily(X, "cosine").matrix()
    by_function = KernelFamily(X, lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)).matrix()
    np.testing.assert_allclose(by_name, by_function, rtol=1e-12)


@pytest.mark.parametrize(
    ("K", "message"),
    [(np.ones((3, 4)), "must be a square matrix, got shape"), (np.arange(9.0).reshape(3, 3), "must be symmetric")],
)
def test_a_precomputed_kernel_must_be_one(K, message):
    with pytest.raises(ValueError, match=message):
        KernelFamily(K, "precomputed")


def test_indefinite_kernels_are_told(rng):
    A = rng.normal(size=(6, 6))
    assert KernelFamily(A + A.T, "precomputed").is_indefinite()
    assert not KernelFamily(A @ A.T, "precomputed").is_indefinite()


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="all rows of Y are equal"):
        KernelFamily(np.ones((5, 2)), name="Y")
