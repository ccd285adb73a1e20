"""The null model: a graph of the same degrees that has nothing to do with the other, and about as many triangles.

Degrees alone are not enough: two clustered graphs that have nothing in common keep more edges than a clustered one
and one without clusters.
"""

# ruff: noqa: NPY002  inside compiled code this is numba's own generator, one per thread, seeded at the start
from typing import Any

import numpy as np

from pairup.compiled import compiled
from pairup.types import Array, Indices

REWIRINGS = 10  # attempts per edge
CLOSURES = 40  # attempts per edge to close a triangle
NODE_SWEEPS = 30  # over the numbers of the nodes; they halve what is left of a mean each time


def rewire(adjacency: Any, *, directed: bool, seed: int) -> Any:
    """Return a graph of the same degrees whose edges are drawn anew: pairs of edges exchange their ends.

    Where the graph is undirected, exchanges that close triangles follow until there are as many as before. Weights
    stay with their edge but for what the sums of two nodes leave over, which is shuffled: where nearly all pairs are
    linked, nothing else can be exchanged. Self-loops stay. No edge becomes a double one.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        The graph.
    directed : bool
        Whether edges have directions.
    seed : int
        Draws the exchanges.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        The other graph.
    """
    from scipy import sparse

    n = adjacency.shape[0]
    entries = adjacency.tocoo()
    row, column = (np.asarray(each, dtype=np.int64) for each in entries.coords)
    kept = row != column if directed else row < column
    loops = row == column
    u, v, weights = row[kept], column[kept].copy(), entries.data[kept]
    u = u.copy()
    linked = sparse.csr_array((np.ones(len(u)), (u, v)), shape=(n, n))
    linked = linked + linked.T
    triangles = int((linked @ linked).multiply(linked).sum()) // 6
    _exchange(u, v, n, directed, REWIRINGS * len(u), seed % 2**32)
    if not directed and triangles:
        _close_triangles(u, v, n, triangles, CLOSURES * len(u), seed % 2**32)
    weights = shuffle_weights(u, v, weights, n, directed=directed, seed=seed)
    rows, columns = [u, row[loops]], [v, column[loops]]
    values = [weights, entries.data[loops]]
    if not directed:
        rows, columns, values = [*rows, v], [*columns, u], [*values, weights]
    data = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(data, shape=(n, n))


def shuffle_weights(u: Indices, v: Indices, weights: Array, n: int, *, directed: bool, seed: int) -> Array:
    """Return weights of which what is not the sum of one number per node is shuffled.

    Parameters
    ----------
    u, v : ndarray of int, shape (n_edges,)
        The ends of the edges.
    weights : ndarray of shape (n_edges,)
        Their weights.
    n : int
        Number of nodes.
    directed : bool
        Whether nodes have one number as source and another as target.
    seed : int
        Draws the order.

    Returns
    -------
    ndarray of shape (n_edges,)
        Other weights; the same where all are equal.

    Examples
    --------
    >>> u, v = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> shuffle_weights(u, v, np.ones(3), 3, directed=False, seed=0)
    array([1., 1., 1.])
    """
    if not len(weights) or np.ptp(weights) <= 1e-9:
        return weights
    v = v + n if directed else v
    counts = np.maximum(np.bincount(np.concatenate([u, v]), minlength=2 * n), 1)
    effects, rest = np.zeros(2 * n), weights
    for _ in range(NODE_SWEEPS):
        rest = weights - effects[u] - effects[v]
        sums = np.bincount(u, weights=rest, minlength=2 * n) + np.bincount(v, weights=rest, minlength=2 * n)
        effects += 0.5 * sums / counts
    shuffled: Array = weights - rest + np.random.default_rng(seed).permutation(rest)
    return shuffled


@compiled
def _exchange(u: Any, v: Any, n: int, directed: bool, attempts: int, seed: int) -> None:
    """Exchange the ends of random pairs of edges, in place."""
    np.random.seed(seed)
    taken = np.zeros((n, n), np.bool_)
    for t in range(len(u)):
        taken[u[t], v[t]] = True
        if not directed:
            taken[v[t], u[t]] = True
    for _ in range(attempts):
        s, t = np.random.randint(len(u)), np.random.randint(len(u))
        a, b, c, d = u[s], v[s], u[t], v[t]
        if not directed and np.random.random() < 0.5:
            c, d = d, c
        if s == t or a == d or c == b or taken[a, d] or taken[c, b]:
            continue
        if not directed and a == c and b == d:
            continue
        taken[a, b] = taken[c, d] = False
        taken[a, d] = taken[c, b] = True
        if not directed:
            taken[b, a] = taken[d, c] = False
            taken[d, a] = taken[b, c] = True
        u[s], v[s], u[t], v[t] = a, d, c, b


@compiled
def _count_common(edge_at: Any, i: int, k: int) -> int:
    """Return how many neighbours two nodes have in common."""
    count = 0
    for node in range(len(edge_at)):
        if edge_at[i, node] >= 0 and edge_at[k, node] >= 0:
            count += 1
    return count


@compiled
def _draw_neighbour(edge_at: Any, i: int) -> int:
    """Return a random neighbour of a node that has one."""
    while True:
        node = np.random.randint(len(edge_at))
        if edge_at[i, node] >= 0:
            return node


@compiled
def _close_triangles(u: Any, v: Any, n: int, target: int, attempts: int, seed: int) -> None:
    """Exchange the ends of pairs of edges, in place, where that makes more triangles, until there are enough."""
    np.random.seed(seed)
    edge_at = np.full((n, n), -1, np.int64)
    triangles = 0
    for t in range(len(u)):
        triangles += _count_common(edge_at, u[t], v[t])
        edge_at[u[t], v[t]] = edge_at[v[t], u[t]] = t
    for _ in range(attempts):
        if triangles >= target:
            return
        t = np.random.randint(len(u))
        x, b = u[t], v[t]
        if np.random.random() < 0.5:
            x, b = b, x
        y = _draw_neighbour(edge_at, b)  # x and y have the neighbour b in common and are to be linked
        c, d = _draw_neighbour(edge_at, x), _draw_neighbour(edge_at, y)
        if x == y or c in (b, d, y) or d in (b, x) or edge_at[x, y] >= 0 or edge_at[c, d] >= 0:
            continue
        first, second = edge_at[x, c], edge_at[y, d]
        gain = 0
        edge_at[x, c] = edge_at[c, x] = edge_at[y, d] = edge_at[d, y] = -1
        gain -= _count_common(edge_at, x, c) + _count_common(edge_at, y, d)
        gain += _count_common(edge_at, x, y) + _count_common(edge_at, c, d)
        if gain > 0:
            edge_at[x, y] = edge_at[y, x] = first
            edge_at[c, d] = edge_at[d, c] = second
            u[first], v[first], u[second], v[second] = x, y, c, d
            triangles += gain
        else:
            edge_at[x, c] = edge_at[c, x] = first
            edge_at[y, d] = edge_at[d, y] = second
