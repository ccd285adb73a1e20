import numpy as np
import pytest

from pairup.auto.geometry import GeometryPair
from pairup.auto.metrics import (
    IN_WORDS,
    cityblock_distances,
    geodesic_distances,
    metric_in_words,
    normalize_rows,
    rank_columns,
    table_geometries,
    unscaled_geometries,
    whiten_partially,
    whitened_geometries,
)
from pairup.components import principal_components, standardize
from pairup.forms import alignment
from pairup.kernels import squared_distances


def test_geodesic_distances_follow_the_curve():
    t = np.linspace(0.5, 3 * np.pi, 200)
    spiral = np.c_[t * np.cos(t), t * np.sin(t)]
    arc = np.cumsum(np.r_[0, np.linalg.norm(np.diff(spiral, axis=0), axis=1)])
    np.testing.assert_allclose(np.sqrt(geodesic_distances(squared_distances(spiral), 2)[0]), arc, rtol=1e-3)


def test_geodesic_distances_survive_islands_and_duplicates(rng):
    Z = np.vstack([rng.normal(size=(10, 2)), 100 + rng.normal(size=(10, 2)), np.zeros((5, 2))])
    D = geodesic_distances(squared_distances(Z))
    assert np.isfinite(D).all()
    assert D[-1, -2] == pytest.approx(0, abs=1e-9)


def test_scaled_metrics_do_not_depend_on_units(rng):
    Z = rng.normal(size=(15, 3))
    units = np.array([1.0, 1e6, 1e-6])
    np.testing.assert_allclose(standardize(Z * units), standardize(Z), atol=1e-9)
    np.testing.assert_array_equal(rank_columns(np.exp(Z * units[0])), rank_columns(Z))
    np.testing.assert_allclose(normalize_rows(7 * Z), normalize_rows(Z))


def test_whitened_geometries_do_not_depend_on_linear_maps(rng):
    Z = rng.gamma(2.0, size=(40, 3))
    turned = Z @ rng.normal(size=(3, 5)) * [1.0, 1e4, 1e-4, 10.0, 1.0]
    whole = list(whitened_geometries(Z, turned))[-1]
    assert whole.metric == "whitened-3"
    np.testing.assert_allclose(whole.x.distances, whole.y.distances, atol=1e-5)


def test_whitened_geometries_leave_out_components_that_say_little(rng):
    metrics = [pair.metric for pair in whitened_geometries(rng.normal(size=(60, 10)), rng.normal(size=(60, 20)))]
    assert metrics == []  # of twenty independent columns no eight components have most of the variance
    few = rng.normal(size=(10, 2))
    assert [pair.metric for pair in whitened_geometries(few, few)] == ["whitened-2"]
    assert list(whitened_geometries(few[:9], few[:9])) == []  # nine objects do not show two components


def test_cityblock_distances_sum_what_the_columns_say(rng):
    Z = rng.normal(size=(8, 5))
    one_by_one = sum(np.sqrt(squared_distances(column[:, None])) for column in Z.T)
    np.testing.assert_allclose(cityblock_distances(Z), one_by_one**2)


def test_one_odd_column_weighs_less_in_cityblock_distances(rng):
    Z = rng.normal(size=(40, 50))
    odd = Z + 40.0 * np.eye(40, 50)[[0] * 40] * rng.normal(size=(40, 1))
    changes = [np.corrcoef(of(Z).ravel(), of(odd).ravel())[0, 1] for of in (squared_distances, cityblock_distances)]
    assert changes[0] < changes[1]


def test_spikes_hide_less_from_cityblock_distances(rng):
    factors, order = rng.gamma(2.0, size=(60, 3)), rng.permutation(60)
    clean = factors @ rng.normal(size=(3, 40))
    X, Y = (clean + 10.0 * rng.normal(size=(60, 40)) * (rng.random((60, 40)) < 0.03) for _ in range(2))
    raw, city = (similar(pair, np.argsort(order)) for pair in list(table_geometries(X, Y[order]))[:2])
    assert city > raw + 0.15


def test_partial_whitening_shows_what_large_ones_of_one_set_alone_hide(rng):
    factors, order = rng.gamma(2.0, size=(60, 6)), rng.permutation(60)
    X, Y = (factors @ direction(rng, 6) + 4.0 * rng.normal(size=(60, 1)) @ direction(rng, 1) for _ in range(2))
    raw, _, even = (similar(pair, np.argsort(order)) for pair in list(table_geometries(X, Y[order]))[:3])
    assert even > raw + 0.15


def similar(pair: GeometryPair, truth: np.ndarray) -> float:
    """How alike the true pairing finds two sets seen coarsely."""
    return alignment(pair.coarse_forms(0.1), truth)


def direction(rng: np.random.Generator, k: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(30, k)))[0].T


def test_partial_whitening_ignores_rotations_and_shrinks_large_components(rng):
    Z = rng.normal(size=(30, 6)) * [100.0, 30.0, 10.0, 3.0, 1.0, 0.3]
    Z -= Z.mean(axis=0)
    turned = Z @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    np.testing.assert_allclose(
        squared_distances(whiten_partially(Z)), squared_distances(whiten_partially(turned)), rtol=1e-6
    )
    before, after = (np.sqrt(principal_components(table)[1]) for table in (Z, whiten_partially(Z)))
    assert after[0] / after[2] == pytest.approx((before[0] / before[2]) ** 0.5, rel=0.3)  # drawn halfway together
    assert after[4] / after[5] == pytest.approx(before[4] / before[5], rel=0.1)  # below the median, as they were


def test_a_table_without_variation_can_be_whitened_partially():
    np.testing.assert_array_equal(whiten_partially(np.zeros((4, 3))), 0.0)


def test_constant_columns_are_harmless(rng):
    Z = np.c_[rng.normal(size=10), np.full(10, 3.0)]
    assert np.isfinite(standardize(Z)).all()
    assert (standardize(Z)[:, 1] == 0).all()


def test_every_metric_has_words(rng):
    Z = rng.gamma(2.0, size=(40, 4))
    pairs = [*table_geometries(Z, Z), *whitened_geometries(Z, Z), *unscaled_geometries(Z, Z * [1, 2, 3, 4])]
    words = [metric_in_words(pair.metric) for pair in pairs]
    assert len(set(words)) == len(words) >= 8
    assert {pair.metric for pair in pairs if not pair.metric.startswith("whitened-")} < set(IN_WORDS)


def test_unscaled_columns_are_a_metric_of_their_own_where_their_spreads_differ(rng):
    """A column of noise is one of the leading components of standardized columns, and not of those as they are."""
    Z = rng.normal(size=(200, 3))
    wide = np.c_[Z * [6, 5, 4], 0.1 * rng.normal(size=200)]
    turned = Z * [6, 5, 4] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    aligned = {}
    for make in (whitened_geometries, unscaled_geometries):
        pair = next(g for g in make(wide, np.c_[turned, np.zeros(200)]) if g.metric.endswith("-3"))
        aligned[make] = alignment(pair.forms(0.1), np.arange(200))
    assert aligned[unscaled_geometries] > 0.99
    assert aligned[whitened_geometries] < 0.9
    assert list(unscaled_geometries(Z, Z @ np.linalg.qr(rng.normal(size=(3, 3)))[0])) == []


@pytest.mark.parametrize("scale", [1e-300, 1e-18, 1.0, 1e18, 1e300])
def test_geodesic_distances_have_no_units(rng, scale):
    D = squared_distances(rng.normal(size=(30, 2)))
    np.testing.assert_allclose(geodesic_distances(D * scale) / scale, geodesic_distances(D), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_duplicates_are_near_each_other_also_by_geodesic_distance(rng, scale):
    """Eight of them: more than an object has neighbours, so that only their own edges join them."""
    Z = rng.normal(size=(20, 2))
    Z[:8] = Z[0]
    D = geodesic_distances(squared_distances(Z) * scale)
    assert D[:8, :8].max() < 1e-15 * D.max()
