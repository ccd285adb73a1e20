"""The mean plan of annealings that see random halves of the pairs and of the kernels."""

import numpy as np
import pytest

from pairup.auto.consensus import Consensus, settle
from pairup.auto.dropout import all_forms, average_plans, count_kernels, select_kernels, weigh_geometries
from pairup.auto.geometry import GeometryPair
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY
from pairup.constraints import Constraints
from pairup.kernels import squared_distances

N = 40


@pytest.fixture
def sets(rng):
    """A set, the same with noise in another order, and the true matching."""
    X = rng.gamma(2.0, size=(N, 4)) * [4, 3, 2, 1]
    truth = rng.permutation(N)
    Y = np.empty_like(X)
    Y[truth] = X + 0.1 * rng.normal(size=X.shape)
    return X, Y, truth


def pair(X, Y, metric="euclidean"):
    return GeometryPair(metric, squared_distances(X), squared_distances(Y))


def swap_some(truth, rng, count):
    wrong = truth.copy()
    moved = rng.permutation(len(truth))[:count]
    wrong[moved] = truth[np.roll(moved, 1)]
    return wrong


def test_wrong_pairs_are_put_right(rng, sets):
    X, Y, truth = sets
    constraints = Constraints(N, N, N)
    plan = average_plans([pair(X, Y)], swap_some(truth, rng, 10), Context(constraints))
    np.testing.assert_allclose(plan.sum(axis=0), 1.0, atol=0.02)
    assert (constraints.round(plan) == truth).mean() >= 0.95


def test_plans_are_the_same_for_any_number_of_threads_and_keep_to_what_is_known(rng, sets):
    X, Y, truth = sets
    known, wrong = (np.array([3, 5]), truth[[3, 5]]), (np.array([0, 1]), truth[:2])
    constraints = Constraints(N, N, N, anchors=known, forbidden=wrong)
    one, two = (average_plans([pair(X, Y)], truth, Context(constraints, n_jobs=k)) for k in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one[known], 1.0, atol=1e-4)
    assert not one[wrong].any()


def test_unrelated_geometry_weighs_little(rng, sets):
    X, Y, truth = sets
    other = pair(X, rng.normal(size=(N, 3)), "other")
    weights = weigh_geometries([other, pair(X, Y)], truth, Constraints(N, N, N))
    assert weights[1] == 1.0
    assert weights[0] < 0.1
    np.testing.assert_array_equal(weigh_geometries([other], truth, Constraints(N, N, N)), [1.0])


@pytest.mark.parametrize("size", [40, 250])
def test_forms_of_some_kernels_add_up_to_that_of_all(rng, size):
    X = rng.normal(size=(size, 3))
    geometries = [pair(X, X @ rng.normal(size=(3, 3))), pair(np.abs(X), X, "other")]
    plan = rng.random((size, size)).astype(np.float32)
    for forms in all_forms(geometries, np.array([1.0, 0.5])):
        count = 2 * len(GEOMETRY.kernels)
        assert count_kernels(forms) == count
        first, others = (select_kernels(forms, k) for k in (np.arange(3), np.arange(3, count)))
        parts, whole = (sum(form.profit(plan) for form in some) for some in ([*first, *others], forms))
        # low rank leaves diagonals out approximately
        np.testing.assert_allclose(parts, whole, atol=0.2 * np.abs(whole).max())


def test_the_plan_settles_the_matching_and_supports_its_pairs_beside_the_votes():
    consensus = Consensus([], np.ones(1), np.eye(3), np.arange(3), [], 0.0, [])
    plan = np.eye(3, dtype=np.float32)[[1, 0, 2]]
    settled = settle(consensus, plan, Constraints(3, 3, 3))
    assert settled.indices.tolist() == [1, 0, 2]
    np.testing.assert_array_equal(settled.votes, np.eye(3))
    np.testing.assert_array_equal(settled.plan, plan)
    np.testing.assert_allclose(settled.likeness, [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
