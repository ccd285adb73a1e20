"""Matrices of all pairs against coarse to fine: is `solver="multilevel"` ever less right than `solver="dense"`?

    python3 dev.py bench solvers                            all sets, n = 1,000
    python3 dev.py bench solvers views:0.1 --sizes 2000     one set
    python3 dev.py bench solvers --out FOLDER --again

Sets are those of `bench scale`: captions and languages (with PAIRUP_DATA), relations of benchmarks/relations.py with
:NOISE standard deviations of each column. One draw each, CPU seconds of one thread, the verdict included. A line says
TOO LOW where dense is right for half of the objects and coarse to fine for less than .98 of that.

Results are kept in solvers.json and computed once; --again computes them anew.
"""

import argparse
import json
import os
import time
from pathlib import Path

from scale import EMBEDDINGS, load

import pairup
from pairup.metrics import match_accuracy
from pairup.parallel import pinned_blas

SETS = (
    "captions",
    "views",
    "views:0.1",
    "views20",
    "embeddings",
    "embeddings:0.2",
    "rotation:0.02",
    "mixture",
    "units",
)
SOLVERS = ("dense", "multilevel")
SUCCEEDS = 0.5  # share right from which dense has succeeded
NO_LOWER = 0.98  # of that share


def measure(name: str, n: int, solver: str) -> dict[str, float]:
    """Match one set."""
    X, Y, truth = load(name, n)
    began = time.process_time()
    with pinned_blas():
        m = pairup.match(X, Y, solver=solver)
    right = match_accuracy(m.indices, truth)
    return {"right": right, "reliable": float(m.reliable), "seconds": time.process_time() - began}


def row(name: str, n: int, found: dict[str, dict[str, float]]) -> str:
    """Return one row of the table in markdown."""
    cells = [
        f"{one['right']:.3f}{'' if one['reliable'] else ', not reliable'}; {one['seconds']:.1f} s"
        for one in (found[solver] for solver in SOLVERS)
    ]
    dense, multilevel = (found[solver]["right"] for solver in SOLVERS)
    low = dense >= SUCCEEDS and multilevel < NO_LOWER * dense
    return f"| {name}, {n:,} | " + " | ".join(cells) + f" | {'TOO LOW' if low else ''} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--sizes", nargs="*", type=int, default=[1000])
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "solvers.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    print("| set | dense | coarse to fine | |\n|---|---|---|---|", flush=True)
    for n in args.sizes:
        for name in args.sets:
            if name in EMBEDDINGS and not os.environ.get("PAIRUP_DATA"):
                continue
            done = results.setdefault(f"{name}, {n}", {})
            for solver in SOLVERS:
                if solver not in done or args.again:
                    done[solver] = measure(name, n, solver)
                    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(row(name, n, done), flush=True)


if __name__ == "__main__":
    main()
