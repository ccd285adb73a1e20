import itertools

import numpy as np
import pytest

from pairup.annealing import anneal, anneal_all, anneal_halving, anneal_measure, last_plan, scale_to_marginals, sinkhorn
from pairup.climb import climb
from pairup.constraints import Constraints
from pairup.density_ratio import eigendecompose, whiten
from pairup.forms import DenseForm, exclude_self
from pairup.kernels import gaussian, median_width
from pairup.measures import HSIC, NOCCO


def free(n, m=None, pairs=None):
    m = n if m is None else m
    return Constraints(n, m, min(n, m) if pairs is None else pairs)


def test_sinkhorn_gives_the_sums_it_is_asked_for(rng):
    scores = rng.normal(size=(30, 30)).astype(np.float32)
    plan, potential = sinkhorn(scores.copy(), np.zeros(30, np.float32), free(30), sweeps=200)
    np.testing.assert_allclose(plan.sum(axis=0), 1, atol=1e-4)
    np.testing.assert_allclose(plan.sum(axis=1), 1, atol=1e-4)
    ratio = np.log(plan) - scores  # a + b: every 2 × 2 minor vanishes
    np.testing.assert_allclose(ratio[0, 0] + ratio[1, 1], ratio[0, 1] + ratio[1, 0], atol=1e-3)
    again, _ = sinkhorn(scores.copy(), potential, free(30), sweeps=1)
    np.testing.assert_allclose(again, plan, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6])
def test_sinkhorn_is_safe_at_any_temperature(rng, scale):
    plan, _ = sinkhorn((scale * rng.normal(size=(40, 40))).astype(np.float32), np.zeros(40, np.float32), free(40))
    assert np.isfinite(plan).all()
    np.testing.assert_allclose(plan.sum(axis=0), 1, atol=1e-3)


def test_all_objects_have_a_partner_to_the_same_degree_where_pairs_are_few(rng):
    scores = rng.normal(size=(12, 9)).astype(np.float32)
    plan, _ = sinkhorn(scores.copy(), np.zeros(9, np.float32), free(12, 9, 6), sweeps=300)
    np.testing.assert_allclose(plan.sum(axis=1), 6 / 12, atol=1e-4)
    np.testing.assert_allclose(plan.sum(axis=0), 6 / 9, atol=1e-4)
    known = Constraints(12, 9, 6, (np.array([3]), np.array([5])))
    known.mask(scores)
    plan, _ = sinkhorn(scores, np.zeros(9, np.float32), known, sweeps=300)
    assert plan[3, 5] == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(np.delete(plan.sum(axis=1), 3), 5 / 11, atol=1e-3)


def test_annealed_plans_keep_to_anchors(rng):
    X = rng.normal(size=(20, 3))
    K = exclude_self(gaussian(X, width=median_width(X))).astype(np.float32)
    constraints = Constraints(20, 20, 20, (np.array([4, 7]), np.array([9, 0])))
    for plan in anneal([DenseForm(K, K)], constraints.uniform(), constraints):
        assert plan[4, 9] == pytest.approx(1, abs=1e-3)
        assert plan[7, 0] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "constraints", [free(20), free(24, 20, 15), Constraints(20, 20, 20, (np.array([4]), np.array([9])))]
)
def test_plans_that_are_annealed_side_by_side_are_those_of_each_alone(rng, constraints):
    forms = []
    for width in (0.5, 1.0):
        K, L = (
            exclude_self(gaussian(Z, width=width * median_width(Z))).astype(np.float32)
            for Z in (rng.normal(size=(constraints.n, 3)), rng.normal(size=(constraints.m, 3)))
        )
        forms.append(DenseForm(K, L))
    plans = [constraints.warm_start(rng.permutation(24)[: constraints.n] % constraints.m) for _ in range(50)]
    together = anneal_all(forms, plans, constraints, betas=(5, 20, 80), updates=2)
    assert len(together) == len(plans)
    for plan, found in zip(plans, together, strict=True):
        np.testing.assert_array_equal(found, last_plan(anneal(forms, plan, constraints, betas=(5, 20, 80), updates=2)))


@pytest.mark.parametrize(("n", "m", "pairs"), [(20, 20, 20), (24, 20, 20), (20, 20, 15)])
def test_annealed_plans_are_zero_at_forbidden_pairs(rng, n, m, pairs):
    X = rng.normal(size=(24, 3))
    K = exclude_self(gaussian(X, width=median_width(X))).astype(np.float32)
    forbidden = np.nonzero(rng.random((n, m)) < 0.4)
    constraints = Constraints(n, m, pairs, forbidden=forbidden)
    start = constraints.uniform()
    for plan in anneal([DenseForm(K[:n, :n], K[:m, :m])], start, constraints, betas=(5.0, 50.0, 200.0, 200.0)):
        assert (plan[forbidden] == 0).all()
        assert np.isfinite(plan).all()
        assert plan.sum() == pytest.approx(pairs, rel=0.02)
    assert not constraints.breaks(constraints.round(plan))


def test_halving_the_starts_keeps_the_best_of_all(rng):
    X = rng.normal(size=(60, 4))
    Y = np.tanh(X @ rng.normal(size=(4, 5)))
    form = DenseForm(*(whiten(eigendecompose(gaussian(Z, width=median_width(Z))), 0.03) for Z in (X, Y)))
    constraints, betas = free(60), tuple(np.geomspace(8, 200, 9))
    starts = [constraints.warm_start(rng.permutation(60)) for _ in range(12)]
    alone = [last_plan(anneal([form], plan, constraints, betas=betas)) for plan in starts]
    together = anneal_halving([form], starts, constraints, betas=betas, updates=3)
    assert len(together) == 6
    assert all(any(np.array_equal(plan, other) for other in alone) for plan in together)
    best = max(form.value(constraints.round(plan)) for plan in alone)
    assert max(form.value(constraints.round(plan)) for plan in together) == pytest.approx(best, abs=0.003)


@pytest.mark.parametrize("measure", [HSIC, NOCCO])
def test_annealing_never_exceeds_the_maximum_of_small_problems_and_often_finds_it(rng, measure):
    found = 0
    for _ in range(10):
        X, Y = rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
        problem = measure(gaussian(X, width=median_width(X)), gaussian(Y, width=median_width(Y)))
        best = max(problem.value(np.array(p)) for p in itertools.permutations(range(7)))
        reached = max(step.value for _ in range(6) for step in anneal_measure(problem, rng.permutation(7)))
        assert reached <= best + 1e-9
        found += reached > best - 1e-9
    assert found >= 5


def test_annealing_goes_higher_than_climbing(rng):
    X = rng.normal(size=(60, 6))
    Y = np.tanh(X @ rng.normal(size=(6, 6))) + 0.1 * rng.normal(size=(60, 6))
    problem = HSIC(gaussian(X, width=median_width(X)), gaussian(Y, width=median_width(Y)))
    starts = [rng.permutation(60) for _ in range(5)]
    climbed = [max(s.value for s in climb(problem, p)) for p in starts]
    annealed = [max(s.value for s in anneal_measure(problem, p)) for p in starts]
    assert np.mean(annealed) > np.mean(climbed)
    assert max(annealed) >= max(climbed)


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_scaling_holds_rows_to_their_sums_and_columns_as_far_as_balance_says(rng, balance):
    E, rows, columns = rng.random((6, 9)) + 0.1, np.full(6, 1 / 6), np.full(9, 1 / 9)
    u, v = scale_to_marginals(E, rows, columns, np.ones(9), sweeps=200, balance=balance)
    plan = (rows / (E @ v))[:, None] * E * v  # rows once more, as the last sweep ends with the columns
    np.testing.assert_allclose(plan.sum(axis=1), rows)
    off = np.abs(plan.sum(axis=0) - columns).max()
    assert (off < 1e-9) == (balance == 1.0)
    if balance == 0.0:
        np.testing.assert_array_equal(v, 1.0)
    np.testing.assert_allclose(v, (columns / (u @ E)) ** balance, rtol=1e-6)
