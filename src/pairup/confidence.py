"""From votes to probabilities: how sure each pair is, and whether the data identify the pairing at all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from pairup.consensus import Consensus
from pairup.search import Outlook
from pairup.types import Array

# Logistic regression of "the pair is right" on the features below, fitted on generated relations only:
# benchmarks/calibration.py fits and prints these numbers.
INTERCEPT = -8.02
COEFFICIENTS = np.array([9.64, 1.18, 2.51, 3.56, 0.99, -2.99, -2.43])

RELIABLE = 0.5  # the expected share of right pairs from which a matching is called reliable
EXCESS = 0.25  # how far beyond unrelated sets a reliable match goes
NEAR_TIE = 0.97  # another solution whose score comes this close leaves the pairing undecided


def features(votes: Array, consensus: Consensus, outlooks: Sequence[Outlook]) -> Array:
    """Return the features of pairs with these vote shares, along a new last axis.

    They are the share itself, how far the best view goes beyond unrelated sets, how close another solution comes,
    how far other views support this one, and the share's products with these three.
    """
    excess = max(0.0, *(of_view.excess for of_view in outlooks))
    rival = consensus.rivals[0][1] / consensus.scores[0] if consensus.rivals else 0.5
    of_all = [np.full_like(votes, value) for value in (excess, rival, consensus.support)]
    return np.stack([votes, *of_all, *(votes * value for value in of_all)], axis=-1)


def probabilities(votes: Array, consensus: Consensus, outlooks: Sequence[Outlook]) -> Array:
    """Return how likely pairs with these vote shares are right."""
    likely: Array = expit(INTERCEPT + features(votes, consensus, outlooks) @ COEFFICIENTS)
    return likely


@dataclass(frozen=True)
class Reliability:
    """Whether the data identify the pairing, and why.

    Parameters
    ----------
    score : the expected share of right pairs, in [0, 1].
    reliable : the verdict.
    report : the reasons, in plain words.
    """

    score: float
    reliable: bool
    report: str


def reliability(confidence: Array, consensus: Consensus, outlooks: Sequence[Outlook]) -> Reliability:
    """Judge a matching by its expected accuracy, by the match of unrelated sets, and by rival solutions.

    Parameters
    ----------
    confidence : probability of each pair.
    consensus : what the candidates say together.
    outlooks : what the coarse look at each view promised.
    """
    best = max(outlooks, key=lambda of_view: of_view.excess)
    score = float(confidence.mean()) if len(confidence) else 0.0
    rival = consensus.rivals[0][1] / consensus.scores[0] if consensus.rivals else 0.0
    matched = np.flatnonzero(consensus.indices >= 0)
    agreeing = float(consensus.votes[matched, consensus.indices[matched]].mean())
    doubts = []
    if best.excess < EXCESS:
        doubts.append("the sets match hardly better than unrelated sets of the same shape do")
    if rival > NEAR_TIE:
        doubts.append("another solution explains the data as well (see `alternatives`); known pairs would decide")
    if score < RELIABLE:
        doubts.append("too few pairs are found again by independent runs")
    lines = [
        f"About {score:.0%} of the pairs are expected to be right.",
        f"Independent runs give a pair {agreeing:.0%} of their votes on average.",
        f"Seen {best.view}, the sets match to {best.value:.2f}; unrelated sets reach {best.null:.2f}.",
    ]
    if doubts:
        lines.append("Do not rely on this matching: " + "; ".join(doubts) + ".")
    else:
        lines.append("The data identify the pairing; look at `confidence` for single pairs.")
    return Reliability(score, not doubts, "\n".join(lines))
