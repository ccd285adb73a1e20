import numpy as np
import pytest

from pairup.auto.geometry import Geometry
from pairup.auto.metrics import table_geometries
from pairup.auto.signatures import principal_coordinates, score_signatures, sort_cosines
from pairup.kernels import squared_distances


def test_signatures_know_isometric_sets(rng, skewed):
    X, Y, truth = skewed(rng, noise=0.0)
    scores = score_signatures(next(table_geometries(X, Y)))
    assert (scores.argmax(axis=1) == truth).mean() > 0.9
    assert np.abs(scores).max() == pytest.approx(1.0)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-6)


def test_signatures_fit_sets_of_unequal_sizes(rng):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(5, 4))
    scores = score_signatures(next(table_geometries(X, Y)))
    assert scores.shape == (12, 5)
    assert np.isfinite(scores).all()


def test_signatures_of_equal_objects_are_finite(rng):
    X, Y = np.zeros((6, 2)), rng.normal(size=(6, 2))
    X[0] = 1.0
    assert np.isfinite(score_signatures(next(table_geometries(X, Y)))).all()


def test_principal_coordinates_give_back_the_distances(rng):
    geometry = Geometry(squared_distances(rng.normal(size=(20, 3))))
    V, scales = principal_coordinates(geometry)
    np.testing.assert_allclose(squared_distances(V * scales), geometry.distances, atol=1e-5)
    assert (np.diff(scales) <= 0).all()


def test_cosines_of_rows_are_those_with_the_others(rng):
    Z = rng.normal(size=(5, 3))
    lengths = np.linalg.norm(Z, axis=1)
    cosines = Z @ Z.T / np.outer(lengths, lengths)
    by_hand = [np.sort(np.delete(row, k)) for k, row in enumerate(cosines)]
    np.testing.assert_allclose(sort_cosines(Z), by_hand, atol=1e-12)
