"""Independent tasks: on threads, in processes, or on whatever backend joblib is configured for."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from threading import Thread
from time import sleep
from typing import Any, TypeVar

from pairup.validation import check_jobs

Result = TypeVar("Result")


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def pinned_blas() -> AbstractContextManager[Any]:
    """Pin BLAS to one thread: tasks run side by side, and their results do not depend on how many do."""
    import scipy.linalg  # noqa: F401  the controller sees only libraries that are loaded

    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def runs_here(n_jobs: int | None) -> bool:
    """Tell whether tasks would run one after another in this process."""
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return getattr(backend, "supports_sharedmem", False) and effective_n_jobs(n_jobs) == 1


def run(tasks: Iterable[Callable[[], Result]], *, n_jobs: int | None = None, ordered: bool = True) -> Iterator[Result]:
    """Call each task, and yield what it returns.

    A task is a function bound to its arguments by `functools.partial`: the type checker sees a wrong argument where
    the task is made. Threads by default, for assignments, BLAS and compiled loops release the interpreter's lock.
    Inside ``joblib.parallel_config("dask")`` (or any other backend) the same tasks go there, with the same results.

    Parameters
    ----------
    tasks : iterable of callables
        What to call, without arguments.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.
    ordered : bool, default True
        Whether results come in the order of the tasks, or as they are done.

    Yields
    ------
    object
        The result of a task.

    Examples
    --------
    >>> from functools import partial
    >>> list(run([partial(pow, 2, 3), partial(pow, 3, 2)], n_jobs=2))
    [8, 9]
    """
    from joblib import Parallel, delayed

    check_jobs(n_jobs)
    with pinned_blas():
        # prefer="threads" lets a configured cluster take the tasks; require="sharedmem" would keep them here.
        return_as = "generator" if ordered else "generator_unordered"
        workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)
        results = workers(delayed(_call_pinned)(task) for task in tasks)
        try:
            for result in results:  # noqa: UP028  `yield from` would close it before the warning is ignored
                yield result
        finally:  # who stops iterating cancels; joblib warns then that some tasks were done in vain
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*adjusting the input task iterator", category=UserWarning)
                results.close()


def one_by_one() -> AbstractContextManager[Any]:
    """Run what follows one task after another: inside a task, which would otherwise send its own to the cluster.

    Returns
    -------
    context manager
        For one block.

    Examples
    --------
    >>> with one_by_one():
    ...     runs_here(8)
    True
    """
    from joblib import parallel_config

    context: AbstractContextManager[Any] = parallel_config("sequential")
    return context


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads of this process `n_jobs` means.

    Of processes there may be fewer, with a warning, as in a process that must not have children.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    from joblib import effective_n_jobs, parallel_config

    check_jobs(n_jobs)
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))


def run_here(tasks: Sequence[Callable[[], Result]], *, n_jobs: int | None = None) -> list[Result]:
    """Call each task in threads of this process, even where a cluster is configured.

    For tasks on data that lie here and take longer to send than to work on.

    Parameters
    ----------
    tasks : sequence of callables
        What to call, without arguments.
    n_jobs : int, optional
        How many threads, as in joblib.

    Returns
    -------
    list
        What they return, in their order.

    Examples
    --------
    >>> from functools import partial
    >>> run_here([partial(pow, 2, 3), partial(pow, 3, 2)], n_jobs=2)
    [8, 9]
    """
    if len(tasks) < 2 or (count := count_threads(n_jobs)) == 1:
        return [task() for task in tasks]
    from concurrent.futures import ThreadPoolExecutor

    with pinned_blas(), ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda task: task(), tasks))


@contextmanager
def alongside(task: Callable[[], Result], n_jobs: int | None = None) -> Iterator[Callable[[], Result]]:
    """Call a task in a thread of its own while what follows runs; one after another where one is all that may run.

    Parameters
    ----------
    task : callable
        What to call, without arguments. What it starts runs in the same thread.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Yields
    ------
    callable
        Waits for what the task returns, and returns it.

    Examples
    --------
    >>> with alongside(lambda: 3, n_jobs=2) as result:
    ...     result() + 1
    4
    """
    if runs_here(n_jobs):
        yield task
        return
    from concurrent.futures import ThreadPoolExecutor

    def alone() -> Result:
        with one_by_one():
            return task()

    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(alone).result


@contextmanager
def thread_runner(n_jobs: int | None = None) -> Iterator[Callable[[list[Callable[[], Any]]], None]]:
    """Start threads of this process that stay for many short tasks: `run` takes a millisecond to begin, these do not.

    Parameters
    ----------
    n_jobs : int, optional
        How many, as in joblib.

    Yields
    ------
    callable
        Takes a list of functions without arguments, calls each, and returns when all are done.

    Examples
    --------
    >>> done = []
    >>> with thread_runner(2) as run_all:
    ...     run_all([lambda: done.append(1), lambda: done.append(2)])
    >>> sorted(done)
    [1, 2]
    """
    from concurrent.futures import ThreadPoolExecutor

    count = count_threads(n_jobs)
    with ThreadPoolExecutor(count) as threads:  # it starts none before the first task

        def run_all(tasks: list[Callable[[], Any]]) -> None:
            if count == 1 or len(tasks) == 1:
                for task in tasks:
                    task()
            else:
                list(threads.map(lambda task: task(), tasks))

        yield run_all


def _call_pinned(task: Callable[[], Result]) -> Result:
    with pinned_blas():  # once more, for a task that runs in another process
        return task()


@contextmanager
def in_processes(n_jobs: int) -> Iterator[None]:
    """Run what follows in processes of this machine; they end with the block, and with this process if it is killed.

    Parameters
    ----------
    n_jobs : int
        How many, as in joblib.

    Yields
    ------
    None
        Tasks inside the block run there.
    """
    from joblib import parallel_config
    from joblib.externals.loky import get_reusable_executor

    check_jobs(n_jobs)
    warnings = os.environ.get("PYTHONWARNINGS")
    # A process of joblib's own cleans up after an interrupt. That it does is nothing to warn of.
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (warnings, "ignore:resource_tracker")))
    try:
        with parallel_config("loky", n_jobs=n_jobs, initializer=_follow, initargs=(os.getpid(),)):
            yield
    finally:  # joblib would do so when Python exits; the command line exits at once
        executor = get_reusable_executor(reuse=True)
        getattr(executor, "terminate", executor.shutdown)(kill_workers=True)  # the former also removes its folder
        os.environ.pop("PYTHONWARNINGS")
        if warnings is not None:
            os.environ["PYTHONWARNINGS"] = warnings


def _follow(parent: int) -> None:
    """End this process when its parent has ended."""
    import psutil

    def follow() -> None:
        with suppress(psutil.Error):
            process = psutil.Process(parent)
            while os.getppid() == parent and process.is_running():  # the first for POSIX, the second for Windows
                sleep(0.5)
        os._exit(1)

    Thread(target=follow, daemon=True).start()
