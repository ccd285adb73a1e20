"""From votes to probabilities, and to a verdict on the whole matching."""

import numpy as np
from scipy.special import expit

from pairup.auto.consensus import Consensus
from pairup.auto.metrics import metric_in_words
from pairup.auto.schedule import CALIBRATION, NEARNESS
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.types import Array, Float32Array


def features(votes: Array, consensus: Consensus) -> Array:
    """Return the features of pairs with these vote shares.

    They are the share itself, how far the best metric exceeds unrelated data coarsely and finely, how close another
    solution comes, how far other metrics support this one, 1/n, and the products of the share with these five.

    Parameters
    ----------
    votes : ndarray
        Vote shares of pairs, of any shape.
    consensus : Consensus
        The combined result of all candidates, its significance known.

    Returns
    -------
    ndarray of shape (…, 11)
        The features, along a new last axis.
    """
    rival = _rival_score(consensus, CALIBRATION.no_rival)
    evidence = _excess(consensus), _significance(consensus)
    of_set = (*evidence, rival, consensus.support, 1.0 / min(consensus.votes.shape))
    of_all = [np.full_like(votes, value) for value in of_set]
    return np.stack([votes, *of_all, *(votes * value for value in of_all)], axis=-1)


def _excess(consensus: Consensus) -> float:
    """Return how far the best metric exceeds unrelated data coarsely, 0 at least."""
    return max(0.0, consensus.best_metric.excess)


def _significance(consensus: Consensus) -> float:
    """Return how far the matching exceeds unrelated data finely."""
    assert consensus.significance is not None
    return consensus.significance.log_ratio


def _rival_score(consensus: Consensus, default: float) -> float:
    """Return the score of the best rival in units of the best, or the default where there is none."""
    return float(consensus.rivals[0][1] / consensus.scores[0]) if consensus.rivals else default


def calibrate_votes(votes: Array, consensus: Consensus) -> Array:
    """Return how likely pairs with these vote shares are right, by logistic regression on `features`.

    Few objects match well by accident, so that part of what is said of them is chance, most of it where the matching
    does not exceed those of unrelated sets.

    Parameters
    ----------
    votes : ndarray
        Vote shares of pairs, of any shape.
    consensus : Consensus
        The combined result of all candidates.

    Returns
    -------
    ndarray
        Probabilities, of the shape of the votes.
    """
    probability: Array = expit(CALIBRATION.intercept + features(votes, consensus) @ np.array(CALIBRATION.coefficients))
    objects = min(consensus.votes.shape)
    evidence = max(_significance(consensus) / CALIBRATION.significant, _excess(consensus) / CALIBRATION.excess_from)
    trusts = CALIBRATION.trust_without_evidence, CALIBRATION.trust_with_evidence
    trust = np.interp(evidence, (0.0, 1.0), [np.interp(objects, CALIBRATION.few_objects, shares) for shares in trusts])
    kept: Array = trust * probability + (1.0 - trust) / objects
    return kept


def pair_probabilities(consensus: Consensus, plan: Float32Array, constraints: Constraints) -> Array:
    """Return how likely every pair is.

    The pair with most votes in its row is as likely as such votes have been right before, the others less in
    proportion; what they leave is shared by the others as a soft plan says, but for a part that all of them share.

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
    most = np.maximum(consensus.votes.max(axis=1, keepdims=True), 1e-30)
    likely: Array = calibrate_votes(consensus.votes, consensus) * (consensus.votes / most)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1.0)
    left = (1.0 - likely.sum(axis=1, keepdims=True)) * constraints.n_pairs / constraints.n
    uniform = CALIBRATION.uniform_share
    shares = (1.0 - uniform) * plan / np.maximum(plan.sum(axis=1, keepdims=True), 1e-30) + uniform / constraints.m
    matched = np.flatnonzero(consensus.indices >= 0)
    shares[matched, consensus.indices[matched]] = 0.0  # what is left is the probability that these pairs are wrong
    shares[constraints.forbidden] = 0.0
    likely += left * shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    return balance(impose_known(likely, constraints), constraints)


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


def balance(likely: Array, constraints: Constraints) -> Array:
    """Scale rows and columns of probabilities until none sums to more than 1, and those that must have a partner to 1.

    Parameters
    ----------
    likely : ndarray of shape (n, m)
        Probabilities of all pairs, whose rows sum to 1 at the most.
    constraints : Constraints
        How many objects have a partner.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; rows sum to 1 up to rounding where every x has a partner, columns where every y has one.

    Examples
    --------
    >>> balance(np.array([[0.75, 0.25], [0.75, 0.25]]), Constraints(2, 2, 2))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    complete = constraints.n_pairs == constraints.smallest
    all_x, all_y = complete and constraints.n <= constraints.m, complete and constraints.m <= constraints.n
    for _ in range(CALIBRATION.sweeps):
        of_y = likely.sum(axis=0)
        likely = likely / np.maximum(of_y, 1e-30 if all_y else 1.0)
        of_x = likely.sum(axis=1, keepdims=True)
        likely /= np.maximum(of_x, 1e-30 if all_x else 1.0)
        if (np.abs(of_y - 1.0) if all_y else of_y - 1.0).max() < CALIBRATION.balanced:
            break
    return likely


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
    near_tie = _rival_score(consensus, 0.0) > CALIBRATION.near_tie
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"On average {consensus.agreement:.0%} of the weighted candidates agree on a pair.",
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
