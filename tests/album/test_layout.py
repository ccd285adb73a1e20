import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from pairup.album.layout import BEST, DEFAULT, DRAFT, find_similar, number_items, rotate, settle, sort_steps
from pairup.metrics import distance_preservation_quality

GRID = np.argwhere(np.ones((16, 16)))
GRID_2000 = np.argwhere(np.ones((50, 40)))


def sort(features, cells, **options):
    *_, last = sort_steps(np.asarray(features, dtype=float), np.asarray(cells), **options)
    assert last.progress == 1.0
    assert sorted(last.order) == list(range(len(cells)))
    return last.order


def dpq(features, cells, order):
    return distance_preservation_quality(features[order], cells)


def test_colours_beat_the_best_peer_at_the_same_size(rng):
    vc_flas = pytest.importorskip("vc_flas", reason="vc-flas needs Python < 3.13")
    cells = np.argwhere(np.ones((32, 32)))
    X = rng.random((1024, 3))
    peer = vc_flas.flas(X.reshape(32, 32, 3).astype(np.float32), radius_decay=0.98, max_swap_positions=81, seed=0)
    peer_score = dpq(X, cells, peer.sorting.ravel())
    assert peer_score > 0.94  # the peer is itself
    assert dpq(X, cells, sort(X, cells)) > max(peer_score, 0.957)
    assert dpq(X, cells, sort(X, cells, preset=DRAFT)) > 0.945


def neighbour_ratio(X, side, order):
    """Mean distance of neighbours, beside and below, as a share of that of all pairs."""
    placed = X[order].reshape(side, side, -1)
    steps = [np.linalg.norm(np.diff(placed, axis=axis), axis=2).ravel() for axis in (0, 1)]
    return float(np.concatenate(steps).mean() / np.linalg.norm(X - X[::-1], axis=1).mean())


def test_many_colours_beat_the_peer_with_all_presets(rng):
    vc_flas = pytest.importorskip("vc_flas", reason="vc-flas needs Python < 3.13")
    cells = np.argwhere(np.ones((90, 90)))
    X = rng.random((8100, 3))
    peer = vc_flas.flas(X.reshape(90, 90, 3).astype(np.float32), seed=0).sorting.ravel()
    rough, usual = (neighbour_ratio(X, 90, sort(X, cells, preset=preset)) for preset in (DRAFT, DEFAULT))
    assert usual < rough < neighbour_ratio(X, 90, peer) < 0.11


def test_best_is_better(rng):
    X = rng.random((256, 3))
    short = replace(BEST, auctions=1000, swaps=2000)
    assert dpq(X, GRID, sort(X, GRID, preset=short)) > dpq(X, GRID, sort(X, GRID, preset=DRAFT))


@pytest.mark.parametrize("shape", ["disc", "stroke", "scattered"])
def test_pins_blanks_and_shapes_hold_for_many_items(shape, rng):
    square = np.argwhere(np.ones((190, 190)))
    cells = {
        "disc": square[((square - 95) ** 2).sum(axis=1) < 80**2],
        "stroke": np.argwhere(np.ones((4, 5000))),
        "scattered": rng.random((20_000, 2)) * [1, 3],
    }[shape]
    n = len(cells)
    assert n > 19_000
    X = rng.random((n, 3))
    pins = {int(item): int(cell) for item, cell in zip(rng.permutation(n)[:40], rng.permutation(n)[:40], strict=True)}
    one, two = (sort(X, cells, pins=pins, n_jobs=jobs, preset=DRAFT) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert all(one[cell] == item for item, cell in pins.items())
    _, near = cKDTree(cells).query(cells, 5)
    beside = np.linalg.norm(X[one][near[:, 1:]] - X[one][:, None], axis=2).mean()
    assert beside < 0.3 * np.linalg.norm(X - X[::-1], axis=1).mean()


def test_sorting_many_items_takes_little_memory(rng):
    cells, X = np.argwhere(np.ones((200, 200))), rng.random((40_000, 3))
    tracemalloc.start()
    for _ in sort_steps(X, cells):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * len(X)  # a million in 0.5 GB


def test_a_sorting_can_be_left_at_any_step(rng):
    seen = [step for _, step in zip(range(8), sort_steps(rng.random((2000, 3)), GRID_2000, n_jobs=2), strict=False)]
    assert [sorted(step.order) == list(range(2000)) for step in seen] == [True] * 8
    assert 0 < seen[-1].progress < 1
    assert (np.diff([step.progress for step in seen]) > 0).all()


def test_similar_items_have_numbers_near_each_other(rng):
    X = rng.random((4000, 3)).astype(np.float32)
    numbers = number_items(X)
    assert sorted(numbers) == list(range(4000))
    assert np.linalg.norm(np.diff(X[numbers], axis=0), axis=1).mean() < 0.5 * np.linalg.norm(X - X[::-1], axis=1).mean()


def test_similar_items_among_many_are_near_those_found_by_all_distances(rng):
    X = rotate(rng.normal(size=(17_000, 4)) @ rng.normal(size=(4, 20)) + 0.1 * rng.normal(size=(17_000, 20)))
    found = find_similar(X)
    D = np.linalg.norm(X[:50, None] - X, axis=2)
    best = np.sort(D, axis=1)[:, 1 : found.shape[1] + 1].mean()
    assert np.take_along_axis(D, found[:50], axis=1).mean() < 1.1 * best
    assert (found[:50] != np.arange(50)[:, None]).all()


def test_most_of_the_nearest_are_found_among_many_items_of_many_dimensions(rng):
    X = rotate(rng.normal(size=(60, 30))[rng.integers(60, size=5000)] + rng.normal(size=(5000, 30)))
    true = find_similar(X, few=5000)
    found = find_similar(X)
    shared = np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, true, strict=True)])
    assert shared > 0.45  # of neighbours by the first four components alone .17
    assert all(len(set(row)) == 6 and i not in row for i, row in enumerate(found))


def test_sweeps_gather_clusters_in_many_dimensions(rng):
    """A temperature by the residual of all dimensions, not of one, leaves .27 of the neighbours in one cluster."""
    kind = rng.integers(60, size=3600)
    X = rng.normal(size=(60, 30))[kind] + rng.normal(size=(3600, 30))
    order = sort(X, np.argwhere(np.ones((60, 60))), preset=replace(DRAFT, least=10**6))  # no auctions
    placed = kind[order].reshape(60, 60)
    assert np.mean(placed[1:] == placed[:-1]) > 0.6


def test_many_items_of_many_dimensions_are_annealed_too(rng):
    X = rng.normal(size=(60, 30))[rng.integers(60, size=6400)] + rng.normal(size=(6400, 30))
    cells = np.argwhere(np.ones((80, 80)))
    swept, annealed = (sort(X, cells, preset=replace(DEFAULT, floor=floor)) for floor in (0.0, DEFAULT.floor))
    beside = [
        np.linalg.norm(np.diff(X[order].reshape(80, 80, 30), axis=0), axis=2).mean() for order in (swept, annealed)
    ]
    assert beside[1] < 0.97 * beside[0]


def test_a_line_is_sorted_exactly(rng):
    values = rng.random(40)
    order = sort(values[:, None], [(0, i) for i in range(40)])
    placed = values[order]
    assert (np.diff(placed) > 0).all() or (np.diff(placed) < 0).all()


def test_same_seed_same_order_other_seed_another(rng):
    X = rng.random((256, 3))
    first = sort(X, GRID, random_state=3)
    np.testing.assert_array_equal(first, sort(X, GRID, random_state=3))
    assert (first != sort(X, GRID, random_state=4)).any()


def test_blocks_do_not_depend_on_the_number_of_jobs(rng):
    cells = np.argwhere(np.ones((50, 50)))  # more cells than one block holds
    X = rng.random((2500, 3))
    alone = sort(X, cells, n_jobs=1)
    np.testing.assert_array_equal(alone, sort(X, cells, n_jobs=2))
    assert distance_preservation_quality(X[alone], cells, rows=300) > 0.95


def test_pins_stay_and_the_rest_gathers_round_them(rng):
    X = rng.random((256, 3))
    pins = {7: 0, 100: 255, 3: 120}
    order = sort(X, GRID, pins=pins)
    assert {item: int(np.flatnonzero(order == item)[0]) for item in pins} == pins
    assert dpq(X, GRID, order) > 0.9
    for item, around in ((7, [1, 16]), (100, [254, 239]), (3, [119, 121, 104, 136])):
        near, all_ = (np.linalg.norm(X[which] - X[item], axis=1).mean() for which in (order[around], slice(None)))
        assert near < 0.7 * all_


def test_everything_pinned_stays():
    assert sort([[1.0], [2.0], [3.0]], [(0, 0), (0, 1), (0, 2)], pins={0: 2, 1: 0, 2: 1}).tolist() == [1, 2, 0]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_items(n):
    order = sort(np.arange(n)[:, None], [(0, i) for i in range(n)])
    assert sorted(order) == list(range(n))


@pytest.mark.parametrize("kinds", [1, 2, 5])
def test_duplicates_end(kinds, rng):
    X = rng.random((kinds, 3))[rng.integers(kinds, size=256)]
    order = sort(X, GRID)
    same = (X[order].reshape(16, 16, 3)[:, 1:] == X[order].reshape(16, 16, 3)[:, :-1]).all(axis=2).mean()
    assert same > 0.75


def test_scattered_cells_and_far_outliers(rng):
    cells = np.concatenate([rng.random((99, 2)) * 10, [[1e4, 1e4]]])
    X = np.c_[cells[:99, :1], cells[:99, 1:]]
    X = rng.permutation(np.vstack([X, [[5, 5]]]))
    order = sort(X, cells)
    assert distance_preservation_quality(X[order], cells) > 0.85


def test_settle_changes_little_and_only_for_the_better(rng):
    X = rng.random((256, 3))
    order = sort(X, GRID)
    gains = []
    for home in (0, 100, 200):
        moved = order.copy()
        moved[[home, 255]] = moved[[255, home]]
        fixed = np.arange(256) == 255
        settled = settle(X, GRID, moved, fixed)
        assert settled[255] == order[home]
        assert (settled != order).sum() < 40
        gains.append(dpq(X, GRID, settled) - dpq(X, GRID, moved))
    assert max(gains) > 0
    assert min(gains) > -1e-3  # swaps lower the distances of neighbours, which is nearly the same


@pytest.mark.parametrize("shape", [(20, 50), (50, 20), (30, 2)])
def test_rotation_keeps_distances(shape, rng):
    X = rng.random(shape) + 7
    Z = rotate(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(pdist(Z), pdist(X), rtol=1e-4, atol=1e-4)


def test_rotation_drops_dimensions_without_variance(rng):
    assert rotate(rng.random((30, 2)) @ rng.random((2, 9))).shape == (30, 2)
    assert not rotate(np.ones((5, 9))).any()


@pytest.mark.parametrize("d", [3, 20])
def test_similar_items_are_the_nearest(d, rng):
    X = rng.random((60, d)).astype(np.float32)
    found = find_similar(X)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(D, np.inf)
    expected = np.sort(D, axis=1)[:, : found.shape[1]]
    np.testing.assert_allclose(np.sort(np.take_along_axis(D, found, axis=1), axis=1), expected, rtol=1e-5)
