import os
import socket
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pairup.album.photos import Photos, find_files, read_files, read_photos


def test_folders_globs_and_lists_in_natural_order(folder):
    (folder / "more").mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "more" / "img1.png")
    found = read_photos(folder)
    assert found.names[:3] == ["img1.png", "img2.png", "img3.png"]
    assert found.names[-1] == "more/img1.png"
    assert len(read_photos(str(folder / "img1*.png"))) == 4
    assert read_photos([folder / "img9.png", folder / "img2.png"]).names == ["img9.png", "img2.png"]


def test_same_name_in_two_folders(folder):
    (folder / "more").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "more" / "img1.png")
    found = read_photos(folder)
    assert found.find("more/img1.png") == 12
    assert found.find("img1.png") == 0
    assert found.find("img7.png") == 6
    with pytest.raises(ValueError, match=r"no photo is named 'x\.png'"):
        found.find("x.png")
    (folder / "img1.png").rename(folder / "img1.jpg")
    (folder / "other").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "other" / "img1.png")
    with pytest.raises(ValueError, match=r"2 photos are named 'img1\.png'"):
        read_photos(folder).find("img1.png")


def test_link_loops_end_and_links_count_once(folder):
    try:
        (folder / "loop").symlink_to(folder, target_is_directory=True)
        (folder / "twice.png").symlink_to(folder / "img1.png")
        (folder / "self").symlink_to(folder / "self")
    except OSError:
        pytest.skip("this system makes no symbolic links")
    assert len(list(find_files([folder]))) == 13
    found = read_photos(folder)
    assert len(found) == 12
    assert [name for name, _ in found.skipped] == ["self"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_what_is_no_file_is_named_and_not_opened(folder, tmp_path):
    os.mkfifo(folder / "pipe.jpg")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(folder)  # the name of a socket is short
        try:
            listener.bind("socket.jpg")
        finally:
            os.chdir(here)
    for name in ("gone.jpg", "lost.jpg"):
        (folder / name).symlink_to(tmp_path / "nowhere")
    (folder / "null.jpg").symlink_to("/dev/null")
    kind = "a pipe, socket or device, not a file"
    expected = {
        "pipe.jpg": kind,
        "socket.jpg": kind,
        "null.jpg": kind,
        "gone.jpg": "a link to a missing file",
        "lost.jpg": "a link to a missing file",
    }
    assert dict(read_photos(folder).skipped) == expected
    assert dict(read_photos(str(folder / "*")).skipped) == expected
    assert dict(read_photos([folder / "img1.png", folder / "pipe.jpg"]).skipped) == {"pipe.jpg": kind}


def test_folders_that_cannot_be_read_are_named(folder, monkeypatch):
    (folder / "closed").mkdir()
    scan = os.scandir

    def refuse(path):  # permission bits do not stop root
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = read_photos(folder)
    assert len(found) == 12
    assert found.skipped == (("closed", "a folder that cannot be read"),)


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_photos(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no photos in"):
        read_photos(tmp_path)
    with pytest.raises(ValueError, match="no photos in"):
        read_photos(str(tmp_path / "*.jpg"))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"none of 1 files is a photo.*notes.txt: not a picture"):
        read_photos(tmp_path)


def test_odd_names(folder):
    names = ["two words.png", "quo\"te's.png", "émoji 🎞️.png", "<b>&amp;.png"] + (["new\nline.png"] * (os.name != "nt"))
    for name in names:
        if os.name == "nt" and set('<>"') & set(name):
            continue
        Image.new("RGB", (9, 9)).save(folder / name)
    assert set(names) <= set(read_photos(folder).names)


def test_larger_versions_come_from_the_original(tmp_path):
    Image.new("RGB", (2000, 1000), "teal").save(tmp_path / "a.jpg")
    (photo,) = read_photos(tmp_path)
    assert photo.image(100).size == (320, 160)
    assert photo.image(900).size == (900, 450)
    (tmp_path / "a.jpg").unlink()
    assert photo.image(900).size == (320, 160)


def test_from_arrays():
    found = Photos.from_arrays(np.zeros((2, 6, 5), dtype=np.uint8), ["a", "b"])
    assert found.names == ["a", "b"]
    assert found[1].image().size == (5, 6)
    with pytest.raises(ValueError, match="1 names for 2 photos"):
        Photos.from_arrays(np.zeros((2, 6, 5), dtype=np.uint8), ["a"])
    with pytest.raises(ValueError, match="no photos"):
        Photos.from_arrays([])


def test_progress_counts_to_the_number_of_files(folder):
    seen = []
    read_photos(folder, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(8, 12), (12, 12)]


def test_a_turned_photo_is_turned_everywhere(folder):
    pixels = np.zeros((400, 600, 3), dtype=np.uint8)
    pixels[:100, :150] = (250, 0, 0)  # red in the upper left corner
    Image.fromarray(pixels).save(folder / "corner.png")
    photo = read_photos(folder / "corner.png")[0]
    turned = photo.turn(1)
    assert (turned.quarters, photo.quarters, turned.turn(-1).quarters) == (1, 0, 0)
    assert turned.image().size == photo.image().size[::-1]
    for side in (320, 600):  # from the thumbnail, and from the file
        seen = np.asarray(turned.image(side).convert("RGB"))
        assert seen[10, -10, 0] > 200  # clockwise: now in the upper right corner
        assert seen[10, 10, 0] < 50
    assert turned.miniature[2, -3, 0] > photo.miniature[2, -3, 0] + 150
    np.testing.assert_array_equal(turned.turn(3).miniature, photo.miniature)


def test_files_are_read_as_they_come(folder):
    paths = [folder / "img1.png", folder / "none.png", *sorted(folder.glob("img*.png"))]
    parts = list(read_files(paths, n_jobs=1))
    assert [len(part) for part in parts] == [8, 6]
    assert parts[0][1] == "no such file"
    np.testing.assert_array_equal(parts[0][0].miniature, read_photos(folder / "img1.png")[0].miniature)
