"""Rows and nodes as points."""

import numpy as np
import pytest
from scipy import sparse

from pairup.studio.match_picture import (
    COVER_SIZE,
    GREY,
    SIZE,
    SURE,
    UNSURE,
    draw_cover,
    draw_sides,
    fit_square,
    place_nodes,
    place_rows,
    turn_towards,
)


def test_two_columns_keep_their_distances():
    Z = np.random.default_rng(0).normal(size=(50, 2))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    placed = place_rows(3 * Z + 7)
    ours, theirs = (np.linalg.norm(z[:, None] - z[None], axis=-1) for z in (placed, Z))
    assert ours == pytest.approx(theirs)


def test_large_tables_are_placed_as_small_ones_are(monkeypatch):
    Z = np.random.default_rng(0).normal(size=(60, 30)) * np.r_[9.0, 5.0, np.ones(28)] + 1
    small = place_rows(Z @ np.linalg.qr(np.random.default_rng(1).normal(size=(30, 30)))[0])
    monkeypatch.setattr("pairup.studio.match_picture.DENSE", 10)
    large = place_rows(Z @ np.linalg.qr(np.random.default_rng(1).normal(size=(30, 30)))[0])
    assert np.abs(large) == pytest.approx(np.abs(small), abs=1e-6)


@pytest.mark.parametrize("shape", [(5, 1), (1, 4), (3, 9)])
def test_any_shape_has_two_coordinates(shape):
    assert place_rows(np.arange(np.prod(shape), dtype=float).reshape(shape)).shape == (shape[0], 2)


@pytest.mark.parametrize("dense", [500, 4])
def test_neighbours_in_a_graph_lie_near_each_other(dense, monkeypatch):
    monkeypatch.setattr("pairup.studio.match_picture.DENSE", dense)
    ring = sparse.csr_array(np.roll(np.eye(24), 1, axis=1))
    points = place_nodes(ring)
    steps = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
    across = np.linalg.norm(points - np.roll(points, 12, axis=0), axis=1)
    assert steps.max() < 0.3 * across.min()


def test_nodes_without_edges_do_no_harm():
    assert np.isfinite(place_nodes(sparse.csr_array((7, 7)))).all()


def test_a_turned_copy_is_turned_back():
    rng = np.random.default_rng(0)
    target = rng.normal(size=(30, 2))
    Q = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert target @ Q @ turn_towards(target @ Q, target) == pytest.approx(target)
    assert turn_towards(np.empty((0, 2)), np.empty((0, 2))) == pytest.approx(np.eye(2))


def test_points_lie_in_the_square_and_partners_in_like_places():
    x = np.random.default_rng(0).normal(size=(40, 2))
    order = np.random.default_rng(1).permutation(40)
    here, there = draw_sides(x, -5 * x[order], np.argsort(order))
    assert 0 <= np.min(here)
    assert np.max(here) <= SIZE
    assert np.array(there)[np.argsort(order)] == pytest.approx(np.array(here), abs=2)
    assert fit_square(np.zeros((3, 2))) == [[SIZE // 2, SIZE // 2]] * 3


def test_the_cover_shows_who_is_sure():
    far, near = [[0, SIZE // 2], [SIZE, SIZE // 2]], [[0, SIZE // 2], [SIZE, 0], [SIZE, SIZE]]
    cover = draw_cover([far, near], [0, -1], [0.99, 0.0])
    assert cover.size == COVER_SIZE
    colours = {colour for _, colour in cover.getcolors(2**20)}
    assert {SURE, GREY} <= colours
    assert UNSURE not in colours
    assert UNSURE in {colour for _, colour in draw_cover([far, near], [0, -1], [0.1, 0.0]).getcolors(2**20)}
