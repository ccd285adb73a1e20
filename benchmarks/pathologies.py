"""Sets that are hardly matchable, at full size: is there an answer or a clear word, and never a hang?

    python3 dev.py bench pathologies                  every case
    python3 dev.py bench pathologies outliers copies  some of them

Each case is a process of its own on one thread, which is stopped after --limit CPU seconds. "possible" is the share of
the true pairs that can be told at all: of c copies of a row, one pair by chance. "found" is the share of them that was
found. Where both sets have objects without a partner, `overlap="auto"` is asked for too.

  equal        all rows of X equal: 500 objects, and 20,000 of which no matrix of all pairs is formed
  copies       20,000 objects, 10,000 of them copies of one row
  few values   5,000 objects with seven different rows: of 300 cluster centres most are the same or empty
  collapsed    5,000 objects of which all but 50 lie within a billionth of each other
  outliers     two sets of 5,000 objects of which 500 are the same: nine of ten have no partner
  1 : 100      1,000 objects against 100,000, among which all of them are
  unrelated    two sets of 20,000 objects that have nothing to do with each other
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from relations import MANY, RELATIONS

from pairup.types import Array, Indices

Sets = tuple[Array, Array, Indices]
"""X, Y, and the y of each x, −1 where it has none."""


def related(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return two smooth views of one mixture."""
    X, Y = (RELATIONS | MANY)["views"](np.random.default_rng(seed), n, 0.0)
    return X, Y


def shuffled(X: Array, Y: Array) -> Sets:
    """Return both sets, the second in another order."""
    order = np.random.default_rng(1).permutation(len(Y))
    return X, Y[order], np.argsort(order)[: len(X)]


def equal(n: int) -> Sets:
    _, Y = related(n)
    return shuffled(np.full((n, 5), 3.0), Y)


def copies() -> Sets:
    X, Y = related(20_000)
    X[:10_000], Y[:10_000] = X[0], Y[0]
    return shuffled(X, Y)


def few_values() -> Sets:
    X, Y = related(7)
    rows = np.random.default_rng(2).integers(7, size=5000)
    return shuffled(X[rows], Y[rows])


def collapsed() -> Sets:
    X, Y = related(5000)
    for Z in (X, Y):
        Z[50:] = Z[50] + 1e-9 * (Z[50:] - Z[50])
    return shuffled(X, Y)


def outliers() -> Sets:
    X, Y = related(9500)
    X, Y = X[:5000], np.concatenate([Y[:500], Y[5000:]])
    X, Y, truth = shuffled(X, Y)
    truth[500:] = -1
    return X, Y, truth


def lopsided() -> Sets:
    X, Y = related(100_000)
    return shuffled(X[:1000], Y)


def unrelated() -> Sets:
    return related(20_000)[0], related(20_000, seed=1)[1], np.full(20_000, -1)


CASES: dict[str, tuple[Callable[[], Sets], str | None]] = {
    "equal": (lambda: equal(500), None),
    "equal, many": (lambda: equal(20_000), None),
    "copies": (copies, None),
    "few values": (few_values, None),
    "collapsed": (collapsed, None),
    "outliers": (outliers, None),
    "outliers, overlap": (outliers, "auto"),
    "1 : 100": (lopsided, None),
    "unrelated": (unrelated, None),
}


def possible(X: Array, Y: Array, truth: Indices) -> float:
    """Return the share of the true pairs that can be told, those of copies by chance."""
    rows = np.flatnonzero(truth >= 0)
    if not len(rows):
        return 0.0
    copies_of = [np.unique(Z, axis=0, return_inverse=True, return_counts=True)[1:] for Z in (X[rows], Y[truth[rows]])]
    counts = np.stack([count[label.ravel()] for label, count in copies_of])
    return float((1.0 / counts.max(axis=0)).mean())


def measure(name: str) -> dict[str, object]:
    """Match one case in this process."""
    import pairup

    make, overlap = CASES[name]
    X, Y, truth = make()
    began = time.process_time()
    m = pairup.match(X, Y, **({} if overlap is None else {"overlap": overlap}))
    true = np.flatnonzero(truth >= 0)
    return {
        "seconds": time.process_time() - began,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (2**30 if sys.platform == "darwin" else 2**20),
        "pairs": int((m.indices >= 0).sum()),
        "possible": possible(X, Y, truth),
        "found": float((m.indices[true] == truth[true]).mean()) if len(true) else 0.0,
        "expected": m.reliability,
        "reliable": bool(m.reliable),
        "report": m.report,
    }


def observe(name: str, limit: int) -> str:
    """Match one case in a process of its own; return what came of it."""
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    command = [sys.executable, __file__, "--one", name]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=bound, check=False)
    if -child.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return f"STOPPED after {limit} CPU s: a hang"
    if child.returncode < 0:
        return f"DIED of {signal.Signals(-child.returncode).name}"
    if child.returncode:
        return "refused: " + (child.stderr.strip().splitlines() or ["without a word"])[-1]
    found = json.loads(child.stdout.splitlines()[-1])
    last = found["report"].strip().splitlines()[-1]
    return (
        f"{found['found']:.3f} found of {found['possible']:.3f} possible, {found['pairs']:,} pairs, "
        f"{'reliable' if found['reliable'] else 'not reliable'} ({found['expected']:.2f} expected), "
        f"{found['seconds']:.1f} CPU s, {found['gigabytes']:.2f} GB: {last}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="words that names of cases begin with")
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds of a case [600]")
    args = parser.parse_args()
    for name in CASES:
        if not args.cases or any(name.startswith(word) for word in args.cases):
            print(f"{name}: {observe(name, args.limit)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main()
