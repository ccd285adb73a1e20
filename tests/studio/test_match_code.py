"""The same matching as Python and as a command."""

from pairup.studio.match_code import Reading, write_command, write_python

USUAL = {"method": "auto", "metric": "auto", "overlap": 1.0, "on": "auto"}
PLAIN = [Reading(["a"]), Reading(["b"])]


def test_what_is_usual_is_left_out():
    python = write_python(["x.csv", "y's.csv"], PLAIN, USUAL)
    compile(python, "script", "exec")
    assert "x = read_table('x.csv')\n" in python
    assert """read_table("y's.csv")""" in python
    assert "method" not in python
    assert "anchors" not in python
    assert write_command(["x.csv", "a b.csv"], PLAIN, USUAL) == "pairup match x.csv 'a b.csv' -o pairs.csv"


def test_what_was_chosen_is_named():
    settings = {"method": "auto", "metric": "cosine", "overlap": "auto", "on": "none"}
    x = Reading(["a", "b c"], True, "a", {"b c": "text"}, ["d"])
    y = Reading(["e"], True, "none")
    python = write_python(["x", "y"], [x, y], settings, [[1, 2]], [(3, 4)])
    compile(python, "script", "exec")
    assert "read_table('x', id_column='a', kinds={'b c': 'text'}, drop=['d'], header=True)" in python
    assert "metric='cosine', overlap='auto', on='none', anchors=[(1, 2)], forbidden=[(3, 4)]" in python
    command = write_command(["x", "y"], [x, y], settings, anchors=True)
    assert command == (
        "pairup match x y --header --id-column x=a --drop x=d --id-column y=none --kind 'b c=text' --metric cosine "
        "--overlap auto --on none --anchors anchors.csv -o pairs.csv"
    )


def test_files_that_are_read_differently_are_no_single_command():
    assert write_command(["x", "y"], [Reading(header=True), Reading()], USUAL) is None
    assert write_command(["x", "y"], [Reading(["a"], kinds={"a": "text"}), Reading(["a"])], USUAL) is None


def test_graphs_and_distances_bring_their_names_beside_them():
    graph = Reading(graph=True, directed=True)
    python = write_python(["x", "y"], [graph, graph], USUAL)
    assert "from pairup.edge_lists import read_graph" in python
    assert "pairup.match(x.adjacency, y.adjacency).with_names(x.names, y.names)" in python
    assert write_command(["x", "y"], [graph, graph], USUAL) == "pairup match x y --graph --directed -o pairs.csv"
    assert "match(x.values, y.values, " in write_python(["x", "y"], PLAIN, USUAL | {"metric": "precomputed"})
