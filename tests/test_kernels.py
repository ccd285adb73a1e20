import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from pairup.kernels import (
    KernelFamily,
    center,
    check_kernel,
    gaussian,
    laplacian,
    linear,
    median_width,
    rescale,
    squared_distances,
)


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


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-9, 1.0, 3e7, 1e300])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_rescaling_is_an_exact_power_of_two(rng, scale, axis):
    Z = rng.normal(size=(6, 3)) * scale
    scaled = rescale(Z, axis)
    largest = np.abs(scaled).max(axis=axis)
    assert ((largest >= 0.5) & (largest < 1) | (largest == 0)).all()
    with np.errstate(invalid="ignore", divide="ignore"):
        mantissas = np.frexp(scaled)[0], np.frexp(Z)[0]
    np.testing.assert_array_equal(*mantissas)


def test_rescaling_leaves_zeros_and_does_not_alter_its_argument():
    Z = np.array([[0.0, 4.0], [0.0, -8.0]])
    before = Z.copy()
    np.testing.assert_array_equal(rescale(Z, axis=0), [[0.0, 0.25], [0.0, -0.5]])
    np.testing.assert_array_equal(Z, before)
    np.testing.assert_array_equal(rescale(np.zeros((2, 2))), 0.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-155, 1.0, 1e160, 1e300])
def test_widths_and_kernels_have_no_units(rng, scale):
    X, Z = rng.normal(size=(8, 2)), rng.normal(size=(5, 2))
    width = median_width(scale * X)
    assert width == pytest.approx(scale * median_width(X), rel=1e-12)
    for kernel in (gaussian, laplacian):
        expected = kernel(X, Z, width=median_width(X))
        np.testing.assert_allclose(kernel(scale * X, scale * Z, width=width), expected, rtol=1e-6)
    family = KernelFamily(scale * X)
    assert family.median_width == width
    np.testing.assert_allclose(family.matrix(2.0), KernelFamily(X).matrix(2.0), rtol=1e-6)


def test_the_median_width_passes_over_distances_that_are_rounding(rng):
    """Beside one object far away the others are equal but for rounding, and are taken for duplicates."""
    X = rng.normal(size=(10, 2))
    X[3] = 1e155
    assert 1e154 < median_width(X) < 1e156
    assert np.isfinite(KernelFamily(X).matrix()).all()


@pytest.mark.parametrize("value", [1e-40, 1e40, np.inf, np.nan])
def test_kernels_beyond_ordinary_units_are_refused(value):
    with pytest.raises(ValueError, match=r"the kernel of X must be finite, .*; divide X by its largest value first"):
        check_kernel(np.diag([value] * 3), "X")


def test_a_kernel_that_tells_no_objects_apart_is_refused():
    with pytest.raises(ValueError, match="the kernel of Y is 0 for all objects, expected one that tells them apart"):
        KernelFamily(np.full((4, 2), 1e-200), "linear", name="Y")
    with pytest.raises(ValueError, match="the kernel of X is 1 for all objects"):
        KernelFamily(np.arange(4.0)[:, None] * 1e-200, "polynomial")
