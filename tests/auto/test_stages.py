from dataclasses import replace

import numpy as np

import pairup
from pairup.auto.geometry import GeometryPair, JointGeometry
from pairup.auto.islands import IslandResult
from pairup.auto.metrics import directions_pair, table_geometries, whitened_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, ISLANDS, LEADS
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.stages import (
    breed,
    combine,
    evolve_islands,
    exchange_solutions,
    explore_all,
    follow_lead,
    populate,
    refine_all,
    score_matchings,
    search,
    select_further,
    split_unscaled,
)
from pairup.constraints import Constraints
from pairup.datasets import shuffle_pair


def rolled_sheet(seed):
    """A sheet, denser at one corner, rolled up in space: what is coarse leads astray."""
    rng = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(50) ** 1.3), 21 * rng.random(50) ** 1.5
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return shuffle_pair(np.c_[t * np.cos(t), h, t * np.sin(t)], np.c_[arc, h], random_state=seed)


def test_populations_match_a_rolled_sheet_with_the_sheet(monkeypatch):
    sets = [rolled_sheet(seed) for seed in (1, 4)]
    bred = [(pairup.match(X, Y).indices == truth).mean() for X, Y, truth in sets]
    monkeypatch.setattr("pairup.auto.stages.breed", lambda *args: ([], False))
    alone = [(pairup.match(X, Y).indices == truth).mean() for X, Y, truth in sets]
    assert np.mean(bred) > np.mean(alone) + 0.3


def test_populations_are_bred_only_where_no_metric_is_clear_and_believed_only_where_they_agree(rng, monkeypatch):
    X, Y, truth = rolled_sheet(1)
    geometries, context = list(table_geometries(X, Y)), Context(Constraints(50, 50, 50))
    lost = rng.permutation(50)
    clear, unclear = (
        [CoarseResult(g.metric, [Candidate(g.metric, 0, 0.1, lost, value)], 0.5) for g in geometries]
        for value in (0.8, 0.6)
    )
    calls, parents = [], []

    def evolve(geometries, weights, solutions, kernels, context):
        calls.append(context.seed)
        parents.append(solutions)
        return [found[len(calls) - 1]]

    monkeypatch.setattr("pairup.auto.stages.evolve", evolve)
    monkeypatch.setattr("pairup.auto.stages.evolve_islands", lambda *args: [])
    found = [truth, lost]
    assert breed(geometries, clear, context) == ([], False)
    assert calls == []
    assert breed(geometries, unclear, context) == ([], False)
    assert calls == [0, 1]
    calls.clear()
    found = [truth, truth, truth]
    assert len(breed(geometries, unclear, context)[0]) == 3
    assert calls == [0, 1, 2]
    assert all((p == truth).all() for p in parents[-1])  # the third descends from both
    for few_or_many in (Constraints(20, 50, 20), Constraints(700, 50, 50)):
        assert breed(geometries, unclear, Context(few_or_many)) == ([], False)
    assert calls == [0, 1, 2]


def test_islands_that_agree_are_enough_and_one_alone_joins_the_populations(rng, monkeypatch):
    X, Y, truth = rolled_sheet(1)
    geometries, context = list(table_geometries(X, Y)), Context(Constraints(50, 50, 50))
    lost, calls = rng.permutation(50), []
    unclear = [CoarseResult(g.metric, [Candidate(g.metric, 0, 0.1, lost, 0.6)], 0.5) for g in geometries]

    def evolve(geometries, weights, solutions, kernels, context):
        calls.append(solutions)
        return [rng.permutation(50)]

    monkeypatch.setattr("pairup.auto.stages.evolve", evolve)
    monkeypatch.setattr("pairup.auto.stages.evolve_islands", lambda *args: [truth, truth])
    matchings, decided = breed(geometries, unclear, context)
    assert (len(matchings), decided) == (2, True)
    assert calls == []
    monkeypatch.setattr("pairup.auto.stages.evolve_islands", lambda *args: [truth])
    (alone,), decided = breed(geometries, unclear, context)
    assert not decided
    assert (alone == truth).all()
    assert all(any((p == truth).all() for p in solutions) for solutions in calls)
    calls.clear()
    (alone,), decided = breed(geometries, unclear, Context(Constraints(700, 50, 50)))
    assert decided
    assert calls == []


def test_islands_are_bred_one_after_another_among_many_objects(skewed, rng, monkeypatch):
    X, Y, truth = skewed(rng, 40)
    geometries, calls = [*table_geometries(X, Y), directions_pair(X, Y)], []

    def evolve_island(geometry, context, seed):
        calls.append((geometry.metric, seed))
        return IslandResult(geometry.metric, [truth], 1.0 if geometry.metric == "directions" else 2.0)

    monkeypatch.setattr("pairup.auto.stages.evolve_island", evolve_island)
    assert len(evolve_islands(geometries, Context(Constraints(40, 40, 40)))) == ISLANDS.found
    assert len(calls) == len({seed for _, seed in calls}) == ISLANDS.count
    calls.clear()
    assert len(evolve_islands(geometries, Context(Constraints(700, 700, 700)))) == 1
    assert calls == [("directions", 0), ("partially-whitened", 1)]


def drain(steps):
    """Return what a generator yields, and what it returns."""
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as end:
            return yielded, end.value


def test_the_stages_one_after_another_find_the_truth(rng, skewed):
    X, Y, truth = skewed(rng)
    context, history = Context(Constraints(60, 60, 60)), []
    geometries, coarse = explore_all(list(table_geometries(X, Y))[:2], (), context)
    coarse = exchange_solutions(geometries, coarse, [], context)
    steps, candidates = drain(refine_all(geometries, coarse, [0, 1], [], [context], history))
    assert len(steps) == len(candidates) == len(history)
    assert {candidate.metric for candidate in candidates} == {"euclidean", "cityblock", "joint"}
    consensus = combine(candidates, geometries, coarse, [0, 1], context)
    assert (consensus.indices == truth).mean() > 0.9
    assert [result.metric for result in consensus.coarse] == ["euclidean", "cityblock"]


def test_solutions_are_continued_in_further_geometries_alone(rng, skewed):
    X, Y, _ = skewed(rng)
    context = Context(Constraints(60, 60, 60))
    geometries, coarse = explore_all(list(table_geometries(X, Y))[:2], (), context)
    _, candidates = drain(refine_all(geometries, coarse, [0], [], [context], [], [1]))
    assert {candidate.metric for candidate in candidates} == {"euclidean", "cityblock"}


def test_a_solution_from_elsewhere_is_tried_by_every_geometry(rng, skewed):
    X, Y, truth = skewed(rng)
    context = Context(Constraints(60, 60, 60))
    geometries = list(table_geometries(X, Y))[:2]
    lost = rng.permutation(60)
    poor = [Candidate(g.metric, 0, 0.1, lost, 0.1, context.constraints.warm_start(lost)) for g in geometries]
    coarse = [CoarseResult(g.metric, [c], 0.0) for g, c in zip(geometries, poor, strict=True)]
    for result in exchange_solutions(geometries, coarse, [truth], context):
        assert (result.candidates[0].indices == truth).mean() > 0.9


def test_further_geometries_are_explored_only_where_none_of_the_first_matches_well(rng, skewed):
    X, Y, _ = skewed(rng, noise=0.0)
    first, second, *_ = table_geometries(X, Y)

    def further():
        asked.append(True)
        yield second

    asked = []
    context = Context(Constraints(60, 60, 60))
    found, _ = explore_all([first], further(), context)
    assert (len(found), asked) == (1, [])
    noise = list(table_geometries(rng.normal(size=(60, 5)), rng.normal(size=(60, 5))))[:1]
    found, coarse = explore_all(noise, further(), context)
    assert asked == [True]
    assert [geometry.metric for geometry in found] == [result.metric for result in coarse] == ["euclidean", "cityblock"]


def test_plans_between_clusters_are_bred_in_whitened_geometries_until_one_is_clear(rng, skewed, monkeypatch):
    X, Y, truth = skewed(rng, 220)
    geometries = [directions_pair(X, Y), *whitened_geometries(X, Y)]
    lost, calls = rng.permutation(220), []
    unclear = [CoarseResult(g.metric, [Candidate(g.metric, 0, 0.1, lost, 0.6)], 0.5) for g in geometries]

    def explore_clusters(geometry, result, context, number):
        calls.append((geometry.metric, number))
        value = 0.9 if number == 1 else 0.6
        return replace(result, candidates=[Candidate(result.metric, 0, 0.1, truth, value)])

    def compare_clusters(geometry, result, context, number):
        compared.append((geometry.metric, number))
        return replace(result, null=result.null + 0.05)

    compared = []
    monkeypatch.setattr("pairup.auto.stages.explore_clusters", explore_clusters)
    monkeypatch.setattr("pairup.auto.stages.compare_clusters", compare_clusters)
    monkeypatch.setattr("pairup.auto.stages.exchange_solutions", lambda geometries, results, pool, context: results)
    found = populate(geometries, unclear, Context(Constraints(220, 220, 220)))
    assert found[0] is unclear[0]
    assert found[1].value == 0.9
    assert {number for _, number in calls} == {0, 1}
    assert {number for _, number in compared} == {1}  # before, none was clear
    assert len(calls) <= 2 * len(geometries) - 2  # the second time no more than it takes
    assert len(calls) > len(geometries) - 1
    assert populate(geometries, unclear, Context(Constraints(100, 220, 100))) == unclear


def test_of_metrics_that_populations_leave_unclear_the_best_is_compared_with_unrelated_sets(rng, skewed, monkeypatch):
    X, Y, _ = skewed(rng, 220)
    geometries = list(whitened_geometries(X, Y))[:2]
    first, second = (geometry.metric for geometry in geometries)
    lost, compared = rng.permutation(220), []
    poor = [CoarseResult(g.metric, [Candidate(g.metric, 0, 0.1, lost, 0.5)], 0.5) for g in geometries]

    def explore_clusters(geometry, result, context, number):
        value = 0.58 if geometry.metric == first else 0.6
        return replace(result, candidates=[Candidate(result.metric, 0, 0.1, lost, value)])

    def compare_clusters(geometry, result, context, number):
        compared.append(geometry.metric)
        return replace(result, null=0.59)

    monkeypatch.setattr("pairup.auto.stages.explore_clusters", explore_clusters)
    monkeypatch.setattr("pairup.auto.stages.compare_clusters", compare_clusters)
    monkeypatch.setattr("pairup.auto.stages.exchange_solutions", lambda geometries, results, pool, context: results)
    found = populate(geometries, poor, Context(Constraints(220, 220, 220)))
    assert compared == [second, first]
    assert max(found, key=lambda result: result.excess).metric == second


def test_a_lead_is_followed_in_few_metrics_and_no_others_are_made(rng, skewed):
    X, Y, truth = skewed(rng)
    geometries = iter([directions_pair(X, Y), *table_geometries(X, Y)])
    followed, coarse = follow_lead(geometries, truth, Context(Constraints(60, 60, 60)))
    assert next(geometries).metric == "ranks"
    assert {geometry.metric for geometry in followed} == set(LEADS.metrics)
    for geometry, result in zip(followed, coarse, strict=True):
        assert geometry.metric == result.metric
        assert (result.candidates[0].indices == truth).mean() > 0.9
        assert result.value > result.null


def test_what_a_quick_look_finds_is_not_searched_again(rng, skewed, monkeypatch):
    X, Y, truth = skewed(rng)
    monkeypatch.setattr("pairup.auto.stages.GEOMETRY", replace(GEOMETRY, many_objects_from=50))
    monkeypatch.setattr("pairup.auto.stages.find_lead", lambda geometry, context: truth)
    monkeypatch.setattr("pairup.auto.stages.explore_all", None)
    steps = search(list(table_geometries(X, Y)), iter([directions_pair(X, Y)]), [Context(Constraints(60, 60, 60))], [])
    consensus, geometries = drain(steps)[1]
    assert (consensus.indices == truth).mean() > 0.9
    assert geometries[0].metric == "directions"


def some_results(values, matchings):
    return [
        CoarseResult(name, [Candidate(name, 0, 0.1, p, value)], 0.0)
        for (name, value), p in zip(values.items(), matchings, strict=True)
    ]


def test_of_whitened_geometries_the_best_is_kept(rng):
    p = rng.permutation(5)
    values = {"directions": 0.1, "whitened-2": 0.2, "whitened-3": 0.4, "whitened-4": 0.3}
    results = some_results(values, [p] * 4)
    assert select_further(results, Constraints(5, 5, 5)) == [0, 2]
    assert select_further([], Constraints(5, 5, 5)) == []


def test_of_many_objects_whitened_geometries_are_kept_that_found_the_same_as_the_best(rng):
    p, q = rng.permutation(250), rng.permutation(250)
    near = p.copy()
    near[:150] = np.roll(near[:150], 1)  # .4 in common
    values = {"whitened-2": 0.28, "whitened-3": 0.4, "whitened-unscaled-3": 0.3, "whitened-4": 0.1}
    results = some_results(values, [q, p, near, p])
    assert select_further(results, Constraints(250, 250, 250)) == [1, 2]  # not other pairs, nor a poor alignment
    assert select_further(results[::3], Constraints(250, 250, 250)) == [0]  # .28 is not clear
    assert select_further(results, Constraints(100, 250, 100)) == [1]


def test_geometries_of_unscaled_columns_are_made_only_where_they_are_asked_for(rng, skewed):
    X, Y, _ = skewed(rng, 60)
    first, second = directions_pair(X, Y), next(whitened_geometries(X, Y))
    made = []

    def geometries():
        yield first
        yield from (GeometryPair("whitened-unscaled-2", second.x.distances, second.y.distances),)
        made.append(True)
        yield second

    before, unscaled = split_unscaled(geometries())
    assert before == [first]
    assert made == []
    assert [geometry.metric for geometry in unscaled] == ["whitened-unscaled-2", second.metric]
    before, unscaled = split_unscaled([first])
    assert (before, list(unscaled)) == ([first], [])


def test_all_metrics_together_try_the_solutions_of_those_that_are_selected(rng, skewed, monkeypatch):
    X, Y, truth = skewed(rng)
    geometries, context = list(table_geometries(X, Y))[:4], Context(Constraints(60, 60, 60))
    coarse = [
        CoarseResult(
            g.metric, [Candidate(g.metric, k, 0.1, rng.permutation(60), 0.9 - 0.01 * k) for k in range(2)], 0.0
        )
        for g in geometries
    ]
    coarse[3] = CoarseResult("ranks", [Candidate("ranks", 0, 0.1, truth, 0.9)], 0.0)
    tried = []

    def refine(geometry, constraints, own, pool, bred):
        if isinstance(geometry, JointGeometry):
            tried.append(pool)
        return []

    monkeypatch.setattr("pairup.auto.stages.refine", refine)
    drain(refine_all(geometries, coarse, [2, 3], [], [context], []))
    assert tried[0][0] is coarse[2].candidates[0].indices
    assert tried[0][1] is truth


def test_the_truth_scores_best_under_every_model(rng, skewed):
    X, Y, truth = skewed(rng)
    geometries = list(table_geometries(X, Y))[:2]
    J = score_matchings(geometries, [truth, *(rng.permutation(60) for _ in range(5))], None)
    assert J.shape == (6, 4)
    assert (J.argmin(axis=0) == 0).all()
