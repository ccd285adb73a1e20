"""Partners of many objects."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pairup.auto import partners
from pairup.auto.candidates import find_candidates
from pairup.auto.partners import (
    add_bonus,
    among,
    mask_pairs,
    match_all,
    pair_leftovers,
    part_copies,
    unmatched,
)


def points(n, seed=0, d=4):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def images(Z):
    """Rows and columns whose inner products fall with the distance."""
    ones, half = np.ones((len(Z), 1), dtype=np.float32), -(Z**2).sum(axis=1, keepdims=True) / 2
    return np.hstack([Z, ones, half]), np.hstack([Z, half, ones])


@pytest.mark.parametrize(("n", "m"), [(120, 120), (80, 120), (120, 80)])
def test_equal_points_find_each_other(n, m):
    Z = points(120)
    order = np.random.default_rng(1).permutation(m)
    A, B = images(Z)
    indices = match_all(A[:n], B[:m][order])
    both = min(n, m)
    assert (indices >= 0).sum() == both
    assert len(np.unique(indices[indices >= 0])) == both
    right = indices[:both] >= 0
    right &= order[indices[:both]] == np.arange(both)
    assert right.mean() > 0.98


def test_whatever_is_left_is_matched_among_itself(monkeypatch):
    monkeypatch.setattr(partners, "MULTILEVEL", replace(partners.MULTILEVEL, candidates=1, dense_leftovers=10))
    indices = match_all(points(100), points(100, 1))
    assert sorted(indices.tolist()) == list(range(100))


def test_forbidden_pairs_are_in_no_matching():
    A, B = images(points(60))
    wrong = np.arange(60), np.arange(60)
    indices = match_all(A, B, forbidden=wrong)
    assert (indices != np.arange(60)).all()
    assert len(np.unique(indices[indices >= 0])) == (indices >= 0).sum() >= 58


def test_a_bonus_decides_between_partners_and_brings_new_ones():
    A, B = images(points(40))
    bonus = csr_array((np.full(2, 100.0), ([3, 7], [20, 30])), shape=(40, 40))
    indices = match_all(A, B, bonus=bonus)
    assert indices[3] == 20
    assert indices[7] == 30
    candidates, profit = find_candidates(A, B, 2)
    more, gains = add_bonus(A, B, candidates, profit, bonus)
    assert more.shape == (40, 3)
    assert gains[3, 2] == pytest.approx(float(A[3] @ B[20]) + 100.0, rel=1e-5)


def test_pairs_are_masked_numbered_and_counted():
    candidates = np.array([[0, 1], [1, 2]], dtype=np.int32)
    mask_pairs(candidates, (np.array([1]), np.array([2])))
    assert candidates.tolist() == [[0, 1], [1, -1]]
    i, j = among((np.array([1, 3]), np.array([2, 0])), np.array([3, 0]), np.array([0, 1]), 4, 3)
    assert (i.tolist(), j.tolist()) == ([0], [0])
    rows, columns = unmatched(np.array([2, -1]), 4)
    assert (rows.tolist(), columns.tolist()) == ([1], [0, 1, 3])


def test_copies_are_moved_apart_a_little_and_nothing_else():
    Z = np.hstack([points(300), np.ones((300, 2), dtype=np.float32)])
    assert part_copies(Z) is Z
    Z[:100] = Z[0]
    parted = part_copies(Z)
    np.testing.assert_array_equal(parted[100:], Z[100:])
    assert len(np.unique(parted[:100, 0])) > 90
    assert np.abs(parted - Z).max() < 1e-3


def test_copies_get_partners_in_one_round(monkeypatch):
    monkeypatch.setattr(partners, "MULTILEVEL", replace(partners.MULTILEVEL, dense_leftovers=20))
    Z = points(600)
    Z[:400] = Z[0]
    A, B = images(Z)
    indices = match_all(A, B)
    assert sorted(indices.tolist()) == list(range(600))
    np.testing.assert_array_equal(np.sort(indices[:400]), np.arange(400))
    np.testing.assert_array_equal(indices[400:], np.arange(400, 600))


@pytest.mark.parametrize(("n", "m", "parts"), [(10, 12, 1), (60, 60, 6), (60, 95, 6), (0, 5, 0)])
def test_leftovers_are_cut_into_parts_where_they_are_many(monkeypatch, n, m, parts):
    monkeypatch.setattr(partners, "MULTILEVEL", replace(partners.MULTILEVEL, dense_leftovers=20, hopeless=10))
    found = list(pair_leftovers(points(n), points(m, 1), np.arange(n), np.arange(m)))
    assert len(found) == parts
    rows, columns = (np.concatenate([each[k] for each in found] or [np.arange(0)]) for k in (0, 1))
    assert sorted(rows.tolist()) == list(range(n))
    assert len(np.unique(columns)) == len(columns) == (m if parts == 1 else n)
