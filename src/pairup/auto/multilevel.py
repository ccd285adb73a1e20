"""Coarse to fine, for many objects: matched centres, descents on samples, then partners among all."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.centres import match_centres
from pairup.auto.coordinates import suitable_metrics
from pairup.auto.descent import descend
from pairup.auto.held_out import held_out_score, share_found_again
from pairup.auto.partners import match_all
from pairup.auto.problem import Problem
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import Side, View
from pairup.climb import Step
from pairup.types import Array, Float32Array, Indices


@dataclass(frozen=True, eq=False)
class Solution:
    """A matching of all objects, and the map behind it.

    Parameters
    ----------
    view : View
        The metric in which it was found.
    N : ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners.
    indices : ndarray of int, shape (n,)
        The matching.
    score : float
        Its held-out score.
    found_again : float
        The share of held-out pairs that come first by the map of the others.
    """

    view: View
    N: Float32Array
    indices: Indices
    score: float
    found_again: float


def sample_rows(Z: Array, rng: np.random.Generator) -> Array:
    """Return all rows of a table, or a sample of them if they are many, in their order."""
    if len(Z) <= MULTILEVEL.sample:
        return np.asarray(Z, dtype=np.float64)
    return np.asarray(Z[np.sort(rng.permutation(len(Z))[: MULTILEVEL.sample])], dtype=np.float64)


def fit_view(metric: str, x: Array, y: Array, seed: int) -> View:
    """Return samples of both sets in one metric."""
    sides = [Side.fit(metric, Z, np.random.default_rng([seed, number])) for number, Z in enumerate((x, y))]
    return View(metric, *sides)


def all_values(side: Side, Z: Array) -> Float32Array:
    """Return the eigenfunctions of all objects."""
    return side.values if len(Z) == len(side.values) else side.evaluate(Z)


def find_map(view: View, rng: np.random.Generator) -> tuple[float, Float32Array] | None:
    """Start from one clustering of each set, and return the best alignment that descents reach, with its covariances."""
    found = [descend(view, N, rng) for N in match_centres(view, MULTILEVEL.clusters, rng)]
    if not found:
        return None
    fine = MULTILEVEL.levels[-1].epsilon
    best = max(found, key=lambda N: view.alignment(N, fine))
    return view.alignment(best, fine), best


def refine_all(
    view: View, U: Float32Array, V: Float32Array, N: Float32Array, *, n_jobs: int | None
) -> Iterator[Solution]:
    """Match all objects by a map and renew the map by the matching, at ever finer ε while the held-out score rises.

    Parameters
    ----------
    view : View
        The metric.
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of all objects.
    N : ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners, as far as samples tell them.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Yields
    ------
    Solution
        Each better than the one before.
    """
    best, stalled = -np.inf, 0
    matching: Indices | None = None
    for rank in MULTILEVEL.ranks:
        variates = CanonicalVariates.of(N, rank) if matching is None else CanonicalVariates.fit(U, V, matching, rank)
        matching = match_all(*variates.images(U, V), n_jobs=n_jobs)[0]
        score = held_out_score(view, U, V, matching)
        if score > best:
            best = score
            yield Solution(view, N, matching, score, share_found_again(view, U, V, matching, MULTILEVEL.epsilons[-1]))


def search(problem: Problem, *, seed: int, n_jobs: int | None) -> Generator[Step, None, list[Solution]]:
    """Return solutions, the best first."""
    rng = np.random.default_rng([seed, 7])
    x, y = sample_rows(problem.x, rng), sample_rows(problem.y, rng)
    views: dict[str, View] = {}
    solutions: list[Solution] = []
    number = 0
    for clustering in range(MULTILEVEL.clusterings):
        for metric in suitable_metrics(x, y, problem.metric):
            if metric not in views:
                views[metric] = fit_view(metric, x, y, seed)
            view = views[metric]
            found = find_map(view, np.random.default_rng([seed, clustering, 11]))
            if found is None:
                continue
            U, V = all_values(view.x, problem.x), all_values(view.y, problem.y)
            solution = None
            for solution in refine_all(view, U, V, found[1], n_jobs=n_jobs):
                yield Step(number, number, solution.indices, solution.score)
            assert solution is not None
            solutions.append(solution)
            number += 1
            if decided(solutions):
                return sorted(solutions, key=lambda s: -s.found_again)
    return sorted(solutions, key=lambda s: -s.found_again)


def decided(solutions: list[Solution]) -> bool:
    """Tell whether two solutions that were found apart are one, and predict their own held-out pairs."""
    last = solutions[-1]
    return last.found_again >= MULTILEVEL.found_again and any(
        (other.indices == last.indices).mean() >= MULTILEVEL.same for other in solutions[:-1]
    )
