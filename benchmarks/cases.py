"""Cases of the attack: a function or a command in a process of its own, and how it ended."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TIME_LIMIT = 60.0  # seconds; a case that takes longer hangs
ACCEPTED = (ValueError, TypeError, OSError, MemoryError, ImportError)
FINE = ("answered", "refused", "interrupted", "killed", "at start")


@dataclass(frozen=True)
class Case:
    """What a case is drawn from."""

    number: int
    rng: np.random.Generator
    folder: Path  # its own, empty
    valid: bool = False  # whether to draw good input, for comparison


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    verdict: str  # one of FINE, or a fault: crash, hang, traceback, no words, unnamed, leftover, orphan, memory, ...
    text: str  # what it printed on stderr
    peak: float = 0.0  # MiB, what the process began with included


def run_forked(work: Callable[[], None], folder: Path) -> tuple[int | None, str, float]:
    """Run a function in a forked process; return its exit code (None if it hangs), its stderr and its peak memory.

    The peak of a forked process begins at what its parent holds at that moment, not at the parent's own peak.
    """
    said = folder / "stderr.txt"
    pid = os.fork()
    if pid == 0:
        with open(said, "wb") as err, open(os.devnull, "wb") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(70)
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), said.read_text("utf-8", "replace"), usage.ru_maxrss / 1024
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.wait4(pid, 0)
    return None, said.read_text("utf-8", "replace"), 0.0


def judge(
    code: int | None, text: str, peak: float, *, named: tuple[str, ...] = (), left: list[str] | None = None
) -> Outcome:
    """Say how a case ended; a refusal must name one of the files in `named`, where there are any."""
    if code is None:
        verdict = "hang"
    elif "Traceback" in text:
        verdict = "traceback"
    elif code < 0 or code not in (0, 1, 2):
        verdict = "crash"
    elif left:
        verdict = "leftover"
    elif code and not text.strip():
        verdict = "no words"
    elif code and named and not any(name in text for name in named):
        verdict = "unnamed"
    else:
        verdict = "refused" if code else "answered"
    return Outcome(verdict, text, peak)


def run_command(
    arguments: list[str], folder: Path, *, named: tuple[str, ...] = (), output: Path | None = None
) -> Outcome:
    """Run a command of pairup in a forked process."""
    before = set(os.listdir(folder)) | {"stderr.txt"}

    def work() -> None:
        from pairup.__main__ import main

        sys.argv = ["pairup", *arguments]
        main()

    code, text, peak = run_forked(work, folder)
    made = {output.name} if output is not None and not code else set()
    return judge(code, text, peak, named=named, left=sorted(set(os.listdir(folder)) - before - made))


def run_call(call: Callable[[], object], folder: Path, *, named: tuple[str, ...] = ()) -> Outcome:
    """Run a function in a forked process, where errors of the accepted kinds are refusals."""

    def work() -> None:
        try:
            call()
        except ACCEPTED as error:
            print(error, file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)

    return judge(*run_forked(work, folder), named=named)
