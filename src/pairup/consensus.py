"""One matching from many candidates, without labels: which to believe, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.annealing import Terms
from pairup.kernels import Array
from pairup.measures import Indices
from pairup.ratio import relative
from pairup.search import Candidate, Outlook
from pairup.views import Joint

VOTERS = 6
COMPANY = 0.06  # how much agreement with other views counts beside the held-out score
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

    >>> scores(np.array([[-4.0, -1.0], [-2.0, -2.0]]), np.array([1.0, 1.0]))
    array([0.75, 0.75])
    """
    weights = np.maximum(weights, FAINT)
    score: Array = relative(J) @ (weights / weights.sum())
    return score


def consensus(
    candidates: Sequence[Candidate],
    J: Array,
    weights: Array,
    similarity: Array,
    terms: Terms,
    outlooks: Sequence[Outlook],
) -> Consensus:
    """Rank candidates by held-out J and by their agreement with other views, and let the best vote.

    Parameters
    ----------
    candidates : what the search came by.
    J : their held-out scores (rows) under several density-ratio models (columns), lower is better.
    weights : of these judges. A view in which X matches unrelated sets as well as it matches Y has nothing to say.
    similarity : a kernel matrix of Y.
    terms : what the matching keeps to.
    outlooks : what the coarse look at each view came by.
    """
    score = scores(J, weights)
    alike = likeness([c.indices for c in candidates], similarity)
    views = np.array([c.view for c in candidates])
    score = score - FLATTERED * (views == Joint.name)
    stranger = views[:, None] != views
    if stranger.any():
        company = (alike * stranger).sum(axis=1) / stranger.sum(axis=1)
        score = score + COMPANY * company / max(float(company.max()), 1e-12)
    order = np.argsort(-score, kind="stable")
    ranked = [candidates[k] for k in order]
    score, alike = score[order], alike[np.ix_(order, order)]
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
