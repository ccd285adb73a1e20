import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from album_photos import last, read_folder, write_photos
from PIL import Image

from pairup.studio import album_tasks
from pairup.studio.album_sheets import list_sheets
from pairup.studio.album_tasks import (
    arrange,
    compute_features,
    draw_tiles,
    fit,
    load_vectors,
    make_frame,
    preview,
    read,
    warm,
)

STYLE = {"gap": 0.04, "radius": 0.1, "background": "transparent", "fit": "crop"}
WEIGHTS = {"colour": 1.0, "edges": 0.5, "date": 0.0}


@pytest.fixture
def project(tmp_path):
    """A project that has read twelve photos, with their paths."""
    files = read_folder(read, tmp_path / "project", write_photos(tmp_path / "photos"))
    return tmp_path / "project", [Path(file["path"]) for file in files]


def run_arrange(project, **changes):
    folder, paths = project
    arguments = {
        "photos": list(range(12)),
        "rotations": {},
        "frame": {"kind": "grid", "rows": 3, "columns": 4},
        "pins": {},
        "weights": WEIGHTS,
        "style": STYLE,
        "seed": 0,
    }
    return list(arrange(folder, paths=paths, **{**arguments, **changes}))


def test_photos_are_read_and_files_that_are_none_are_named_with_the_reason(tmp_path):
    folder = write_photos(tmp_path / "photos", 3)
    (folder / "notes.txt").write_text("no picture")
    (folder / "empty.jpg").touch()
    upload = tmp_path / "upload"
    upload.write_bytes((folder / "img1.png").read_bytes())
    (tmp_path / "project" / "files").mkdir(parents=True)
    sources = [
        {"id": "a" * 16, "role": "photo", "name": "mine.png", "path": str(upload)},
        {"id": "b" * 16, "role": "photo", "name": "mine.CR2", "path": str(upload)},
        {"id": "c" * 16, "role": "folder", "name": "photos", "path": str(folder)},
    ]
    *steps, end = read(tmp_path / "project", sources, 0)
    assert [step["count"] for step in steps if "count" in step] == [4]
    files = {file["name"]: file for file in end["result"]["files"]}
    assert files["mine.png"]["id"] == "a" * 16
    assert files["mine.png"]["details"] == {"number": 0, "ratio": 1.5, "dated": False}
    assert [files[f"img{i}.png"]["details"]["number"] for i in (1, 2, 3)] == [1, 2, 3]
    assert "RAW" in files["mine.CR2"]["details"]["skipped"]
    assert files["empty.jpg"]["details"]["skipped"] == "empty"
    assert "not a picture" in files["notes.txt"]["details"]["skipped"]
    assert [sheet.count for sheet in list_sheets(tmp_path / "project")] == [4]


def test_more_photos_get_the_next_numbers(project, tmp_path):
    folder, _ = project
    write_photos(tmp_path / "more", 2)
    more = [{"id": "d" * 16, "role": "folder", "name": "more", "path": str(tmp_path / "more")}]
    files = last(read(folder, more, 12))["files"]
    assert [file["details"]["number"] for file in files] == [12, 13]
    assert len(album_tasks.Store.load(folder).miniatures) == 14


def test_no_more_photos_than_an_album_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(album_tasks, "MOST_PHOTOS", 2)
    files = read_folder(read, tmp_path / "project", write_photos(tmp_path / "photos", 3))
    assert "too many" in files[2]["details"]["skipped"]


def test_the_demo_makes_its_own_files(tmp_path, monkeypatch):
    monkeypatch.setattr(album_tasks, "DEMO", 5)
    (tmp_path / "files").mkdir()
    files = last(read(tmp_path, [{"id": "a" * 16, "role": "demo", "name": "demo", "path": "x"}], 0))["files"]
    assert len(files) == 5
    assert all(Path(file["path"]).parent == tmp_path / "files" for file in files)


def test_a_draft_comes_first_then_tiles_then_the_refinement(project):
    *steps, end = run_arrange(project)
    assert list(dict.fromkeys(step["text"] for step in steps)) == [
        "comparing the photos",
        "drafting",
        "drawing the photos",
        "refining",
    ]
    assert all(sorted(step["order"]) == list(range(12)) for step in steps if "order" in step)
    assert np.all(np.diff([step["progress"] for step in steps]) >= 0)
    assert end["result"]["quality"]["likeness"] > 1.2
    assert {(sheet.level, sheet.fit) for sheet in list_sheets(project[0])} == {(40, "crop"), (128, "crop")}
    with Image.open(project[0] / "cover.jpg") as cover:
        assert max(cover.size) > 300


def test_pins_stay_and_those_without_a_cell_are_let_go(project):
    steps = run_arrange(project, pins={5: (2, 3), 7: (9, 9)})
    assert all(step["order"][11] == 5 for step in steps if "order" in step)
    assert steps[-1]["result"]["order"][11] == 5


def test_numbers_of_photos_are_kept_where_some_are_not_in_the_album(project):
    result = run_arrange(project, photos=[3, 4, 8], frame={"kind": "auto", "aspect": 3.0})[-1]["result"]
    assert sorted(photo for photo in result["order"] if photo >= 0) == [3, 4, 8]


def test_too_few_cells_leave_some_out(project):
    result = run_arrange(project, frame={"kind": "grid", "rows": 1, "columns": 5})[-1]["result"]
    assert len(set(result["order"])) == 5


def test_a_turned_photo_is_compared_as_it_is_shown(project):
    store = album_tasks.Store.load(project[0])
    colour = {"colour": 1.0, "edges": 0.0, "date": 0.0}
    upright, turned = (compute_features(store.photos(range(12), turns), colour) for turns in ({}, {4: 2}))
    assert np.flatnonzero((upright != turned).any(axis=1)).tolist() == [4]


def test_dates_count_only_where_there_are_some(project):
    photos = album_tasks.Store.load(project[0]).photos(range(12), {})
    assert compute_features(photos, {**WEIGHTS, "date": 1.0}).shape[1] == 192 + 128
    with pytest.raises(ValueError, match="none of the photos says when"):
        compute_features(photos, {"colour": 0.0, "edges": 0.0, "date": 1.0})


def test_own_features_are_found_by_name_or_by_row_and_alone_decide(project, tmp_path):
    names, photos = [f"img{i}.png" for i in range(12)], [2, 5, 7, 11]
    own = np.arange(12.0)[:, None] * [1, 10]
    (tmp_path / "csv").write_text("name,a,b\n" + "".join(f"img{i}.png,{i},{10 * i}\n" for i in (7, 5, 11, 2)))
    np.save(tmp_path / "rows.npy", own)
    by_name = load_vectors({"path": str(tmp_path / "csv"), "name": "mine.csv", "names": names}, photos)
    by_row = load_vectors({"path": str(tmp_path / "rows.npy"), "name": "mine.npy", "names": names}, photos)
    np.testing.assert_array_equal(by_name, own[photos])
    np.testing.assert_array_equal(by_row, own[photos])
    with pytest.raises(ValueError, match=r"^mine\.csv has no line for 1 of 5 photos, such as 'img3\.png'"):
        load_vectors({"path": str(tmp_path / "csv"), "name": "mine.csv", "names": names}, [*photos, 3])

    alone = {"colour": 0.0, "edges": 0.0, "date": 0.0, "pixels": 0.0, "vectors": 1.0}
    source = {"path": str(tmp_path / "rows.npy"), "name": "mine.npy", "names": names}
    line = {"kind": "grid", "rows": 1, "columns": 12}
    order = run_arrange(project, frame=line, weights=alone, vectors=source)[-1]["result"]["order"]
    assert order in (list(range(12)), list(range(12))[::-1])  # points on a line lie in their order


@pytest.mark.parametrize(
    ("frame", "cells"),
    [
        ({"kind": "auto", "aspect": 1.0}, 25),
        ({"kind": "grid", "rows": 2, "columns": 3}, 6),
        ({"kind": "text", "text": "7"}, 25),
        ({"kind": "shape", "name": "ring"}, 25),
        ({"kind": "paper", "name": "mountain"}, 120),
        ({"kind": "cells", "lines": ["#.#", ".#."]}, 3),
    ],
)
def test_every_kind_of_frame_has_cells(frame, cells):
    assert len(last(fit(frame, 25))) == cells


def test_the_dark_part_of_a_picture_is_a_frame_and_errors_do_not_name_its_place(tmp_path):
    path = tmp_path / ("0" * 16)
    pixels = np.full((60, 60), 255, dtype=np.uint8)
    pixels[:, :20] = 0
    Image.fromarray(pixels).save(path, "PNG")
    assert make_frame({"kind": "mask", "path": str(path)}).fit(30).cells[:, 1].max() <= 3
    path.write_bytes(b"no picture")
    with pytest.raises(ValueError, match="cannot read the mask") as caught:
        make_frame({"kind": "mask", "path": str(path)})
    assert str(tmp_path) not in str(caught.value)


def test_a_preview_is_small_turned_and_says_nothing_about_place_or_camera(tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "Secret Camera"
    exif.get_ifd(0x8825)[1] = "N"
    Image.new("RGB", (300, 200), "red").save(tmp_path / "photo.jpg", exif=exif)
    picture = Image.open(io.BytesIO(last(preview(tmp_path / "photo.jpg", 120, 1))))
    assert picture.size == (80, 120)
    assert not picture.getexif()
    assert b"Secret" not in last(preview(tmp_path / "photo.jpg", 120, 0))


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    from pairup.album import decoding

    Image.new("1", (400, 300)).save(tmp_path / "bomb.png")
    monkeypatch.setattr(decoding, "MAX_PIXELS", 1000)
    with pytest.raises(ValueError, match="too large"):
        last(preview(tmp_path / "bomb.png", 100, 0))
    files = read_folder(read, tmp_path / "project", tmp_path / "bomb.png")
    assert "too large" in files[0]["details"]["skipped"]


def test_tiles_of_another_size(project):
    *steps, end = draw_tiles(*project, 256, "whole")
    assert steps[-1]["progress"] == 1
    assert steps[-1]["tiles"]
    assert end == {"result": {}}
    assert (256, "whole") in {(sheet.level, sheet.fit) for sheet in list_sheets(project[0])}


def test_warming_loads_what_is_needed():
    assert len(list(warm())) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_text_is_told(tmp_path):
    folder = write_photos(tmp_path / "photos", 1)
    os.rename(folder / "img1.png", os.fsencode(folder) + b"/caf\xe9.png")
    (file,) = read_folder(read, tmp_path / "project", folder)
    assert file["name"] == "caf\ufffd.png"
    assert "UTF-8" in file["details"]["skipped"]
    file["name"].encode()
    file["path"].encode()
