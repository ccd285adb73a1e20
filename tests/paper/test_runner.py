"""Rows survive interruption, and do not depend on where they were made."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from joblib import parallel_config

from pairup.paper.protocol import Task, plan
from pairup.paper.runner import append, read_rows, repair, run_one, run_tasks
from pairup.parallel import on_cluster


def sums(task, data):
    """A cheap experiment that takes a moment, so that it can be interrupted."""
    time.sleep(0.02)
    return {"sum": float(np.random.default_rng(task.seed).normal(size=task.n).sum())}


TASKS = [Task("toy", method, n, run) for method in "ab" for n in (5, 6) for run in range(5)]


def results(path):
    rows = [row for row in read_rows(path) if row["kind"] == "run"]
    return sorted((row["key"], row["seed"], row["result"]["sum"]) for row in rows)


def test_a_second_run_adds_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    assert len(list(run_tasks(TASKS, sums, path))) == 20
    content = path.read_bytes()
    assert list(run_tasks(TASKS, sums, path)) == []
    assert path.read_bytes() == content


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    list(run_tasks(TASKS, sums, whole))
    for _, _ in zip(range(7), run_tasks(TASKS, sums, broken), strict=False):
        pass
    assert 7 <= len(results(broken)) < 20
    list(run_tasks(TASKS, sums, broken))
    assert results(broken) == results(whole)


def test_a_half_written_line_is_cut_off(tmp_path):
    path = tmp_path / "rows.jsonl"
    append(path, {"kind": "run", "key": "a"})
    with path.open("ab") as file:
        file.write(b'{"kind": "run", "key": "b", "resu')
    assert [row["key"] for row in read_rows(path)] == ["a"]
    repair(path)
    append(path, {"kind": "run", "key": "c"})
    assert [row["key"] for row in read_rows(path)] == ["a", "c"]


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"kind": "run"}\nnot json\n')
    with pytest.raises(ValueError, match="line 2 is not JSON"):
        read_rows(tmp_path / "rows.jsonl")


def test_any_subset_reproduces_alone(tmp_path):
    path = tmp_path / "rows.jsonl"
    list(run_tasks(TASKS, sums, path))
    alone = run_one(sums, TASKS[13], None)
    assert (alone["key"], alone["seed"], alone["result"]["sum"]) in results(path)


def test_keys_are_unique_and_methods_share_seeds():
    for experiment in ("toy", "images", "voice", "albums"):
        tasks = plan(experiment, runs=3)
        assert len({task.key for task in tasks}) == len(tasks)
    assert Task("images", "LSOM", 80, 2).seed == Task("images", "KS-MI", 80, 2).seed
    assert Task("images", "LSOM", 80, 2).seed != Task("images", "LSOM", 80, 1).seed
    with pytest.raises(ValueError, match="experiment must be one of"):
        plan("music", runs=1)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_killed_and_resumed_gives_the_same_rows(tmp_path):
    command = [sys.executable, "-c", "from pairup.cli import main; main()", "paper", "run", "toy", "--runs", "2"]
    environment = {name: value for name, value in os.environ.items() if name != "PAIRUP_DATA"}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*command, "--out", whole], env=environment, check=True, timeout=120)
    rng = np.random.default_rng(0)
    for _ in range(2):
        process = subprocess.Popen([*command, "--out", killed], env=environment)
        time.sleep(rng.uniform(1.5, 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "--out", killed], env=environment, check=True, timeout=120)

    def rows(folder):
        kept = [row for row in read_rows(folder / "rows.jsonl") if row["kind"] == "run"]
        for row in kept:
            del row["timing"]
        return sorted(json.dumps(row, sort_keys=True) for row in kept)

    assert rows(killed) == rows(whole)


@pytest.mark.filterwarnings("ignore")  # Dask tells of the lost worker
def test_threads_processes_and_a_cluster_that_loses_a_worker_agree(tmp_path):
    distributed = pytest.importorskip("distributed")
    list(run_tasks(TASKS, sums, tmp_path / "alone.jsonl"))
    expected = results(tmp_path / "alone.jsonl")
    for backend in ("threading", "loky"):
        with parallel_config(backend, n_jobs=2):
            list(run_tasks(TASKS, sums, tmp_path / f"{backend}.jsonl"))
        assert results(tmp_path / f"{backend}.jsonl") == expected
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        on_cluster(cluster.scheduler_address),
    ):
        path = tmp_path / "cluster.jsonl"
        for number, _ in enumerate(run_tasks(TASKS, sums, path)):
            if number == 3:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
        assert results(path) == expected
