"""Soft plans of correlated eigenfunctions."""

import numpy as np
import pytest

from pairup.correlated_plans import (
    RANKS,
    correlate,
    correlate_functions,
    count_functions,
    eigenfunctions,
    expected_plan,
    log_ratios,
    soft_plan,
    soften_partners,
)
from pairup.kernels import gaussian, median_width


def kernel(Z):
    return gaussian(Z, width=median_width(Z))


@pytest.fixture
def groups(rng):
    """Two views of 120 objects of four groups, and a matching that is right about groups alone."""
    kind = np.repeat(np.arange(4), (12, 24, 36, 48))
    X, Y = (4 * rng.normal(size=(4, d))[kind] + rng.normal(size=(120, d)) for d in (3, 5))
    indices = np.concatenate([rng.permutation(np.flatnonzero(kind == k)) for k in range(4)])
    return X, Y, kind, indices


def test_a_plan_has_even_rows_and_columns_and_keeps_to_groups(groups):
    X, Y, kind, indices = groups
    plan, shared = correlate(kernel(X), kernel(Y), indices)
    np.testing.assert_allclose(plan.sum(axis=1), 1, rtol=1e-4)
    np.testing.assert_allclose(plan.sum(axis=0), 1, atol=0.1)
    assert plan[kind[:, None] == kind].sum() > 0.9 * len(X)
    assert 2.5 < shared < 10  # three directions tell four groups apart
    assert ((plan**2).sum(axis=1) ** -1).mean() > 4  # partners that share the plan of an object


def test_metrics_that_share_little_do_not_count(monkeypatch):
    even, own, none = np.full((2, 2), 0.5), np.eye(2), np.zeros((2, 2))
    plans = {1: (even, 8.0), 2: (own, 7.0), 3: (none, 5.0)}
    monkeypatch.setattr("pairup.correlated_plans.correlate_functions", lambda U, V, indices, rank: plans[U])
    mean = expected_plan([(1, 1), (2, 2), (3, 3)], np.arange(2))
    np.testing.assert_allclose(mean, [[0.75, 0.25], [0.25, 0.75]])


def test_metrics_chosen_by_the_first_rank_give_a_plan_for_every_rank(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "pairup.correlated_plans.correlate_functions",
        lambda U, V, indices, rank: asked.append((U, rank)) or (np.full((2, 2), rank), 1.0 / U),
    )
    mean = expected_plan([(1, 1), (3, 3)], np.arange(2), (0.1, 0.2, 0.6))
    np.testing.assert_allclose(mean, 0.3)
    assert asked == [(1, 0.1), (3, 0.1), (1, 0.2), (1, 0.6)]


def test_leading_eigenfunctions_give_the_plan_of_their_kernels(groups):
    X, Y, _, indices = groups
    U, V = (eigenfunctions(kernel(Z), count_functions(120, max(RANKS))) for Z in (X, Y))
    plan, shared = correlate_functions(U, V, indices)
    of_kernels, as_much = correlate(kernel(X), kernel(Y), indices)
    np.testing.assert_allclose(plan, of_kernels, atol=1e-3)
    assert shared == pytest.approx(as_much, rel=1e-3)


def test_the_mean_plan_of_several_ranks_keeps_to_groups(groups):
    X, Y, kind, indices = groups
    functions = [tuple(eigenfunctions(kernel(Z), count_functions(120, max(RANKS))) for Z in (X, Y))]
    mean = expected_plan(functions, indices, RANKS)
    np.testing.assert_allclose(mean.sum(axis=1), 1, rtol=1e-4)
    assert mean[kind[:, None] == kind].sum() > 0.85 * 120  # .31 by chance


def test_objects_without_a_partner_get_a_plan_too(groups):
    X, Y, kind, indices = groups
    some = np.where(np.arange(120) % 3 == 0, -1, indices)
    plan, _ = correlate(kernel(X), kernel(Y[:100]), np.where(some < 100, some, -1))
    assert plan.shape == (120, 100)
    assert np.isfinite(plan).all()
    alone = (some < 0) & (kind < 3)
    assert plan[alone][:, kind[:100] == 2].sum(axis=1)[kind[alone] == 2].mean() > 0.8


def test_eigenfunctions_have_variance_one_and_no_mean(rng):
    U = eigenfunctions(kernel(rng.normal(size=(60, 2))), 5)
    np.testing.assert_allclose(U.T @ U / 60, np.eye(5), atol=1e-5)
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-4)


def test_profits_are_logarithms_of_gaussian_density_ratios(rng):
    U, V = rng.normal(size=(6, 1)).astype(np.float32), rng.normal(size=(5, 1)).astype(np.float32)
    rho = 0.6
    exact = (rho * U @ V.T - 0.5 * rho**2 * (U**2 + V.T**2)) / (1 - rho**2)
    profit = log_ratios(U, V, np.array([[rho]], dtype=np.float32))
    np.testing.assert_allclose(profit, exact - exact.max(axis=1, keepdims=True), atol=1e-5)


def test_a_soft_plan_leaves_as_many_partners_as_asked(rng):
    profit = -np.abs(rng.normal(size=(200, 1)) - rng.normal(size=(1, 200))).astype(np.float32)
    profit -= profit.max(axis=1, keepdims=True)
    sharpness = 1.0
    for _ in range(4):
        plan, sharpness = soft_plan(profit, 20.0, sharpness)
    assert 14 < 200 / (plan**2).sum() < 28


def test_softened_partners_lie_nearer_to_their_group(groups):
    X, Y, kind, indices = groups
    centres = np.array([Y[kind == k].mean(axis=0) for k in range(4)])[kind]
    hard = Y[indices]
    soft = soften_partners(X, hard)
    assert ((soft - centres) ** 2).sum() < 0.8 * ((hard - centres) ** 2).sum()
    np.testing.assert_array_equal(soften_partners(np.zeros((5, 2)), hard[:5]), hard[:5])
