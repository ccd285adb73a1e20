"""The answer: a matching and what is known about it."""

from dataclasses import dataclass, replace

import numpy as np

from pairup.auto.calibration import assess
from pairup.auto.canonical import Canonical
from pairup.auto.consensus import Consensus
from pairup.auto.prior_calibration import calibrate_prior
from pairup.auto.schedule import CALIBRATION
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.types import Array, Indices, Probabilities


@dataclass(frozen=True, eq=False)
class Answer:
    """A matching and what is known about it.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching; −1 where x has no partner.
    confidence : ndarray of shape (n,)
        Probability that each x has its right partner.
    probabilities : ndarray or csr_array of shape (n, m)
        The same for every pair, or for the likely ones of many objects.
    reliable : bool
        Whether the data identify the pairing.
    reliability : float
        The expected share of right pairs.
    report : str
        The reasons, in words.
    consensus : Consensus or None
        The combined result of all candidates; None where nothing can be told.
    history : list of Step
        One step per candidate.
    """

    indices: Indices
    confidence: Array
    probabilities: Probabilities
    reliable: bool
    reliability: float
    report: str
    consensus: Consensus | None
    history: list[Step]


def keep_likeliest(answer: Answer, n_pairs: int, constraints: Constraints) -> Answer:
    """Return the answer with no more pairs than wanted: the known and the likeliest ones.

    A search for fewer pairs would find others: those of objects that stand out, which bring the most alignment.

    Parameters
    ----------
    answer : Answer
        A matching of as many pairs as there can be.
    n_pairs : int
        How many pairs to keep.
    constraints : Constraints
        The known pairs.

    Returns
    -------
    Answer
        The matching of these pairs.
    """
    assert answer.consensus is not None
    matched = np.flatnonzero(answer.indices >= 0)
    if n_pairs >= len(matched):
        return answer
    chances = answer.confidence[matched] + np.isin(matched, constraints.anchors[0])
    kept = matched[np.argsort(-chances, kind="stable")[:n_pairs]]
    indices, confidence = np.full_like(answer.indices, -1), np.zeros_like(answer.confidence)
    indices[kept], confidence[kept] = answer.indices[kept], answer.confidence[kept]
    consensus = replace(answer.consensus, indices=indices)
    reliable, reliability, report = assess(confidence[kept], consensus)
    return replace(
        answer,
        indices=indices,
        confidence=confidence,
        reliable=reliable,
        reliability=reliability,
        report=report,
        consensus=consensus,
    )


def restore_answer(answer: Answer, canonical: Canonical) -> Answer:
    """Return the answer for sets in canonical form as the answer for the given sets.

    Parameters
    ----------
    answer : Answer
        The answer of `solve_canonical`.
    canonical : Canonical
        The way back.

    Returns
    -------
    Answer
        The same matching in the order of the given sets.
    """
    indices, likely = canonical.restore_matching(answer.indices), canonical.restore_pairs(answer.probabilities)
    confidence = np.zeros(len(indices))
    before = np.flatnonzero(answer.indices >= 0)
    after = canonical.columns[answer.indices[before]] if canonical.swapped else canonical.rows[before]
    confidence[after] = answer.confidence[before]
    return replace(
        answer,
        indices=indices,
        confidence=confidence,
        probabilities=likely,
        consensus=None if answer.consensus is None else canonical.restore_consensus(answer.consensus),
        history=[canonical.restore_step(step) for step in answer.history],
    )


def undecided_answer(constraints: Constraints, reason: str) -> Answer:
    """Return the answer for sets about which nothing can be told: any matching, or the one that a prior prefers.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to.
    reason : str
        Why nothing can be told.

    Returns
    -------
    Answer
        A matching that is not reliable; all free pairs are equally likely.
    """
    if constraints.prior_unit:
        return answer_by_prior(constraints, reason)
    indices = constraints.round(constraints.uniform() if constraints.prior is None else constraints.prior)
    likely = constraints.uniform().astype(np.float64)
    confidence = np.where(indices >= 0, likely[np.arange(len(indices)), indices], 0.0)
    report = f"{DOUBT}{reason}."
    return Answer(indices, confidence, likely, False, 1.0 / constraints.largest, report, None, [])


def answer_by_prior(constraints: Constraints, reason: str) -> Answer:
    """Return the answer for sets about which nothing but a prior in nats tells anything.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to.
    reason : str
        Why the sets themselves tell nothing.

    Returns
    -------
    Answer
        The matching that the prior prefers, and its probabilities by the prior.
    """
    indices, likely = calibrate_prior(constraints)
    confidence = np.where(indices >= 0, likely[np.arange(len(indices)), indices], 0.0)
    expected = float(confidence[indices >= 0].mean())
    reliable = expected >= CALIBRATION.reliable_from
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"The common columns alone tell the pairs: {reason}.",
        "The data identify the pairing; see `confidence` for single pairs."
        if reliable
        else f"{DOUBT}too few pairs are told apart by the common columns.",
    ]
    return Answer(indices, confidence, likely, reliable, expected, "\n".join(lines), None, [])
