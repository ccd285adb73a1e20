"""What is a graph, and what is said of what is none."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.adjacency import check_graph, check_graphs, is_graph, is_networkx, link_both_ways

RING = sparse.csr_array(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))


def test_square_sparse_matrices_are_graphs_and_dense_ones_are_tables():
    assert is_graph(RING)
    assert is_graph(sparse.coo_matrix(RING))
    assert not is_graph(RING.toarray())
    assert not is_graph(RING[:4])
    assert not is_networkx(RING)


def test_networkx_graphs_keep_names_weights_and_loops():
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_edge("a", "b", weight=2.0)
    G.add_edge("b", "c")
    G.add_edge("c", "c", weight=5.0)
    G.add_node("alone")
    graph = check_graph(G, "X")
    assert graph.names == ["a", "b", "c", "alone"]
    expected = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 5, 0], [0, 0, 0, 0]])
    assert np.array_equal(graph.adjacency.toarray(), expected)
    assert (graph.n_edges, graph.is_directed, graph.is_weighted) == (3, False, True)


def test_parallel_edges_of_a_multigraph_add_up():
    networkx = pytest.importorskip("networkx")
    G = networkx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert check_graph(G, "X").adjacency.toarray()[0, 1] == 2


def test_directed_graphs_of_networkx_stay_directed():
    networkx = pytest.importorskip("networkx")
    graph = check_graph(networkx.DiGraph([(0, 1), (1, 2)]), "X")
    assert graph.is_directed
    assert graph.n_edges == 2


def test_explicit_zeros_are_no_edges_and_negative_weights_are_kept():
    matrix = sparse.csr_array((np.array([0.0, -1.0, -1.0]), ([0, 1, 2], [1, 2, 1])), shape=(3, 3))
    graph = check_graph(matrix, "X")
    assert graph.n_edges == 1
    assert graph.adjacency.data.tolist() == [-1.0, -1.0]
    assert matrix.nnz == 3, "the matrix of the caller is left alone"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(value):
    matrix = RING.copy()
    matrix.data[0] = value
    with pytest.raises(ValueError, match=f"X has an edge of weight {value}, from node 0 to node .; drop such edges"):
        check_graphs(matrix, RING)


def test_other_wrong_graphs_are_refused():
    with pytest.raises(ValueError, match=r"X is a graph and Y is a table; pass two graphs .*csr_array"):
        check_graphs(RING, RING.toarray())
    with pytest.raises(ValueError, match="Y is a graph and X is a table"):
        check_graphs(np.ones((6, 2)), RING)
    with pytest.raises(ValueError, match=r"Y is a sparse matrix of shape \(4, 6\), which is not square"):
        check_graphs(RING, RING[:4])
    with pytest.raises(ValueError, match=r"X is directed and Y is not; .* make X undirected"):
        check_graphs(sparse.csr_array(np.triu(RING.toarray())), RING)
    with pytest.raises(ValueError, match="X has no nodes"):
        check_graphs(sparse.csr_array((0, 0)), RING)
    with pytest.raises(ValueError, match="edges of type complex128; pass real numbers"):
        check_graphs(RING * 1j, RING)


def test_a_weight_of_networkx_that_is_no_number_is_refused():
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_edge("a", "b", weight="heavy")
    with pytest.raises(ValueError, match="edge of weight 'heavy', from node 'a' to node 'b'"):
        check_graph(G, "X")


def test_links_lose_directions_weights_and_loops():
    A = sparse.csr_array(np.diag(np.full(4, 3.0), 1) + np.eye(5))
    assert np.array_equal(link_both_ways(A).toarray(), np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
