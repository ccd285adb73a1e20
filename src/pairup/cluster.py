"""A Dask cluster that tasks run on, and what is said when it cannot be reached or is lost."""

import json
import logging
import signal
import socket
import sys
from _thread import interrupt_main
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread, current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Any

PATIENCE = 8  # seconds until a scheduler that does not answer, or has lost its workers, is given up
GONE = "the scheduler is gone"
SHOWN = 200  # characters of an error of Dask


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Run what follows on a Dask cluster, or here.

    Parameters
    ----------
    address : str or None
        Address of the scheduler, such as "tcp://10.0.0.1:8786", or path of a scheduler file (.json); None means here.

    Yields
    ------
    None
        Tasks inside the block run there. If the scheduler or all workers are lost meanwhile, a ConnectionError says
        so: a block in the main thread is interrupted for it, where joblib would wait for ever.
    """
    if address is None:
        yield
        return
    from pairup.extras import require

    distributed = require("distributed", extra="cluster")
    from joblib import parallel_config

    address = _scheduler_address(address)
    with _no_logging():  # Dask logs what it meets; the errors below say it in one sentence
        client = _connect(distributed.Client, address)
        watch = _Watch(client)
        try:
            if not client.scheduler_info()["workers"]:
                raise ConnectionError(
                    f"the Dask scheduler at {address} has no workers; start one: dask worker {address}"
                )
            with parallel_config("dask", client=client, wait_for_workers_timeout=PATIENCE), watch:
                _watch_tasks(watch)
                yield
        except (Exception, KeyboardInterrupt, CancelledError) as error:  # asyncio's CancelledError is no Exception
            failed = error if watch.failed is None else watch.failed
            reason = watch.lost if watch.failed is None else None
            reason = reason or _reason_of(failed, client.status, distributed)
            if reason is None and watch.failed is not None:
                told = " ".join(str(failed).split())[:SHOWN]
                reason = f"it could not run a task ({type(failed).__name__}: {told})"
            if reason is None:
                raise
            raise ConnectionError(
                f"the Dask cluster at {address} was lost: {reason}; repeat without --cluster to compute on this machine"
            ) from error
        finally:
            _close(client)


def _scheduler_address(address: str) -> str:
    """Return the address of a scheduler; that of a scheduler file is read from it."""
    if not address.endswith(".json"):
        return address
    try:  # here and now: Dask would wait until there is such a file
        content = json.loads(Path(address).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConnectionError(
            f"cannot read the scheduler file {address} ({error.strerror}); "
            f"write it with: dask scheduler --scheduler-file {address}"
        ) from error
    except ValueError:
        content = None
    found = content.get("address") if isinstance(content, dict) else None
    if not isinstance(found, str):
        raise ConnectionError(
            f'{address} is no scheduler file: expected JSON with an "address"; '
            f"write it with: dask scheduler --scheduler-file {address}"
        )
    return found


def _connect(connect: Callable[..., Any], address: str) -> Any:
    """Return a client of the scheduler, or raise a ConnectionError.

    It connects on a thread of its own: Dask waits for ever where something accepts the connection and never answers.
    """
    answer: Future[Any] = Future()

    def attempt() -> None:
        try:
            _look_up(address)
            answer.set_result(connect(address, timeout=PATIENCE / 2, set_as_default=False))
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=attempt, daemon=True).start()
    try:
        return answer.result(timeout=PATIENCE)
    except Exception as error:  # of many kinds, by what listens there: OSError, ValueError, TypeError, MemoryError
        reason = str(error) or "it accepts the connection and says nothing"
        raise ConnectionError(
            f"no Dask scheduler answers at {address} ({reason}); "
            "check the address, start one with: dask scheduler, or repeat without --cluster"
        ) from error


def _look_up(address: str) -> None:
    """Raise an OSError if the host of an address is not known.

    Dask would look it up on the thread that all its clients of this process share, and a name server that is slow to
    answer would block them all.
    """
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    if host:
        socket.getaddrinfo(host, None)


def _close(client: Any) -> None:
    """Close a client; one whose scheduler is gone delays the exit by a second at most."""

    def close() -> None:
        with suppress(Exception):
            client.close(timeout=1)

    closing = Thread(target=close, daemon=True)
    closing.start()
    closing.join(1)


def _reason_of(error: BaseException, status: str, distributed: Any) -> str | None:
    """Say what an error tells about the cluster; None if it is an error of the task."""
    if isinstance(error, distributed.scheduler.KilledWorker):
        return "a task ended every worker that ran it, most often for lack of memory"
    if isinstance(error, CancelledError | distributed.CancelledError | distributed.comm.CommClosedError):
        return GONE
    if isinstance(error, Exception) and status != "running":
        return GONE
    return None


def _watch_tasks(watch: "_Watch") -> None:
    """Tell the watch of tasks that the cluster gives up, for which joblib would wait for ever.

    What a task itself raises comes back as a result; these are errors around it, such as workers that it ended.
    """
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    submit = backend.submit

    def submit_watched(*arguments: Any, **options: Any) -> Any:
        future = submit(*arguments, **options)
        future.add_done_callback(watch.note)
        return future

    backend.submit = submit_watched


def _interrupt_main() -> None:
    """Send SIGINT to the main thread, which may wait inside joblib or Dask for ever."""
    if sys.platform == "win32":
        interrupt_main()
    else:
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)  # this wakes it from a sleep, too


class _Watch:
    """A thread that interrupts the main thread when the scheduler or all workers are lost."""

    def __init__(self, client: Any) -> None:
        self.lost: str | None = None
        self.failed: BaseException | None = None
        self._client = client
        self._ended = Event()
        self._lock = Lock()  # so that nothing is interrupted after the end

    def __enter__(self) -> None:
        if current_thread() is main_thread():  # no other thread can be interrupted
            self._before = signal.signal(signal.SIGINT, self._interrupt)
            Thread(target=self._run, daemon=True).start()

    def __exit__(self, *error: object) -> None:
        try:
            with self._lock:
                self._ended.set()
        finally:  # the interrupt may come just now
            if current_thread() is main_thread():
                signal.signal(signal.SIGINT, self._before)

    def note(self, task: "Future[Any]") -> None:
        """Keep the error of a task that the cluster gave up."""
        if not task.cancelled() and self.failed is None:
            self.failed = task.exception()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.lost is not None:  # also in a job of the background, where Ctrl-C is ignored
            raise KeyboardInterrupt
        if callable(self._before):
            self._before(number, frame)

    def _run(self) -> None:
        self._seen = monotonic()
        while not self._ended.wait(0.2):
            if (lost := self._look()) is not None:
                with self._lock:
                    if not self._ended.is_set():
                        self.lost = lost
                        _interrupt_main()
                return

    def _look(self) -> str | None:
        """Say what is lost; None if the scheduler answers, has had a worker lately and gave no task up."""
        if self.failed is not None:
            return str(self.failed)
        if self._client.status != "running":  # while it reconnects too: the tasks are cancelled
            return GONE
        try:
            threads = self._client.sync(self._client.scheduler.ncores, workers=None, callback_timeout=PATIENCE)
        except TimeoutError:
            return "the scheduler does not answer any more"
        except Exception:
            return GONE
        if threads:
            self._seen = monotonic()
        return "all workers are gone" if monotonic() - self._seen > PATIENCE else None


@contextmanager
def _no_logging() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
