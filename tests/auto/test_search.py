from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pairup.auto import search
from pairup.auto.initializers import initial_plans
from pairup.auto.metrics import table_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, SEARCH
from pairup.auto.search import (
    Candidate,
    CoarseResult,
    agreement,
    coarse_search,
    compare_clusters,
    explore,
    explore_clusters,
    explore_pool,
    pool_solutions,
    refine,
    search_unrelated,
    select_candidates,
    select_geometries,
    select_isometric,
    try_solutions,
)
from pairup.constraints import Constraints
from pairup.density_ratio import EPSILONS


def solution(constraints, indices, value):
    return Candidate("euclidean", 0, 0.1, indices, value, constraints.warm_start(indices))


def test_geometries_learn_from_each_other(rng, skewed):
    X, Y, truth = skewed(rng)
    raw, city, *_ = table_geometries(X, Y)
    constraints = Constraints(60, 60, 60)
    lost = coarse_search(raw, constraints, [constraints.warm_start(rng.permutation(60))])
    assert agreement(lost[0].indices, truth) < 0.5
    found = coarse_search(city, constraints, list(initial_plans(city, constraints)))
    told = try_solutions(raw, lost, pool_solutions([CoarseResult("cityblock", found, 0.0)]), constraints)
    assert agreement(told[0].indices, truth) > 0.9


def test_a_geometry_takes_a_better_solution_from_others(rng, skewed):
    X, Y, truth = skewed(rng)
    raw, constraints = next(table_geometries(X, Y)), Constraints(60, 60, 60)
    lost = rng.permutation(60)
    poor = CoarseResult("euclidean", [solution(constraints, lost, 0.1)], 0.0)
    better = explore_pool(raw, poor, [truth], Context(constraints))
    assert (better.candidates[0].indices == truth).mean() > 0.9
    assert better.excess > poor.excess


def test_coarse_solutions_are_distinct_and_ordered(rng, skewed):
    X, Y, truth = skewed(rng)
    geometry, constraints = next(table_geometries(X, Y)), Constraints(60, 60, 60)
    candidates = coarse_search(geometry, constraints, list(initial_plans(geometry, constraints)))
    assert all(a.value >= b.value for a, b in pairwise(candidates))
    assert (candidates[0].indices == truth).mean() > 0.9
    assert all((candidates[0].indices == b.indices).mean() < 0.5 for b in candidates[1:])


def test_the_solution_of_the_best_held_out_score_is_kept(rng, skewed):
    X, Y, truth = skewed(rng)
    geometry, constraints = next(table_geometries(X, Y)), Constraints(60, 60, 60)
    matchings = [*(rng.permutation(60) for _ in range(4)), truth]
    candidates = [solution(constraints, p, 0.9 - 0.01 * k) for k, p in enumerate(matchings)]
    assert [b.value for b in select_candidates(geometry, candidates, constraints)] == pytest.approx([0.9, 0.86])
    assert [b.value for b in select_candidates(geometry, candidates, constraints, 3)] == pytest.approx(
        [0.9, 0.89, 0.86]
    )
    assert [b.value for b in select_candidates(geometry, candidates[:2], constraints)] == pytest.approx([0.9, 0.89])


def test_many_independent_columns_do_not_look_related(rng):
    constraints = Constraints(60, 60, 60)
    sets = rng.normal(size=(60, 200)), rng.normal(size=(60, 300))
    assert (
        explore(next(table_geometries(*sets)), Context(constraints)).excess < 0.15
    )  # .2 if shuffled coordinates stay correlated


def test_the_excess_tells_related_from_unrelated_sets(rng, skewed):
    X, Y, _ = skewed(rng)
    constraints = Constraints(60, 60, 60)
    related = explore(next(table_geometries(X, Y)), Context(constraints))
    apart = explore(next(table_geometries(rng.normal(size=(60, 5)), rng.normal(size=(60, 5)))), Context(constraints))
    assert related.excess > 0.5
    assert apart.excess < 0.2
    assert select_geometries([related, apart], constraints) == [0]
    assert select_geometries([apart, apart], constraints) == [0, 1]


def test_bred_matchings_are_continued_in_fine_dependence_only(rng, skewed):
    X, Y, truth = skewed(rng)
    geometry, constraints = next(table_geometries(X, Y)), Constraints(60, 60, 60)
    lost = rng.permutation(60)
    own = [solution(constraints, lost, 0.1)]
    alone, with_bred = refine(geometry, constraints, own, []), refine(geometry, constraints, own, [], [truth])
    assert [c.epsilon for c in alone] == list(EPSILONS)
    bred = [c for c in with_bred if c.start == 1]
    assert [c.epsilon for c in bred] == [epsilon for epsilon in EPSILONS if epsilon <= SEARCH.fine]
    assert agreement(bred[-1].indices, truth) > 0.9


def test_plans_between_clusters_are_tried_and_the_unrelated_set_is_searched_likewise(rng, skewed, monkeypatch):
    X, Y, truth = skewed(rng)
    constraints = Constraints(60, 60, 60)
    geometry = next(table_geometries(X, Y))
    lost = rng.permutation(60)
    poor = CoarseResult("euclidean", [Candidate("euclidean", 0, 0.1, lost, 0.0)], -1.0)
    calls = []

    def breed_plans(pair, kept, seed):
        calls.append(pair is geometry)
        return [kept.warm_start(truth)]

    monkeypatch.setattr("pairup.auto.search.breed_plans", breed_plans)
    result = explore_clusters(geometry, poor, Context(constraints), 0)
    assert (result.candidates[0].indices == truth).mean() > 0.9
    assert result.null == poor.null
    assert compare_clusters(geometry, result, Context(constraints), 0).null > poor.null
    assert calls == [True, False]


def test_solutions_that_align_nearly_perfectly_are_continued_though_unrelated_sets_align_too():
    results = [
        CoarseResult(metric, [Candidate(metric, 0, 0.1, np.arange(3), value)], null)
        for metric, value, null in (("cityblock", 0.86, 0.7), ("geodesic", 0.98, 0.975), ("ranks", 0.9, 0.8))
    ]
    assert select_isometric(results, Constraints(60, 60, 60)) == [1]
    assert select_isometric(results, Constraints(10, 60, 10)) == []


def test_what_is_found_in_an_unrelated_set_is_kept_among_many_objects(rng, skewed, monkeypatch):
    X, Y, _ = skewed(rng)
    pair, constraints = next(table_geometries(X, Y)), Constraints(60, 60, 60)
    assert search_unrelated(pair, constraints, 0) is not search_unrelated(pair, constraints, 0)
    monkeypatch.setattr(search, "GEOMETRY", replace(GEOMETRY, many_objects_from=50))
    found = search_unrelated(pair, constraints, 0)
    assert search_unrelated(pair, constraints, 0) is found
    pair.drop_cache()
    assert search_unrelated(pair, constraints, 0) is not found
