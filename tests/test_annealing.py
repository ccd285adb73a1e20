import itertools
from dataclasses import replace

import numpy as np
import pytest

from pairup.annealing import (
    NO_ANCHORS,
    Dense,
    LowRank,
    Terms,
    anneal,
    annealed,
    exclude_self,
    last,
    paired_product,
    raced,
    sinkhorn,
)
from pairup.density_ratio import Compressed, spectrum, whitened
from pairup.kernels import gaussian, median_width
from pairup.measures import HSIC, NOCCO


def free(n, m=None, pairs=None):
    m = n if m is None else m
    return Terms(n, m, min(n, m) if pairs is None else pairs, NO_ANCHORS)


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


def test_sinkhorn_leaves_objects_alone_where_pairs_are_few(rng):
    terms = free(12, 9, 6)
    plan, _ = sinkhorn(rng.normal(size=(12, 9)).astype(np.float32), np.zeros(10, np.float32), terms, sweeps=300)
    assert plan.shape == (12, 9)
    assert plan.sum() == pytest.approx(6, abs=0.01)
    assert (plan.sum(axis=1) < 1.001).all()
    assert (plan.sum(axis=0) < 1.001).all()


@pytest.fixture
def low_rank(rng):
    """Three kernels of rank 3 beside three of rank 4, their diagonals proportional, and the dense forms of them."""
    A, B = rng.normal(size=(12, 3)).astype(np.float32), rng.normal(size=(9, 4)).astype(np.float32)
    S, T = (rng.random((3, 1, 1)) * (Z + Z.T) for Z in (rng.normal(size=(r, r)) for r in (3, 4)))
    S, T = S.astype(np.float32), T.astype(np.float32)
    dense = [Dense(exclude_self(A @ s @ A.T), exclude_self(B @ t @ B.T)) for s, t in zip(S, T, strict=True)]
    return LowRank(A, S, B, T), dense


def test_a_low_rank_form_is_the_sum_of_the_dense_ones(low_rank, rng):
    form, dense = low_rank
    plan = rng.random((12, 9)).astype(np.float32)
    np.testing.assert_allclose(form.profit(plan), sum(d.profit(plan) for d in dense), rtol=1e-3, atol=1e-2)


def test_a_low_rank_form_may_keep_its_diagonals_in_the_profit(low_rank, rng):
    form, _ = low_rank
    plan = rng.random((12, 9)).astype(np.float32)
    whole = sum(form.A @ s @ form.A.T @ plan @ form.B @ t @ form.B.T for s, t in zip(form.S, form.T, strict=True))
    kept = replace(form, excludes_self=False)
    np.testing.assert_allclose(kept.profit(plan), whole, rtol=1e-3, atol=1e-2)
    matching = rng.permutation(12) % 9
    matching[9:] = -1
    assert kept.value(matching) == form.value(matching)


@pytest.mark.parametrize("unmatched", [[], [4, 7]])
def test_the_value_of_a_form_is_that_of_its_profit(low_rank, rng, unmatched):
    form, dense = low_rank
    indices = np.r_[rng.permutation(9), -1, -1, -1]
    indices[unmatched] = -1
    plan = free(12, 9).hard(indices)
    for each in (form, *dense):
        assert each.value(indices) == pytest.approx(float(np.vdot(each.profit(plan), plan)), rel=1e-3, abs=1e-2)


def test_the_profit_of_real_kernels_hardly_knows_their_directions_to_be_shared(rng):
    X = rng.normal(size=(300, 4))
    sides = []
    for Z in (X, np.tanh(X)):
        kernels = [gaussian(Z, width=c * median_width(Z)).astype(np.float32) for c in (0.7, 1.0, 2.0)]
        sides.append(Compressed.of(kernels, 300).whitened(0.1, [0, 1, 2]))
    (A, S), (B, T) = sides
    dense = [Dense(exclude_self(A @ s @ A.T), exclude_self(B @ t @ B.T)) for s, t in zip(S, T, strict=True)]
    plan = free(300).start(rng.permutation(300))
    expected = sum(form.profit(plan) for form in dense)
    assert np.abs(LowRank(A, S, B, T).profit(plan) - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("n", [50, 203])
def test_paired_products_are_those_of_aligned_matrices(rng, n):
    K, L = (rng.normal(size=(n, n)).astype(np.float32) for _ in range(2))
    p = rng.permutation(n)
    assert paired_product(K, L, p) == pytest.approx(float(np.vdot(K, L[p][:, p])), rel=1e-3, abs=0.1)
    some = np.where(np.arange(n) % 5 == 0, -1, p)
    i = np.flatnonzero(some >= 0)
    assert paired_product(K, L, some) == pytest.approx(float(np.vdot(K[i][:, i], L[p[i]][:, p[i]])), rel=1e-3, abs=0.1)


def test_rounding_keeps_to_anchors_and_numbers(rng):
    anchors = (np.array([2, 0]), np.array([1, 3]))
    terms = Terms(6, 5, 4, anchors)
    indices = terms.round(rng.random((6, 5)))
    assert indices[2] == 1
    assert indices[0] == 3
    assert (indices >= 0).sum() == 4
    matched = indices[indices >= 0]
    assert len(set(matched.tolist())) == 4


def test_annealed_plans_keep_to_anchors(rng):
    X = rng.normal(size=(20, 3))
    K = exclude_self(gaussian(X, width=median_width(X))).astype(np.float32)
    terms = Terms(20, 20, 20, (np.array([4, 7]), np.array([9, 0])))
    for plan in annealed([Dense(K, K)], terms.uniform(), terms):
        assert plan[4, 9] == pytest.approx(1, abs=1e-3)
        assert plan[7, 0] == pytest.approx(1, abs=1e-3)


def test_a_race_is_won_by_the_best_of_all(rng):
    X = rng.normal(size=(60, 4))
    Y = np.tanh(X @ rng.normal(size=(4, 5)))
    form = Dense(*(whitened(spectrum(gaussian(Z, width=median_width(Z))), 0.03) for Z in (X, Y)))
    terms, betas = free(60), tuple(np.geomspace(8, 200, 9))
    starts = [terms.start(rng.permutation(60)) for _ in range(12)]
    alone = [last(annealed([form], plan, terms, betas=betas)) for plan in starts]
    together = raced([form], starts, terms, betas=betas, updates=3)
    assert len(together) == 6
    assert all(any(np.array_equal(plan, other) for other in alone) for plan in together)
    best = max(form.value(terms.round(plan)) for plan in alone)
    assert max(form.value(terms.round(plan)) for plan in together) == pytest.approx(best, abs=0.003)


@pytest.mark.parametrize("measure", [HSIC, NOCCO])
def test_annealing_never_exceeds_the_maximum_of_small_problems_and_often_finds_it(rng, measure):
    found = 0
    for _ in range(10):
        X, Y = rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
        problem = measure(gaussian(X, width=median_width(X)), gaussian(Y, width=median_width(Y)))
        best = max(problem.value(np.array(p)) for p in itertools.permutations(range(7)))
        reached = max(step.value for _ in range(6) for step in anneal(problem, rng.permutation(7)))
        assert reached <= best + 1e-9
        found += reached > best - 1e-9
    assert found >= 5


def test_annealing_goes_higher_than_climbing(rng):
    from pairup.climb import climb

    X = rng.normal(size=(60, 6))
    Y = np.tanh(X @ rng.normal(size=(6, 6))) + 0.1 * rng.normal(size=(60, 6))
    problem = HSIC(gaussian(X, width=median_width(X)), gaussian(Y, width=median_width(Y)))
    starts = [rng.permutation(60) for _ in range(5)]
    climbed = [max(s.value for s in climb(problem, p)) for p in starts]
    annealed_ = [max(s.value for s in anneal(problem, p)) for p in starts]
    assert np.mean(annealed_) > np.mean(climbed)
    assert max(annealed_) >= max(climbed)
