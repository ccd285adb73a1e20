import csv
import datetime
import io
import json

import numpy as np
import pytest

from pairup.cells import Cells
from pairup.columns import make_column
from pairup.pairs import check_extra, format_pairs, pair_rows, type_cells, write_pairs
from pairup.result import Matching
from pairup.tables import Table

X = Table.from_cells(Cells("x", ["who", "age"], [["ann", "bob", "=1+1"], ["31", "47", ""]], True), id_column="who")
Y = Table.from_cells(Cells("y", ["order", "sum"], [["A", "B"], [1.5, 2]], True), id_column="order")
MATCHING = Matching(
    np.array([1, 0, -1]), "auto", 0.5, None, [], (X.names, Y.names), confidence=np.array([0.9, 0.8, 0.0])
)


def test_rows_side_by_side():
    rows = list(pair_rows(MATCHING, (X, Y)))
    assert rows[0] == {
        "x": "ann", "y": "B", "confidence": 0.9, "x.who": "ann", "x.age": "31", "y.order": "B", "y.sum": 2,
    }  # fmt: skip
    assert rows[2]["y.sum"] is None
    assert next(pair_rows(MATCHING)) == {"x": "ann", "y": "B", "confidence": 0.9}


def test_text():
    assert format_pairs(MATCHING) == MATCHING.to_csv()
    lines = list(csv.DictReader(io.StringIO(format_pairs(MATCHING, (X, Y)))))
    assert [line["y.sum"] for line in lines] == ["2", "1.5", ""]
    answer = json.loads(format_pairs(MATCHING, (X, Y), as_json=True))
    assert answer["indices"] == [1, 0, -1]
    assert answer["pairs"][0]["x.age"] == "31"


@pytest.mark.parametrize("tables", [None, (X, Y)], ids=["names", "rows"])
@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".xlsx"])
def test_files_hold_the_same_pairs(tmp_path, suffix, tables):
    path = tmp_path / f"pairs{suffix}"
    if suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
    if suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
    write_pairs(MATCHING, path, tables)
    if suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    elif suffix == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))["pairs"]
    elif suffix == ".parquet":
        rows = parquet.read_table(path).to_pylist()
    else:
        book = openpyxl.load_workbook(path)
        head, *below = book.active.iter_rows(values_only=True)
        rows = [dict(zip(head, row, strict=True)) for row in below]
        assert book.active["A4"].data_type == "s"  # no formula
    assert [row["x"] for row in rows] == ["ann", "bob", "=1+1"]
    assert [row["y"] or None for row in rows] == ["B", "A", None]
    assert len(rows[0]) == (3 if tables is None else 7)


def test_other_suffixes_and_missing_extras_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"expected a name that ends in .csv, .json, .parquet, .xlsx"):
        write_pairs(MATCHING, tmp_path / "pairs.pdf")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ModuleNotFoundError, match=r"pairup\[excel\]"):
        check_extra("pairs.xlsx")


def test_spreadsheets_get_numbers_dates_and_truth_values(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    columns = [["1.234,50", "7,25", ""], ["03.04.2020", "", "11.11.1717"], ["ja", "nein", "ja"], ["01067", "53111", ""]]
    x = Table.from_cells(Cells("x", ["sum", "since", "news", "plz"], columns, True, decimal=","))
    write_pairs(MATCHING, tmp_path / "a.xlsx", (x, Y))
    names, *rows = openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(values_only=True)
    first, second, third = (dict(zip(names, row, strict=True)) for row in rows)
    assert (first["x.sum"], first["x.news"], first["x.plz"]) == (1234.5, True, "01067")
    assert first["x.since"].date() == datetime.date(2020, 4, 3)
    assert (second["x.sum"], second["x.since"], second["x.news"]) == (7.25, None, False)
    assert (third["x.sum"], third["x.since"]) == (None, "1717-11-11")  # Excel has no days before 1900
    assert next(pair_rows(MATCHING, (x, Y)))["x.sum"] == "1.234,50"  # csv and json keep what was written


def test_cells_that_could_not_be_read_stay_as_they_are():
    cells = [*map(str, range(30)), "unknown"]
    assert type_cells(make_column("a", cells)) is cells
    times = type_cells(make_column("a", ["2024-05-01 12:30", "2024-05-02 00:00", ""]))
    assert times == [datetime.datetime(2024, 5, 1, 12, 30), datetime.datetime(2024, 5, 2), None]
