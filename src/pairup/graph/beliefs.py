"""Message passing among the candidates of many nodes.

A pair of nodes i and j hears from pairs (k, l) of their neighbours how much likelier these are by what lies behind
them. Its own likelihood ratio is the sum over partial matchings of the branches of i and j, as in
`pairup.graph.messages`; all pairs that are no candidates count as unrelated ones. The sum is taken by Bethe's
approximation, whose messages also give the sum with any one pair of branches left out, which is what the pair says to
it. Messages and ratios are balanced: a link has one partner, and so has a node.
"""

from typing import Any, NamedTuple

import numpy as np

from pairup.compiled import compiled
from pairup.graph.links import Links
from pairup.types import Array

SWEEPS = 6  # of balancing, over rows and columns in turn
SLACK = 1e-3  # share of all that rows and columns can lose: none must be left without
WITHIN = 4  # rounds of Bethe's messages within a pair of nodes
LEAST, MOST = -20.0, 40.0  # of the logarithm of a ratio


class Evidence(NamedTuple):
    """What a pair of nodes is judged by.

    Parameters
    ----------
    degrees, branches : ndarray of shape (64, 64)
        Log-ratios by degrees, and by the numbers of further neighbours at the end of a link.
    kinds : ndarray of shape (n_kinds, n_kinds)
        Ratios by the kinds of two links.
    loops : ndarray of shape (2, 2)
        Log-ratios by self-loops.
    weight : float
        What a pair of links weighs.
    """

    degrees: Array
    branches: Array
    kinds: Array
    loops: Array
    weight: float


class Support(NamedTuple):
    """Which candidates stand beside which: both their nodes are linked.

    Parameters
    ----------
    starts : ndarray of int64, shape (n · k + 1,)
        Where the entries of each candidate begin.
    a_links, b_links : ndarray of int32, shape (n_entries,)
        The links of both graphs that lead from the pair to the other.
    reverse : ndarray of int32, shape (n_entries,)
        The entry that leads back.
    """

    starts: Any
    a_links: Any
    b_links: Any
    reverse: Any

    def find(self, others: "Support", n_links: int) -> Any:
        """Return the place of each entry among those of another support, −1 where it has none.

        Parameters
        ----------
        others : Support
            The other one.
        n_links : int
            How many links the second graph has.

        Returns
        -------
        ndarray of int
            The places.
        """
        keys, known = (s.a_links.astype(np.int64) * n_links + s.b_links for s in (self, others))
        order = np.argsort(known)
        if not len(order):
            return np.full(len(keys), -1)
        places = order[np.minimum(np.searchsorted(known, keys, sorter=order), len(order) - 1)]
        return np.where(known[places] == keys, places, -1)


def link_candidates(a: Links, b: Links, partners: Any) -> Support:
    """Return which candidates stand beside which.

    Parameters
    ----------
    a, b : Links
        The graphs.
    partners : ndarray of int32, shape (n, k)
        The candidates.

    Returns
    -------
    Support
        The entries.
    """
    starts = np.zeros(partners.size + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    graphs = (a.starts, a.nodes, b.starts, b.nodes, partners, starts)
    _link(*graphs, nothing, nothing, nothing, False)
    a_links, b_links, reverse = (np.empty(starts[-1], dtype=np.int32) for _ in range(3))
    _link(*graphs, a_links, b_links, reverse, True)
    return Support(starts, a_links, b_links, reverse)


def renew(
    a: Links, b: Links, partners: Any, support: Support, messages: Array, free: tuple[Array, Array], evidence: Evidence
) -> tuple[Array, Array]:
    """Return the log-ratios of all candidates, and what each says to those beside it.

    Parameters
    ----------
    a, b : Links
        The graphs.
    partners : ndarray of int32, shape (n, k)
        The candidates.
    support : Support
        Which stand beside which.
    messages : ndarray of shape (n_entries,)
        What each pair hears, as ratios.
    free : tuple of two ndarray of shape (n,) and (m,)
        The probability that a node has no candidate for its partner.
    evidence : Evidence
        What else pairs are judged by.

    Returns
    -------
    logs : ndarray of shape (n, k)
        The log-ratios, −inf where there are fewer candidates.
    said : ndarray of shape (n_entries,)
        The log-ratios without what the other one says.
    """
    logs, said = np.full(partners.shape, -np.inf), np.empty(len(messages))
    _renew(
        a.starts, a.nodes, a.kinds, a.pulls, a.loops, b.starts, b.nodes, b.kinds, b.pulls, b.loops, partners,
        support.starts, support.a_links, support.b_links, messages, *free, evidence.degrees, evidence.branches,
        evidence.kinds, evidence.loops, evidence.weight, logs, said,
    )  # fmt: skip
    return logs, said


def balance_messages(ratios: Array, support: Support, n_links: tuple[int, int]) -> Array:
    """Return messages divided by their means over the links of either graph; all that are not there count as 1.

    Parameters
    ----------
    ratios : ndarray of shape (n_entries,)
        The messages.
    support : Support
        Which links they come along.
    n_links : tuple of int
        How many links both graphs have.

    Returns
    -------
    ndarray of shape (n_entries,)
        The balanced messages.
    """
    size, (n, m) = max(n_links), n_links
    u, v, rows, columns = np.ones(n), np.ones(m), support.a_links, support.b_links
    for _ in range(SWEEPS):
        u = size / (
            np.bincount(rows, weights=ratios * v[columns], minlength=n) + v.sum() + max(n - m, 0) + SLACK * size
        )
        v = size / (
            np.bincount(columns, weights=ratios * u[rows], minlength=m) + u.sum() + max(m - n, 0) + SLACK * size
        )
    balanced: Array = ratios * u[rows] * v[columns]
    return balanced


def balance_pairs(logs: Array, partners: Any, m: int, left_out: float = 0.0) -> Array:
    """Return the probabilities of candidates: each node has at most one partner.

    Parameters
    ----------
    logs : ndarray of shape (n, k)
        Log-ratios of the candidates.
    partners : ndarray of int32, shape (n, k)
        The candidates; all other pairs have the ratio 1.
    m : int
        How many nodes the second graph has.
    left_out : float, default 0.0
        Share of the smaller graph that has no partner.

    Returns
    -------
    ndarray of shape (n, k)
        The probabilities.
    """
    n = len(partners)
    size = max(n, m)
    there = partners >= 0
    ratios = np.exp(np.where(there, np.clip(logs, LEAST, MOST), -np.inf))
    columns = np.where(there, partners, 0)
    u, v = np.ones(n), np.ones(m)
    spare = (SLACK + left_out) * size
    for _ in range(SWEEPS):
        u = size / ((ratios * v[columns]).sum(axis=1) + v.sum() + max(n - m, 0) + spare)
        heard = np.bincount(columns.ravel(), weights=(ratios * u[:, None]).ravel(), minlength=m)
        v = size / (heard + u.sum() + max(m - n, 0) + spare)
    likely: Array = ratios * u[:, None] * v[columns] / size
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1.0)
    return likely


@compiled
def _link(
    a_starts: Any,
    a_nodes: Any,
    b_starts: Any,
    b_nodes: Any,
    partners: Any,
    starts: Any,
    a_links: Any,
    b_links: Any,
    reverse: Any,
    fill: bool,
) -> None:
    """Count the entries or, the second time, fill them in."""
    n, size = partners.shape
    mark = np.full(len(b_starts) - 1, -1, np.int64)
    nexts = starts[:-1].copy()
    count = 0
    for i in range(n):
        for x in range(size):
            if not fill:
                starts[i * size + x] = count
            j = partners[i, x]
            if j < 0:
                continue
            for u in range(b_starts[j], b_starts[j + 1]):
                mark[b_nodes[u]] = u
            for t in range(a_starts[i], a_starts[i + 1]):
                k = a_nodes[t]
                for y in range(size):
                    at = partners[k, y]
                    if at < 0:
                        break
                    if mark[at] >= 0:
                        if fill:  # entries come in the order of the pairs, so the next one of the other leads back
                            a_links[count], b_links[count] = t, mark[at]
                            reverse[count] = nexts[k * size + y]
                            nexts[k * size + y] += 1
                        count += 1
            for u in range(b_starts[j], b_starts[j + 1]):
                mark[b_nodes[u]] = -1
    starts[n * size] = count


@compiled
def _renew(
    a_starts: Any, a_nodes: Any, a_kinds: Any, a_pulls: Array, a_loops: Any,
    b_starts: Any, b_nodes: Any, b_kinds: Any, b_pulls: Array, b_loops: Any, partners: Any,
    starts: Any, a_links: Any, b_links: Any, messages: Array, a_free: Array, b_free: Array,
    degrees: Array, branches: Array, kinds: Array, loops: Array, weight: float, logs: Array, said: Array,
) -> None:  # fmt: skip
    """Fill in the log-ratios of candidates and what they say."""
    n, size = partners.shape
    most_d, most_e, most_q = 1, 1, 1
    for i in range(n):
        most_d = max(most_d, a_starts[i + 1] - a_starts[i])
    for j in range(len(b_starts) - 1):
        most_e = max(most_e, b_starts[j + 1] - b_starts[j])
    for c in range(n * size):
        most_q = max(most_q, starts[c + 1] - starts[c])
    x, y, a_sums, b_sums = np.empty(most_d), np.empty(most_e), np.empty(most_d), np.empty(most_e)
    right, left, V = np.empty(most_q), np.empty(most_q), np.empty(most_q)
    for i in range(n):
        low_a = a_starts[i]
        d = a_starts[i + 1] - low_a
        for place in range(size):
            j = partners[i, place]
            if j < 0:
                continue
            low_b = b_starts[j]
            e = b_starts[j + 1] - low_b
            low = starts[i * size + place]
            q = starts[i * size + place + 1] - low
            C = weight * a_pulls[i] * b_pulls[j]
            # First as if all branches were unrelated.
            all_a, all_b = 0.0, 0.0
            for s in range(d):
                x[s] = 0.5
                all_a += a_pulls[a_nodes[low_a + s]] * 0.5
            for _ in range(WITHIN):
                all_b = 0.0
                for t in range(e):
                    pull = b_pulls[b_nodes[low_b + t]]
                    y[t] = 1.0 / (1.0 + C * pull * all_a)
                    all_b += pull * y[t]
                all_a = 0.0
                for s in range(d):
                    pull = a_pulls[a_nodes[low_a + s]]
                    x[s] = 1.0 / (1.0 + C * pull * all_b)
                    all_a += pull * x[s]
            unrelated = -C * all_a * all_b
            for s in range(d):
                unrelated -= np.log(x[s])
            for t in range(e):
                unrelated += np.log1p(C * b_pulls[b_nodes[low_b + t]] * all_a)
            # With the candidates; what is left of a branch counts as unrelated.
            free_a, free_b = 0.0, 0.0
            for t in range(e):
                at = b_nodes[low_b + t]
                free_b += b_pulls[at] * b_free[at] * y[t]
            for t in range(q):
                s, r = a_links[low + t], b_links[low + t]
                pulled = C * a_pulls[a_nodes[s]] * b_pulls[b_nodes[r]]
                V[t] = pulled * kinds[a_kinds[s], b_kinds[r]] * messages[low + t]
                left[t] = y[r - low_b]
            for number in range(WITHIN + 1):
                for s in range(d):
                    at = a_nodes[low_a + s]
                    a_sums[s] = C * a_pulls[at] * a_free[at] * free_b
                for t in range(q):
                    a_sums[a_links[low + t] - low_a] += V[t] * left[t]
                if number == WITHIN:
                    break
                free_a = 0.0
                for s in range(d):
                    at = a_nodes[low_a + s]
                    free_a += a_pulls[at] * a_free[at] / (1.0 + a_sums[s])
                for t in range(q):
                    right[t] = 1.0 / (1.0 + max(a_sums[a_links[low + t] - low_a] - V[t] * left[t], 0.0))
                for r in range(e):
                    at = b_nodes[low_b + r]
                    b_sums[r] = C * b_pulls[at] * b_free[at] * free_a
                for t in range(q):
                    b_sums[b_links[low + t] - low_b] += V[t] * right[t]
                free_b = 0.0
                for r in range(e):
                    at = b_nodes[low_b + r]
                    free_b += b_pulls[at] * b_free[at] / (1.0 + b_sums[r])
                for t in range(q):
                    left[t] = 1.0 / (1.0 + max(b_sums[b_links[low + t] - low_b] - V[t] * right[t], 0.0))
            total = -C * free_a * free_b
            for s in range(d):
                total += np.log1p(a_sums[s])
            for r in range(e):
                total += np.log1p(b_sums[r])
            for t in range(q):
                total -= np.log1p(V[t] * right[t] * left[t])
            total -= unrelated
            total += loops[a_loops[i], b_loops[j]]
            logs[i, place] = total + degrees[min(d, 63), min(e, 63)]
            behind = total + branches[min(max(d - 1, 0), 63), min(max(e - 1, 0), 63)]
            for t in range(q):
                s, r = a_links[low + t], b_links[low + t]
                pulled = C * a_pulls[a_nodes[s]] * b_pulls[b_nodes[r]] * x[s - low_a] * y[r - low_b]
                without = np.log(right[t] * left[t]) - np.log1p(V[t] * right[t] * left[t])
                said[low + t] = behind + without - np.log(x[s - low_a] * y[r - low_b]) + np.log1p(pulled)
