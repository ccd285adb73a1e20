"""Cells measured in two ways and never together: RNA of one half, ATAC of the other half, scored on all of them.

    python3 dev.py bench cells

2,407 blood cells (PBMC) by 50 principal components of RNA and 50 topics of ATAC. `match` sees 1,203 cells by RNA and
the 1,204 others by ATAC, so that no true pair exists; then every cell is carried from RNA to ATAC, and the score is the
share of all ATAC cells that lie closer to its image than its own does (`pairup.metrics.image_foscttm`), as in "Shared
Geometry as a Rosetta Stone" (.0887 ± .0033). "translate" is `Matching.translate` as it is, "means" the same without the
spread of Y. The other rows differ in what the regression is fitted to: expected partners, the mean partner by the votes
of all candidates, or the truth ("true pairs": what a regression reaches that is told it).

Real data are read below the folder that PAIRUP_DATA names.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import pairup
from pairup.datasets import data_folder
from pairup.metrics import image_foscttm
from pairup.regression import MatchedRegressor, predict_held_out, restore_spread

PUBLISHED = 0.0887


def run(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[str, float]:
    """Fit on two disjoint halves, and score all cells."""
    order = np.random.default_rng(seed).permutation(len(X))
    a, b = order[: len(X) // 2], order[len(X) // 2 :]
    m = pairup.match(X[a], Y[b])
    votes = m.model.votes

    def score(images: np.ndarray) -> float:
        return image_foscttm(images, np.arange(len(X)), Y)

    row = {
        "seed": seed, "candidates": len(m.model.candidates), "reliability": m.reliability,
        "translate": score(m.translate(X)), "means": score(m.translate(X, spread=False)),
    }  # fmt: skip
    targets = {
        "expected partners": m.expected_partner(),
        "votes": votes @ Y[b] / np.maximum(votes.sum(axis=1, keepdims=True), 1e-30),
        "true pairs": Y[a],
    }
    for name, partners in targets.items():
        model = MatchedRegressor().fit(X[a], partners)
        held_out = predict_held_out(model, X[a], partners)
        row[name] = score(restore_spread(model.predict(X), held_out, Y[b]))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    data = np.load(data_folder() / "cells/pbmc2407.npz")
    rows = []
    for seed in range(args.seeds):
        rows.append(run(data["rna"].astype(float), data["atac"].astype(float), seed))
        print(" ".join(f"{key} {value:.4g};" for key, value in rows[-1].items()), flush=True)
    for key in list(rows[0])[3:]:
        scores = [row[key] for row in rows]
        print(f"{key:30s} {np.mean(scores):.4f} ± {np.std(scores):.4f} (published {PUBLISHED})")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "cells.json").write_text(json.dumps(rows, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
