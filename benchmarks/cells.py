"""Cells measured in two ways and never together: RNA of one half, ATAC of the other half, scored on all of them.

    python3 dev.py bench cells

2,407 blood cells (PBMC) by 50 principal components of RNA and 50 topics of ATAC. `match` sees 1,203 cells by RNA and
the 1,204 others by ATAC, so that no true pair exists; then every cell is carried from RNA to ATAC, and the score is the
share of all ATAC cells that lie closer to its image than its own does (`pairup.metrics.image_foscttm`), as in "Shared
Geometry as a Rosetta Stone" (.0887 ± .0033). Rows differ in what the regression of `Matching.translate` is fitted to:
the matched pairs, as it is; expected partners; the mean partner by the votes of all candidates. "stretched" images
spread along each principal component of ATAC as its cells do. "true pairs" are what a regression reaches that is told
the truth.

Real data are read below the folder that PAIRUP_DATA names.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import pairup
from pairup.datasets import data_folder
from pairup.metrics import image_foscttm
from pairup.regression import MatchedRegressor

PUBLISHED = 0.0887


def stretch(images: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scale images along the principal components of Y until they spread as Y does."""
    axes = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[2]
    Z = (images - images.mean(axis=0)) @ axes.T
    spread = ((Y - Y.mean(axis=0)) @ axes.T).std(axis=0)
    return Y.mean(axis=0) + (Z * spread / np.maximum(Z.std(axis=0), 1e-12)) @ axes


def run(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[str, float]:
    """Fit on two disjoint halves, and score all cells."""
    order = np.random.default_rng(seed).permutation(len(X))
    a, b = order[: len(X) // 2], order[len(X) // 2 :]
    m, everyone = pairup.match(X[a], Y[b]), np.arange(len(X))
    votes = m.model.votes
    matched = np.flatnonzero(m.indices >= 0)
    targets = {
        "pairs": (X[a][matched], Y[b][m.indices[matched]]),
        "expected partners": (X[a], m.expected_partner()),
        "votes": (X[a], votes @ Y[b] / np.maximum(votes.sum(axis=1, keepdims=True), 1e-30)),
        "true pairs": (X[a], Y[a]),
    }
    row: dict[str, float] = {"seed": seed, "candidates": len(m.model.candidates), "reliability": m.reliability}
    for name, (points, partners) in targets.items():
        images = MatchedRegressor().fit(points, partners).predict(X)
        row[name] = image_foscttm(images, everyone, Y)
        row[f"{name}, stretched"] = image_foscttm(stretch(images, Y[b]), everyone, Y)
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
