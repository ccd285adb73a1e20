"""The null model: a graph of the same degrees that has nothing to do with the other."""

# ruff: noqa: NPY002  inside compiled code this is numba's own generator, one per thread, seeded at the start
from typing import Any

import numpy as np

from pairup.compiled import compiled

REWIRINGS = 10  # attempts per edge


def rewire(adjacency: Any, *, directed: bool, seed: int) -> Any:
    """Return a graph of the same degrees whose edges are drawn anew: pairs of edges exchange their ends.

    Weights stay with the first end of their edge; self-loops stay. No edge becomes a double one.

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
    _exchange(u, v, n, directed, REWIRINGS * len(u), seed % 2**32)
    rows, columns = [u, row[loops]], [v, column[loops]]
    values = [weights, entries.data[loops]]
    if not directed:
        rows, columns, values = [*rows, v], [*columns, u], [*values, weights]
    data = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(data, shape=(n, n))


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
