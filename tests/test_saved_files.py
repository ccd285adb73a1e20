"""Files that earlier versions saved still load and mean the same: one of each kind and format in tests/data.

Damaged copies of them are refused by name, before they take memory.
"""

import io
import json
import os
import re
import struct
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import numpy as np
import pytest

import pairup
from pairup.album import Album
from pairup.datasets import make_voices
from pairup.voice import VoiceConverter

DATA = Path(__file__).parent / "data"


def test_a_matching_of_format_1_loads():
    m = pairup.Matching.load(DATA / "matching-1.npz")
    assert m.indices.tolist() == [3, 0, 10, 9, 8, 5, 2, 6, 4, 11, 7, 1]
    assert m.reliable is False
    assert m.reliability == pytest.approx(0.4477, abs=1e-4)
    assert m.report.splitlines()[0] == "About 45% of the pairs are expected to be right."
    assert "not reliable: " in repr(m)
    assert m.candidates(3)[0].shape == (12, 3)
    assert m.translate(m.sets[0][:2]).shape == (2, 4)
    assert len(m.to_csv().splitlines()) == 13
    assert "svg" in m._repr_html_()


def test_a_matching_of_the_paper_of_format_1_loads():
    m = pairup.Matching.load(DATA / "matching-ks-hsic-1.npz")
    assert (m.method, m.reliable, len(m.history) > 1) == ("ks-hsic", None, True)
    assert m.dependence == pytest.approx(15.9417, abs=1e-4)


def test_an_album_of_version_1_loads():
    album = Album.load(DATA / "album-1.json")
    assert album.order.tolist() == [2, 5, 1, 3, 9, 6, 4, 10, 0, 11, 8, 7]
    assert album.pins == {2: 0}
    assert album.frame.cells.shape == (12, 2)
    assert album.move(5, (2, 3)).order[11] == 5


def test_a_voice_of_format_1_loads_and_converts():
    voice = VoiceConverter.load(DATA / "voice-1.npz")
    signal = voice.convert(make_voices(n_words=4).source[3]).signal
    assert len(signal) == 8240
    assert float(np.sqrt((signal**2).mean())) == pytest.approx(0.0695, abs=1e-3)


LOADERS = {
    "matching-1.npz": pairup.Matching.load,
    "matching-ks-hsic-1.npz": pairup.Matching.load,
    "voice-1.npz": VoiceConverter.load,
    "album-1.json": Album.load,
}
ARCHIVES = [name for name in LOADERS if name.endswith(".npz")]
VALUES = (
    None,
    True,
    -1,
    0,
    0.5,
    99,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "text",
    [],
    [[]],
    [[0, 1]],
    {},
    {"a": 1},
)


def is_refused(load, path):
    """Tell whether a file is refused, in words that name it; every other exception fails the test."""
    try:
        load(path)
    except (ValueError, OSError) as error:
        message = str(error)
    else:
        return False
    assert str(path) in message
    return True


def read_members(path):
    with ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def write_members(path, members, compression=ZIP_DEFLATED):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        with ZipFile(path, "w", compression) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return path


def as_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def change_array(name, content, rng):
    """Return another array than the stored one: of other shape, type or values, most of them wrong."""
    array = np.load(io.BytesIO(content))
    changes = [
        lambda: np.asarray(array)[None],
        lambda: np.zeros((3, 3, 3)),
        lambda: array.astype(np.complex128) if array.dtype.kind in "if" else np.array(b"bytes"),
        lambda: array.astype("U30"),
        lambda: np.array("{" * int(rng.integers(1, 9000))),
        lambda: np.full(array.shape, rng.choice([np.nan, np.inf, -np.inf, 1e300, -7.0, 1e12])),
        lambda: np.full(array.shape, rng.choice([-(2**62), -2, 2**62, 12, 10**9])),
        lambda: np.full(array.shape, 2**64 - 1, dtype=np.uint64),
        lambda: np.delete(array, 0, axis=0) if array.ndim and len(array) else np.array([1, 2]),
        lambda: np.concatenate([array, array]) if array.ndim and array.size else np.array(-1),
        lambda: np.zeros(array.shape, dtype=[("a", "f8")]),
        lambda: np.zeros((0, 5)),
    ]
    return as_npy(changes[rng.integers(len(changes))]())


def damage_archive(path, target, rng):
    """Write a copy of an archive with one random fault."""
    content, members = bytearray(path.read_bytes()), read_members(path)
    kind = rng.integers(8)
    chosen = int(rng.integers(len(members)))
    name, data = members[chosen]
    if kind == 0:
        target.write_bytes(content[: rng.integers(len(content))])
    elif kind == 1:
        for place in rng.integers(len(content), size=int(rng.integers(1, 5))):
            content[place] ^= 1 << int(rng.integers(8))
        target.write_bytes(content)
    elif kind == 2:  # in the headers at the end and before each member
        marks = [found.start() for found in re.finditer(rb"PK[\1\3\5]", bytes(content))]
        content[min(marks[rng.integers(len(marks))] + int(rng.integers(46)), len(content) - 1)] = int(rng.integers(256))
        target.write_bytes(content)
    elif kind == 3:
        write_members(target, members[:chosen] + members[chosen + 1 :])
    elif kind == 4:
        write_members(target, [*members, (name, data)])
    elif kind == 5:  # in the header of the array
        place = int(rng.integers(min(120, len(data))))
        changed = data[:place] + bytes([int(rng.integers(256))]) + data[place + 1 :]
        write_members(target, [*members[:chosen], (name, changed), *members[chosen + 1 :]])
    elif kind == 6 and name != "header.npy":
        write_members(target, [*members[:chosen], (name, change_array(name, data, rng)), *members[chosen + 1 :]])
    elif members[0][0] == "header.npy":
        header = json.loads(str(np.load(io.BytesIO(members[0][1]))))
        header[rng.choice(sorted(header))] = VALUES[rng.integers(len(VALUES))]
        write_members(target, [("header.npy", as_npy(np.array(json.dumps(header)))), *members[1:]])
    else:
        write_members(target, [(n, d if n != name else d[: rng.integers(len(d))]) for n, d in members], ZIP_LZMA)


def damage_json(path, target, rng):
    """Write a copy of an album with one random fault."""
    text = path.read_bytes()
    kind = rng.integers(4)
    if kind == 0:
        target.write_bytes(text[: rng.integers(len(text) - 3)])
        return
    if kind == 1:
        place = int(rng.integers(len(text)))
        target.write_bytes(text[:place] + bytes([int(rng.integers(256))]) + text[place + 1 :])
        return
    saved = json.loads(text)
    inside = saved if kind == 2 else saved[rng.choice(["frame", "features"])]
    key = rng.choice(sorted(inside))
    if rng.random() < 0.2:
        del inside[key]
    else:
        value = VALUES[rng.integers(len(VALUES))]
        inside[key] = [*inside[key][:-1], value] if isinstance(inside[key], list) and rng.random() < 0.5 else value
    target.write_text(json.dumps(saved))


@pytest.mark.parametrize("name", LOADERS)
def test_damaged_files_are_refused_by_name_and_nothing_else_happens(name, tmp_path, rng):
    damage = damage_json if name.endswith(".json") else damage_archive
    path = tmp_path / name
    refused = 0
    for _ in range(150):
        damage(DATA / name, path, rng)
        refused += is_refused(LOADERS[name], path)
    assert refused > 100  # a flipped bit in a time stamp, for one, changes nothing


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("rate", 10**12, "rate must lie between"),
        ("rate", np.nan, "rate should lie between"),
        ("order", 10**9, "order must lie between"),
        ("length", 1e9, "frames last at most"),
        ("hop", 1e-9, "at least one sample apart"),
        ("format", 0, "format should be a whole number from 1 on, got 0"),
        ("format", -1, "format should be a whole number from 1 on, got -1"),
        ("width", 0.0, "width should lie between"),
        ("samples", np.full((12, 18), np.nan), "samples should lie between"),
        ("weights", np.zeros((11, 18)), r"weights should have the shape \(12, 18\), got \(11, 18\)"),
        ("weights", np.zeros((12, 18), dtype=object), "is not one that NumPy writes for numbers"),
        ("pitch", np.array([[5, 0.0], [5, 0.1]]), "pitch should hold mean and deviation"),
        ("mean", np.zeros(17), "mean should have the shape"),
    ],
)
def test_every_field_of_a_voice_is_checked(field, value, reason, tmp_path):
    with np.load(DATA / "voice-1.npz") as file:
        np.savez(tmp_path / "voice.npz", **(dict(file) | {field: value}))
    with pytest.raises(ValueError, match=rf"voice\.npz is not a saved voice \(.*{reason}.*expected a file of Voice"):
        VoiceConverter.load(tmp_path / "voice.npz")


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("indices", np.full(12, np.nan), "indices should hold whole numbers, got numbers"),
        ("indices", np.r_[0, np.arange(11)], "gives a row of Y to two rows of X"),
        ("indices", np.r_[12, np.arange(11)], "should lie between -1 and 11, got 0 to 12"),
        ("indices", np.arange(11), r"should have the shape \(12\), got \(11\)"),
        ("probabilities", np.full((12, 12), 2.0), "probabilities should lie between"),
        ("probabilities", np.zeros((12, 13)), r"should have the shape \(12, 12\) or \(0\), got \(12, 13\)"),
        ("X", np.full((12, 3), np.inf), "X should lie between"),
        ("history", np.zeros((64, 12), dtype=int), r"history should have the shape \(65, 12\)"),
    ],
)
def test_every_array_of_a_matching_is_checked(field, value, reason, tmp_path):
    with np.load(DATA / "matching-1.npz") as file:
        np.savez(tmp_path / "m.npz", **(dict(file) | {field: value}))
    with pytest.raises(ValueError, match=rf"m\.npz is not a saved matching \(.*{reason}"):
        pairup.Matching.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 0),
        ("format", True),
        ("names", [[0], [0]]),
        ("names", [[[]] * 12] * 2),
        ("reliability", 2),
        ("nearness", 2),
        ("reliable", "yes"),
        ("dependence", float("nan")),
        ("history", [[0, 0]] * 65),
        ("evidence", {"found": 1}),
        ("alternatives", None),
    ],
)
def test_every_field_of_a_matching_is_checked(field, value, tmp_path):
    with np.load(DATA / "matching-1.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"])) | {field: value}
    np.savez(tmp_path / "m.npz", **(arrays | {"header": np.array(json.dumps(header))}))
    with pytest.raises(ValueError, match=r"m\.npz is not a saved matching"):
        pairup.Matching.load(tmp_path / "m.npz")


@pytest.mark.parametrize("name", ARCHIVES)
def test_what_nobody_asked_for_is_not_unpacked(name, tmp_path):
    path = write_members(tmp_path / name, [*read_members(DATA / name), ("extra.npy", bytes(2**26))])
    tracemalloc.start()
    LOADERS[name](path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("shape", [(12, 10**8), (10**9, 10**9), (12, 2**22)])
def test_a_size_that_the_data_do_not_have_takes_no_memory(shape, tmp_path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(288)
    members = [(n, content if n == "X.npy" else d) for n, d in read_members(DATA / "matching-1.npz")]
    path = write_members(tmp_path / "m.npz", members)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"X should have|X would take .* more memory than is free"):
        pairup.Matching.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("name", LOADERS)
def test_what_is_no_file_is_refused(name, tmp_path):
    for path in (tmp_path, tmp_path / "none", tmp_path / "nu\0ll"):
        with pytest.raises(OSError, match="expected"):
            LOADERS[name](path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="is a pipe, socket or device"):
            LOADERS[name](tmp_path / "pipe")


@pytest.mark.parametrize("path", ["../*", "..", "no.png", "a\0b"])
def test_an_album_does_not_search_for_its_photos(path, tmp_path):
    saved = json.loads((DATA / "album-1.json").read_text())
    saved["photos"] = [{"name": str(i), "path": path} for i in range(12)]
    (tmp_path / "album.json").write_text(json.dumps(saved))
    with pytest.raises(FileNotFoundError, match=r"12 photos of .*album\.json cannot be read: .*no such file"):
        Album.load(tmp_path / "album.json")


def test_a_matching_saves_and_loads_columns_in_any_order(tmp_path):
    m = pairup.Matching.load(DATA / "matching-1.npz")
    X, Y = m.sets
    replace(m, sets=(np.asfortranarray(X), Y.astype(">f8"))).save(tmp_path / "m.npz")
    again = pairup.Matching.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(again.sets[0], X)
    np.testing.assert_array_equal(again.sets[1], Y)
    assert again == m


def test_a_large_matching_is_saved_so_that_it_loads(tmp_path, monkeypatch):
    m = pairup.Matching.load(DATA / "matching-1.npz")
    m = replace(m, sets=(np.zeros((12, 9000)), m.sets[1]))
    m.save(tmp_path / "packed.npz")
    monkeypatch.setattr("pairup.archives.MOST_PACKED", 300_000)
    m.save(tmp_path / "plain.npz")
    assert pairup.Matching.load(tmp_path / "plain.npz") == m
    with pytest.raises(ValueError, match="with X it would unpack to more than 10 times its size"):
        pairup.Matching.load(tmp_path / "packed.npz")
