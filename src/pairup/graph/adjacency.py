"""Graphs, however they are given: checked, and as sparse adjacency matrices of one size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pairup.result import plain_names
from pairup.types import Array

DENSE = "scipy.sparse.csr_array(…)"  # how a dense adjacency matrix is passed as a graph


@dataclass(frozen=True, eq=False)
class Graph:
    """One graph.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Weights of the edges; self-loops on the diagonal.
    names : list
        Names of the nodes; their numbers where they have none.
    """

    adjacency: Any
    names: list[Any]

    def __len__(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def is_directed(self) -> bool:
        """Whether an edge may lead in one direction only."""
        return bool((abs(self.adjacency - self.adjacency.T) > 1e-12 * np.abs(self.adjacency.data).max(initial=0)).nnz)

    @property
    def is_weighted(self) -> bool:
        """Whether edges differ in weight."""
        weights = self.adjacency.data
        return bool(weights.size and np.ptp(weights) > 1e-12 * np.abs(weights).max())

    @property
    def n_edges(self) -> int:
        """How many edges there are, an undirected one counted once."""
        loops = int((self.adjacency.diagonal() != 0).sum())
        stored = int(self.adjacency.nnz)
        return stored if self.is_directed else (stored - loops) // 2 + loops

    def pad(self, size: int) -> Any:
        """Return the adjacency matrix with isolated nodes appended.

        Parameters
        ----------
        size : int
            Number of nodes in the end.

        Returns
        -------
        scipy.sparse.csr_array of shape (size, size)
            The larger matrix.

        Examples
        --------
        >>> Graph(sparse.csr_array(np.eye(2)), [0, 1]).pad(3).shape
        (3, 3)
        """
        larger = self.adjacency.tocoo()
        return sparse.csr_array((larger.data, (larger.row, larger.col)), shape=(size, size))


def is_networkx(Z: Any) -> bool:
    """Tell whether an object is a graph of networkx, without importing networkx.

    Parameters
    ----------
    Z : object
        Anything.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> is_networkx([1, 2])
    False
    """
    own = any(cls.__module__.partition(".")[0] == "networkx" for cls in type(Z).__mro__)
    return own and hasattr(Z, "is_directed") and hasattr(Z, "nodes")


def is_graph(Z: Any) -> bool:
    """Tell whether an object is a graph: one of networkx, or a square sparse matrix.

    Parameters
    ----------
    Z : object
        Anything.

    Returns
    -------
    bool
        Whether it is one; a dense matrix is a table.

    Examples
    --------
    >>> is_graph(sparse.csr_array(np.eye(3))), is_graph(np.eye(3)), is_graph(sparse.csr_array(np.ones((2, 3))))
    (True, False, False)
    """
    if is_networkx(Z):
        return True
    shape: tuple[int, ...] = getattr(Z, "shape", ())
    return bool(sparse.issparse(Z)) and len(shape) == 2 and shape[0] == shape[1]


def check_graphs(G: Any, H: Any) -> tuple[Graph, Graph]:
    """Return two graphs, or raise an error that says what is wrong with them.

    Parameters
    ----------
    G, H : networkx graph or square sparse matrix
        The two graphs.

    Returns
    -------
    tuple of two Graph
        The graphs.

    Examples
    --------
    >>> check_graphs(sparse.csr_array(np.eye(3)), np.eye(3))
    Traceback (most recent call last):
    ...
    ValueError: X is a graph and Y is a table; pass two graphs (Y as scipy.sparse.csr_array(…) if it is an ...
    """
    for graph, table, other, name in ((G, H, "Y", "X"), (H, G, "X", "Y")):
        if is_graph(graph) and not is_graph(table):
            if sparse.issparse(table):
                shape = getattr(table, "shape", ())
                raise ValueError(
                    f"{name} is a graph and {other} is a sparse matrix of shape {shape}, which is not square; "
                    "pass the square adjacency matrix of a graph"
                )
            raise ValueError(
                f"{name} is a graph and {other} is a table; pass two graphs ({other} as {DENSE} if it is an adjacency "
                "matrix), or two tables"
            )
    g, h = check_graph(G, "X"), check_graph(H, "Y")
    if g.is_directed != h.is_directed and g.n_edges and h.n_edges:
        directed, other = ("X", "Y") if g.is_directed else ("Y", "X")
        raise ValueError(
            f"{directed} is directed and {other} is not; pass two directed graphs, or make {directed} undirected: "
            f"{directed}.maximum({directed}.T) of a sparse matrix, {directed}.to_undirected() of networkx"
        )
    return g, h


def check_graph(G: Any, name: str) -> Graph:
    """Return a graph, or raise an error that says what is wrong with it.

    Parallel edges and repeated entries add up; entries of weight 0 are no edges.

    Parameters
    ----------
    G : networkx graph or square sparse matrix
        The graph.
    name : str
        What it is called in messages.

    Returns
    -------
    Graph
        The graph.

    Examples
    --------
    >>> check_graph(sparse.csr_array(np.array([[0.0, np.nan], [1.0, 0.0]])), "X")
    Traceback (most recent call last):
    ...
    ValueError: X has an edge of weight nan, from node 0 to node 1; drop such edges, or give them a finite weight
    """
    if is_networkx(G):
        names, matrix = plain_names(G.nodes), _networkx_matrix(G, name)
    else:
        names, matrix = list(range(G.shape[0])), G
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} has edges of type {matrix.dtype}; pass real numbers as weights")
    if not matrix.shape[0]:
        raise ValueError(f"{name} has no nodes; pass a graph of at least one node")
    adjacency = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(adjacency.data))
    if len(bad):
        row, column = adjacency.tocoo().coords
        i, j = row[bad[0]], column[bad[0]]
        raise ValueError(
            f"{name} has an edge of weight {adjacency.data[bad[0]]}, from node {names[i]!r} to node {names[j]!r}; "
            "drop such edges, or give them a finite weight"
        )
    adjacency.sort_indices()
    return Graph(adjacency, names)


def _networkx_matrix(G: Any, name: str) -> Any:
    """Return the adjacency matrix of a graph of networkx; parallel edges add up."""
    number = {node: i for i, node in enumerate(G.nodes)}
    rows, columns, weights = [], [], []
    for a, b, weight in G.edges(data="weight", default=1.0):
        try:
            weights.append(float(weight))
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} has an edge of weight {weight!r:.80}, from node {a!r} to node {b!r}; pass numbers as weights"
            ) from None
        rows.append(number[a])
        columns.append(number[b])
    n = len(number)
    matrix = sparse.csr_array((np.array(weights, dtype=np.float64), (rows, columns)), shape=(n, n))
    if G.is_directed():
        return matrix
    loops: Array = matrix.diagonal()
    return matrix + matrix.T - sparse.diags_array(loops)


def link_both_ways(Z: Any) -> Any:
    """Return the undirected, unweighted graph of the same links, without self-loops.

    Parameters
    ----------
    Z : scipy.sparse.csr_array of shape (n, n)
        A graph.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        The other graph.
    """
    linked = (Z != 0).astype(np.float64)
    linked = (linked + linked.T).tolil()
    linked.setdiag(0)
    linked = linked.tocsr()
    linked.eliminate_zeros()
    linked.data[:] = 1.0
    linked.sort_indices()
    return linked
