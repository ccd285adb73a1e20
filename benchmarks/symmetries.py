"""Whether answers of `pairup.match` depend on the data alone: sets of every kind under five symmetries.

    python3 dev.py bench symmetries             60 sets
    python3 dev.py bench symmetries --sets 12   the first of them

A set is matched as it is, with the rows of X and of Y shuffled, with X and Y swapped, with 1,000 spreads of its column
added to every column, multiplied by 3.7, and with its columns permuted. The answer must be the same to the last pair,
and so must all probabilities. Rows that are equal but for rounding errors, such as isolated nodes in spectral
coordinates, may get the partner of one another: such ties are counted apart.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from matching import cells, cut, digits, faces, flickr, frey, some, usps
from relations import RELATIONS

import pairup
from pairup.datasets import load_tiles, to_lab

SIZES = (20, 30, 40, 60)
Sets = tuple[np.ndarray, np.ndarray]


def draw_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield generated relations, pictures cut in two, and cells, of 20 to 60 objects in turn."""
    pictures: dict[str, Callable[[], np.ndarray]] = {
        "photos": flickr, "tiles": lambda: to_lab(load_tiles(320)), "faces": faces, "frey": frey, "usps": usps,
        "digits": digits,
    }  # fmt: skip
    for k in range(3):
        for number, (kind, make) in enumerate(RELATIONS.items()):
            n = SIZES[(k + number) % 4]
            yield f"{kind} {n}", *make(np.random.default_rng([k, number]), n, (0.0, 0.1, 0.3)[k])
        for number, (kind, load) in enumerate(pictures.items()):
            n = SIZES[(k + number) % 4]
            how = ("left/right", "top/bottom", "checkerboard")[k]
            yield f"{kind} {how} {n}", *cut(some(load(), n, k), how, k)[:2]
        n, (X, Y) = SIZES[k], cells()
        rows = np.random.default_rng(k).permutation(len(X))[:n]
        yield f"scGEM {n}", X[rows], Y[rows]


def transforms(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> dict[str, tuple[Sets, Callable]]:
    """Return the changed sets, and what leads a table of all pairs back."""

    def same(P: np.ndarray) -> np.ndarray:
        return P

    def shift(Z: np.ndarray) -> np.ndarray:
        return Z + 1000.0 * Z.std(axis=0)

    a, b = rng.permutation(len(X)), rng.permutation(len(Y))
    u, v = rng.permutation(X.shape[1]), rng.permutation(Y.shape[1])
    return {
        "rows": ((X[a], Y[b]), lambda P: P[np.ix_(np.argsort(a), np.argsort(b))]),
        "swap": ((Y, X), np.transpose),
        "shift": ((shift(X), shift(Y)), same),
        "scale": ((3.7 * X, 3.7 * Y), same),
        "columns": ((X[:, u], Y[:, v]), same),
    }


def compare(X: np.ndarray, Y: np.ndarray, indices: np.ndarray, other: np.ndarray) -> str:
    """Say whether two matchings are the same, or differ among equal rows alone."""
    if (indices == other).all():
        return "same"
    x, y = (np.unique((Z / Z.std()).round(9), axis=0, return_inverse=True)[1].ravel() for Z in (X, Y))
    pairs = [sorted(zip(x.tolist(), y[p].tolist(), strict=True)) for p in (indices, other)]
    return "tie" if pairs[0] == pairs[1] else "DIFFERENT"


def as_table(m: pairup.Matching, n: int) -> np.ndarray:
    """Return a matching as a table of zeros and ones."""
    table = np.zeros((n, n))
    table[np.arange(n), m.indices] = 1.0
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first set")
    args = parser.parse_args()
    rows = []
    for number, (name, X, Y) in enumerate(islice(draw_sets(), args.first, args.sets), start=args.first):
        m = pairup.match(X, Y)
        row: dict[str, object] = {"set": name}
        for symmetry, ((A, B), back) in transforms(X, Y, np.random.default_rng(number)).items():
            changed = pairup.match(A, B)
            row[symmetry] = compare(X, Y, m.indices, back(as_table(changed, len(X))).argmax(axis=1))
            row[f"{symmetry}, probabilities"] = float(np.abs(back(changed.probabilities) - m.probabilities).max())
        rows.append(row)
        print(number, *(f"{v:.1e}" if isinstance(v, float) else v for v in row.values()), flush=True)
    for symmetry in ("rows", "swap", "shift", "scale", "columns"):
        found = [row[symmetry] for row in rows]
        print(f"{symmetry:8s}", {word: found.count(word) for word in ("same", "tie", "DIFFERENT")})
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "symmetries.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
