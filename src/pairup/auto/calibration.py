"""From votes to probabilities, and to a verdict on the whole matching."""

import numpy as np
from scipy.special import expit, logit

from pairup.auto.consensus import Consensus, of_pairs
from pairup.auto.metrics import metric_in_words
from pairup.auto.schedule import CALIBRATION, NEARNESS
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.types import Array, Float32Array, Indices


def features(votes: Array, plan: Array | Float32Array | None, consensus: Consensus) -> Array:
    """Return the features of pairs with these vote shares and these entries of the mean plan of the last stage.

    They are the two themselves, the logarithm of the ratio of the held-out score to that of unrelated sets, times the
    square root of the number of objects, since it varies the less the more there are, and the log odds of the mean vote
    and of the mean plan of all pairs of the matching. What concerns the plan is left out where
    the last stage did not run.

    Parameters
    ----------
    votes : ndarray
        Vote shares of pairs, of any shape.
    plan : ndarray or None
        Their mean plan, of the same shape.
    consensus : Consensus
        The combined result of all candidates, its significance known.

    Returns
    -------
    ndarray of shape (…, 5) or (…, 3)
        The features, along a new last axis.
    """
    own: list[Array | Float32Array] = [votes]
    means = [mean_log_odds(consensus.votes, consensus.indices)]
    if plan is not None:
        assert consensus.plan is not None
        own.append(plan)
        means.append(mean_log_odds(consensus.plan, consensus.indices))
    objects = min(*consensus.votes.shape, CALIBRATION.most_objects)
    of_set = _significance(consensus) * np.sqrt(objects / 100.0), *means
    return np.stack([*own, *(np.full(votes.shape, value) for value in of_set)], axis=-1)


def mean_log_odds(table: Array | Float32Array, indices: Indices) -> float:
    """Return the log odds of the mean share that the pairs of a matching have.

    Parameters
    ----------
    table : ndarray of shape (n, m)
        A share for every pair.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    float
        The log odds.
    """
    shares = of_pairs(table, indices)
    return float(log_odds(np.atleast_1d(shares.mean() if len(shares) else 0.0), CALIBRATION.least_share)[0])


def log_odds(probability: Array, least: float) -> Array:
    """Return the logarithms of odds, those of 0 and 1 bounded.

    Parameters
    ----------
    probability : ndarray
        Probabilities.
    least : float
        Probabilities nearer to 0 and 1 than this are moved away from them.

    Returns
    -------
    ndarray
        The logarithms of their odds.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5, 1.0]), 0.001).round(2)
    array([-6.91,  0.  ,  6.91])
    """
    odds: Array = logit(np.clip(probability, least, 1.0 - least))
    return odds


def _excess(consensus: Consensus) -> float:
    """Return how far the best metric exceeds unrelated data coarsely, 0 at least."""
    return max(0.0, consensus.best_metric.excess)


def _significance(consensus: Consensus) -> float:
    """Return how far the matching exceeds unrelated data finely."""
    assert consensus.significance is not None
    return consensus.significance.log_ratio


def calibrate(votes: Array, plan: Array | Float32Array | None, consensus: Consensus) -> Array:
    """Return how likely pairs with these votes and this mean plan are right, by logistic regression on `features`.

    Few objects match well by accident, so that part of what is said of them is chance, most of it where the matching
    does not exceed those of unrelated sets.

    Parameters
    ----------
    votes : ndarray
        Vote shares of pairs, of any shape.
    plan : ndarray or None
        Their mean plan, of the same shape.
    consensus : Consensus
        The combined result of all candidates.

    Returns
    -------
    ndarray
        Probabilities, of the shape of the votes.
    """
    by_votes = CALIBRATION.votes_intercept, CALIBRATION.votes_coefficients
    intercept, coefficients = by_votes if plan is None else (CALIBRATION.intercept, CALIBRATION.coefficients)
    probability: Array = expit(intercept + features(votes, plan, consensus) @ np.array(coefficients))
    probability *= share_among_ties(consensus)
    objects = min(consensus.votes.shape)
    evidence = max(_significance(consensus) / CALIBRATION.significant, _excess(consensus) / CALIBRATION.excess_from)
    trusts = CALIBRATION.trust_without_evidence, CALIBRATION.trust_with_evidence
    trust = np.interp(evidence, (0.0, 1.0), [np.interp(objects, CALIBRATION.few_objects, shares) for shares in trusts])
    kept: Array = trust * probability + (1.0 - trust) / objects
    return kept


def share_among_ties(consensus: Consensus) -> float:
    """Return how likely a solution is beside others that explain the data exactly as well, such as a mirror image.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.

    Returns
    -------
    float
        1 where no other solution comes close, 1/2 beside an equally good one.
    """
    best = float(consensus.scores[0])
    behind = np.array([best - score for _, score in consensus.rivals]) / max(abs(best), 1e-30)
    return float(1.0 / (1.0 + np.exp(-behind / CALIBRATION.tie).sum()))


def pair_probabilities(consensus: Consensus, plan: Float32Array, constraints: Constraints) -> Array:
    """Return how likely every pair is.

    The best supported pair of a row is as likely as such pairs have been right before, the others less in proportion;
    what they leave is shared by the others as a soft plan says, but for a part that all of them share.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    plan : ndarray of float32, shape (n, m)
        A soft plan around the matching.
    constraints : Constraints
        What the matching keeps to.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; each row and column sums to 1 at the most, known pairs have 1 and forbidden ones 0.
    """
    most = np.maximum(consensus.likeness.max(axis=1, keepdims=True), 1e-30)
    likely: Array = calibrate(consensus.votes, consensus.plan, consensus) * (consensus.likeness / most)
    matched = np.flatnonzero(consensus.indices >= 0)
    pairs = matched, consensus.indices[matched]
    own = likely[pairs]
    likely[pairs] = 0.0
    room = np.ones((constraints.n, 1))
    room[matched, 0] -= own
    likely *= np.minimum(1.0, room / np.maximum(likely.sum(axis=1, keepdims=True), 1e-30))
    left = np.maximum(room - likely.sum(axis=1, keepdims=True), 0.0) * constraints.n_pairs / constraints.n
    uniform = CALIBRATION.uniform_share
    shares = (1.0 - uniform) * plan / np.maximum(plan.sum(axis=1, keepdims=True), 1e-30) + uniform / constraints.m
    shares[pairs] = 0.0  # what is left is the probability that these pairs are wrong
    shares[constraints.forbidden] = 0.0
    likely += left * shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    likely[pairs] = own
    return balance(impose_known(likely, constraints), constraints, consensus.indices)


def impose_known(likely: Array, constraints: Constraints) -> Array:
    """Return probabilities with those of known pairs set to 1.

    Parameters
    ----------
    likely : ndarray of shape (n, m)
        Probabilities of all pairs.
    constraints : Constraints
        The known pairs.

    Returns
    -------
    ndarray of shape (n, m)
        The same array.
    """
    rows, columns = constraints.anchors
    likely[rows, :] = 0.0
    likely[:, columns] = 0.0
    likely[rows, columns] = 1.0
    return likely


def balance(likely: Array, constraints: Constraints, indices: Indices | None = None) -> Array:
    """Scale rows and columns of probabilities until none sums to more than 1, and those that must have a partner to 1.

    Parameters
    ----------
    likely : ndarray of shape (n, m)
        Probabilities of all pairs, whose rows sum to 1 at the most.
    constraints : Constraints
        How many objects have a partner.
    indices : ndarray of int, shape (n,), optional
        A matching whose pairs keep their probability; the others share what these leave.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; rows sum to 1 up to rounding where every x has a partner, columns where every y has one.

    Examples
    --------
    >>> balance(np.array([[0.75, 0.25], [0.75, 0.25]]), Constraints(2, 2, 2))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> balance(np.array([[0.8, 0.1], [0.1, 0.8]]), Constraints(2, 2, 2), np.array([0, 1])).round(2)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    complete = constraints.n_pairs == constraints.smallest
    all_x, all_y = complete and constraints.n <= constraints.m, complete and constraints.m <= constraints.n
    matched = np.flatnonzero(indices >= 0) if indices is not None else np.empty(0, dtype=np.intp)
    pairs = matched, (matched if indices is None else indices[matched])
    rest, of_x, of_y = likely.copy(), np.ones((constraints.n, 1)), np.ones(constraints.m)
    rest[pairs] = 0.0
    of_x[pairs[0], 0] -= likely[pairs]
    of_y[pairs[1]] -= likely[pairs]
    for _ in range(CALIBRATION.sweeps):
        columns = rest.sum(axis=0)
        rest *= _scale(of_y, columns, exactly=all_y)
        rest *= _scale(of_x, rest.sum(axis=1, keepdims=True), exactly=all_x)
        if (np.abs(columns - of_y) if all_y else columns - of_y).max() < CALIBRATION.balanced:
            break
    rest[pairs] = likely[pairs]
    return rest


def _scale(wanted: Array, sums: Array, *, exactly: bool) -> Array:
    """Return what rows or columns are multiplied by to sum to what is wanted, or to no more than that."""
    factors: Array = np.maximum(wanted, 0.0) / np.maximum(sums, 1e-30)
    return factors if exactly else np.minimum(factors, 1.0)


def _tell_plan(consensus: Consensus) -> list[str]:
    """Say how far random halves of the pairs lead to the others, where that was tried."""
    if consensus.plan is None:
        return []
    share = float(of_pairs(consensus.plan, consensus.indices).mean())
    return [f"Random halves of the pairs lead back to a pair with {share:.0%} on average."]


def assess(confidence: Array, consensus: Consensus) -> tuple[bool, float, str]:
    """Assess a matching by its expected share of right pairs, and say what it rests on.

    Parameters
    ----------
    confidence : ndarray of shape (n_pairs,)
        Probability of each pair.
    consensus : Consensus
        The combined result of all candidates, its significance known.

    Returns
    -------
    reliable : bool
        Whether the data identify the pairing: most pairs are expected to be right.
    reliability : float
        The expected share of right pairs.
    report : str
        The reasons in words.
    """
    significance = consensus.significance
    assert significance is not None
    best = consensus.best_metric
    expected = float(confidence.mean()) if len(confidence) else 0.0
    reliable = expected >= CALIBRATION.reliable_from
    near_tie = bool(consensus.rivals) and consensus.rivals[0][1] > CALIBRATION.near_tie * consensus.scores[0]
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"On average {consensus.agreement:.0%} of the weighted candidates agree on a pair.",
        *_tell_plan(consensus),
        f"Best metric: {metric_in_words(best.metric)}. Alignment {best.value:.2f} (unrelated data: {best.null:.2f}).",
        f"Held-out score {significance.found:.2f} (unrelated data: {significance.unrelated:.2f}).",
    ]
    if reliable:
        lines.append("The data identify the pairing; see `confidence` for single pairs.")
        if near_tie:
            lines.append("Another solution explains the data nearly as well; see `alternatives`.")
        return True, expected, "\n".join(lines)
    doubts = []
    if consensus.nearness is not None and consensus.nearness <= NEARNESS.told_up_to:
        doubts.append(
            "single pairs are not identified, but on average a partner is expected among the "
            f"{consensus.nearness:.0%} nearest to the true one (chance: 50%), and `expected_partner` is good"
        )
    elif significance.log_ratio < CALIBRATION.significant and best.excess < CALIBRATION.excess_from:
        doubts.append("the pairs are hardly more dependent than those found in unrelated data of the same shape")
    if near_tie:
        doubts.append("another solution explains the data as well (see `alternatives`); a few known pairs would decide")
    if not doubts:
        doubts.append("too few pairs are found again by other candidates")
    return False, expected, "\n".join([*lines, DOUBT + "; ".join(doubts) + "."])
