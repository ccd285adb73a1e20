"""Candidates of many nodes: a few possible partners of each, proposed by the likely partners of its neighbours."""

from typing import Any, NamedTuple

import numpy as np

from pairup.compiled import compiled
from pairup.graph.links import Links
from pairup.graph.schedule import MANY
from pairup.types import Array, Indices

SETTLED = 0.95  # probability of the likely partners of a node from which it needs few candidates
FEW = 8  # candidates of such a node


class Candidates(NamedTuple):
    """A few possible partners of each node.

    Parameters
    ----------
    partners : ndarray of int32, shape (n, k)
        Nodes of the other graph, the likeliest first, −1 where there are fewer.
    likely : ndarray of shape (n, k)
        Their probabilities.
    """

    partners: Any
    likely: Array

    def choose(self, m: int) -> Indices:
        """Return the likeliest partner of each node that is nobody else's likelier one.

        Parameters
        ----------
        m : int
            How many nodes the other graph has.

        Returns
        -------
        ndarray of int, shape (n,)
            A matching, −1 for none.
        """
        first, likely = self.partners[:, 0], self.likely[:, 0]
        rows = np.flatnonzero(first >= 0)
        rows = rows[np.argsort(likely[rows], kind="stable")]
        owner = np.full(m, -1, dtype=np.intp)
        owner[first[rows]] = rows  # the last one, which is the likeliest, stays
        indices: Indices = np.full(len(first), -1, dtype=np.intp)
        columns = np.flatnonzero(owner >= 0)
        indices[owner[columns]] = columns
        return indices


class Limits(NamedTuple):
    """What candidates keep to.

    Parameters
    ----------
    known : ndarray of int64, shape (n,)
        The known partner of each node, −1 for none.
    taken : ndarray of bool, shape (m,)
        Whose partner is known.
    forbidden_starts : ndarray of int64, shape (n + 1,)
        Where the forbidden partners of each node begin.
    forbidden : ndarray of int64
        The forbidden partners, rising for each node.
    """

    known: Any
    taken: Any
    forbidden_starts: Any
    forbidden: Any


def limit(n: int, m: int, anchors: tuple[Indices, Indices], forbidden: tuple[Indices, Indices]) -> Limits:
    """Return what candidates keep to.

    Parameters
    ----------
    n, m : int
        Numbers of nodes.
    anchors, forbidden : tuple of two ndarray of int
        Known and forbidden pairs, sorted.

    Returns
    -------
    Limits
        The same by node.
    """
    known, taken = np.full(n, -1, dtype=np.int64), np.zeros(m, dtype=np.bool_)
    known[anchors[0]] = anchors[1]
    taken[anchors[1]] = True
    order = np.lexsort(forbidden[::-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(forbidden[0], minlength=n))]).astype(np.int64)
    return Limits(known, taken, starts, forbidden[1][order].astype(np.int64))


def gather_candidates(n: int, rows: Indices, columns: Indices, ratios: Array, limits: Limits) -> tuple[Any, Array]:
    """Return pairs as candidates of each node, the best first.

    Parameters
    ----------
    n : int
        Number of nodes.
    rows, columns : ndarray of int, shape (k,)
        Pairs of nodes; pairs that are given twice count once, by the larger ratio.
    ratios : ndarray of shape (k,)
        How likely they are, as logarithms of ratios.
    limits : Limits
        What candidates keep to.

    Returns
    -------
    partners : ndarray of int32, shape (n, l)
        The candidates, −1 where there are fewer.
    logs : ndarray of shape (n, l)
        Their ratios, −inf where there are fewer.
    """
    known = limits.known[rows]
    allowed = np.where(known >= 0, known == columns, ~limits.taken[columns])
    m = len(limits.taken)
    banned = np.repeat(np.arange(n), np.diff(limits.forbidden_starts)) * m + limits.forbidden
    allowed &= ~np.isin(rows * m + columns, banned)
    rows, columns, ratios = rows[allowed], columns[allowed], ratios[allowed]
    order = np.lexsort((columns, -ratios, rows))
    rows, columns, ratios = rows[order], columns[order], ratios[order]
    once = np.zeros(len(rows), dtype=bool)
    once[np.unique(rows.astype(np.int64) * m + columns, return_index=True)[1]] = True
    rows, columns, ratios = rows[once], columns[once], ratios[once]
    places = np.arange(len(rows)) - np.searchsorted(rows, rows)
    within = places < MANY.prior_partners
    width = int(places[within].max(initial=0)) + 1
    partners = np.full((n, width), -1, dtype=np.int32)
    logs: Array = np.full((n, width), -np.inf)
    partners[rows[within], places[within]] = columns[within]
    logs[rows[within], places[within]] = ratios[within]
    return partners, logs


def propose(a: Links, b: Links, now: Candidates, limits: Limits, few: int = MANY.candidates) -> tuple[Any, Any]:
    """Return new candidates: those that are likely, and the neighbours of likely partners of neighbours.

    Parameters
    ----------
    a, b : Links
        The graphs.
    now : Candidates
        The candidates so far.
    limits : Limits
        What they keep to.
    few : int, default 24
        How many there are, at most.

    Returns
    -------
    partners : ndarray of int32, shape (n, k)
        The new candidates, −1 where there are fewer.
    places : ndarray of int32, shape (n, k)
        The places of the same among the old ones, −1 for new ones.
    """
    partners = np.full((len(a), few), -1, dtype=np.int32)
    places = partners.copy()
    _propose(
        a.starts, a.nodes, a.pulls, b.starts, b.nodes, b.pulls, now.partners, now.likely,
        MANY.least, *limits, partners, places,
    )  # fmt: skip
    return partners, places


@compiled
def _propose(
    a_starts: Any, a_nodes: Any, a_pulls: Array, b_starts: Any, b_nodes: Any, b_pulls: Array,
    candidates: Any, likely: Array, least: float, known: Any, taken: Any, forbidden_starts: Any,
    forbidden: Any, partners: Any, places: Any,
) -> None:  # fmt: skip
    """Fill in new candidates and their places among the old ones."""
    n, m = len(a_starts) - 1, len(b_starts) - 1
    votes, listed, slot = np.zeros(m), np.empty(m, np.int64), np.full(m, -1, np.int64)
    for i in range(n):
        count, mass = 0, 0.0
        for y in range(candidates.shape[1]):
            j = candidates[i, y]
            if j < 0:
                break
            slot[j] = y
            mass += likely[i, y]
            listed[count] = j
            count += 1
            votes[j] = 1e-9 + 10.0 * likely[i, y]
        for t in range(a_starts[i], a_starts[i + 1]):
            k = a_nodes[t]
            for y in range(candidates.shape[1]):
                at = candidates[k, y]
                if at < 0 or likely[k, y] < least:
                    break
                vote = likely[k, y] * a_pulls[k] * b_pulls[at] * a_pulls[i]
                for u in range(b_starts[at], b_starts[at + 1]):
                    j = b_nodes[u]
                    if votes[j] == 0.0:
                        listed[count] = j
                        count += 1
                    votes[j] += vote * b_pulls[j]
        for t in range(forbidden_starts[i], forbidden_starts[i + 1]):
            if votes[forbidden[t]] != 0.0:
                votes[forbidden[t]] = -1.0
        fewer = FEW if mass > SETTLED else partners.shape[1]
        values = np.empty(count)
        for c in range(count):
            j = listed[c]
            values[c] = votes[j]
            if (known[i] >= 0 and j != known[i]) or (known[i] < 0 and taken[j]):
                values[c] = -1.0
        order = np.argsort(-values)
        for c in range(min(fewer, count)):
            if values[order[c]] <= 0.0:
                break
            j = listed[order[c]]
            partners[i, c] = j
            places[i, c] = slot[j]
        if known[i] >= 0 and partners[i, 0] < 0:
            partners[i, 0] = known[i]
        for c in range(count):
            votes[listed[c]] = 0.0
            slot[listed[c]] = -1
