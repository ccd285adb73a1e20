import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image

from pairup.album import reading
from pairup.album.cache import Table
from pairup.album.reading import read_files, read_photos


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


def test_progress_counts_to_the_number_of_files(folder):
    seen = []
    read_photos(folder, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(8, 12), (12, 12)]


def test_files_are_read_as_they_come(folder):
    paths = [folder / "img1.png", folder / "none.png", *sorted(folder.glob("img*.png"))]
    parts = list(read_files(paths, n_jobs=1))
    assert [len(part) for part in parts] == [8, 6]
    assert parts[0][1] == "no such file"
    np.testing.assert_array_equal(parts[0][0].miniature, read_photos(folder / "img1.png")[0].miniature)


def test_files_that_vanish_or_change_while_they_are_read_are_told(folder, monkeypatch):
    real = reading._decode_files

    def change(paths, previews):
        for path in paths:
            if path.endswith("img2.png"):
                os.unlink(path)
            if path.endswith("img3.png"):
                with open(path, "wb") as file:
                    file.write(b"no picture any more")
        return real(paths, previews)

    monkeypatch.setattr(reading, "_decode_files", change)  # after their digests were computed
    found = read_photos(folder, n_jobs=1)
    assert len(found) == 10
    assert dict(found.skipped) == {"img2.png": "no such file", "img3.png": "not a picture of a known format"}


def test_without_a_cache_nothing_is_kept(folder, own_cache):
    found = read_photos(folder, cache=False)
    assert not own_cache.exists()
    np.testing.assert_array_equal(found.miniatures, read_photos(folder).miniatures)
    assert found[3].image().size == (120, 90)


def test_two_runs_at_once_share_one_cache(folder, own_cache):
    """Each in a process of its own, on the same photos and on others."""
    script = textwrap.dedent("""
        import sys
        from pairup.album.reading import read_photos
        photos = read_photos(sys.argv[1:])
        print(len(photos), len(photos.skipped), int(photos.miniatures.sum()))
    """)
    halves = [sorted(folder.glob("img?.png")), sorted(folder.glob("*.png"))]
    runs = [
        subprocess.Popen([sys.executable, "-c", script, *map(str, half)], stdout=subprocess.PIPE, text=True)
        for half in halves
    ]
    told = [run.communicate(timeout=120)[0].split() for run in runs]
    for half, line in zip(halves, told, strict=True):
        expected = read_photos(half, cache=False)
        assert line == [str(len(half)), "0", str(int(expected.miniatures.sum()))]
    table = Table(own_cache)
    keys = [reading.digest(path) for path in halves[1]]
    assert (table.find(keys) >= 0).all()


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk(folder):
    """A limit of the size of files stands for the disk, that of the cache and that of temporary files."""
    script = textwrap.dedent("""
        import resource, signal, sys
        from pairup.album.reading import read_photos
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            print(len(read_photos(sys.argv[1])))
        except OSError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=120)
    assert "no room for the small versions of the photos" in done.stdout
    assert "PAIRUP_CACHE" in done.stdout
    assert not done.stderr


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(folder, own_cache):
    own_cache.parent.mkdir(exist_ok=True)
    own_cache.touch()  # a file where the folder should be
    found = read_photos(folder)
    assert len(found) == 12
    assert found[0].image().size == (120, 90)


def test_a_killed_run_loses_at_most_what_it_was_decoding(folder, own_cache):
    script = textwrap.dedent("""
        import os, sys
        from pairup.album import reading
        real, calls = reading._decode_file, []
        def decode(path, previews):
            calls.append(path)
            if len(calls) == 10:
                os.kill(os.getpid(), 9)
            return real(path, previews)
        reading._decode_file = decode
        reading.read_photos(sys.argv[1], n_jobs=1)
    """)
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, timeout=120)
    assert done.returncode != 0
    table = Table(own_cache)
    paths = sorted(folder.glob("*.png"), key=lambda path: int(path.stem[3:]))
    known = table.find([reading.digest(path) for path in paths])[:, 0] >= 0
    assert known.tolist() == [True] * 8 + [False] * 4
    assert len(read_photos(folder)) == 12


def test_previews_of_cameras_are_used_where_they_show_the_same(tmp_path):
    from wall import exif_with

    large = Image.new("RGB", (1200, 800), "white")
    for name, size, colour in (
        ("same.jpg", (160, 107), "red"),
        ("bars.jpg", (160, 120), "red"),
        ("small.jpg", (90, 60), "red"),
    ):
        Image.new("RGB", size, colour).save(tmp_path / "preview.jpg")
        large.save(tmp_path / name, exif=exif_with((tmp_path / "preview.jpg").read_bytes()))
    (tmp_path / "preview.jpg").unlink()
    plain, quick = read_photos(tmp_path), read_photos(tmp_path, previews=True)
    assert plain.names == quick.names == ["bars.jpg", "same.jpg", "small.jpg"]
    assert plain.miniatures.min() > 250
    assert (quick.miniatures[..., 1].mean(axis=(1, 2)) < 20).tolist() == [False, True, False]
    assert quick[1].image(100).size == (160, 107)
    assert quick[1].image(500).size == (500, 333)  # from the photo itself
    assert quick[0].image().size == (320, 213)
