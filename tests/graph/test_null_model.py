"""Unrelated graphs of the same degrees."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.null_model import rewire


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
