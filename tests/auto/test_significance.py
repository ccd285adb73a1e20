import numpy as np
import pytest

from pairup.auto.metrics import table_geometries
from pairup.auto.problem import Context
from pairup.auto.schedule import SIGNIFICANCE
from pairup.auto.significance import Significance, compare_with_unrelated, score_unrelated
from pairup.constraints import Constraints


def many_dimensions(rng, n):
    """Two noisy maps of twenty factors, none of which dominates, and their true matching."""
    Z = rng.normal(size=(n, 20))
    X, Y = (np.tanh(Z @ rng.normal(size=(20, 60)) / 5) + 0.1 * rng.normal(size=(n, 60)) for _ in range(2))
    return X, Y, np.arange(n)


def test_the_true_matching_stands_out_where_nothing_coarse_does(rng):
    X, Y, truth = many_dimensions(rng, 80)
    geometries = list(table_geometries(X, Y))[:2]
    context = Context(Constraints(80, 80, 80))
    right = compare_with_unrelated(geometries, truth, context)
    wrong = compare_with_unrelated(geometries, rng.permutation(80), context)
    assert right.log_ratio > 0.3
    assert wrong.log_ratio == SIGNIFICANCE.least
    assert right.metric in {geometry.metric for geometry in geometries}


def test_what_is_found_in_noise_is_no_better_than_in_unrelated_sets(rng):
    X, Y = rng.normal(size=(60, 5)), rng.normal(size=(60, 6))
    geometry = next(table_geometries(X, Y))
    constraints = Constraints(60, 60, 60)
    scores = [score_unrelated(geometry, constraints, seed).mean() for seed in range(4)]
    assert max(scores) < 1.3 * min(scores)
    assert (score_unrelated(geometry, constraints, 0) == score_unrelated(geometry, constraints, 0)).all()


def test_ratios_are_bounded():
    assert Significance("a", 10.0, 0.0).log_ratio == SIGNIFICANCE.most
    assert Significance("a", -1.0, 1.0).log_ratio == SIGNIFICANCE.least
    assert Significance("a", 2.0, 1.0).log_ratio == pytest.approx(np.log(2))
