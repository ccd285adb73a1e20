"""The search for a map between two sets of many objects, in one metric after another, on samples of them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.centres import breed_starts, match_centres
from pairup.auto.descent import descend, polish, shared_correlation
from pairup.auto.metrics import is_whitened
from pairup.auto.problem import Problem
from pairup.auto.race import Race, draw_rows
from pairup.auto.refinement import refine_all
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.solution import Solution, is_decided, rank_solutions
from pairup.auto.view import View, covariances
from pairup.climb import Step
from pairup.parallel import one_by_one, run, runs_here
from pairup.types import Float32Array


class Exploration:
    """What was found so far.

    Parameters
    ----------
    problem : Problem
        The two sets, in canonical form.
    seed : int
        Draws whatever is random.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Attributes
    ----------
    x, y : ndarray of shape (s, d) and (t, e)
        Samples of the rows of both tables.
    race : Race
        The objects that are matched.
    views : dict of str to View
        The metrics that were searched.
    solutions : list of Solution
        The best of each search.
    turns : int
        How many searches there were.
    renewed : list of Solution
        What other metrics made of the best solutions, each better than the one before.
    """

    def __init__(self, problem: Problem, seed: int, n_jobs: int | None) -> None:
        rng = np.random.default_rng([seed, MULTILEVEL.sample])
        constraints = problem.constraints
        rows, columns = draw_rows(constraints.n, rng), draw_rows(constraints.m, rng)
        self.problem, self.seed, self.n_jobs = problem, seed, n_jobs
        self.x, self.y = (
            np.asarray(Z[chosen], dtype=np.float64) for Z, chosen in ((problem.x, rows), (problem.y, columns))
        )
        self.race = Race.draw(constraints, rows, columns, rng)
        self.views: dict[str, View] = {}
        self.solutions: list[Solution] = []
        self.renewed: list[Solution] = []
        self._of_maps: list[Solution] = []
        self.turns = 0

    @property
    def is_decided(self) -> bool:
        """Whether there is no need to go on: the same was found twice, or in several metrics, and predicts itself."""
        return is_decided(self.solutions, self.problem.y) or bool(
            self.renewed and self.renewed[-1].found_again >= MULTILEVEL.decided
        )

    def search(self, metrics: Sequence[str], clustering: int) -> Iterator[Step]:
        """Search in one metric after another, until it is decided.

        Parameters
        ----------
        metrics : sequence of str
            The metrics.
        clustering : int
            How often they were searched before.

        Yields
        ------
        Step
            A step for each matching, of a sample only where there are many objects.
        """
        # No single turn decides, so two can run side by side. Of later ones the second may be in vain.
        size = 1 if runs_here(self.n_jobs) else 2
        for first in range(0, len(metrics), size):
            wave = metrics[first : first + size]
            tasks = [
                partial(explore, view, self.race, [self.seed, self.turns + k, clustering], known)
                for k, (view, known) in enumerate(self._fit(wave))
            ]
            listed = [] if size == 1 else list(run([partial(_list, task) for task in tasks], n_jobs=self.n_jobs))
            for raced in listed or (task() for task in tasks):
                found: list[Solution] = []
                for solution in raced:
                    found.append(self.race.expand(solution))
                    yield Step(self.turns, len(found), found[-1].indices, solution.score)
                self.turns += 1
                if found:
                    self.solutions.append(max(found, key=lambda each: each.score))
                    self._of_maps += last_of_each_map(found)
                    if is_decided(self.solutions, self.problem.y):
                        return

    def _fit(self, metrics: Sequence[str]) -> list[tuple[View, Float32Array | None]]:
        missing = list(dict.fromkeys(metric for metric in metrics if metric not in self.views))
        fitted = run([partial(View.fit, metric, self.x, self.y, self.seed) for metric in missing], n_jobs=self.n_jobs)
        self.views |= zip(missing, fitted, strict=True)
        return [(self.views[metric], known_covariances(self.views[metric], self.problem)) for metric in metrics]

    def carry_over(self) -> Iterator[Step]:
        """Renew the best solutions in every metric, and the best of them again, as long as all metrics prefer it.

        What is seen in one metric is only a part of what partners have in common: a map that is right in it but coarse
        gets finer in others, and a wrong one does not.

        Yields
        ------
        Step
            A step for each solution, which is better than the one before.
        """
        best = rank_solutions([*self.renewed, *self._of_maps], self.views, self.problem)[: MULTILEVEL.carried]
        for iteration in range(MULTILEVEL.carryings):
            tasks = [partial(renew, view, self.race, each) for each in best for view in self.views.values()]
            found = [each for each in run(tasks, n_jobs=self.n_jobs) if each is not None]
            first = rank_solutions([*best, *found], self.views, self.problem)[0]
            if first in best:
                return
            self.renewed.append(first)
            yield Step(self.turns, iteration, first.indices, first.score)
            if self.is_decided:
                return
            best = [first]


def find_maps(view: View, rng: np.random.Generator, known: Float32Array | None = None) -> Iterator[Float32Array]:
    """Descend from the matched centres of one clustering; yield the map of best alignment, then the best polished one.

    Parameters
    ----------
    view : View
        The two sets.
    rng : numpy.random.Generator
        Draws clusterings and samples.
    known : ndarray of float32, shape (r, s), optional
        Covariances by what is known of the pairing, one more start.

    Yields
    ------
    ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners; none where all objects of a set are alike.
    """
    starts = [] if known is None else [known]
    if is_whitened(view.metric):
        followed = [descend(view, N, rng, MULTILEVEL.levels[:-1]) for N in breed_starts(view, rng)]
        epsilon = MULTILEVEL.levels[-2].epsilon
        best = sorted(followed, key=lambda N: -view.alignment(N, epsilon))[: MULTILEVEL.continued]
        found = [descend(view, N, rng) for N in starts]
        found += [descend(view, N, rng, MULTILEVEL.levels[-1:]) for N in best]
    else:
        starts += match_centres(view, MULTILEVEL.clusters, rng)
        found = [descend(view, N, rng) for N in starts]
    found.sort(key=lambda N: -view.alignment(N, MULTILEVEL.levels[-1].epsilon))
    yield from found[:1]
    if found:
        polished = [polish(view, N, rng) for N in found[: MULTILEVEL.polished_maps]]
        yield max(polished, key=lambda N: shared_correlation(view, N, np.random.default_rng(0)))


def explore(view: View, race: Race, seed: Sequence[int], known: Float32Array | None = None) -> Iterator[Solution]:
    """Search in one metric from one clustering, and match the objects that race by the maps that are found.

    Parameters
    ----------
    view : View
        The metric.
    race : Race
        The objects.
    seed : sequence of int
        Draws whatever is random.
    known : ndarray of float32, shape (r, s), optional
        Covariances by what is known of the pairing.

    Yields
    ------
    Solution
        Matchings of these objects, until one predicts its own held-out pairs.
    """
    values, ranks = (view.x.values[race.x], view.y.values[race.y]), MULTILEVEL.raced_ranks
    for N in find_maps(view, np.random.default_rng(seed), known):
        solution = None
        for solution in refine_all(view, values, CanonicalVariates.of(N, ranks[0]), race.constraints, 1, ranks):
            yield solution
        if solution is not None and race.expand(solution).found_again >= MULTILEVEL.decided:
            return


def last_of_each_map(solutions: Sequence[Solution]) -> list[Solution]:
    """Return the last matching by each map: those by one map have rising ranks.

    Parameters
    ----------
    solutions : sequence of Solution
        What `explore` found, in order.

    Returns
    -------
    list of Solution
        Some of them.
    """
    following = [*(each.rank for each in solutions[1:]), 0]
    return [each for each, rank in zip(solutions, following, strict=True) if rank <= each.rank]


def renew(view: View, race: Race, solution: Solution) -> Solution | None:
    """Match the objects that race by the map of a solution in another metric.

    Parameters
    ----------
    view : View
        The metric.
    race : Race
        The objects.
    solution : Solution
        What was found in whatever metric.

    Returns
    -------
    Solution or None
        The solution in this metric, None where nothing is found.
    """
    values, ranks = (view.x.values[race.x], view.y.values[race.y]), MULTILEVEL.raced_ranks
    with one_by_one():
        variates = CanonicalVariates.fit(*values, race.restrict(solution.indices), ranks[0])
        found = list(refine_all(view, values, variates, race.constraints, 1, ranks))
    return race.expand(found[-1]) if found else None


def _list(task: Callable[[], Iterator[Solution]]) -> list[Solution]:
    """Return what a task yields; what it starts runs in its own thread."""
    with one_by_one():
        return list(task())


def known_covariances(view: View, problem: Problem) -> Float32Array | None:
    """Return covariances of the eigenfunctions of partners by known pairs or a prior, None where there is neither.

    Parameters
    ----------
    view : View
        The metric.
    problem : Problem
        The two sets, and what is known.

    Returns
    -------
    ndarray of float32, shape (r, s), or None
        The covariances.
    """
    constraints = problem.constraints
    rows, columns = constraints.anchors
    if len(rows) >= MULTILEVEL.fewest_anchors:
        U, V = view.x.evaluate(problem.x[rows]), view.y.evaluate(problem.y[columns])
        return covariances(U, V, np.arange(len(rows)))
    if constraints.sparse_prior is not None and constraints.sparse_prior.nnz:
        prior = constraints.sparse_prior.tocoo()
        order = np.argsort(-prior.data, kind="stable")[: MULTILEVEL.sample]
        U, V = view.x.evaluate(problem.x[prior.row[order]]), view.y.evaluate(problem.y[prior.col[order]])
        weights = np.maximum(prior.data[order], 0.0)[:, None].astype(np.float32)
        return np.asarray((U * weights).T @ V / max(float(weights.sum()), 1e-30), dtype=np.float32)
    return None
