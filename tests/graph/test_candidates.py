"""Candidates of many nodes."""

import numpy as np
from scipy import sparse

from pairup.constraints import NO_ANCHORS
from pairup.graph.candidates import Candidates, gather_candidates, limit, propose
from pairup.graph.links import list_links


def ring(n):
    A = sparse.csr_array(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0))
    return list_links(A, directed=False, weighted=False)


def test_each_partner_is_chosen_once_by_the_likeliest():
    candidates = Candidates(np.array([[0], [0], [2], [-1]], dtype=np.int32), np.array([[0.4], [0.6], [0.1], [0.0]]))
    assert candidates.choose(3).tolist() == [-1, 0, 2, -1]


def test_neighbours_of_likely_partners_are_proposed():
    a = ring(12)
    partners = np.full((12, 1), -1, dtype=np.int32)
    likely = np.zeros((12, 1))
    partners[3], likely[3] = 7, 0.9
    proposed, places = propose(a, a, Candidates(partners, likely), limit(12, 12, NO_ANCHORS, NO_ANCHORS))
    assert set(proposed[2][proposed[2] >= 0]) == {6, 8}
    assert set(proposed[4][proposed[4] >= 0]) == {6, 8}
    assert (proposed[3, 0], places[3, 0]) == (7, 0)
    assert (proposed[8] < 0).all()


def test_known_and_forbidden_pairs_bind_candidates():
    a = ring(12)
    partners = np.full((12, 1), -1, dtype=np.int32)
    likely = np.zeros((12, 1))
    partners[3], likely[3] = 7, 0.9
    known = np.array([2]), np.array([5])
    forbidden = np.array([4, 4]), np.array([6, 1])
    proposed, _ = propose(a, a, Candidates(partners, likely), limit(12, 12, known, forbidden))
    assert proposed[2][proposed[2] >= 0].tolist() == [5]
    assert proposed[4][proposed[4] >= 0].tolist() == [8]
    assert not (np.delete(proposed, 2, axis=0) == 5).any()


def test_pairs_are_gathered_once_and_within_limits():
    limits = limit(3, 4, (np.array([0]), np.array([2])), (np.array([1]), np.array([3])))
    rows, columns = np.array([0, 0, 1, 1, 1, 2]), np.array([1, 2, 0, 0, 3, 2])
    partners, logs = gather_candidates(3, rows, columns, np.array([9.0, 1.0, 2.0, 5.0, 7.0, 3.0]), limits)
    assert partners.tolist() == [[2], [0], [-1]]
    assert logs[:, 0].tolist() == [1.0, 5.0, -np.inf]
