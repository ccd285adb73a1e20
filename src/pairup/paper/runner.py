"""Run tasks and save their results as rows of JSON; an interrupted run can be continued."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairup.files import name_path
from pairup.methods import FORMER_NAMES
from pairup.paper.protocol import Task
from pairup.parallel import run

FORMAT = 2  # of rows; in rows of format 1 LSOM takes the literal step
READINGS_OF_FORMAT_1 = {"LSOM": "LSOM, literal", "lsom": "lsom-literal"}

Row = dict[str, Any]
Experiment = Callable[[Task, str | None], Row]
"""From a task and the folder of the original data (None: data that ship with dependencies, or synthetic) to results."""


def load_rows(path: str | os.PathLike[str]) -> list[Row]:
    """Load the rows of a file; an incomplete last line is ignored.

    Parameters
    ----------
    path : str or path
        File of JSON lines; it need not exist.

    Returns
    -------
    rows : list of dict
        One per line. Methods and keys have their present names, also in files of earlier versions.
    """
    path = Path(path)
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last line end is incomplete
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_rename_method(json.loads(line)))
        except ValueError:
            raise ValueError(f"{path}: line {number} is not JSON; move the file away to start again") from None
    return rows


def _rename_method(row: Row) -> Row:
    """Give a row that an earlier version wrote the present name of its method."""
    former = FORMER_NAMES if row.get("format", 1) == FORMAT else FORMER_NAMES | READINGS_OF_FORMAT_1
    if row.get("method") not in former:
        return row
    row = row | {"method": former[row["method"]]}
    return row | {"key": Task(*(row[field.name] for field in fields(Task))).key}


def repair(path: str | os.PathLike[str]) -> None:
    """Cut off an incomplete last line, as a killed process leaves it.

    Parameters
    ----------
    path : str or path
        File of JSON lines; it need not exist.
    """
    path = Path(path)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(path, whole)


def append_row(path: str | os.PathLike[str], row: Row) -> None:
    """Append one row to a file; it is on disk when this function returns.

    Parameters
    ----------
    path : str or path
        File of JSON lines; it is created if missing.
    row : dict
        What is written.
    """
    line = json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"
    with name_path(path), open(path, "ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def describe_session(data: str | None) -> Row:
    """Return a row with the versions and the machine, for the report.

    Parameters
    ----------
    data : str or None
        Folder of the original data, or None.

    Returns
    -------
    row : dict
        A row of kind "session".
    """
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
    """Run the tasks that have no row on disk yet.

    Tasks are run by `pairup.parallel.run`: in turn, on threads, or on the backend that joblib is configured for.

    Parameters
    ----------
    tasks : sequence of Task
        All tasks that shall have a row in the end.
    experiment : callable
        ``experiment(task, data)`` runs one task and returns its results.
    path : str or path
        File of JSON lines; it is created, repaired and appended to.
    data : str, optional
        Folder of the original data, as seen by the workers.
    n_jobs : int, optional
        Number of parallel runs, as in joblib.

    Yields
    ------
    row : dict
        Each new row, once it is on disk.
    """
    repair(path)
    done = {row["key"] for row in load_rows(path) if row["kind"] == "run"}
    missing = [task for task in tasks if task.key not in done]
    if not missing:
        return
    append_row(path, describe_session(data))
    for row in run([partial(run_task, experiment, task, data) for task in missing], n_jobs=n_jobs, ordered=False):
        append_row(path, row)
        yield row


def run_task(experiment: Experiment, task: Task, data: str | None) -> Row:
    """Run one task.

    Parameters
    ----------
    experiment : callable
        ``experiment(task, data)`` returns the results.
    task : Task
        What to run.
    data : str or None
        Folder of the original data, or None.

    Returns
    -------
    row : dict
        The task, its key and seed, the results and the time they took.
    """
    begin, cpu = time.perf_counter(), time.thread_time()
    result = experiment(task, data)
    timing = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.thread_time() - cpu}
    return {
        "kind": "run",
        "format": FORMAT,
        "key": task.key,
        "seed": task.seed,
        **task.to_dict(),
        "result": result,
        "timing": timing,
    }
