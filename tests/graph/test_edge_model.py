"""The edge model, against counts by hand."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.edge_model import COMMON, PSEUDO, classify_pairs, fit_log_odds


def test_log_odds_are_those_of_the_counts(rng):
    n = 12
    A = np.triu(rng.random((n, n)) < 0.3, 1).astype(float)
    A += A.T
    B = np.triu(rng.random((n, n)) < 0.3, 1).astype(float)
    B += B.T
    p = rng.permutation(n)
    classes = classify_pairs(sparse.csr_array(A))
    np.fill_diagonal(classes, 0)
    scores, log_odds = fit_log_odds(classes, B, p)
    i, k = np.triu_indices(n, 1)
    in_class = (A[i, k] == 1) & ((A @ A)[i, k] == 1)
    edges = B[p[i], p[k]][in_class].sum()
    expected = np.log((edges + PSEUDO) / (in_class.sum() - edges + PSEUDO))
    unlinked = (A[i, k] == 0) & ((A @ A)[i, k] == 0)
    none = B[p[i], p[k]][unlinked].sum()
    # the diagonal, without edges, counts as half a pair per node in the first class
    reference = np.log((none + PSEUDO) / (unlinked.sum() + n / 2 - none + PSEUDO))
    assert log_odds[len(COMMON) + 1] == pytest.approx(expected - reference)
    assert log_odds[0] == 0
    assert np.diag(scores).tolist() == [0.0] * n
    assert np.array_equal(scores, scores.T)


def test_noise_between_common_neighbours_is_found(rng):
    n = 150
    A = np.triu(rng.random((n, n)) < 0.05, 1).astype(float)
    A += A.T
    common = np.triu((A @ A > 0) & (A == 0) & (rng.random((n, n)) < 0.2), 1)
    B = np.minimum(A + common + common.T, 1)
    _, log_odds = fit_log_odds(classify_pairs(sparse.csr_array(A)), B, np.arange(n))
    assert log_odds[1] > 3
    assert log_odds[len(COMMON)] > log_odds[1]
