"""Probabilities of pairs of many objects."""

import numpy as np

from pairup.auto.posterior import (
    as_sparse,
    balance_candidates,
    calibrate_pairs,
    expected_nearness,
    impose_anchors,
    pair_probabilities,
    predict_pairs,
)


def correlated(n, rho, seed=0):
    rng = np.random.default_rng(seed)
    a, noise = rng.normal(size=(2, n, 8))
    return a.astype(np.float32), (a * rho + noise * np.sqrt(1 - rho**2)).astype(np.float32)


def test_probabilities_are_as_sharp_as_held_out_pairs_allow():
    for rho, least, most in ((0.999, 0.9, 1.0), (0.8, 0.02, 0.5)):
        U, V = correlated(600, rho)
        candidates, profit, others, _ = predict_pairs(U, V, np.arange(600), 8)
        likely = pair_probabilities(candidates, profit, others, 600)
        right = (candidates[np.arange(600), likely.argmax(axis=1)] == np.arange(600)).mean()
        claimed = likely[:, 0].mean()
        assert least <= claimed <= most
        assert abs(claimed - right) < 0.2


def test_pairs_that_mean_nothing_are_not_believed():
    U, _ = correlated(500, 0.9)
    _, V = correlated(500, 0.9, seed=1)
    candidates, profit, others, _ = predict_pairs(U, V, np.arange(500), 8)
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


def test_nearness_is_the_share_of_y_between_partners_and_what_they_may_be():
    Y = np.arange(1000.0)[:, None]
    candidates = np.stack([np.arange(1000), np.minimum(np.arange(1000) + 5, 999)], axis=1).astype(np.int32)
    sure, either = np.tile([1.0, 0.0], (1000, 1)), np.tile([0.5, 0.5], (1000, 1))
    assert expected_nearness(Y, candidates, sure) == 0.0
    assert 0.004 < expected_nearness(Y, candidates, either) < 0.006
    assert expected_nearness(Y, candidates, 0.0 * sure) == 0.5
    assert expected_nearness(Y, np.full((1000, 2), -1, dtype=np.int32), sure) == 0.5


def test_what_partners_gain_their_rivals_lose():
    candidates = np.array([[0, 1], [1, 0], [-1, 2]], dtype=np.int32)
    likely = np.array([[0.6, 0.3], [0.6, 0.3], [0.0, 0.5]])
    much, little = (calibrate_pairs(candidates, likely, evidence, 3) for evidence in (np.ones(2), np.zeros(2)))
    for found in (much, little):
        assert found.sum(axis=1).max() <= 1
        assert np.bincount(np.maximum(candidates, 0).ravel(), found.ravel()).max() <= 1 + 1e-9
        assert found[2, 0] == 0.0
    assert (much[:2, 0] > likely[:2, 0]).all()
    assert (much[:2, 1] < likely[:2, 1]).all()
    assert (little[:2] < likely[:2]).all()
