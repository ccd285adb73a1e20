"""Files of a match, and what the page tells of them."""

import numpy as np
import pytest

from pairup.studio.match_tables import is_graph, join_sides, list_cells, names_differ, read_side

AUTO = {"header": None, "id_column": None, "kinds": {}, "drop": []}
USUAL = {"metric": "auto", "method": "auto", "on": "auto"}


def make_file(tmp_path, name, text):
    """A file as the studio keeps it: without an ending."""
    path = tmp_path / f"{len(list(tmp_path.iterdir())):016x}"
    path.write_text(text, encoding="utf-8")
    return {"path": path, "name": name, "own_path": None}


def test_a_table_is_told_column_by_column(tmp_path):
    side = read_side(make_file(tmp_path, "rooms.csv", "room,area,windows\nhall,48,4\nattic,30,2\n"), AUTO, graph=False)
    assert side.names == ["hall", "attic"]
    record = side.record
    assert (record["rows"], record["id_column"], record["header"]) == (2, "room", True)
    assert [(c["name"], c["kind"], c["use"]) for c in record["columns"]] == [
        ("room", "id", "names"),
        ("area", "number", "encoded"),
        ("windows", "number", "encoded"),
    ]
    assert record["head"] == [["hall", "48", "4"], ["attic", "30", "2"]]
    assert list_cells(side, record) == (["area", "windows"], [["48", "4"], ["30", "2"]])


def test_another_column_or_none_names_the_rows(tmp_path):
    file = make_file(tmp_path, "numbers.csv", "a,b,c\n1,2,3\n4,5,7\n8,9,1\n")
    assert read_side(file, AUTO | {"id_column": "b"}, graph=False).names == ["2", "5", "9"]
    none = read_side(file, AUTO | {"id_column": "none"}, graph=False)
    assert none.names == [0, 1, 2]
    assert none.record["id_column"] is None
    assert len(read_side(file, AUTO, graph=False).names) == 3


def test_the_first_row_may_be_data(tmp_path):
    file = make_file(tmp_path, "numbers.csv", "1,2\n3,4\n5,9\n")
    assert read_side(file, AUTO, graph=False).record["header"] is False
    named = read_side(file, AUTO | {"header": True}, graph=False)
    assert named.record["rows"] == 2
    assert named.record["head_columns"] == ["1", "2"]


def test_arrays_are_told_too(tmp_path):
    path = tmp_path / "array"
    with path.open("wb") as file:
        np.save(file, np.arange(6.0).reshape(3, 2))
    side = read_side({"path": path, "name": "array.npy", "own_path": None}, AUTO, graph=False)
    assert side.record["rows"] == 3
    assert side.record["head"][1] == ["2", "3"]
    assert list_cells(side, side.record) == ([], [["0", "1"], ["2", "3"], ["4", "5"]])  # their columns have no names


@pytest.mark.parametrize(
    ("cell", "listed"),
    [("-2.053592173777285", "-2.054"), ("68.0", "68"), ("22342.123456", "22342"), ("48.13", "48.13"), ("v1.0", "v1.0")],
)
def test_numbers_beside_a_pair_are_short(tmp_path, cell, listed):
    side = read_side(make_file(tmp_path, "rooms.csv", f"room,size\nhall,{cell}\nattic,3\n"), AUTO, graph=False)
    assert list_cells(side, side.record)[1][0] == [listed]
    assert side.record["head"][0][1] == cell  # the look shows what was read


def test_a_graph_is_told_by_its_nodes(tmp_path):
    side = read_side(make_file(tmp_path, "friends.edges", "ann bob\nbob cid\n"), AUTO, graph=True)
    assert side.names == ["ann", "bob", "cid"]
    assert side.record["notes"] == ["2 edges"]
    assert side.record["head"][1] == ["bob", "2"]
    assert side.data.shape == (3, 3)
    directed = read_side(make_file(tmp_path, "friends.csv", "ann,bob\n"), AUTO, graph=True, directed=True)
    assert directed.record["notes"] == ["1 directed edge"]


def test_columns_may_be_left_out_or_be_of_another_kind(tmp_path):
    file = make_file(tmp_path, "wines.csv", "name,year,grape\na1,1999,red\nb2,2001,white\nc3,2001,red\nd4,1999,white\n")
    side = read_side(file, AUTO | {"kinds": {"year": "category"}, "drop": ["grape"]}, graph=False)
    uses = {column["name"]: (column["kind"], column["use"]) for column in side.record["columns"]}
    assert uses["year"] == ("category", "encoded")
    assert uses["grape"][1] == "dropped"
    assert list_cells(side, side.record)[0] == ["year"]
    assert side.reading.drop == ["grape"]


def test_columns_in_common_are_compared_directly(tmp_path):
    x = make_file(tmp_path, "x.csv", "name,size,a\np1,1.0,5\np2,2.0,6\np3,3.5,9\np4,4.0,2\n")
    y = make_file(tmp_path, "y.csv", "name,size,b\nq1,3.4,1\nq2,1.1,8\nq3,2.2,7\nq4,4.1,7\n")
    sides = [read_side(file, AUTO, graph=False) for file in (x, y)]
    joined = join_sides(*sides, USUAL)
    assert joined.notes[0] == "Compared directly: size."
    assert [column["use"] for column in joined.records[0]["columns"]] == ["names", "common", "encoded"]
    apart = join_sides(*sides, USUAL | {"on": "none"})
    assert [column["use"] for column in apart.records[1]["columns"]] == ["names", "encoded", "encoded"]
    assert apart.numbers[0].shape == (4, 2)
    assert names_differ(sides)
    assert list_cells(sides[1], joined.records[1])[0] == ["size", "b"]  # what both have comes first


def test_graphs_are_found_by_their_ending():
    csv, edges = {"name": "x.csv"}, {"name": "x.edges"}
    assert not is_graph([csv, csv], "auto")
    assert is_graph([csv, edges], "auto")
    assert is_graph([csv, csv], "graphs")
    assert not is_graph([edges], "tables")


def test_errors_name_the_file_as_the_person_does(tmp_path):
    file = make_file(tmp_path, "../weird name.exe", "MZ")
    with pytest.raises(ValueError, match=r"weird name\.exe: this is no table or graph"):
        read_side(file, AUTO, graph=False)
    empty = make_file(tmp_path, "leer.csv", "a,b\n")
    with pytest.raises(ValueError, match=r"^leer\.csv: ") as caught:
        read_side(empty, AUTO, graph=False)
    assert str(tmp_path) not in str(caught.value)
