"""Soft plans among all objects."""

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from pairup.auto import soft_partners
from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.soft_partners import plan_covariances, settle, share_partners
from pairup.auto.view import Side, covariances
from pairup.kernels import squared_distances


def test_plans_have_the_perplexity_that_is_wanted_and_nearly_equal_columns():
    rng = np.random.default_rng(0)
    profit = rng.normal(size=(200, 30)).astype(np.float32)
    candidates = np.stack([rng.permutation(100)[:30] for _ in range(200)]).astype(np.int32)
    likely, _ = share_partners(candidates, profit, 100, 4.0, 1.0)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)
    assert 2.5 < 200 / (likely**2).sum() < 6.0
    np.testing.assert_allclose(np.bincount(candidates.ravel(), likely.ravel()), 2.0, rtol=0.1)


def test_covariances_of_a_hard_plan_are_those_of_the_matching():
    rng = np.random.default_rng(0)
    U, V = (rng.normal(size=(50, 4)).astype(np.float32) for _ in range(2))
    indices = rng.permutation(50)
    hard = plan_covariances(U, V, indices[:, None].astype(np.int32), np.ones((50, 1)))
    np.testing.assert_allclose(hard, covariances(U, V, indices), atol=1e-6)


def test_errors_that_neighbours_share_are_put_right(monkeypatch):
    monkeypatch.setattr(soft_partners, "MULTILEVEL", replace(MULTILEVEL, settlings=2, settling_steps=10))
    rng = np.random.default_rng(0)
    Z = rng.gamma(2.0, size=(800, 2))
    values = Side.fit("euclidean", Z, rng).values
    swirled = Z + 0.3 * np.sin(Z[:, ::-1] * 1.5)
    wrong = linear_sum_assignment(squared_distances(swirled, Z))[1]

    def share_right(N):
        A, B = CanonicalVariates.of(N, 64).images(values, values, 0.99)
        return ((A @ B.T).argmax(axis=1) == np.arange(800)).mean()

    start = covariances(values, values, wrong)
    assert share_right(start) < 0.5
    assert share_right(settle(values, values, start)) > 0.9
