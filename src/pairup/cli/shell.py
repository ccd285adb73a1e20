"""Code shared by all commands: exit codes, errors in one line, progress on stderr."""

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from pairup.files import remove_unfinished


def run_command(command: click.Command) -> NoReturn:
    """Run a command and exit with 0, 1 (an error, printed in one line), 2 (wrong usage) or 130 (Ctrl-C).

    Parameters
    ----------
    command : click.Command
        The command, which reads its arguments from `sys.argv`.
    """
    try:
        code = command.main(standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        leave(130)
    except click.ClickException as error:
        error.show()
        leave(error.exit_code)
    except BrokenPipeError:  # the reader of our output has closed it, as in `pairup match … | head`
        leave(1)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:  # a path that is wrong is a wrong call
        if os.environ.get("PAIRUP_DEBUG"):
            raise
        click.echo(f"Error: {describe(error)}", err=True)
        leave(2)
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and was_interrupted(error):
            click.echo("interrupted", err=True)
            leave(130)
        if os.environ.get("PAIRUP_DEBUG"):
            raise
        click.echo(f"Error: {describe(error)}", err=True)
        leave(1)
    leave(code if isinstance(code, int) else 0)


def show_help(ctx: click.Context) -> None:
    """Print the help of a group that was called without a command.

    Parameters
    ----------
    ctx : click.Context
        The context of the group.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    n : int
        The number.
    noun : str
        The noun in the singular, whose plural ends in s.

    Returns
    -------
    str
        Both.

    Examples
    --------
    >>> count(1, "photo"), count(2, "photo"), count(1200, "photo")
    ('1 photo', '2 photos', '1200 photos')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def end_if_interrupted(unraisable: Any) -> None:
    """End the command if Ctrl-C came where Python would drop it: in a finalizer, or while a module lock is freed.

    Parameters
    ----------
    unraisable : object
        What `sys.unraisablehook` is handed.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        leave(130)
    sys.__unraisablehook__(unraisable)


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: a compiled module that it interrupts fails to import.

    Parameters
    ----------
    error : BaseException or None
        What was raised.

    Returns
    -------
    bool
        Whether it, or what it was raised from, is a KeyboardInterrupt.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def describe(error: Exception) -> str:
    """Say an error in one line.

    Parameters
    ----------
    error : Exception
        What was raised.

    Returns
    -------
    str
        Its text. What writes files names them (`pairup.files`); a full disk without a name is that of stdout.
    """
    if isinstance(error, OSError) and error.filename is None and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO):
        return f"cannot write the result to stdout: {error.strerror}; make room, or choose a file with -o"
    return str(error)


def leave(code: int) -> NoReturn:
    """Exit at once: a worker thread that is still busy must not delay Ctrl-C; what it has half written is removed.

    Parameters
    ----------
    code : int
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # nobody reads, or the disk is full
            code = code or 1
    remove_unfinished()
    os._exit(code)


class _Messages(io.FileIO):
    """A stderr that nobody need read: `pairup … -o pairs.csv 2>&1 | true` still writes its file."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def guard_streams() -> None:
    """Make stdout and stderr safe to write to, where they are closed (``>&-``) or their reader is gone."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # the next file that is opened would take the number of a closed stream, and get what is printed
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    elif not sys.stderr.isatty():
        raw: Any = _Messages(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(raw, sys.stderr.encoding, "backslashreplace", write_through=True)


@contextmanager
def no_chatter() -> Iterator[None]:
    """Drop what the C libraries that decode pictures write to stderr; what pairup writes there is still shown.

    They write to the file with the number 2, past Python. With ``PAIRUP_DEBUG`` set, it is shown.

    Yields
    ------
    None
        A progress bar begins inside the block, for it keeps to the stderr it finds.
    """
    if os.environ.get("PAIRUP_DEBUG"):
        yield
        return
    try:
        real = os.dup(2)
    except OSError:  # closed: nothing is shown
        yield
        return
    before = sys.stderr
    try:
        if _writes_to_2(before):
            before.flush()
            raw: Any = _Messages(real, "w", closefd=False)
            sys.stderr = io.TextIOWrapper(raw, before.encoding, "backslashreplace", write_through=True)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(real, 2)
        sys.stderr = before
        os.close(real)


def _writes_to_2(stream: Any) -> bool:
    """Tell whether a stream writes to the file with the number 2; in tests it often does not."""
    try:
        return bool(stream.fileno() == 2)
    except (AttributeError, OSError, ValueError):
        return False


def refuse_existing(outputs: Iterable[Path], force: bool) -> None:
    """Stop before an existing file is overwritten, unless --force was given.

    Parameters
    ----------
    outputs : iterable of path
        The files to be written.
    force : bool
        Whether they may be overwritten.
    """
    if existing := [path for path in outputs if path.exists() and not force]:
        more = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        verb = "exist" if more else "exists"
        raise click.ClickException(f"{existing[0]}{more} {verb}; choose another output or pass --force")


class MethodChoice(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """The name of a method; a former name is accepted, hidden from the help, and reported on stderr."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the current name of a method; parameters as in `click.ParamType.convert`."""
        from pairup.methods import FORMER_NAMES

        if value in FORMER_NAMES:
            click.echo(f"Warning: the method {value!r} is now called {FORMER_NAMES[value]!r}", err=True)
            value = FORMER_NAMES[value]
        return super().convert(value, param, ctx)


class Progress:
    """A line of progress on stderr; silent where stderr is not a terminal.

    Parameters
    ----------
    bar : rich.progress.Progress or None
        The bar that is drawn, if any.
    task : rich.progress.TaskID or None
        The task of that bar.
    """

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def update(self, text: str, done: float | None = None, total: float | None = None) -> None:
        """Show a text and the amount that is done.

        Parameters
        ----------
        text : str
            Description of the present step.
        done : float, optional
            Amount done so far, in the units of the bar's total; None leaves it as it is.
        total : float, optional
            Amount to be done, where it was not known before; None leaves it as it is.
        """
        if self._bar is not None:
            self._bar.update(self._task, description=text, completed=done, total=total)


@contextmanager
def progress(text: str, *, total: float | None = None, unit: str = "") -> Iterator[Progress]:
    """Show a progress bar on stderr while the block runs.

    Parameters
    ----------
    text : str
        Description of the first step.
    total : float, optional
        Amount to be done; None shows a bar without an end.
    unit : str, default ''
        What is counted, for the rate, such as "photos"; without it the bar has no rate.

    Yields
    ------
    Progress
        The line to update.
    """
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), _rate_column(unit))
    if console.is_terminal:
        with Bar(*columns, console=console, transient=True) as bar:
            yield Progress(bar, bar.add_task(text, total=total))
    else:  # a bar that is disabled prints an empty line, before rich 15
        yield Progress(None, None)


def _rate_column(unit: str) -> Any:
    """Return a column of a bar: how much is done each second, and how long the rest takes."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(describe_rate(task.speed, task.time_remaining, unit))

    return Rate()


def describe_rate(speed: float | None, remaining: float | None, unit: str) -> str:
    """Say how much is done each second, and how long the rest takes.

    Parameters
    ----------
    speed : float or None
        Amount per second; None where it is not known.
    remaining : float or None
        Seconds until the end; None where they are not known.
    unit : str
        What is counted; empty leaves the rate out.

    Returns
    -------
    str
        The rate and the rest.

    Examples
    --------
    >>> describe_rate(12.3, 75.0, "photos")
    '12 photos/s, 1:15 left'
    >>> describe_rate(0.25, None, "runs")
    '15 runs/min'
    """
    told = []
    if speed and unit:
        told.append(f"{speed:.3g} {unit}/s" if speed < 10 else f"{speed:.0f} {unit}/s")
        if speed < 1:
            told = [f"{60 * speed:.2g} {unit}/min"]
    if remaining is not None:
        told.append(f"{int(remaining) // 60}:{int(remaining) % 60:02} left")
    return ", ".join(told)


def has_screen() -> bool:
    """Tell whether results can be opened on a screen: a desktop, and stdout is a terminal.

    Returns
    -------
    bool
        True if there is a screen.
    """
    windows = sys.platform in ("win32", "darwin") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    return windows and sys.stdout.isatty()
