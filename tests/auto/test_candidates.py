"""Candidates of many objects."""

from dataclasses import replace

import numpy as np
import pytest

from pairup.auto import candidates
from pairup.auto.candidates import choose_cells, cut_into_cells, find_candidates, largest_entries
from pairup.auto.partners import match_all

SMALL = replace(
    candidates.MULTILEVEL, compared=100, cell=15, compared_in_cells=300, rows=50, rows_of_task=200, columns_of_task=400
)


def images(n, seed=0, d=4):
    """Rows and columns whose inner products fall with the distance."""
    Z = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    ones, half = np.ones((n, 1), dtype=np.float32), -(Z**2).sum(axis=1, keepdims=True) / 2
    return np.hstack([Z, ones, half]), np.hstack([Z, half, ones])


@pytest.fixture
def small(monkeypatch):
    """As if some hundred objects were many."""
    monkeypatch.setattr(candidates, "MULTILEVEL", SMALL)


def test_candidates_are_the_best_columns():
    A, B = images(50)[0], images(70, 1)[1]
    found, profit = find_candidates(A, B, 6)
    G = A @ B.T
    np.testing.assert_allclose(np.sort(profit, axis=1), np.sort(G, axis=1)[:, -6:], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(G, found.astype(np.intp), axis=1), profit, atol=1e-5)


def test_the_largest_entries_are_those_of_a_sort():
    G = np.random.default_rng(0).integers(0, 50, size=(40, 200)).astype(np.float32)  # with many ties
    for k in (1, 2, 7, 200):
        found = largest_entries(G, k)
        assert all(len(set(row)) == k for row in found.tolist())
        np.testing.assert_array_equal(np.sort(np.take_along_axis(G, found, axis=1)), np.sort(G, axis=1)[:, 200 - k :])


def test_cells_hold_every_column_once_and_are_alike_even_where_all_columns_are(small):
    for B in (images(1500)[1], np.ones((1500, 6), dtype=np.float32)):
        cells = cut_into_cells(B)
        np.testing.assert_array_equal(np.sort(np.concatenate(cells)), np.arange(1500))
        assert {len(cell) for cell in cells} <= set(range(8, 16))


def test_rows_choose_the_cells_of_largest_profit(small):
    A, means = images(430)[0], images(30, 1)[1]
    chosen = choose_cells(A, means, 5)
    np.testing.assert_array_equal(np.sort(chosen), np.sort(np.argsort(-A @ means.T, axis=1)[:, :5]))
    assert choose_cells(A, means, 99).shape == (430, 30)


def test_nearly_all_best_columns_are_found_in_cells(small, monkeypatch):
    A, B = images(900)[0], images(1500, 1)[1]
    found, profit = find_candidates(A, B, 3)
    np.testing.assert_allclose(np.einsum("id,ikd->ik", A, B[found]), profit, atol=1e-4)
    assert all(len(set(row)) == 3 for row in found.tolist())
    exact = np.argsort(-A @ B.T, axis=1)[:, :1]
    assert (found == exact).any(axis=1).mean() > 0.95
    monkeypatch.setattr(candidates, "MULTILEVEL", replace(SMALL, compared_in_cells=1500))
    assert (find_candidates(A, B, 3)[0] == exact).any(axis=1).all()


def test_more_candidates_than_a_few_cells_have_are_found_in_more_cells(small):
    A, B = images(60)[0], images(1500, 1)[1]
    assert (find_candidates(A, B, 1200)[0] >= 0).all()


def test_candidates_do_not_depend_on_the_number_of_threads(small):
    A, B = images(900)[0], images(1500, 1)[1]
    for one, other in zip(find_candidates(A, B, 5, n_jobs=1), find_candidates(A, B, 5, n_jobs=2), strict=True):
        np.testing.assert_array_equal(one, other)


def test_equal_objects_are_all_matched(small):
    A, B = np.ones((400, 5), dtype=np.float32), np.ones((400, 5), dtype=np.float32)
    assert sorted(match_all(A, B).tolist()) == list(range(400))
