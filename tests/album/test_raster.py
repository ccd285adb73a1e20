import numpy as np
import pytest

from pairup.album.lattice import Lattice
from pairup.album.raster import BAND, Raster, _split_rows, draw_offsets
from pairup.parallel import thread_runner

CELLS = np.argwhere(np.ones((150, 90)))


def make(rng, cells=CELLS, fixed=None):
    n = len(cells)
    X = rng.random((n, 3)).astype(np.float32)
    fixed = np.zeros(n, dtype=bool) if fixed is None else fixed
    return X, Raster.of(X, rng.permutation(n), Lattice.of(cells), fixed)


@pytest.mark.parametrize("cells", [CELLS, CELLS[:, ::-1], CELLS[::3]])
def test_a_raster_keeps_the_order_of_the_cells(cells, rng):
    order = rng.permutation(len(cells))
    X = rng.random((len(cells), 2)).astype(np.float32)
    raster = Raster.of(X, order, Lattice.of(cells), np.zeros(len(cells), dtype=bool))
    np.testing.assert_array_equal(raster.order, order)
    assert raster.items.shape[0] >= raster.items.shape[1]
    np.testing.assert_array_equal(raster.Z[raster.row, :, raster.column], X[order])


def test_sorting_is_the_same_on_any_number_of_threads():
    found = []
    for jobs in (1, 2, 3):
        X, raster = make(np.random.default_rng(5))
        with thread_runner(jobs) as run:
            for step in range(6):
                raster.sort(3.0, 6, 5, 0.1, step, run)
                raster.gather(np.roll(np.arange(len(X)), 1)[:, None].astype(np.int32), 1, step, run)
        found.append(raster.order)
    assert sorted(found[0]) == list(range(len(CELLS)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_sorting_brings_similar_items_together_and_leaves_pins_and_holes(rng):
    inside = ((CELLS - [75, 45]) ** 2 / [75**2, 45**2]).sum(axis=1) <= 1
    cells = CELLS[inside]
    fixed = np.arange(len(cells)) % 500 == 0
    _, raster = make(rng, cells, fixed)
    held = raster.order[fixed]

    def roughness():
        picture = raster.Z[:, :, 20:60]
        return float(np.abs(np.diff(picture[60:90], axis=0)).mean())

    before = roughness()
    with thread_runner() as run:
        for step, width in enumerate(np.geomspace(40, 0.9, 60)):
            raster.sort(width, max(2, int(2 * width)), 10, 0.1, step, run)
    assert roughness() < 0.4 * before
    np.testing.assert_array_equal(raster.order[fixed], held)
    assert sorted(raster.order) == list(range(len(cells)))
    assert (raster.items >= 0).sum() == len(cells)


@pytest.mark.parametrize(("H", "size", "shift"), [(10, 64, 3), (200, 64, 0), (200, 64, 63), (1000, 64, 517)])
def test_bands_cover_all_rows_once(H, size, shift):
    bands = _split_rows(H, size, shift)
    assert np.concatenate([np.arange(*band) for band in bands]).tolist() == list(range(H))
    assert min(bottom - top for top, bottom in bands) >= min(H, size // 2)
    assert BAND % 2 == 0


@pytest.mark.parametrize(("down", "right"), [(0, 3), (3, 0), (5, 4)])
def test_offsets_lead_somewhere(down, right, rng):
    offsets = draw_offsets(rng, 200, np.array([down, max(down, 1)]), right)
    assert offsets.shape == (2, 200, 4)
    assert (np.abs(offsets[..., :2]).sum(axis=2) > 0).all()
    assert (offsets[..., 0] >= 0).all()
    assert (offsets[offsets[..., 0] == 0, 1] >= 0).all()
    assert (np.abs(offsets[0, :, :2]) <= [down, right]).all()
    assert len(np.unique(offsets[0, :, :2], axis=0)) > 2


def test_a_column_of_items_is_sorted_and_a_single_one_stays(rng):
    X, raster = make(rng, np.argwhere(np.ones((200, 1))))
    one = make(rng, np.zeros((1, 2)))[1]
    with thread_runner() as run:
        for step, width in enumerate(np.geomspace(60, 0.9, 40)):
            raster.sort(width, max(2, int(2 * width)), 10, 0.1, step, run)
            one.sort(1.0, 2, 10, 0.1, step, run)
    assert sorted(raster.order) == list(range(200))
    assert np.abs(np.diff(X[raster.order], axis=0)).mean() < 0.7 * np.abs(np.diff(X, axis=0)).mean()
    assert one.order.tolist() == [0]
