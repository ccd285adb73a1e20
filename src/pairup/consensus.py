"""One matching from many candidates, without labels: which to believe, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.annealing import Terms
from pairup.density_ratio import relative
from pairup.search import Candidate, Outlook
from pairup.types import Array, Indices
from pairup.views import Joint

VOTERS = 6
FLATTERED = 0.02  # by this much the scores of the joint view are too good: it is fitted to all judges at once
SHARPNESS = 0.1  # candidates this far behind the best count 1/e as much in the votes
FAINT = 0.02  # the weight of a view that has nothing to say
SAME = 0.6  # matchings whose partners are this alike are one solution


@dataclass(frozen=True)
class Consensus:
    """What the candidates say together.

    Parameters
    ----------
    candidates : all of them, the best first.
    scores : what ranks them; larger is better.
    votes : for every pair, the weighted share of candidates that have it.
    indices : the matching of the best candidates' votes.
    rivals : candidates of other solutions, the best of each.
    support : how far other views came by the same solution, or took it over, 1 at the most.
    """

    candidates: list[Candidate]
    scores: Array
    votes: Array
    indices: Indices
    rivals: list[tuple[Candidate, float]]
    support: float


def likeness(matchings: Sequence[Indices], similarity: Array) -> Array:
    """Return for all pairs of matchings how alike they are: mean correlation of the partners they give to an x.

    Two matchings that give every x a partner of the same kind agree, though no pair may be the same.
    """
    L = similarity - similarity.mean()
    top = float(np.diag(L).mean())
    size = len(matchings)
    alike = np.ones((size, size))
    for a, p in enumerate(matchings):
        for b, q in enumerate(matchings[:a]):
            both = (p >= 0) & (q >= 0)
            alike[a, b] = alike[b, a] = float(L[p[both], q[both]].mean()) / top if both.any() else 0.0
    return alike


def scores(J: Array, weights: Array) -> Array:
    """Return how well matchings (rows of J) do in units of the best that each judge (column) has seen, 1 at the most.

    It is what the median judge says: a few that see nothing but accidents have no say in it.

    >>> scores(np.array([[-4.0, -1.0, -3.0], [-2.0, -2.0, -2.7]]), np.array([1.0, 1.0, 1.0]))
    array([1. , 0.9])
    """
    weights = np.maximum(weights, FAINT)
    said = relative(J)
    order = np.argsort(said, axis=1)
    up_to = np.cumsum(weights[order], axis=1)
    middle = (up_to - 0.5 * weights[order]) / weights.sum()
    ranked = np.take_along_axis(said, order, axis=1)
    return np.array([np.interp(0.5, places, values) for places, values in zip(middle, ranked, strict=True)])


def consensus(
    candidates: Sequence[Candidate],
    J: Array,
    weights: Array,
    similarity: Array,
    terms: Terms,
    outlooks: Sequence[Outlook],
) -> Consensus:
    """Rank candidates by held-out J, and let the best vote.

    Parameters
    ----------
    candidates : what the search came by.
    J : their held-out scores (rows) under several density-ratio models (columns), lower is better.
    weights : of these judges. A view in which X matches unrelated sets as well as it matches Y has nothing to say.
    similarity : a kernel matrix of Y.
    terms : what the matching keeps to.
    outlooks : what the coarse look at each view came by.
    """
    score = scores(J, weights) - FLATTERED * np.array([c.view == Joint.name for c in candidates])
    order = np.argsort(-score, kind="stable")
    ranked = [candidates[k] for k in order]
    score, alike = score[order], likeness([c.indices for c in ranked], similarity)
    votes = tally(ranked, np.exp((score - score[0]) / SHARPNESS), terms)
    few = tally(ranked[:VOTERS], np.ones(min(VOTERS, len(ranked))), terms)
    rivals: list[int] = []
    for k in range(1, len(ranked)):
        if all(alike[k, other] < SAME for other in [0, *rivals]):
            rivals.append(k)
    indices = terms.round(few + 0.01 * votes)  # the other candidates break ties
    others = [outlook.basins[0].indices for outlook in outlooks if outlook.view != ranked[0].view]
    support = float(likeness([indices, *others], similarity)[0, 1:].mean()) if others else 0.0
    return Consensus(ranked, score, votes, indices, [(ranked[k], float(score[k])) for k in rivals], max(support, 0.0))


def tally(candidates: Sequence[Candidate], weights: Array, terms: Terms) -> Array:
    """Return for every pair the weighted share of candidates that have it."""
    votes = np.zeros((terms.n, terms.m))
    for candidate, weight in zip(candidates, weights / weights.sum(), strict=True):
        matched = np.flatnonzero(candidate.indices >= 0)
        votes[matched, candidate.indices[matched]] += weight
    return votes
