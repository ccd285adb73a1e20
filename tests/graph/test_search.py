"""Annealing from starts, and by the fitted edge model."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.problem import GraphProblem, pad
from pairup.graph.search import count_swaps, edge_log_odds, refine, search, weight_log_odds


def drain(steps):
    """Return what a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def make_padded(rng, n=40, **options):
    upper = np.triu(rng.random((n, n)) < 0.15, 1)
    A = sparse.csr_array((upper | upper.T).astype(float))
    return pad(GraphProblem.check(A, A, **options))


def test_the_best_of_all_starts_is_returned_and_none_gets_worse(rng):
    padded = make_padded(rng)
    history = []
    best = drain(search(padded, [rng.permutation(40), np.arange(40)], 0, history))
    assert len(history) == 2
    assert padded.value(best) == max(step.value for step in history) == padded.A.nnz / 2


def test_the_log_odds_are_those_of_the_table_of_pairs(rng):
    padded = make_padded(rng)
    edges, pairs = padded.A.nnz / 2, 40 * 39 / 2
    expected = np.log((edges + 0.5) * (pairs - edges + 0.5) / 0.25)
    assert np.isclose(edge_log_odds(padded, np.arange(40)), expected)


def test_the_edge_model_keeps_known_and_forbidden_pairs(rng):
    padded = make_padded(rng, anchors=[(3, 4)], forbidden=[(5, 5)])
    _, p = refine(padded, padded.constraints.impose_anchors(np.arange(40)[::-1].copy()), 0)
    assert p[3] == 4
    assert p[5] != 5


def test_long_searches_are_cut():
    assert count_swaps(10**6) == count_swaps(10**7)
    assert count_swaps(10) < count_swaps(20)


def test_the_log_odds_of_weights_are_those_of_normal_ones(rng):
    n = 60
    noise = [np.triu(rng.normal(size=(n, n)), 1) for _ in range(3)]
    A, B = (sparse.csr_array(0.8 * noise[0] + 0.6 * Z + (0.8 * noise[0] + 0.6 * Z).T) for Z in noise[1:])
    padded = pad(GraphProblem.check(A, B))
    rho = np.corrcoef(*(Z.toarray()[np.triu_indices(n, 1)] for Z in (A, B)))[0, 1]
    assert weight_log_odds(padded, np.arange(n)) == pytest.approx(rho / (1 - rho**2), rel=0.01)
    assert weight_log_odds(padded, rng.permutation(n)) < 0.2
