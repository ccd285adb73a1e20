"""Unrelated graphs of the same degrees."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.null_model import rewire, shuffle_weights


@pytest.mark.parametrize("directed", [False, True])
def test_rewiring_keeps_degrees_and_loops_and_changes_edges(rng, directed):
    n = 60
    A = (rng.random((n, n)) < 0.1).astype(float)
    if not directed:
        A = np.triu(A) + np.triu(A, 1).T
    other = rewire(sparse.csr_array(A), directed=directed, seed=0).toarray()
    assert np.array_equal(other.sum(axis=0), A.sum(axis=0))
    assert np.array_equal(other.sum(axis=1), A.sum(axis=1))
    assert np.array_equal(np.diag(other), np.diag(A))
    assert other.max() == 1
    assert np.array_equal(other, other.T) != directed
    assert (other * A).sum() < 0.4 * A.sum()


def test_a_star_cannot_be_rewired():
    A = np.zeros((5, 5))
    A[0, 1:] = A[1:, 0] = 1
    assert np.array_equal(rewire(sparse.csr_array(A), directed=False, seed=0).toarray(), A)


def test_a_clustered_graph_gets_back_its_triangles(rng):
    points = rng.random((120, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    A = ((distances < 0.15) & (distances > 0)).astype(float)
    other = rewire(sparse.csr_array(A), directed=False, seed=0).toarray()
    before, after = (np.trace(Z @ Z @ Z) / 6 for Z in (A, other))
    assert np.array_equal(other.sum(axis=0), A.sum(axis=0))
    assert np.array_equal(other, other.T)
    assert not np.diag(other).any()
    assert 0.7 * before < after < 1.3 * before
    assert (other * A).sum() < 0.4 * A.sum()


@pytest.mark.parametrize("directed", [False, True])
def test_weights_of_a_complete_graph_are_shuffled_but_for_the_numbers_of_nodes(rng, directed):
    n = 40
    u, v = np.nonzero(~np.eye(n, dtype=bool)) if directed else np.triu_indices(n, 1)
    effects, noise = rng.normal(size=n), 0.3 * rng.normal(size=len(u))
    sums = effects[u] + (-effects[v] if directed else effects[v])
    shuffled = shuffle_weights(u, v, sums + noise, n, directed=directed, seed=0)
    assert np.corrcoef(shuffled, sums)[0, 1] > 0.9
    assert abs(np.corrcoef(shuffled - sums, noise)[0, 1]) < 0.3
    assert np.isclose(np.std(shuffled), np.std(sums + noise), rtol=0.1)
