"""Held-out scores of many objects."""

import numpy as np

from pairup.auto.held_out import held_out_score, map_values, share_found_again, split_pairs, unit_rows
from pairup.auto.view import View


def two_views(n=400):
    rng = np.random.default_rng(0)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return View.fit("euclidean", Z, Z @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T, 0)


def test_the_score_is_minus_j_of_the_model_that_is_fitted_to_the_other_half():
    view = two_views(60)
    U, V, p = view.x.values, view.y.values, np.arange(60)
    halves = split_pairs(p)
    by_hand = []
    for epsilon in (0.1, 0.03, 0.01, 0.003, 0.001):
        total = 0.0
        for fitted, held in (halves, halves[::-1]):
            M, w, z = view.shrink((U[fitted].T @ V[fitted]) / len(fitted), epsilon)
            r = 1 + (U[held][:, : len(w)] * w) @ M @ (V[held][:, : len(z)] * z).T
            total -= (0.5 * (r**2).mean() - np.diag(r).mean()) / 2
        by_hand.append(total)
    # The means of eigenfunctions over a half are not exactly 0, so r has a small mean of its own.
    assert abs(held_out_score(view, U, V, p) - max(by_hand)) < 0.2 * abs(max(by_hand))


def test_the_truth_scores_above_shuffled_pairs_and_is_found_again():
    view = two_views()
    U, V = view.x.values, view.y.values
    truth, wrong = np.arange(400), np.random.default_rng(1).permutation(400)
    assert held_out_score(view, U, V, truth) > held_out_score(view, U, V, wrong) + 1.0
    assert share_found_again(view, U, V, truth, 0.001) > 0.3
    assert share_found_again(view, U, V, wrong, 0.001) < 0.05


def test_halves_share_no_pair_and_leave_out_objects_without_partner():
    one, other = split_pairs(np.array([3, -1, 2, 0, 1]), 100)
    assert sorted([*one.tolist(), *other.tolist()]) == [0, 2, 3, 4]


def test_no_pairs_score_nothing():
    view = two_views(60)
    nothing = np.full(60, -1)
    assert held_out_score(view, view.x.values, view.y.values, nothing) == 0.0
    assert share_found_again(view, view.x.values, view.y.values, nothing, 0.01) == 0.0


def test_rows_are_mapped_and_scaled():
    Z = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(Z), [[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(map_values(Z, np.eye(2), np.array([2.0, 1.0], np.float32)), [[6.0, 4.0], [0.0, 0.0]])
