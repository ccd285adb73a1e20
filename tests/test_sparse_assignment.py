"""Assignment among a few candidates."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from pairup.sparse_assignment import assign_sparse


def candidates_of(G, k):
    candidates = np.argsort(-G, axis=1)[:, :k].astype(np.int32)
    return candidates, np.take_along_axis(G, candidates, axis=1).astype(np.float32)


def test_it_comes_close_to_the_best_assignment_where_all_columns_are_candidates():
    rng = np.random.default_rng(0)
    for n, m in ((30, 30), (20, 50)):
        G = rng.normal(size=(n, m))
        indices = assign_sparse(*candidates_of(G, m), m, increment=1e-5)
        rows, columns = linear_sum_assignment(G, maximize=True)
        assert len(set(indices.tolist())) == n
        assert G[np.arange(n), indices].sum() >= G[rows, columns].sum() - 1e-2


def test_every_partner_is_a_candidate_and_has_one_owner():
    rng = np.random.default_rng(1)
    candidates, profit = candidates_of(rng.normal(size=(200, 200)), 5)
    indices = assign_sparse(candidates, profit, 200)
    matched = np.flatnonzero(indices >= 0)
    assert (candidates[matched] == indices[matched, None]).any(axis=1).all()
    assert len(np.unique(indices[matched])) == len(matched) > 150


def test_objects_that_all_want_one_partner_stay_alone_but_for_one():
    candidates = np.zeros((6, 1), dtype=np.int32)
    profit = np.arange(6, dtype=np.float32)[:, None]
    indices = assign_sparse(candidates, profit, 3)
    assert (indices >= 0).sum() == 1
    assert indices[5] == 0


def test_no_candidates_and_equal_profits_end():
    nobody = np.full((3, 2), -1, dtype=np.int32)
    assert assign_sparse(nobody, np.zeros((3, 2), dtype=np.float32), 4).tolist() == [-1] * 3
    assert assign_sparse(np.empty((0, 2), dtype=np.int32), np.empty((0, 2), dtype=np.float32), 4).tolist() == []
    candidates = np.tile(np.arange(4, dtype=np.int32), (4, 1))
    equal = assign_sparse(candidates, np.ones((4, 4), dtype=np.float32), 4)
    assert sorted(equal.tolist()) == [0, 1, 2, 3]
