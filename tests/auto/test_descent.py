"""Descents on samples."""

import numpy as np

from pairup.auto.descent import balance_plan, between, descend, polish, shared_correlation, soft_plan
from pairup.auto.view import View, covariances


def two_views(n=500, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return View.fit("euclidean", Z, Z @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T, 0)


def test_plans_have_the_sums_they_should():
    rng = np.random.default_rng(0)
    profit = rng.normal(size=(30, 60)).astype(np.float32)
    for plan in (soft_plan(profit, 10.0), balance_plan(np.zeros((4, 8), np.float32))):
        n, m = plan.shape
        np.testing.assert_allclose(plan.sum(axis=0), n / m, rtol=1e-3)
        np.testing.assert_allclose(plan.sum(axis=1), 1.0, rtol=0.05)


def test_descents_and_polishing_keep_the_true_map():
    view = two_views()
    truth = covariances(view.x.values, view.y.values, np.arange(500))

    def alike(N):
        return float(np.vdot(N[:8, :8], truth[:8, :8]) / np.linalg.norm(N[:8, :8]) / np.linalg.norm(truth[:8, :8]))

    rng = np.random.default_rng(1)
    assert alike(descend(view, truth, rng)) > 0.6  # soft plans blur what they keep
    assert alike(polish(view, truth, rng)) > 0.6


def test_the_true_map_shares_more_correlation_than_a_wrong_one():
    view = two_views()
    truth = covariances(view.x.values, view.y.values, np.arange(500))
    wrong = covariances(view.x.values, view.y.values, np.random.default_rng(2).permutation(500))
    of_truth, of_wrong = (shared_correlation(view, N, np.random.default_rng(0)) for N in (truth, wrong))
    assert of_truth > 1.5 * of_wrong


def test_values_go_from_end_to_end():
    assert [between((32, 64), done) for done in (0.0, 1.0)] == [32.0, 64.0]
