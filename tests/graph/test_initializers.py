"""Where the search starts."""

import numpy as np
from scipy import sparse

from pairup.graph import initializers
from pairup.graph.initializers import message_starts, relaxed_starts
from pairup.graph.problem import GraphProblem, pad
from pairup.graph.schedule import Schedule


def shuffled(rng, n=60, degree=4):
    upper = np.triu(rng.random((n, n)) < degree / n, 1)
    A = sparse.csr_array((upper | upper.T).astype(float))
    order = rng.permutation(n)
    return A, sparse.csr_array(A[order][:, order]), np.argsort(order)


def test_every_start_is_a_matching_that_keeps_known_and_forbidden_pairs(rng):
    A, B, truth = shuffled(rng)
    wrong = [(i, int(truth[i])) for i in range(5)]
    padded = pad(GraphProblem.check(A, B, anchors=[(7, int(truth[7]))], forbidden=wrong))
    for p in (*relaxed_starts(padded), *message_starts(padded)):
        assert sorted(p) == list(range(60))
        assert p[7] == truth[7]
        assert not padded.constraints.breaks(p)


def test_messages_find_a_sparse_graph_again(rng):
    A, B, truth = shuffled(rng)
    (p,) = message_starts(pad(GraphProblem.check(A, B)))
    connected = np.diff(A.indptr) > 1
    assert (p == truth)[connected].mean() > 0.8


def test_many_nodes_start_from_their_degrees(rng, monkeypatch):
    monkeypatch.setattr(initializers, "SCHEDULE", Schedule(path_up_to=10))
    A, B, _ = shuffled(rng)
    (p,) = relaxed_starts(pad(GraphProblem.check(A, B)))
    assert np.array_equal(np.diff(A.indptr), np.diff(B.indptr)[p])
