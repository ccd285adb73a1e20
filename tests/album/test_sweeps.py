import numpy as np
import pytest

from pairup.album.sweeps import (
    HELD,
    NOISE,
    SHORT,
    average_boxes,
    choose_swaps,
    draw_noise,
    make_swaps,
    pack,
    propose_similar,
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
    M, errors = np.full_like(Z, 9), np.full(H, 9.0)
    for band in bands:
        average_boxes(Z, mass, M, errors, half, *band)
    np.testing.assert_allclose(errors, (((Z - M) ** 2).sum(axis=1) * mass).sum(axis=1), rtol=1e-4)
    for r, c in ((0, 0), (5, 3), (H - 1, W - 1)):
        box = slice(max(r - half, 0), r + half + 1), slice(max(c - half, 0), c + half + 1)
        weights = mass[box]
        expected = (Z.transpose(0, 2, 1)[box] * weights[..., None]).sum(axis=(0, 1)) / max(weights.sum(), 1)
        np.testing.assert_allclose(M[r, :, c], expected, rtol=1e-4)


@pytest.mark.parametrize("offset", [(0, 1), (0, 3), (1, 0), (2, -3), (3, 2), (0, 6), (1, -9)])
def test_cold_sweeps_only_gain_and_move_features_with_items(planes, offset, rng):
    Z, _, items, held = planes
    M = rng.random(Z.shape).astype(np.float32)
    features = {int(i): Z[r, :, c].copy() for (r, c), i in np.ndenumerate(items) if i >= 0}
    before, still = gain_of(Z, M), items[held < 0].copy()
    offsets = np.array([[*offset, begin, 5] for begin in range(4)], dtype=np.int32)
    sweep(Z, M, items, held, 0, H, 1, 0, 1, offsets, draw_noise(W), np.float32(0))
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
    sweep(Z, M, items, held, 3, 8, 1, 0, 1, offsets, draw_noise(W), np.float32(0))
    np.testing.assert_array_equal(items[[0, 1, 2, 8, 9, 10]], before[[0, 1, 2, 8, 9, 10]])
    assert (items != before).any()


def test_a_hot_sweep_also_accepts_losses(planes, rng):
    Z, _, items, held = planes
    M = rng.random(Z.shape).astype(np.float32)
    offsets = np.array([[1, 0, 0, 0]], dtype=np.int32)
    for _ in range(5):
        sweep(Z, M, items, held, 0, H, 1, 0, 1, offsets, draw_noise(W), np.float32(0))
    settled = items.copy()
    sweep(Z, M, items, held, 0, H, 1, 0, 1, offsets, draw_noise(W), np.float32(0))
    np.testing.assert_array_equal(items, settled)
    sweep(Z, M, items, held, 0, H, 1, 0, 1, offsets, draw_noise(W), np.float32(10))
    assert (items != settled).any()


@pytest.mark.parametrize(("apart", "members"), [(3, [0, 1, 2]), (4, [1, 3])])
def test_swaps_stay_inside_a_class_of_rows(planes, apart, members, rng):
    Z, _, items, held = planes
    M, before = rng.random(Z.shape).astype(np.float32), items.copy()
    offsets = np.array([[1, 2, 0, 3], [2, -1, 1, 0], [0, 2, 0, 0], [1, 0, 1, 9]], dtype=np.int32)
    for member in members:
        sweep(Z, M, items, held, 1, H, apart, member, member + 1, offsets, draw_noise(W), np.float32(0.1))
    assert (items != before).any()
    for first in range(apart):
        rows = slice(1 + first, H, apart)
        assert sorted(items[rows].ravel()) == sorted(before[rows].ravel())
        assert (items[rows] == before[rows]).all() or first in members
    np.testing.assert_array_equal(items[0], before[0])


def test_near_and_far_swaps_in_a_row_gain(rng):
    wide = 3 * SHORT
    Z, M = rng.random((2, 2, D, wide)).astype(np.float32)
    items, held = np.arange(2 * wide, dtype=np.int32).reshape(2, wide), np.zeros((2, wide), np.float32)
    features = Z.transpose(0, 2, 1).reshape(-1, D).copy()
    for right in (1, 2, SHORT - 1, SHORT, SHORT + 5):
        before = gain_of(Z, M)
        offsets = np.array([[0, right, begin, 5] for begin in range(3)], dtype=np.int32)
        sweep(Z, M, items, held, 0, 2, 1, 0, 1, offsets, draw_noise(wide), np.float32(0))
        assert gain_of(Z, M) > before
    np.testing.assert_array_equal(Z.transpose(0, 2, 1), features[items])
    assert sorted(items.ravel()) == list(range(2 * wide))


def test_swaps_beside_similar_items_gain_and_respect_what_is_held(rng):
    n, edged = H * W, (H + 2) * (W + 2)
    items = rng.permutation(n).reshape(H, W).astype(np.int32)
    X = rng.random((n, D)).astype(np.float32)
    Z = np.ascontiguousarray(X[items].transpose(0, 2, 1))
    M = rng.random(Z.shape).astype(np.float32)
    held = np.zeros((H, W), dtype=np.float32)
    held[2] = HELD
    similar = rng.integers(n, size=(n, 4)).astype(np.int32)
    packed, where = np.full((edged, 2 * D + 2), HELD, dtype=np.float32), np.empty(n, np.int32)
    wanted, counts = np.empty((H, 2, W), np.int32), np.empty(H, np.int32)
    touched, chosen = np.empty(edged, dtype=bool), np.empty((n, 2), np.int32)
    before, still, swaps = gain_of(Z, M), items[2].copy(), 0
    for seed in range(4):
        for band in ((0, 5), (5, H)):
            pack(Z, M, items, held, packed, where, *band)
        np.testing.assert_array_equal(np.divmod(where[items], W + 2), np.indices((H, W)) + 1)
        for band in ((0, 5), (5, H)):
            propose_similar(items, packed, where, similar, *band, draw_noise(W), np.float32(0), seed, wanted, counts)
        made = choose_swaps(wanted, counts, touched, chosen)
        assert len(np.unique(chosen[:made])) == 2 * made
        for part in (chosen[: made // 2], chosen[made // 2 : made]):
            make_swaps(Z, items, part)
        swaps += made
    assert swaps > 0
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
