"""The search of a matching of many nodes: candidates grow from the likeliest pairs along the links of both graphs."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from pairup.climb import Step
from pairup.graph.beliefs import Evidence, Support, balance_messages, balance_pairs, link_candidates, renew
from pairup.graph.candidates import Candidates, Limits, gather_candidates, propose
from pairup.graph.links import (
    Links,
    compare_degrees,
    compare_kinds,
    compare_loops,
    count_links_kept,
    measure_clustering,
)
from pairup.graph.schedule import MANY, count_candidates
from pairup.graph.trees import compare_hubs
from pairup.types import Array, Indices


class Hints(NamedTuple):
    """Pairs that are likelier or less likely than others, whatever the links say.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (k,)
        The pairs.
    edges : ndarray of shape (k,)
        What each is worth, in edges kept.
    """

    rows: Indices
    columns: Indices
    edges: Array


def weigh_evidence(a: Links, b: Links, shared: float, *, weighted: bool) -> Evidence:
    """Return what pairs of nodes are judged by.

    Parameters
    ----------
    a, b : Links
        The graphs.
    shared : float
        Share of the edges that both graphs have.
    weighted : bool
        Whether links differ in weight.

    Returns
    -------
    Evidence
        The tables, and the weight s / (λ (1 − s)²) of a pair of links.
    """
    d, e = (np.repeat(np.maximum(links.degrees - 1, 0), links.degrees) for links in (a, b))
    mean = 0.5 * (len(a.nodes) / len(a) + len(b.nodes) / len(b))
    return Evidence(
        compare_degrees(a.degrees, b.degrees, shared),
        compare_degrees(d, e, shared),
        compare_kinds(a, b, weighted=weighted),
        compare_loops(a, b),
        shared / (mean * (1.0 - shared) ** 2),
    )


def grow(
    a: Links,
    b: Links,
    evidence: Evidence,
    limits: Limits,
    hints: Hints,
    left_out: float,
    history: list[Step],
    most: int = MANY.renewals,
) -> Generator[Step, None, Candidates]:
    """Pass messages among candidates, and renew these, until the probabilities are steady.

    Parameters
    ----------
    a, b : Links
        The graphs.
    evidence : Evidence
        What pairs are judged by.
    limits : Limits
        What the matching keeps to.
    hints : Hints
        Pairs that are likelier than others.
    left_out : float
        Share of the smaller graph that has no partner.
    history : list of Step
        Gets one step for each renewal.
    most : int, default 30
        How often candidates are renewed, at most.

    Returns
    -------
    Candidates
        The candidates in the end.

    Yields
    ------
    Step
        A step for each renewal.
    """
    n, m = len(a), len(b)
    n_links = len(a.nodes), len(b.nodes)
    worth = np.log1p(evidence.weight * max(n_links))  # of an edge that is kept
    seeds, seed_logs = start(a, b, evidence, limits, hints, float(worth))
    keys = hints.rows.astype(np.int64) * m + hints.columns
    order = np.argsort(keys)
    keys, worths = keys[order], worth * hints.edges[order]
    now = Candidates(seeds, balance_pairs(seed_logs, seeds, m, left_out))
    few = count_candidates(len(a.nodes) / n)
    clustered = min(measure_clustering(links) for links in (a, b))
    temper = 1.0 - clustered if clustered > MANY.clustered_from else 1.0
    support: Support | None = None
    messages: Array = np.empty(0)
    before, calm = -1.0, 0
    for number in range(most):
        partners, places = propose(a, b, now, limits, few)
        old, support = support, link_candidates(a, b, partners)
        likely = np.where(places >= 0, np.take_along_axis(now.likely, np.maximum(places, 0), 1), 1.0 / max(n, m))
        if old is None:
            of_pair = np.repeat(np.arange(partners.size), np.diff(support.starts))
            heard = np.empty(len(of_pair))
            heard[support.reverse] = likely.ravel()[of_pair] * max(n_links)
            messages = heard
        else:
            found = support.find(old, n_links[1])
            messages = np.where(found >= 0, messages[found], 1.0) if len(messages) else np.ones(len(found))
        held = 1.0 - number / MANY.hold
        extra = add_hints(partners, keys, worths, m)
        for _ in range(MANY.rounds):
            free = free_shares(partners, likely, m)
            logs, said = renew(a, b, partners, support, messages, free, evidence)
            more = extra
            if held > 0:
                more = extra + hold_seeds(partners, logs + extra, seeds, held * seed_logs)
            likely = balance_pairs(logs + more, partners, m, left_out)
            said += np.repeat(more.ravel(), np.diff(support.starts))
            if temper < 1.0:
                said *= temper
            heard = np.empty(len(said))
            heard[support.reverse] = np.exp(np.clip(said, -20.0, 40.0))
            messages = balance_messages(heard, support, n_links)
        order = np.argsort(-np.where(partners >= 0, likely, -1.0), axis=1, kind="stable")
        now = Candidates(np.take_along_axis(partners, order, 1), np.take_along_axis(likely, order, 1))
        chosen = now.choose(m)
        kept = count_links_kept(a.starts, a.nodes, b.starts, b.nodes, chosen) / 2
        step = Step(0, number, chosen, float(kept))
        history.append(step)
        yield step
        certain = float(now.likely[:, 0].mean())
        calm = calm + 1 if abs(certain - before) < MANY.steady and number >= MANY.hold else 0
        before = certain
        if calm == 2:
            break
    return now


def start(a: Links, b: Links, evidence: Evidence, limits: Limits, hints: Hints, worth: float) -> tuple[Any, Array]:
    """Return the first candidates: pairs of hubs, known pairs and those that a prior names.

    Parameters
    ----------
    a, b : Links
        The graphs.
    evidence : Evidence
        What pairs are judged by.
    limits : Limits
        What the matching keeps to.
    hints : Hints
        Pairs that are likelier than others.
    worth : float
        What an edge that is kept adds to a log-ratio.

    Returns
    -------
    partners : ndarray of int32, shape (n, k)
        The candidates, −1 where there are fewer.
    logs : ndarray of shape (n, k)
        Their log-ratios.
    """
    hubs, partners, ratios = compare_hubs(a, b, evidence.degrees, evidence.branches, evidence.kinds, evidence.weight)
    known = np.flatnonzero(limits.known >= 0)
    rows = np.concatenate([np.repeat(hubs, partners.shape[1]), known, hints.rows])
    columns = np.concatenate([partners.ravel(), limits.known[known], hints.columns])
    logs = np.concatenate([ratios.ravel(), np.full(len(known), 40.0), hints.edges * worth])
    return gather_candidates(len(a), rows, columns, logs, limits)


def add_hints(partners: Any, keys: Any, worths: Array, m: int) -> Array:
    """Return what hints add to the log-ratios of candidates.

    Parameters
    ----------
    partners : ndarray of int32, shape (n, k)
        The candidates.
    keys : ndarray of int, shape (l,)
        Pairs i · m + j, rising.
    worths : ndarray of shape (l,)
        What each adds.
    m : int
        How many nodes the second graph has.

    Returns
    -------
    ndarray of shape (n, k)
        What is added, 0 for most.
    """
    added = np.zeros(partners.shape)
    if len(keys):
        own = np.arange(len(partners))[:, None] * m + np.maximum(partners, 0)
        places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        hit = (keys[places] == own) & (partners >= 0)
        added[hit] = worths[places[hit]]
    return added


def hold_seeds(partners: Any, logs: Array, seeds: Any, seed_logs: Array) -> Array:
    """Return what lifts the first candidates to their first log-ratios.

    Parameters
    ----------
    partners : ndarray of int32, shape (n, k)
        The candidates now.
    logs : ndarray of shape (n, k)
        Their log-ratios.
    seeds : ndarray of int32, shape (n, l)
        The first candidates.
    seed_logs : ndarray of shape (n, l)
        What they have at least.

    Returns
    -------
    ndarray of shape (n, k)
        What is added, 0 for most.
    """
    lifted = np.zeros(partners.shape)
    for place in range(seeds.shape[1]):
        row, column = np.nonzero((partners == seeds[:, place : place + 1]) & (partners >= 0))
        lifted[row, column] = np.maximum(seed_logs[row, place] - logs[row, column], 0.0)
    return lifted


def free_shares(partners: Any, likely: Array, m: int) -> tuple[Array, Array]:
    """Return how likely no candidate is the partner of each node of either graph.

    Parameters
    ----------
    partners : ndarray of int32, shape (n, k)
        The candidates.
    likely : ndarray of shape (n, k)
        Their probabilities.
    m : int
        How many nodes the second graph has.

    Returns
    -------
    rows : ndarray of shape (n,)
        Of the first graph.
    columns : ndarray of shape (m,)
        Of the second.
    """
    there = partners >= 0
    mass = np.where(there, likely, 0.0)
    columns = np.bincount(partners[there], weights=mass[there], minlength=m)
    return np.clip(1.0 - mass.sum(axis=1), 0.0, 1.0), np.clip(1.0 - columns, 0.0, 1.0)
