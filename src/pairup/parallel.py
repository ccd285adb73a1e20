"""Independent tasks, here or on a cluster."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

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

    with pinned_blas():
        # prefer="threads" lets a configured cluster take the tasks; require="sharedmem" would keep them here.
        return_as = "generator" if ordered else "generator_unordered"
        workers = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)
        yield from workers(delayed(_call_pinned)(task) for task in tasks)


def _call_pinned(task: Callable[[], Result]) -> Result:
    with pinned_blas():  # once more, for a task that runs in another process
        return task()


def on_cluster(address: str | None) -> AbstractContextManager[Any]:
    """Run what follows on a Dask cluster, or here.

    Parameters
    ----------
    address : str or None
        Address of the scheduler, such as "tcp://10.0.0.1:8786", or path of a scheduler file (.json); None means here.

    Returns
    -------
    context manager
        Tasks inside it run there.
    """
    from contextlib import ExitStack

    stack = ExitStack()
    if address is None:
        return stack
    from pairup.extras import require

    distributed = require("distributed", extra="cluster")
    from joblib import parallel_config

    known = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = stack.enter_context(distributed.Client(**known, timeout="5s", set_as_default=True))
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
        ) from error
    stack.enter_context(parallel_config("dask", wait_for_workers_timeout=10))
    if not client.scheduler_info()["workers"]:
        stack.close()
        raise ConnectionError(f"the Dask scheduler at {address} has no workers; start one: dask worker {address}")
    return stack
