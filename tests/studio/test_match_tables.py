"""Files of a match, and what the page tells of them."""

import numpy as np
import pytest

from pairup.studio.match_tables import is_graph, open_named, read_side

AUTO = {"header": None, "id_column": None}


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
    assert side.columns == ["area", "windows"]
    assert side.cells == [["48", "4"], ["30", "2"]]


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


def test_a_graph_is_told_by_its_nodes(tmp_path):
    side = read_side(make_file(tmp_path, "friends.edges", "ann bob\nbob cid\n"), AUTO, graph=True)
    assert side.names == ["ann", "bob", "cid"]
    assert side.record["notes"] == ["2 edges"]
    assert side.record["head"][1] == ["bob", "2"]
    assert side.data.shape == (3, 3)
    directed = read_side(make_file(tmp_path, "friends.csv", "ann,bob\n"), AUTO, graph=True, directed=True)
    assert directed.record["notes"] == ["1 directed edges"] or directed.record["notes"] == ["1 directed edge"]


def test_graphs_are_found_by_their_ending():
    csv, edges = {"name": "x.csv"}, {"name": "x.edges"}
    assert not is_graph([csv, csv], "auto")
    assert is_graph([csv, edges], "auto")
    assert is_graph([csv, csv], "graphs")
    assert not is_graph([edges], "tables")


def test_errors_name_the_file_as_the_person_does(tmp_path):
    file = make_file(tmp_path, "../weird name.exe", "MZ")
    with pytest.raises(ValueError, match=r"weird name\.exe: this is no table or graph"), open_named(file):
        pass
    empty = make_file(tmp_path, "leer.csv", "a,b\n")
    with pytest.raises(ValueError, match=r"^leer\.csv: ") as caught:
        read_side(empty, AUTO, graph=False)
    assert str(tmp_path) not in str(caught.value)
