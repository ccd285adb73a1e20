"""Probabilities of pairs of many objects."""

import numpy as np

from pairup.auto.posterior import as_sparse, balance_candidates, impose_anchors, pair_probabilities, predict_pairs


def correlated(n, rho, seed=0):
    rng = np.random.default_rng(seed)
    a, noise = rng.normal(size=(2, n, 8))
    return a.astype(np.float32), (a * rho + noise * np.sqrt(1 - rho**2)).astype(np.float32)


def test_probabilities_are_as_sharp_as_held_out_pairs_allow():
    for rho, least, most in ((0.999, 0.9, 1.0), (0.8, 0.02, 0.5)):
        U, V = correlated(600, rho)
        candidates, profit, others = predict_pairs(U, V, np.arange(600), 8)
        likely = pair_probabilities(candidates, profit, others, 600)
        right = (candidates[np.arange(600), likely.argmax(axis=1)] == np.arange(600)).mean()
        claimed = likely[:, 0].mean()
        assert least <= claimed <= most
        assert abs(claimed - right) < 0.2


def test_pairs_that_mean_nothing_are_not_believed():
    U, _ = correlated(500, 0.9)
    _, V = correlated(500, 0.9, seed=1)
    candidates, profit, others = predict_pairs(U, V, np.arange(500), 8)
    assert pair_probabilities(candidates, profit, others, 500)[:, 0].mean() < 0.1


def test_rows_and_columns_sum_to_1_at_the_most():
    rng = np.random.default_rng(0)
    candidates = np.argsort(rng.normal(size=(50, 50)), axis=1)[:, :6].astype(np.int32)
    candidates[3, 2:] = -1
    likely = balance_candidates(candidates, rng.normal(size=(50, 6)), rng.normal(size=50), 50)
    assert (likely.sum(axis=1) <= 1 + 1e-9).all()
    matrix = as_sparse(candidates, likely, 50)
    assert matrix.shape == (50, 50)
    assert matrix.sum(axis=0).max() <= 1 + 1e-9
    assert likely[3, 2:].max() == 0.0


def test_known_pairs_have_probability_1_and_nobody_else_their_partners():
    candidates = np.array([[1, 0], [0, 1]], dtype=np.int32)
    likely = impose_anchors(candidates, np.full((2, 2), 0.5), (np.array([0]), np.array([1])))
    assert likely.tolist() == [[1.0, 0.0], [0.5, 0.0]]
