"""More objects of one draw: is the answer ever worse than that of fewer?

    python3 dev.py bench nested                             all relations, seeds 0 and 1, n = 100 to 1,500
    python3 dev.py bench nested factors --seeds 5 6 --sizes 550 1000
    python3 dev.py bench nested --out FOLDER --again

Each relation is drawn once for each seed, without noise, and matched by its first n objects, shuffled. "factors" is six
positive factors against the logarithms of their mixtures in eight columns; the others are those of
benchmarks/relations.py. A line per draw says how far the share of right pairs falls below that of fewer objects at the
most, and whether every size has .95 and is called reliable wherever 300 objects are.

Results are kept in nested.json and computed once, so that an interrupted run goes on; --again computes them anew. CPU
seconds of one thread, the verdict included.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from relations import RELATIONS

import pairup
from pairup.datasets import shuffle_pair
from pairup.metrics import match_accuracy
from pairup.parallel import pinned_blas

SIZES = (100, 300, 550, 1000, 1500)
RIGHT = 0.95  # the share of right pairs that more objects must have where 300 have it
MAY_FALL = 0.02  # below the share of fewer objects
MOST = {"factors": 3000, "swiss roll": 1500, "spiral": 1500, "mixture": 1500, "graph": 1500}  # objects that are drawn


def draw(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two related sets; row i of one belongs to row i of the other."""
    rng = np.random.default_rng(seed)
    if name != "factors":
        return RELATIONS[name](rng, MOST[name], 0.0)
    mixing = np.abs(rng.normal(size=(6, 8)))
    Z = rng.gamma(2.0, size=(MOST[name], 6)) * [6, 5, 4, 3, 2, 1]
    return Z, np.log1p(Z @ mixing)


def measure(X: np.ndarray, Y: np.ndarray, n: int) -> dict[str, float]:
    """Match the first objects."""
    x, y, truth = shuffle_pair(X[:n], Y[:n], n)
    began = time.process_time()
    with pinned_blas():
        m = pairup.match(x, y)
    return {
        "right": match_accuracy(m.indices, truth),
        "reliable": float(m.reliable),
        "expected": m.reliability,
        "seconds": time.process_time() - began,
    }


def judge(by_size: dict[int, dict[str, float]]) -> str:
    """Say how much worse more objects are."""
    right = [by_size[n]["right"] for n in sorted(by_size)]
    fall = max((max(right[:k]) - right[k] for k in range(1, len(right))), default=0.0)
    verdict = f"falls by {max(fall, 0.0):.3f} at the most"
    if 300 in by_size and by_size[300]["right"] >= RIGHT and by_size[300]["reliable"]:
        larger = [by_size[n] for n in by_size if n > 300]
        holds = all(each["right"] >= RIGHT and each["reliable"] for each in larger)
        verdict += ", right and reliable beyond 300" if holds else ", NOT right and reliable beyond 300"
    return verdict + (" (too much)" if fall > MAY_FALL else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("relations", nargs="*", default=list(MOST), help=f"of {', '.join(MOST)}")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1])
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "nested.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name in args.relations:
        for seed in args.seeds:
            X, Y = draw(name, seed)
            done = results.setdefault(f"{name}, seed {seed}", {})
            for n in sorted(args.sizes):
                if str(n) not in done or args.again:
                    done[str(n)] = measure(X, Y, n)
                    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                found = done[str(n)]
                print(
                    f"{name}, seed {seed}, n = {n}: {found['right']:.3f} right, "
                    f"{'reliable' if found['reliable'] else 'not reliable'} ({found['expected']:.2f} expected), "
                    f"{found['seconds']:.1f} CPU s",
                    flush=True,
                )
            print(f"{name}, seed {seed}: {judge({int(n): found for n, found in done.items()})}", flush=True)


if __name__ == "__main__":
    main()
