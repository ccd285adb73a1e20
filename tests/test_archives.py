import io
import json
import os
import struct
import tracemalloc
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from scipy import sparse

from pairup import archives
from pairup.archives import (
    DamagedError,
    NewerFormatError,
    check_format,
    expect,
    is_count,
    is_number,
    open_archive,
    parse_json,
    read_array,
    read_json,
    refuse_damage,
)


def opened(path):
    return open_archive(path, "a saved thing", "a file of save")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_they_were(save, tmp_path, rng):
    stored = {
        "f8": rng.normal(size=(5, 3)),
        "f4": rng.normal(size=4).astype(np.float32),
        "turned": np.asfortranarray(rng.normal(size=(5, 3))),
        "other": rng.normal(size=(2, 2)).astype(">f8"),
        "i4": np.arange(-3, 3, dtype=np.int32),
        "u1": np.arange(6, dtype=np.uint8),
        "empty": np.zeros((0, 7)),
        "one": np.array(3.5),
    }
    save(tmp_path / "a.npz", **stored, text=np.array("häm\nlet"))
    with opened(tmp_path / "a.npz") as archive:
        for name, array in stored.items():
            found = archive.read(name, "iuf", array.shape)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == (np.intp if array.dtype.kind in "iu" else np.float64)
        assert archive.read_text("text") == "häm\nlet"
        assert "one" in archive
        assert "two" not in archive


def test_any_length_and_bounds(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(6.0).reshape(2, 3), b=np.array([0, np.nan]))
    with opened(tmp_path / "a.npz") as archive:
        assert archive.read_finite("a", 0, 5, (2, None)).shape == (2, 3)
        for bounds in ((1, 5), (0, 4)):
            with pytest.raises(ValueError, match=r"a should lie between .* got values from 0 to 5"):
                archive.read_finite("a", *bounds, (2, 3))
        with pytest.raises(ValueError, match=r"a should have the shape \(3, \*\) or \(0\), got \(2, 3\)"):
            archive.read("a", "f", (3, None), (0,))
        with pytest.raises(ValueError, match="b should lie between"):
            archive.read_finite("b", -np.inf, np.inf, (2,))


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.array([1, None]), "not one that NumPy writes for numbers or text"),
        (np.zeros(2, dtype=[("a", "f8")]), "not one that NumPy writes for numbers or text"),
        (np.zeros(2, dtype="M8[s]"), "not one that NumPy writes for numbers or text"),
        (np.zeros(2, dtype=complex), "not one that NumPy writes for numbers or text"),
        (np.array(["a", "b"]), "a should hold numbers, got text"),
        (np.zeros(2, dtype=np.longdouble), "a holds numbers of 16 bytes"),
    ],
)
def test_kinds_that_nobody_saves_are_refused(array, reason, tmp_path):
    if array.dtype == np.longdouble and array.itemsize == 8:
        pytest.skip("long double is double here")
    np.savez(tmp_path / "a.npz", a=array)
    with (
        pytest.raises(ValueError, match=rf"a\.npz is not a saved thing \(.*{reason}.*; expected a file of save"),
        opened(tmp_path / "a.npz") as archive,
    ):
        archive.read("a", "f", (2,))


def write(path, content, compression=ZIP_DEFLATED, name="a.npy"):
    with ZipFile(path, "w", compression) as archive:
        archive.writestr(name, content)
    return path


def test_odd_archives_are_refused(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(2))
    good = buffer.getvalue()
    encrypted = bytearray(write(tmp_path / "e.npz", good).read_bytes())
    encrypted[encrypted.rindex(b"PK\1\2") + 8] |= 1
    many = write(tmp_path / "m.npz", good)
    with ZipFile(many, "a") as archive:
        for number in range(2000):
            archive.writestr(f"{number}.npy", b"")
    with_locator = write(tmp_path / "l.npz", good).read_bytes()
    cases = {
        "no zip archive": b"hello",
        "list of members has": many.read_bytes(),
        "form for huge archives": with_locator[:-22] + b"PK\6\7" + bytes(16) + with_locator[-22:],
        "is encrypted": bytes(encrypted),
        "compressed in an unusual way": write(tmp_path / "b.npz", good, ZIP_BZIP2).read_bytes(),
        "not an array of NumPy": write(tmp_path / "c.npz", b"hello").read_bytes(),
        "it lacks a": write(tmp_path / "d.npz", good, name="b.npy").read_bytes(),
        "should have 16 bytes by its shape, got 17": write(tmp_path / "f.npz", good + b"0").read_bytes(),
        "should have 16 bytes by its shape, got 15": write(tmp_path / "g.npz", good[:-1]).read_bytes(),
    }
    for reason, content in cases.items():
        (tmp_path / "odd.npz").write_bytes(content)
        with (
            pytest.raises(ValueError, match=rf"odd\.npz is not a saved thing \(.*{reason}"),
            opened(tmp_path / "odd.npz") as archive,
        ):
            archive.read("a", "f", (2,))


def test_long_texts_are_not_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", a=np.array("x" * 100))
    monkeypatch.setattr(archives, "MOST_TEXT", 99)
    with (
        pytest.raises(ValueError, match="a has 100 characters, at most 99 are plausible"),
        opened(tmp_path / "a.npz") as archive,
    ):
        archive.read_text("a")


def test_data_that_do_not_fit_into_memory_are_not_read(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 100000000), }\n"
    write(tmp_path / "a.npz", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header)
    with (
        pytest.raises(ValueError, match=r"a would take 745058\.1 GiB, more memory than is free"),
        opened(tmp_path / "a.npz") as archive,
    ):
        archive.read("a", "f", (None, None))


def test_whatever_a_reader_raises_becomes_one_error_that_names_the_file():
    for error in (EOFError(), RecursionError("deep"), struct.error("short"), OverflowError("large"), OSError(5, "bad")):
        with (
            pytest.raises(ValueError, match=r"^a\.npz is not a thing \(.+\); expected another$"),
            refuse_damage("a.npz", "a thing", "another"),
        ):
            raise error
    with pytest.raises(ValueError, match=r"JSON|nested|recursion"), refuse_damage("a.npz", "JSON", "another"):
        json.loads("[" * 100_000)
    with (
        pytest.raises(ZeroDivisionError),
        refuse_damage("a.npz", "a thing", "another"),
    ):  # a fault of ours is not the file's
        1 / 0  # noqa: B018


def test_formats():
    check_format("a", 1, 2)
    check_format("a", 2, 2)
    with (
        pytest.raises(NewerFormatError, match="a has format 3, and this pairup reads formats up to 2; upgrade it"),
        refuse_damage("a", "a thing", "another"),
    ):
        check_format("a", 3, 2)
    for wrong in (0, -1, True, None, 1.5, "1", [1]):
        with pytest.raises(ValueError, match="format should be a whole number from 1 on, got"):
            check_format("a", wrong, 2)


def test_numbers_and_counts():
    assert [is_number(v, 0, 1) for v in (0, 1, 0.5, -0.1, 2, True, None, "0", float("nan"))] == [True] * 3 + [False] * 6
    assert is_number(float("nan"))
    assert [is_count(v, -1, 3) for v in (-1, 3, -2, 4, 1.0, True, None, 10**400)] == [True] * 2 + [False] * 6
    with pytest.raises(ValueError, match="wrong"):
        expect(False, "wrong")


def test_folders_and_missing_files(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(OSError, match=os.path.basename(path)), opened(path):
            pass


def test_a_small_file_does_not_take_all_memory(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "packed.npz", a=np.zeros(5000), b=np.zeros(5000))
    np.savez(tmp_path / "plain.npz", a=np.zeros(5000), b=np.zeros(5000))
    monkeypatch.setattr(archives, "MOST_PACKED", 50_000)
    for name in ("packed.npz", "plain.npz"):
        with opened(tmp_path / name) as archive:
            assert archive.read("a", "f", (5000,)).sum() == 0
            if name == "plain.npz":
                assert archive.read("b", "f", (5000,)).sum() == 0
            else:
                with pytest.raises(ValueError, match="with b it would unpack to more than 10 times its size"):
                    archive.read("b", "f", (5000,))


PARTS = ["[],", "{},", '{"a":1.5},', "1.5,", '"ab",', "[[1.5]],", '{"a":{"b":[]}},', '"\U0001f600é",', "123456789,"]


@pytest.mark.parametrize("part", PARTS)
def test_json_takes_no_more_memory_than_was_estimated(part, monkeypatch):
    text = "[" + part * (10**6 // len(part)) + "0]"
    asked = []
    monkeypatch.setattr(archives, "_check_json", lambda size, objects=0: asked.append(2 * size + objects))
    tracemalloc.start()
    try:
        read = read_json(io.BytesIO(text.encode()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == json.loads(text)
    assert peak < max(asked) + 10**6 < 12 * peak


@pytest.mark.parametrize(
    ("start", "part", "count"), [("[", "[],", 8_000_000), ('{"a": "', "x", 201_000_000), ("", "é", 51_000_000)]
)
def test_json_that_would_take_too_much_memory_is_not_parsed(start, part, count):
    text = start + part * count
    for read in (parse_json, lambda text: read_json(io.BytesIO(text.encode()))):
        with pytest.raises(ValueError, match=r"would take up to \d+ MB of memory, at most 400 MB are plausible"):
            read(text)


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_json_in_too_many_brackets_is_told(bracket):
    with pytest.raises(ValueError, match="its brackets are nested too deeply"):
        parse_json(bracket * 100_000)


def test_an_array_that_does_not_fit_into_memory_is_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", np.zeros(5000))
    assert read_array(tmp_path / "a.npz").shape == (5000,)
    monkeypatch.setattr(archives, "free_memory", lambda: (30_000, "of this machine"))
    with pytest.raises(MemoryError, match="arr_0 unpacks to 40128 bytes"):
        read_array(tmp_path / "a.npz")


def test_a_sparse_matrix_is_told_from_a_table(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(np.eye(3)))
    with pytest.raises(DamagedError, match=r"a sparse matrix; load it by scipy\.sparse\.load_npz"):
        read_array(tmp_path / "x.npz")
