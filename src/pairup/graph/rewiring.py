"""The null model of `pairup.graph.null_model` for many nodes: edges are kept in a table of hashes, not in a matrix."""

# ruff: noqa: NPY002  inside compiled code this is numba's own generator, one per thread, seeded at the start
from typing import Any

import numpy as np
from scipy import sparse

from pairup.compiled import compiled
from pairup.graph.links import count_triangles
from pairup.graph.null_model import CLOSURES, REWIRINGS, shuffle_weights

MOST_CLOSURES = 10_000_000  # attempts to close a triangle, for the time
SPACE = 4  # places of the table for each edge


def rewire_sparsely(adjacency: Any, *, directed: bool, seed: int) -> Any:
    """Return a graph of the same degrees whose edges are drawn anew, and about as many triangles if it is undirected.

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
    n = adjacency.shape[0]
    entries = adjacency.tocoo()
    row, column = (np.asarray(each, dtype=np.int64) for each in entries.coords)
    kept = row != column if directed else row < column
    loops = row == column
    u, v, weights = row[kept].copy(), column[kept].copy(), entries.data[kept]
    triangles = 0
    if not directed:
        pattern = sparse.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=(n, n))
        triangles = count_triangles(pattern)
    table = np.full(2 ** int(np.ceil(np.log2(SPACE * len(u) + 8))), -1, dtype=np.int64)
    _exchange(u, v, n, directed, REWIRINGS * len(u), seed % 2**32, table)
    if triangles:
        degrees = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        ends = np.concatenate([v, u])[np.argsort(np.concatenate([u, v]), kind="stable")]
        _close_triangles(starts, ends, n, triangles, min(CLOSURES * len(u), MOST_CLOSURES), seed % 2**32, table)
        u = np.repeat(np.arange(n), degrees)
        u, v = u[u < ends], ends[u < ends]
    weights = shuffle_weights(u, v, weights, n, directed=directed, seed=seed)
    rows, columns, values = [u, row[loops]], [v, column[loops]], [weights, entries.data[loops]]
    if not directed:
        rows, columns, values = [*rows, v], [*columns, u], [*values, weights]
    return sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))


@compiled
def _place(table: Any, key: int) -> int:
    """Return where a key is in the table, or the empty place where it would be."""
    mask = len(table) - 1
    place = (key * 0x9E3779B97F4A7C1 ^ (key >> 15)) & mask
    while table[place] != -1 and table[place] != key:
        place = (place + 1) & mask
    return place


@compiled
def _drop(table: Any, key: int) -> None:
    """Take a key out of the table, and move up those that stand behind it."""
    mask = len(table) - 1
    hole = _place(table, key)
    if table[hole] == -1:
        return
    table[hole] = -1
    at = (hole + 1) & mask
    while table[at] != -1:
        moved = table[at]
        table[at] = -1
        table[_place(table, moved)] = moved
        at = (at + 1) & mask


@compiled
def _key(a: int, b: int, n: int, directed: bool) -> int:
    """Return the number of an edge."""
    return a * n + b if directed or a < b else b * n + a


@compiled
def _exchange(u: Any, v: Any, n: int, directed: bool, attempts: int, seed: int, table: Any) -> None:
    """Exchange the ends of random pairs of edges, in place."""
    np.random.seed(seed)
    for t in range(len(u)):
        key = _key(u[t], v[t], n, directed)
        table[_place(table, key)] = key
    for _ in range(attempts):
        s, t = np.random.randint(len(u)), np.random.randint(len(u))
        a, b, c, d = u[s], v[s], u[t], v[t]
        if not directed and np.random.random() < 0.5:
            c, d = d, c
        if s == t or a == d or c == b:
            continue
        first, second = _key(a, d, n, directed), _key(c, b, n, directed)
        if first == second or table[_place(table, first)] != -1 or table[_place(table, second)] != -1:
            continue
        _drop(table, _key(a, b, n, directed))
        _drop(table, _key(c, d, n, directed))
        table[_place(table, first)] = first
        table[_place(table, second)] = second
        u[s], v[s], u[t], v[t] = a, d, c, b


@compiled
def _count_common(starts: Any, ends: Any, table: Any, n: int, i: int, k: int) -> int:
    """Return how many neighbours two nodes have in common."""
    if starts[i + 1] - starts[i] > starts[k + 1] - starts[k]:
        i, k = k, i
    count = 0
    for t in range(starts[i], starts[i + 1]):
        if ends[t] != k:
            key = _key(ends[t], k, n, False)
            if table[_place(table, key)] != -1:
                count += 1
    return count


@compiled
def _replace(starts: Any, ends: Any, i: int, old: int, new: int) -> None:
    """Put a neighbour in the place of another one."""
    for t in range(starts[i], starts[i + 1]):
        if ends[t] == old:
            ends[t] = new
            return


@compiled
def _close_triangles(starts: Any, ends: Any, n: int, target: int, attempts: int, seed: int, table: Any) -> None:
    """Exchange the ends of pairs of edges, in place, where that makes more triangles, until there are enough."""
    np.random.seed(seed)
    triangles = 0
    for i in range(n):
        for t in range(starts[i], starts[i + 1]):
            if i < ends[t]:
                triangles += _count_common(starts, ends, table, n, i, ends[t])
    triangles //= 3
    for _ in range(attempts):
        if triangles >= target:
            return
        t = np.random.randint(len(ends))
        b = ends[t]
        x = ends[np.random.randint(starts[b], starts[b + 1])]
        y = ends[np.random.randint(starts[b], starts[b + 1])]
        c = ends[np.random.randint(starts[x], starts[x + 1])]
        d = ends[np.random.randint(starts[y], starts[y + 1])]
        if x == y or c in (b, d, y) or d in (b, x):
            continue
        linked, crossed = _key(x, y, n, False), _key(c, d, n, False)
        if table[_place(table, linked)] != -1 or table[_place(table, crossed)] != -1:
            continue
        first, second = _key(x, c, n, False), _key(y, d, n, False)
        lost = _count_common(starts, ends, table, n, x, c) + _count_common(starts, ends, table, n, y, d)
        _drop(table, first)
        _drop(table, second)
        _replace(starts, ends, x, c, y)
        _replace(starts, ends, c, x, d)
        _replace(starts, ends, y, d, x)
        _replace(starts, ends, d, y, c)
        gain = _count_common(starts, ends, table, n, x, y) + _count_common(starts, ends, table, n, c, d) - lost
        if gain > 0:
            table[_place(table, linked)] = linked
            table[_place(table, crossed)] = crossed
            triangles += gain
        else:
            table[_place(table, first)] = first
            table[_place(table, second)] = second
            _replace(starts, ends, x, y, c)
            _replace(starts, ends, c, d, x)
            _replace(starts, ends, y, x, d)
            _replace(starts, ends, d, c, y)
