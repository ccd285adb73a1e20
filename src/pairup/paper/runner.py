"""Runs tasks and keeps their rows: one line of JSON each, resumable after any interruption."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairup.paper.protocol import Task
from pairup.parallel import run

Row = dict[str, Any]
Experiment = Callable[[Task, str | None], Row]
"""From a task and the folder of measured data (None: data that ship or are made) to its results."""


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """Return the whole rows of a file; a half-written last line is left out."""
    path = Path(path)
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last line end was cut off in writing
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise ValueError(f"{path}: line {number} is not JSON; move the file away to begin anew") from None
    return rows


def repair(path: str | os.PathLike[str]) -> None:
    """Cut off a half-written last line, as a killed run leaves it."""
    path = Path(path)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(path, whole)


def append(path: str | os.PathLike[str], row: Row) -> None:
    """Add one row; it is on the disk when this returns."""
    line = json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"
    with open(path, "ab", buffering=0) as file:
        file.write(line)
        os.fsync(file.fileno())


def session_row(data: str | None) -> Row:
    """Return what the report tells of versions and hardware."""
    names = ("pairup", "numpy", "scipy", "scikit-learn", "numba", "joblib")
    return {
        "kind": "session",
        "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "data": data is not None,
        "time": time.time(),
    }


def run_tasks(
    tasks: Sequence[Task],
    experiment: Experiment,
    path: str | os.PathLike[str],
    *,
    data: str | None = None,
    n_jobs: int | None = None,
) -> Iterator[Row]:
    """Run the tasks that have no row in the file yet, and yield their rows as they are written.

    Tasks go through `pairup.parallel.run`: one after another, on threads, or wherever joblib is told to send them.

    Parameters
    ----------
    tasks : what is to be there in the end.
    experiment : what runs one of them.
    path : file of JSON lines; it is made, repaired and appended to.
    data : folder of measured data, as seen by whoever runs the tasks.
    n_jobs : as in joblib.
    """
    repair(path)
    done = {row["key"] for row in read_rows(path) if row["kind"] == "run"}
    missing = [task for task in tasks if task.key not in done]
    if not missing:
        return
    append(path, session_row(data))
    for row in run([partial(run_one, experiment, task, data) for task in missing], n_jobs=n_jobs, ordered=False):
        append(path, row)
        yield row


def run_one(experiment: Experiment, task: Task, data: str | None) -> Row:
    """Run one task and return its row."""
    begin, cpu = time.perf_counter(), time.thread_time()
    result = experiment(task, data)
    timing = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.thread_time() - cpu}
    return {"kind": "run", "key": task.key, "seed": task.seed, **task.to_dict(), "result": result, "timing": timing}
