import datetime
import tracemalloc

import numpy as np
import pytest

from pairup import cells as cells_module
from pairup.cells import decode, find_separator, has_header, map_numbers, read_cells
from pairup.storage import lies_in_file
from pairup.tables import Table
from pairup.validation import check_set

GERMAN = "Ort;Umsatz;Tag\nKöln;1.234,50;03.04.2024\nUlm;7,5;25.12.2024\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"])
def test_encodings(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(GERMAN.encode(encoding))
    cells = read_cells(tmp_path / "a.csv")
    assert cells.names == ["Ort", "Umsatz", "Tag"]
    assert cells.columns[0] == ["Köln", "Ulm"]
    assert cells.decimal == ","
    assert "decimal commas" in cells.notes
    assert "cells separated by semicolons" in cells.notes


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
def test_separators(tmp_path, separator, suffix):
    rows = [["a", "b c", "d"], ["1", "x y", "2.5"], ["3", "z, w" if separator != "," else "z w", "4"]]
    (tmp_path / f"a{suffix}").write_text("\n".join(separator.join(row) for row in rows))
    cells = read_cells(tmp_path / f"a{suffix}")
    assert cells.names == rows[0]
    assert cells.columns == [list(column) for column in zip(*rows[1:], strict=True)]


@pytest.mark.parametrize(
    ("text", "separator"),
    [("1,5;2,5\n3,5;4,5\n", ";"), ("1;2\n3;4\n", ";"), ("a,b\n1,red;dark\n2,red;light\n", ","), ("1\n2\n", ",")],
)
def test_the_separator_splits_into_numbers(text, separator):
    assert find_separator(text, ",") == separator


def test_a_line_of_excel_names_the_separator(tmp_path):
    (tmp_path / "a.csv").write_text("sep=|\na|b\n1|2\n", newline="")
    assert read_cells(tmp_path / "a.csv").names == ["a", "b"]


def test_a_separator_at_the_end_of_lines_is_no_cell(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2,\n3,4,\n")
    assert read_cells(tmp_path / "a.csv").columns == [["1", "3"], ["2", "4"]]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["a", "b"], ["1", "2"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["who", "town"], ["ann", "Ulm"], ["bob", "Kiel"]], True),
        ([["ann", "Ulm"], ["bob", "Ulm"]], False),
        ([["ann", "1"], ["bob", "2"]], False),
        ([["day", "x"], ["2024-01-01", "red"]], True),
    ],
)
def test_headers_are_found(rows, header):
    assert has_header(rows) is header


def test_repeated_names_of_columns_are_told_apart(tmp_path):
    (tmp_path / "a.csv").write_text("a,a,b\n1,2,3\n")
    assert read_cells(tmp_path / "a.csv").names == ["a", "a.1", "b"]


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["who", "born", "a", None], ["ann", datetime.datetime(1990, 1, 2), 1.5, None], ["bob", None, 2, None]):
        book.active.append(row)
    book.create_sheet("other")
    book.save(tmp_path / "a.xlsx")
    cells = read_cells(tmp_path / "a.xlsx")
    assert cells.names == ["who", "born", "a"]
    assert cells.columns == [["ann", "bob"], [datetime.datetime(1990, 1, 2), None], [1.5, 2]]
    assert cells.notes == ("the first of 2 sheets, 'Sheet', was read",)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pairup\[excel\]'"):
        read_cells(tmp_path / "a.xlsx")


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(100 * 2**20))
    with pytest.raises(ValueError, match="it unpacks to 100 MiB"):
        read_cells(tmp_path / "a.xlsx")


def test_a_csv_of_two_gigabytes_is_refused_with_its_size_before_it_is_read(tmp_path):
    with (tmp_path / "a.csv").open("wb") as file:
        file.write(b"a,b,c\n" + b"1.25,3.5,7.75\n" * 80_000)
        file.truncate(2 * 2**30)  # sparse: it takes no room
    with pytest.raises(MemoryError, match=r"a.csv: 2.0 GiB, about 15\d{7} rows: .* free"):
        read_cells(tmp_path / "a.csv")


def test_a_large_csv_of_few_rows_is_measured_by_its_cells(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("\n".join(",".join(["1.25"] * 5000) for _ in range(40)))
    monkeypatch.setattr(cells_module, "LARGE", 2**16)
    assert read_cells(tmp_path / "a.csv").numbers.shape == (40, 5000)
    monkeypatch.setattr(cells_module, "free_memory", lambda: (2**20, "of this test"))
    with pytest.raises(MemoryError, match=r"reading and matching them takes about .* GiB, and .* are free .of this"):
        read_cells(tmp_path / "a.csv")


def test_a_large_csv_whose_rows_can_be_matched_coarse_to_fine_is_read(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,b\n" + "1.25,3.5\n" * 5000)
    monkeypatch.setattr(cells_module, "LARGE", 2**14)
    monkeypatch.setattr(
        cells_module, "free_memory", lambda: (2**26, "of this test")
    )  # all pairs would take 200 MB each
    assert len(read_cells(tmp_path / "a.csv").numbers) == 5000


def test_ten_thousand_columns_are_read(tmp_path):
    values = np.arange(30_000.0).reshape(3, 10_000)
    np.savetxt(tmp_path / "a.csv", values, delimiter=",")
    np.testing.assert_array_equal(read_cells(tmp_path / "a.csv").numbers, values)


def test_binary_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not a text table"):
        decode(bytes(range(256)), tmp_path / "a.csv")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_arrays_are_read_where_they_are(tmp_path, monkeypatch, rng, dtype):
    values = rng.normal(size=(2000, 50)).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    monkeypatch.setattr("pairup.archives.MAPPED_FROM", 0)
    check_set(read_cells(tmp_path / "x.npy").numbers, "X")  # imports what is imported on first use
    tracemalloc.start()
    table = Table.from_cells(read_cells(tmp_path / "x.npy"))
    found = check_set(table.values, "X")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, values)
    copies = 0 if dtype == np.float64 else 1  # single precision becomes double once
    assert peak < (copies + 0.5) * 8 * values.size


def test_large_files_of_numbers_stay_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("pairup.cells.MAPPED_FROM", 0)
    monkeypatch.setattr("pairup.archives.MAPPED_FROM", 0)
    Z = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "Z.npy", Z)
    found = map_numbers(tmp_path / "Z.npy")
    assert lies_in_file(found)
    np.testing.assert_array_equal(found, Z)
    Z[1, 1] = np.nan
    for other in (Z, np.arange(3), np.zeros((2, 2, 2)), np.array([["a"]])):
        np.save(tmp_path / "other.npy", other)
        assert map_numbers(tmp_path / "other.npy") is None
    (tmp_path / "other.npy").write_bytes(b"no array")
    assert map_numbers(tmp_path / "other.npy") is None
    (tmp_path / "Z.csv").write_text("1,2")
    assert map_numbers(tmp_path / "Z.csv") is None
