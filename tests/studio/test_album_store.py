from datetime import datetime
from pathlib import Path

import numpy as np
from album_photos import write_photos
from PIL import Image

from pairup.studio.album_sheets import SHEETS, Sheet, list_sheets
from pairup.studio.album_store import Store, plan_sheets, write_miniatures, write_tiles


def test_what_is_saved_is_loaded(tmp_path, rng):
    assert len(Store.load(tmp_path).miniatures) == 0
    miniatures = rng.integers(0, 255, (3, 40, 40, 3), dtype=np.uint8)
    Store(miniatures, ["2024-05-06T07:08:09", "", ""]).save(tmp_path)
    loaded = Store.load(tmp_path)
    photos = loaded.photos([2, 0], {0: 1})
    np.testing.assert_array_equal(photos[0].miniature, miniatures[2])
    np.testing.assert_array_equal(photos[1].miniature, np.rot90(miniatures[0], -1))
    assert photos[1].taken == datetime(2024, 5, 6, 7, 8, 9)
    assert [photo.taken for photo in loaded.photos([1], {})] == [None]


def test_more_photos_replace_the_sheet_that_was_not_full(tmp_path):
    grey = np.full((5, 40, 40, 3), 90, dtype=np.uint8)
    write_miniatures(tmp_path, grey[:3])
    write_miniatures(tmp_path, grey)
    assert list_sheets(tmp_path) == [Sheet(level=40, fit="crop", index=0, count=5)]
    assert list(plan_sheets(tmp_path, 5, 40, "crop")) == []
    assert [sheet.count for sheet in plan_sheets(tmp_path, 2700, 40, "crop")] == [2601, 99]


def test_tiles_are_drawn_from_files_and_from_miniatures_where_those_are_gone(tmp_path):
    folder = write_photos(tmp_path / "photos", 3)
    paths = [*sorted(folder.glob("*.png")), Path("gone.png")]
    Store(np.full((4, 40, 40, 3), 30, dtype=np.uint8), 4 * [""]).save(tmp_path)
    assert list(write_tiles(tmp_path, paths, 128, "whole"))[-1] == 1
    assert list(write_tiles(tmp_path, paths, 128, "whole")) == []  # nothing is missing any more
    sheet = np.asarray(Image.open(tmp_path / SHEETS / "128-whole-0-4.jpg"))
    assert sheet.shape == (128, 512, 3)
    assert sheet[64, 3 * 128 + 64].max() < 45
    assert sheet[5, 64].min() > 240  # a wide photo has white above it
    assert abs(sheet[64, 100].astype(int) - [0, 80, 200]).max() < 12
