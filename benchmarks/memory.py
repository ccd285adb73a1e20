"""Memory that is predicted before a search starts, beside the peak that is measured; one process for each line.

python3 dev.py bench memory [SECONDS] [NAME …]

A search that takes longer than SECONDS (60) is stopped there, which is told: its peak may come later.
"""

import subprocess
import sys
import threading
import time
from unittest.mock import patch

import numpy as np

SIZES = (500, 1000, 2000, 3000)
NAMES = ("auto", "ks-hsic", "ks-nocco", "ks-mi", "lsom", "lsmi", "hsic", "nocco", "mi")
PAUSE = 0.005  # seconds between two looks at the memory


def relation(n):
    """Return two views of the same n objects, in different orders."""
    rng = np.random.default_rng(0)
    Z = rng.gamma(2.0, size=(n, 6)) * [6, 5, 4, 3, 2, 1]
    return Z, np.log1p(Z[rng.permutation(n)] @ np.abs(rng.normal(size=(6, 8))))


def run(name, n, seconds):
    """Run one of the methods or measures, and tell whether it was stopped."""
    from pairup import dependence, match_steps

    X, Y = relation(n)
    if name in ("lsmi", "hsic", "nocco", "mi"):
        dependence(X, Y, measure=name)
        return False
    started = time.monotonic()
    return any(time.monotonic() - started > seconds for _ in match_steps(X, Y, method=name))


def measure(name, n, seconds):
    """Print predicted and measured memory beyond what the process had after a small problem of the same kind."""
    import psutil

    from pairup import memory

    own, predicted, peak, done = psutil.Process(), [0], [0], threading.Event()

    def note(rows, columns, matrices):
        predicted[0] = max(predicted[0], 8 * rows * columns * matrices)

    def watch():
        while not done.wait(PAUSE):
            peak[0] = max(peak[0], own.memory_info().rss)

    run(name, 60, seconds)
    before = own.memory_info().rss
    homes = [module for module in list(sys.modules.values()) if getattr(module, "check_memory", None)]
    assert memory in homes
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for home in homes:
            patch.object(home, "check_memory", note).start()
        stopped = run(name, n, seconds)
    finally:
        done.set()
        watcher.join()
    found = peak[0] - before
    print(
        f"{name:10} {n:5} {predicted[0] / 1e6:10.0f} {found / 1e6:9.0f} {predicted[0] / found:10.2f}"
        f" {found / (8 * n * n):10.1f}{'  stopped' if stopped else ''}",
        flush=True,
    )


def main():
    """Measure what was asked for, or all."""
    if "--one" in sys.argv:
        name, n, seconds = sys.argv[2:]
        measure(name, int(n), float(seconds))
        return
    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    print(f"{'':10} {'n':>5} {'predicted':>10} {'measured':>9} {'ratio':>10} {'matrices':>10}   (MB, of n × n numbers)")
    for name in sys.argv[2:] or NAMES:
        for n in SIZES:
            subprocess.run([sys.executable, __file__, "--one", name, str(n), seconds], check=True)


if __name__ == "__main__":
    main()
