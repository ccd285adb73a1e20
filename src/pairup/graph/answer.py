"""The answer: the matching with most pairs expected right, its probabilities and the verdict."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from pairup.climb import Step
from pairup.evidence import DOUBT
from pairup.graph.problem import GraphProblem, Padded
from pairup.graph.schedule import CALIBRATION, Calibration
from pairup.types import Array, Indices, Probabilities


@dataclass(frozen=True, eq=False)
class GraphAnswer:
    """A matching of two graphs and what is known about it.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching; −1 where a node of the first graph has no partner.
    confidence : ndarray of shape (n,)
        Probability that each node has its right partner.
    probabilities : ndarray or csr_array of shape (n, m)
        The same for every pair; sparse of many nodes, a pair that is not stored having 0.
    reliable : bool
        Whether the graphs identify the matching.
    reliability : float
        The expected share of right pairs.
    report : str
        The reasons, in words.
    kept : float
        Weight of the edges that both graphs have: their number, if all weigh the same.
    unrelated : float
        The same of an unrelated graph of the same degrees.
    excess : float
        How far the first exceeds the second; 1 where all edges are kept.
    sampled : ndarray of shape (n,)
        Share of the sampled matchings that hold each pair; of many nodes, its probability before the verdict.
    history : list of Step
        One step per start.
    """

    indices: Indices
    confidence: Array
    probabilities: Probabilities
    reliable: bool
    reliability: float
    report: str
    kept: float
    unrelated: float
    excess: float
    sampled: Array
    history: list[Step]


def undecided_answer(problem: GraphProblem, reason: str) -> GraphAnswer:
    """Return the answer for graphs about which nothing can be told: any matching, or the one that a prior prefers.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    reason : str
        Why nothing can be told.

    Returns
    -------
    GraphAnswer
        A matching that is not reliable; all free pairs are equally likely.
    """
    constraints = problem.constraints
    likely = constraints.uniform().astype(np.float64)
    indices = constraints.round(likely if constraints.prior is None else constraints.prior)
    confidence = np.where(indices >= 0, likely[np.arange(len(indices)), indices], 0.0)
    report = f"{DOUBT}{reason}."
    return GraphAnswer(indices, confidence, likely, False, 1.0 / constraints.largest, report, 0, 0, 0.0, confidence, [])


def measure_excess(padded: Padded, kept: float, unrelated: float) -> float:
    """Return how far more weight of edges is kept than with an unrelated graph: 0 no more, 1 all that can be.

    Parameters
    ----------
    padded : Padded
        The graphs.
    kept, unrelated : float
        Weight of the edges kept, and of those kept with an unrelated graph.

    Returns
    -------
    float
        The excess; it may be negative.
    """
    return (kept - unrelated) / max(weigh_most(padded) - unrelated, 1.0)


def weigh_most(padded: Padded) -> float:
    """Return the weight of the edges of the lighter graph, each kept by itself.

    Parameters
    ----------
    padded : Padded
        The graphs.

    Returns
    -------
    float
        The sum of squares of its weights; the number of its edges, if all weigh the same.
    """
    return min(replace(padded, B=Z, A=Z).weigh_kept(np.arange(padded.constraints.n)) for Z in (padded.A, padded.B))


def tell_kept(problem: GraphProblem, padded: Padded, p: Indices, unrelated: float) -> str:
    """Say how many edges are kept, or how much of their weight.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    padded : Padded
        The same, of one size.
    p : ndarray of int, shape (size,)
        The matching.
    unrelated : float
        Weight of the edges kept with an unrelated graph.

    Returns
    -------
    str
        A sentence.
    """
    smaller = min(problem.g.n_edges, problem.h.n_edges)
    most = weigh_most(padded) if padded.weighted else 0.0
    return describe_kept(padded.count_kept(p), smaller, padded.weigh_kept(p), unrelated, most)


def describe_kept(count: int, smaller: int, kept: float, unrelated: float, most: float) -> str:
    """Say how many of the edges are kept, and of weighted graphs how much of the weight.

    Parameters
    ----------
    count, smaller : int
        Numbers of edges kept, and of the graph that has fewer.
    kept, unrelated : float
        Weight of the edges kept, and of those kept with an unrelated graph.
    most : float
        The weight that can be kept; 0 where all edges weigh the same.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> describe_kept(7, 8, 7.0, 3.0, 0.0)
    'The matching keeps 7 of 8 edges (unrelated graph of the same degrees: 3).'
    """
    told = f"The matching keeps {count:,} of {smaller:,} edges"
    if not most:
        return f"{told} (unrelated graph of the same degrees: {unrelated:,.0f})."
    share = f"{kept / most:.0%} of the weight that can be"
    return f"{told}, and {share} (unrelated graph of the same degrees: {unrelated / most:.0%})."


def assess(trust: float, expected: float, told: str, calibration: Calibration) -> tuple[bool, str]:
    """Assess a matching, and say what the verdict rests on.

    Parameters
    ----------
    trust : float
        How likely the solution is the right one.
    expected : float
        The expected share of right pairs.
    told : str
        How many edges are kept, in words.
    calibration : Calibration
        From where on both are enough.

    Returns
    -------
    reliable : bool
        Whether the graphs identify the matching.
    report : str
        The reasons in words.
    """
    verdict = "The graphs identify the matching; see `confidence` for single pairs."
    reliable = trust >= calibration.trusted_from and expected >= calibration.reliable_from
    if trust < calibration.trusted_from:
        verdict = f"{DOUBT}hardly more edges are kept than with an unrelated graph of the same degrees."
    elif not reliable:
        verdict = f"{DOUBT}too many nodes can be exchanged without losing edges; a few known pairs would help."
    return reliable, "\n".join([f"About {expected:.0%} of the pairs are expected to be right.", told, verdict])


def conclude(
    problem: GraphProblem, padded: Padded, marginals: Array, unrelated: float, history: list[Step]
) -> GraphAnswer:
    """Return the matching with most pairs expected right, and how likely it is.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    padded : Padded
        The same, of one size.
    marginals : ndarray of shape (size, size)
        How often each pair was sampled.
    unrelated : float
        Weight of the edges kept with an unrelated graph.
    history : list of Step
        One step per start.

    Returns
    -------
    GraphAnswer
        The matching, its probabilities and the verdict.
    """
    c = problem.constraints
    p = padded.constraints.round(marginals)
    kept = padded.weigh_kept(p)
    excess = measure_excess(padded, kept, unrelated)
    mean = float(marginals[np.arange(len(p)), p][: c.n].mean())
    trust = float(expit(CALIBRATION.intercept + CALIBRATION.excess * excess + CALIBRATION.sampled * mean))
    trust *= min(max(excess / CALIBRATION.excess_from, 1e-3), 1.0)  # never 0, or all pairs would be alike
    likely: Array = trust * marginals[: c.n, : c.m] + (1.0 - trust) / c.largest
    rows, columns = c.anchors
    likely[rows, :], likely[:, columns], likely[c.forbidden] = 0.0, 0.0, 0.0
    likely[rows, columns] = 1.0
    indices = c.round(likely)
    confidence, sampled = (np.where(indices >= 0, Z[np.arange(c.n), indices], 0.0) for Z in (likely, marginals))
    if problem.estimates_overlap:
        n_pairs = max(round(float(confidence.sum())), len(rows), 1)
        order = np.argsort(-confidence - np.isin(np.arange(c.n), rows) - (indices >= 0), kind="stable")
        indices[order[n_pairs:]] = -1
        confidence[order[n_pairs:]] = 0.0
    matched = indices >= 0
    expected = float(confidence[matched].mean())
    reliable, report = assess(trust, expected, tell_kept(problem, padded, p, unrelated), CALIBRATION)
    return GraphAnswer(
        indices, confidence, likely, reliable, expected, report, kept, unrelated, excess, sampled,
        [replace(step, indices=np.where(step.indices[: c.n] < c.m, step.indices[: c.n], -1)) for step in history],
    )  # fmt: skip
