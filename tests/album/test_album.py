import base64
import csv
import json
import os
import re
import sys

import numpy as np
import pytest
from PIL import Image

from pairup.album import Album, Frame, Photos, Style, arrange, read_photos
from pairup.album.album import Quality
from pairup.album.vectors import read_vectors


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


def test_a_saved_album_is_loaded(folder, tmp_path):
    album = arrange(read_photos(folder), "shape:heart", pins={"img2.png": (0, 0)})
    (tmp_path / "projects").mkdir()
    path = album.save(tmp_path / "projects" / "album.json")
    saved = json.loads(path.read_text())
    assert saved["photos"][0]["path"] == "../photos/img1.png"
    again = Album.load(path)
    np.testing.assert_array_equal(again.order, album.order)
    np.testing.assert_array_equal(again.frame.cells, album.frame.cells)
    assert again.pins == album.pins
    assert again.photos.names == album.photos.names
    assert again.quality.dpq == pytest.approx(album.quality.dpq, abs=1e-3)
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(ValueError, match="has format 99, and this pairup reads formats up to 1"):
        Album.load(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="is not a saved album"):
        Album.load(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is not a saved album"):
        Album.load(path)


def test_vectors_are_loaded(tmp_path, rng):
    album = arrange(rng.random((12, 3)), "3x4")
    again = Album.load(album.save(tmp_path / "vectors.json"))
    np.testing.assert_array_equal(again.order, album.order)
    np.testing.assert_allclose(again.features, album.features, atol=1e-3)


def test_missing_photos_are_told_when_an_album_is_loaded(folder, tmp_path):
    path = arrange(read_photos(folder), "3x4").save(tmp_path / "album.json")
    (folder / "img1.png").write_text("gone bad")
    with pytest.raises(FileNotFoundError, match=r"1 photos of .* cannot be read: .*img1.png \(not a picture"):
        Album.load(path)


def test_csv_holds_any_name(tmp_path):
    names = ['a,b".jpg', "new\nline.jpg", "<b>.jpg", "plain.jpg"]
    album = arrange(Photos.from_arrays(np.zeros((4, 8, 8), dtype=np.uint8), names), "2x2")
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
    for suffix in ("html", "png", "jpg", "pdf", "svg", "json"):
        data = album.save(tmp_path / f"album.{suffix}", Style(cell=400)).read_bytes()
        pictures = re.findall(rb"base64,([A-Za-z0-9+/=]+)", data)
        for part in [data, *map(base64.b64decode, pictures)]:
            assert b"secret place" not in part
            assert b"2011:11:11" not in part
            assert b"Exif" not in part


def test_the_old_name_of_load_warns(tmp_path, rng):
    path = arrange(rng.random((4, 3)), "2x2").save(tmp_path / "album.json")
    with pytest.warns(FutureWarning, match=r"Album\.load"):
        old = Album.open(path)
    np.testing.assert_array_equal(old.order, Album.load(path).order)


def test_albums_of_arrays_cannot_be_loaded(tmp_path):
    photos = Photos.from_arrays(np.zeros((4, 8, 8), dtype=np.uint8))
    with pytest.raises(ValueError, match="was made from arrays"):
        Album.load(arrange(photos, "2x2").save(tmp_path / "album.json"))


def test_items_left_out_cannot_be_moved(rng):
    album = arrange(rng.random((9, 3)), "2x2")
    with pytest.raises(ValueError, match="is not in the album; call arrange again with a pin"):
        album.move(album.left_out[0], (0, 0))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode there")
def test_file_names_need_not_be_utf8(folder, tmp_path):
    name = os.fsdecode(b"caf\xe9.png")
    (folder / "img1.png").rename(folder / name)
    album = arrange(read_photos(folder), "3x4")
    for suffix in ("json", "csv", "html", "svg"):
        album.save(tmp_path / f"album.{suffix}")
    json.loads((tmp_path / "album.json").read_bytes().decode("utf-8"))
    assert Album.load(tmp_path / "album.json").photos.names == album.photos.names
    with (tmp_path / "album.csv").open(newline="", errors="surrogateescape") as file:
        assert name in {row[0] for row in csv.reader(file)}
    assert b"caf\xe9.png" in (tmp_path / "album.csv").read_bytes()
    (tmp_path / "features.csv").write_bytes(b"".join(os.fsencode(n) + b",1,2\n" for n in album.photos.names))
    assert read_vectors(tmp_path / "features.csv", album.photos).shape == (12, 2)


@pytest.mark.parametrize(
    ("part", "count", "told"), [("[", 100_000, "nested too deeply"), ("[],", 8_000_000, "would take up to 1168 MB")]
)
def test_json_that_would_take_all_memory_is_refused(part, count, told, tmp_path):
    (tmp_path / "a.json").write_text(part * count)
    with pytest.raises(ValueError, match=rf"a\.json is not a saved album \(.*{told}"):
        Album.load(tmp_path / "a.json")


def test_turned_photos_are_saved_and_loaded(folder, tmp_path):
    photos = read_photos(folder)
    album = arrange(Photos((photos[0].turn(3), *photos[1:])), "3x4")
    album.save(tmp_path / "album.json")
    assert [photo.quarters for photo in Album.load(tmp_path / "album.json").photos] == [3] + 11 * [0]
    saved = json.loads((tmp_path / "album.json").read_text())
    assert "quarters" not in saved["photos"][1]
    saved["photos"][1]["quarters"] = 7
    (tmp_path / "album.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="photos should be"):
        Album.load(tmp_path / "album.json")


def test_json_without_a_folder_has_whole_paths(folder, tmp_path):
    album = arrange(read_photos(folder), "3x4")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "album.json").write_bytes(album.to_json())
    assert json.loads(album.to_json())["photos"][0]["path"] == str(folder / "img1.png")
    assert Album.load(tmp_path / "elsewhere" / "album.json").order.tolist() == album.order.tolist()


def test_quality_is_said_in_words():
    assert "no more alike" in Quality(0.4, 0.4, 0.0, 0.0, 1.01).in_words
    assert Quality(0.9, 0.4, 0.7, 0.4, 2.31).in_words == "neighbours are 2.3× more alike than in a random order"


def test_albums_with_nothing_to_sort_claim_nothing():
    for X in (np.zeros((1, 3)), np.eye(2, 3), np.ones((9, 3))):
        assert arrange(X, Frame.grid(3, 3)).quality.in_words == "too few different items to sort"
