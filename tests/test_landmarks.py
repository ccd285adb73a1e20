import tracemalloc

import numpy as np
import pytest

import pairup
from pairup.density_ratio import SCORED_EPSILONS
from pairup.kernels import gaussian, median_width
from pairup.landmarks import LandmarkRatio, LandmarkRegressor
from pairup.regression import MatchedRegressor


def smooth_pairs(n, seed=0):
    """Return points and a smooth image of them, in another order; and which belongs to which."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.c_[np.sin(X @ [1.0, 0.5, 0.0]), np.tanh(X @ [0.0, 1.0, -0.5]), X[:, 2] ** 2]
    order = rng.permutation(n)
    return X, Y[order], np.argsort(order)


def test_with_every_point_as_a_landmark_the_weights_are_those_of_the_paper():
    X, Y, partners = smooth_pairs(120)
    model = LandmarkRegressor(landmarks=120).fit(X, Y, np.arange(120), partners)
    full = MatchedRegressor(widths=[model.width_], ridges=[model.ridge_]).fit(X, Y[partners])
    new = np.random.default_rng(1).normal(size=(20, 3))
    np.testing.assert_allclose(model.predict(new), full.predict(new), atol=1e-6)


def test_fewer_landmarks_predict_nearly_as_well():
    X, Y, partners = smooth_pairs(900)
    new, images, at = smooth_pairs(100, seed=1)
    truth = images[at]
    full = MatchedRegressor().fit(X, Y[partners]).predict(new)
    some = LandmarkRegressor(landmarks=200).fit(X, Y, np.arange(900), partners).predict(new)
    spread = np.linalg.norm(truth - truth.mean(axis=0))
    assert np.linalg.norm(full - truth) < 0.1 * spread
    assert np.linalg.norm(some - truth) < 0.15 * spread


def test_pairs_are_taken_as_they_are_given():
    X, Y, partners = smooth_pairs(300)
    rows = np.arange(0, 300, 2)
    model = LandmarkRegressor(landmarks=40).fit(X, Y, rows, partners[rows])
    again = LandmarkRegressor(landmarks=40).fit(X[rows], Y[partners[rows]], np.arange(150), np.arange(150))
    np.testing.assert_allclose(model.predict(X[:5]), again.predict(X[:5]), atol=1e-9)


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_units_do_not_matter(scale):
    X, Y, partners = smooth_pairs(200)
    every = np.arange(200)
    one = LandmarkRegressor(landmarks=50).fit(X, Y, every, partners)
    other = LandmarkRegressor(landmarks=50).fit(scale * X, scale * Y, every, partners)
    np.testing.assert_allclose(other.predict(scale * X[:9]) / scale, one.predict(X[:9]), rtol=1e-5, atol=1e-7)


def test_held_out_images_do_not_know_their_own_partner():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    model = LandmarkRegressor(landmarks=200).fit(X, Y, np.arange(200), np.arange(200))
    assert model.predict_held_out().std() < 0.5 * Y.std()


def test_with_every_point_as_a_landmark_the_ratio_is_the_closed_form():
    X, Y, partners = smooth_pairs(80)
    model = LandmarkRatio(landmarks=80).fit(X, Y, np.arange(80), partners)
    assert model.epsilon_ in SCORED_EPSILONS
    paired, n = Y[partners], 80
    width_x, width_y = median_width(X), median_width(paired)
    ridge = n * model.epsilon_ * np.eye(n)
    k, l = gaussian(X[:7], X, width=width_x), gaussian(Y[:9], paired, width=width_y)  # noqa: E741
    K, L = gaussian(X, width=width_x), gaussian(paired, width=width_y)
    expected = n * np.linalg.solve(K + ridge, k.T).T @ np.linalg.solve(L + ridge, l.T)
    np.testing.assert_allclose(model.ratios(X[:7], Y[:9]), expected, rtol=1e-3, atol=1e-3)


@pytest.fixture(scope="module")
def many():
    """A right matching of 20,000 objects with sparse probabilities."""
    from scipy.sparse import csr_array

    n = 20_000
    X, Y, partners = smooth_pairs(n)
    P = csr_array((np.full(n, 0.9), partners, np.arange(n + 1)), shape=(n, n))
    names = list(range(n))
    return pairup.Matching(
        partners, "auto", 1.0, None, [], (names, names), confidence=np.full(n, 0.9), probabilities=P, sets=(X, Y)
    )


def test_many_pairs_carry_new_objects_over(many, monkeypatch):
    monkeypatch.setattr(LandmarkRegressor.__init__, "__kwdefaults__", {"landmarks": 150})
    monkeypatch.setattr(LandmarkRatio.__init__, "__kwdefaults__", {"landmarks": 150})
    new, images, at = smooth_pairs(60, seed=1)
    tracemalloc.start()
    moved = many.translate(new)
    p = many.assign(new, images)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    truth = images[at]
    assert np.linalg.norm(moved - truth) < 0.2 * np.linalg.norm(truth - truth.mean(axis=0))
    assert (p == at).mean() > 0.9
    assert peak < 2e8  # a kernel of all pairs would take 3.2 GB
