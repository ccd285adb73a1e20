"""Trees around nodes of high degree."""

from itertools import permutations

import numpy as np
from scipy import sparse

from pairup.graph.growth import weigh_evidence
from pairup.graph.links import list_links
from pairup.graph.trees import _sum_matchings, compare_hubs, sum_uniform


def by_brute_force(V):
    """Return the sum over all partial matchings of rows and columns."""
    d, e = V.shape
    total = 0.0
    for size in range(min(d, e) + 1):
        for rows in permutations(range(d), size):
            if list(rows) == sorted(rows):
                for columns in permutations(range(e), size):
                    total += np.prod(V[list(rows), list(columns)])
    return total


def bethe(V):
    d, e = V.shape
    return float(np.exp(_sum_matchings(V, d, e, np.empty((d, e)), np.empty((d, e)))))


def test_sums_over_matchings_are_exact_where_pairs_form_a_tree(rng):
    for shape in ((1, 4), (5, 1)):
        V = rng.random(shape) * 10
        assert np.isclose(bethe(V), 1 + V.sum())
        assert np.isclose(bethe(V), by_brute_force(V))
    V = np.array([[3.0, 2.0], [0.0, 5.0]])
    assert np.isclose(bethe(V), by_brute_force(V))


def test_sums_over_matchings_are_near_elsewhere(rng):
    for _ in range(10):
        V = np.exp(2 * rng.normal(size=(3, 4)))
        assert 0.5 < bethe(V) / by_brute_force(V) < 1.5


def test_sums_of_equal_branches(rng):
    sums = sum_uniform(3.0, 5)
    assert np.allclose(sums[1], np.log1p(3.0 * np.arange(6)))
    assert np.allclose(sums, sums.T)
    assert not sums[0].any()


def test_hubs_of_a_graph_are_likest_to_themselves(rng):
    n = 400
    upper = np.triu(rng.random((n, n)) < 5 / n, 1)
    order = rng.permutation(n)
    A = sparse.csr_array((upper | upper.T).astype(float))
    a, b = (list_links(Z, directed=False, weighted=False) for Z in (A, A[order][:, order]))
    evidence = weigh_evidence(a, b, 0.8, weighted=False)
    hubs, partners, ratios = compare_hubs(a, b, evidence.degrees, evidence.branches, evidence.kinds, evidence.weight)
    best = np.argsort(-ratios.max(axis=1))[:30]
    found = partners[best, ratios[best].argmax(axis=1)]
    assert (order[found] == hubs[best]).mean() > 0.9
