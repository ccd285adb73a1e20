"""Progress of a search in Python: a bar in a terminal or a notebook, and how long it may take."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol

from pairup.climb import Step

LONG = 60.0  # seconds from which the time is told before a search starts
NOTEBOOK_SECONDS = 0.5  # between two updates of a notebook
# CPU seconds for n objects: (n, seconds, how they grow from there), measured on one core; between sizes by the power.
SECONDS = {
    "auto": ((320, 6.4, 1.7), (1000, 44.4, 2.3), (2001, 60.0, 0.5), (20_000, 190.0, 1.1)),
    "lsom": ((320, 18.9, 3.0),),
}


def estimate_seconds(n: int, m: int, method: str = "auto") -> float:
    """Return roughly how long a search takes.

    Parameters
    ----------
    n, m : int
        How many objects X and Y have.
    method : str, default "auto"
        The method.

    Returns
    -------
    float
        Seconds on one core; 0 where nothing is known of the method.

    Examples
    --------
    >>> round(estimate_seconds(100_000, 100_000) / 60), estimate_seconds(50, 50) < 1
    (19, True)
    """
    size = max(n, m)
    known = SECONDS.get(method, ())
    for smallest, seconds, power in reversed(known):
        if size >= smallest or smallest == known[0][0]:
            return float(seconds * (size / smallest) ** power)
    return 0.0


def in_words(seconds: float) -> str:
    """Return a duration in words.

    Parameters
    ----------
    seconds : float
        The duration.

    Returns
    -------
    str
        Seconds, minutes or hours.

    Examples
    --------
    >>> in_words(42), in_words(1080), in_words(7000)
    ('42 seconds', '18 minutes', '1.9 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def warn_if_long(n: int, m: int, method: str) -> str:
    """Say how long a search will take, if that is more than a minute.

    Parameters
    ----------
    n, m : int
        How many objects X and Y have.
    method : str
        The method.

    Returns
    -------
    str
        One sentence, or nothing.

    Examples
    --------
    >>> warn_if_long(100_000, 100_000, "auto")
    'Matching 100000 with 100000 objects takes roughly 19 minutes.'
    """
    seconds = estimate_seconds(n, m, method)
    return f"Matching {n} with {m} objects takes roughly {in_words(seconds)}." if seconds > LONG else ""


class Display(Protocol):
    """Where progress is shown."""

    def show(self, text: str) -> None:
        """Show one line in place of the last."""


def describe_step(step: Step) -> str:
    """Return one line about a step of a search.

    Parameters
    ----------
    step : Step
        The step.

    Returns
    -------
    str
        The line.
    """
    return f"searching: start {step.start + 1}, iteration {step.iteration}, dependence {step.value:.4g}"


@contextmanager
def show_progress(text: str) -> Iterator[Display]:
    """Show a line of progress while the block runs: in a notebook in its cell, in a terminal on stderr.

    Where stderr is neither, the first line is printed and nothing else.

    Parameters
    ----------
    text : str
        The first line.

    Yields
    ------
    Display
        Where to show more.
    """
    if (shell := _find_notebook()) is not None:
        notebook = _Notebook(shell, text)
        yield notebook
        notebook.end()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        print(text, file=sys.stderr)
        yield _Silent()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Terminal(bar, bar.add_task(text, total=None))


class _Silent:
    def show(self, text: str) -> None:
        """Show nothing."""


class _Terminal:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task

    def show(self, text: str) -> None:
        """Show one line beside the bar."""
        self._bar.update(self._task, description=text)


class _Notebook:
    """A bar and a line in the cell of a notebook, which need nothing but IPython itself."""

    def __init__(self, display: Any, text: str) -> None:
        self._start = self._last = time.monotonic()
        self._handle = display(self._render(text), raw=True, display_id=True)

    def show(self, text: str) -> None:
        """Show one line in place of the last, not too often."""
        now = time.monotonic()
        if now - self._last >= NOTEBOOK_SECONDS:
            self._last = now
            self._handle.update(self._render(f"{text} ({now - self._start:.0f} s)"), raw=True)

    def end(self) -> None:
        """Show how long it took, and no bar."""
        self._handle.update({"text/plain": f"Done in {time.monotonic() - self._start:.0f} s."}, raw=True)

    @staticmethod
    def _render(text: str) -> dict[str, str]:
        return {"text/plain": text, "text/html": f"<progress></progress> {escape(text)}"}


def _find_notebook() -> Any:
    """Return the function that displays in a notebook, or None outside of one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display
