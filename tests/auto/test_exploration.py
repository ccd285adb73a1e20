"""The search for a map between two sets of many objects."""

import numpy as np
from scipy.sparse import csr_array

from pairup.auto.exploration import known_covariances, last_of_each_map, renew
from pairup.auto.problem import Problem
from pairup.auto.race import Race
from pairup.auto.solution import Solution
from pairup.auto.view import View, covariances
from pairup.constraints import Constraints


def test_a_coarse_map_gets_finer_in_other_metrics(skewed, rng):
    X, Y, truth = skewed(rng, 600)
    constraints = Constraints(600, 600, 600)
    some = Race.draw(constraints, np.arange(600), np.arange(600), rng)
    coarse = truth.copy()
    coarse[:500] = rng.permutation(coarse[:500])  # one in six is right
    renewed = renew(View.fit("euclidean", X, Y, 0), some, Solution("ranks", coarse, 1.0, 0.1, 32))
    assert (renewed.indices == truth).mean() > 0.5
    assert renewed.metric == "euclidean"


def test_the_last_matching_by_each_map_has_the_most_eigenfunctions():
    found = [Solution("a", np.arange(3), 1.0, 0.1, rank) for rank in (32, 48, 64, 32, 32, 48)]
    assert last_of_each_map(found) == [found[2], found[3], found[5]]


def test_known_pairs_and_a_prior_are_covariances_to_start_from(skewed, rng):
    X, Y, truth = skewed(rng, 400)
    view = View.fit("euclidean", X, Y, 0)
    pairs = list(zip(range(50), truth[:50].tolist(), strict=True))
    of_pairs = known_covariances(view, Problem.check(X, Y, anchors=pairs, dense=False))
    expected = covariances(view.x.values[:50], view.y.values, truth[:50])
    np.testing.assert_allclose(of_pairs, expected, atol=1e-4)
    prior = csr_array((np.ones(50), (np.arange(50), truth[:50])), shape=(400, 400))
    of_prior = known_covariances(view, Problem.check(X, Y, prior=prior, dense=False))
    np.testing.assert_allclose(of_prior, expected, atol=1e-4)
    assert known_covariances(view, Problem.check(X, Y, dense=False)) is None
