"""The trees around nodes of high degree, compared: the first candidates among many nodes.

The likelihood ratio of two trees that share a part of their edges is a sum over partial matchings of their branches, as
in `pairup.graph.messages`; here by Bethe's approximation, which is exact where the pairs of branches form a tree and
takes any number of branches. Where degrees are high there are many branches, and the ratios of right pairs stand out.
Pairs that do well at one depth are compared at the next.
"""

from typing import Any

import numpy as np

from pairup.compiled import compiled
from pairup.graph.links import Links
from pairup.graph.schedule import MANY
from pairup.types import Array, Indices

MOST_BRANCHES = (12, 12, 18, 18)  # at each depth, counted from the leaves, of neighbours of high degree; for the time


def sum_uniform(weight: float, size: int) -> Array:
    """Return the logarithms of Bethe's sums over partial matchings where all pairs of branches weigh the same.

    Parameters
    ----------
    weight : float
        What a pair of branches weighs.
    size : int
        The largest number of branches.

    Returns
    -------
    ndarray of shape (size + 1, size + 1)
        One for each pair of numbers of branches.
    """
    d, e = np.mgrid[: size + 1, : size + 1].astype(np.float64)
    x, y = np.ones_like(d), np.ones_like(d)
    for _ in range(200):
        x = 1.0 / (1.0 + weight * np.maximum(e - 1, 0) * y)
        y = 1.0 / (1.0 + weight * np.maximum(d - 1, 0) * x)
    sums: Array = d * np.log1p(weight * e * y) + e * np.log1p(weight * d * x) - d * e * np.log1p(weight * x * y)
    sums[0], sums[:, 0] = 0.0, 0.0
    return sums


def compare_hubs(
    a: Links, b: Links, degrees: Array, branches: Array, kinds: Array, weight: float
) -> tuple[Indices, Indices, Array]:
    """Return likely pairs of nodes of high degree.

    Parameters
    ----------
    a, b : Links
        The two graphs.
    degrees, branches : ndarray of shape (64, 64)
        Log-ratios by degrees, and by the numbers of further neighbours at the end of a link.
    kinds : ndarray of shape (n_kinds, n_kinds)
        Ratios by the kinds of two links.
    weight : float
        What a pair of links weighs.

    Returns
    -------
    hubs : ndarray of int, shape (k,)
        Nodes of the first graph.
    partners : ndarray of int, shape (k, l)
        A few possible partners of each.
    ratios : ndarray of shape (k, l)
        Log-likelihood ratios.
    """
    hubs, others = (np.argsort(-each.degrees, kind="stable")[: MANY.hubs] for each in (a, b))
    sums = sum_uniform(weight, max(MOST_BRANCHES))
    partners = np.tile(others, (len(hubs), 1))
    ratios = np.zeros(partners.shape)
    score = (
        a.starts,
        a.ranked,
        a.ranked_kinds,
        b.starts,
        b.ranked,
        b.ranked_kinds,
        weight,
        degrees,
        branches,
        kinds,
        sums,
    )
    _score(hubs, partners, 1, *score, ratios)
    order = np.argsort(-ratios, axis=1, kind="stable")[:, : MANY.hub_partners]
    partners, ratios = np.take_along_axis(partners, order, 1), np.zeros(order.shape)
    _score(hubs, partners, 2, *score, ratios)
    order = np.argsort(-ratios, axis=1, kind="stable")
    partners, ratios = np.take_along_axis(partners, order, 1), np.take_along_axis(ratios, order, 1)
    if max(float((each.degrees**2).sum()) / max(len(each.nodes), 1) - 1.0 for each in (a, b)) > MANY.deep_up_to:
        return hubs, partners, ratios
    best = np.argsort(-ratios[:, 0], kind="stable")[: MANY.deep_hubs]
    deep, deep_ratios = partners[best][:, :3].copy(), np.zeros((len(best), min(3, partners.shape[1])))
    _score(hubs[best], deep, 3, *score, deep_ratios)
    ratios[best[:, None], np.arange(deep.shape[1])] = deep_ratios
    return hubs, partners, ratios


@compiled
def _sum_matchings(V: Array, d: int, e: int, to_right: Array, to_left: Array) -> float:
    """Return the logarithm of Bethe's sum over partial matchings of d and e branches that weigh V."""
    for a in range(d):
        for b in range(e):
            to_left[a, b] = 1.0
    for _ in range(3):
        for a in range(d):
            total = 0.0
            for b in range(e):
                total += V[a, b] * to_left[a, b]
            for b in range(e):
                to_right[a, b] = 1.0 / (1.0 + max(total - V[a, b] * to_left[a, b], 0.0))
        for b in range(e):
            total = 0.0
            for a in range(d):
                total += V[a, b] * to_right[a, b]
            for a in range(d):
                to_left[a, b] = 1.0 / (1.0 + max(total - V[a, b] * to_right[a, b], 0.0))
    result = 0.0
    for a in range(d):
        total = 0.0
        for b in range(e):
            total += V[a, b] * to_left[a, b]
        result += np.log1p(total)
    for b in range(e):
        total = 0.0
        for a in range(d):
            total += V[a, b] * to_right[a, b]
            result -= np.log1p(V[a, b] * to_right[a, b] * to_left[a, b])
        result += np.log1p(total)
    return result


@compiled
def _list_branches(starts: Any, nodes: Any, i: int, above: int, most: int, listed: Any) -> int:
    """List the links of a node but for the one to the node above; return how many there are."""
    count = 0
    for t in range(starts[i], starts[i + 1]):
        if nodes[t] != above and count < most:
            listed[count] = t
            count += 1
    return count


@compiled
def _score(
    hubs: Any, partners: Any, depth: int, a_starts: Any, a_nodes: Any, a_kinds: Any, b_starts: Any, b_nodes: Any,
    b_kinds: Any, weight: float, degrees: Array, branches: Array, kinds: Array, sums: Array, ratios: Array,
) -> None:  # fmt: skip
    """Fill in the log-likelihood ratios of pairs of nodes.

    Pairs of branches are visited one after another, those of the leaves first; compiled functions that call themselves
    cannot be read back from the cache.
    """
    V, right, left = np.empty((4, 18, 18)), np.empty((18, 18)), np.empty((18, 18))
    a_below, b_below = np.empty((4, 18), np.int64), np.empty((4, 18), np.int64)
    nodes, sizes = np.full((5, 2), -1, np.int64), np.zeros((4, 2), np.int64)
    visited, base = np.zeros(4, np.int64), np.zeros(4)
    for x in range(partners.shape[0]):
        for y in range(partners.shape[1]):
            level, entering = depth, True
            nodes[level, 0], nodes[level, 1] = hubs[x], partners[x, y]
            nodes[level + 1, 0], nodes[level + 1, 1] = -1, -1
            while True:
                i, j = nodes[level, 0], nodes[level, 1]
                if entering:
                    d, e = a_starts[i + 1] - a_starts[i], b_starts[j + 1] - b_starts[j]
                    if level == depth:
                        base[level] = degrees[min(d, 63), min(e, 63)]
                    else:
                        base[level] = branches[min(d - 1, 63), min(e - 1, 63)]
                    most = MOST_BRANCHES[level]
                    sizes[level, 0] = _list_branches(a_starts, a_nodes, i, nodes[level + 1, 0], most, a_below[level])
                    sizes[level, 1] = _list_branches(b_starts, b_nodes, j, nodes[level + 1, 1], most, b_below[level])
                    visited[level] = 0
                    entering = False
                d, e = sizes[level, 0], sizes[level, 1]
                if visited[level] < d * e:
                    s, t = visited[level] // e, visited[level] % e
                    k, at = a_nodes[a_below[level, s]], b_nodes[b_below[level, t]]
                    if level > 1:
                        level -= 1
                        nodes[level, 0], nodes[level, 1] = k, at
                        entering = True
                        continue
                    value = branches[
                        min(a_starts[k + 1] - a_starts[k] - 1, 63), min(b_starts[at + 1] - b_starts[at] - 1, 63)
                    ]
                else:
                    value = base[level] + _sum_matchings(V[level], d, e, right, left) - sums[d, e]
                    if level == depth:
                        ratios[x, y] = value
                        break
                    level += 1
                    s, t = visited[level] // sizes[level, 1], visited[level] % sizes[level, 1]
                kind = kinds[a_kinds[a_below[level, s]], b_kinds[b_below[level, t]]]
                V[level, s, t] = weight * kind * np.exp(min(value, 20.0))
                visited[level] += 1
