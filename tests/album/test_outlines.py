import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import label

from pairup.album import outlines
from pairup.album.outlines import SHAPES, choose_cells, draw_shape, draw_text, fit_outline


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_symmetric_and_fill_their_box(name):
    shape = draw_shape(name)
    assert (shape != shape[:, ::-1]).mean() < 0.001  # the angle of a star rounds differently on both sides
    assert shape.any(axis=0).mean() > 0.85
    assert label(shape, np.ones((3, 3)))[1] == 1


def test_letters_are_drawn_apart():
    mask = draw_text("777")
    assert label(mask, np.ones((3, 3)))[1] == 3


@pytest.mark.parametrize("n", [12, 48, 192])
def test_a_rectangle_is_covered_exactly(n):
    cells = fit_outline(np.ones((300, 400), dtype=bool), n).cells
    side = np.sqrt(n / 12)
    assert np.ptp(cells, axis=0).tolist() == [3 * side - 1, 4 * side - 1]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("start", [1, 2, 3, 4])
def test_symmetric_shapes_have_symmetric_cells_at_every_count(name, start):
    shape = draw_shape(name)
    for n in [start, *range(14 + start, 420, 44)]:  # over the cases: all remainders by four
        cells, _ = fit_outline(shape, n)
        assert len(np.unique(cells, axis=0)) == n
        canvas = np.zeros(cells.max(axis=0) + 1, dtype=bool)
        canvas[tuple(cells.T)] = True
        assert (canvas == canvas[:, ::-1]).all(), n
        assert canvas.any(axis=1).all(), n
        if name == "circle" or (name == "ring" and n % 4 == 0 and n > 15):
            assert (canvas == canvas[::-1]).all(), n


@pytest.mark.parametrize("n", [29, 57, 101, 153, 203])
def test_an_odd_number_of_cells_puts_no_nub_on_a_ring(n):
    cells = fit_outline(draw_shape("ring"), n).cells
    canvas = np.zeros(cells.max(axis=0) + 3, dtype=bool)
    canvas[tuple(cells.T + 1)] = True
    neighbours = sum(np.roll(canvas, step, axis).astype(int) for step in (1, -1) for axis in (0, 1))
    assert neighbours[canvas].min() >= 2
    assert (canvas == canvas[:, ::-1]).all()


def test_an_outline_that_is_not_symmetric_is_not_forced_to_be():
    triangle = np.tri(400, dtype=bool)
    canvas = np.zeros((40, 40), dtype=bool)
    canvas[tuple(fit_outline(triangle, 100).cells.T)] = True
    assert canvas[:, 0].sum() > 10
    assert canvas[0].sum() <= 2


@pytest.mark.parametrize("mirrors", [(), (1,), (0,), (1, 0)])
def test_the_choice_of_cells_is_the_best_of_all_symmetric_ones(mirrors, rng):
    share = rng.integers(1, 100, size=(3, 3)) / 100
    for axis in mirrors:
        share = np.maximum(share, np.flip(share, axis))
    every = [np.array([number >> k & 1 for k in range(9)], dtype=bool).reshape(3, 3) for number in range(512)]
    symmetric = [cells for cells in every if all((cells == np.flip(cells, axis)).all() for axis in mirrors)]
    for n in range(1, 10):
        best = max((share[cells].sum() for cells in symmetric if cells.sum() == n), default=None)
        chosen = choose_cells(share, n, mirrors)
        assert (chosen is None) == (best is None)
        if chosen is not None:
            assert share[chosen].sum() == pytest.approx(best)
            assert any((chosen == cells).all() for cells in symmetric)
            assert chosen.sum() == n


def test_thin_strokes_stay_connected():
    ring = np.zeros((480, 480), dtype=bool)
    ring[[100, 380], 100:381] = ring[100:381, [100, 380]] = True
    cells = fit_outline(ring, 40).cells
    canvas = np.zeros(cells.max(axis=0) + 3, dtype=bool)
    canvas[tuple(cells.T + 1)] = True
    assert label(canvas, np.ones((3, 3)))[1] == 1
    assert label(~canvas)[1] == 2


def test_missing_glyphs_are_named():
    from PIL import ImageFont

    with pytest.raises(ValueError, match="no font on this computer has 𒀱"):
        draw_text("a𒀱")
    path = getattr(ImageFont.load_default(20), "path", None)
    if isinstance(path, str):
        with pytest.raises(ValueError, match="山"):
            draw_text("山", path)


def test_a_file_that_is_no_font_is_told(tmp_path):
    (tmp_path / "font.ttf").write_text("no font")
    with pytest.raises(ValueError, match="cannot read the font"):
        draw_text("777", tmp_path / "font.ttf")


def test_a_huge_mask_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    Image.new("1", (40, 30)).save(tmp_path / "mask.png")
    monkeypatch.setattr(outlines, "MASK_PIXELS", 1000)
    with pytest.raises(ValueError, match="40 × 30 pixels"):
        outlines.read_mask(tmp_path / "mask.png")
