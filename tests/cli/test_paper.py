import json

import pytest
from click.testing import CliRunner

from pairup.cli import pairup_command
from pairup.cli.paper import EXPERIMENTS
from pairup.paper import protocol, toy
from pairup.paper.protocol import ALBUMS
from pairup.paper.runner import load_rows


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call `pairup paper` with the test's folder, on data that ship or are synthetic."""
    monkeypatch.delenv("PAIRUP_DATA", raising=False)

    def call(*arguments):
        return CliRunner().invoke(pairup_command, ["paper", *arguments, "--out", str(tmp_path)])

    return call


def results(folder):
    return {row["key"]: row["result"] for row in load_rows(folder / "rows.jsonl") if row["kind"] == "run"}


def test_the_choices_are_the_experiments():
    assert protocol.EXPERIMENTS == EXPERIMENTS


def test_an_interrupted_command_is_continued(run, tmp_path, monkeypatch):
    computed = []

    def interrupt(task, data):
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(task.key)
        return {"seed": task.seed}

    monkeypatch.setattr(toy, "run", interrupt)
    assert run("run", "toy", "--runs", "2").exit_code != 0
    assert list(results(tmp_path)) == computed
    monkeypatch.setattr(toy, "run", lambda task, data: {"seed": task.seed})
    assert run("run", "toy", "--runs", "2").stderr == "toy: 10 runs computed, 2 already on disk\n"
    assert results(tmp_path) == {task.key: {"seed": task.seed} for task in protocol.plan("toy", runs=2)}
    assert run("run", "toy", "--runs", "2").stderr == "toy: 0 runs computed, 12 already on disk\n"


def test_a_lost_cluster_is_told_with_what_is_kept(run, tmp_path, monkeypatch):
    from contextlib import nullcontext

    from pairup import cluster

    def lose(task, data):
        if task.run == 1:
            raise ConnectionError("the cluster was lost; repeat without --cluster")
        return {"seed": task.seed}

    monkeypatch.setattr(toy, "run", lose)
    monkeypatch.setattr(cluster, "on_cluster", lambda address: nullcontext())
    done = run("run", "toy", "--runs", "2", "--cluster", "tcp://127.0.0.1:9")
    assert results(tmp_path)
    assert str(done.exception) == "the cluster was lost; repeat without --cluster; runs already on disk are kept"


def test_what_is_missing_is_told(run, tmp_path):
    missing = run("report")
    assert missing.exit_code == 2
    assert "rows.jsonl: no such file; run an experiment first: pairup paper run toy" in missing.stderr
    no_data = run("run", "toy", "--data", str(tmp_path / "nowhere"))
    assert no_data.exit_code == 2
    assert "no such folder; pass the folder of the original data, or omit --data" in no_data.stderr


def test_all_experiments_run_and_are_reported(run, tmp_path):
    for module in ("matplotlib", "skimage", "soundfile", "pyworld"):
        pytest.importorskip(module)
    done = run("run", *EXPERIMENTS, "--quick")
    assert done.exit_code == 0, done.stderr
    done = run("report", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {"files": [str(tmp_path / name) for name in ("report.md", "report.html")]}
    rows = [row for row in load_rows(tmp_path / "rows.jsonl") if row["kind"] == "run"]
    assert {row["experiment"] for row in rows} == set(EXPERIMENTS)
    accuracies = {}
    for row in rows:
        if row["experiment"] == "images" and not row["variant"]:
            accuracies.setdefault(row["method"], []).append(row["result"]["accuracy"])
    chance = 1 / 40
    assert all(sum(values) / len(values) > chance for values in accuracies.values())
    assert max(accuracies, key=lambda method: sum(accuracies[method])) == "pairup"
    dpq = {(row["variant"], row["method"]): row["result"]["dpq"] for row in rows if row["experiment"] == "albums"}
    drawings = [name for name in ALBUMS if not name.endswith("-grid")]
    assert {name for name, _ in dpq} == set(drawings), "the first look leaves out the grids"
    assert all(dpq[name, "pairup"] > dpq[name, "LSOM"] for name in drawings)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "the original data were not given" in text
    for figure in ("figure-1.png", "figure-2.svg", "figure-4.png", "figure-5-shuffled.png"):
        assert (tmp_path / figure).stat().st_size > 5_000
