import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pairup.album import photos
from pairup.album.cache import Reduced, cache_folder, digest, load, store
from pairup.album.photos import read_photos


def test_what_was_stored_is_loaded(tmp_path, rng):
    miniature = rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)
    for taken in (None, datetime(2019, 7, 4, 12, 30)):
        store(tmp_path / "new" / "a.photo", Reduced(miniature, b"a\nb", taken))
        found = load(tmp_path / "new" / "a.photo")
        np.testing.assert_array_equal(found.miniature, miniature)
        assert found[1:] == (b"a\nb", taken)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    store(tmp_path / "file" / "a.photo", Reduced(np.zeros((40, 40, 3), np.uint8), b"", None))
    assert load(tmp_path / "file" / "a.photo") is None


@pytest.mark.parametrize(
    "content", [b"", b"no json\n" + bytes(5000), b"[]\n" + bytes(5000), b'{"taken": 1}\n' + bytes(5000)]
)
def test_damaged_entries_are_ignored(content, tmp_path):
    (tmp_path / "a.photo").write_bytes(content)
    assert load(tmp_path / "a.photo") is None


@pytest.mark.parametrize("place", [0, 500_000, 999_999])
def test_the_digest_changes_with_the_beginning_the_middle_and_the_end(place, tmp_path):
    content = bytearray(1_000_000)
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "same").write_bytes(content)
    content[place] = 1
    (tmp_path / "other").write_bytes(content)
    assert digest(tmp_path / "a") == digest(tmp_path / "same") != digest(tmp_path / "other")


def test_the_folder_follows_the_environment(tmp_path, monkeypatch):
    assert cache_folder().name == "thumbnails"
    monkeypatch.delenv("PAIRUP_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == Path(tmp_path, "pairup", "thumbnails")


def test_the_second_reading_comes_from_the_cache(folder, own_cache, monkeypatch):
    first = read_photos(folder)
    assert len(list(own_cache.iterdir())) == 12

    def refuse(*_):
        raise AssertionError("decoded again")

    monkeypatch.setattr(photos, "decode", refuse)
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)
    assert [p.thumbnail for p in first] == [p.thumbnail for p in again]
    assert not again.skipped


def test_a_broken_cache_is_passed_over(folder, own_cache):
    first = read_photos(folder)
    for file in own_cache.iterdir():
        file.write_bytes(file.read_bytes()[:99])
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)


def test_any_flipped_or_missing_byte_is_a_miss_and_repaired_in_passing(folder, own_cache, rng):
    first = read_photos(folder)
    entries = sorted(own_cache.iterdir())
    whole = [entry.read_bytes() for entry in entries]
    for entry, content in zip(entries, whole, strict=True):
        place = int(rng.integers(len(content)))
        flipped = content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]
        entry.write_bytes(flipped if rng.random() < 0.7 else content[:place])
        assert load(entry) is None
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)
    assert [photo.thumbnail for photo in again] == [photo.thumbnail for photo in first]
    assert not again.skipped
    assert [entry.read_bytes() for entry in entries] == whole


def test_an_entry_of_another_version_is_a_miss(folder, own_cache):
    """Entries had no checksum once."""
    first = read_photos(folder)
    for entry in own_cache.iterdir():
        entry.write_bytes(entry.read_bytes()[:-20])
        assert load(entry) is None
    np.testing.assert_array_equal(read_photos(folder).miniatures, first.miniatures)


def test_changed_content_is_read_anew(folder):
    before = read_photos(folder).miniatures
    Image.new("RGB", (120, 90), "magenta").save(folder / "img1.png")
    after = read_photos(folder).miniatures
    assert (before[0] != after[0]).any()
    np.testing.assert_array_equal(before[1:], after[1:])
