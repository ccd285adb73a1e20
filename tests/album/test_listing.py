import os
import random
import socket
from pathlib import Path

import pytest
from PIL import Image

from pairup.album.listing import find_files, list_files, name_files
from pairup.album.reading import read_photos


def test_folders_globs_and_lists_in_natural_order(folder):
    (folder / "more").mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "more" / "img1.png")
    found = read_photos(folder)
    assert found.names[:3] == ["img1.png", "img2.png", "img3.png"]
    assert found.names[-1] == "more/img1.png"
    assert len(read_photos(str(folder / "img1*.png"))) == 4
    assert read_photos([folder / "img9.png", folder / "img2.png"]).names == ["img9.png", "img2.png"]


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


def test_thousands_of_files_in_one_folder_are_listed_in_natural_order(tmp_path):
    names = [f"img{number}.jpg" for number in range(3000)]
    random.Random(0).shuffle(names)
    for name in names:
        (tmp_path / name).touch()
    assert [os.path.basename(path) for path in list_files([tmp_path])] == [f"img{number}.jpg" for number in range(3000)]
    assert list_files([tmp_path, tmp_path / "img7.jpg"]) == list_files([tmp_path])


def test_natural_order_is_that_of_text_and_numbers(tmp_path):
    names = ["a", "a1", "a01b", "a1b", "a2", "a10", "a-1", "aa", "B1", "b02", "b2", "c"]
    for name in names:
        (tmp_path / name).touch()

    def split(name):
        import re

        parts = re.split(r"(\d+)", name)
        return [(0, int(part), "") if part.isdigit() else (1, 0, part.casefold()) for part in parts], name

    expected = sorted(names, key=split)
    assert [os.path.basename(path) for path in list_files([tmp_path])] == expected


def test_names_are_paths_below_the_common_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert name_files(["a/x.jpg", "b/c/y.jpg", str(tmp_path / "z.jpg")]) == ["a/x.jpg", "b/c/y.jpg", "z.jpg"]
    assert name_files(["only.jpg"]) == ["only.jpg"]


def test_a_folder_that_is_removed_while_it_is_walked_is_named(folder, monkeypatch):
    (folder / "gone").mkdir()
    scan = os.scandir

    def remove_first(path):  # between the listing of its parent and its own
        if Path(path).name == "gone":
            (folder / "gone").rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", remove_first)
    found = read_photos(folder)
    assert len(found) == 12
    assert found.skipped == (("gone", "no such file"),)
