"""Matchings of many objects by a map, and the map by the matching."""

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.refinement import impose_anchors, refine_all, refine_finalist, scale_prior
from pairup.auto.solution import Solution
from pairup.auto.view import View
from pairup.constraints import Constraints


def test_known_pairs_are_put_into_a_matching():
    constraints = Constraints(4, 4, 4, (np.array([0, 1]), np.array([1, 0])))
    assert impose_anchors(np.array([3, 1, 0, 2]), constraints).tolist() == [1, 0, 3, 2]


def test_each_matching_of_a_refinement_predicts_its_pairs_better_and_more_are_right(skewed, rng):
    X, Y, truth = skewed(rng, 500)
    view = View.fit("euclidean", X, Y, 0)
    values = view.x.values, view.y.values
    half = truth.copy()
    half[:250] = rng.permutation(half[:250])
    variates = CanonicalVariates.fit(*values, half, 16)
    free = Constraints(500, 500, 500)
    found = list(refine_all(view, values, variates, free, 1, (16, 32, 48)))
    assert all(one.score < other.score for one, other in pairwise(found))
    assert (found[-1].indices == truth).mean() > 0.9
    first = Solution("euclidean", half, 0.0, 0.1, 16)
    finals = list(refine_finalist(view, values, first, free, 1, settles=True))
    assert (finals[-1].indices == truth).mean() > 0.9
    assert [each.rank for each in finals] == sorted(each.rank for each in finals)


def test_a_refinement_keeps_to_known_and_forbidden_pairs(skewed, rng):
    X, Y, truth = skewed(rng, 300)
    view = View.fit("euclidean", X, Y, 0)
    values = view.x.values, view.y.values
    forbidden = np.arange(1, 100), truth[1:100]
    constraints = Constraints(300, 300, 300, (np.array([0]), truth[[5]]), forbidden=forbidden)
    variates = CanonicalVariates.fit(*values, truth, 16)
    for solution in refine_all(view, values, variates, constraints, 1, (16, 32)):
        assert solution.indices[0] == truth[5]
        assert (solution.indices[forbidden[0]] != forbidden[1]).all()


def test_a_prior_is_in_units_of_the_spread_of_profits(rng):
    A, B = (rng.normal(size=(200, 4)).astype(np.float32) for _ in range(2))
    prior = csr_array((np.array([1.0, -0.5]), (np.array([0, 3]), np.array([2, 1]))), shape=(200, 200))
    spread = (A @ B.T).std()
    np.testing.assert_allclose(scale_prior(prior, A, B).data, [spread, -0.5 * spread], rtol=1e-5)
