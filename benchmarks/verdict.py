"""What `pairup.match` says of unrelated sets, and what overlap="auto" says of sets that overlap in part.

    python3 dev.py bench verdict                          noise of 4 to 40 objects, 200 draws each, then the overlap
    python3 dev.py bench verdict noise --draws 50 --sizes 4 5
    python3 dev.py bench verdict overlap                  needs the photos

"noise": both sets are drawn at random, each by itself, so whatever is right is right by chance. A line per size gives
the mean share of right pairs, the mean share that was claimed, and how many draws were called reliable.

"overlap": photos cut in two, of which some halves are taken away on both sides (80 %: 213 of 320 photos have both
halves, 53 left and 53 right ones are alone), and generated relations; how many pairs were estimated, and how many of
the true ones were found. "250 of 320": only one side lacks halves, so that nothing has to be estimated.

Results are kept in verdict.json and computed once; --again computes them anew.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from calibration import unrelated
from matching import cut, flickr
from relations import RELATIONS

import pairup
from pairup.datasets import shuffle_pair
from pairup.parallel import pinned_blas

SIZES = (4, 5, 6, 8, 12, 20, 40)
FIRST_SEED = 9000  # far from those by which the verdict was calibrated
OVERLAPS = (0.6, 0.8, 1.0)
PARTIAL = ("embeddings", "rotation", "fields")
OBJECTS = 160  # of each generated set


def match_noise(n: int, number: int) -> dict[str, float]:
    """Match two sets that have nothing to do with each other."""
    X, Y, truth = shuffle_pair(*unrelated(np.random.default_rng([FIRST_SEED + number, n]), n), random_state=number)
    m = pairup.match(X, Y)
    return {"right": float((m.indices == truth).mean()), "claimed": m.reliability, "reliable": float(m.reliable)}


def match_part(kind: str, share: float) -> dict[str, float]:
    """Match two sets of which a share has a partner, and let the share be estimated."""
    if kind == "photos":
        X, Y, truth = cut(flickr(), "left/right")
    else:
        X, Y, truth = shuffle_pair(*RELATIONS[kind](np.random.default_rng(17), OBJECTS, 0.1), random_state=17)
    x, y, partner = take_part(X, Y, truth, share)
    began = time.process_time()
    m = pairup.match(x, y, overlap="auto")
    matched = m.indices >= 0
    return {
        "true": float((partner >= 0).mean()),
        "estimated": float(matched.mean()),
        "found": float((m.indices[partner >= 0] == partner[partner >= 0]).mean()),
        "seconds": time.process_time() - began,
    }


def take_part(
    X: np.ndarray, Y: np.ndarray, truth: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return as many objects of both sets, of which this share has its partner there, and the partners."""
    n = len(X)
    both = round(n * share / (2 - share))
    alone = (n - both) // 2
    order = np.random.default_rng(3).permutation(n)
    rows = np.sort(np.r_[order[:both], order[both : both + alone]])
    others = np.sort(truth[np.r_[order[:both], order[both + alone : both + 2 * alone]]])
    place = np.full(n, -1)
    place[others] = np.arange(len(others))
    return X[rows], Y[others], place[truth[rows]]


def match_unequal() -> dict[str, float]:
    """Match 320 left halves with 250 right ones."""
    X, Y, truth = cut(flickr(), "left/right")
    kept = np.sort(np.random.default_rng(0).permutation(len(Y))[:250])
    place = np.full(len(Y), -1)
    place[kept] = np.arange(len(kept))
    partner = place[truth]
    m = pairup.match(X, Y[kept])
    return {"found": float((m.indices[partner >= 0] == partner[partner >= 0]).mean()), "claimed": m.reliability}


def tell_noise(n: int, rows: list[dict[str, float]]) -> str:
    """Say in a line what was claimed of noise of one size."""
    right, claimed, reliable = (np.array([row[key] for row in rows]) for key in ("right", "claimed", "reliable"))
    return (
        f"noise, n = {n}, {len(rows)} draws: {right.mean():.3f} right, {claimed.mean():.3f} claimed "
        f"({claimed.max():.2f} at the most), called reliable {int(reliable.sum())} times"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["noise", "overlap"], help="noise, overlap")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "verdict.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() and not args.again else {}

    def keep(name: str, result: dict[str, float]) -> dict[str, float]:
        results[name] = result
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        return result

    with pinned_blas():
        for n in args.sizes if "noise" in args.what else ():
            names = [f"noise {n} {number}" for number in range(args.draws)]
            rows = [results.get(name) or keep(name, match_noise(n, k)) for k, name in enumerate(names)]
            print(tell_noise(n, rows), flush=True)
        for kind in ("photos", *PARTIAL) if "overlap" in args.what else ():
            for share in OVERLAPS:
                name = f"{kind}, overlap {share}"
                row = results.get(name) or keep(name, match_part(kind, share))
                print(name, *(f"{key} {value:.3f};" for key, value in row.items()), flush=True)
        if "overlap" in args.what:
            row = results.get("250 of 320") or keep("250 of 320", match_unequal())
            print("250 of 320 photos:", *(f"{key} {value:.3f};" for key, value in row.items()))


if __name__ == "__main__":
    main()
