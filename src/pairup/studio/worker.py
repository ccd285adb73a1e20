"""The worker: a process of its own in which jobs run, so that the page stays free and a job can be ended at once."""

import ctypes
import gc
import importlib
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

TASKS = {
    "album.read": "pairup.studio.album_tasks:read",
    "album.arrange": "pairup.studio.album_tasks:arrange",
    "album.tiles": "pairup.studio.album_tasks:draw_tiles",
    "album.fit": "pairup.studio.album_tasks:fit",
    "album.measure": "pairup.studio.album_tasks:measure_places",
    "album.preview": "pairup.studio.album_tasks:preview",
    "album.export": "pairup.studio.album_export:export",
    "match.look": "pairup.studio.match_tasks:look",
    "match.run": "pairup.studio.match_tasks:run",
    "voice.demo": "pairup.studio.voice_tasks:make_demo",
    "voice.look": "pairup.studio.voice_tasks:look",
    "voice.learn": "pairup.studio.voice_tasks:learn",
    "voice.convert": "pairup.studio.voice_tasks:convert",
    "sleep": "pairup.studio.worker:sleep",
}
"""What a worker can do: functions that yield steps (dicts with "progress", "text" and more), {"result": …} last."""

EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)  # errors that say what to do
WARM = ("pairup.studio.album_tasks:warm",)
"""What a worker that waits for its first job does meanwhile, so that all is loaded and compiled by then."""

GIVEN_BACK = 0.5  # seconds of a job after which memory is given back to the system
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of malloc.h
LARGE = 8 << 20  # bytes of an array that is taken from the system by itself
ARENAS = 2  # heaps for all threads together
GRACE = 1.0  # seconds in which a cancelled job may end by itself


class TaskError(Exception):
    """A job that failed, with a sentence that says why."""


class CancelledTaskError(Exception):
    """A job that was cancelled."""


def sleep(seconds: float, parts: int = 10) -> Iterator[dict[str, Any]]:
    """Do nothing for a while, step by step: for tests of the queue.

    Parameters
    ----------
    seconds : float
        How long.
    parts : int, default 10
        In how many steps.

    Yields
    ------
    dict
        The steps.
    """
    pause = threading.Event()
    for part in range(parts):
        pause.wait(seconds / parts)
        yield {"progress": (part + 1) / parts, "text": f"part {part + 1} of {parts}"}
    yield {"result": {"slept": seconds}}


def work(connection: Connection, warm: bool = False) -> None:
    """Run jobs until the studio ends.

    Parameters
    ----------
    connection : Connection
        Brings ("run", number, task, arguments) and ("cancel", number); takes ("step", dict), ("done", result),
        ("cancelled", None) and ("failed", sentence).
    warm : bool, default False
        Whether to load and compile what jobs need before there is one.
    """
    spare_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the studio's, which ends its workers
    threading.Thread(target=_follow_parent, daemon=True).start()
    importlib.import_module("pairup.parallel")
    busy = threading.Event()
    if warm:
        threading.Thread(target=_warm, args=(busy,), daemon=True).start()
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        if message[0] == "cancel":  # of a job that had ended before
            continue
        busy.set()
        try:
            connection.send(_run(connection, *message[1:]))
        except (BrokenPipeError, OSError):
            return
        gc.collect()
        give_back_memory()


def spare_memory() -> None:
    """Take large arrays from the system one by one, so that each goes back when it is free.

    Otherwise the C library raises its bound with each large array, and holes between them stay: with 2,000 photos the
    studio took 540 MB at most instead of 400 MB.
    """
    with suppress(OSError, AttributeError, TypeError):  # only the C library of Linux can be asked
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGE)
        library.mallopt(M_ARENA_MAX, ARENAS)


def give_back_memory() -> None:
    """Give memory that is free again back to the system: of an album of 2,000 photos, 80 MB would stay here."""
    with suppress(OSError, AttributeError, TypeError):  # only the C library of Linux can be asked
        ctypes.CDLL(None).malloc_trim(0)


def _run(connection: Connection, number: int, task: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    """Run one job and return how it ended."""
    try:
        module, _, name = TASKS[task].partition(":")
        result: Any = None
        given_back = time.monotonic()
        for step in getattr(importlib.import_module(module), name)(**arguments):
            if "result" in step:
                result = step["result"]
            else:
                connection.send(("step", step))
            if time.monotonic() - given_back > GIVEN_BACK:
                give_back_memory()
                given_back = time.monotonic()
            if connection.poll() and connection.recv() == ("cancel", number):
                return "cancelled", None
        return "done", result
    except EXPECTED as error:
        return "failed", str(error) or type(error).__name__
    except Exception as error:  # a fault of ours: told, and the studio goes on
        traceback.print_exc()
        return "failed", f"something unexpected went wrong ({type(error).__name__}: {error})"


def _warm(busy: threading.Event) -> None:
    """Load and compile until a job comes; what is missing is told by the job that needs it."""
    for place in WARM:
        module, _, name = place.partition(":")
        with suppress(Exception):
            for _part in getattr(importlib.import_module(module), name)():
                if busy.is_set():
                    return


def _follow_parent() -> None:
    """End this process when the studio has ended, however it did."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


class Worker:
    """A worker process, seen from the studio.

    Parameters
    ----------
    warm : bool, default False
        Whether it loads and compiles what jobs need before there is one.
    """

    def __init__(self, *, warm: bool = False) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, warm), daemon=True, name="pairup-worker")
        self._process.start()
        theirs.close()
        self._sending = threading.Lock()
        self._number = 0
        self._current: threading.Event | None = None  # of the job at work
        self._idle = threading.Event()
        self._idle.set()

    def run(self, task: str, arguments: dict[str, Any], cancelled: threading.Event) -> Iterator[dict[str, Any]]:
        """Run a job.

        Parameters
        ----------
        task : str
            One of `TASKS`.
        arguments : dict
            Its arguments.
        cancelled : threading.Event
            Set where the job is cancelled; then call `cancel` as well.

        Yields
        ------
        dict
            The steps; {"result": …} last.

        Raises
        ------
        TaskError
            If it failed.
        CancelledTaskError
            If it was cancelled.
        """
        try:
            with self._sending:
                if cancelled.is_set():  # before the job had begun
                    raise CancelledTaskError
                self._idle.clear()
                self._number += 1
                self._current = cancelled
                self._connection.send(("run", self._number, task, arguments))
            while True:
                kind, data = self._connection.recv()
                if kind != "step":
                    self._current = None
                if cancelled.is_set():
                    if kind != "step":
                        raise CancelledTaskError
                elif kind == "step":
                    yield data
                elif kind == "done":
                    yield {"result": data}
                    return
                else:
                    raise TaskError(data)
        except (EOFError, OSError) as error:
            if cancelled.is_set():
                raise CancelledTaskError from error
            raise TaskError(
                "the work ended unexpectedly: its process was killed, perhaps for lack of memory; try it with fewer "
                "or smaller files"
            ) from error
        finally:
            self._idle.set()

    def cancel(self, cancelled: threading.Event) -> None:
        """Cancel a job, if it is at work here: it may end by itself for a moment, then its process is ended.

        Parameters
        ----------
        cancelled : threading.Event
            The event that its `run` was given.
        """
        with self._sending:
            if self._current is not cancelled:  # it has not begun, and will not; or it has ended
                return
            try:
                self._connection.send(("cancel", self._number))
            except OSError:
                return
        if not self._idle.wait(GRACE):
            self.stop()

    @property
    def is_at_work(self) -> bool:
        """Whether its process still works on a job, also one that nobody waits for any more."""
        return self._current is not None

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process.is_alive()

    def stop(self) -> None:
        """End its process."""
        self._process.terminate()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(2)
