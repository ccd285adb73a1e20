import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import label

from pairup.album import outlines
from pairup.album.outlines import SHAPES, draw_shape, draw_text, fit_outline


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
    cells = fit_outline(np.ones((300, 400), dtype=bool), n)
    side = np.sqrt(n / 12)
    assert np.ptp(cells, axis=0).tolist() == [3 * side - 1, 4 * side - 1]


def test_thin_strokes_stay_connected():
    ring = np.zeros((480, 480), dtype=bool)
    ring[[100, 380], 100:381] = ring[100:381, [100, 380]] = True
    cells = fit_outline(ring, 40)
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
