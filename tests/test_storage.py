import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from pairup import storage
from pairup.storage import allocate, check_space, gather, is_dask, lies_in_file, take_rows


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "Z.npy", np.arange(12.0).reshape(6, 2))
    return np.load(tmp_path / "Z.npy", mmap_mode="r")


def test_parts_of_mapped_arrays_lie_in_files_and_copies_do_not(mapped):
    assert lies_in_file(mapped)
    assert lies_in_file(np.asarray(mapped)[1:, :1].T)
    assert not lies_in_file(mapped[[0, 2]])
    assert not lies_in_file(mapped + 1)
    assert not lies_in_file([1.0])


def test_an_array_in_a_file_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    values = allocate((1000, 3), np.float32, in_file=True)
    assert lies_in_file(values)
    assert values.dtype == np.float32
    assert not values.any()
    values[:] = 2.0
    assert values.sum() == 6000
    if os.name == "posix":
        assert list(tmp_path.iterdir()) == []
    assert not lies_in_file(allocate((1000, 3), np.float32))
    assert allocate((0, 3), np.float32, in_file=True).shape == (0, 3)


def test_a_full_disk_is_told_before_anything_is_written(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
    check_space(2**20)
    with pytest.raises(MemoryError, match=r"1 GiB are needed for temporary files, and 0.00 GiB are free in .*TMPDIR"):
        allocate((2**30,), np.uint8, in_file=True)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="POSIX")
def test_a_disk_that_fills_meanwhile_is_told(monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(MemoryError, match="set TMPDIR"):
        allocate((10,), np.uint8, in_file=True)


def test_rows_of_a_mapped_array_lie_in_a_file_again(mapped, monkeypatch):
    monkeypatch.setattr(storage, "ROWS", 2)
    rows = np.array([5, 0, 3, 3, 1])
    taken = take_rows(mapped, rows)
    assert lies_in_file(taken)
    np.testing.assert_array_equal(taken, mapped[rows])


def test_dask_arrays_are_computed_block_by_block(monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    Z = np.arange(60.0).reshape(20, 3)
    computed = []

    def note(block):
        computed.append(len(block))
        return block

    lazy = dask_array.from_array(Z, chunks=(6, 2)).map_blocks(note, meta=np.zeros((0, 0)))
    assert is_dask(lazy)
    np.testing.assert_array_equal(gather(lazy, "X"), Z)
    assert not lies_in_file(gather(lazy, "X"))
    monkeypatch.setattr(storage, "SPOOLED_FROM", 0)
    computed.clear()
    there = gather(lazy, "X")
    assert lies_in_file(there)
    np.testing.assert_array_equal(there, Z)
    assert max(computed) == 6
    cube = gather(dask_array.from_array(Z.reshape(10, 2, 3), chunks=4), "X")
    np.testing.assert_array_equal(cube, Z.reshape(10, 6))
    assert gather([1.0], "X") == [1.0]


def test_a_dask_array_of_unknown_size_is_refused():
    dask_array = pytest.importorskip("dask.array")
    Z = dask_array.from_array(np.arange(20.0), chunks=5)
    with pytest.raises(ValueError, match=r"Y is a Dask array of unknown size; call Y.compute_chunk_sizes\(\) first"):
        gather(Z[Z > 3], "Y")
