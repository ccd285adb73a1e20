"""The same matching as Python and as a command."""

import pytest

from pairup.studio.match_code import write_command, write_python

USUAL = {"method": "auto", "metric": "auto", "overlap": 1.0, "on": "auto"}


def test_what_is_usual_is_left_out():
    calls = ["read_table({path})"] * 2
    python = write_python(["x.csv", "y's.csv"], calls, USUAL)
    compile(python, "script", "exec")
    assert "x = read_table('x.csv')\n" in python
    assert """read_table("y's.csv")""" in python
    assert "method" not in python
    assert "anchors" not in python
    assert write_command(["x.csv", "a b.csv"], [{}, {}], USUAL) == "pairup match x.csv 'a b.csv' -o pairs.csv"


def test_what_was_chosen_is_named():
    settings = {"method": "auto", "metric": "cosine", "overlap": "auto", "on": "auto"}
    python = write_python(["x", "y"], ["read_table({path}, header=True)"] * 2, settings, [[1, 2]], [(3, 4)])
    assert "metric='cosine', overlap='auto', anchors=[(1, 2)], forbidden=[(3, 4)]" in python
    command = write_command(["x", "y"], [{"--header": None, "--id-column": "a b"}] * 2, settings, anchors=True)
    expected = "pairup match x y --header --id-column 'a b' --metric cosine --overlap auto --anchors anchors.csv"
    assert command == f"{expected} -o pairs.csv"


def test_files_that_are_read_differently_are_no_single_command():
    assert write_command(["x", "y"], [{"--id-column": "a"}, {"--id-column": "b"}], USUAL) is None


@pytest.mark.parametrize(("call", "home"), [("read_graph({path})", "edge_lists"), ("read_table({path})", "tables")])
def test_graphs_and_tables_have_their_own_readers(call, home):
    assert f"from pairup.{home} import" in write_python(["x", "y"], [call, call], USUAL)
