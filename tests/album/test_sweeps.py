import numpy as np
import pytest

from pairup.album.sweeps import (
    HELD,
    NOISE,
    average_boxes,
    draw_noise,
    find_positions,
    make_swaps,
    propose_similar,
    residual,
    scramble,
    sweep,
)

H, W, D = 11, 7, 3


@pytest.fixture
def planes(rng):
    """Features, weights, items and what is held, with holes and one item that must not move."""
    items = rng.permutation(H * W).reshape(H, W).astype(np.int32)
    used = rng.random((H, W)) > 0.2
    items[~used] = -1
    mass = used.astype(np.float32)
    Z = (rng.random((H, D, W)) * mass[:, None]).astype(np.float32)
    held = np.where(used, np.float32(0), HELD).astype(np.float32)
    held[tuple(np.argwhere(used)[0])] = HELD
    return Z, mass, items, held


def gain_of(Z, M):
    return float((Z.astype(float) * M).sum())


@pytest.mark.parametrize("half", [1, 2, 20])
@pytest.mark.parametrize("bands", [[(0, H)], [(0, 4), (4, 5), (5, H)]])
def test_means_are_weighted_means_in_any_bands(planes, half, bands):
    Z, mass, *_ = planes
    mass = mass * np.arange(1, H * W + 1).reshape(H, W).astype(np.float32)
    M = np.full_like(Z, 9)
    for band in bands:
        average_boxes(Z, mass, M, half, *band)
    for r, c in ((0, 0), (5, 3), (H - 1, W - 1)):
        box = slice(max(r - half, 0), r + half + 1), slice(max(c - half, 0), c + half + 1)
        weights = mass[box]
        expected = (Z.transpose(0, 2, 1)[box] * weights[..., None]).sum(axis=(0, 1)) / max(weights.sum(), 1)
        np.testing.assert_allclose(M[r, :, c], expected, rtol=1e-4)


def test_residual_is_the_mean_squared_distance(planes):
    Z, mass, *_ = planes
    M = np.ones_like(Z)
    expected = (((Z - 1) ** 2).sum(axis=1) * mass).sum() / mass.sum()
    assert residual(Z, M, mass) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("offset", [(0, 1), (0, 3), (1, 0), (2, -3), (3, 2), (0, 6), (1, -9)])
def test_cold_sweeps_only_gain_and_move_features_with_items(planes, offset, rng):
    Z, _, items, held = planes
    M = rng.random(Z.shape).astype(np.float32)
    features = {int(i): Z[r, :, c].copy() for (r, c), i in np.ndenumerate(items) if i >= 0}
    before, still = gain_of(Z, M), items[held < 0].copy()
    offsets = np.array([[*offset, begin, 5] for begin in range(4)], dtype=np.int32)
    sweep(Z, M, items, held, 0, H, offsets, draw_noise(W), np.float32(0))
    assert gain_of(Z, M) > before if abs(offset[1]) < W else gain_of(Z, M) == before
    np.testing.assert_array_equal(items[held < 0], still)
    assert sorted(items[items >= 0]) == sorted(features)
    for (r, c), i in np.ndenumerate(items):
        if i >= 0:
            np.testing.assert_array_equal(Z[r, :, c], features[int(i)])


def test_a_sweep_leaves_the_rows_outside_its_band(planes, rng):
    Z, _, items, held = planes
    M, before = rng.random(Z.shape).astype(np.float32), items.copy()
    offsets = np.array([[1, 0, 0, 0], [2, 1, 1, 0], [0, 2, 0, 0]], dtype=np.int32)
    sweep(Z, M, items, held, 3, 8, offsets, draw_noise(W), np.float32(0))
    np.testing.assert_array_equal(items[[0, 1, 2, 8, 9, 10]], before[[0, 1, 2, 8, 9, 10]])
    assert (items != before).any()


def test_a_hot_sweep_also_accepts_losses(planes, rng):
    Z, _, items, held = planes
    M = rng.random(Z.shape).astype(np.float32)
    offsets = np.array([[1, 0, 0, 0]], dtype=np.int32)
    for _ in range(5):
        sweep(Z, M, items, held, 0, H, offsets, draw_noise(W), np.float32(0))
    settled = items.copy()
    sweep(Z, M, items, held, 0, H, offsets, draw_noise(W), np.float32(0))
    np.testing.assert_array_equal(items, settled)
    sweep(Z, M, items, held, 0, H, offsets, draw_noise(W), np.float32(10))
    assert (items != settled).any()


def test_swaps_beside_similar_items_gain_and_respect_what_is_held(rng):
    n = H * W
    items = rng.permutation(n).reshape(H, W).astype(np.int32)
    X = rng.random((n, D)).astype(np.float32)
    Z = np.ascontiguousarray(X[items].transpose(0, 2, 1))
    M = rng.random(Z.shape).astype(np.float32)
    held = np.zeros((H, W), dtype=np.float32)
    held[2] = HELD
    similar = rng.integers(n, size=(n, 4)).astype(np.int32)
    where, wanted, touched = np.empty(n, np.int32), np.empty((H, W), np.int32), np.full((H, W), -1, np.int32)
    before, still, made = gain_of(Z, M), items[2].copy(), 0
    for stamp in range(4):
        find_positions(items, where)
        np.testing.assert_array_equal(items.ravel()[where], np.arange(n))
        for band in ((0, 5), (5, H)):
            propose_similar(Z, M, items, held, where, similar, *band, draw_noise(W), np.float32(0), stamp, wanted)
        made += make_swaps(Z, items, wanted, touched, stamp)
    assert made > 0
    assert gain_of(Z, M) > before
    np.testing.assert_array_equal(items[2], still)
    np.testing.assert_array_equal(Z, X[items].transpose(0, 2, 1))


def test_noise_is_exponential_and_numbers_are_scrambled():
    noise = draw_noise(5)
    assert len(noise) == NOISE + 5
    assert abs(noise.mean() - 1) < 0.05
    assert noise.min() >= 0
    drawn = np.array([scramble(np.uint64(i)) for i in range(2000)], dtype=np.float64) / 2**64
    assert abs(drawn.mean() - 0.5) < 0.02
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05
