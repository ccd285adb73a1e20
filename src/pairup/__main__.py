"""Start the command line: ``pairup``, or ``python -m pairup``."""

import os

try:
    import signal
    import sys
    from typing import Any, NoReturn
except KeyboardInterrupt:  # before a handler can be set
    os.write(2, b"interrupted\n")
    os._exit(130)


def main() -> None:
    """Run the command and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in a job of the background
    if interruptible:
        signal.signal(signal.SIGINT, _leave)  # while modules are imported there is nothing to clean up
    from pairup.cli import pairup_command
    from pairup.cli.shell import end_if_interrupted, guard_streams, run_command

    guard_streams()
    sys.unraisablehook = end_if_interrupted
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command(pairup_command)


def _leave(*signal: Any) -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
