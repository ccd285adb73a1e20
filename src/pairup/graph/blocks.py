"""Local search by exchanges of whole blocks: two groups of nodes take each other's partners, one after the other.

Two groups that are linked alike inside, such as two cliques, can stand in each other's place, and all the swaps that
bring them back but the last ones lose edges: more than annealing can afford. Here a first swap is followed by the swaps
that keep most edges to what was swapped before (as Kernighan and Lin divide graphs, and as matchings percolate from
seeds); of the chain, the part that gains most stays.
"""

# ruff: noqa: NPY002  inside compiled code this is numba's own generator, one per thread, seeded at the start
from typing import Any

import numpy as np

from pairup.compiled import compiled
from pairup.graph.swaps import Terms, swap_change
from pairup.types import Float32Array, Indices

LONGEST = 30  # swaps of a chain
MOST_CANDIDATES = 4096  # pairs that may come next
MOST_TIES = 48  # of the pairs that keep equally many edges, how many are compared by their energy
CROWDED = 2500  # neighbours of a node times those of its partner: hubs do not lead to blocks
WINDOW = 0.05  # partners are taken from this share of the nodes, next in degree, on either side
TRIES_PER_NODE = 40  # of the nodes that lose an edge, and of their neighbours
MOST_TRIES = 2000  # about 1 s


def exchange_blocks(terms: Terms, p: Indices, fixed: Any, *, seed: int) -> Indices:
    """Return a matching improved by exchanges of blocks; it is never worse.

    Chains begin at nodes that lose an edge, and next to them; where all edges are kept, there is nothing to do.

    Parameters
    ----------
    terms : Terms
        The energy, larger is better.
    p : ndarray of int, shape (n,)
        The matching.
    fixed : ndarray of bool, shape (n,)
        Nodes whose partners stay.
    seed : int
        Draws the first swaps.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching.
    """
    better = p.astype(np.int64)
    losers = find_losers(terms, p)
    tries = min(TRIES_PER_NODE * len(losers), MOST_TRIES)
    if not tries:
        return p
    order = np.argsort(np.diff(terms.b.starts), kind="stable")
    marks = np.zeros((len(p), len(p)), dtype=np.int16)
    _exchange(*terms, better, fixed, losers, order, np.argsort(order), marks, tries, seed % 2**32)
    return better.astype(np.intp)


def find_losers(terms: Terms, p: Indices) -> Indices:
    """Return the nodes with an edge, of the graph that loses fewer, that is not kept, and their neighbours.

    Parameters
    ----------
    terms : Terms
        The two graphs.
    p : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    ndarray of int
        Nodes of the first graph, in order.
    """
    edges = [np.repeat(np.arange(len(p)), np.diff(Z.starts)) * len(p) + Z.nodes for Z in (terms.a, terms.b)]
    q = np.argsort(p)
    lost = [
        np.setdiff1d(one, to[other // len(p)] * len(p) + to[other % len(p)]) // len(p)
        for one, other, to in ((edges[0], edges[1], q), (edges[1], edges[0], p))
    ]
    losers = np.zeros(len(p), dtype=np.bool_)
    losers[lost[0] if len(lost[0]) <= len(lost[1]) else q[lost[1]]] = True
    return np.flatnonzero(losers | np.isin(np.arange(len(p)), edges[0][losers[edges[0] // len(p)]] % len(p)))


@compiled
def _mark(x: int, y: int, a: Any, b: Any, marks: Any, candidates: Any, count: int) -> int:
    """Count one more edge for all pairs of neighbours of a node and of its partner; return how many pairs there are."""
    if (a[0][x + 1] - a[0][x]) * (b[0][y + 1] - b[0][y]) > CROWDED:
        return count
    for s in range(a[0][x], a[0][x + 1]):
        k = a[1][s]
        for t in range(b[0][y], b[0][y + 1]):
            j = b[1][t]
            if marks[k, j] == 0:
                if count == MOST_CANDIDATES:
                    continue
                candidates[count, 0], candidates[count, 1] = k, j
                count += 1
            marks[k, j] += 1
    return count


@compiled
def _choose(
    a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array, p: Any, q: Any, moved: Any, fixed: Any,
    marks: Any, candidates: Any, count: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the swap that keeps most edges to the nodes moved before, of several the one with most energy."""
    most = 1
    for c in range(count):
        i, j = candidates[c, 0], candidates[c, 1]
        if marks[i, j] > most and p[i] != j and not (moved[i] or moved[q[j]] or fixed[i] or fixed[q[j]]):
            most = marks[i, j]
    chosen, other, top, ties = -1, -1, -np.inf, 0
    for c in range(count):
        i, j = candidates[c, 0], candidates[c, 1]
        if marks[i, j] < most or p[i] == j or moved[i] or moved[q[j]] or fixed[i] or fixed[q[j]]:
            continue
        change = swap_change(i, q[j], p, q, a, b, M, K, S)
        if change > top:
            chosen, other, top = i, q[j], change
        ties += 1
        if ties == MOST_TIES:
            break
    return chosen, other


@compiled
def _swap(i: int, i2: int, p: Any, q: Any) -> None:
    """Exchange the partners of two nodes."""
    p[i], p[i2] = p[i2], p[i]
    q[p[i]], q[p[i2]] = i, i2


@compiled
def _polish(
    a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array, p: Any, q: Any, nodes: Any,
    swaps: Any, length: int,
) -> tuple[int, float]:  # fmt: skip
    """Swap some nodes among themselves as long as energy is gained; return the length of the chain and the gain."""
    gained = 0.0
    for _ in range(5):
        before = length
        for s in range(len(nodes)):
            for t in range(s):
                change = swap_change(nodes[s], nodes[t], p, q, a, b, M, K, S)
                if change > 1e-4 and length < len(swaps):
                    _swap(nodes[s], nodes[t], p, q)
                    swaps[length, 0], swaps[length, 1] = nodes[s], nodes[t]
                    length, gained = length + 1, gained + change
        if length == before:
            break
    return length, gained


@compiled
def _undo(swaps: Any, first: int, last: int, p: Any, q: Any) -> None:
    """Take back some of the swaps of a chain, the last first."""
    for s in range(last - 1, first - 1, -1):
        _swap(swaps[s, 0], swaps[s, 1], p, q)


@compiled
def _follow(
    i: int, i2: int, a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array, p: Any, q: Any, fixed: Any,
    moved: Any, marks: Any, candidates: Any, swaps: Any,
) -> tuple[int, float, float]:  # fmt: skip
    """Swap two nodes and what follows; return the length of the best part, its gain, and the least on the way."""
    length, kept, count, total, best, worst, least = 0, 0, 0, 0.0, -np.inf, 0.0, 0.0
    while i >= 0 and length < LONGEST:
        total += swap_change(i, i2, p, q, a, b, M, K, S)
        _swap(i, i2, p, q)
        moved[i] = moved[i2] = True
        swaps[length, 0], swaps[length, 1] = i, i2
        length += 1
        worst = min(worst, total)
        if total > best and length > 1:
            best, kept, least = total, length, worst
        count = _mark(i, p[i], a, b, marks, candidates, count)
        count = _mark(i2, p[i2], a, b, marks, candidates, count)
        i, i2 = _choose(a, b, M, K, S, p, q, moved, fixed, marks, candidates, count)
    for c in range(count):
        marks[candidates[c, 0], candidates[c, 1]] = 0
    for s in range(length):
        moved[swaps[s, 0]] = moved[swaps[s, 1]] = False
    _undo(swaps, kept, length, p, q)
    return kept, best, least


@compiled
def _exchange(
    a: Any, b: Any, M: Float32Array, K: Float32Array, S: Float32Array, p: Any, fixed: Any, losers: Any, order: Any,
    place: Any, marks: Any, tries: int, seed: int,
) -> None:  # fmt: skip
    """Improve p in place."""
    np.random.seed(seed)
    n = len(p)
    q = np.empty(n, np.int64)
    for i in range(n):
        q[p[i]] = i
    reach, moved = max(2, int(WINDOW * n)), np.zeros(n, np.bool_)
    candidates, swaps = np.empty((MOST_CANDIDATES, 2), np.int64), np.empty((8 * LONGEST, 2), np.int64)
    for _ in range(tries):
        i = losers[np.random.randint(len(losers))]
        at = place[p[i]] + np.random.randint(-reach, reach + 1)
        if at < 0 or at >= n:
            continue
        i2 = q[order[at]]
        if i == i2 or fixed[i] or fixed[i2]:
            continue
        length, gain, least = _follow(i, i2, a, b, M, K, S, p, q, fixed, moved, marks, candidates, swaps)
        if gain > 0.5 * least:  # the chain has come back from what it lost
            length, more = _polish(a, b, M, K, S, p, q, np.unique(swaps[:length]), swaps, length)
            gain += more
        if gain <= 1e-3:
            _undo(swaps, 0, length, p, q)
