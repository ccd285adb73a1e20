import numpy as np
import pytest

from pairup.annealing import NO_ANCHORS, Terms
from pairup.openings import TURNED, TURNS, leverage_start, profile_start, starting_plans, turned_starts
from pairup.views import views


@pytest.mark.parametrize("start", [profile_start, leverage_start])
def test_starts_by_what_no_isometry_changes_know_isometric_sets(start, rng, skewed):
    X, Y, truth = skewed(rng, noise=0.0)
    terms = Terms(60, 60, 60, NO_ANCHORS)
    assert (start(next(views(X, Y)), terms) == truth).mean() > 0.9


def test_turned_starts_are_fewer_for_many_objects(rng):
    few, many = rng.normal(size=(20, 4)), rng.normal(size=(500, 4))
    for Z, count in ((few, len(TURNED) * TURNS), (many, len(TURNED) * 4)):
        terms = Terms(len(Z), len(Z), len(Z), NO_ANCHORS)
        found = list(turned_starts(next(views(Z, Z)), terms, seed=0))
        assert len(found) == count
        assert all((np.sort(p) == np.arange(len(Z))).all() for p in found)


def test_starts_fit_sets_of_unequal_sizes(rng, skewed):
    X, Y, _ = skewed(rng)
    terms = Terms(60, 40, 40, NO_ANCHORS)
    for plan in starting_plans(next(views(X, Y[:40])), terms):
        assert plan.shape == (60, 40)
        assert plan.sum() == pytest.approx(40, rel=1e-3)
