import json
import os

import numpy as np
import pytest
from PIL import Image

from pairup.album import Album, Frame, Photos, Style, arrange, arrange_steps, read_photos
from pairup.album.album import representatives
from pairup.matchers import KSHSIC


def test_vectors_and_photos(folder, rng):
    album = arrange(rng.random((20, 3)), Frame.grid(4, 5))
    assert sorted(album.order) == list(range(20))
    album = arrange(read_photos(folder), "3x4")
    assert sorted(album.order) == list(range(12))
    assert album.quality.dpq > album.quality.random
    assert "DPQ16" in str(album.quality)


def test_steps_stream_and_end_with_the_album(rng):
    *steps, album = arrange_steps(rng.random((30, 3)), "5x6")
    assert len(steps) > 10
    assert isinstance(album, Album)
    assert all(sorted(step.order) == list(range(30)) for step in steps)
    assert np.all(np.diff([step.progress for step in steps]) >= 0)
    np.testing.assert_array_equal(steps[-1].order, album.order)


def test_fewer_items_leave_blanks_on_purpose(rng):
    album = arrange(rng.random((17, 3)), Frame.grid(4, 5))
    assert album.frame.cells[album.order < 0].tolist() == [[3, 0], [3, 1], [3, 4]]
    assert sorted(album.order[album.order >= 0]) == list(range(17))


def test_more_items_leave_named_ones_out(folder):
    album = arrange(read_photos(folder), "2x4", pins={"img3.png": (1, 2)})
    assert len(album.left_out) == 4
    assert sorted([*album.order, *album.left_out]) == list(range(12))
    assert album.order[6] == 2
    assert album.to_csv().count(",,") == 4


def test_representatives_are_diverse_and_in_the_middle(rng):
    centres = np.array([[0, 0], [0, 9], [9, 0], [9, 9.0]])
    X = np.repeat(centres, 25, axis=0) + rng.standard_normal((100, 2)) * 0.5
    chosen = representatives(X, 4)
    assert sorted(chosen // 25) == [0, 1, 2, 3]
    spread = np.linalg.norm(X[chosen] - X.reshape(4, 25, 2).mean(axis=1)[chosen // 25], axis=1)
    assert spread.max() < 0.4
    assert 7 in representatives(X, 4, always=[7])
    assert len(set(representatives(np.zeros((9, 2)), 5))) == 5  # duplicates


def test_the_papers_methods_are_the_matchers(rng):
    X = rng.random((24, 3))
    album = arrange(X, "4x6", method="ks-hsic")
    assignment = KSHSIC().fit_predict(X, album.frame.cells.astype(float))
    np.testing.assert_array_equal(album.order[assignment], np.arange(24))
    for method in ("lsom", "ks-nocco"):
        assert sorted(arrange(X, "4x6", method=method).order) == list(range(24))
    with pytest.raises(ValueError, match="knows no pins"):
        arrange(X, "4x6", method="lsom", pins={0: (0, 0)})


def test_pins(rng):
    X = rng.random((18, 3))
    album = arrange(X, "4x5", pins={3: (3, 0), 4: (0, 0)})  # the first would be a blank
    places = {int(item): tuple(cell) for item, cell in zip(album.order, album.frame.cells.tolist(), strict=True)}
    assert places[3] == (3, 0)
    assert places[4] == (0, 0)
    assert (album.order < 0).sum() == 2


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ({0: (9, 0)}, "no cell at 9,0; its rows go from 0 to 3"),
        ({0: (1, 1), 1: (1, 1)}, "two items are pinned to the cell 1,1"),
        ({99: (1, 1)}, "there is no item 99"),
        ({"x.jpg": (1, 1)}, "x.jpg"),
    ],
)
def test_wrong_pins(pins, message, rng):
    with pytest.raises(ValueError, match=message):
        arrange(rng.random((20, 3)), "4x5", pins=pins)


def test_unknown_photo_pinned_twice(folder):
    photos = read_photos(folder)
    with pytest.raises(ValueError, match=r"no photo is named 'x\.jpg'"):
        arrange(photos, "3x4", pins={"x.jpg": (0, 0)})
    with pytest.raises(ValueError, match="pinned twice"):
        arrange(photos, "3x4", pins={"img1.png": (0, 0), 0: (0, 1)})


def test_wrong_features_and_methods(folder, rng):
    photos = read_photos(folder)
    with pytest.raises(ValueError, match="11 rows for 12 items"):
        arrange(photos, "3x4", features=rng.random((11, 2)))
    with pytest.raises(ValueError, match="unknown method 'magic'"):
        arrange(photos, "3x4", method="magic")
    with pytest.raises(ValueError, match="NaN"):
        arrange([[1.0], [np.nan]], "1x2")


def test_one_photo(folder, tmp_path):
    album = arrange(read_photos(folder / "img1.png"), Frame.auto())
    assert album.order.tolist() == [0]
    for suffix in ("png", "html", "pdf", "csv", "json"):
        album.save(tmp_path / f"one.{suffix}")


def test_move_pins_and_keeps_the_rest(rng):
    album = arrange(rng.random((100, 3)), "10x10")
    item = int(album.order[0])
    moved = album.move(item, (9, 9))
    assert moved.order[99] == item
    assert moved.pins == {item: 99}
    assert sorted(moved.order) == list(range(100))
    assert (moved.order != album.order).sum() <= 25
    with pytest.raises(ValueError, match="holds a pinned item"):
        moved.move(int(moved.order[5]), (9, 9))
    with pytest.raises(ValueError, match="no cell"):
        moved.move(0, (10, 0))


def test_a_project_opens_again(folder, tmp_path):
    album = arrange(read_photos(folder), "shape:heart", pins={"img2.png": (0, 0)})
    (tmp_path / "projects").mkdir()
    path = album.save(tmp_path / "projects" / "album.json")
    saved = json.loads(path.read_text())
    assert saved["photos"][0]["path"] == "../photos/img1.png"
    again = Album.open(path)
    np.testing.assert_array_equal(again.order, album.order)
    np.testing.assert_array_equal(again.frame.cells, album.frame.cells)
    assert again.pins == album.pins
    assert again.photos.names == album.photos.names
    assert again.quality.dpq == pytest.approx(album.quality.dpq, abs=1e-3)
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(ValueError, match="format version 99"):
        Album.open(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="not an album saved by pairup"):
        Album.open(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="not an album"):
        Album.open(path)


def test_vectors_open_again(tmp_path, rng):
    album = arrange(rng.random((12, 3)), "3x4")
    again = Album.open(album.save(tmp_path / "vectors.json"))
    np.testing.assert_array_equal(again.order, album.order)
    np.testing.assert_allclose(again.features, album.features, atol=1e-3)


def test_missing_photos_are_told_when_a_project_opens(folder, tmp_path):
    path = arrange(read_photos(folder), "3x4").save(tmp_path / "album.json")
    (folder / "img1.png").write_text("gone bad")
    with pytest.raises(FileNotFoundError, match=r"1 photos of .* cannot be read: .*img1.png \(not a picture"):
        Album.open(path)


def test_csv_holds_any_name(tmp_path):
    names = ['a,b".jpg', "new\nline.jpg", "<b>.jpg", "plain.jpg"]
    album = arrange(Photos.from_arrays(np.zeros((4, 8, 8), dtype=np.uint8), names), "2x2")
    import csv

    path = album.save(tmp_path / "album.csv")
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["photo", "row", "column"]
    assert {row[0] for row in rows[1:]} == set(names)


def test_outputs_are_checked_first(rng, tmp_path):
    album = arrange(rng.random((4, 3)), "2x2")
    with pytest.raises(ValueError, match="end its name in one of"):
        album.save(tmp_path / "album.docx")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        album.save(tmp_path / "nowhere" / "album.png")
    assert os.listdir(tmp_path) == []


def test_originals_are_never_written_to(folder, tmp_path):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    album = arrange(read_photos(folder), "3x4")
    for suffix in ("html", "png", "jpg", "pdf", "svg", "json", "csv"):
        album.save(tmp_path / f"album.{suffix}", Style(cell=700))
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_location_never_reaches_an_export(tmp_path):
    exif = Image.Exif()
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[29] = "2011:11:11"
    exif[0x010E] = "secret place"
    (tmp_path / "in").mkdir()
    for i in range(2):
        Image.effect_noise((700, 500), 60 + i).convert("RGB").save(tmp_path / "in" / f"{i}.jpg", exif=exif)
    assert b"secret place" in (tmp_path / "in" / "0.jpg").read_bytes()
    album = arrange(read_photos(tmp_path / "in"), "1x2")
    import base64
    import re

    for suffix in ("html", "png", "jpg", "pdf", "svg", "json"):
        data = album.save(tmp_path / f"album.{suffix}", Style(cell=400)).read_bytes()
        pictures = re.findall(rb"base64,([A-Za-z0-9+/=]+)", data)
        for part in [data, *map(base64.b64decode, pictures)]:
            assert b"secret place" not in part
            assert b"2011:11:11" not in part
            assert b"Exif" not in part
