"""Edge lists and GraphML."""

import numpy as np
import pytest

from pairup.edge_lists import read_graph


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.edges", "# a comment\na b\nb c 2.5  # heavy\nd\n"),
        ("a.edgelist", "a\tb\nb\tc\t2.5\nd\n"),
        ("a.csv", "source,target,weight\na,b,1\nb,c,2.5\nd\n"),
        ("a.csv", "From,To\na,b\nb,c,2.5\nd\n"),
    ],
)
def test_lines_are_edges(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    adjacency, names = read_graph(tmp_path / name)
    assert names == ["a", "b", "c", "d"]
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1
    expected[1, 2] = expected[2, 1] = 2.5
    assert np.array_equal(adjacency.toarray(), expected)


def test_directed_edges_lead_one_way_and_repeated_ones_add_up(tmp_path):
    (tmp_path / "a.edges").write_text("a b\na b\nc c\n")
    assert read_graph(tmp_path / "a.edges", directed=True).adjacency.toarray().tolist() == [
        [0, 2, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert read_graph(tmp_path / "a.edges").adjacency.toarray()[2, 2] == 1


def test_graphml_is_read_by_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.DiGraph()
    G.add_edge("a", "b", weight=2.0)
    networkx.write_graphml(G, tmp_path / "a.graphml")
    adjacency, names = read_graph(tmp_path / "a.graphml")
    assert names == ["a", "b"]
    assert adjacency.toarray().tolist() == [[0, 2], [0, 0]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.edges", b"", "holds no nodes"),
        ("a.edges", b"a b 1 2\n", "line 1 has 4 cells, expected two names and perhaps a weight"),
        ("a.edges", b"a b\nc d heavy\n", "line 2 has the weight 'heavy', expected a number"),
        ("a.edges", b"\xff\xfe\x00", "not a text file"),
        ("a.edges", b"a b\nc d nan\n", "edge from 'c' to 'd' has the weight 'nan'; drop such edges"),
        ("a.csv", b"a,b,-inf\n", "edge from 'a' to 'b' has the weight '-inf'"),
        ("a.csv", b"a,,1\n", "line 1 has 3 cells"),
        ("a.gml", b"", "unknown kind of graph"),
        ("a.graphml", b"<nonsense", "cannot be read as GraphML"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, name, content, message):
    if name.endswith("graphml"):
        pytest.importorskip("networkx")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_graph(tmp_path / name)
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_graph(tmp_path / "missing.edges")
