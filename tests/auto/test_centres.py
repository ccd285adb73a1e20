"""Matched cluster centres."""

import numpy as np

from pairup.auto.centres import breed_starts, cluster, match_centres
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import View, covariances


def test_matched_centres_lead_near_the_true_map():
    rng = np.random.default_rng(0)
    Z = rng.gamma(2.0, size=(1500, 4)) * [4, 3, 2, 1]
    view = View.fit("euclidean", Z, Z @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T, 0)
    truth = covariances(view.x.values, view.y.values, np.arange(1500))[:6, :6]
    starts = [N[:6, :6] for N in match_centres(view, 80, np.random.default_rng(0))]
    assert 1 <= len(starts) <= 4
    cosines = [np.vdot(N, truth) / np.linalg.norm(N) / np.linalg.norm(truth) for N in starts]
    assert max(cosines) > 0.8


def test_clusters_have_all_objects_and_the_means_of_their_eigenfunctions():
    Z = np.random.default_rng(0).normal(size=(200, 3))
    side = View.fit("euclidean", Z, Z, 0).x
    centres, means, counts = cluster(side, 10, np.random.default_rng(0))
    assert centres.shape == (10, 3)
    assert counts.sum() == 200
    np.testing.assert_allclose(counts @ means / 200, side.values.mean(axis=0), atol=1e-4)


def test_equal_objects_give_no_start():
    view = View.fit("euclidean", np.ones((400, 2)) + 1e-30, np.random.default_rng(0).normal(size=(400, 2)), 0)
    assert list(match_centres(view, 20, np.random.default_rng(0))) == []


def test_bred_plans_lead_to_the_true_map_where_no_component_stands_out():
    rng = np.random.default_rng(4)
    Z = rng.gamma(2.0, size=(600, 4))
    X, Y = Z, np.log1p(Z @ np.abs(rng.normal(size=(4, 6))))
    view = View.fit("whitened-4", X, Y, 0)
    truth = covariances(view.x.values, view.y.values, np.arange(600))[:6, :6]

    def nearest(starts):
        return max(np.vdot(N[:6, :6], truth) / np.linalg.norm(N[:6, :6]) / np.linalg.norm(truth) for N in starts)

    bred = list(breed_starts(view, np.random.default_rng(0)))
    assert len(bred) == MULTILEVEL.populations * MULTILEVEL.followed
    assert nearest(bred) > 0.9
    assert nearest(match_centres(view, 80, np.random.default_rng(0))) < 0.5


def test_equal_objects_are_no_population():
    view = View.fit("whitened-2", np.ones((400, 2)), np.random.default_rng(0).normal(size=(400, 2)), 0)
    assert list(breed_starts(view, np.random.default_rng(0))) == []
