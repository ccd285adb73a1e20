import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label

from pairup.album.frames import DRAWINGS, Frame, fit_grid
from pairup.album.outlines import SHAPES


def raster(cells):
    canvas = np.zeros(cells.max(axis=0) + 3, dtype=bool)
    canvas[tuple(cells.T + 1)] = True
    return canvas


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n", [1, 7, 50, 153, 320, 1000])
def test_shapes_have_exactly_n_cells(name, n):
    cells = Frame.shape(name).fit(n).cells
    assert len(np.unique(cells, axis=0)) == n
    assert label(raster(cells), np.ones((3, 3)))[1] == 1


def test_rings_stay_open_and_smileys_keep_their_faces():
    for name, holes in (("ring", 1), ("smiley", 3)):
        assert label(~raster(Frame.shape(name).fit(320).cells))[1] == holes + 1


@pytest.mark.parametrize(("name", "cells"), [("mountain", 120), ("smiley", 153), ("777", 199)])
def test_the_papers_drawings(name, cells):
    assert name in DRAWINGS
    frame = Frame.drawing(name).fit(1)
    assert len(frame.cells) == cells
    if name != "777":
        rows = frame.preview().split("\n")
        assert rows == [row[::-1] for row in rows]  # both are symmetric


@pytest.mark.parametrize("n", [60, 199, 400])
def test_strokes_of_text_stay_connected(n):
    cells = Frame.text("777").fit(n).cells
    assert len(cells) == n
    assert label(raster(cells), np.ones((3, 3)))[1] == 3


def test_masks(tmp_path):
    from PIL import Image

    ring = np.full((60, 90, 3), 255, dtype=np.uint8)
    ring[10:50, 20:80] = 0
    ring[25:35, 40:60] = 255
    Image.fromarray(ring).save(tmp_path / "ring.png")
    cells = Frame.mask(tmp_path / "ring.png").fit(200).cells
    assert len(cells) == 200
    assert label(~raster(cells))[1] == 2
    opaque = np.zeros((20, 20, 4), dtype=np.uint8)
    opaque[5:15, 5:15] = 255  # white, and the only opaque part
    Image.fromarray(opaque).save(tmp_path / "opaque.png")
    assert np.ptp(Frame.mask(tmp_path / "opaque.png").fit(100).cells, axis=0).tolist() == [9, 9]


def test_a_mask_with_fewer_pixels_than_photos_is_blown_up(tmp_path):
    from PIL import Image

    Image.fromarray(np.array([[0, 255], [0, 0]], dtype=np.uint8)).save(tmp_path / "tiny.png")
    cells = Frame.mask(tmp_path / "tiny.png").fit(300).cells
    assert len(cells) == 300
    assert Frame.mask(tmp_path / "tiny.png").fit(3).preview() == "#.\n##"


def test_empty_frames_are_refused(tmp_path):
    from PIL import Image

    Image.new("L", (9, 9), 255).save(tmp_path / "white.png")
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "points.csv").write_text("row,column\n")
    for description, message in (
        ("0x5", "at least one row"),
        ("text: ", "no visible character"),
        ("shape:cube", "choose one of: circle, heart"),
        ("paper:rose", "mountain"),
        (f"mask:{tmp_path}/white.png", "no dark pixel"),
        (f"mask:{tmp_path}/text.png", "cannot read the mask"),
        (f"points:{tmp_path}/points.csv", "no cells"),
        ("auto:0", "between"),
        ("auto:wide", "a number after auto"),
        ("sixteen", "unknown frame"),
    ):
        with pytest.raises(ValueError, match=message):
            Frame.parse(description)
    with pytest.raises(ValueError, match="no cells"):
        Frame.ascii("...\n  .")


def test_points(tmp_path):
    (tmp_path / "points.csv").write_text("row,column\n0,0\n0.5,0\n0,0.75\n")
    frame = Frame.parse(f"points:{tmp_path}/points.csv")
    assert frame.cells.tolist() == [[0, 0], [0.5, 0], [0, 0.75]]
    assert frame.pitch == 0.5
    with pytest.raises(ValueError, match="same coordinates"):
        Frame.points([[0, 0], [0, 0]])
    (tmp_path / "bad.csv").write_text("0,0\nzero,one\n")
    with pytest.raises(ValueError, match="line 2"):
        Frame.parse(f"points:{tmp_path}/bad.csv")


@given(n=st.integers(1, 5000), aspect=st.floats(0.2, 5))
@settings(deadline=None, max_examples=60)
def test_auto_grids_hold_all_items_with_less_than_a_row_spare(n, aspect):
    rows, columns = fit_grid(n, aspect)
    assert n <= rows * columns < n + max(rows, columns)


def test_no_row_of_a_rectangle_stays_blank():
    assert Frame.grid(10, 6).fit(31).preview().splitlines() == ["######"] * 6
    assert len(Frame.grid(10, 6).fit(60).cells) == len(Frame.grid(10, 6).fit(99).cells) == 60
    for n in range(1, 200):
        rows, columns = fit_grid(n, 1.5)
        assert (rows - 1) * columns < n


def test_a_text_of_too_few_cells_says_so():
    frame = Frame.text("777")
    assert frame.fit(200).legible
    assert not frame.fit(6).legible
    enough = frame.find_legible(6)
    assert 20 < enough < 100
    assert frame.fit(enough).legible
    assert not Frame.shape("smiley").fit(6).legible
    assert Frame.shape("heart").fit(6).legible


def test_blanks_are_the_outer_cells_of_the_last_row():
    frame = Frame.grid(3, 5)
    assert frame.cells[frame.blanks(13)].tolist() == [[2, 0], [2, 4]]
    assert frame.blanks(15).size == frame.blanks(99).size == 0
