"""Messages of sparse graphs."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import sparse

from pairup.assignment import assign
from pairup.graph.messages import _choose_columns, _sum_matchings, balance, cost, pass_messages, reverse_edges


def test_the_sum_over_partial_matchings_is_that_of_all_of_them(rng):
    W, sums = rng.random((5, 4)), np.empty(64)
    total = 0.0
    rows, columns = [0, 1, 3, 4], range(4)  # without row 2
    for size in range(5):
        for chosen in combinations(rows, size):
            for partners in permutations(columns, size):
                total += np.prod(W[list(chosen), list(partners)])
    assert _sum_matchings(W, 5, 4, 2, sums) == pytest.approx(total)


def test_nodes_of_many_branches_keep_the_likeliest(rng):
    W, places = rng.random((9, 9)), np.empty(9, dtype=np.int64)
    W[:, [2, 5]] = 0.0
    assert _choose_columns(W, 9, 9, places) == 7
    assert sorted(places[[0, 1, 3, 4, 6, 7, 8]]) == list(range(7))
    assert places[[2, 5]].tolist() == [-1, -1]


def test_reverse_edges_lead_back(rng):
    A = np.triu(rng.random((9, 9)) < 0.4, 1).astype(float)
    A = sparse.csr_array(A + A.T)
    A.sort_indices()
    starts, reverse = reverse_edges(A)
    rows = np.repeat(np.arange(9), np.diff(starts))
    assert np.array_equal(rows[reverse], A.indices)
    assert np.array_equal(A.indices[reverse], rows)


def test_balanced_messages_have_mean_one(rng):
    messages = rng.random((6, 8)).astype(np.float32) + 0.1
    balance(messages, sweeps=30)
    assert np.allclose(messages.mean(axis=0), 1, atol=1e-4)
    assert np.allclose(messages.mean(axis=1), 1, atol=1e-4)


def test_messages_find_the_nodes_of_a_sparse_graph_again(rng):
    n = 120
    A = np.triu(rng.random((n, n)) < 3 / n, 1)
    order = rng.permutation(n)
    A = sparse.csr_array((A + A.T).astype(float))
    B = sparse.csr_array(A.toarray()[np.ix_(order, order)])
    for Z in (A, B):
        Z.sort_indices()
    *_, ratios = pass_messages(A, B, shared=0.8, rounds=9)
    right = order[assign(ratios)] == np.arange(n)
    assert right[np.diff(A.indptr) > 1].mean() > 0.7
    assert cost(A, B) < cost(B + B @ B, B)
