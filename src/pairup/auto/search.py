"""Candidates for a matching: a coarse search from many starts in each geometry, continuation of the best to fine ε."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from pairup.annealing import COARSE_COOLING, RECOOLING, anneal, anneal_all, anneal_halving, last_plan
from pairup.auto.cluster_plans import breed_plans
from pairup.auto.geometry import GeometryPair, JointGeometry
from pairup.auto.initializers import initial_plans, rotated_starts
from pairup.auto.null_model import count_draws, count_starts, draw_unrelated
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, SEARCH, Schedule
from pairup.constraints import NO_ANCHORS, Constraints
from pairup.density_ratio import relative_scores
from pairup.forms import alignment
from pairup.types import Float32Array, Indices


@dataclass(frozen=True, eq=False)
class Candidate:
    """A matching that the search found.

    Parameters
    ----------
    metric : str
        The metric in which it was found.
    start : int
        The number of the solution that it was continued from.
    epsilon : float
        The regulariser ε at which it was found.
    indices : ndarray of int, shape (n,)
        The matching.
    value : float
        The alignment there: the mean cosine of whitened kernels, in [−1, 1].
    plan : ndarray of float32, shape (n, m), optional
        The soft plan behind it, while it is still to be continued.
    """

    metric: str
    start: int
    epsilon: float
    indices: Indices
    value: float
    plan: Float32Array | None = None


@dataclass(frozen=True, eq=False)
class CoarseResult:
    """What the coarse search found in one geometry.

    Parameters
    ----------
    metric : str
        The metric of the geometry.
    candidates : list of Candidate
        The solutions to continue, the best first.
    null : float
        The largest alignment with sets like Y that have nothing to do with X.
    solutions : list of ndarray of int, shape (n,), default none
        All solutions found, for the genetic search.
    """

    metric: str
    candidates: list[Candidate]
    null: float
    solutions: list[Indices] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The best alignment found."""
        return self.candidates[0].value

    @property
    def excess(self) -> float:
        """How far the alignment exceeds that of unrelated data, 1 at the most."""
        return (self.value - self.null) / max(1.0 - self.null, 1e-9)

    def without_plans(self) -> "CoarseResult":
        """Return the same without soft plans, which are most of its memory."""
        return replace(self, candidates=[replace(c, plan=None) for c in self.candidates])


def coarse_search(
    geometry: GeometryPair | JointGeometry,
    constraints: Constraints,
    plans: Sequence[Float32Array],
    *,
    betas: Sequence[float] = COARSE_COOLING,
) -> list[Candidate]:
    """Anneal at a coarse ε from every plan.

    Parameters
    ----------
    geometry : GeometryPair or JointGeometry
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.
    plans : sequence of ndarray of float32, shape (n, m)
        Where to start.
    betas : sequence of float, default COARSE_COOLING
        The inverse temperatures.

    Returns
    -------
    list of Candidate
        Distinct solutions, the best first.
    """
    schedule = Schedule.for_size(constraints)
    epsilon = schedule.coarse_epsilon
    forms = geometry.coarse_forms(epsilon)
    anneal_plans = anneal_halving if schedule.halves else anneal_all
    found: list[Candidate] = []
    for plan in anneal_plans(forms, plans, constraints, betas=betas, updates=schedule.coarse_updates):
        indices = constraints.round(plan)
        found.append(Candidate(geometry.metric, len(found), epsilon, indices, alignment(forms, indices), plan))
    return keep_distinct(found)


def keep_distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates no two of which agree on half of the pairs, the best first."""
    distinct: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: -c.value):
        if all(agreement(candidate.indices, other.indices) < SEARCH.same for other in distinct):
            distinct.append(candidate)
    return distinct


def select_candidates(
    geometry: GeometryPair | JointGeometry,
    candidates: Sequence[Candidate],
    constraints: Constraints,
    count: int = SEARCH.kept,
) -> list[Candidate]:
    """Choose the candidate of the best value, that of the best held-out score, and the next by value.

    A mirror image may have the better value at a coarse ε. Among many objects one solution stands out by its value.

    Parameters
    ----------
    geometry : GeometryPair or JointGeometry
        The geometry whose density-ratio models give the held-out scores.
    candidates : sequence of Candidate
        Distinct solutions, the best first.
    constraints : Constraints
        The sizes of the sets.
    count : int, default 2
        How many to choose.

    Returns
    -------
    list of Candidate
        The chosen ones, the best first.
    """
    chosen = list(candidates[:count])
    if len(candidates) > count and constraints.largest < GEOMETRY.many_objects_from:
        J = geometry.held_out_scores([candidate.indices for candidate in candidates[: SEARCH.scored]])
        best = candidates[int(relative_scores(J).mean(axis=1).argmax())]
        if all(best is not candidate for candidate in chosen):
            chosen[-1] = best
    return chosen


def agreement(p: Indices, q: Indices, known: Indices = NO_ANCHORS[0]) -> float:
    """Return the share of pairs that two matchings have in common.

    Parameters
    ----------
    p, q : ndarray of int, shape (n,)
        Two matchings.
    known : ndarray of int, shape (n_known,), default none
        Objects of X whose pairs do not count.

    Returns
    -------
    float
        A share in [0, 1].

    Examples
    --------
    >>> agreement(np.array([0, 1, -1, 2]), np.array([0, 2, -1, 1]))
    0.3333333333333333
    >>> agreement(np.array([0, 1, -1, 2]), np.array([0, 2, -1, 1]), known=np.array([0]))
    0.0
    """
    same = (p == q) & (p >= 0)
    pairs = max(int((p >= 0).sum()), int((q >= 0).sum())) - len(known)
    return float(same.sum() - same[known].sum()) / max(pairs, 1)


def explore(geometry: GeometryPair, context: Context) -> CoarseResult:
    """Search a geometry coarsely from all starts, and beside unrelated sets for comparison.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    context : Context
        What every matching keeps to; the seed draws the unrelated sets.

    Returns
    -------
    CoarseResult
        The solutions to continue.
    """
    constraints = context.constraints
    candidates = coarse_search(geometry, constraints, list(initial_plans(geometry, constraints)))
    draws = range(context.seed, context.seed + count_draws(constraints))
    nulls = [max(0.0, search_unrelated(geometry, constraints, seed)[0].value) for seed in draws]
    solutions = [candidate.indices for candidate in candidates[: SEARCH.parents]]
    chosen = select_candidates(geometry, candidates, constraints)
    return CoarseResult(geometry.metric, chosen, max(nulls), solutions)


def explore_lead(geometry: GeometryPair, lead: Indices, context: Context) -> CoarseResult:
    """Search a geometry from a matching that is known to be good, and beside an unrelated set for comparison.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    lead : ndarray of int, shape (n,)
        The matching.
    context : Context
        What every matching keeps to; the seed draws the unrelated set.

    Returns
    -------
    CoarseResult
        The solution to continue.
    """
    constraints = context.constraints
    found = coarse_search(geometry, constraints, [constraints.warm_start(lead)], betas=SEARCH.foreign_cooling)
    null = max(0.0, search_unrelated(geometry, constraints, context.seed)[0].value)
    return CoarseResult(geometry.metric, found, null, [found[0].indices])


def search_unrelated(geometry: GeometryPair, constraints: Constraints, seed: int) -> list[Candidate]:
    """Search a set like Y coarsely that has nothing to do with X.

    Parameters
    ----------
    geometry : GeometryPair
        The two sets. Among many objects the result is kept with them, for those who ask again.
    constraints : Constraints
        Their sizes; known pairs and a prior do not count.
    seed : int
        Draws the unrelated set.

    Returns
    -------
    list of Candidate
        The best distinct solutions.
    """
    key = ("unrelated search", seed, constraints.n_pairs)
    found: list[Candidate] | None = geometry.kept.get(key)
    if found is None:
        free = replace(constraints, anchors=NO_ANCHORS, prior=None)
        unrelated = draw_unrelated(geometry, seed)
        starts = list(islice(initial_plans(unrelated, free), count_starts(constraints)))
        found = coarse_search(unrelated, free, starts)
        if constraints.smallest >= GEOMETRY.many_objects_from:
            geometry.kept[key] = found = found[: SEARCH.kept]
    return found


def explore_rotations(geometry: GeometryPair, result: CoarseResult, context: Context) -> CoarseResult:
    """Search from more starts, for sets that stand out in no metric.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    result : CoarseResult
        What the coarse search found there.
    context : Context
        What every matching keeps to; the seed draws the starts.

    Returns
    -------
    CoarseResult
        The result with what the further starts found.
    """
    constraints = context.constraints
    starts = [constraints.warm_start(indices) for indices in rotated_starts(geometry, context)]
    found = coarse_search(geometry, constraints, starts)
    candidates = keep_distinct([*result.candidates, *found])
    return replace(
        result,
        candidates=select_candidates(geometry, candidates, constraints, SEARCH.kept_after_rotations),
        solutions=[*result.solutions, *(candidate.indices for candidate in found[: SEARCH.parents])],
    )


def explore_clusters(geometry: GeometryPair, result: CoarseResult, context: Context, number: int) -> CoarseResult:
    """Search from the best plans of a population of plans between clusters.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    result : CoarseResult
        What the coarse search found there.
    context : Context
        What every matching keeps to; the seed draws clusters and plans.
    number : int
        The number of the population.

    Returns
    -------
    CoarseResult
        The result with what the population found; unrelated sets have not been searched in the same way.
    """
    constraints = context.constraints
    found = _search_clusters(geometry, constraints, context.seed + number)
    return replace(
        result,
        candidates=select_candidates(
            geometry, keep_distinct([*result.candidates, *found]), constraints, SEARCH.kept_after_rotations
        ),
        solutions=[*result.solutions, *(candidate.indices for candidate in found[: SEARCH.parents])],
    )


def compare_clusters(geometry: GeometryPair, result: CoarseResult, context: Context, number: int) -> CoarseResult:
    """Search an unrelated set from the best plans of a population of plans between clusters, too.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    result : CoarseResult
        What such populations found there.
    context : Context
        What every matching keeps to; the seed draws clusters and plans.
    number : int
        The number of the population.

    Returns
    -------
    CoarseResult
        The result beside unrelated data that were searched as long.
    """
    free = replace(context.constraints, anchors=NO_ANCHORS, prior=None)
    found = _search_clusters(draw_unrelated(geometry, context.seed), free, context.seed + number)
    return replace(result, null=max(result.null, found[0].value))


def _search_clusters(geometry: GeometryPair, constraints: Constraints, seed: int) -> list[Candidate]:
    return coarse_search(geometry, constraints, breed_plans(geometry, constraints, seed), betas=SEARCH.foreign_cooling)


def explore_pool(
    geometry: GeometryPair, result: CoarseResult, pool: Sequence[Indices], context: Context
) -> CoarseResult:
    """Try the solutions of other geometries as well.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    result : CoarseResult
        What the coarse search found there.
    pool : sequence of ndarray of int, shape (n,)
        Solutions of other geometries.
    context : Context
        What every matching keeps to.

    Returns
    -------
    CoarseResult
        The result with the best candidates of both.
    """
    return replace(result, candidates=try_solutions(geometry, result.candidates, pool, context.constraints))


def is_clear(results: Sequence[CoarseResult], constraints: Constraints) -> bool:
    """Tell whether the alignment in some metric clearly exceeds that of unrelated data.

    Parameters
    ----------
    results : sequence of CoarseResult
        What the coarse search found in each metric.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    bool
        Whether the largest excess reaches the schedule's `clear`.
    """
    return max(result.excess for result in results) >= Schedule.for_size(constraints).clear


def select_geometries(results: Sequence[CoarseResult], constraints: Constraints) -> list[int]:
    """Return the numbers of the geometries whose excess comes near the best; all, where none is clear.

    Parameters
    ----------
    results : sequence of CoarseResult
        What the coarse search found in each metric.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    list of int
        Numbers of geometries, rising.
    """
    if not is_clear(results, constraints):
        return list(range(len(results)))
    excess = np.array([result.excess for result in results])
    return [int(k) for k in np.flatnonzero(excess >= SEARCH.near_best * excess.max())]


def select_isometric(results: Sequence[CoarseResult], constraints: Constraints) -> list[int]:
    """Return the numbers of the geometries in which the sets align nearly perfectly, whatever unrelated sets do.

    All curves are alike by the distances along them, so that this metric never exceeds unrelated data; but of the few
    pairings that align there one is right.

    Parameters
    ----------
    results : sequence of CoarseResult
        What the coarse search found in each metric.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    list of int
        Numbers of geometries, rising; none where objects are few.
    """
    if constraints.smallest < SEARCH.isometric_from:
        return []
    return [k for k, result in enumerate(results) if result.value >= SEARCH.isometric]


def pool_solutions(results: Sequence[CoarseResult]) -> list[Indices]:
    """Return the distinct solutions of several geometries, those that come closest to the best of their own first."""
    behind = [replace(c, value=c.value - result.value) for result in results for c in result.candidates]
    return [candidate.indices for candidate in keep_distinct(behind)[: SEARCH.pooled]]


def try_solutions(
    geometry: GeometryPair | JointGeometry,
    own: Sequence[Candidate],
    pool: Sequence[Indices],
    constraints: Constraints,
) -> list[Candidate]:
    """Try solutions from elsewhere in a geometry, beside its own.

    Parameters
    ----------
    geometry : GeometryPair or JointGeometry
        How objects are compared.
    own : sequence of Candidate
        What the coarse search found there.
    pool : sequence of ndarray of int, shape (n,)
        Solutions from elsewhere.
    constraints : Constraints
        What every matching keeps to.

    Returns
    -------
    list of Candidate
        Those worth continuing, the best first.
    """
    foreign = [p for p in pool if all(agreement(p, candidate.indices) < SEARCH.same for candidate in own)]
    found = []
    if foreign:
        starts = [constraints.warm_start(p) for p in foreign]
        found = coarse_search(geometry, constraints, starts, betas=SEARCH.foreign_cooling)
    candidates = keep_distinct([*own, *found])
    least = candidates[0].value - (1.0 - SEARCH.rival) * abs(candidates[0].value)
    good = [candidate for candidate in candidates if candidate.value >= least]
    return select_candidates(geometry, good, constraints)


def refine(
    geometry: GeometryPair | JointGeometry,
    constraints: Constraints,
    own: Sequence[Candidate],
    pool: Sequence[Indices],
    bred: Sequence[Indices] = (),
) -> list[Candidate]:
    """Continue solutions of the coarse search to finer and finer dependence.

    Parameters
    ----------
    geometry : GeometryPair or JointGeometry
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.
    own : sequence of Candidate
        What the coarse search found in this geometry.
    pool : sequence of ndarray of int, shape (n,)
        Solutions to try beside them.
    bred : sequence of ndarray of int, shape (n,), default ()
        Matchings of the genetic search, which fine dependence decided; they are continued in it only.

    Returns
    -------
    list of Candidate
        A candidate for every solution and every ε.
    """
    plans = [candidate.plan for candidate in try_solutions(geometry, own, pool, constraints)] if own or pool else []
    schedule = Schedule.for_size(constraints)
    candidates = []
    for epsilon in schedule.continuation:
        if epsilon <= SEARCH.fine and bred:
            plans += [constraints.warm_start(indices) for indices in bred]
            bred = ()
        forms = geometry.forms(epsilon)
        for number, plan in enumerate(plans):
            assert plan is not None
            plan = last_plan(anneal(forms, plan, constraints, betas=RECOOLING, updates=schedule.updates))
            indices = constraints.round(plan)
            candidates.append(Candidate(geometry.metric, number, epsilon, indices, alignment(forms, indices)))
            plans[number] = plan
    return candidates


def soften(
    geometry: GeometryPair | JointGeometry,
    constraints: Constraints,
    indices: Indices,
    *,
    epsilon: float = SEARCH.soft_epsilon,
    betas: Sequence[float] = SEARCH.soft_cooling,
) -> Float32Array:
    """Return the plan around a matching at a moderate temperature, where it does not yet fit what is accidental.

    Parameters
    ----------
    geometry : GeometryPair or JointGeometry
        How objects are compared.
    constraints : Constraints
        What the plan keeps to.
    indices : ndarray of int, shape (n,)
        The matching.
    epsilon : float, default 0.1
        The regulariser ε.
    betas : sequence of float, default (5.0, 7.0, 10.0)
        The inverse temperatures.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan; its rows sum to 1.
    """
    forms, start = geometry.coarse_forms(epsilon), constraints.warm_start(indices)
    plan = last_plan(anneal(forms, start, constraints, betas=betas, updates=SEARCH.soft_updates))
    plan /= np.maximum(plan.sum(axis=1, keepdims=True), 1e-30)
    return plan
