import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairup.kernels import gaussian, median_width
from pairup.regression import KernelFeatures, MatchedRegressor, predict_held_out, restore_spread


@parametrize_with_checks([KernelFeatures(), MatchedRegressor()])
def test_scikit_learn_manners(estimator, check):
    check(estimator)


def test_features_are_the_kernel_against_the_fitted_points():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, 4)), rng.normal(size=(7, 4))
    features = KernelFeatures(width=1.7).fit(X)
    assert_allclose(features.transform(Z), gaussian(Z, X, width=1.7 * median_width(X)))


def test_weights_are_the_stationary_point_of_the_papers_objective():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    model = MatchedRegressor(widths=[1.3], ridges=[0.7]).fit(X, Y)
    K = gaussian(X, width=1.3 * median_width(X))
    gradient = -2 * K.T @ (Y - Y.mean(0) - K @ model.weights_) + 0.7 * model.weights_
    assert_allclose(gradient, 0, atol=1e-9)
    assert_allclose(model.predict(X), K @ model.weights_ + Y.mean(0))


def test_the_least_cross_validated_error_is_chosen():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(120, 1))
    smooth, rough = X**2, np.sin(40 * X)
    grid = {"widths": [0.02, 1.0], "ridges": [1e-6, 1e-2]}
    assert MatchedRegressor(**grid).fit(X, smooth).width_ == 1.0
    assert MatchedRegressor(**grid).fit(X, rough).width_ == 0.02
    noisy = smooth + rng.normal(scale=2, size=X.shape)
    grid = {"widths": [0.1], "ridges": [1e-6, 1e2]}
    assert MatchedRegressor(**grid).fit(X, smooth).ridge_ == 1e-6
    assert MatchedRegressor(**grid).fit(X, noisy).ridge_ == 1e2


def test_new_points_find_their_partners():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(5, 8))
    X, X_new = rng.normal(size=(200, 5)), rng.normal(size=(50, 5))
    model = MatchedRegressor().fit(X, np.tanh(X @ A))
    error = np.linalg.norm(model.predict(X_new) - np.tanh(X_new @ A), axis=1)
    assert np.median(error) < 0.25 * np.linalg.norm(np.tanh(X_new @ A), axis=1).mean()


def test_scaling_and_shifting_the_partners_scales_and_shifts_the_answer():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    plain, moved = MatchedRegressor().fit(X, Y), MatchedRegressor().fit(X, 3 * Y + 5)
    assert_allclose(moved.predict(X), 3 * plain.predict(X) + 5)


def test_fewer_pairs_than_folds_are_refused():
    with pytest.raises(ValueError, match="needs at least 2 pairs, got n_samples = 1"):
        MatchedRegressor().fit([[1.0]], [[2.0]])


@pytest.mark.parametrize("scale", [1e-300, 1e-155, 1e155, 1e300])
def test_the_units_of_either_set_do_not_matter(rng, scale):
    X = rng.normal(size=(40, 2))
    Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2]
    one, other = MatchedRegressor().fit(X, Y), MatchedRegressor().fit(scale * X, scale * Y)
    assert (one.width_, one.ridge_) == (other.width_, other.ridge_)
    np.testing.assert_allclose(other.predict(scale * X) / scale, one.predict(X), rtol=1e-6)


def test_images_get_the_spread_of_the_set_along_its_components():
    rng = np.random.default_rng(5)
    Y = rng.normal(size=(300, 3)) * [5.0, 2.0, 1.0] @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 7.0
    axes = np.linalg.svd(Y - Y.mean(0), full_matrices=False)[2].T
    shrunk = Y.mean(0) + ((Y - Y.mean(0)) @ axes * [0.8, 0.5, 0.25]) @ axes.T
    assert_allclose(restore_spread(shrunk, shrunk, Y), Y)
    assert_allclose(restore_spread(shrunk[:1], shrunk, Y), Y[:1])  # the fit decides, not how many images there are
    for unit in (1e-200, 1e200):
        assert_allclose(restore_spread(unit * shrunk, unit * shrunk, unit * Y), unit * Y)


def test_a_component_that_nothing_is_known_of_is_not_blown_up():
    U = np.random.default_rng(6).normal(size=(100, 2))
    Y = np.linalg.qr(U - U.mean(axis=0))[0] * [3.0, 1.0]  # uncorrelated: its columns are its components
    images = Y * [1.0, 1e-9]
    assert np.ptp(restore_spread(images, images, Y)[:, 1]) < 1e-8
    assert_allclose(restore_spread(images, images, Y)[:, 0], Y[:, 0], atol=1e-9)
    flat = np.zeros((100, 2))
    assert_allclose(restore_spread(flat, flat, np.ones((100, 2))), 1.0)


def test_held_out_partners_do_not_know_their_own():
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    model = MatchedRegressor(widths=[0.3], ridges=[1e-3]).fit(X, Y)
    held_out = predict_held_out(model, X, Y)
    assert np.corrcoef(model.predict(X)[:, 0], Y[:, 0])[0, 1] > 0.9  # it fits noise
    assert abs(np.corrcoef(held_out[:, 0], Y[:, 0])[0, 1]) < 0.5
    smooth = MatchedRegressor().fit(X, X @ rng.normal(size=(3, 2)))
    assert_allclose(predict_held_out(smooth, X, smooth.predict(X)), smooth.predict(X), atol=0.3)
