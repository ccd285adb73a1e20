"""The command as a user runs it: in a process of its own."""

import datetime
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from pairup import Matching, match

COMMAND = (sys.executable, "-m", "pairup")


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def read_terminal(master, until=None):
    """Return what a process writes to a terminal: until a word appears, or until the process closes the terminal."""
    text = ""
    while until is None or until not in text:
        try:
            part = os.read(master, 2**16)
        except OSError:  # how Linux tells that the other end is closed
            part = b""
        if not part:
            break
        text += part.decode(errors="replace")
    return text


@pytest.fixture
def tables(tmp_path, rng):
    X = rng.exponential(size=(25, 2)) ** 1.5
    Y = (2 * X)[rng.permutation(25)]
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    np.save(tmp_path / "y.npy", Y)
    return tmp_path, np.loadtxt(tmp_path / "x.csv", delimiter=",", skiprows=1), Y


def test_pairs_go_to_stdout_as_csv(tables):
    folder, X, Y = tables
    done = run("match", folder / "x.csv", folder / "y.npy", "--method", "ks-hsic")
    assert done.returncode == 0, done.stderr
    lines = [line.split(",") for line in done.stdout.splitlines()]
    assert lines[0][:2] == ["x", "y"]
    assert [int(line[1]) for line in lines[1:]] == match(X, Y, method="ks-hsic").indices.tolist()


@pytest.mark.parametrize(
    ("method", "rows", "told"),
    [
        ("auto", [[1.0, np.nan]] * 25, "Y contains NaN or infinity in 25 of 50 values"),
        ("ks-hsic", [[1.0, 2.0]] * 25, "all rows of Y are equal"),
        ("lsom", [[1.0, 2.0]] * 7, "X has 25 rows and Y has 7"),
    ],
)
def test_an_error_about_a_set_names_its_file(tables, method, rows, told):
    folder, _, _ = tables
    np.save(folder / "odd.npy", rows)
    done = run("match", folder / "x.csv", folder / "odd.npy", "--method", method)
    assert done.returncode == 1
    assert told in done.stderr
    assert f"(X is {folder / 'x.csv'}, Y is {folder / 'odd.npy'})" in done.stderr


def test_json_and_files(tables):
    folder, X, Y = tables
    done = run("match", folder / "x.csv", folder / "y.npy", "--method", "ks-hsic", "-o", folder / "pairs.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "25 pairs" in done.stderr
    saved = json.loads((folder / "pairs.json").read_text())
    assert saved["indices"] == match(X, Y, method="ks-hsic").indices.tolist()


def test_ids_are_carried_to_the_pairs(tmp_path, rng):
    x = rng.exponential(size=10)
    (tmp_path / "x.csv").write_text("who,v\n" + "".join(f"p{i},{v}\n" for i, v in enumerate(x)))
    (tmp_path / "y.csv").write_text("who,v\n" + "".join(f"q{i},{v}\n" for i, v in enumerate(x)))
    done = run("match", tmp_path / "x.csv", tmp_path / "y.csv", "--id-column", "who", "--method", "ks-hsic")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("p0,q")


def test_an_id_column_that_one_table_has_is_taken_for_that_one(tmp_path, rng):
    x = rng.exponential(size=10)
    (tmp_path / "x.csv").write_text("v,client\n" + "".join(f"{v},{100 + 7 * i}\n" for i, v in enumerate(x)))
    (tmp_path / "y.csv").write_text("order,w\n" + "".join(f"q{i},{v}\n" for i, v in enumerate(x)))
    for pair in (("x.csv", "y.csv"), ("y.csv", "x.csv")):
        done = run("match", *pair, "--id-column", "client", "--method", "ks-hsic", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()[1].replace("q", "").split(","))[-1].startswith("1")
        assert "q" in done.stdout  # found by itself in the other table


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["match", "x.csv", "missing.csv"], 2, "missing.csv' does not exist"),
        (["match", "x.csv", "y.npy", "-o", "no/such/pairs.csv"], 2, "the folder no/such does not exist"),
        (
            ["match", "x.csv", "y.npy", "-o", "pairs.pdf"],
            2,
            "expected a name that ends in .csv, .json, .parquet, .xlsx",
        ),
        (["match", "x.csv"], 2, "Missing argument 'Y'"),
        (["match", "x.csv", "y.npy", "--method", "magic"], 2, "magic"),
        (["no-such-command"], 2, "No such command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_one_line_and_exit_codes_tell(tables, arguments, code, message):
    folder, _, _ = tables
    before = sorted(os.listdir(folder))
    done = run(*arguments, cwd=folder)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(os.listdir(folder)) == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_during_the_search_exits_with_130_and_no_traceback(tmp_path, rng):
    """The signal is sent when the progress bar, which is drawn on terminals only, shows the first step."""
    for name in ("x.npy", "y.npy"):
        np.save(tmp_path / name, rng.normal(size=(700, 5)))
    master, terminal = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "match", "x.npy", "y.npy", "-o", "pairs.csv", "--method", "lsom"],
        cwd=tmp_path,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell ignores it
    )
    os.close(terminal)
    shown = read_terminal(master, until="iteration")
    assert "iteration" in shown, "the search ended before its progress was seen"
    process.send_signal(signal.SIGINT)
    rest = read_terminal(master)
    os.close(master)
    assert process.wait() == 130
    assert "interrupted" in rest
    assert "Traceback" not in rest
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.npy"]


def test_auto_carries_anchors_priors_and_unequal_sizes(tables):
    folder, _, _ = tables
    (folder / "known.csv").write_text("x,y\n3,4\n7,1\n")
    (folder / "wrong.csv").write_text("".join(f"5,{j}\n" for j in range(20)))
    np.save(folder / "prior.npy", np.zeros((25, 25)))
    done = run(
        *("match", folder / "x.csv", folder / "y.npy", "--json", "--anchors", folder / "known.csv"),
        *(
            "--forbidden",
            folder / "wrong.csv",
            "--prior",
            folder / "prior.npy",
            "--overlap",
            "0.8",
            "--save",
            folder / "m.npz",
            "--metric",
            "euclidean",
        ),
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["method"] == "auto"
    assert answer["indices"][3] == 4
    assert answer["indices"][7] == 1
    assert answer["indices"].count(-1) == 5
    assert answer["indices"][5] not in range(20)
    assert "expected to be right" in done.stderr
    assert Matching.load(folder / "m.npz").indices.tolist() == answer["indices"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--anchors", "known.csv"], 1, "pair 1 names 'nobody', which is no row of X"),
        (["--anchors", "missing.csv"], 2, "missing.csv' does not exist"),
        (["--forbidden", "known.csv"], 1, "pair 1 names 'nobody', which is no row of X"),
        (["--forbidden", "missing.csv"], 2, "missing.csv' does not exist"),
        (["--prior", "missing.csv"], 2, "missing.csv' does not exist"),
        (["-o", "old.csv"], 1, "old.csv exists; choose another output or pass --force"),
        (["-o", "x.csv"], 2, "x.csv is one of the tables; choose another output"),
        (["-o", "x.csv", "--force"], 2, "x.csv is one of the tables; choose another output"),
        (["--save", "kept.npz"], 1, "kept.npz exists; choose another output or pass --force"),
        (["--on", "colour"], 2, "x.csv: no column 'colour' to compare; the columns are a, b"),
        (["--drop", "colour"], 2, "no column 'colour' in x.csv or y.npy"),
        (["--kind", "colour"], 2, "expected NAME=KIND, such as plz=category, got 'colour'"),
        (["--kind", "a=colour"], 2, "column 'a': the kind must be one of number"),
        (["--id-column", "a", "--id-column", "x=b"], 2, "expected one value, two, or x=NAME and y=NAME"),
        (["--id-column", "x=c"], 2, "no column 'c'; the columns are a, b"),
        (["--id-column", "c"], 2, "no column 'c'; the columns are"),
        (["--overlap", "some"], 2, "must be a number in"),
        (["--overlap", "2"], 2, "must be a number in"),
        (["--save", "m.txt"], 2, "expected a name that ends in .npz"),
    ],
)
def test_bad_options_are_refused_before_work_starts(tables, arguments, code, message):
    folder, _, _ = tables
    (folder / "known.csv").write_text("nobody,4\n")
    (folder / "kept.npz").write_bytes(b"kept")
    (folder / "old.csv").write_text("kept")
    before = (folder / "x.csv").read_text()
    done = run("match", "x.csv", "y.npy", *arguments, cwd=folder)
    assert (folder / "x.csv").read_text() == before
    assert done.returncode == code
    assert message in done.stderr
    assert done.stdout == ""


def test_dates_as_ids_are_written_and_repeated_ids_are_refused_as_anchors(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(rng.gamma(2.0, size=(6, 2)), columns=["a", "b"])
    frame["id"] = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4, 5, 5)]
    frame.to_parquet(tmp_path / "x.parquet")
    arguments = ("match", tmp_path / "x.parquet", tmp_path / "x.parquet", "--id-column", "id", "--json")
    pairs = json.loads(run(*arguments).stdout)["pairs"]
    assert [pair["x"] for pair in pairs] == [f"2024-01-0{day}" for day in (1, 2, 3, 4, 5, 5)]
    (tmp_path / "anchors.csv").write_text("2024-01-01,2024-01-05\n")
    done = run(*arguments, "--anchors", tmp_path / "anchors.csv")
    assert done.returncode == 1
    assert "pair 1 names '2024-01-05', as 2 rows of Y are called; give every row a name of its own" in done.stderr
    assert "Traceback" not in done.stderr


def write_edges(path, links, separator=" "):
    path.write_text("# a graph\n" + "".join(separator.join(link) + "\n" for link in links))


def test_edge_lists_are_matched_by_node_name(tmp_path):
    links = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "f"), ("e", "g"), ("g", "h")]
    write_edges(tmp_path / "x.edges", links)
    write_edges(tmp_path / "y.csv", [(b.upper(), a.upper()) for a, b in reversed(links)], ",")
    (tmp_path / "known.csv").write_text("x,y\na,B\n")
    done = run("match", tmp_path / "x.edges", tmp_path / "y.csv", "--graph", "--anchors", tmp_path / "known.csv")
    assert done.returncode == 0, done.stderr
    assert "The matching keeps 8 of 8 edges" in done.stderr
    pairs = dict(line.split(",")[:2] for line in done.stdout.splitlines()[1:])
    assert [pairs[name] for name in "abcde"] == ["B", "A", "C", "D", "E"]


def test_graphs_of_every_kind_are_matched_or_refused_in_a_line(tmp_path):
    links = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "f"), ("e", "g"), ("g", "h")]
    write_edges(tmp_path / "x.edges", links)
    write_edges(tmp_path / "apart.edges", [*links, ("a", "a"), ("y", "z"), ("alone",)])
    write_edges(tmp_path / "none.edges", [(name,) for name in "abcde"])
    write_edges(tmp_path / "nan.edges", [*links, ("a", "h", "nan")])
    for arguments, code, message in (
        (("x.edges", "apart.edges"), 0, "keeps 8 of 8 edges"),  # larger, a self-loop, two parts, an isolated node
        (("x.edges", "none.edges"), 0, "Y has no edges, so nothing tells its nodes apart"),
        (("x.edges", "nan.edges"), 1, "nan.edges: the edge from 'a' to 'h' has the weight 'nan'"),
        (("x.edges", "x.edges", "--directed"), 0, "keeps 8 of 8 edges"),
    ):
        done = run("match", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_tables_that_look_like_edge_lists_are_told_of_the_option(tmp_path):
    (tmp_path / "x.csv").write_text("source,target\n" + "".join(f"{k},{k * k % 7}\n" for k in range(8)))
    done = run("match", tmp_path / "x.csv", tmp_path / "x.csv")
    assert "look like edge lists; --graph matches the nodes of two graphs." in done.stderr


def test_graphs_and_tables_are_not_mixed(tables):
    folder = tables[0]
    write_edges(folder / "x.edges", [("a", "b")])
    for arguments, message in (
        (("x.edges", "y.npy"), "one is a graph and the other a table"),
        (("x.edges", "x.edges", "--id-column", "0"), "--id-column is for tables"),
        (("x.csv", "y.npy", "--directed"), "--directed is for graphs"),
    ):
        done = run("match", *arguments, cwd=folder)
        assert done.returncode == 2
        assert message in done.stderr


CUSTOMERS = """customer;Ort;Alter;seit;Rabatt
C1;Köln;31;03.04.2020;ja
C2;Ulm;47;25.12.2021;nein
C3;Kiel;22;01.02.2019;ja
C4;Ulm;65;17.07.2018;nein
C5;Bonn;53;30.09.2022;
C6;Kiel;38;11.11.2017;ja
"""
ORDERS = """Nr;Ort;Alter;Summe
7;Bonn;53;1.234,50
8;Kiel;22;12,00
9;Ulm;47;99,90
10;Köln;31;45,25
11;Kiel;38;7,00
12;Ulm;65;310,10
"""


def test_tables_of_german_excel_with_common_columns(tmp_path):
    """Two common columns tell all pairs, every column is told, and nothing is overwritten."""
    (tmp_path / "x.csv").write_bytes(CUSTOMERS.encode("cp1252"))
    (tmp_path / "y.csv").write_bytes(ORDERS.encode("cp1252"))
    arguments = ("match", "x.csv", "y.csv", "--explain", "--rows", "-o", "pairs.json")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "x.csv: 6 rows, 5 columns (encoding Windows-1252; cells separated by semicolons)" in done.stderr
    assert "decimal commas" in done.stderr
    for column in ("customer", "Ort", "Alter", "seit", "Rabatt", "Nr", "Summe"):
        assert f"  {column} " in done.stderr
    assert "Compared directly: Ort, Alter." in done.stderr
    assert "6 pairs by auto written to pairs.json" in done.stderr
    pairs = json.loads((tmp_path / "pairs.json").read_text(encoding="utf-8"))["pairs"]
    assert {pair["x"]: pair["y"] for pair in pairs} == {
        "C1": "10", "C2": "9", "C3": "8", "C4": "12", "C5": "7", "C6": "11",
    }  # fmt: skip
    assert all(pair["x.Alter"] == pair["y.Alter"] for pair in pairs)
    again = run(*arguments, cwd=tmp_path)
    assert again.returncode == 1
    assert "pairs.json exists; choose another output or pass --force" in again.stderr


def test_columns_per_table(tmp_path):
    (tmp_path / "x.csv").write_bytes(CUSTOMERS.encode("cp1252"))
    (tmp_path / "y.csv").write_bytes(ORDERS.encode("cp1252"))
    options = ("--id-column", "x=seit", "--id-column", "y=Summe", "--drop", "customer", "--drop", "y=Nr")
    done = run(
        *("match", "x.csv", "y.csv", *options, "--kind", "Alter=category", "--on", "none", "--method", "ks-hsic"),
        "--explain",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("03.04.2020,")
    assert "customer  id: dropped, as asked for" in done.stderr
    assert "Alter     category: one column for each of 6 categories" in done.stderr


def test_force_overwrites(tables):
    folder, _, _ = tables
    (folder / "pairs.csv").write_text("old")
    done = run("match", "x.csv", "y.npy", "--method", "ks-hsic", "-o", "pairs.csv", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "pairs.csv").read_text().startswith("x,y\n")


def test_large_arrays_are_matched_where_they_lie(tmp_path, monkeypatch, rng):
    from click.testing import CliRunner

    from pairup.cli.match import command

    X = rng.normal(size=(12, 2))
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[::-1] ** 3)
    call = [command, [str(tmp_path / "a.npy"), str(tmp_path / "b.npy")]]
    before = CliRunner().invoke(*call)
    monkeypatch.setattr("pairup.cells.MAPPED_FROM", 0)
    monkeypatch.setattr("pairup.archives.MAPPED_FROM", 0)
    after = CliRunner().invoke(*call)
    assert after.exit_code == 0, after.output
    assert after.output == before.output
