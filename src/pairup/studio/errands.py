"""Errands: short tasks that a page waits for while a job goes on, in a process of their own."""

import threading
from typing import Any

from pairup.studio.worker import TaskError, Worker

LONGEST = 20.0  # seconds that an errand may take
IDLE = 60.0  # seconds after which the process is ended


class Errands:
    """One errand at a time; the process starts with the first and ends after a while without any."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._rest: threading.Timer | None = None

    def run(self, task: str, arguments: dict[str, Any]) -> Any:
        """Run an errand.

        Parameters
        ----------
        task : str
            One of `pairup.studio.worker.TASKS`.
        arguments : dict
            Its arguments.

        Returns
        -------
        object
            Its result.

        Raises
        ------
        TaskError
            If it failed or took too long.
        """
        with self._turn:
            if self._rest is not None:
                self._rest.cancel()
            if self._worker is None or not self._worker.is_alive:
                self._worker = Worker()
            late, worker = threading.Event(), self._worker

            def give_up() -> None:
                late.set()
                worker.stop()

            limit = threading.Timer(LONGEST, give_up)
            limit.daemon = True
            limit.start()
            try:
                steps = worker.run(task, arguments, threading.Event())
                return next(step["result"] for step in steps if "result" in step)
            except TaskError as error:
                raise TaskError("this took too long") if late.is_set() else error from error
            finally:
                limit.cancel()
                self._rest = threading.Timer(IDLE, self.close)
                self._rest.daemon = True
                self._rest.start()

    def close(self) -> None:
        """End the process, unless it is at work."""
        if not self._turn.acquire(timeout=1):
            return
        try:
            if self._worker is not None:
                self._worker.stop()
                self._worker = None
        finally:
            self._turn.release()
