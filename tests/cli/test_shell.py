"""The command line as a module, and its exit codes."""

import subprocess
import sys

import click
import pytest

import pairup
from pairup.cli import shell


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_the_package_runs_as_a_module():
    done = run(sys.executable, "-m", "pairup", "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"pairup, version {pairup.__version__}\n"


def test_the_module_knows_the_commands_and_the_exit_codes():
    done = run(sys.executable, "-m", "pairup", "no-such-command")
    assert done.returncode == 2
    assert "No such command 'no-such-command'" in done.stderr
    assert done.stdout == ""


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (click.UsageError("no"), 2, "no\n"),
        (ValueError("X has 3 rows"), 1, "Error: X has 3 rows\n"),
        (MemoryError("too much"), 1, "Error: too much\n"),
        (None, 0, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException | None) else "",
)
def test_errors_have_exit_codes(error, code, told, monkeypatch, capsys):
    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(shell, "leave", leave)
    monkeypatch.setattr(sys, "argv", ["pairup"])
    monkeypatch.delenv("PAIRUP_DEBUG", raising=False)
    command = click.Command("test", callback=lambda: fail(error) if error else None)
    with pytest.raises(SystemExit) as caught:
        shell.run_command(command)
    assert caught.value.code == code
    assert capsys.readouterr().err.endswith(told)


def test_debugging_shows_the_traceback(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pairup"])
    monkeypatch.setenv("PAIRUP_DEBUG", "1")
    with pytest.raises(ValueError, match="X has 3 rows"):
        shell.run_command(click.Command("test", callback=lambda: fail(ValueError("X has 3 rows"))))
