import numpy as np
import pytest

from pairup.album.lattice import Lattice, separate, split_blocks

GRID = np.argwhere(np.ones((9, 10)))


@pytest.mark.parametrize("unit", [1.0, 0.3, 70.0])
def test_a_grid_is_its_own_raster_in_any_unit(unit):
    lattice = Lattice.of(GRID * unit + 11)
    np.testing.assert_array_equal(np.stack([lattice.row, lattice.column], axis=1), GRID)
    np.testing.assert_allclose(lattice.points, GRID, atol=1e-9)


def test_neighbours_are_the_eight_around_a_cell_with_weights_by_distance():
    lattice = Lattice.of(GRID)
    offsets = GRID[:, None] - GRID[None]
    squares = (offsets**2).sum(axis=2)
    inner = ((GRID >= 3) & (GRID < [6, 7])).all(axis=1)  # cells at the border have others, farther away, among the near
    assert inner.sum() == 12
    for cell in np.flatnonzero(inner):
        found = lattice.neighbours[cell]
        assert sorted(found[found >= 0]) == np.flatnonzero((squares[cell] <= 2) & (squares[cell] > 0)).tolist()
        np.testing.assert_allclose(lattice.weights[cell][found >= 0], squares[cell][found[found >= 0]] ** -2.0)


def test_neighbourhood_is_symmetric_for_scattered_cells(rng):
    lattice = Lattice.of(rng.random((60, 2)) * [1, 9])
    pairs = {(c, int(n)) for c, row in enumerate(lattice.neighbours) for n in row if n >= 0}
    assert pairs == {(b, a) for a, b in pairs}
    assert lattice.near[:, 0].tolist() == list(range(60))


def test_outliers_do_not_make_a_large_raster(rng):
    cells = np.concatenate([rng.random((99, 2)) * 10, [[1e5, 1e5]]])
    lattice = Lattice.of(cells)
    assert (lattice.row.max() + 1) * (lattice.column.max() + 1) <= 64 * 100 + 4096


def test_scattered_cells_get_a_coarser_raster():
    diagonal = np.repeat(np.arange(400.0), 2)[:, None] * [3, 3] + np.tile([[0, 0], [0, 1]], (400, 1))
    lattice = Lattice.of(diagonal)
    assert (lattice.row.max() + 1) * (lattice.column.max() + 1) < 1.1 * (64 * 800 + 4096)


@pytest.mark.parametrize("diagonal", [False, True])
def test_blocks_are_a_partition_into_compact_parts(diagonal):
    cells = np.argwhere(np.ones((20, 40))).astype(float)
    blocks = split_blocks(cells, 100, diagonal=diagonal)
    assert sorted(np.concatenate(blocks)) == list(range(800))
    assert max(map(len, blocks)) <= 100
    assert max(np.ptp(cells[block], axis=0).max() for block in blocks) < 20


def test_the_two_partitions_have_different_borders():
    cells = np.argwhere(np.ones((20, 20))).astype(float)
    straight, diagonal = (split_blocks(cells, 100, diagonal=way) for way in (False, True))
    assert {frozenset(block.tolist()) for block in straight}.isdisjoint(frozenset(b.tolist()) for b in diagonal)


def test_each_cell_has_its_own_position(rng):
    for cells in (rng.random((500, 2)), np.repeat(rng.random((20, 2)), 9, axis=0), rng.normal(size=(300, 2)) ** 3):
        lattice = Lattice.of(cells)
        assert len({*zip(lattice.row.tolist(), lattice.column.tolist(), strict=True)}) == len(cells)
        assert min(lattice.row.min(), lattice.column.min()) == 0


def test_separate_moves_no_farther_than_needed():
    row, column = np.array([0, 5, 5, 5, 9], np.int32), np.array([0, 5, 5, 5, 9], np.int32)
    apart = np.stack(separate(row, column), axis=1)
    moved = apart - apart[1] - np.stack([row - 5, column - 5], axis=1)
    np.testing.assert_array_equal(moved[[0, 1, 4]], 0)
    assert np.abs(moved[[2, 3]]).sum(axis=1).max() == 1


@pytest.mark.parametrize("keep", [1.0, 0.7, 0.1])
def test_a_frame_with_holes_has_the_unit_of_its_grid_or_of_its_cells(keep, rng):
    cells = np.argwhere(rng.random((40, 40)) < keep).astype(float)
    distances = np.linalg.norm(cells[:, None] - cells, axis=2) + 1e9 * np.eye(len(cells))
    expected = (cells - cells.min(axis=0)) / np.median(distances.min(axis=1))
    np.testing.assert_allclose(Lattice.of(cells).points, expected)
