"""Unrelated graphs of the same degrees, without a matrix of all pairs."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.links import count_triangles
from pairup.graph.rewiring import rewire_sparsely


@pytest.mark.parametrize("directed", [False, True])
def test_rewiring_keeps_degrees_and_loops_and_changes_edges(rng, directed):
    n = 60
    A = (rng.random((n, n)) < 0.1).astype(float)
    if not directed:
        A = np.triu(A) + np.triu(A, 1).T
    other = rewire_sparsely(sparse.csr_array(A), directed=directed, seed=0).toarray()
    assert np.array_equal(other.sum(axis=0), A.sum(axis=0))
    assert np.array_equal(other.sum(axis=1), A.sum(axis=1))
    assert np.array_equal(np.diag(other), np.diag(A))
    assert other.max() == 1
    assert np.array_equal(other, other.T) != directed
    assert (other * A).sum() < 0.4 * A.sum()


def test_a_clustered_graph_gets_back_its_triangles(rng):
    points = rng.random((120, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    A = sparse.csr_array(((distances < 0.15) & (distances > 0)).astype(float))
    other = rewire_sparsely(A, directed=False, seed=0)
    assert np.array_equal(other.sum(axis=0), A.sum(axis=0))
    assert (other != other.T).nnz == 0
    assert not other.diagonal().any()
    assert other.max() == 1
    assert 0.6 * count_triangles(A) < count_triangles(other) < 1.3 * count_triangles(A)
    assert other.multiply(A).sum() < 0.4 * A.sum()
