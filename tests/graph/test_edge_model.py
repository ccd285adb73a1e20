"""The edge model, against counts by hand."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.edge_model import OFFSET, PSEUDO, classify_pairs, fit_log_odds, list_steps


def draw(rng, n, share):
    upper = np.triu(rng.random((n, n)) < share, 1).astype(float)
    return upper + upper.T


def test_log_odds_are_those_of_the_counts(rng):
    n = 12
    A, B = draw(rng, n, 0.3), draw(rng, n, 0.3)
    p = rng.permutation(n)
    scores, log_odds = fit_log_odds(classify_pairs(sparse.csr_array(A)), B, p)
    i, k = np.triu_indices(n, 1)
    weights, edges = (A / A.sum(axis=1).clip(1) @ A)[i, k], B[p[i], p[k]]

    def odds(inside, group, most=1.0):
        of_all = min((edges[group].sum() + 0.5) / (group.sum() + 1), most)
        share = (edges[inside].sum() + PSEUDO * of_all) / (inside.sum() + PSEUDO)
        return np.log(share / (1 - share))

    linked, half, steps = A[i, k] == 1, 0.5, list_steps(int(A.sum()) // 2)
    unlinked = ~linked
    # pairs of a node with itself, without edges, count as half a pair each in the first class
    of_all = (edges[unlinked].sum() + 0.5) / (unlinked.sum() + n / 2 + 1)
    none = unlinked & (weights == 0)
    share = (edges[none].sum() + PSEUDO * of_all) / (none.sum() + n / 2 + PSEUDO)
    step = np.searchsorted(steps, weights[linked].max() * (1 + 1e-9), side="right")
    inside = linked & (np.searchsorted(steps, weights * (1 + 1e-9), side="right") == step)
    assert log_odds[OFFSET + step] == pytest.approx(odds(inside, linked, half) - np.log(share / (1 - share)))
    assert log_odds[0] == 0
    assert np.diag(scores).tolist() == [0.0] * n
    assert np.array_equal(scores, scores.T)


def test_common_neighbours_of_low_degree_count_more():
    star = np.zeros((40, 40))
    star[0, 1:] = star[1:, 0] = 1  # 1 and 2 share a hub
    path = np.zeros((40, 40))
    path[1, 0] = path[0, 1] = path[0, 2] = path[2, 0] = 1  # 1 and 2 share a node of degree two
    of_hub, of_path = (classify_pairs(sparse.csr_array(Z))[1, 2] for Z in (star, path))
    assert 0 < of_hub < of_path


def test_graphs_that_lose_no_edge_have_finite_odds(rng):
    A = draw(rng, 60, 0.2)
    _, log_odds = fit_log_odds(classify_pairs(sparse.csr_array(A)), A, np.arange(60))
    assert log_odds.max() - log_odds.min() < 30


def test_noise_between_common_neighbours_is_found(rng):
    n = 150
    A = np.triu(rng.random((n, n)) < 0.05, 1).astype(float)
    A += A.T
    common = np.triu((A @ A > 0) & (A == 0) & (rng.random((n, n)) < 0.2), 1)
    B = np.minimum(A + common + common.T, 1)
    _, log_odds = fit_log_odds(classify_pairs(sparse.csr_array(A)), B, np.arange(n))
    between = log_odds[1:OFFSET]
    linked = log_odds[OFFSET:]
    assert between[between != between.min()].max() > 2
    assert linked.max() > between.max() > 0
