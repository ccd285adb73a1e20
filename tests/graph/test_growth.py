"""Candidates that grow."""

import numpy as np
from scipy import sparse

from pairup.constraints import NO_ANCHORS
from pairup.graph.candidates import limit
from pairup.graph.growth import Hints, add_hints, free_shares, grow, hold_seeds, weigh_evidence
from pairup.graph.links import list_links


def test_a_graph_grows_together_with_itself(rng):
    n = 500
    upper = np.triu(rng.random((n, n)) < 6 / n, 1)
    order = rng.permutation(n)
    A = sparse.csr_array((upper | upper.T).astype(float))
    a, b = (list_links(Z, directed=False, weighted=False) for Z in (A, A[order][:, order]))
    nobody = np.empty(0, dtype=np.intp)
    history = []
    steps = grow(
        a, b, weigh_evidence(a, b, 0.8, weighted=False), limit(n, n, NO_ANCHORS, NO_ANCHORS),
        Hints(nobody, nobody, np.empty(0)), 0.0, history,
    )  # fmt: skip
    *_, last = steps
    assert history[-1] is last
    assert (order[last.indices] == np.arange(n))[last.indices >= 0].mean() > 0.97
    assert last.value <= A.nnz / 2


def test_hints_are_added_to_their_pairs_alone():
    partners = np.array([[2, 1], [0, -1]], dtype=np.int32)
    added = add_hints(partners, np.array([1, 2, 3]), np.array([5.0, 6.0, 7.0]), 3)
    assert added.tolist() == [[6.0, 5.0], [7.0, 0.0]]
    assert not add_hints(partners, np.array([], dtype=int), np.array([]), 3).any()


def test_first_candidates_are_lifted_to_what_the_trees_said():
    partners, seeds = np.array([[2, 1]], dtype=np.int32), np.array([[1, -1]], dtype=np.int32)
    lifted = hold_seeds(partners, np.array([[1.0, 2.0]]), seeds, np.array([[7.0, -np.inf]]))
    assert lifted.tolist() == [[0.0, 5.0]]


def test_what_is_left_is_free():
    rows, columns = free_shares(np.array([[0, 1], [1, -1]]), np.array([[0.5, 0.25], [0.5, 0.0]]), 3)
    assert rows.tolist() == [0.25, 0.5]
    assert columns.tolist() == [0.5, 0.25, 1.0]
