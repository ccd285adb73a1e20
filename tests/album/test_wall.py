import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as np
import pytest
from PIL import Image

from pairup.album import Frame, Photos, Style, arrange, read_photos
from pairup.album.wall import GENERATOR, PHOTO_SIDES, Wall, check_wall_path, is_wall, is_wall_path, write_wall
from pairup.files import claim


def write(album, path, style=None, **options):
    return list(album.write_wall(path, style, **options))


def read_script(path, name):
    return json.loads(re.fullmatch(rf"pairup\.{name} = (.*);\n", path.read_text(), re.DOTALL)[1])


def listing(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def album(folder):
    return arrange(read_photos(folder), "3x4")


def test_a_wall_has_a_page_tiles_photos_and_data(album, tmp_path):
    steps = write(album, tmp_path / "wall", Style(title="Us & <%COUNT%>"))
    assert [step.text for step in steps][-1] == "finding similar photos"
    assert all(step.done <= step.total for step in steps)
    wall = tmp_path / "wall"
    assert sorted(path.name for path in wall.iterdir()) == [
        "data",
        "index.html",
        "photos",
        "tiles",
        "wall.css",
        "wall.js",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "wall"]  # nothing beside it
    assert is_wall(wall)
    page = (wall / "index.html").read_text()
    assert "<title>Us &amp; &lt;%COUNT%&gt;</title>" in page
    assert GENERATOR in page
    assert "12 photos" in page
    names = read_script(wall / "data" / "names.js", "names")
    assert names == [album.name(item) for item in album.order]
    told = read_script(wall / "data" / "wall.js", "wall")
    assert (told["count"], told["pitch"], told["width"], told["height"]) == (12, 128, 512, 384)
    similar = read_script(wall / "data" / "similar" / "000.js", "similar0")
    shown = album.features[album.order]
    for number, others in enumerate(similar):
        distances = np.linalg.norm(shown - shown[number], axis=1)
        distances[number] = np.inf
        np.testing.assert_allclose(distances[others], np.sort(distances)[:8], rtol=1e-4)


def test_photos_are_whole_and_as_large_as_they_are(tmp_path, folder):
    Image.new("RGB", (3000, 1500), "teal").save(folder / "large.jpg")
    album = arrange(read_photos(folder), "auto")
    write(album, tmp_path / "wall")
    names = read_script(tmp_path / "wall" / "data" / "names.js", "names")
    sizes = {}
    for number, name in enumerate(names):
        with Image.open(tmp_path / "wall" / "photos" / "000" / f"{number:06}.jpg") as picture:
            sizes[name] = picture.size
    assert sizes["large.jpg"] == (PHOTO_SIDES[0], PHOTO_SIDES[0] // 2)
    assert sizes["img1.png"] == (120, 90)


def test_many_photos_are_smaller_so_that_the_wall_is(album, monkeypatch):
    monkeypatch.setattr("pairup.album.wall.PHOTO_BYTES", 12 * 320**2 * 0.13)
    assert Wall(album, album.features, Style()).side == 320


@pytest.mark.parametrize("room", [1e9, 1])
def test_nothing_of_the_metadata_gets_into_it(room, tmp_path, monkeypatch):
    """Neither into photos that are made for the wall, nor into thumbnails that are copied."""
    monkeypatch.setattr("pairup.album.wall.PHOTO_BYTES", room)
    exif = Image.Exif()
    exif[0x010F], exif[0x013B] = "SecretCamera", "SecretName"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 29.5), 3: "E", 4: (2.0, 17.0, 40.0)})
    (tmp_path / "in").mkdir()
    for number in range(3):
        picture = Image.new("RGB", (600, 400), (80 * number, 90, 20))
        picture.save(tmp_path / "in" / f"{number}.jpg", exif=exif, comment=b"SecretComment")
    write(arrange(read_photos(tmp_path / "in"), "auto"), tmp_path / "wall")
    with Image.open(tmp_path / "wall" / "photos" / "000" / "000000.jpg") as shown:
        assert shown.size == ((600, 400) if room > 1 else (320, 213))
    for content in listing(tmp_path / "wall").values():
        assert b"Secret" not in content
        assert b"Exif" not in content
        assert str(tmp_path).encode() not in content


@pytest.mark.parametrize(("originals", "inside"), [("none", False), ("link", False), ("copy", True)])
def test_originals_come_only_on_request(originals, inside, album, tmp_path, folder):
    write(album, tmp_path / "wall", originals=originals)
    wall = tmp_path / "wall"
    assert (wall / "originals").exists() == inside
    told = read_script(wall / "data" / "wall.js", "wall")
    assert told["originals"] == (originals != "none")
    if originals != "none":
        links = read_script(wall / "data" / "originals.js", "originals")
        names = read_script(wall / "data" / "names.js", "names")
        for link, name in zip(links, names, strict=True):
            assert (wall / link).resolve().read_bytes() == (folder / name).read_bytes()


def test_a_zip_holds_the_same_as_a_folder(album, tmp_path):
    write(album, tmp_path / "wall")
    write(album, tmp_path / "wall.zip")
    expected = listing(tmp_path / "wall")
    with zipfile.ZipFile(tmp_path / "wall.zip") as packed:
        found = {name.removeprefix("wall/"): packed.read(name) for name in packed.namelist()}
    assert found == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "wall", "wall.zip"]
    with pytest.raises(FileExistsError, match=r"wall\.zip exists; choose another output or pass --force"):
        write(album, tmp_path / "wall.zip")
    with pytest.raises(ValueError, match="a zip cannot link to originals"):
        write(album, tmp_path / "other.zip", originals="link")


def test_a_wall_is_replaced_only_by_force_and_other_folders_never(album, tmp_path):
    wall = tmp_path / "wall"
    wall.mkdir()
    write(album, wall, Style(title="First"))  # an empty folder is no obstacle
    with pytest.raises(FileExistsError, match="exists; choose another output or pass --force"):
        write(album, wall)
    write(album, wall, Style(title="Second"), force=True)
    assert "Second" in (wall / "index.html").read_text()
    (wall / "diary.txt").write_text("dear diary")
    for place in (wall, tmp_path / "photos"):
        before = listing(place)
        with pytest.raises(FileExistsError, match=r"holds other things.*choose a new folder"):
            write(album, place, force=True)
        assert listing(place) == before
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="is a file"):
        check_wall_path(tmp_path / "file", force=True)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        check_wall_path(tmp_path / "none" / "wall")
    assert is_wall_path(tmp_path / "photos")


def test_a_wall_that_was_stopped_goes_on_where_it_was(album, tmp_path):
    write(album, tmp_path / "whole")
    steps = album.write_wall(tmp_path / "wall")
    for step in steps:
        if step.text == "drawing tiles" and step.done:
            break
    steps.close()
    assert not (tmp_path / "wall").exists()
    unfinished = tmp_path / ".wall.unfinished"
    stamps = {path: path.stat().st_mtime_ns for path in unfinished.rglob("*.jpg")}
    assert len(stamps) > 12
    write(album, tmp_path / "wall")
    for path, stamp in stamps.items():
        assert (tmp_path / "wall" / path.relative_to(unfinished)).stat().st_mtime_ns == stamp
    assert listing(tmp_path / "wall") == listing(tmp_path / "whole")
    assert not unfinished.exists()


def test_another_wall_is_not_continued(album, tmp_path):
    next(steps := album.write_wall(tmp_path / "wall"))
    steps.close()
    (tmp_path / ".wall.unfinished" / "stale.txt").write_text("of another wall")
    write(album, tmp_path / "wall", Style(title="Other"))
    assert is_wall(tmp_path / "wall")


def test_a_killed_process_leaves_no_half_of_a_wall(folder, tmp_path):
    script = textwrap.dedent("""
        import sys, time
        from pairup.album import arrange, read_photos
        album = arrange(read_photos(sys.argv[1]), "3x4")
        for step in album.write_wall(sys.argv[2]):
            if step.text == "drawing tiles" and len(sys.argv) > 3:
                print("now", flush=True)
                time.sleep(60)
        print("done", flush=True)
    """)
    command = [sys.executable, "-c", script, str(folder), str(tmp_path / "wall")]
    with subprocess.Popen([*command, "wait"], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "now\n"
        with pytest.raises(OSError, match="another process is writing"):
            write(arrange(read_photos(folder), "3x4"), tmp_path / "wall")
        child.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        child.wait(timeout=60)
    assert not (tmp_path / "wall").exists()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "done\n"
    assert is_wall(tmp_path / "wall")


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_is_told_and_gets_its_room_back(folder, tmp_path):
    """A limit of the size of files stands for the disk."""
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (900, 900, 3), dtype=np.uint8)).save(folder / "noise.png")
    script = textwrap.dedent("""
        import resource, signal, sys
        from pairup.album import arrange, read_photos
        album = arrange(read_photos(sys.argv[1]), "auto")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            for _ in album.write_wall(sys.argv[2]):
                pass
        except OSError as error:
            print(error)
    """)
    command = [sys.executable, "-c", script, str(folder), str(tmp_path / "wall")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert re.search(r"cannot write .*wall: File too large; make room or choose another output", done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_too_little_room_is_told_before_anything_is_written(album, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with pytest.raises(OSError, match=r"the wall needs about .* GB, and 0\.0 GB are free"):
        write(album, tmp_path / "wall")
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_shapes_blanks_odd_names_and_arrays(tmp_path, rng):
    names = ["a\nb", "\udcff", '<img src=x onerror="1">', "%TITLE%", *(f"n{i}" for i in range(16))]
    photos = Photos.from_arrays(rng.integers(0, 255, (20, 30, 50, 3), dtype=np.uint8), names)
    for frame in (Frame.shape("ring"), Frame.grid(5, 7), Frame.points(rng.random((20, 2)) * 9)):
        album = arrange(photos, frame)
        path = tmp_path / frame.name.replace(":", "-").replace("/", "-")
        write(album, path, Style(fit="whole", background="#204060"))
        assert sorted(read_script(path / "data" / "names.js", "names")) == sorted(names)
    one = arrange(Photos.from_arrays(np.zeros((1, 9, 9, 3), dtype=np.uint8)), "1x1")
    write(one, tmp_path / "one")
    assert read_script(tmp_path / "one" / "data" / "similar" / "000.js", "similar0") == [[]]


def test_the_page_is_light_or_dark_unless_its_background_is_drawn(album):
    def scheme(**style):
        return Wall(album, album.features, Style(**style)).scheme

    assert [scheme(), scheme(background="transparent"), scheme(background="#111"), scheme(fit="whole")] == [
        "auto",
        "auto",
        "dark",
        "light",
    ]


def test_an_album_of_vectors_is_no_wall(tmp_path):
    album = arrange(np.random.default_rng(0).random((4, 3)), "2x2")
    with pytest.raises(ValueError, match="a wall shows photos"):
        list(write_wall(Wall(album, album.features, Style()), tmp_path / "wall"))
    assert not list(tmp_path.iterdir())


def test_save_writes_walls_too(album, tmp_path):
    assert is_wall(album.save(tmp_path / "wall"))
    assert album.save(tmp_path / "wall.zip").exists()


def test_a_claim_of_another_is_waited_for_by_nobody(album, tmp_path):
    (tmp_path / ".wall.unfinished").mkdir()
    held = claim(tmp_path / ".wall.unfinished" / "lock")
    began = time.monotonic()
    with pytest.raises(OSError, match="another process is writing"):
        write(album, tmp_path / "wall")
    assert time.monotonic() - began < 30
    held.close()
    write(album, tmp_path / "wall")


@pytest.mark.parametrize("room", [1e9, 1])
def test_a_wall_shows_photos_and_not_their_previews(room, tmp_path, monkeypatch):
    from wall import exif_with

    monkeypatch.setattr("pairup.album.wall.PHOTO_BYTES", room)
    (tmp_path / "in").mkdir()
    Image.new("RGB", (160, 107), "red").save(tmp_path / "preview.jpg")
    preview = (tmp_path / "preview.jpg").read_bytes()
    Image.new("RGB", (600, 400), "white").save(tmp_path / "in" / "a.jpg", exif=exif_with(preview))
    photos = read_photos(tmp_path / "in", previews=True)
    assert photos.miniatures[..., 1].max() < 20
    write(arrange(photos, "1x1"), tmp_path / "wall")
    for path in (tmp_path / "wall").rglob("*.jpg"):
        with Image.open(path) as picture:
            assert min(picture.getpixel((40, 40))) > 250
