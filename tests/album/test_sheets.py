import numpy as np
import pytest
from PIL import Image

from pairup.album.sheets import columns_of, draw_sheet, draw_tile


def test_tiles_lie_row_by_row():
    colours = [(10 * i, 0, 0) for i in range(18)]
    sheet = np.asarray(draw_sheet([Image.new("RGB", (128, 128), colour) for colour in colours], 128))
    assert sheet.shape == (256, 2048, 3)
    assert sheet[64, 128 * 15 + 64, 0] == 150
    assert sheet[128 + 64, 128 + 64, 0] == 170
    assert sheet[200, 1000].tolist() == [255, 255, 255]


def test_few_tiles_make_a_small_sheet_and_too_many_are_refused():
    tile = Image.new("RGB", (256, 256))
    assert draw_sheet([tile, tile], 256).size == (512, 256)
    with pytest.raises(ValueError, match="1 to 64"):
        draw_sheet([tile] * (columns_of(256) ** 2 + 1), 256)


def test_a_tile_is_the_middle_or_the_whole():
    pixels = np.zeros((50, 100, 3), dtype=np.uint8)
    pixels[:, :20] = (250, 0, 0)
    wide = Image.fromarray(pixels)
    assert np.asarray(draw_tile(wide, 40))[..., 0].max() < 120  # the red edge is cut off
    whole = np.asarray(draw_tile(wide, 40, "whole"))
    assert whole[20, 2, 0] > 200
    assert whole[2, 20].tolist() == [255, 255, 255]
