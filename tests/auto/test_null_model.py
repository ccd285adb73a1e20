import numpy as np
import pytest

from pairup.auto.geometry import GeometryPair
from pairup.auto.metrics import normalize_rows
from pairup.auto.null_model import count_draws, draw_unrelated
from pairup.constraints import Constraints
from pairup.kernels import center, squared_distances


def unscaled(geometry):
    return geometry.distances * geometry.unit


def test_an_unrelated_set_keeps_the_spread_of_each_direction(rng):
    X = rng.normal(size=(200, 2)) * [5, 1]
    D = squared_distances(X)
    pair = GeometryPair("euclidean", D, D)
    shuffled = unscaled(draw_unrelated(pair, seed=0).y)
    before, after = (np.linalg.eigvalsh(center(-0.5 * D)) for D in (pair.y.distances, shuffled))
    np.testing.assert_allclose(after[-2:], before[-2:], rtol=1e-5)
    assert not np.allclose(shuffled, pair.y.distances, rtol=0.1)


def test_unrelated_directions_stay_directions(rng):
    X = normalize_rows(rng.normal(loc=[2.0, 0.0, 0.0], size=(80, 3)))
    D = squared_distances(X)
    chords = unscaled(draw_unrelated(GeometryPair("cosine", D, D, on_sphere=True), seed=0).y)
    w = np.linalg.eigvalsh(1.0 - 0.5 * chords)
    assert np.abs(w[:-3]).max() < 1e-3  # the cosines of vectors in three dimensions
    assert w[-1] == pytest.approx(np.linalg.eigvalsh(X @ X.T)[-1], rel=0.1)
    assert not np.allclose(chords, D, atol=1e-2)


def test_few_objects_are_compared_with_more_unrelated_sets():
    draws = [count_draws(Constraints(n, n, n)) for n in (10, 29, 30, 199, 200, 5000)]
    assert draws == [10, 10, 3, 3, 1, 1]
