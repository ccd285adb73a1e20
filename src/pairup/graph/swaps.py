"""Local search of a matching of two graphs by swaps: simulated annealing, and sampling.

A matching p of equally many nodes has the energy Σ A_ik·M[p_i, p_k] + Σ B_jl·K[q_j, q_l] + Σ S[i, p_i], where q is
the inverse of p, M scores pairs of nodes of B and K pairs of nodes of A. A swap exchanges the partners of two nodes and
costs as much as their degrees. Most swaps are proposed by a witness: a node i, a neighbour k of it, and a neighbour of
the partner of k, where i would keep its edge to k.
"""

# ruff: noqa: NPY002  inside compiled code this is numba's own generator, one per thread, seeded at the start
from typing import Any, NamedTuple

import numpy as np

from pairup.compiled import compiled
from pairup.types import Array, Float32Array, Indices


class Lists(NamedTuple):
    """The neighbours of all nodes.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Where the neighbours of each node begin.
    nodes : ndarray of int64, shape (n_entries,)
        The neighbours, in either direction.
    there, back : ndarray of float32, shape (n_entries,)
        Weights of the edge to the neighbour and of the edge from it; `back` is 0 in undirected graphs.
    loops : ndarray of float32, shape (n,)
        Weights of self-loops.
    """

    starts: Any
    nodes: Any
    there: Float32Array
    back: Float32Array
    loops: Float32Array


class Terms(NamedTuple):
    """What the energy of a matching is made of.

    Parameters
    ----------
    a, b : Lists
        The two graphs.
    M : ndarray of float32, shape (n, n)
        Scores of pairs of nodes of B, for each edge of A.
    K : ndarray of float32, shape (n, n), or (0, 0)
        Scores of pairs of nodes of A, for each edge of B; left out where empty.
    S : ndarray of float32, shape (n, n), or (0, 0)
        Scores of single pairs; left out where empty.
    """

    a: Lists
    b: Lists
    M: Float32Array
    K: Float32Array
    S: Float32Array


def list_neighbours(adjacency: Any, *, directed: bool) -> Lists:
    """Return the neighbours of all nodes.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        The graph.
    directed : bool
        Whether edges have directions.

    Returns
    -------
    Lists
        The neighbours.
    """
    loops = adjacency.diagonal().astype(np.float32)
    out = adjacency.tolil()
    out.setdiag(0)
    out = out.tocsr()
    out.eliminate_zeros()
    pattern = ((out != 0) + (out.T != 0)).tocsr()
    pattern.sort_indices()
    rows = np.repeat(np.arange(len(loops)), np.diff(pattern.indptr))
    there = back = np.zeros(len(rows), dtype=np.float32)
    if len(rows):  # SciPy returns a sparse matrix where nothing is asked for
        there = np.asarray(out[rows, pattern.indices], dtype=np.float32).ravel()
    if len(rows) and directed:
        back = np.asarray(out[pattern.indices, rows], dtype=np.float32).ravel()
    return Lists(pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64), there, back, loops)


def anneal_swaps(
    terms: Terms, p: Indices, fixed: Any, *, hot: float, cold: float, steps: int, seed: int, guided: float = 0.9
) -> Indices:
    """Return the best matching that simulated annealing from `p` meets.

    Parameters
    ----------
    terms : Terms
        The energy, larger is better.
    p : ndarray of int, shape (n,)
        Where to start.
    fixed : ndarray of bool, shape (n,)
        Nodes whose partners stay.
    hot, cold : float
        First and last temperature, in units of the energy.
    steps : int
        How many swaps are proposed.
    seed : int
        Draws the swaps.
    guided : float, default 0.9
        Share of the swaps that a witness proposes.

    Returns
    -------
    ndarray of int, shape (n,)
        The best matching.
    """
    best = p.astype(np.int64)
    counts = np.zeros((0, 0), dtype=np.int32)
    _walk(*terms, best, fixed, hot, cold, steps, seed % 2**32, guided, False, 0, counts)
    return best.astype(np.intp)


def sample_swaps(
    terms: Terms, p: Indices, fixed: Any, *, steps: int, samples: int, seed: int, guided: float = 0.8
) -> Array:
    """Return how often each pair occurs in matchings drawn from exp(energy), by Metropolis and Hastings from `p` on.

    Parameters
    ----------
    terms : Terms
        The energy, as log-likelihood.
    p : ndarray of int, shape (n,)
        Where to start.
    fixed : ndarray of bool, shape (n,)
        Nodes whose partners stay.
    steps : int
        How many swaps are proposed.
    samples : int
        How many matchings are counted.
    seed : int
        Draws the swaps.
    guided : float, default 0.8
        Share of the swaps that a witness proposes.

    Returns
    -------
    ndarray of shape (n, n)
        Shares; rows and columns sum to 1.
    """
    counts = np.zeros((len(p), len(p)), dtype=np.int32)
    every = max(1, steps // samples)
    _walk(*terms, p.astype(np.int64), fixed, 1.0, 1.0, steps, seed % 2**32, guided, True, every, counts)
    shares: Array = counts / max(int(counts[0].sum()), 1)
    return shares


@compiled
def _half(i: int, i2: int, p: Any, lists: Any, M: Float32Array) -> float:
    """Return the change of Σ_k w_ik·M[p_i, p_k] over the neighbours of two nodes that swap their partners."""
    starts, nodes, there, back, loops = lists
    j, j2 = p[i], p[i2]
    d: float = 0.0
    for t in range(starts[i], starts[i + 1]):
        k = nodes[t]
        if k == i2:
            d += (there[t] - back[t]) * (M[j2, j] - M[j, j2])
        else:
            at = p[k]
            d += there[t] * (M[j2, at] - M[j, at])
            if back[t] != 0.0:
                d += back[t] * (M[at, j2] - M[at, j])
    for t in range(starts[i2], starts[i2 + 1]):
        k = nodes[t]
        if k != i:
            at = p[k]
            d += there[t] * (M[j, at] - M[j2, at])
            if back[t] != 0.0:
                d += back[t] * (M[at, j] - M[at, j2])
    change: float = d + (loops[i] - loops[i2]) * (M[j2, j2] - M[j, j])
    return change


@compiled
def swap_change(
    i: int, i2: int, p: Any, q: Any, a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array
) -> float:
    """Return by how much the energy changes if two nodes swap their partners.

    Parameters
    ----------
    i, i2 : int
        The nodes.
    p, q : ndarray of int64, shape (n,)
        The matching and its inverse.
    a, b : Lists
        The two graphs.
    M, K, S : ndarray of float32
        The scores, as in Terms.

    Returns
    -------
    float
        The change.
    """
    j, j2 = p[i], p[i2]
    d = _half(i, i2, p, a, M)
    if len(K):
        d += _half(j, j2, q, b, K)
    if len(S):
        d += S[i, j2] + S[i2, j] - S[i, j] - S[i2, j2]
    change: float = d
    return change


@compiled
def _propose(i: int, j: int, p: Any, a: Any, b: Any, guided: float) -> float:
    """Return how likely i is to be sent to j."""
    starts, nodes, degree = b[0], b[1], a[0][i + 1] - a[0][i]
    total = 0.0
    for t in range(a[0][i], a[0][i + 1]):
        at = p[a[1][t]]
        low, high = starts[at], starts[at + 1]
        while low < high:
            middle = (low + high) // 2
            if nodes[middle] < j:
                low = middle + 1
            else:
                high = middle
        if low < starts[at + 1] and nodes[low] == j:
            total += 1.0 / (starts[at + 1] - starts[at])
    return (guided * total / degree if degree else 0.0) + (1.0 - guided) / len(p)


@compiled
def _walk(
    a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array, best: Any, fixed: Any, hot: float, cold: float,
    steps: int, seed: int, guided: float, exact: bool, every: int, counts: Any,
) -> None:  # fmt: skip
    """Swap partners; `best` is the start and becomes the best matching, `counts` counts pairs."""
    np.random.seed(seed)
    n = len(best)
    p, q = best.copy(), np.empty(n, np.int64)
    for i in range(n):
        q[p[i]] = i
    temperature, energy, top = hot, 0.0, 0.0
    for step in range(steps):
        if step % 1024 == 0:
            temperature = hot * (cold / hot) ** (step / steps)
        if every > 0 and step % every == 0:
            for i in range(n):
                counts[i, p[i]] += 1
        i = np.random.randint(n)
        if np.random.random() < guided:
            first, last = a[0][i], a[0][i + 1]
            if first == last:
                continue
            at = p[a[1][np.random.randint(first, last)]]
            first, last = b[0][at], b[0][at + 1]
            if first == last:
                continue
            i2 = q[b[1][np.random.randint(first, last)]]
        else:
            i2 = np.random.randint(n)
        if i2 == i or fixed[i] or fixed[i2]:
            continue
        j, j2 = p[i], p[i2]
        d = swap_change(i, i2, p, q, a, b, M, K, S)
        chance = np.random.random()
        odds = np.exp(min(d / temperature, 50.0))
        if exact:
            if chance > 1e4 * odds:
                continue
            there = _propose(i, j2, p, a, b, guided) + _propose(i2, j, p, a, b, guided)
            p[i], p[i2] = j2, j
            odds *= (_propose(i, j, p, a, b, guided) + _propose(i2, j2, p, a, b, guided)) / there
            p[i], p[i2] = j, j2
        if chance < odds:
            p[i], p[i2] = j2, j
            q[j], q[j2] = i2, i
            energy += d
            if energy > top + 1e-6:
                top = energy
                best[:] = p
