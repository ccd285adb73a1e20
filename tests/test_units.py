"""Units do not matter: the same answer over 600 orders of magnitude, or a clear word."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

import pairup
from pairup import KSHSIC, KSMI, KSNOCCO, LSOM, ProductLSOM
from pairup.datasets import shuffle_pair
from pairup.measures import GaussianMI

SCALES = [1e-300, 1e-200, 1e-155, 1e-9, 1e9, 1e155, 1e200, 1e300]
SEARCHES = {
    "auto": lambda X, Y: pairup.match(X, Y),
    "euclidean": lambda X, Y: pairup.match(X, Y, metric="euclidean"),
    "cosine": lambda X, Y: pairup.match(X, Y, metric="cosine"),
    "distances": lambda X, Y: pairup.match(X, Y, metric="precomputed"),
    "kernels": lambda X, Y: pairup.match(X, Y, kernel="precomputed"),
    "ks-hsic": lambda X, Y: pairup.match(X, Y, method="ks-hsic"),
    "ks-nocco": lambda X, Y: pairup.match(X, Y, method="ks-nocco"),
}
ESTIMATORS = [
    KSHSIC(n_starts=2),
    KSNOCCO(n_starts=2, kernel="laplacian"),
    KSMI(n_starts=2),
    LSOM(n_starts=1, widths=(1.0, 2.0)),
    ProductLSOM(n_starts=1, widths=(1.0,)),
]


def related(n=10):
    rng = np.random.default_rng(5)
    Z = rng.gamma(2.0, size=(n, 3)) * [3, 2, 1]
    X, Y, _ = shuffle_pair(Z, Z @ np.linalg.qr(rng.normal(size=(3, 3)))[0], 1)
    return X, Y


def as_input(search):
    X, Y = related()
    if search == "distances":
        return cdist(X, X), cdist(Y, Y)
    return (X @ X.T, Y @ Y.T) if search == "kernels" else (X, Y)


@pytest.fixture(scope="module")
def at_scale_one():
    return {name: search(*as_input(name)).indices for name, search in SEARCHES.items()}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_matching_does_not_depend_on_units(name, scale, at_scale_one):
    X, Y = as_input(name)
    np.testing.assert_array_equal(SEARCHES[name](X, scale * Y).indices, at_scale_one[name])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("matcher", ESTIMATORS, ids=lambda matcher: type(matcher).__name__)
def test_an_estimator_does_not_depend_on_units(matcher, scale):
    X, Y = related()
    indices = matcher.fit_predict(X, Y)
    dependence = matcher.dependence_
    np.testing.assert_array_equal(matcher.fit_predict(scale * X, scale * Y), indices)
    assert matcher.dependence_ == pytest.approx(dependence, rel=1e-4)


@pytest.mark.parametrize("power", [-900, -40, 40, 900])
def test_a_power_of_two_changes_no_bit(power):
    X, Y = related()
    first, again = pairup.match(X, Y), pairup.match(X * 2.0**power, Y * 2.0**-power)
    np.testing.assert_array_equal(again.probabilities, first.probabilities)
    assert KSHSIC().fit(X, Y).dependence_ == KSHSIC().fit(X * 2.0**power, Y).dependence_


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e-200, 1e200])
@pytest.mark.parametrize("metric", ["auto", "euclidean", "cosine"])
def test_near_equal_objects_are_matched_in_any_units(metric, scale):
    """They are 1e-9 apart, which SciPy's graphs take for no edge."""
    rng = np.random.default_rng(0)
    X = 1 + 1e-9 * rng.gamma(2.0, size=(20, 3))
    order = rng.permutation(20)
    m = pairup.match(X, scale * X[order], metric=metric)
    assert (order[m.indices] == np.arange(20)).mean() > 0.8


@pytest.mark.parametrize("wild", [1e12, 1e155, -1e200, 1.7e308])
@pytest.mark.parametrize("name", ["auto", "euclidean", "cosine", "ks-hsic", "ks-nocco"])
def test_one_wild_cell_does_not_stop_a_search(name, wild):
    X, Y = related()
    Y[3, 1] = wild
    m = SEARCHES[name](X, Y)
    assert sorted(m.indices) == list(range(10))
    assert np.isfinite(m.dependence)
    if m.probabilities.size:
        assert np.isfinite(m.probabilities).all()


@pytest.mark.parametrize("matcher", ESTIMATORS, ids=lambda matcher: type(matcher).__name__)
def test_one_wild_cell_does_not_stop_an_estimator(matcher):
    X, Y = related()
    Y[3, 1] = 1e155
    assert sorted(matcher.fit_predict(X, Y)) == list(range(10))
    assert np.isfinite(matcher.dependence_)


def test_columns_of_very_different_units_all_count():
    """The metrics with columns of equal weight still see a column that is 1e-300 of another."""
    rng = np.random.default_rng(2)
    Z = rng.gamma(2.0, size=(30, 3))
    order = rng.permutation(30)
    for units in ([1, 1, 1], [1e-300, 1.0, 1e300]):
        m = pairup.match(Z, (Z * units)[order])
        assert (order[m.indices] == np.arange(30)).mean() > 0.9


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("matcher", [KSHSIC(), KSNOCCO(), LSOM(n_starts=1)], ids=lambda matcher: type(matcher).__name__)
def test_a_kernel_with_units_is_refused_beyond_ordinary_ones(matcher, kernel, scale):
    X, Y = related()
    if kernel == "precomputed":
        X, Y, scale = X @ X.T, Y @ Y.T, scale**2 if 1e-100 < scale < 1e100 else scale
    with pytest.raises(ValueError, match=r"the kernel of Y .* expected one that tells|the kernel of Y must be finite"):
        clone(matcher).set_params(kernel=kernel).fit(X, scale * Y)


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 2.0**-20, 1e9, 1e12])
@pytest.mark.parametrize("matcher", [KSHSIC(), KSNOCCO(), KSMI()], ids=lambda matcher: type(matcher).__name__)
def test_a_linear_kernel_gives_the_same_matching_in_any_units(matcher, scale):
    """KSMI took kernels of large or small numbers for indefinite, and to KSNOCCO's ε they meant something else."""
    rng = np.random.default_rng(3)
    X = rng.gamma(2.0, size=(15, 3)) * [3, 2, 1]
    Y = X[rng.permutation(15)] @ rng.normal(size=(3, 3))
    model = clone(matcher).set_params(kernel="linear")
    expected, value = model.fit_predict(X, Y), model.dependence_
    for x, y in ((scale * X, Y), (X, scale * Y), (scale * X, Y / scale)):
        np.testing.assert_array_equal(model.fit_predict(x, y), expected)
        if isinstance(matcher, KSNOCCO):
            assert model.dependence_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-18, 1.0, 1e18])
def test_gaussian_mi_is_a_log_determinant_in_any_units(scale):
    """log det of the matrix on the complement of the ones vector, by its eigenvalues."""
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(2, 8, 20))
    K, L, p = scale * A @ A.T, B @ B.T, rng.permutation(8)
    mi = GaussianMI(K, L)
    Q = np.linalg.qr(np.hstack([np.ones((8, 1)), rng.normal(size=(8, 7))]))[0][:, 1:]
    M = Q.T @ (K * L[np.ix_(p, p)]) @ Q + mi.rho * np.eye(7)
    assert mi.value(p) == pytest.approx(-np.log(np.linalg.eigvalsh(M)).sum(), rel=1e-10)
