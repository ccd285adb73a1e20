"""Jobs: one at a time in a project, the others wait; at most two at once in all."""

import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pairup.studio.models import JobView
from pairup.studio.worker import CancelledTaskError, TaskError, Worker

AT_ONCE = 2  # jobs of different projects
SAVED = 1.0  # seconds between two steps that are written to the project


@dataclass(eq=False)
class Job:
    """A job of a project.

    Parameters
    ----------
    project : str
        Identifier of the project.
    task : str
        What the worker does.
    prepare : callable
        Returns the arguments of the task when its turn has come.
    finish : callable
        Takes the result, writes it to the project, and is not called where the job failed or was cancelled.
    request : dict
        What was asked for, as it is written to the project.
    step : dict, optional
        The last step that was shown.

    Attributes
    ----------
    id : str
        Its identifier.
    status, text, error : str
        How far it is, what it does, and why it failed.
    progress : float or None
        Share of the work done, where that is known.
    worker : Worker or None
        The process in which it runs.
    cancelled : threading.Event
        Whether it was cancelled.
    """

    project: str
    task: str
    prepare: Callable[[], dict[str, Any]]
    finish: Callable[[Any], None]
    request: dict[str, Any]
    step: dict[str, Any] | None = None
    id: str = field(init=False, default_factory=lambda: secrets.token_hex(8))
    status: str = field(init=False, default="queued")
    progress: float | None = field(init=False, default=None)
    text: str = field(init=False, default="waiting")
    error: str | None = field(init=False, default=None)
    worker: Worker | None = field(init=False, default=None)
    cancelled: threading.Event = field(init=False, default_factory=threading.Event)

    @property
    def view(self) -> JobView:
        """What a page shows of it."""
        return JobView(
            id=self.id,
            task=self.task,
            status=self.status,  # type: ignore[arg-type]
            progress=self.progress,
            text=self.text,
            error=self.error,
        )

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self.status in ("done", "failed", "cancelled")


class Jobs:
    """The queue.

    Parameters
    ----------
    tell : callable
        Called with a job after each change of it, and with the step where there is a new one.
    save : callable
        Called with a job once a second while it works, and when it is queued or has ended.
    """

    def __init__(self, tell: Callable[[Job, dict[str, Any] | None], None], save: Callable[[Job], None]) -> None:
        self._tell = tell
        self._save = save
        self._lock = threading.Condition()
        self._queue: list[Job] = []
        self._active: dict[str, Job] = {}
        self._last: dict[str, Job] = {}
        self._idle: list[Worker] = []
        self._closed = False
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pairup-job")

    def adopt(self, worker: Worker) -> None:
        """Take a worker that was started before, so that the first job need not wait for one.

        Parameters
        ----------
        worker : Worker
            The worker.
        """
        with self._lock:
            self._idle.append(worker)

    def submit(self, job: Job) -> JobView:
        """Queue a job.

        Parameters
        ----------
        job : Job
            The job.

        Returns
        -------
        JobView
            Its state.
        """
        self._save(job)  # a job that could not go on after a crash is not begun
        with self._lock:
            self._queue.append(job)
            self._last[job.project] = job
        self._tell(job, None)
        self._advance()
        return job.view

    def latest(self, project: str) -> Job | None:
        """Return the job of a project that works, or waits, or ended last.

        Parameters
        ----------
        project : str
            Identifier of the project.

        Returns
        -------
        Job or None
            The job, if there was any.
        """
        with self._lock:
            return self._active.get(project) or self._last.get(project)

    def _advance(self) -> None:
        """Start what may start."""
        with self._lock:
            for job in list(self._queue):
                if len(self._active) >= AT_ONCE or self._closed:
                    return
                if job.project not in self._active:
                    self._queue.remove(job)
                    self._active[job.project] = job
                    self._threads.submit(self._run, job)

    def _run(self, job: Job) -> None:
        """Run a job in a worker, in a thread of its own."""
        try:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            while worker is not None and not worker.is_alive:
                with self._lock:
                    worker = self._idle.pop() if self._idle else None
            job.worker = worker or Worker()
            self._change(job, "running", "starting")
            self._tell(job, None)
            arguments = job.prepare()
            saved = time.monotonic()
            for step in job.worker.run(job.task, arguments, job.cancelled):
                if job.cancelled.is_set():
                    continue
                if "result" in step:
                    job.finish(step["result"])
                    job.progress = 1.0
                    self._change(job, "done", "done")
                    continue
                job.progress, job.text = step.get("progress"), step.get("text", "")
                job.step = step
                self._tell(job, step)
                if time.monotonic() - saved > SAVED:
                    self._keep(job)
                    saved = time.monotonic()
        except CancelledTaskError:
            pass
        except TaskError as error:
            job.error = str(error)
            self._change(job, "failed", "failed")
        except Exception as error:  # a fault in preparing or finishing: told on the page
            job.error = str(error) or type(error).__name__
            self._change(job, "failed", "failed")
        finally:
            if job.worker is not None and job.worker.is_at_work:  # nobody would take what it finds
                job.worker.stop()
            with self._lock:
                del self._active[job.project]
                if job.worker is not None and job.worker.is_alive and not self._closed:
                    self._idle.append(job.worker)
                    job.worker = None
                self._lock.notify_all()
            if not self._closed:
                self._keep(job)
                self._tell(job, None)
                self._advance()

    def _keep(self, job: Job) -> None:
        """Write a job to its project; where the disk is full, the work goes on."""
        with suppress(OSError, sqlite3.Error):
            self._save(job)

    def _change(self, job: Job, status: str, text: str) -> None:
        """Change the status of a job, unless it was cancelled."""
        with self._lock:
            if not job.cancelled.is_set():
                job.status, job.text = status, text

    def cancel(self, project: str, identifier: str) -> JobView:
        """Cancel a job; the page is told at once, the work ends within a moment.

        Parameters
        ----------
        project : str
            Identifier of the project.
        identifier : str
            The job.

        Returns
        -------
        JobView
            Its state; KeyError where there is no such job.
        """
        with self._lock:
            found = [j for j in (*self._queue, *self._active.values(), *self._last.values()) if j.id == identifier]
            job = next((job for job in found if job.project == project), None)
            if job is None:
                raise KeyError(identifier)
            if job.has_ended:
                return job.view
            if job in self._queue:
                self._queue.remove(job)
            job.status, job.text = "cancelled", "cancelled"
            job.cancelled.set()
            worker = job.worker
        self._keep(job)
        self._tell(job, None)
        if worker is not None:
            threading.Thread(target=worker.cancel, args=(job.cancelled,), daemon=True).start()
        return job.view

    def end_project(self, project: str) -> None:
        """Cancel all jobs of a project that is deleted, and wait for the one at work.

        Parameters
        ----------
        project : str
            Identifier of the project.
        """
        with self._lock:
            jobs = [job for job in (*self._queue, *self._active.values()) if job.project == project]
        for job in jobs:
            self.cancel(project, job.id)
        with self._lock:
            self._lock.wait_for(lambda: project not in self._active, timeout=5)
            self._last.pop(project, None)

    def close(self) -> None:
        """End all workers; jobs that had not ended go on when the studio starts again."""
        with self._lock:
            self._closed = True
            workers = [*self._idle, *(job.worker for job in self._active.values() if job.worker is not None)]
        for worker in workers:
            worker.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
