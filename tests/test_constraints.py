import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from pairup.constraints import (
    Constraints,
    check_anchors,
    check_forbidden,
    check_possible,
    check_prior,
    check_sparse_prior,
    count_pairs,
)


def test_rounding_keeps_to_anchors_and_numbers(rng):
    anchors = (np.array([2, 0]), np.array([1, 3]))
    indices = Constraints(6, 5, 4, anchors).round(rng.random((6, 5)))
    assert indices[2] == 1
    assert indices[0] == 3
    assert (indices >= 0).sum() == 4
    matched = indices[indices >= 0]
    assert len(set(matched.tolist())) == 4


def allowed_matchings(n, m, n_pairs, forbidden=(), anchors=()):
    """Every matching that keeps to the constraints, as lists of pairs."""
    every = (
        list(zip(rows, columns, strict=True))
        for rows in itertools.combinations(range(n), n_pairs)
        for columns in itertools.permutations(range(m), n_pairs)
    )
    return [pairs for pairs in every if not set(pairs) & set(forbidden) and set(anchors) <= set(pairs)]


def columns_of(pairs):
    pairs = np.reshape(pairs, (-1, 2)).astype(np.intp)
    return pairs[:, 0], pairs[:, 1]


SIZES = [(4, 4, 4), (5, 3, 3), (3, 5, 3), (4, 4, 2), (5, 3, 2)]


@pytest.mark.parametrize("anchors", [[], [(0, 1)]])
@pytest.mark.parametrize("forbidden", [[], [(0, 0), (1, 2), (2, 0), (2, 2)]])
@pytest.mark.parametrize("shift", [0.0, -3.0])
@pytest.mark.parametrize(("n", "m", "n_pairs"), SIZES)
def test_rounding_is_the_best_of_all_matchings(rng, n, m, n_pairs, shift, forbidden, anchors):
    plan = rng.random((n, m)) + shift
    every = allowed_matchings(n, m, n_pairs, forbidden, anchors)
    indices = Constraints(n, m, n_pairs, columns_of(anchors), forbidden=columns_of(forbidden)).round(plan)
    matched = np.flatnonzero(indices >= 0)
    assert list(zip(matched, indices[matched], strict=True)) in every
    best = max(sum(plan[pair] for pair in pairs) for pairs in every)
    assert plan[matched, indices[matched]].sum() == pytest.approx(best)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 3), (3, 4)])
def test_the_number_of_possible_pairs_is_that_of_brute_force(rng, n, m, share):
    anchors = [(1, 2)]
    for _ in range(10):
        forbidden = [pair for pair in np.ndindex(n, m) if rng.random() < share and pair not in anchors]
        sizes = range(1, min(n, m) + 1)
        most = max(size for size in sizes if allowed_matchings(n, m, size, forbidden, anchors))
        constraints = Constraints(n, m, min(n, m), columns_of(anchors), forbidden=columns_of(forbidden))
        assert constraints.count_possible() == most
        if most < min(n, m):
            with pytest.raises(ValueError, match=f"^{most} of the {min(n, m)} pairs can be formed"):
                check_possible(constraints)
        else:
            check_possible(constraints)


def test_forbidden_pairs_have_no_part_in_the_uniform_plan():
    constraints = Constraints(3, 4, 2, forbidden=check_forbidden([(0, 1), (0, 1), (2, 3)], 3, 4))
    plan = constraints.uniform()
    np.testing.assert_allclose(plan.sum(axis=1), 2 / 3, rtol=1e-6)
    assert (plan == 0).sum() == 2
    assert plan[0, 1] == plan[2, 3] == 0


def test_imposed_anchors_do_not_bring_forbidden_pairs(rng):
    known, wrong = columns_of([(0, 1)]), columns_of([(1, 0), (2, 0), (3, 0)])
    constraints = Constraints(5, 5, 5, known, forbidden=wrong)
    imposed = constraints.impose_anchors(np.arange(5))  # x 1 would get y 0
    assert imposed[0] == 1
    assert sorted(imposed) == list(range(5))
    assert not constraints.breaks(imposed)
    assert (imposed == np.arange(5)).sum() == 2  # x 4 has to take y 0, x 1 what x 4 had


def test_plans_have_the_sums_of_the_constraints(rng):
    constraints = Constraints(6, 4, 3, (np.array([1]), np.array([2])))
    p = constraints.round(rng.random((6, 4)))
    for plan in (constraints.hard(p), constraints.warm_start(p, trust=1.0)):
        assert plan.sum() == 3
        assert plan[1, 2] == 1
    half = constraints.warm_start(p)
    np.testing.assert_allclose(half, 0.5 * constraints.uniform() + 0.5 * constraints.hard(p))
    np.testing.assert_array_equal(constraints.warm_start(p, trust=0.0), constraints.uniform())


def test_imposed_anchors_keep_a_permutation(rng):
    for _ in range(20):
        known = rng.permutation(8)[:3], rng.permutation(8)[:3]
        imposed = Constraints(8, 8, 8, known).impose_anchors(rng.permutation(8))
        assert sorted(imposed) == list(range(8))
        assert (imposed[known[0]] == known[1]).all()


def test_masked_profits_leave_anchors_no_rival(rng):
    profit = rng.normal(size=(4, 4)).astype(np.float32)
    Constraints(4, 4, 4, (np.array([1]), np.array([3]))).mask(profit)
    assert profit[1].argmax() == 3
    assert profit[:, 3].argmax() == 1
    assert (np.delete(profit[1], 3) < -50).all()
    assert (np.delete(profit[:, 3], 1) < -50).all()


def test_an_overlap_is_a_number_of_pairs():
    assert count_pairs(1.0, 10, 8, 0) == 8
    assert count_pairs(0.5, 10, 8, 0) == 4
    assert count_pairs(0.5, 10, 8, 6) == 6  # no fewer than are known
    assert count_pairs(1e-9, 10, 8, 0) == 1
    assert count_pairs("auto", 10, 8, 0) == 8


@pytest.mark.parametrize("overlap", [0.0, -1.0, 1.01, float("nan"), "most"])
def test_other_overlaps_are_refused(overlap):
    with pytest.raises(ValueError, match="overlap must"):
        count_pairs(overlap, 5, 5, 0)


def test_anchors_come_back_in_their_order():
    rows, columns = check_anchors([(3, 0), (1, 4)], 5, 5)
    assert rows.tolist() == [3, 1]
    assert columns.tolist() == [0, 4]


def test_forbidden_pairs_come_back_once_each():
    rows, columns = check_forbidden([(3, 0), (1, 4), (3, 0)], 5, 5)
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(1, 4), (3, 0)]


@pytest.mark.parametrize("forbidden", [[(0, 5)], [(-1, 0)], [(0, 1, 2)], [(0.5, 1)]])
def test_other_forbidden_pairs_are_refused(forbidden):
    with pytest.raises(ValueError, match="forbidden"):
        check_forbidden(forbidden, 5, 5)


@pytest.mark.parametrize("anchors", [[(0, 5)], [(-1, 0)], [(0, 1, 2)], [(0.5, 1)], [(1, 1), (2, 1)]])
def test_other_anchors_are_refused(anchors):
    with pytest.raises(ValueError, match="anchor"):
        check_anchors(anchors, 5, 5)


def test_a_prior_has_mean_zero_and_modulus_one(rng):
    prior = check_prior(100 + 7 * rng.normal(size=(4, 6)), 4, 6)
    assert prior.mean() == pytest.approx(0, abs=1e-6)
    assert np.abs(prior).max() == pytest.approx(1)
    assert (check_prior(np.ones((3, 3)), 3, 3) == 0).all()


def test_a_sparse_prior_is_a_dense_one_with_zeros(rng):
    S = random_array((6, 5), density=0.4, rng=rng, format="csr")
    np.testing.assert_array_equal(check_prior(S, 6, 5), check_prior(S.toarray(), 6, 5))
    kept = check_sparse_prior(S, 6, 5)
    assert kept.dtype == np.float32
    np.testing.assert_allclose(kept.toarray(), S.toarray() / S.toarray().max(), rtol=1e-6)
    for check in (check_prior, check_sparse_prior):
        with pytest.raises(ValueError, match=r"one row per x and one column per y, \(5, 6\), got shape \(6, 5\)"):
            check(S, 5, 6)
    assert check_sparse_prior(csr_array((2, 2)), 2, 2).nnz == 0
    S.data[0] = np.nan
    with pytest.raises(ValueError, match="prior contains NaN"):
        check_sparse_prior(S, 6, 5)


def test_a_sparse_prior_that_does_not_fit_is_refused_before_it_is_filled_in(monkeypatch):
    monkeypatch.setattr("pairup.memory.free_memory", lambda: (2**20, "of this test"))
    with pytest.raises(MemoryError, match=r"would fit"):
        check_prior(csr_array((5000, 5000)), 5000, 5000)
