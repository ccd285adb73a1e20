"""The links of graphs of many nodes, and what degrees and kinds of links tell."""

import numpy as np
from scipy import sparse

from pairup.graph.links import (
    balance_ratios,
    compare_degrees,
    compare_kinds,
    compare_loops,
    count_links_kept,
    count_triangles,
    list_links,
)


def random_graph(rng, n=40, share=0.15, *, directed=False):
    A = (rng.random((n, n)) < share).astype(float)
    np.fill_diagonal(A, 0)
    return A if directed else np.triu(A) + np.triu(A).T


def test_ratios_have_means_of_one_over_rows_and_columns(rng):
    p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5))
    ratios = balance_ratios(rng.random((4, 5)) + 0.1, p, q)
    assert np.allclose(ratios @ q, 1.0)
    assert np.allclose(p @ ratios, 1.0)


def test_links_tell_directions_from_either_end(rng):
    A = random_graph(rng, directed=True)
    links = list_links(sparse.csr_array(A), directed=True, weighted=False)
    rows = np.repeat(np.arange(40), links.degrees)
    assert np.array_equal(links.kinds + 1, A[rows, links.nodes] + 2 * A[links.nodes, rows])
    assert np.array_equal(links.degrees, ((A + A.T) > 0).sum(axis=1))


def test_neighbours_are_ranked_by_their_degrees(rng):
    links = list_links(sparse.csr_array(random_graph(rng)), directed=False, weighted=False)
    for i in range(40):
        own = slice(links.starts[i], links.starts[i + 1])
        assert sorted(links.ranked[own]) == links.nodes[own].tolist()
        assert (np.diff(links.degrees[links.ranked[own]]) <= 0).all()


def test_units_of_weights_change_no_kind(rng):
    A = random_graph(rng) * (1 + rng.random())
    weights = np.triu(rng.random((40, 40)))
    A = sparse.csr_array(A * (weights + weights.T))
    one, other = (list_links(Z, directed=False, weighted=True) for Z in (A, 8.0 * A))
    assert np.array_equal(one.kinds, other.kinds)
    ratios = compare_kinds(one, other, weighted=True)
    assert ratios.shape == (8, 8)
    assert (abs(ratios.argmax(axis=1) - np.arange(8)) <= 1).all()


def test_like_degrees_belong_together_and_all_links_of_one_kind_are_alike(rng):
    links = list_links(sparse.csr_array(random_graph(rng)), directed=False, weighted=False)
    logs = compare_degrees(links.degrees, links.degrees, 0.8)
    assert logs[2, 2] > logs[2, 8]
    assert np.allclose(compare_kinds(links, links, weighted=False), 1.0)
    assert not compare_loops(links, links).any()


def test_self_loops_tell_nodes_apart():
    A = sparse.csr_array(np.eye(5) * [1, 0, 0, 0, 1] + np.roll(np.eye(5), 1, 0) + np.roll(np.eye(5), -1, 0))
    links = list_links(A, directed=False, weighted=False)
    logs = compare_loops(links, links)
    assert links.loops.tolist() == [1, 0, 0, 0, 1]
    assert logs[1, 1] > 0 > logs[0, 1]


def test_links_kept_are_those_of_the_product(rng):
    A, B = random_graph(rng), random_graph(rng)
    p = rng.permutation(40)
    p[:5] = -1
    a, b = (list_links(sparse.csr_array(Z), directed=False, weighted=False) for Z in (A, B))
    rows = np.flatnonzero(p >= 0)
    expected = (A[np.ix_(rows, rows)] * B[np.ix_(p[rows], p[rows])]).sum()
    assert count_links_kept(a.starts, a.nodes, b.starts, b.nodes, p) == expected


def test_triangles_are_counted_as_by_the_trace(rng):
    upper = np.triu(rng.random((50, 50)) < 0.2, 1)
    A = (upper | upper.T).astype(float)
    assert count_triangles(sparse.csr_array(A)) == round(np.trace(A @ A @ A) / 6)
