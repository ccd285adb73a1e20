"""From votes to probabilities, and to a verdict on the whole matching."""

import numpy as np
from scipy.special import expit

from pairup.auto.consensus import Consensus
from pairup.auto.metrics import metric_in_words
from pairup.auto.schedule import CALIBRATION
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.types import Array, Float32Array


def features(votes: Array, consensus: Consensus) -> Array:
    """Return the features of pairs with these vote shares.

    They are the share itself, how far the best metric exceeds unrelated data, how close another solution comes, how
    far other metrics support this one, and the products of the share with these three.

    Parameters
    ----------
    votes : ndarray
        Vote shares of pairs, of any shape.
    consensus : Consensus
        The combined result of all candidates.

    Returns
    -------
    ndarray of shape (…, 7)
        The features, along a new last axis.
    """
    excess = max(0.0, *(result.excess for result in consensus.coarse))
    rival = _rival_score(consensus, CALIBRATION.no_rival)
    of_all = [np.full_like(votes, value) for value in (excess, rival, consensus.support)]
    return np.stack([votes, *of_all, *(votes * value for value in of_all)], axis=-1)


def _rival_score(consensus: Consensus, default: float) -> float:
    """Return the score of the best rival in units of the best, or the default where there is none."""
    return float(consensus.rivals[0][1] / consensus.scores[0]) if consensus.rivals else default


def calibrate_votes(votes: Array, consensus: Consensus) -> Array:
    """Return how likely pairs with these vote shares are right, by logistic regression on `features`.

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
    return probability


def pair_probabilities(consensus: Consensus, plan: Float32Array, constraints: Constraints) -> Array:
    """Return how likely every pair is.

    The pair with most votes in its row is as likely as such votes have been right before, the others less in
    proportion; what they leave is shared as a soft plan says, but for a part that all pairs share.

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
        Probabilities; each row sums to 1 at the most, known pairs have 1 and forbidden ones 0.
    """
    most = np.maximum(consensus.votes.max(axis=1, keepdims=True), 1e-30)
    likely: Array = calibrate_votes(consensus.votes, consensus) * (consensus.votes / most)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1.0)
    left = (1.0 - likely.sum(axis=1, keepdims=True)) * constraints.n_pairs / constraints.n
    shares = plan / np.maximum(plan.sum(axis=1, keepdims=True), 1e-30)
    uniform = CALIBRATION.uniform_share
    shares = (1.0 - uniform) * shares + uniform / constraints.m
    if len(constraints.forbidden[0]):
        shares[constraints.forbidden] = 0.0
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    likely += left * shares
    rows, columns = constraints.anchors
    likely[rows, :] = 0.0
    likely[:, columns] = 0.0
    likely[rows, columns] = 1.0
    return likely


def assess(confidence: Array, consensus: Consensus) -> tuple[bool, float, str]:
    """Assess a matching by its expected accuracy, by the alignment of unrelated data, and by rival solutions.

    Parameters
    ----------
    confidence : ndarray of shape (n_pairs,)
        Probability of each pair.
    consensus : Consensus
        The combined result of all candidates.

    Returns
    -------
    reliable : bool
        Whether the data identify the pairing.
    reliability : float
        The expected share of right pairs.
    report : str
        The reasons in words.
    """
    best = consensus.best_metric
    expected = float(confidence.mean()) if len(confidence) else 0.0
    doubts = []
    if best.excess < CALIBRATION.excess_from:
        doubts.append("the alignment is hardly better than that of unrelated data of the same shape")
    if _rival_score(consensus, 0.0) > CALIBRATION.near_tie:
        doubts.append("another solution explains the data as well (see `alternatives`); a few known pairs would decide")
    if expected < CALIBRATION.reliable_from:
        doubts.append("too few pairs are found again by other candidates")
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"On average {consensus.agreement:.0%} of the weighted candidates agree on a pair.",
        f"Best metric: {metric_in_words(best.metric)}. Alignment {best.value:.2f} (unrelated data: {best.null:.2f}).",
    ]
    if doubts:
        lines.append(DOUBT + "; ".join(doubts) + ".")
    else:
        lines.append("The data identify the pairing; see `confidence` for single pairs.")
    return not doubts, expected, "\n".join(lines)
