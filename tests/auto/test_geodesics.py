"""Geodesic coordinates of many objects."""

import numpy as np
import pytest

from pairup.auto.geodesics import GeodesicCoordinates
from pairup.auto.view import Side


def rolled(n, seed=0):
    """A sheet rolled up in space, and the sheet itself."""
    rng = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return np.c_[t * np.cos(t), h, t * np.sin(t)], np.c_[arc, h]


def test_a_rolled_sheet_is_unrolled():
    X, sheet = rolled(1500)
    found = GeodesicCoordinates.fit(X)(X)[:, :2]
    truth = sheet - sheet.mean(axis=0)
    fit, *_ = np.linalg.lstsq(found, truth, rcond=None)
    assert np.linalg.norm(found @ fit - truth) < 0.1 * np.linalg.norm(truth)


def test_other_rows_lie_beside_their_neighbours():
    X, _ = rolled(1500)
    coordinates = GeodesicCoordinates.fit(X[:1000])
    inside, outside = coordinates(X[:1000]), coordinates(X[1000:])
    nearest = ((X[1000:, None] - X[:1000]) ** 2).sum(axis=2).argmin(axis=1)
    away = np.linalg.norm(outside - inside[nearest], axis=1)
    assert np.median(away) < 0.2 * inside.std()


@pytest.mark.parametrize("copies", [0, 900])
def test_separate_parts_and_copies_are_joined(copies):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1200, 2)) + 50.0 * (np.arange(1200) % 3)[:, None]
    Z[:copies] = Z[0]
    side = Side.fit("geodesic", Z, rng)
    assert np.isfinite(side.points).all()
    assert np.isfinite(side.evaluate(Z[:10])).all()
