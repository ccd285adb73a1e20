import pickle

import numpy as np
import pytest

from pairup.auto.geometry import GeometryPair, JointGeometry
from pairup.auto.metrics import table_geometries
from pairup.auto.schedule import GEOMETRY
from pairup.density_ratio import EPSILONS
from pairup.forms import DenseForm, alignment


def test_a_pickled_geometry_leaves_its_eigenvectors_out(rng):
    pair = next(table_geometries(rng.normal(size=(30, 4)), rng.normal(size=(30, 4))))
    light = len(pickle.dumps(pair))
    pair.forms(0.1)
    assert len(pickle.dumps(pair)) == light
    again: GeometryPair = pickle.loads(pickle.dumps(pair))
    np.testing.assert_allclose(again.forms(0.1)[0].K, pair.forms(0.1)[0].K)


def test_the_joint_geometry_sums_the_forms_of_its_geometries(rng, skewed):
    X, Y, truth = skewed(rng)
    both = list(table_geometries(X, Y))[:2]
    means = [alignment(pair.coarse_forms(0.1), truth) for pair in both]
    assert alignment(JointGeometry(both).forms(0.1), truth) == pytest.approx(np.mean(means), rel=1e-3)


def test_whole_kernels_are_taken_where_objects_or_kernels_are_few(rng):
    few, some, more = (next(table_geometries(X, X)) for X in (rng.normal(size=(n, 3)) for n in (60, 200, 320)))
    assert not any(few.prefers_low_rank(epsilon, 4) for epsilon in EPSILONS)
    assert [some.prefers_low_rank(epsilon, 4) for epsilon in EPSILONS] == [True] * 3 + [False] * 2
    assert [some.prefers_low_rank(0.01, count) for count in (1, 2, 4, 10)] == [False, False, True, True]
    assert all(more.prefers_low_rank(epsilon, 4) for epsilon in EPSILONS)


def test_many_objects_are_compared_within_leading_directions_only(rng):
    """From 600 objects on: the low-rank forms nearly give the values of the dense ones, and rank matchings alike."""
    X = rng.gamma(2.0, size=(640, 3)) * [3, 2, 1]
    truth = rng.permutation(640)
    Y = np.empty_like(X)
    Y[truth] = np.tanh(X / 4) + 0.01 * rng.normal(size=X.shape)
    pair = next(table_geometries(X, Y))
    assert pair.prefers_low_rank(0.03, 2)
    (form,) = pair.coarse_forms(0.03)
    assert not form.excludes_self
    kernels = GEOMETRY.scoring_kernels
    dense = [DenseForm(pair.x.whiten(kernel, 0.03), pair.y.whiten(kernel, 0.03)) for kernel in kernels]
    half = np.where(np.arange(640) < 320, truth, np.r_[truth[:320], rng.permutation(truth[320:])])
    values = [(form.value(p), alignment(dense, p)) for p in (truth, half, rng.permutation(640))]
    for low_rank, whole in values:
        assert low_rank == pytest.approx(whole, abs=0.02)
    assert values[0][0] > values[1][0] > values[2][0]
