from dataclasses import replace

import numpy as np
import pytest

from pairup.auto.islands import Island, IslandResult, draw_matching, evolve_island, select_island_geometries
from pairup.auto.metrics import directions_pair, table_geometries, whitened_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import ISLANDS
from pairup.constraints import Constraints
from pairup.forms import alignment

N = 50


@pytest.fixture
def problem(rng, skewed):
    X, Y, truth = skewed(rng, N)
    return X, Y, truth


def some_island(problem, rng, constraints=Constraints(N, N, N)):  # noqa: B008  it is frozen
    X, Y, _ = problem
    return Island(next(table_geometries(X, Y[: constraints.m])), constraints, rng)


def test_an_island_finds_the_pairing_of_related_sets(problem):
    X, Y, truth = problem
    result = evolve_island(directions_pair(X, Y), Context(Constraints(N, N, N)), seed=0)
    assert (result.solutions[0] == truth).mean() > 0.9
    assert result.metric == "directions"


def test_breeding_gains_little_in_unrelated_sets(rng):
    X, Y = rng.normal(size=(N, 5)), rng.gamma(2.0, size=(N, 6))
    result = evolve_island(next(table_geometries(X, Y)), Context(Constraints(N, N, N)), seed=0)
    assert not result.is_found
    assert replace(result, gain=ISLANDS.clear_gain).is_found


def test_the_same_seed_gives_the_same_island(problem):
    X, Y, _ = problem
    geometry = next(table_geometries(X, Y))
    one, other = (evolve_island(geometry, Context(Constraints(N, N, N)), seed=3) for _ in range(2))
    assert isinstance(one, IslandResult)
    assert one.gain == other.gain
    np.testing.assert_array_equal(one.solutions, other.solutions)


def test_populations_are_ordered_distinct_and_never_lose_their_best(problem, rng):
    island = some_island(problem, rng)
    island.settle(15)
    best = island.population[0].value
    island.breed(30)
    values = [one.value for one in island.population]
    assert values == sorted(values, reverse=True)
    assert values[0] >= best
    assert len(values) <= ISLANDS.population
    assert values[0] == alignment(island.geometry.coarse_forms(ISLANDS.fitness_epsilon), island.population[0].indices)


def test_a_matching_takes_the_place_of_the_one_it_agrees_with(problem, rng):
    island, truth = some_island(problem, rng), problem[2]
    nearly = truth.copy()
    nearly[[0, 1]] = nearly[[1, 0]]
    for p in (nearly, truth, nearly):
        island.admit(island.constraints.hard(p))
    assert len(island.population) == 1
    np.testing.assert_array_equal(island.population[0].indices, truth)


def test_children_inherit_regions_and_keep_to_constraints(problem, rng):
    known = np.array([3]), np.array([7])
    island = some_island(problem, rng, Constraints(N, 40, 30, anchors=known))
    island.settle(6)
    island.breed(12)
    for one in island.population:
        assert one.indices[3] == 7
        assert (one.indices >= 0).sum() == 30
        assert len(np.unique(one.indices[one.indices >= 0])) == 30


def test_a_region_holds_the_objects_nearest_to_its_centre(problem, rng):
    island, truth = some_island(problem, rng), problem[2]
    inside = island.draw_region(truth)
    low, high = ISLANDS.region_share
    assert low * N - 1 <= inside.sum() <= high * N


def test_right_pairs_have_the_larger_profit(problem, rng):
    island, truth = some_island(problem, rng), problem[2]
    p = truth.copy()
    p[:10] = np.roll(p[:10], 1)
    profit = island.own_profit(p)
    assert np.median(profit[10:]) > np.median(profit[:10])
    p[0] = -1
    assert island.own_profit(p)[0] == -np.inf


def test_a_random_matching_has_as_many_pairs_as_asked_for(rng):
    p = draw_matching(Constraints(9, 7, 5), rng)
    assert (p >= 0).sum() == 5
    assert len(np.unique(p[p >= 0])) == 5
    assert p.max() < 7


def test_islands_lie_in_metrics_of_linear_structure(problem):
    X, Y, _ = problem
    geometries = [*table_geometries(X, Y), directions_pair(X, Y), *whitened_geometries(X, Y)]
    chosen = [geometry.metric for geometry in select_island_geometries(geometries)]
    assert chosen[:3] == ["directions", "partially-whitened", "euclidean"]
    assert len(chosen) == ISLANDS.count
    assert "geodesic" not in chosen
