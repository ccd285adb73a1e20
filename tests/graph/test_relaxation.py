"""The path from the convex relaxation to a matching."""

import numpy as np
from scipy import sparse

from pairup.constraints import Constraints
from pairup.graph.relaxation import follow_path, follow_plans, residual


def draw(rng, n):
    A = np.triu(rng.random((n, n)) < 0.2, 1).astype(float)
    return A + A.T


def test_the_residual_is_that_of_dense_matrices(rng):
    A, B, P = rng.normal(size=(5, 5)), rng.normal(size=(5, 5)), rng.random((5, 5)).astype(np.float32)
    R = residual(sparse.csr_array(A.astype(np.float32)), sparse.csr_array(B.T.astype(np.float32)), P)
    assert np.allclose(R, A @ P - P @ B, atol=1e-5)


def test_a_shuffled_graph_is_found_and_known_pairs_are_kept(rng):
    n = 40
    A = draw(rng, n)
    order = rng.permutation(n)
    B = A[np.ix_(order, order)]
    *_, p = follow_path(sparse.csr_array(A), sparse.csr_array(B), Constraints(n, n, n))
    assert (A * B[np.ix_(p, p)]).sum() == A.sum()
    wrong = Constraints(n, n, n, (np.array([0]), np.array([int(order[0] == 0)])))
    *_, p = follow_path(sparse.csr_array(A), sparse.csr_array(B), wrong)
    assert p[0] == int(order[0] == 0)


def test_plans_are_doubly_stochastic_and_the_first_solves_the_convex_problem(rng):
    n = 20
    A = draw(rng, n)
    order = rng.permutation(n)
    B = A[np.ix_(order, order)]
    (plan,) = follow_plans(sparse.csr_array(A), sparse.csr_array(B), Constraints(n, n, n), pulls=(0.0,))
    assert np.allclose(plan.sum(axis=0), 1, atol=1e-4)
    assert np.allclose(plan.sum(axis=1), 1, atol=1e-4)
    uniform = np.full((n, n), 1 / n)
    assert np.linalg.norm(A @ plan - plan @ B) < 0.5 * np.linalg.norm(A @ uniform - uniform @ B)
