import numpy as np
import pytest

from pairup.annealing import NO_ANCHORS, Terms
from pairup.density_ratio import held_out, ratios
from pairup.evolution import JUDGING, POPULATION, Critic, Member, admit, child, children, evolve, pair_of
from pairup.views import JUDGES, views

N = 50


@pytest.fixture
def problem(rng, skewed):
    X, Y, truth = skewed(rng, N)
    return list(views(X, Y))[:2], truth


@pytest.fixture
def terms():
    return Terms(N, N, N, NO_ANCHORS)


WEIGHTS = np.array([0.7, 0.3])


def half_right(rng, truth, half):
    p = truth.copy()
    p[half] = rng.permutation(truth[half])
    return p


@pytest.mark.parametrize("unmatched", [0, 5])
def test_the_critic_gives_the_held_out_scores_and_the_ratios_of_pairs(rng, problem, unmatched):
    ways, truth = problem
    p = half_right(rng, truth, np.arange(20))
    p[:unmatched] = -1
    J, of_pairs = Critic(ways, WEIGHTS).judge(p)
    by_hand = [held_out(*way.spectra(judge), [p], JUDGING)[0] for way in ways for judge in JUDGES]
    assert pytest.approx(np.min(by_hand, axis=1), rel=1e-4) == J
    epsilons = [JUDGING[int(np.argmin(row))] for row in by_hand]
    spectra = [way.spectra(judge) for way in ways for judge in JUDGES]
    r = [ratios(x, y, p, epsilon) for (x, y), epsilon in zip(spectra, epsilons, strict=True)]
    matched = np.arange(unmatched, N)
    expected = np.repeat(WEIGHTS / 2, 2) @ [table[matched, p[matched]] for table in r]
    np.testing.assert_allclose(of_pairs[matched], expected, rtol=1e-3, atol=1e-3)
    assert (of_pairs[:unmatched] == -np.inf).all()


def test_right_pairs_have_larger_ratios_than_wrong_ones(rng, problem):
    ways, truth = problem
    _, of_pairs = Critic(ways, WEIGHTS).judge(half_right(rng, truth, np.arange(15)))
    assert np.median(of_pairs[15:]) > 2 * np.median(of_pairs[:15])


def test_a_child_takes_the_likelier_pairs_of_both_parents(rng, problem, terms):
    ways, truth = problem
    critic = Critic(ways, WEIGHTS)
    parents = []
    for half in (np.arange(15), np.arange(35, N)):
        p = half_right(rng, truth, half)
        parents.append(Member(p, 0.0, critic.judge(p)[1]))
    plans = [child(*parents, terms, rng) for _ in range(20)]
    best = [(plan.argmax(axis=1) == truth).mean() for plan in plans]
    assert max((parent.indices == truth).mean() for parent in parents) < 0.8
    assert np.median(best) > 0.85


def test_a_child_keeps_likely_pairs_and_melts_the_others(rng, terms):
    p = rng.permutation(N)
    p[:10] = -1
    ratios = np.where(p < 0, -np.inf, np.arange(N, dtype=float))
    member = Member(p, 0.0, ratios)
    for _ in range(20):
        plan = child(member, member, terms, rng)
        trust = plan[np.arange(10, N), p[10:]]
        assert plan[:10].max() < 0.1
        if np.ptp(trust) > 0.1:  # not one of those that are mixed of both parents
            kept = trust > 0.5
            assert 0.25 < kept.mean() < 0.85
            assert kept[np.argmax(kept) :].all()  # the likeliest


def test_judges_that_find_nothing_good_do_not_decide(problem):
    critic = Critic(problem[0], WEIGHTS)
    critic.compare_with(np.array([[-4.0, -2.0, 1.0, -1e-9], [-3.0, -1.0, 2.0, 1.0]]))
    assert critic.score(np.array([-4.0, -2.0, 0.0, 0.0])) == pytest.approx(0.7)
    assert critic.score(np.array([0.0, 0.0, -0.4, -0.4])) == pytest.approx(0.3)


def test_populations_of_unequal_sets_hold_different_members(rng, skewed):
    X, Y, _ = skewed(rng, 40)
    ways, terms = list(views(X, Y[:30]))[:2], Terms(40, 30, 30, NO_ANCHORS)
    parents = [terms.round(rng.random((40, 30))) for _ in range(8)]
    found = evolve(ways, WEIGHTS, terms, parents, JUDGES, seed=0)
    assert len(found) > 4
    assert all(sorted(p[p >= 0]) == list(range(30)) for p in found)


def test_populations_find_what_none_of_the_parents_had(rng, problem, terms):
    ways, truth = problem
    parents = [half_right(rng, truth, rng.permutation(N)[:40]) for _ in range(6)]
    found = evolve(ways, WEIGHTS, terms, parents, JUDGES, seed=0)
    assert max((p == truth).mean() for p in parents) < 0.35
    assert (found[0] == truth).mean() > 0.9


def test_the_same_seed_breeds_the_same_population_and_known_pairs_stay(rng, problem):
    ways, truth = problem
    known = np.array([3, 8])
    terms = Terms(N, N, N, (known, truth[known]))
    parents = [rng.permutation(N) for _ in range(3)]
    one, other = (evolve(ways, WEIGHTS, terms, parents, JUDGES[:1], seed=4) for _ in range(2))
    assert all((p == q).all() for p, q in zip(one, other, strict=True))
    assert all((p[known] == truth[known]).all() and sorted(p) == list(range(N)) for p in one)


def test_a_population_is_ordered_and_holds_no_two_of_a_kind(rng):
    population: list[Member] = []
    matchings = [rng.permutation(30) for _ in range(POPULATION + 5)]
    for k, p in enumerate(matchings):
        admit(population, Member(p, float(k % 7), np.zeros(30)))
    assert len(population) == POPULATION
    assert [m.score for m in population] == sorted((m.score for m in population), reverse=True)
    best = population[0]
    admit(population, Member(best.indices, best.score - 0.5, np.zeros(30)))  # no better than its like
    assert population[0] is best
    admit(population, Member(best.indices, best.score + 1.0, np.zeros(30)))
    assert population[0].score == best.score + 1.0
    assert all(member is not best for member in population)
    assert len(population) == POPULATION


def test_parents_differ_wherever_there_are_two(rng):
    assert pair_of(1, rng) == (0, 0)
    drawn = [pair_of(5, rng) for _ in range(200)]
    assert all(a != b for a, b in drawn)
    assert {a for a, _ in drawn} == {b for _, b in drawn} == set(range(5))
    assert np.mean([a for a, _ in drawn]) < 1.8  # the first is the better of two


def test_fewer_children_for_few_and_for_many_objects():
    of = {n: children(Terms(n, n, n, NO_ANCHORS)) for n in (10, 100, 300, 599)}
    assert of[10] == 20
    assert of[100] == of[300] == 200
    assert of[599] == 50
    assert children(Terms(4, 30, 4, NO_ANCHORS)) == 8
