"""Coordinates of many objects."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from pairup.auto.coordinates import Coordinates, further_metrics, suitable_metrics
from pairup.auto.metrics import normalize_rows, rank_columns, whiten_partially
from pairup.components import principal_components, standardize


@pytest.fixture
def table():
    return np.random.default_rng(0).gamma(2.0, size=(60, 5)) * [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("metric", "changed"),
    [
        ("euclidean", lambda Z: Z - Z.mean(axis=0)),
        ("partially-whitened", lambda Z: whiten_partially(standardize(Z))),
        ("ranks", rank_columns),
        ("directions", lambda Z: normalize_rows(Z - Z.mean(axis=0))),
        ("whitened-3", lambda Z: principal_components(standardize(Z))[0][:, :3]),
        ("whitened-unscaled-3", lambda Z: principal_components(Z - Z.mean(axis=0))[0][:, :3]),
    ],
)
def test_distances_are_those_of_the_dense_metric_up_to_a_factor(table, metric, changed):
    mine, dense = pdist(Coordinates.fit(metric, table)(table)), pdist(changed(table))
    assert np.corrcoef(mine, dense)[0, 1] > (0.9 if metric == "directions" else 0.9999)  # directions are taken twice


@pytest.mark.parametrize("metric", ["euclidean", "partially-whitened", "ranks", "directions"])
def test_blocks_of_rows_have_the_coordinates_of_the_whole(table, metric):
    coordinates = Coordinates.fit(metric, table)
    np.testing.assert_allclose(coordinates(table)[:7], coordinates(table[:7]), atol=1e-6)


def test_constant_columns_do_no_harm():
    Z = np.c_[np.ones(20), np.arange(20.0)]
    for metric in ("euclidean", "partially-whitened", "ranks"):
        assert np.isfinite(Coordinates.fit(metric, Z)(Z)).all()


def test_wide_tables_have_no_ranks_and_narrow_ones_no_directions():
    assert "ranks" not in suitable_metrics(np.zeros((3, 300)), np.zeros((3, 5)), "auto")
    assert "directions" not in suitable_metrics(np.zeros((3, 2)), np.zeros((3, 5)), "auto")
    assert suitable_metrics(np.zeros((3, 2)), np.zeros((3, 5)), "cosine") == ["directions"]


def test_whitened_components_have_variance_1(table):
    found = Coordinates.fit("whitened-3", table)(table)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(3), atol=1e-5)


def test_further_metrics_are_for_narrow_tables_and_keep_to_what_was_asked_for():
    narrow, wide = np.zeros((5, 1)), np.zeros((5, 40))
    assert further_metrics(narrow, narrow, "auto") == ["geodesic"]
    assert further_metrics(wide[:, :12], wide[:, :20], "auto") == ["geodesic", "whitened-8"]
    assert further_metrics(wide[:, :12], wide[:, :20], "euclidean") == ["geodesic"]
    assert further_metrics(wide[:, :12], wide[:, :20], "cosine") == further_metrics(narrow, wide, "auto") == []
