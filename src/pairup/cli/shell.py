"""What all commands share: exit codes, errors in one line, progress on stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click


def guarded(command: click.Command) -> NoReturn:
    """Run a command and exit with 0, 1 (an error told in one line), 2 (called wrongly) or 130 (Ctrl-C)."""
    try:
        code = command.main(standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        leave(130)
    except click.ClickException as error:
        error.show()
        leave(error.exit_code)
    except BrokenPipeError:  # the reader of our output has gone, as in `pairup match … | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        leave(1)
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if os.environ.get("PAIRUP_DEBUG"):
            raise
        click.echo(f"Error: {error}", err=True)
        leave(1)
    leave(code if isinstance(code, int) else 0)


def leave(code: int) -> NoReturn:
    """Exit at once: a worker thread that is still busy must not hold up Ctrl-C."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Progress:
    """A line of progress on stderr; silent where stderr is no terminal."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def update(self, text: str, done: float | None = None) -> None:
        """Show `text`, and the share that is done."""
        self._bar.update(self._task, description=text, completed=done)


@contextmanager
def progress(text: str, *, total: float | None = None) -> Iterator[Progress]:
    """Show a progress bar on stderr while the block runs."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Progress(bar, bar.add_task(text, total=total))


def has_screen() -> bool:
    """Tell whether someone sits before a screen on which a result can be opened."""
    windows = sys.platform in ("win32", "darwin") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    return windows and sys.stdout.isatty()
