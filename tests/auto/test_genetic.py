import numpy as np
import pytest

from pairup.auto.genetic import (
    Fitness,
    Individual,
    KernelForms,
    count_children,
    cross_over,
    evolve,
    insert,
    select_parents,
)
from pairup.auto.metrics import table_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import GENETIC, GEOMETRY
from pairup.constraints import Constraints
from pairup.density_ratio import density_ratios, held_out_scores

N = 50
KERNELS = GEOMETRY.scoring_kernels


@pytest.fixture
def problem(rng, skewed):
    X, Y, truth = skewed(rng, N)
    return list(table_geometries(X, Y))[:2], truth


@pytest.fixture
def constraints():
    return Constraints(N, N, N)


WEIGHTS = np.array([0.7, 0.3])


def half_right(rng, truth, half):
    p = truth.copy()
    p[half] = rng.permutation(truth[half])
    return p


@pytest.mark.parametrize("unmatched", [0, 5])
def test_fitness_gives_the_held_out_scores_and_the_ratios_of_pairs(rng, problem, unmatched):
    ways, truth = problem
    p = half_right(rng, truth, np.arange(20))
    p[:unmatched] = -1
    J, of_pairs = Fitness(ways, WEIGHTS).evaluate(p)
    by_hand = [
        held_out_scores(*way.spectra(kernel), [p], GENETIC.scored_epsilons)[0] for way in ways for kernel in KERNELS
    ]
    assert pytest.approx(np.min(by_hand, axis=1), rel=1e-4) == J
    epsilons = [GENETIC.scored_epsilons[int(np.argmin(row))] for row in by_hand]
    spectra = [way.spectra(kernel) for way in ways for kernel in KERNELS]
    r = [density_ratios(x, y, p, epsilon) for (x, y), epsilon in zip(spectra, epsilons, strict=True)]
    matched = np.arange(unmatched, N)
    expected = np.repeat(WEIGHTS / 2, 2) @ [table[matched, p[matched]] for table in r]
    np.testing.assert_allclose(of_pairs[matched], expected, rtol=1e-3, atol=1e-3)
    assert (of_pairs[:unmatched] == -np.inf).all()


@pytest.mark.parametrize("is_low_rank", [True, False])
def test_kernel_forms_give_weighted_kernels_whole_or_by_their_leading_directions(problem, monkeypatch, is_low_rank):
    ways, truth = problem
    monkeypatch.setattr(ways[0], "prefers_low_rank", lambda epsilon, n_kernels: is_low_rank)
    weights = np.array([1.0, 0.5, 2.0, 0.25], dtype=np.float32)
    named = KernelForms(ways, KERNELS)
    plan = Constraints(N, N, N).warm_start(truth)
    for which in (slice(4), slice(2, 4)):
        profit = sum(form.profit(plan) for form in named.forms(0.1, which, weights))
        numbered = list(enumerate((way, kernel) for way in ways for kernel in KERNELS))[which]
        by_hand = sum(
            weights[k] * way.x.whiten(kernel, 0.1) @ plan @ way.y.whiten(kernel, 0.1) for k, (way, kernel) in numbered
        )
        assert np.corrcoef(profit.ravel(), by_hand.ravel())[0, 1] > 0.99


def test_right_pairs_have_larger_ratios_than_wrong_ones(rng, problem):
    ways, truth = problem
    _, of_pairs = Fitness(ways, WEIGHTS).evaluate(half_right(rng, truth, np.arange(15)))
    assert np.median(of_pairs[15:]) > 2 * np.median(of_pairs[:15])


def test_a_child_takes_the_likelier_pairs_of_both_parents(rng, problem, constraints):
    ways, truth = problem
    fitness = Fitness(ways, WEIGHTS)
    parents = []
    for half in (np.arange(15), np.arange(35, N)):
        p = half_right(rng, truth, half)
        parents.append(Individual(p, 0.0, fitness.evaluate(p)[1]))
    plans = [cross_over(*parents, constraints, rng) for _ in range(20)]
    best = [(plan.argmax(axis=1) == truth).mean() for plan in plans]
    assert max((parent.indices == truth).mean() for parent in parents) < 0.8
    assert np.median(best) > 0.85


def test_a_child_keeps_likely_pairs_and_softens_the_others(rng, constraints):
    p = rng.permutation(N)
    p[:10] = -1
    ratios = np.where(p < 0, -np.inf, np.arange(N, dtype=float))
    parent = Individual(p, 0.0, ratios)
    for _ in range(20):
        plan = cross_over(parent, parent, constraints, rng)
        trust = plan[np.arange(10, N), p[10:]]
        assert plan[:10].max() < 0.1
        if np.ptp(trust) > 0.1:  # not one of those that are mixed of both parents
            kept = trust > 0.5
            assert 0.25 < kept.mean() < 0.85
            assert kept[np.argmax(kept) :].all()  # the likeliest


def test_models_that_find_nothing_good_do_not_decide(problem):
    fitness = Fitness(problem[0], WEIGHTS)
    fitness.set_units(np.array([[-4.0, -2.0, 1.0, -1e-9], [-3.0, -1.0, 2.0, 1.0]]))
    assert fitness.score(np.array([-4.0, -2.0, 0.0, 0.0])) == pytest.approx(0.7)
    assert fitness.score(np.array([0.0, 0.0, -0.4, -0.4])) == pytest.approx(0.3)


def test_populations_of_unequal_sets_hold_different_members(rng, skewed):
    X, Y, _ = skewed(rng, 40)
    ways, constraints = list(table_geometries(X, Y[:30]))[:2], Constraints(40, 30, 30)
    parents = [constraints.round(rng.random((40, 30))) for _ in range(8)]
    found = evolve(ways, WEIGHTS, parents, KERNELS, Context(constraints, seed=0))
    assert len(found) > 4
    assert all(sorted(p[p >= 0]) == list(range(30)) for p in found)


def test_populations_find_what_none_of_the_parents_had(rng, problem, constraints):
    ways, truth = problem
    parents = [half_right(rng, truth, rng.permutation(N)[:40]) for _ in range(6)]
    found = evolve(ways, WEIGHTS, parents, KERNELS, Context(constraints, seed=0))
    assert max((p == truth).mean() for p in parents) < 0.35
    assert (found[0] == truth).mean() > 0.9


def test_the_same_seed_breeds_the_same_population_and_known_pairs_stay(rng, problem):
    ways, truth = problem
    known = np.array([3, 8])
    constraints = Constraints(N, N, N, (known, truth[known]))
    parents = [rng.permutation(N) for _ in range(3)]
    one, other = (evolve(ways, WEIGHTS, parents, KERNELS[:1], Context(constraints, seed=4)) for _ in range(2))
    assert all((p == q).all() for p, q in zip(one, other, strict=True))
    assert all((p[known] == truth[known]).all() and sorted(p) == list(range(N)) for p in one)


def test_a_population_is_ordered_and_holds_no_two_of_a_kind(rng):
    population: list[Individual] = []
    matchings = [rng.permutation(30) for _ in range(GENETIC.population + 5)]
    for k, p in enumerate(matchings):
        insert(population, Individual(p, float(k % 7), np.zeros(30)))
    assert len(population) == GENETIC.population
    assert [m.score for m in population] == sorted((m.score for m in population), reverse=True)
    best = population[0]
    insert(population, Individual(best.indices, best.score - 0.5, np.zeros(30)))  # no better than its like
    assert population[0] is best
    insert(population, Individual(best.indices, best.score + 1.0, np.zeros(30)))
    assert population[0].score == best.score + 1.0
    assert all(member is not best for member in population)
    assert len(population) == GENETIC.population


def test_parents_differ_wherever_there_are_two(rng):
    assert select_parents(1, rng) == (0, 0)
    drawn = [select_parents(5, rng) for _ in range(200)]
    assert all(a != b for a, b in drawn)
    assert {a for a, _ in drawn} == {b for _, b in drawn} == set(range(5))
    assert np.mean([a for a, _ in drawn]) < 1.8  # the first is the better of two


def test_fewer_children_for_few_and_for_many_objects():
    of = {n: count_children(Constraints(n, n, n)) for n in (10, 100, 300, 599)}
    assert of[10] == 20
    assert of[100] == of[300] == 200
    assert of[599] == 50
    assert count_children(Constraints(4, 30, 4)) == 8
