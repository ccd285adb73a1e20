import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pairup.album import cache, reading
from pairup.album.cache import PIXELS, ROW, Reduced, Table, cache_folder, digest
from pairup.album.reading import read_photos


def make(rng, n):
    """Return keys and small versions of n photos."""
    keys = [rng.bytes(16) for _ in range(n)]
    dates = [None, datetime(2019, 7, 4, 12, 30), datetime(1957, 1, 1)]
    pictures = rng.integers(0, 255, (n, 40, 40, 3), dtype=np.uint8)
    return keys, [Reduced(pictures[i], rng.bytes(int(rng.integers(1, 900))), dates[i % 3]) for i in range(n)]


def same(one, other):
    return one is not None and (one.miniature == other.miniature).all() and one[1:] == other[1:]


@pytest.mark.parametrize("folder", ["cache", None])
def test_what_was_added_is_read(folder, tmp_path, rng):
    table = Table(folder and tmp_path / folder)
    keys, small = make(rng, 20)
    places = np.concatenate([table.add(keys[:7], small[:7]), table.add(keys[7:], small[7:])])
    assert all(same(table.read(place), item) for place, item in zip(places, small, strict=True))
    np.testing.assert_array_equal(table.miniatures(places[::-1]), [item.miniature for item in small[::-1]])
    assert table.taken(places) == [item.taken for item in small]
    assert len(set(table.sums(places).tolist())) == 20
    table.finish()
    assert all(same(table.read(place), item) for place, item in zip(places, small, strict=True))


def test_what_was_added_is_found_by_the_next_run(tmp_path, rng):
    keys, small = make(rng, 20)
    first = Table(tmp_path)
    first.add(keys, small)
    first.finish()
    table = Table(tmp_path)
    places = table.find([*keys[::-1], bytes(16)])
    assert places[-1].tolist() == [-1, -1]
    assert all(same(table.read(place), item) for place, item in zip(places, small[::-1], strict=False))


def test_the_last_of_equal_keys_counts(tmp_path, rng):
    keys, small = make(rng, 2)
    table = Table(tmp_path)
    table.add([keys[0]], [small[0]])
    table.add([keys[0]], [small[1]])
    table.finish()
    assert same(Table(tmp_path).read(Table(tmp_path).find(keys[:1])[0]), small[1])


def test_two_that_write_at_once_have_a_segment_each(tmp_path, rng):
    keys, small = make(rng, 30)
    one, other = Table(tmp_path), Table(tmp_path)
    for start in range(0, 30, 6):
        one.add(keys[start : start + 3], small[start : start + 3])
        other.add(keys[start + 3 : start + 6], small[start + 3 : start + 6])
    one.finish()
    other.finish()
    assert sorted(path.name for path in tmp_path.glob("*.rows")) == ["0.rows", "1.rows"]
    table = Table(tmp_path)
    assert all(same(table.read(place), item) for place, item in zip(table.find(keys), small, strict=True))
    table.add(keys[:1], small[:1])  # after both are done the first is free again
    assert sorted(path.name for path in tmp_path.glob("*.rows")) == ["0.rows", "1.rows"]


def test_any_flipped_or_missing_byte_is_a_miss_and_never_a_wrong_picture(tmp_path, rng):
    keys, small = make(rng, 12)
    table = Table(tmp_path)
    table.add(keys, small)
    table.finish()
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    missed = 0
    for path, content in whole.items():
        if path.suffix == ".lock":
            continue
        for _ in range(25):
            at = int(rng.integers(len(content)))
            flipped = content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
            path.write_bytes(flipped if rng.random() < 0.7 else content[:at])
            damaged = Table(tmp_path)
            for key, item in zip(keys, small, strict=True):
                place = damaged.find([key])[0]
                found = damaged.read(place) if place[0] >= 0 else None
                missed += found is None
                assert found is None or same(found, item)
        path.write_bytes(content)
    assert missed >= 60


def test_a_row_that_was_not_finished_is_written_over(tmp_path, rng):
    keys, small = make(rng, 6)
    table = Table(tmp_path)
    table.add(keys[:3], small[:3])
    table.finish()
    for name, cut in (("rows", 7), ("miniatures", 100)):  # killed while the third was written
        path = tmp_path / f"0.{name}"
        path.write_bytes(path.read_bytes()[:-cut])
    table = Table(tmp_path)
    assert (table.find(keys[:3])[:, 0] >= 0).tolist() == [True, True, False]
    table.add(keys[2:], small[2:])
    table.finish()
    assert (tmp_path / "0.rows").stat().st_size == 6 * ROW.itemsize
    assert (tmp_path / "0.miniatures").stat().st_size == 6 * PIXELS
    table = Table(tmp_path)
    assert all(same(table.read(place), item) for place, item in zip(table.find(keys), small, strict=True))


def test_files_of_version_1_are_removed(tmp_path, rng):
    (tmp_path / "0123.photo").write_bytes(b"old")
    (tmp_path / "other.txt").write_bytes(b"not ours")
    Table(tmp_path).add(*make(rng, 1))
    assert not (tmp_path / "0123.photo").exists()
    assert (tmp_path / "other.txt").exists()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, rng):
    (tmp_path / "file").touch()
    table = Table(tmp_path / "file")
    keys, small = make(rng, 3)
    places = table.add(keys, small)
    assert same(table.read(places[2]), small[2])


def test_a_lock_with_something_else_in_it_is_no_obstacle(tmp_path, rng):
    (tmp_path / "0.lock").write_bytes(b"this is no database" * 100)
    table = Table(tmp_path)
    table.add(*make(rng, 1))
    assert [path.name for path in tmp_path.glob("*.rows")] == ["0.rows"]


@pytest.mark.parametrize("place", [0, 500_000, 999_999])
def test_the_digest_changes_with_the_beginning_the_middle_and_the_end(place, tmp_path):
    content = bytearray(1_000_000)
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "same").write_bytes(content)
    content[place] = 1
    (tmp_path / "other").write_bytes(content)
    assert digest(tmp_path / "a") == digest(tmp_path / "same") != digest(tmp_path / "other")
    assert digest(tmp_path / "a") != digest(tmp_path / "a", "preview")


def test_the_folder_follows_the_environment(tmp_path, monkeypatch):
    assert cache_folder().name == "thumbnails"
    monkeypatch.delenv("PAIRUP_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == Path(tmp_path, "pairup", "thumbnails")


def test_the_second_reading_comes_from_the_cache(folder, monkeypatch):
    first = read_photos(folder)

    def refuse(*_):
        raise AssertionError("decoded again")

    monkeypatch.setattr(reading, "decode", refuse)
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)
    assert [p.thumbnail for p in first] == [p.thumbnail for p in again]
    assert not again.skipped


def test_damaged_entries_are_repaired_in_passing(folder, own_cache, monkeypatch):
    first = read_photos(folder).miniatures
    with open(own_cache / "0.miniatures", "r+b") as file:
        file.seek(5 * PIXELS + 17)
        file.write(b"damage")
    decoded = []
    real = reading.decode
    monkeypatch.setattr(reading, "decode", lambda path, side: decoded.append(path.name) or real(path, side))
    for expected in (["img6.png"], ["img6.png"]):  # the second time nothing more is decoded
        again = read_photos(folder)
        np.testing.assert_array_equal(first, again.miniatures)
        assert decoded == expected


def test_changed_content_is_read_anew(folder):
    before = read_photos(folder).miniatures
    Image.new("RGB", (120, 90), "magenta").save(folder / "img1.png")
    after = read_photos(folder).miniatures
    assert (before[0] != after[0]).any()
    np.testing.assert_array_equal(before[1:], after[1:])


def test_the_format_of_a_row_has_not_changed():
    """A change needs a new version: rows of this one would be read as something else."""
    assert (cache.VERSION, ROW.itemsize, PIXELS) == (2, 48, 4800)
