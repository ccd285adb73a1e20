"""Swaps change the energy as they say, and sampling is exact."""

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.problem import NOTHING
from pairup.graph.swaps import Terms, _half, anneal_swaps, list_neighbours, sample_swaps


def draw(rng, n, *, directed):
    Z = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4)
    return Z if directed else np.triu(Z) + np.triu(Z, 1).T


@pytest.mark.parametrize("directed", [False, True])
def test_the_change_of_a_swap_is_that_of_the_quadratic_form(rng, directed):
    n = 9
    A, B = (draw(rng, n, directed=directed) for _ in range(2))
    lists = list_neighbours(sparse.csr_array(A), directed=directed)
    M = B.astype(np.float32)
    half = 1.0 if directed else 0.5

    def energy(p):
        off = A - np.diag(np.diag(A))
        return half * (off * B[np.ix_(p, p)]).sum() + np.diag(A) @ np.diag(B)[p]

    for _ in range(30):
        p = rng.permutation(n)
        i, k = rng.choice(n, 2, replace=False)
        other = p.copy()
        other[[i, k]] = p[[k, i]]
        assert _half(int(i), int(k), p.astype(np.int64), lists, M) == pytest.approx(energy(other) - energy(p), abs=1e-4)


def test_sampled_shares_are_those_of_all_permutations(rng):
    n = 5
    A, B = (np.triu(rng.random((n, n)) < 0.5, 1).astype(float) for _ in range(2))
    A, B = A + A.T, B + B.T
    a, b = (list_neighbours(sparse.csr_array(Z), directed=False) for Z in (A, B))
    S = rng.normal(size=(n, n)).astype(np.float32)
    exact, total = np.zeros((n, n)), 0.0
    for p in permutations(range(n)):
        weight = np.exp(0.5 * (A * B[np.ix_(p, p)]).sum() + S[range(n), p].sum())
        exact[range(n), p] += weight
        total += weight
    terms = Terms(a, b, B.astype(np.float32), NOTHING, S)
    shares = sample_swaps(terms, np.arange(n), np.zeros(n, bool), steps=2_000_000, samples=200_000, seed=0)
    assert np.abs(shares - exact / total).max() < 0.01


def test_annealing_finds_the_best_of_all_permutations_and_keeps_known_pairs(rng):
    n = 6
    A, B = (draw(rng, n, directed=True) for _ in range(2))
    a, b = (list_neighbours(sparse.csr_array(Z), directed=True) for Z in (A, B))
    terms = Terms(a, b, B.astype(np.float32), NOTHING, NOTHING)
    values = {p: (A * B[np.ix_(p, p)]).sum() for p in permutations(range(n))}
    p = anneal_swaps(terms, np.arange(n), np.zeros(n, bool), hot=3.0, cold=0.05, steps=200_000, seed=1)
    assert values[tuple(p)] == pytest.approx(max(values.values()))
    fixed = np.zeros(n, bool)
    fixed[2] = True
    p = anneal_swaps(terms, np.arange(n), fixed, hot=3.0, cold=0.05, steps=200_000, seed=1)
    assert p[2] == 2
    assert values[tuple(p)] == pytest.approx(max(value for q, value in values.items() if q[2] == 2))
