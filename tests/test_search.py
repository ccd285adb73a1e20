from itertools import pairwise

import numpy as np
import pytest

from pairup.annealing import NO_ANCHORS, Terms
from pairup.kernels import center, squared_distances
from pairup.openings import starting_plans
from pairup.search import (
    CONTINUATION,
    FINE,
    Basin,
    Outlook,
    agreement,
    coarse,
    exchange,
    follow,
    hear,
    keep,
    look,
    pooled,
    unrelated,
    worth_following,
)
from pairup.views import View, unit_rows, views


def test_views_learn_from_each_other(rng, skewed):
    X, Y, truth = skewed(rng)
    raw, city, *_ = views(X, Y)
    terms = Terms(60, 60, 60, NO_ANCHORS)
    lost = coarse(raw, terms, [terms.start(rng.permutation(60))])
    assert agreement(lost[0].indices, truth) < 0.5
    told = exchange(
        raw,
        terms,
        lost,
        pooled([Outlook("cityblock", coarse(city, terms, list(starting_plans(city, terms))), 0.0)]),
    )
    assert agreement(told[0].indices, truth) > 0.9


def test_a_view_takes_a_better_solution_from_others(rng, skewed):
    X, Y, truth = skewed(rng)
    raw, terms = next(views(X, Y)), Terms(60, 60, 60, NO_ANCHORS)
    lost = rng.permutation(60)
    poor = Outlook("raw", [Basin(terms.start(lost), lost, 0.1)], 0.0)
    heard = hear(raw, terms, poor, [truth])
    assert (heard.basins[0].indices == truth).mean() > 0.9
    assert heard.excess > poor.excess


def test_coarse_solutions_are_distinct_and_ordered(rng, skewed):
    X, Y, truth = skewed(rng)
    view, terms = next(views(X, Y)), Terms(60, 60, 60, NO_ANCHORS)
    basins = coarse(view, terms, list(starting_plans(view, terms)))
    assert all(a.value >= b.value for a, b in pairwise(basins))
    assert (basins[0].indices == truth).mean() > 0.9
    assert all((basins[0].indices == b.indices).mean() < 0.5 for b in basins[1:])


def test_the_basin_of_the_best_held_out_score_is_kept(rng, skewed):
    X, Y, truth = skewed(rng)
    view, terms = next(views(X, Y)), Terms(60, 60, 60, NO_ANCHORS)
    matchings = [*(rng.permutation(60) for _ in range(4)), truth]
    basins = [Basin(terms.start(p), p, 0.9 - 0.01 * k) for k, p in enumerate(matchings)]
    assert [b.value for b in keep(view, basins)] == pytest.approx([0.9, 0.86])
    assert [b.value for b in keep(view, basins, 3)] == pytest.approx([0.9, 0.89, 0.86])
    assert [b.value for b in keep(view, basins[:2])] == pytest.approx([0.9, 0.89])


def test_an_unrelated_set_keeps_the_spread_of_each_direction(rng):
    X = rng.normal(size=(200, 2)) * [5, 1]
    D = squared_distances(X)
    view = View("raw", D, D)
    shuffled = unrelated(view, seed=0).unscaled_y
    before, after = (np.linalg.eigvalsh(center(-0.5 * D)) for D in (view.y, shuffled))
    np.testing.assert_allclose(after[-2:], before[-2:], rtol=1e-5)
    assert not np.allclose(shuffled, view.y, rtol=0.1)


def test_many_independent_columns_do_not_look_related(rng):
    terms = Terms(60, 60, 60, NO_ANCHORS)
    sets = rng.normal(size=(60, 200)), rng.normal(size=(60, 300))
    assert look(next(views(*sets)), terms, 0).excess < 0.15  # .2 if shuffled coordinates stay correlated


def test_unrelated_directions_stay_directions(rng):
    X = unit_rows(rng.normal(loc=[2.0, 0.0, 0.0], size=(80, 3)))
    D = squared_distances(X)
    chords = unrelated(View("angular", D, D, on_sphere=True), seed=0).unscaled_y
    w = np.linalg.eigvalsh(1.0 - 0.5 * chords)
    assert np.abs(w[:-3]).max() < 1e-3  # the cosines of vectors in three dimensions
    assert w[-1] == pytest.approx(np.linalg.eigvalsh(X @ X.T)[-1], rel=0.1)
    assert not np.allclose(chords, D, atol=1e-2)


def test_the_excess_tells_related_from_unrelated_sets(rng, skewed):
    X, Y, _ = skewed(rng)
    terms = Terms(60, 60, 60, NO_ANCHORS)
    related = look(next(views(X, Y)), terms, 0)
    apart = look(next(views(rng.normal(size=(60, 5)), rng.normal(size=(60, 5)))), terms, 0)
    assert related.excess > 0.5
    assert apart.excess < 0.2
    assert worth_following([related, apart], terms) == [0]
    assert worth_following([apart, apart], terms) == [0, 1]


def test_bred_matchings_are_continued_in_fine_dependence_only(rng, skewed):
    X, Y, truth = skewed(rng)
    view, terms = next(views(X, Y)), Terms(60, 60, 60, NO_ANCHORS)
    lost = rng.permutation(60)
    own = [Basin(terms.start(lost), lost, 0.1)]
    alone, with_bred = follow(view, terms, own, []), follow(view, terms, own, [], [truth])
    assert [c.epsilon for c in alone] == list(CONTINUATION)
    bred = [c for c in with_bred if c.basin == 1]
    assert [c.epsilon for c in bred] == [epsilon for epsilon in CONTINUATION if epsilon <= FINE]
    assert agreement(bred[-1].indices, truth) > 0.9
