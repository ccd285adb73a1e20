"""One matching from many candidates, without labels: ranked by held-out scores, combined by votes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.auto.geometry import JointGeometry
from pairup.auto.schedule import CONSENSUS
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.significance import Significance
from pairup.constraints import Constraints
from pairup.density_ratio import relative_scores
from pairup.types import Array, Float32Array, Indices


@dataclass(frozen=True, eq=False)
class Consensus:
    """The combined result of all candidates.

    Parameters
    ----------
    candidates : list of Candidate
        All of them, the best first.
    scores : ndarray of shape (n_candidates,)
        Their scores, larger is better, 1 at the most.
    votes : ndarray of shape (n, m)
        For every pair, the weighted share of candidates that have it.
    indices : ndarray of int, shape (n,)
        The matching: that of the best candidates' votes, or that of the mean plan around it.
    rivals : list of (Candidate, float)
        The best candidate of each other solution, and its score.
    support : float
        How similar the best solutions of the other metrics are, 1 at the most.
    coarse : list of CoarseResult
        What the coarse search found in each metric.
    significance : Significance, optional
        How far the matching exceeds what the same search finds in unrelated sets.
    plan : ndarray of float32, shape (n, m), optional
        The mean plan of the last stage, where it ran: how often random halves of the pairs lead to a pair.
    nearness : float, optional
        The share of objects expected nearer to the true partner than the found one is.
    """

    candidates: list[Candidate]
    scores: Array
    votes: Array
    indices: Indices
    rivals: list[tuple[Candidate, float]]
    support: float
    coarse: list[CoarseResult]
    significance: Significance | None = None
    plan: Float32Array | None = None
    nearness: float | None = None

    @property
    def best_metric(self) -> CoarseResult:
        """The coarse result that exceeds unrelated data most."""
        return max(self.coarse, key=lambda result: result.excess)

    @property
    def agreement(self) -> float:
        """The mean vote of the chosen pairs."""
        return float(of_pairs(self.votes, self.indices).mean())

    @property
    def likeness(self) -> Array:
        """How well each pair of objects is supported: by its votes, or by a part of its mean plan if that is more."""
        return self.votes if self.plan is None else np.maximum(self.votes, CONSENSUS.plan_votes * self.plan)


def of_pairs(values: Array | Float32Array, indices: Indices) -> Array:
    """Return the values of the pairs of a matching.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Values of all pairs.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Those of its pairs, in the order of X.
    """
    matched = np.flatnonzero(indices >= 0)
    return np.asarray(values[matched, indices[matched]], dtype=np.float64)


def partner_similarity(matchings: Sequence[Indices], similarity: Array) -> Array:
    """Return for all pairs of matchings how similar they are: mean correlation of the partners they give to an x.

    Two matchings that give every x a partner of the same kind are similar, though no pair may be the same.

    Parameters
    ----------
    matchings : sequence of ndarray of int, shape (n,)
        Matchings.
    similarity : ndarray of shape (m, m)
        A kernel matrix of Y.

    Returns
    -------
    ndarray of shape (n_matchings, n_matchings)
        Similarities, 1 on the diagonal.
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


def median_scores(J: Array, weights: Array) -> Array:
    """Return the weighted median over models (columns of J) of the relative scores of matchings (rows).

    By the median, a few models that fit nothing but accidents do not count.

    Parameters
    ----------
    J : ndarray of shape (n_matchings, n_models)
        Held-out scores, lower is better.
    weights : ndarray of shape (n_models,)
        Weights of the models.

    Returns
    -------
    ndarray of shape (n_matchings,)
        Scores, larger is better, 1 at the most.

    Examples
    --------
    >>> median_scores(np.array([[-4.0, -1.0, -3.0], [-2.0, -2.0, -2.7]]), np.array([1.0, 1.0, 1.0]))
    array([1. , 0.9])
    """
    weights = np.maximum(weights, CONSENSUS.least_weight)
    relative = relative_scores(J)
    order = np.argsort(relative, axis=1)
    up_to = np.cumsum(weights[order], axis=1)
    middle = (up_to - 0.5 * weights[order]) / weights.sum()
    ranked = np.take_along_axis(relative, order, axis=1)
    return np.array([np.interp(0.5, places, values) for places, values in zip(middle, ranked, strict=True)])


def form_consensus(
    candidates: Sequence[Candidate],
    J: Array,
    weights: Array,
    similarity: Array,
    constraints: Constraints,
    coarse: Sequence[CoarseResult],
    unrelated: float = 0.0,
) -> Consensus:
    """Rank candidates by held-out scores, and let the best vote.

    Parameters
    ----------
    candidates : sequence of Candidate
        What the search found.
    J : ndarray of shape (n_candidates, n_models)
        Their held-out scores under several density-ratio models, lower is better.
    weights : ndarray of shape (n_models,)
        Weights of the models. A metric in which X aligns with unrelated sets as well as with Y counts little.
    similarity : ndarray of shape (m, m)
        A kernel matrix of Y.
    constraints : Constraints
        What the matching keeps to.
    coarse : sequence of CoarseResult
        What the coarse search found in each metric.
    unrelated : float, default 0.0
        The relative score of what is found in unrelated sets; it counts beside a prior in nats only.

    Returns
    -------
    Consensus
        The combined result.
    """
    joint = np.array([candidate.metric == JointGeometry.metric for candidate in candidates])
    scores = median_scores(J, weights) - CONSENSUS.joint_penalty * joint
    if constraints.prior_unit:
        scores = weigh_by_prior(scores, [candidate.indices for candidate in candidates], constraints, unrelated)
    order = np.argsort(-scores, kind="stable")
    ranked = [candidates[k] for k in order]
    scores, similar = scores[order], partner_similarity([c.indices for c in ranked], similarity)
    votes = count_votes(ranked, np.exp((scores - scores[0]) / CONSENSUS.sharpness), constraints)
    # Votes of different solutions, such as a mirror image, would add up to a matching that neither of them means.
    same = [candidate for candidate, alike in zip(ranked, similar[0], strict=True) if alike >= CONSENSUS.voter]
    few = count_votes(same[: CONSENSUS.voters], np.ones(min(CONSENSUS.voters, len(same))), constraints)
    rivals: list[int] = []
    for k in range(1, len(ranked)):
        if all(similar[k, other] < CONSENSUS.same for other in [0, *rivals]):
            rivals.append(k)
    indices = constraints.round(few + CONSENSUS.tie_break * votes)
    others = [result.candidates[0].indices for result in coarse if result.metric != ranked[0].metric]
    support = float(partner_similarity([indices, *others], similarity)[0, 1:].mean()) if others else 0.0
    return Consensus(
        ranked,
        scores,
        votes,
        indices,
        [(ranked[k], float(scores[k])) for k in rivals],
        max(support, 0.0),
        [result.without_plans() for result in coarse],
    )


def settle(consensus: Consensus, plan: Float32Array, constraints: Constraints) -> Consensus:
    """Return the consensus with the matching of largest mean plan.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    plan : ndarray of float32, shape (n, m)
        The mean plan of annealings that start from its matching.
    constraints : Constraints
        What the matching keeps to.

    Returns
    -------
    Consensus
        The same with another matching.
    """
    return replace(consensus, indices=constraints.round(plan + CONSENSUS.tie_break * consensus.votes), plan=plan)


def weigh_by_prior(
    scores: Array, matchings: Sequence[Indices], constraints: Constraints, unrelated: float = 0.0
) -> Array:
    """Multiply scores by the likelihood of the matchings by a prior in nats, the geometric mean over their pairs.

    A relative score is a ratio of mean density ratios, so the two have one unit. A search finds dependence in unrelated
    sets too: scores below theirs are raised to it, so that it never speaks against what the prior prefers.

    Parameters
    ----------
    scores : ndarray of shape (n_matchings,)
        Relative scores by the data, larger is better.
    matchings : sequence of ndarray of int, shape (n,)
        The matchings.
    constraints : Constraints
        The prior.
    unrelated : float, default 0.0
        The relative score of what is found in unrelated sets.

    Returns
    -------
    ndarray of shape (n_matchings,)
        Scores, larger is better, the best 1.

    Examples
    --------
    >>> prior = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    >>> matchings = [np.array([1, 0]), np.array([0, 1])]
    >>> weigh_by_prior(np.array([1.0, 0.9]), matchings, Constraints(2, 2, 2, prior=prior, prior_unit=1.0)).round(2)
    array([0.41, 1.  ])
    """
    assert constraints.prior is not None
    nats = []
    for indices in matchings:
        matched = np.flatnonzero(indices >= 0)
        nats.append(constraints.prior_unit * float(constraints.prior[matched, indices[matched]].mean()))
    both = np.log(np.maximum(scores, max(unrelated, CONSENSUS.least_score))) + np.array(nats)
    weighed: Array = np.exp(both - both.max())
    return weighed


def count_votes(candidates: Sequence[Candidate], weights: Array, constraints: Constraints) -> Array:
    """Return for every pair the weighted share of candidates that have it.

    Parameters
    ----------
    candidates : sequence of Candidate
        Who votes.
    weights : ndarray of shape (n_candidates,)
        Their weights.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    ndarray of shape (n, m)
        Shares, 1 at the most.
    """
    votes = np.zeros((constraints.n, constraints.m))
    for candidate, weight in zip(candidates, weights / weights.sum(), strict=True):
        matched = np.flatnonzero(candidate.indices >= 0)
        votes[matched, candidate.indices[matched]] += weight
    return votes
