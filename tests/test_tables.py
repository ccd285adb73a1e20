import datetime
import json
from decimal import Decimal

import numpy as np
import pytest

from pairup.cells import Cells
from pairup.tables import NO_ID, Table, as_table, is_table, plain_name, read_anchors, read_numbers, read_table

VALUES = np.array([[1.0, 2.5], [3.0, -4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "1,2.5\n3,-4\n5,6\n"),
        ("a.csv", "first,second\r\n1,2.5\r\n3,-4\r\n5,6"),
        ("a.csv", "\ufefffirst,second\n1,2.5\n3,-4\n5,6\n\n"),
        ("a.csv", '"1","2.5"\n"3","-4"\n"5","6"\n'),
        ("a.tsv", "1\t2.5\n3\t-4\n5\t6\n"),
        ("a.txt", "1 2.5\n3  -4\n5 6\n"),
    ],
    ids=["plain", "header", "byte order mark", "quoted", "tsv", "blanks"],
)
def test_text_tables(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    table = read_table(tmp_path / name)
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.names == [0, 1, 2]


def test_arrays(tmp_path):
    np.save(tmp_path / "a.npy", VALUES.astype(np.float32))
    np.savez(tmp_path / "a.npz", anything=VALUES)
    np.save(tmp_path / "pictures.npy", np.zeros((4, 2, 3), dtype=np.uint8))
    np.testing.assert_array_equal(read_table(tmp_path / "a.npy").values, VALUES)
    np.testing.assert_array_equal(read_table(tmp_path / "a.npz").values, VALUES)
    assert read_table(tmp_path / "pictures.npy").values.shape == (4, 6)


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"id": ["p", "q", "r"], "a": VALUES[:, 0], "b": VALUES[:, 1]})
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", id_column="id")
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.names == ["p", "q", "r"]


def test_id_columns_by_name_and_by_number(tmp_path):
    (tmp_path / "named.csv").write_text("who,a,b\nann,1,2.5\nbob,3,-4\ncy,5,6\n")
    (tmp_path / "bare.csv").write_text("ann,1,2.5\nbob,3,-4\ncy,5,6\n")
    for name, column in (("named.csv", "who"), ("named.csv", "0"), ("bare.csv", "0")):
        table = read_table(tmp_path / name, id_column=column)
        np.testing.assert_array_equal(table.values, VALUES)
        assert table.names == ["ann", "bob", "cy"]


def test_a_numeric_header_can_be_forced(tmp_path):
    (tmp_path / "years.csv").write_text("2001,2002\n1,2.5\n3,-4\n5,6\n")
    np.testing.assert_array_equal(read_table(tmp_path / "years.csv", header=True).values, VALUES)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"x,y\n", "no rows below the header"),
        ("a.csv", b"1,2\n3\n", "row 2 has 1 cell and row 1 has 2; check whether the file is truncated"),
        ("a.csv", b"1,\xff\x00\x01", "not a text table"),
        ("a.npy", b"\x93NUMPY\x01\x00", "cannot be read as a table|damaged or truncated"),
        ("a.npz", b"PK\x03\x04 broken", "cannot be read as a table|damaged or truncated"),
        ("a.npz", b"", "cannot be read as a table|damaged or truncated"),
        ("a.parquet", b"not parquet", "cannot be read as parquet"),
        ("a.ods", b"", "unknown kind of table '.ods'"),
    ],
)
def test_unreadable_tables_say_why(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


def test_a_truncated_npy_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((100, 10)))
    whole = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(whole[:500])
    with pytest.raises(ValueError, match=r"cannot be read as a table|damaged or truncated"):
        read_table(tmp_path / "a.npy")


def test_pickles_are_not_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="cannot be read as a table"):
        read_table(tmp_path / "a.npy")


def test_missing_files_and_columns(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="no column 'z'; the columns are x, y"):
        read_table(tmp_path / "a.csv", id_column="z")


def test_anchors_are_read_by_name_with_or_without_a_header(tmp_path):
    (tmp_path / "bare.csv").write_text("ann,1\n cy , 0\n")
    (tmp_path / "pairs.csv").write_text("x,y,confidence\nann,1,0.9\ncy,0,0.8\n")
    for name in ("bare.csv", "pairs.csv"):
        assert read_anchors(tmp_path / name, ["ann", "bob", "cy"], [0, 1]) == [(0, 1), (2, 0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("ann\n", "expected two columns, x and y"), ("eve,1\n", "names 'eve', which is no row of X")],
)
def test_bad_anchors_say_why(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_anchors(tmp_path / "a.csv", ["ann"], [0, 1])


@pytest.mark.parametrize("name", ["two\nlines", "a\u2028b", "a\x0bb", "a\x85b", 'a "quoted" one', "a, b"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_names_come_through_whole(tmp_path, name, end):
    quoted = '"' + name.replace('"', '""') + '"'
    rows = ["who,a,b", f"{quoted},1,2.5", "bob,3,-4", "", "cy,5,6"]
    (tmp_path / "a.csv").write_text(end.join(rows), encoding="utf-8", newline="")
    table = read_table(tmp_path / "a.csv", id_column="who")
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.names == [name, "bob", "cy"]


def test_names_of_parquet_can_be_written(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    ids = {
        "date": [datetime.date(2024, 1, day) for day in (1, 2, 3)],
        "decimal": [Decimal("1.50"), Decimal("2.00"), Decimal("3.25")],
        "bytes": [b"ann", b"b\xff", b"cy"],
        "time": pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
    }
    expected = {
        "date": ["2024-01-01", "2024-01-02", "2024-01-03"],
        "decimal": ["1.50", "2.00", "3.25"],
        "bytes": ["ann", "b\\xff", "cy"],
        "time": ["2024-01-01 00:00:00", "2024-01-02 00:00:00", "2024-01-03 00:00:00"],
    }
    for kind, names in ids.items():
        pandas.DataFrame({"id": names, "a": VALUES[:, 0], "b": VALUES[:, 1]}).to_parquet(tmp_path / "a.parquet")
        assert read_table(tmp_path / "a.parquet", id_column="id").names == expected[kind]


@pytest.mark.parametrize(
    "name",
    [3, "ann", None, True, 1.5, np.int64(3), np.nan, np.inf, b"\xff", Decimal("1e5"), "\udcff", (1, 2), object()],
)
def test_plain_names_can_be_written_as_json_and_utf8(name):
    plain = plain_name(name)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    str(plain).encode()
    assert plain_name(plain) == plain


def test_anchors_by_names_that_are_not_text(tmp_path):
    (tmp_path / "a.csv").write_text("2024-01-02,b\n")
    dates = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    assert read_anchors(tmp_path / "a.csv", dates, [b"a", b"b"]) == [(1, 1)]


def test_only_names_that_anchors_use_have_to_be_unique(tmp_path):
    (tmp_path / "a.csv").write_text("bob,0\n")
    assert read_anchors(tmp_path / "a.csv", ["ann", "bob", "ann"], [0, 1, 2]) == [(1, 0)]
    (tmp_path / "a.csv").write_text("bob,0\nann,1\n")
    with pytest.raises(ValueError, match="pair 2 names 'ann', as 2 rows of X are called"):
        read_anchors(tmp_path / "a.csv", ["ann", "bob", "ann"], [0, 1, 2])


def write(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding, newline="")
    return path


PEOPLE = "customer,city,age,since,news\nC1,Ulm,31,2020-05-01,yes\nC2,Kiel,47,2021-01-31,no\nC3,Ulm,22,2022-12-24,yes\n"


def test_kinds_names_and_sentences_of_a_mixed_table(tmp_path):
    table = read_table(write(tmp_path / "a.csv", PEOPLE))
    assert [column.kind for column in table.columns] == ["id", "category", "number", "date", "boolean"]
    assert (table.names, table.id_column, table.found_id) == (["C1", "C2", "C3"], "customer", True)
    record = table.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert [column["use"] for column in record["columns"]] == ["names"] + ["encoded"] * 4
    assert all(column["text"] for column in record["columns"])
    assert table.values.shape == (3, 2 + 1 + 1 + 1)


def test_decisions_can_be_revised_without_reading_again(tmp_path):
    table = read_table(write(tmp_path / "a.csv", PEOPLE))
    (tmp_path / "a.csv").unlink()
    revised = table.revise(id_column="none", kinds={"age": "category"}, drop=["since"])
    assert revised.names == [0, 1, 2]
    uses = {column["name"]: (column["kind"], column["use"]) for column in revised.to_dict()["columns"]}
    assert uses["customer"] == ("text", "encoded")
    assert uses["age"] == ("category", "encoded")
    assert uses["since"] == ("date", "dropped")
    assert table.revise(id_column="age").names == ["31", "47", "22"]
    with pytest.raises(ValueError, match="no column 'weight'; the columns are customer, city"):
        table.revise(drop=["weight"])
    with pytest.raises(ValueError, match="kind must be one of number, category"):
        table.revise(kinds={"age": "colour"})
    with pytest.raises(ValueError, match="column 'city': no cell can be read as a number"):
        table.revise(kinds={"city": "number"})


def test_a_table_of_ids_alone_keeps_one_to_compare(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "id\n1\n2\n3\n"))
    np.testing.assert_array_equal(table.values, [[1], [2], [3]])
    both = read_table(write(tmp_path / "b.csv", "id,code\n1,A1\n2,B2\n3,C3\n"))
    assert both.names == ["1", "2", "3"]
    assert both.values.shape[1] > 0


def test_repeated_ids_are_told(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "who,a\nann,1\nann,2\nbob,3\n"), id_column="who")
    assert table.names == ["ann", "ann", "bob"]
    assert "1 row with a name that another row has too" in table.to_dict()["notes"]


def test_plain_numbers_are_taken_bit_for_bit(tmp_path, rng):
    values = rng.normal(size=(7, 3)) * 1e-7
    np.savetxt(tmp_path / "a.csv", values, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    table = read_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(table.values, values)
    assert {column["text"] for column in table.to_dict()["columns"]} == {"used as it is"}
    with_constant = np.column_stack([values, np.ones(7)])
    np.savetxt(tmp_path / "b.csv", with_constant, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    np.testing.assert_array_equal(read_table(tmp_path / "b.csv").values, with_constant)


def test_numbers_of_a_prior_are_read_or_refused(tmp_path):
    np.testing.assert_array_equal(read_numbers(write(tmp_path / "a.csv", "1,2.5\n3,-4\n5,6\n")), VALUES)
    with pytest.raises(ValueError, match="row 2, column 'b' holds 'red', expected a number"):
        read_numbers(write(tmp_path / "b.csv", "a,b\n1,red\n2,blue\n"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_of_both_kinds(library):
    frames = pytest.importorskip(library)
    cells = {
        "name": ["ann", "bob", "cy"],
        "born": [datetime.date(1990, 1, d) for d in (1, 2, 3)],
        "a": [1.0, None, 3.0],
    }
    table = as_table(frames.DataFrame(cells), "X")
    assert [column.kind for column in table.columns] == ["id", "date", "number"]
    assert table.names == ["ann", "bob", "cy"]
    assert table.columns[2].missing == 1
    assert not np.isnan(table.values).any()


def test_the_index_of_pandas_names_the_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [7, 8, 9], "a": [1.0, 2.0, 4.0]}, index=["p", "q", "r"])
    table = as_table(frame, "X")
    assert table.names == ["p", "q", "r"]
    np.testing.assert_array_equal(table.values, [[1.0], [2.0], [4.0]])
    assert as_table(frame.reset_index(drop=True), "X").names == [7, 8, 9]


def test_arrays_are_tables_of_numbers():
    assert not is_table(VALUES)
    table = as_table(VALUES, "X")
    assert isinstance(table, Table)
    np.testing.assert_array_equal(table.values, VALUES)
    assert as_table(table, "X") is table
    assert is_table(table)
    assert NO_ID == "none"
    assert Table.from_cells(Cells("x", ["none", "a"], [["u", "v"], [1, 2]], True), id_column="none").names == ["u", "v"]


def test_different_dates_in_the_first_column_name_the_rows_and_are_compared(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "day,a\n2024-01-01,1\n2024-01-02,4\n2024-01-04,2\n"))
    assert table.names == ["2024-01-01", "2024-01-02", "2024-01-04"]
    record = table.to_dict()
    assert [column["use"] for column in record["columns"]] == ["encoded", "encoded"]
    assert "rows named by the dates of 'day'" in record["notes"]
    assert table.revise(id_column="a").names == ["1", "4", "2"]
    assert table.revise(drop=["a"]).names == table.names
    assert table.revise(id_column="none").names == [0, 1, 2]


def test_a_first_column_that_counts_the_rows_names_them(tmp_path):
    rows = [(4003, 1.5), (4001, 0.5), (4002, 2.5), (4000, 7.5), (4004, 3.5)]
    text = "".join(f"{a},{b}\n" for a, b in rows)
    table = read_table(write(tmp_path / "a.csv", "account,sum\n" + text))
    assert (table.id_column, table.found_id, table.names) == ("account", True, ["4003", "4001", "4002", "4000", "4004"])
    assert "count the rows" in str(table.encode().record)
    assert table.values.shape == (5, 1)
    assert table.revise(id_column="none").values.shape == (5, 2)  # and the user has the last word
    assert table.revise(kinds={"account": "number"}).values.shape == (5, 2)
    assert read_table(write(tmp_path / "b.csv", "year,sum\n" + text)).id_column is None
    assert read_table(write(tmp_path / "c.csv", text)).id_column is None  # no name, so a column like others
    assert read_table(write(tmp_path / "d.csv", "account,sum\n" + text.replace("4004", "4009"))).id_column is None
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=["account", "sum"])
    assert Table.from_frame(frame).names == [4003, 4001, 4002, 4000, 4004]
    assert Table.from_frame(frame[["sum", "account"]]).id_column is None


def test_postcodes_are_no_numbers(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "plz,sum\n" + "01067,1\n53111,2\n" * 5))
    assert [column.kind for column in table.columns] == ["category", "number"]
    assert "codes, not numbers" in str(table.encode().record)
    assert table.revise(kinds={"plz": "number"}).columns[0].values[0] == 1067
    table = read_table(write(tmp_path / "b.csv", "month,sum\n" + "01,1\n12,2\n" * 5))
    assert [column.kind for column in table.columns] == ["number", "number"]
