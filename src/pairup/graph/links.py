"""The links of a graph of many nodes: neighbours and kinds of links, and how well they agree in two graphs.

All is linear in the numbers of nodes and edges. A link has a kind: its direction and, of weighted graphs, the octile of
its weight. How much likelier than by chance two kinds, or two degrees, are those of one link, or of one node, in both
graphs is a table of ratios whose means over rows and columns are 1.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pairup.compiled import compiled
from pairup.types import Array, Indices

MOST_DEGREES = 64  # of a table; larger ones count as the largest
WEIGHT_KINDS = 8  # quantiles of weights that are told apart
WEIGHT_SPREAD = 1.5  # how far, in quantiles, the weights of one edge in both graphs usually differ
LEAST_RATIO = 1e-3  # a share of pairs may differ in any way
ROWS = 4096  # of a product that are formed at once
DEGREE_NOISE = 1.2  # variance of the roots of two degrees, in units of (1 - s) / 2: more than edges lost by chance make


class Links(NamedTuple):
    """The links of a graph.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Where the neighbours of each node begin.
    nodes : ndarray of int32, shape (n_entries,)
        The neighbours in either direction, rising.
    kinds : ndarray of int8, shape (n_entries,)
        The kind of each link, seen from the node.
    ranked : ndarray of int32, shape (n_entries,)
        The neighbours again, of high degree first.
    ranked_kinds : ndarray of int8, shape (n_entries,)
        Their kinds.
    pulls : ndarray of shape (n,)
        What the link to a node weighs: the root of mean degree over its degree, since hubs are linked to many.
    loops : ndarray of int8, shape (n,)
        Whether the node is linked to itself.
    """

    starts: Any
    nodes: Any
    kinds: Any
    ranked: Any
    ranked_kinds: Any
    pulls: Array
    loops: Any

    @property
    def degrees(self) -> Indices:
        """How many neighbours each node has."""
        degrees: Indices = np.diff(self.starts)
        return degrees

    def __len__(self) -> int:
        return len(self.starts) - 1


def list_links(A: Any, *, directed: bool, weighted: bool) -> Links:
    """Return the links of a graph.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        The graph.
    directed : bool
        Whether links differ in direction.
    weighted : bool
        Whether links differ in weight.

    Returns
    -------
    Links
        The links.

    Examples
    --------
    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> list_links(path, directed=False, weighted=False).nodes
    array([1, 0, 2, 1], dtype=int32)
    """
    n = A.shape[0]
    entries = A.tocoo()
    u, v = (np.asarray(each, dtype=np.int64) for each in entries.coords)
    apart = u != v
    loops = np.zeros(n, dtype=np.int8)
    loops[u[~apart]] = 1
    u, v, weights = u[apart], v[apart], entries.data[apart]
    ones = np.ones(len(u), dtype=np.int8)
    out = sparse.csr_array((ones, (u, v)), shape=(n, n))
    ways = sparse.csr_array(out + 2 * out.T) if directed else out
    ways.sort_indices()
    kinds = ways.data.astype(np.int64) - 1
    if weighted:
        ends = np.concatenate([u, v]), np.concatenate([v, u])
        both = sparse.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))
        both.sort_indices()  # the same entries as `ways`: weights that cancel out stay stored
        cuts = np.quantile(both.data, np.arange(1, WEIGHT_KINDS) / WEIGHT_KINDS)
        kinds = kinds * WEIGHT_KINDS + np.searchsorted(cuts, both.data, side="right")
    degrees = np.diff(ways.indptr)
    rows = np.repeat(np.arange(n), degrees)
    order = np.lexsort((-degrees[ways.indices], rows))
    mean = max(len(rows) / n, 1e-9)
    return Links(
        ways.indptr.astype(np.int64),
        ways.indices.astype(np.int32),
        kinds.astype(np.int8),
        ways.indices[order].astype(np.int32),
        kinds[order].astype(np.int8),
        np.sqrt(mean / np.maximum(degrees, 1)),
        loops,
    )


def balance_ratios(kernel: Array, p: Array, q: Array) -> Array:
    """Return ratios u_i K_ij v_j whose means over rows and columns are 1.

    Parameters
    ----------
    kernel : ndarray of shape (k, l)
        How alike two kinds are.
    p, q : ndarray of shape (k,) and (l,)
        How frequent kinds are in either graph; they sum to 1.

    Returns
    -------
    ndarray of shape (k, l)
        The ratios.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> balance_ratios(np.array([[1.0, 0.0], [0.0, 1.0]]), half, half)
    array([[2., 0.],
           [0., 2.]])
    """
    u, v = np.ones(len(p)), np.ones(len(q))
    for _ in range(100):
        u = 1.0 / (kernel @ (q * v))
        v = 1.0 / (kernel.T @ (p * u))
    ratios: Array = u[:, None] * kernel * v
    return ratios


def compare_degrees(d: Indices, e: Indices, shared: float) -> Array:
    """Return the logarithms of the ratios by which two degrees belong to one node.

    Parameters
    ----------
    d, e : ndarray of int
        Degrees of the nodes of either graph.
    shared : float
        Share of the edges that both graphs have.

    Returns
    -------
    ndarray of shape (64, 64)
        The logarithms; the last row and column stand for all higher degrees.
    """
    p, q = (np.bincount(np.minimum(each, MOST_DEGREES - 1), minlength=MOST_DEGREES) + 0.01 for each in (d, e))
    roots = np.sqrt(np.arange(MOST_DEGREES))
    variance = max(DEGREE_NOISE * (1.0 - shared) / 2.0, 0.02)
    kernel = np.exp(-((roots[:, None] - roots) ** 2) / (2.0 * variance)) + 1e-4
    logs: Array = np.clip(np.log(balance_ratios(kernel, p / p.sum(), q / q.sum())), -8.0, 4.0)
    return logs


def compare_kinds(a: Links, b: Links, *, weighted: bool) -> Array:
    """Return the ratios by which two kinds belong to one link.

    Parameters
    ----------
    a, b : Links
        The two graphs.
    weighted : bool
        Whether kinds tell weights.

    Returns
    -------
    ndarray of shape (n_kinds, n_kinds)
        The ratios; 1 where there is one kind only.
    """
    size = 1 + max(int(each.kinds.max(initial=0)) for each in (a, b))
    p, q = (np.bincount(each.kinds, minlength=size) + 1e-3 for each in (a, b))
    kinds = np.arange(size)
    way, weight = np.divmod(kinds, WEIGHT_KINDS) if weighted else (kinds, np.zeros(size, dtype=int))
    alike = np.exp(-((weight[:, None] - weight) ** 2) / (2.0 * WEIGHT_SPREAD**2))
    kernel = np.where(way[:, None] == way, alike, 0.0) + LEAST_RATIO * 10
    return balance_ratios(kernel, p / p.sum(), q / q.sum())


def compare_loops(a: Links, b: Links) -> Array:
    """Return the logarithms of the ratios by which nodes with and without self-loops belong together.

    Parameters
    ----------
    a, b : Links
        The two graphs.

    Returns
    -------
    ndarray of shape (2, 2)
        The logarithms; 0 where one graph has no self-loops.
    """
    p, q = (np.bincount(each.loops, minlength=2).astype(np.float64) for each in (a, b))
    if not p[1] or not q[1]:
        return np.zeros((2, 2))
    logs: Array = np.log(balance_ratios(np.array([[1.0, 0.1], [0.1, 1.0]]), p / p.sum(), q / q.sum()))
    return logs


def count_triangles(pattern: Any) -> int:
    """Return the number of triangles of an undirected graph, some rows at a time.

    Parameters
    ----------
    pattern : scipy.sparse.csr_array of shape (n, n)
        The graph, zeros and ones.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> count_triangles(sparse.csr_array(np.ones((3, 3)) - np.eye(3)))
    1
    """
    total = 0.0
    for low in range(0, pattern.shape[0], ROWS):  # products of all rows would take more memory than the graph
        part = pattern[low : low + ROWS]
        total += float((part @ pattern).multiply(part).sum())
    return int(total) // 6


def measure_clustering(links: Links) -> float:
    """Return which share of the pairs of neighbours of nodes are linked themselves.

    Parameters
    ----------
    links : Links
        The graph.

    Returns
    -------
    float
        The share, 0 in a tree and 1 where all nodes are linked.

    Examples
    --------
    >>> full = sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    >>> measure_clustering(list_links(full, directed=False, weighted=False))
    1.0
    """
    n, degrees = len(links), links.degrees
    pattern = sparse.csr_array((np.ones(len(links.nodes)), links.nodes, links.starts), shape=(n, n))
    closed = 6.0 * count_triangles(pattern)
    return closed / max(float((degrees * (degrees - 1)).sum()), 1.0)


@compiled
def count_links_kept(a_starts: Any, a_nodes: Any, b_starts: Any, b_nodes: Any, p: Any) -> int:
    """Return how many links lead to partners that are linked too, in either direction.

    Parameters
    ----------
    a_starts, a_nodes, b_starts, b_nodes : ndarray of int
        The two graphs, as in `Links`.
    p : ndarray of int, shape (n,)
        The matching, −1 for none.

    Returns
    -------
    int
        Their number, each counted from both ends.
    """
    total = 0
    for i in range(len(p)):
        j = p[i]
        if j < 0:
            continue
        for t in range(a_starts[i], a_starts[i + 1]):
            at = p[a_nodes[t]]
            if at < 0:
                continue
            low, high = b_starts[j], b_starts[j + 1]
            while low < high:
                middle = (low + high) // 2
                if b_nodes[middle] < at:
                    low = middle + 1
                else:
                    high = middle
            if low < b_starts[j + 1] and b_nodes[low] == at:
                total += 1
    return total
