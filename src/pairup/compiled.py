"""Compile hot loops by numba on their first call, so that importing them costs nothing."""

from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_lock = Lock()


class compiled(Generic[P, R]):
    """Compile a function to machine code when it is first called; threads run it in parallel.

    The machine code is cached on disk beside the source or, where that is read-only, in the user's cache
    folder (or in `NUMBA_CACHE_DIR`); where nothing is writable it is compiled once per process. Compiled
    functions may call each other; keep them in one file, because the cache of a caller is renewed only
    when its own file changes.

    Parameters
    ----------
    function : callable
        The function, of numbers and arrays, in the part of Python that numba compiles.

    Examples
    --------
    >>> @compiled
    ... def triangle(n: int) -> int:
    ...     total = 0
    ...     for i in range(n):
    ...         total += i
    ...     return total
    >>> triangle(5)
    10
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._compiled: Any = None
        update_wrapper(self, function)

    @property
    def dispatcher(self) -> Any:
        """The function as numba's dispatcher object."""
        if self._compiled is None:
            import numba

            with _lock:  # two threads must not compile the same function twice
                if self._compiled is None:
                    try:
                        self._compiled = numba.njit(self._function, nogil=True, cache=True)
                    except RuntimeError as error:
                        if "no locator available" not in str(error):
                            raise
                        self._compiled = numba.njit(self._function, nogil=True)
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """The type that numba asks for when another compiled function calls this one."""
        return self.dispatcher._numba_type_

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the machine code, compiling it first where these argument types are new."""
        result: R = self.dispatcher(*args, **kwargs)
        return result
