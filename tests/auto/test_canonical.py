import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import pairup
from pairup.auto import canonical
from pairup.auto.canonical import (
    Canonical,
    canonical_distances,
    canonical_table,
    column_spreads,
    count_bits,
    hash_table,
    mix,
    round_to_grid,
)
from pairup.auto.problem import Problem
from pairup.auto.schedule import CANONICAL
from pairup.climb import Step
from pairup.kernels import squared_distances

CHANGES = {
    "rows": lambda Z, rng: Z[rng.permutation(len(Z))],
    "columns": lambda Z, rng: Z[:, rng.permutation(Z.shape[1])],
    "shift": lambda Z, rng: Z + 1000.0 * column_spreads(Z - np.median(Z, axis=0)),
    "scale": lambda Z, rng: 0.037 * Z,
    "tiny": lambda Z, rng: 3e-200 * Z,
    "all": lambda Z, rng: 5e6 * (Z[rng.permutation(len(Z))] - 70.0 * column_spreads(Z - Z[0]))[:, ::-1],
}


def tables(rng):
    """Tables of every kind: wide, narrow, of whole numbers, with outliers, of other units, half zeros, binary."""
    yield rng.normal(size=(40, 3))
    yield rng.gamma(2.0, size=(25, 60))
    yield rng.random((50, 1))
    yield rng.integers(0, 256, size=(30, 12)).astype(float)
    yield np.where(rng.random((30, 4)) < 0.02, 1e6, rng.normal(size=(30, 4)))
    yield rng.normal(size=(30, 4)) * [1.0, 1e-7, 1e5, 3.0]
    yield np.maximum(rng.normal(size=(40, 5)), 0.4)
    yield (rng.random((40, 9)) < 0.5).astype(float)


@pytest.mark.parametrize("change", CHANGES)
def test_order_origin_and_unit_leave_no_trace(change, rng):
    for Z in tables(rng):
        form, other = canonical_table(Z), canonical_table(CHANGES[change](Z, rng))
        np.testing.assert_array_equal(form.values, other.values)
        assert form.key == other.key


def test_a_canonical_table_is_the_table_but_for_rounding(rng):
    for Z in tables(rng):
        form = canonical_table(Z)
        before, after = squared_distances(Z[form.order]), squared_distances(form.values)
        np.testing.assert_allclose(after / after.max(), before / before.max(), atol=1e-6)


def test_where_directions_count_the_origin_stays(rng):
    Z = rng.normal(size=(20, 3))
    form = canonical_table(Z, keeps_origin=True)
    lengths = np.linalg.norm(form.values, axis=1) / np.linalg.norm(Z[form.order], axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)
    assert form.hash != canonical_table(Z + 1.0, keeps_origin=True).hash
    near = 1.0 + 1e-9 * Z  # directions that hardly differ still do
    assert len(np.unique(canonical_table(near, keeps_origin=True).values, axis=0)) == 20


def test_columns_keep_their_units_however_much_they_differ(rng):
    Z = rng.gamma(2.0, size=(30, 3))
    form = canonical_table(Z * [1e-300, 1.0, 1e300])
    assert sorted(len(np.unique(column)) for column in form.values.T) == [30, 30, 30]
    assert np.isfinite(form.values).all()


def test_distances_have_no_order_and_no_unit(rng):
    D = squared_distances(rng.normal(size=(30, 4)))
    form, order = canonical_distances(D), rng.permutation(30)
    other = canonical_distances(3.7e-150 * D[np.ix_(order, order)])
    np.testing.assert_array_equal(form.values, other.values)
    np.testing.assert_array_equal(form.order, order[other.order])
    np.testing.assert_allclose(form.values / form.values.max(), D[np.ix_(form.order, form.order)] / D.max(), atol=1e-6)
    assert not canonical_distances(np.zeros((3, 3))).values.any()


def test_constant_columns_become_zeros_and_tell_nothing(rng):
    Z = rng.normal(size=(10, 2))
    form = canonical_table(np.c_[Z[:, :1], np.full(10, 0.1), Z[:, 1:]])
    assert sorted(form.values.any(axis=0).tolist()) == [False, True, True]
    np.testing.assert_array_equal(form.order, canonical_table(np.c_[np.full(10, -5e5), Z]).order)


def test_columns_of_the_same_values_are_told_apart_by_their_rows(rng):
    """Ranks: every column holds the same values."""
    Z = rng.permuted(np.tile(np.arange(30.0)[:, None], 6), axis=0)
    rows, columns = hash_table(Z, np.zeros(6, dtype=np.uint64))
    assert len(set(rows.tolist())) == 30
    assert len(set(columns.tolist())) == 6
    shuffled = Z[:, [3, 1, 5, 0, 2, 4]]
    np.testing.assert_array_equal(hash_table(shuffled, np.zeros(6, dtype=np.uint64))[0], rows)


def test_what_is_known_of_columns_counts(rng):
    Z = rng.normal(size=(5, 2))
    one, other = (hash_table(Z, np.array(marks, dtype=np.uint64))[0] for marks in ([0, 1], [1, 0]))
    assert (one != other).all()


def test_marks_of_rounding_keep_away_from_the_values(rng):
    Z = np.round(rng.normal(size=(200, 3)) * 50)  # whole numbers, and halves of them: the usual marks lie on these
    Z[:, 1] += 0.4
    up, down = round_to_grid(Z + 1e-3), round_to_grid(Z - 1e-3)
    np.testing.assert_array_equal(up, down)
    assert (np.abs(up - Z) <= 1.0).all()


def test_more_values_are_rounded_to_a_coarser_grid():
    bits = [count_bits(10**k, CANONICAL.table_bits) for k in range(1, 9)]
    assert bits == sorted(bits, reverse=True)
    assert bits[0] == CANONICAL.most_bits
    assert bits[-1] == CANONICAL.fewest_bits


def test_a_few_huge_values_do_not_hide_the_others(rng):
    Z = rng.normal(size=(30, 1))
    Z[3] = 1e12
    form = canonical_table(Z)
    assert len(np.unique(form.values)) == 30
    mostly_zero = np.r_[1e-17 * rng.normal(size=20), rng.normal(size=9), 1e9][:, None]
    assert 0.1 < column_spreads(mostly_zero).item() < 3.0


def test_hashes_spread():
    hashes = mix(np.arange(1000, dtype=np.uint64))
    assert len(set(hashes.tolist())) == 1000
    ones = np.unpackbits(hashes.view(np.uint8)).mean()
    assert ones == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("swap", [False, True])
def test_what_is_found_comes_back_in_the_given_order(swap, rng):
    X, Y = rng.normal(size=(6, 2)), rng.normal(size=(9, 4))
    prior = rng.normal(size=(6, 9))
    anchors, forbidden = [(4, 7), (1, 0)], [(0, 1), (5, 2), (0, 4)]
    if swap:
        X, Y, prior = Y, X, prior.T
        anchors, forbidden = ([(j, i) for i, j in pairs] for pairs in (anchors, forbidden))
    problem = Problem.check(X, Y, anchors=anchors, forbidden=forbidden, prior=prior)
    canonical = Canonical.of(problem)
    inner = canonical.problem
    assert canonical.swapped is swap  # the smaller set comes first
    assert (len(inner.x), len(inner.y)) == (inner.constraints.n, inner.constraints.m) == (6, 9)
    found = inner.constraints.round(inner.constraints.prior)
    given = problem.constraints.round(problem.constraints.prior)
    np.testing.assert_array_equal(canonical.restore_matching(found), given)
    assert all(given[i] == j for i, j in anchors)
    np.testing.assert_array_equal(canonical.restore_pairs(inner.constraints.prior), problem.constraints.prior)
    uniform = canonical.restore_pairs(inner.constraints.uniform())
    assert set(zip(*np.nonzero(uniform == 0), strict=True)) >= set(forbidden)
    step = canonical.restore_step(Step(1, 2, found, 0.5))
    np.testing.assert_array_equal(step.indices, given)
    assert replace(step, indices=found) == Step(1, 2, found, 0.5)


def related(rng, n=24):
    Z = rng.gamma(2.0, size=(n, 3)) * [3, 2, 1]
    return Z + 0.3 * rng.normal(size=Z.shape), np.c_[Z @ rng.normal(size=(3, 4)), rng.normal(size=n)]


def same(one, other, rows, columns, *, swap=False):
    """Whether the second matching is the first, but for the order of the rows and columns that it was given."""
    indices = np.argsort(columns)[one.indices[rows]]
    likely = one.probabilities[np.ix_(rows, columns)]
    if swap:
        indices, likely = np.argsort(indices), likely.T
    np.testing.assert_array_equal(other.indices, indices)
    np.testing.assert_array_equal(other.probabilities, likely)
    assert other.reliability == pytest.approx(one.reliability, rel=1e-12)
    assert other.reliable == one.reliable
    assert other.report == one.report
    assert [(a.score, a.agreement) for a in other.alternatives] == [(a.score, a.agreement) for a in one.alternatives]
    assert [step.value for step in other.history] == [step.value for step in one.history]
    return True


def test_match_feels_no_order_no_origin_no_unit_and_no_side(rng):
    X, Y = related(rng)
    m, every = pairup.match(X, Y), np.arange(len(X))
    rows, columns = rng.permutation(len(X)), rng.permutation(len(X))
    assert same(m, pairup.match(X[rows], Y[columns]), rows, columns)
    assert same(m, pairup.match(Y, X), every, every, swap=True)
    assert same(m, pairup.match(X + 1000.0, Y - [3.0, 100.0, -77.0, 0.1, 5.0]), every, every)
    assert same(m, pairup.match(1.7e-3 * X, 1e5 * Y), every, every)
    assert same(m, pairup.match(X[:, ::-1], Y[:, [2, 4, 0, 1, 3]]), every, every)


def test_known_pairs_and_unequal_sizes_feel_none_either(rng):
    X, Y = related(rng)
    X = X[:18]
    m = pairup.match(X, Y, anchors=[(3, 3), (7, 7)], overlap=0.9, metric="euclidean")
    rows, columns = rng.permutation(18), rng.permutation(24)
    known = [(int(np.argsort(rows)[i]), int(np.argsort(columns)[i])) for i in (7, 3)]
    other = pairup.match(X[rows], Y[columns], anchors=known, overlap=0.9, metric="euclidean")
    place = np.r_[np.argsort(columns), -1]
    np.testing.assert_array_equal(other.indices, place[m.indices[rows]])
    np.testing.assert_array_equal(other.probabilities, m.probabilities[np.ix_(rows, columns)])


def test_tables_of_many_objects_are_copied_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    Z = np.c_[rng.normal(size=(300, 3)) * [1, 1e9, 1e-9], np.ones(300), rng.integers(0, 3, size=300)]
    whole = [canonical_table(Z, keeps_origin=keeps) for keeps in (False, True)]
    monkeypatch.setattr(canonical, "CANONICAL", replace(canonical.CANONICAL, chunk=97))
    for form, keeps in zip(whole, (False, True), strict=True):
        parts = canonical_table(Z, keeps_origin=keeps)
        np.testing.assert_array_equal(parts.values, form.values)
        np.testing.assert_array_equal(parts.order, form.order)
        assert parts.hash == form.hash
    monkeypatch.setattr(canonical, "CANONICAL", replace(canonical.CANONICAL, chunk=2**14))
    Z = rng.normal(size=(10_000, 20))
    tracemalloc.start()
    canonical_table(Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * Z.nbytes  # two copies, and what is computed at once
