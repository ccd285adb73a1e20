"""What a worker does for a match."""

import json
import shlex
import shutil
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

from pairup.result import Matching
from pairup.studio.match_document import Answer, Settings
from pairup.studio.match_tasks import judge, look, run

SETTINGS = Settings().model_dump(mode="json")


def make_files(folder, n=30, *, names=("left.csv", "right.csv"), header=("name,a,b", "name,c,d")):
    """Two tables about the same things, in the folder under their own names."""
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(n, 2)) * [3, 1]
    order = rng.permutation(n)
    Y = (X @ [[1.0, 0.4], [-0.3, 1.0]])[order]
    texts = [
        "\n".join([head, *(f"{mark}{k},{row[0]:.4f},{row[1]:.4f}" for k, row in zip(ids, Z, strict=True))]) + "\n"
        for head, mark, ids, Z in zip(header, "xy", (range(n), order), (X, Y), strict=True)
    ]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    paths = [folder / name for name in names]
    return {side: {"path": p, "name": p.name, "own_path": None} for side, p in zip("xy", paths, strict=True)}


def finish(steps):
    *before, last = steps
    assert all(step["text"] for step in before)
    return last["result"]


def match(folder, files, *, anchors=(), forbidden=(), previous=None, **settings):
    steps = run(folder / "results", files, SETTINGS | settings, list(anchors), list(forbidden), previous)
    return finish(steps)


def test_a_look_tells_of_both_files_and_of_what_cannot_be_read(tmp_path):
    files = make_files(tmp_path)
    finish(look(tmp_path / "looks" / "a.json", files, SETTINGS))
    told = json.loads((tmp_path / "looks" / "a.json").read_text(encoding="utf-8"))
    assert told["x"]["rows"] == told["y"]["rows"] == 30
    assert told["x"]["name"] == "left.csv"
    (tmp_path / "right.csv").write_bytes(b"\x00\xff\x00broken")
    finish(look(tmp_path / "looks" / "b.json", {**files, "x": None}, SETTINGS))
    told = json.loads((tmp_path / "looks" / "b.json").read_text(encoding="utf-8"))
    assert told["x"] is None
    assert told["y"]["error"].startswith("right.csv: ")


def test_a_match_is_that_of_the_library_and_its_code_finds_it_again(tmp_path):
    files = make_files(tmp_path)
    first = match(tmp_path, files)
    Answer.model_validate(first)
    home = tmp_path / "results" / first["id"]
    saved = Matching.load(home / "matching.npz")
    assert saved.names[0][3] == "x3"
    assert (home / "pairs.csv").read_text(encoding="utf-8") == saved.to_csv()
    assert json.loads((home / "pairs.json").read_text(encoding="utf-8"))["indices"] == saved.indices.tolist()
    assert first["downloads"][:2] == ["pairs.csv", "pairs.xlsx"]
    assert all((home / name).is_file() for name in first["downloads"])
    assert (home / "pairs-with-rows.csv").read_text(encoding="utf-8").startswith("x,y,confidence,x.name,x.a,x.b,y.name")
    assert sum(first["histogram"]) == first["pairs"] == 30

    wrong = (4, int(saved.indices[4]))
    anchors, forbidden = [(0, int(saved.indices[0]))], [wrong]
    second = match(tmp_path, files, anchors=anchors, forbidden=forbidden, previous=first["id"])
    home = tmp_path / "results" / second["id"]
    again = Matching.load(home / "matching.npz")
    assert again.indices[0] == anchors[0][1]
    assert again.indices[4] != wrong[1]
    assert second["previous"] == first["id"]
    assert second["changed"] == (again.indices != saved.indices).sum() >= 2
    view = json.loads((home / "pairs-view.json").read_text(encoding="utf-8"))
    assert view["before"] == saved.indices.tolist()
    assert view["partners"] == again.indices.tolist()
    picture = json.loads((home / "picture.json").read_text(encoding="utf-8"))
    assert len(picture["x"]["points"]) == len(picture["y"]["names"]) == 30

    code = check_code(tmp_path, second["id"])
    assert code["command"].startswith("pairup match left.csv right.csv --anchors")


def check_code(tmp_path, identifier):
    """Run the Python and the command elsewhere: both find the same pairs again."""
    home = tmp_path / "results" / identifier
    code = json.loads((home / "code.json").read_text(encoding="utf-8"))
    work = tmp_path / "elsewhere"
    work.mkdir()
    for name in ("left.csv", "right.csv"):
        shutil.copy(tmp_path / name, work)
    for name in code["needs"]:
        shutil.copy(home / name, work)
    command = [sys.executable, "-m", "pairup", *shlex.split(code["command"])[1:]]
    for way in ([sys.executable, "-c", code["python"]], command):
        subprocess.run(way, cwd=work, check=True, capture_output=True)
        assert (work / "pairs.csv").read_bytes() == (home / "pairs.csv").read_bytes()
        (work / "pairs.csv").unlink()
    return code


def test_files_read_in_ways_of_their_own_are_found_again_too(tmp_path):
    files = make_files(tmp_path, header=("name,a,b", "other,c,d"))
    x = SETTINGS["x"] | {"id_column": "none", "drop": ["name"]}
    y = SETTINGS["y"] | {"id_column": "c", "kinds": {"other": "text"}}
    answer = match(tmp_path, files, method="ks-hsic", x=x, y=y, on="none")
    assert "--id-column y=c" in check_code(tmp_path, answer["id"])["command"]


def test_two_graphs_are_matched(tmp_path):
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7), (1, 8), (8, 9)]
    order = np.random.default_rng(0).permutation(10)
    texts = [
        "".join(f"{m}{a} {m}{b}\n" for a, b in pairs) for m, pairs in (("x", edges), ("y", order[np.array(edges)]))
    ]
    files = {}
    for side, text in zip("xy", texts, strict=True):
        (tmp_path / f"{side}.edges").write_text(text, encoding="utf-8")
        files[side] = {"path": tmp_path / f"{side}.edges", "name": f"{side}.edges", "own_path": None}
    answer = match(tmp_path, files)
    assert answer["graphs"]
    assert answer["rows"] == (10, 10)
    code = json.loads((tmp_path / "results" / answer["id"] / "code.json").read_text(encoding="utf-8"))
    assert "read_graph" in code["python"]
    assert "--graph" in code["command"]


def test_the_papers_methods_have_no_probabilities(tmp_path):
    answer = match(tmp_path, make_files(tmp_path, 12), method="ks-hsic")
    assert answer["reliability"] is None
    assert answer["histogram"] == []
    assert answer["tone"] in ("warn", "bad")


def test_rows_of_the_same_name_need_python(tmp_path):
    files = make_files(tmp_path)
    for name in ("left.csv", "right.csv"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("x3,", "x4,"), encoding="utf-8")
    settings = {side: SETTINGS[side] | {"id_column": "name"} for side in "xy"}
    answer = match(tmp_path, files, anchors=[(0, 0)], **settings)
    code = json.loads((tmp_path / "results" / answer["id"] / "code.json").read_text(encoding="utf-8"))
    assert code["command"] is None
    assert "same name" in code["reason"]


def test_nothing_is_left_of_a_match_that_fails(tmp_path):
    files = make_files(tmp_path)
    with pytest.raises(ValueError, match="auto"):
        match(tmp_path, files, method="lsom", metric="cosine")
    assert not list(tmp_path.glob("results/*"))


@pytest.mark.parametrize(("reliable", "tone"), [(True, "good"), (False, "bad"), (None, "warn")])
def test_the_verdict_has_a_tone(reliable, tone):
    sure = np.array([0.95, 0.4, 0.0])
    names = (["a", "b", "c"], ["d", "e"])
    matching = Matching(np.array([1, 0, -1]), "auto", 0.1, None, [], names, confidence=sure, reliable=reliable)
    told = judge(matching)
    assert (told["tone"], told["pairs"], told["uncertain"], sum(told["histogram"])) == (tone, 2, 1, 2)


def write_bomb(path):
    """Write a small file that unpacks to gigabytes."""
    if path.suffix == ".npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
            header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000000, 1), }"
            member.write(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n" + bytes(100_000))
    elif path.suffix == ".npy":
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000000, 1), }"
        path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n" + bytes(1000))
    elif path.suffix == ".xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(20):
                archive.writestr(f"xl/worksheets/sheet{number}.xml", bytes(2_000_000))
    elif path.suffix == ".graphml":
        entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "lol"}">' for k in range(10))
        path.write_text(f'<?xml version="1.0"?><!DOCTYPE g [{entities}]><graphml><graph id="&e9;"/></graphml>')
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        same = arrow.DictionaryArray.from_arrays(np.zeros(1_000_000, dtype=np.int8), ["x"])
        parquet.write_table(arrow.table({f"c{k}": same for k in range(20)}), path)
        assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("name", ["bomb.npz", "bomb.npy", "bomb.xlsx", "bomb.parquet", "bomb.graphml"])
def test_bombs_are_refused_before_they_unpack(tmp_path, name, monkeypatch):
    monkeypatch.setattr("pairup.cells.free_memory", lambda: (1_000_000_000, "a small computer"))
    write_bomb(tmp_path / name)
    files = {**make_files(tmp_path), "y": {"path": tmp_path / name, "name": name, "own_path": None}}
    tracemalloc.start()
    try:
        finish(look(tmp_path / "looks" / "a.json", files, SETTINGS))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = json.loads((tmp_path / "looks" / "a.json").read_text(encoding="utf-8"))
    assert told["y"]["error"].startswith(f"{name}: ")
    assert "\n" not in told["y"]["error"]
    assert most < 50_000_000
