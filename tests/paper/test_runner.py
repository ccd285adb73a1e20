"""Rows survive interruption, and do not depend on where they were computed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

from pairup.cluster import on_cluster
from pairup.paper.protocol import Task
from pairup.paper.runner import append_row, load_rows, repair, run_task, run_tasks

TASKS = [Task("toy", method, n, run) for method in "ab" for n in (5, 6) for run in range(5)]


def add_up(task, data):
    """A cheap experiment. If `data` is a folder, the first process to run a certain task kills itself there."""
    if data is not None and task == TASKS[7]:
        try:
            (Path(data) / "killed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return {"sum": float(np.random.default_rng(task.seed).normal(size=task.n).sum())}


def results(path):
    rows = [row for row in load_rows(path) if row["kind"] == "run"]
    return sorted((row["key"], row["seed"], row["result"]["sum"]) for row in rows)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "rows.jsonl"
    list(run_tasks(TASKS, add_up, path))
    return results(path)


def test_a_second_run_adds_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    assert len(list(run_tasks(TASKS, add_up, path))) == 20
    content = path.read_bytes()
    assert list(run_tasks(TASKS, add_up, path)) == []
    assert path.read_bytes() == content


def test_the_first_line_describes_the_session(tmp_path):
    path = tmp_path / "rows.jsonl"
    list(run_tasks(TASKS[:1], add_up, path))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["session", "run"]
    assert rows[0]["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("n", [0, 1, 7, 19])
def test_an_interrupted_run_is_continued(tmp_path, expected, n):
    path = tmp_path / "rows.jsonl"
    for _, _ in zip(range(n), run_tasks(TASKS, add_up, path), strict=False):
        pass
    assert len(results(path)) == n
    assert len(list(run_tasks(TASKS, add_up, path))) == 20 - n
    assert results(path) == expected


def test_an_experiment_that_fails_keeps_the_rows_before_it(tmp_path, expected):
    path = tmp_path / "rows.jsonl"

    def fail(task, data):
        if task == TASKS[4]:
            raise MemoryError
        return add_up(task, data)

    with pytest.raises(MemoryError):
        list(run_tasks(TASKS, fail, path))
    assert [key for key, *_ in results(path)] == sorted(task.key for task in TASKS[:4])
    list(run_tasks(TASKS, add_up, path))
    assert results(path) == expected


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_killed_process_is_continued(tmp_path, expected):
    """The process kills itself at the eighth task; the end of its last line is then cut off as well."""
    path = tmp_path / "rows.jsonl"
    script = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('experiment', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "list(module.run_tasks(module.TASKS, module.add_up, sys.argv[2], data=sys.argv[3]))\n"
    )
    command = [sys.executable, "-c", script, __file__, str(path), str(tmp_path)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert len(results(path)) == 7
    os.truncate(path, path.stat().st_size - 10)
    assert len(results(path)) == 6
    assert subprocess.run(command).returncode == 0
    assert results(path) == expected


def test_an_incomplete_line_is_cut_off(tmp_path):
    path = tmp_path / "rows.jsonl"
    append_row(path, {"kind": "run", "key": "a"})
    with path.open("ab") as file:
        file.write(b'{"kind": "run", "key": "b", "resu')
    assert [row["key"] for row in load_rows(path)] == ["a"]
    repair(path)
    append_row(path, {"kind": "run", "key": "c"})
    assert [row["key"] for row in load_rows(path)] == ["a", "c"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_full_disk_names_the_path_and_the_run_is_continued(tmp_path, expected):
    import resource

    path = tmp_path / "rows.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot write .*rows\.jsonl: File too large"):
            list(run_tasks(TASKS, add_up, path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert 0 < len(results(path)) < 20
    list(run_tasks(TASKS, add_up, path))
    assert results(path) == expected


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"kind": "run"}\nnot json\n')
    with pytest.raises(ValueError, match="line 2 is not JSON"):
        load_rows(tmp_path / "rows.jsonl")


def test_rows_of_methods_with_a_former_name_are_read_and_not_computed_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    old, new = (Task("voice", method, 50, 0, variant="shuffled") for method in ("default", "auto"))
    append_row(path, run_task(add_up, old, None))
    (row,) = load_rows(path)
    assert (row["method"], row["key"]) == ("auto", new.key)
    assert list(run_tasks([new], add_up, path)) == []


def test_any_run_can_be_repeated_alone(expected):
    alone = run_task(add_up, TASKS[13], None)
    assert (alone["key"], alone["seed"], alone["result"]["sum"]) in expected


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_threads_and_processes_agree(tmp_path, expected, backend):
    with parallel_config(backend, n_jobs=2):
        list(run_tasks(TASKS, add_up, tmp_path / "rows.jsonl"))
    assert results(tmp_path / "rows.jsonl") == expected


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.filterwarnings("ignore")  # Dask tells of the lost worker
def test_a_cluster_that_loses_a_worker_agrees(tmp_path, expected):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        on_cluster(cluster.scheduler_address),
    ):
        list(run_tasks(TASKS, add_up, tmp_path / "rows.jsonl", data=str(tmp_path)))
    assert (tmp_path / "killed").exists()
    assert results(tmp_path / "rows.jsonl") == expected
