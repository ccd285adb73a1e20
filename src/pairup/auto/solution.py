"""Matchings of many objects: what they have in common, and which is the best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.auto.held_out import held_out_score
from pairup.auto.problem import Problem
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import View
from pairup.kernels import squared_distances
from pairup.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Solution:
    """A matching of all objects.

    Parameters
    ----------
    metric : str
        The metric in which it was found.
    indices : ndarray of int, shape (n,)
        The matching.
    score : float
        Its held-out score in that metric.
    found_again : float
        The share of held-out pairs that come first by the map of the others.
    rank : int
        How many eigenfunctions took part.
    """

    metric: str
    indices: Indices
    score: float
    found_again: float
    rank: int


def is_same(one: Solution, other: Solution, Y: Array) -> bool:
    """Tell whether two solutions are one: enough partners lie near to each other, among all that are matched.

    Parameters
    ----------
    one, other : Solution
        Two solutions.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    bool
        Whether.
    """
    rows = np.flatnonzero((one.indices >= 0) & (other.indices >= 0))
    rows = rows[:: max(1, len(rows) // MULTILEVEL.compared_pairs)]
    if not len(rows):
        return False
    columns = np.flatnonzero(np.bincount(one.indices[one.indices >= 0], minlength=len(Y)))
    columns = columns[:: max(1, len(columns) // MULTILEVEL.raced)]
    here, there, others = (
        np.asarray(Y[k], dtype=np.float64) for k in (one.indices[rows], other.indices[rows], columns)
    )
    unit = np.maximum(others.std(axis=0), 1e-300)
    here, there, others = here / unit, there / unit, others / unit
    apart = ((here - there) ** 2).sum(axis=1)
    nearer = (squared_distances(here, others) < apart[:, None] * (1 - 1e-9)).mean(axis=1)
    return bool((nearer <= MULTILEVEL.near).mean() >= MULTILEVEL.same)


def is_decided(solutions: list[Solution], Y: Array) -> bool:
    """Tell whether the last solution was found before, and predicts its own held-out pairs.

    Parameters
    ----------
    solutions : list of Solution
        What was found, in the order of the search.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    bool
        Whether there is no need to go on.
    """
    last = solutions[-1]
    return last.found_again >= MULTILEVEL.decided and any(is_same(last, other, Y) for other in solutions[:-1])


def rank_solutions(solutions: list[Solution], views: dict[str, View], problem: Problem) -> list[Solution]:
    """Return solutions, the best first: by held-out scores in all metrics, each in units of the best there.

    Parameters
    ----------
    solutions : list of Solution
        What was found.
    views : dict of str to View
        The metrics.
    problem : Problem
        The two sets.

    Returns
    -------
    list of Solution
        The same, in order.
    """
    if len(solutions) < 2:
        return list(solutions)
    totals = np.zeros(len(solutions))
    for view in views.values():
        scores = np.array([score_sample(view, problem, solution.indices) for solution in solutions])
        totals += scores / max(float(scores.max()), 1e-30)
    return [solutions[k] for k in np.argsort(-totals, kind="stable")]


def score_sample(view: View, problem: Problem, indices: Indices) -> float:
    """Return the held-out score of a sample of the pairs in one metric.

    Parameters
    ----------
    view : View
        The metric.
    problem : Problem
        The two sets.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    float
        The score.
    """
    matched = np.flatnonzero(indices >= 0)
    rows = matched[:: max(1, -(-len(matched) // MULTILEVEL.unrelated_sample))]
    U, V = view.x.evaluate(problem.x[rows]), view.y.evaluate(problem.y[indices[rows]])
    return held_out_score(view, U, V, np.arange(len(rows)))


def agree_with_best(solutions: Sequence[Solution], Y: Array) -> list[bool]:
    """Tell which solutions are the same as the first.

    Parameters
    ----------
    solutions : sequence of Solution
        What was found, the best first.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    list of bool
        Whether each has enough pairs in common with it; the first is one of them.
    """
    return [other is solutions[0] or is_same(solutions[0], other, Y) for other in solutions]
