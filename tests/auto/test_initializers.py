import numpy as np
import pytest

from pairup.auto.initializers import initial_plans, match_distance_profiles, match_leverages, rotated_starts
from pairup.auto.metrics import table_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import INITIALIZERS
from pairup.constraints import Constraints


@pytest.mark.parametrize("start", [match_distance_profiles, match_leverages])
def test_starts_by_what_no_isometry_changes_know_isometric_sets(start, rng, skewed):
    X, Y, truth = skewed(rng, noise=0.0)
    constraints = Constraints(60, 60, 60)
    assert (start(next(table_geometries(X, Y)), constraints) == truth).mean() > 0.9


def test_rotated_starts_are_fewer_for_many_objects(rng):
    kinds = len(INITIALIZERS.rotated_components)
    few, many = rng.normal(size=(20, 4)), rng.normal(size=(500, 4))
    for Z, count in ((few, kinds * INITIALIZERS.rotations), (many, kinds * 4)):
        constraints = Constraints(len(Z), len(Z), len(Z))
        found = list(rotated_starts(next(table_geometries(Z, Z)), Context(constraints)))
        assert len(found) == count
        assert all((np.sort(p) == np.arange(len(Z))).all() for p in found)


def test_starts_fit_sets_of_unequal_sizes(rng, skewed):
    X, Y, _ = skewed(rng)
    constraints = Constraints(60, 40, 40)
    for plan in initial_plans(next(table_geometries(X, Y[:40])), constraints):
        assert plan.shape == (60, 40)
        assert plan.sum() == pytest.approx(40, rel=1e-3)
