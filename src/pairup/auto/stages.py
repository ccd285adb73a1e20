"""The stages of a search: coarse search, exchange of solutions, genetic search, refinement, consensus."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product

import numpy as np

from pairup.auto.consensus import Consensus, form_consensus, median_scores
from pairup.auto.genetic import evolve
from pairup.auto.geometry import GeometryPair, JointGeometry
from pairup.auto.islands import IslandResult, evolve_island, select_island_geometries
from pairup.auto.leads import find_lead
from pairup.auto.metrics import is_unscaled, is_whitened
from pairup.auto.problem import Context
from pairup.auto.schedule import CLUSTER_PLANS, CONSENSUS, GENETIC, GEOMETRY, ISLANDS, LEADS, SEARCH, Schedule
from pairup.auto.search import (
    Candidate,
    CoarseResult,
    agreement,
    compare_clusters,
    explore,
    explore_clusters,
    explore_lead,
    explore_pool,
    explore_rotations,
    is_clear,
    pool_solutions,
    refine,
    select_geometries,
    select_isometric,
)
from pairup.auto.significance import compare_with_unrelated
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.parallel import run
from pairup.types import Array, Indices

Geometries = list[GeometryPair]


def search(
    geometries: Iterable[GeometryPair],
    further: Iterable[GeometryPair],
    contexts: Sequence[Context],
    history: list[Step],
    *,
    pool: Sequence[Indices] = (),
    breeds: bool = True,
) -> Generator[Step, None, tuple[Consensus, Geometries]]:
    """Form candidates in all geometries whose alignment exceeds that of unrelated data.

    Parameters
    ----------
    geometries : iterable of GeometryPair
        Geometries of the two sets; no more are made than are searched.
    further : iterable of GeometryPair
        More of them, for sets that match well in none of the first.
    contexts : sequence of Context
        What matchings keep to, with one or several weights of a prior.
    history : list of Step
        The steps so far; those of this search are added.
    pool : sequence of ndarray of int, shape (n,), default ()
        Solutions to try beside those that the search finds.
    breeds : bool, default True
        Whether the genetic search may run. Scores with and without it do not compare.

    Returns
    -------
    tuple of Consensus and list of GeometryPair
        The combined result of all candidates, and the geometries that were explored.

    Yields
    ------
    Step
        A step for each candidate.
    """
    context = contexts[0]
    further = iter(further)
    looks = breeds and not pool and context.constraints.prior is None
    first = list(islice(further, 1)) if looks and context.constraints.smallest >= GEOMETRY.many_objects_from else []
    lead = find_lead(first[0], context) if first else None
    if lead is None:
        geometries, coarse = explore_all(list(geometries), chain(first, further), context)
        coarse = exchange_solutions(geometries, coarse, pool, context)
    else:
        geometries, coarse = follow_lead(chain(first, geometries), lead, context)
        breeds = False
    selected = select_geometries(coarse, context.constraints)
    isometric = [k for k in select_isometric(coarse, context.constraints) if k not in selected]
    for k in set(range(len(geometries))).difference(selected, isometric):
        geometries[k].drop_cache()
    bred, decided = breed(geometries, coarse, context) if breeds else ([], False)
    constraints = context.constraints
    own = [replace(result, candidates=[]) for result in coarse] if decided and constraints.prior is None else coarse
    candidates = yield from refine_all(geometries, own, selected, bred, contexts, history, isometric)
    if constraints.prior is not None and constraints.prior_unit:  # what the prior prefers is a candidate like others
        candidates.append(Candidate("prior", 0, GEOMETRY.finest, constraints.round(constraints.prior), 0.0))
    return combine(candidates, geometries, coarse, selected, context), geometries


def follow_lead(
    geometries: Iterable[GeometryPair], lead: Indices, context: Context
) -> tuple[Geometries, list[CoarseResult]]:
    """Search a few geometries from a matching that is known to be good.

    Parameters
    ----------
    geometries : iterable of GeometryPair
        Geometries of the two sets; no more are made than it takes to find those that are searched.
    lead : ndarray of int, shape (n,)
        The matching.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    geometries : list of GeometryPair
        Those that were searched.
    coarse : list of CoarseResult
        What was found in each.
    """
    followed: Geometries = []
    for geometry in geometries:
        followed += [geometry] * (geometry.metric in LEADS.metrics)
        if len(followed) == len(LEADS.metrics):
            break
    tasks = [partial(explore_lead, geometry, lead, context) for geometry in followed]
    return followed, list(run(tasks, n_jobs=context.n_jobs))


def explore_all(
    geometries: Sequence[GeometryPair], further: Iterable[GeometryPair], context: Context
) -> tuple[Geometries, list[CoarseResult]]:
    """Search every geometry coarsely; further ones, of which the best is kept, where none matches well; then longer.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    further : iterable of GeometryPair
        More of them, for sets that match well in none of the first.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    geometries : list of GeometryPair
        The geometries that were explored, the best of the further ones included.
    coarse : list of CoarseResult
        What was found in each.
    """
    constraints, n_jobs = context.constraints, context.n_jobs
    geometries = list(geometries)
    coarse = list(run([partial(explore, geometry, context) for geometry in geometries], n_jobs=n_jobs))
    if max(result.excess for result in coarse) < Schedule.for_size(constraints).enough:
        more, last = split_unscaled(further)
        of_more = list(run([partial(explore, geometry, context) for geometry in more], n_jobs=n_jobs))
        if not is_clear([*coarse, *of_more], constraints):
            unscaled = list(last)
            of_more += run([partial(explore, geometry, context) for geometry in unscaled], n_jobs=n_jobs)
            more += unscaled
            of_more = populate(more, of_more, context)
        for k in select_further(of_more, constraints):
            geometries.append(more[k])
            coarse.append(of_more[k])
    if not is_clear(coarse, constraints):
        longer = [
            partial(explore_rotations, geometry, result, context)
            for geometry, result in zip(geometries, coarse, strict=True)
        ]
        coarse = list(run(longer, n_jobs=n_jobs))
    return geometries, coarse


def split_unscaled(geometries: Iterable[GeometryPair]) -> tuple[Geometries, Iterator[GeometryPair]]:
    """Return the geometries before those of unscaled columns, and an iterator over these, none of them made yet."""
    geometries = iter(geometries)
    before: Geometries = []
    for geometry in geometries:
        if is_unscaled(geometry.metric):
            return before, chain([geometry], geometries)
        before.append(geometry)
    return before, iter(())


def populate(
    geometries: Sequence[GeometryPair], coarse: Sequence[CoarseResult], context: Context
) -> list[CoarseResult]:
    """Breed plans between clusters in whitened geometries, the most promising first, until the pairing is clear in one.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    coarse : sequence of CoarseResult
        What the coarse search found in each.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    list of CoarseResult
        What was found in each after that.
    """
    results = list(coarse)
    if context.constraints.smallest < CLUSTER_PLANS.fewest_objects:
        return results
    whitened = [k for k, result in enumerate(results) if is_whitened(result.metric)]
    order = sorted(whitened, key=lambda k: -results[k].excess)
    groups = [order[k : k + CLUSTER_PLANS.metrics] for k in range(0, len(order), CLUSTER_PLANS.metrics)]
    compared: set[int] = set()

    def exchange(which: Sequence[int]) -> None:
        """Let some of the geometries try the best solutions of each other."""
        exchanged = exchange_solutions([geometries[k] for k in which], [results[k] for k in which], (), context)
        for k, result in zip(which, exchanged, strict=True):
            results[k] = result

    def compare(k: int, number: int) -> None:
        """Search an unrelated set as long, where a population found more: a metric counts only then."""
        compared.add(k)
        if results[k].value > coarse[k].value:
            (results[k],) = run([partial(compare_clusters, geometries[k], results[k], context, number)])

    for number, chosen in product(range(CLUSTER_PLANS.clusterings), groups):
        tasks = [partial(explore_clusters, geometries[k], results[k], context, number) for k in chosen]
        for k, result in zip(chosen, run(tasks, n_jobs=context.n_jobs), strict=True):
            results[k] = result
        exchange(chosen)
        for k in chosen:
            if k not in compared and is_clear([results[k]], context.constraints):
                compare(k, number)
        if is_clear(results, context.constraints):
            exchange(whitened)
            break
    while (best := max(whitened, key=lambda k: results[k].excess, default=-1)) not in {-1, *compared}:
        compare(best, 0)  # the others are dropped
    return results


def select_further(results: Sequence[CoarseResult], constraints: Constraints) -> list[int]:
    """Return which of the further geometries are kept: of whitened ones the best, and those that found the same.

    Few components show a pairing that many do not, and not what the left out ones tell about it; both together do.

    Parameters
    ----------
    results : sequence of CoarseResult
        What was found in each.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    list of int
        Numbers of geometries, rising.
    """
    whitened = [k for k, result in enumerate(results) if is_whitened(result.metric)]
    best = max(whitened, key=lambda k: results[k].excess, default=None)
    kept = {best}
    if best is not None and constraints.smallest >= CLUSTER_PLANS.fewest_objects and is_clear(results, constraints):
        found, least = results[best].candidates[0].indices, SEARCH.near_best * results[best].excess
        near = [k for k in whitened if results[k].excess >= least]
        kept.update(k for k in near if agreement(results[k].candidates[0].indices, found) >= CLUSTER_PLANS.agreement)
    return [k for k in range(len(results)) if k not in whitened or k in kept]


def exchange_solutions(
    geometries: Sequence[GeometryPair], coarse: Sequence[CoarseResult], pool: Sequence[Indices], context: Context
) -> list[CoarseResult]:
    """Let every geometry try the best solutions of the others.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    coarse : sequence of CoarseResult
        What the coarse search found in each.
    pool : sequence of ndarray of int, shape (n,)
        Further solutions to try.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    list of CoarseResult
        What was found in each after that.
    """
    pool = [*pool, *pool_solutions(coarse)]
    tasks = [partial(explore_pool, g, result, pool, context) for g, result in zip(geometries, coarse, strict=True)]
    return list(run(tasks, n_jobs=context.n_jobs))


def breed(
    geometries: Sequence[GeometryPair], coarse: Sequence[CoarseResult], context: Context
) -> tuple[list[Indices], bool]:
    """Run the genetic search where no metric is clear and the objects are not too few.

    Islands come first. Two that find some of the same pairs are enough; so is one among many objects, where all that
    follows would cost too much. Otherwise two populations of all metrics have the same parents and a kernel each. Where
    they find some of the same pairs, a third descends from both, and the best of each are returned; where they do not,
    what they found is an accident of their own.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    coarse : sequence of CoarseResult
        What the coarse search found in each.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    matchings : list of ndarray of int, shape (n,)
        The best matching of each population and of some islands, or none.
    decided : bool
        Whether islands found the pairing, so that solutions of the coarse search need not be continued beside it.
    """
    constraints, kernels = context.constraints, GEOMETRY.scoring_kernels
    if is_clear(coarse, constraints) or constraints.smallest < GENETIC.fewest_objects:
        return [], False
    found = evolve_islands(geometries, context)
    agree = len(found) > 1 and agreement(found[0], found[1], constraints.anchors[0]) >= GENETIC.agreement
    if agree or constraints.largest >= GEOMETRY.many_objects_from:
        return found, bool(found)
    weights = np.maximum([result.excess for result in coarse], CONSENSUS.least_weight)
    chosen = np.flatnonzero(weights >= GENETIC.metric_share * weights.max()).tolist()
    weights = weights[chosen] / weights[chosen].sum()
    taking_part = [geometries[k] for k in chosen]
    solutions = [p for result in coarse for p in (*(c.indices for c in result.candidates), *result.solutions)]
    solutions += found
    apart = [
        partial(evolve, taking_part, weights, solutions, [kernel], replace(context, seed=context.seed + k))
        for k, kernel in enumerate(kernels)
    ]
    populations = list(run(apart, n_jobs=context.n_jobs))
    one, other = (population[0] for population in populations)
    if agreement(one, other, constraints.anchors[0]) < GENETIC.agreement:
        return found, False
    parents = [p for population in populations for p in population]
    last = replace(context, seed=context.seed + len(kernels))
    populations += run([partial(evolve, taking_part, weights, parents, kernels, last)], n_jobs=context.n_jobs)
    return [*(population[0] for population in populations), *found], False


def evolve_islands(geometries: Sequence[GeometryPair], context: Context) -> list[Indices]:
    """Breed a population in each of several geometries.

    Among many objects, whose populations cost most, one island is enough that finds something.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    context : Context
        What matchings keep to, and how to run.

    Returns
    -------
    list of ndarray of int, shape (n,)
        The best matchings of the islands whose breeding gained more than it does in unrelated sets.
    """
    chosen = select_island_geometries(geometries)
    tasks = [partial(evolve_island, geometry, context, context.seed + k) for k, geometry in enumerate(chosen)]
    many = context.constraints.largest >= GEOMETRY.many_objects_from
    found: list[IslandResult] = []
    for together in [[task] for task in tasks] if many else [tasks]:
        found += [result for result in run(together, n_jobs=context.n_jobs) if result.is_found]
        if found:
            break
    best = sorted(found, key=lambda result: -result.gain)[: ISLANDS.found]
    return [result.solutions[0] for result in best]


def refine_all(
    geometries: Sequence[GeometryPair],
    coarse: Sequence[CoarseResult],
    selected: Sequence[int],
    bred: Sequence[Indices],
    contexts: Sequence[Context],
    history: list[Step],
    alone: Sequence[int] = (),
) -> Generator[Step, None, list[Candidate]]:
    """Continue the solutions of the selected geometries to fine dependence, in each alone and in all together.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    coarse : sequence of CoarseResult
        What the coarse search found in each.
    selected : sequence of int
        The numbers of the geometries that are continued.
    bred : sequence of ndarray of int, shape (n,)
        Matchings of the genetic search.
    contexts : sequence of Context
        What matchings keep to, with one or several weights of a prior.
    history : list of Step
        The steps so far; those of this search are added.
    alone : sequence of int, default ()
        The numbers of further geometries, whose solutions are continued in them alone.

    Returns
    -------
    list of Candidate
        All candidates.

    Yields
    ------
    Step
        A step for each candidate.
    """
    searches: list[tuple[GeometryPair | JointGeometry, list[Candidate], list[Indices]]]
    searches = [(geometries[k], coarse[k].candidates, []) for k in (*selected, *alone)]
    if len(selected) > 1:
        first = [coarse[k] for k in selected]  # of equal rank theirs count more
        pool = pool_solutions([*first, *(result for result in coarse if result not in first)])
        searches.append((JointGeometry([geometries[k] for k in selected]), [], pool))
    tasks = [
        partial(refine, geometry, context.constraints, own, foreign, bred)
        for context in contexts
        for geometry, own, foreign in searches
    ]
    candidates: list[Candidate] = []
    for found in run(tasks, n_jobs=contexts[0].n_jobs):
        start = history[-1].start + 1 if history else 0
        for number, candidate in enumerate(found):
            history.append(Step(start, number, candidate.indices, candidate.value))
            yield history[-1]
        candidates += found
    return candidates


def combine(
    candidates: Sequence[Candidate],
    geometries: Sequence[GeometryPair],
    coarse: Sequence[CoarseResult],
    selected: Sequence[int],
    context: Context,
) -> Consensus:
    """Score candidates by the density-ratio models of the selected geometries, and combine them.

    Parameters
    ----------
    candidates : sequence of Candidate
        What the search found.
    geometries : sequence of GeometryPair
        Geometries of the two sets; partners are compared in the first.
    coarse : sequence of CoarseResult
        What the coarse search found in each.
    selected : sequence of int
        The numbers of the geometries whose models score.
    context : Context
        What the matching keeps to, and how to run.

    Returns
    -------
    Consensus
        The combined result of all candidates.
    """
    matchings = [candidate.indices for candidate in candidates]
    J = score_matchings([geometries[k] for k in selected], matchings, context.n_jobs)
    weights = np.repeat([coarse[k].excess for k in selected], len(GEOMETRY.scoring_kernels))
    D = geometries[0].y.distances
    similarity = np.exp(-D / max(float(np.median(D)), 1e-30))
    unrelated = 0.0
    if context.constraints.prior_unit:
        best = matchings[int(median_scores(J, weights).argmax())]
        unrelated = float(np.exp(-compare_with_unrelated([geometries[k] for k in selected], best, context).log_ratio))
    return form_consensus(candidates, J, weights, similarity, context.constraints, coarse, unrelated)


def score_matchings(geometries: Sequence[GeometryPair], matchings: list[Indices], n_jobs: int | None) -> Array:
    """Score matchings by the density-ratio models of all geometries, pairs left out of the fit one at a time.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    matchings : list of ndarray of int, shape (n,)
        The matchings.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    ndarray of shape (n_matchings, n_models)
        J; lower is better.
    """
    return np.hstack(list(run([partial(g.held_out_scores, matchings) for g in geometries], n_jobs=n_jobs)))
