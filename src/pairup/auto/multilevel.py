"""Coarse to fine, for many objects: maps found on samples, then partners among all."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.coordinates import further_metrics, suitable_metrics
from pairup.auto.exploration import Exploration, find_maps
from pairup.auto.problem import Problem
from pairup.auto.refinement import refine_all, refine_finalist
from pairup.auto.schedule import CALIBRATION, MULTILEVEL
from pairup.auto.solution import Solution, agree_with_best, is_same, rank_solutions
from pairup.auto.view import Side, View
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.types import Array, Float32Array


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Parameters
    ----------
    best : Solution
        The best matching of all objects.
    view : View
        The metric in which it was found.
    searches : list of Solution
        What each search found among the objects that race, the one that led to the best first.
    agree : list of bool
        Which of them are the same as the first.
    """

    best: Solution
    view: View
    searches: list[Solution]
    agree: list[bool]


def search(problem: Problem, *, seed: int, n_jobs: int | None) -> Generator[Step, None, Found | None]:
    """Search in one metric after another, until one solution is found twice and predicts its own held-out pairs.

    Maps are found and compared on samples. Only the best are then refined by matchings of all objects.

    Parameters
    ----------
    problem : Problem
        The two sets, in canonical form.
    seed : int
        Draws whatever is random.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    Found or None
        What was found; None where all objects of a set are alike in every metric.

    Yields
    ------
    Step
        A step for each matching; the first ones of many objects hold pairs of a sample only.
    """
    exploration = Exploration(problem, seed, n_jobs)
    x, y, constraints = exploration.x, exploration.y, problem.constraints
    metrics = suitable_metrics(x, y, problem.metric)
    for clustering in range(MULTILEVEL.clusterings):
        further = [] if clustering else further_metrics(x, y, problem.metric)
        yield from exploration.search([*metrics, *further], clustering)
        if not exploration.is_decided and exploration.solutions:
            yield from exploration.carry_over()
        if exploration.is_decided:
            break
    if not exploration.solutions:
        return None
    views = exploration.views
    searches = [*exploration.renewed[-1:], *rank_solutions(exploration.solutions, views, problem)]
    finals: list[tuple[Solution, Solution]] = []
    for searched in choose_finalists(searches, problem.y):
        view = views[searched.metric]
        values = all_values(view.x, problem.x, n_jobs), all_values(view.y, problem.y, n_jobs)
        most = MULTILEVEL.raced if finals else MULTILEVEL.settled_up_to
        for solution in refine_finalist(
            view, values, searched, constraints, n_jobs, settles=constraints.largest <= most
        ):
            yield Step(exploration.turns + len(finals), solution.rank, solution.indices, solution.score)
        finals.append((solution, searched))
        del values
        if solution.found_again >= MULTILEVEL.decided:
            break
    best = rank_solutions([final for final, _ in finals], views, problem)[0]
    led = next(searched for final, searched in finals if final is best)
    searches = [led, *(other for other in searches if other is not led)]
    return Found(best, views[best.metric], searches, agree_with_best(searches, problem.y))


def choose_finalists(searches: Sequence[Solution], Y: Array) -> list[Solution]:
    """Return the solutions whose maps are refined on all objects.

    Parameters
    ----------
    searches : sequence of Solution
        What was found among the objects that race, the best first.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    list of Solution
        The best; of fewer objects the best that differ from each other.
    """
    chosen = [searches[0]]
    if max(len(Y), len(searches[0].indices)) <= MULTILEVEL.finalists_up_to:
        for each in searches[1:]:
            if len(chosen) < MULTILEVEL.finalists and not any(is_same(each, other, Y) for other in chosen):
                chosen.append(each)
    return chosen


def all_values(side: Side, Z: Array, n_jobs: int | None = None) -> Float32Array:
    """Return the eigenfunctions of all objects, which are there already if all are in the sample.

    Parameters
    ----------
    side : Side
        The set in one metric.
    Z : ndarray of shape (n, d)
        All its rows.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    ndarray of float32, shape (n, r)
        The values.
    """
    return side.values if len(Z) == len(side.values) else side.evaluate(Z, n_jobs)


def score_unrelated(view: View, problem: Problem, seed: int) -> float:
    """Return the held-out score of what the same search finds in a set like Y that has nothing to do with X.

    Parameters
    ----------
    view : View
        The metric of the best solution.
    problem : Problem
        The two sets.
    seed : int
        Draws the unrelated set.

    Returns
    -------
    float
        The score; 0 where nothing is found.
    """
    rng = np.random.default_rng([seed, MULTILEVEL.unrelated_sample])
    sides = [side.take(rng, MULTILEVEL.unrelated_sample) for side in (view.x, view.y)]
    unrelated = View(view.metric, *sides).unrelated(rng)
    values = unrelated.x.values, unrelated.y.values
    free = Constraints(len(values[0]), len(values[1]), min(map(len, values)))
    for N in find_maps(unrelated, rng):
        variates = CanonicalVariates.of(N, MULTILEVEL.ranks[0])
        return max(each.score for each in refine_all(unrelated, values, variates, free, 1, MULTILEVEL.ranks))
    return 0.0


def evidence(found: Found, log_ratio: float) -> Array:
    """Return what speaks for a matching as a whole, the features of `posterior.calibrate_pairs`.

    Parameters
    ----------
    found : Found
        What was found.
    log_ratio : float
        How far its held-out score exceeds that of unrelated sets.

    Returns
    -------
    ndarray of shape (2,)
        That logarithm, no more than counts; the share of the searches that led to the same.
    """
    return np.array([np.clip(log_ratio, 0.0, CALIBRATION.most_of_many), np.mean(found.agree)])
