"""Exchanges of blocks bring back what swaps alone cannot."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.blocks import exchange_blocks, find_losers
from pairup.graph.problem import GraphProblem, pad


def make_cliques(size=8, copies=2, tail=6):
    """Return two cliques, each at the end of a path of its own kind, so that only the paths tell them apart."""
    n = copies * size + tail
    A = np.zeros((n, n))
    for c in range(copies):
        A[c * size : (c + 1) * size, c * size : (c + 1) * size] = 1
    path = [0, *range(copies * size, n), size]
    A[path[:-1], path[1:]] = A[path[1:], path[:-1]] = 1
    A[1, n - tail] = A[n - tail, 1] = 1  # one end of the path hangs on two nodes
    np.fill_diagonal(A, 0)
    return sparse.csr_array(A)


@pytest.fixture
def padded():
    A = make_cliques()
    return pad(GraphProblem.check(A, A))


def exchanged(n):
    p = np.arange(n)
    p[:8], p[8:16] = np.arange(8, 16), np.arange(8)
    return p


def test_two_cliques_that_stand_in_each_others_place_return(padded):
    p = exchanged(22)
    free = np.zeros(22, dtype=bool)
    lost = padded.value(np.arange(22)) - padded.value(p)
    assert lost > 0
    better = exchange_blocks(padded.terms(), p, free, seed=0)
    assert padded.value(better) == padded.value(np.arange(22))
    assert sorted(better) == list(range(22))


def test_known_pairs_stay_and_nothing_gets_worse(padded):
    rng = np.random.default_rng(0)
    for seed in range(5):
        p = rng.permutation(22)
        fixed = rng.random(22) < 0.3
        better = exchange_blocks(padded.terms(), p, fixed, seed=seed)
        assert np.array_equal(better[fixed], p[fixed])
        assert padded.value(better) >= padded.value(p)


def test_a_matching_that_keeps_all_edges_is_left_alone(padded):
    p = np.arange(22)
    assert not len(find_losers(padded.terms(), p))
    assert exchange_blocks(padded.terms(), p, np.zeros(22, dtype=bool), seed=0) is p


def test_losers_are_the_ends_of_lost_edges_and_their_neighbours():
    chain = sparse.csr_array(np.eye(8, k=1) + np.eye(8, k=-1))
    terms = pad(GraphProblem.check(chain, chain)).terms()
    p = np.arange(8)
    p[[6, 7]] = 7, 6  # the edge of 5 and 6 is lost
    assert find_losers(terms, p).tolist() == [4, 5, 6, 7]
