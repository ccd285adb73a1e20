"""Fit the map from votes to probabilities on generated relations; prints constants of pairup/auto/schedule.py.

python benchmarks/calibration.py [--seeds 3]
"""

import argparse
import zlib

import numpy as np
from relations import RELATIONS
from sklearn.linear_model import LogisticRegression

from pairup.auto import Answer, Problem, solve
from pairup.auto.calibration import features
from pairup.datasets import shuffle_pair

NOISES = (0.0, 0.05, 0.2, 0.5)


def examples(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, whether the pair is right, and the weight of each pair of all relations for one seed."""
    tables, right, weight = [], [], []
    for kind, make in RELATIONS.items():
        for noise in NOISES:
            rng = np.random.default_rng([seed, round(100 * noise), zlib.crc32(kind.encode())])
            n = int(rng.choice([40, 60, 100]))
            X, Y, truth = shuffle_pair(*make(rng, n, noise), random_state=seed)
            *_, answer = solve(Problem.check(X, Y))
            assert isinstance(answer, Answer)
            votes = answer.consensus.votes[np.arange(n), answer.indices]
            tables.append(features(votes, answer.consensus))
            right.append(answer.indices == truth)
            weight.append(np.full(n, 1.0 / n))  # every set counts alike
            print(f"{kind} {noise} n={n}: {np.mean(right[-1]):.2f} right, votes {votes.mean():.2f}", flush=True)
    return np.vstack(tables), np.concatenate(right), np.concatenate(weight)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parts = [examples(seed) for seed in range(parser.parse_args().seeds)]
    F, right, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    model = LogisticRegression(C=100.0, max_iter=10_000).fit(F, right, sample_weight=weight / weight.mean())
    print(f"intercept: float = {model.intercept_[0]:.2f}")
    print(f"coefficients: tuple[float, ...] = {tuple(np.round(model.coef_[0], 2).tolist())}")
    p = model.predict_proba(F)[:, 1]
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.any():
            print(f"said {p[inside].mean():.2f}, right {right[inside].mean():.2f} ({inside.sum()} pairs)")


if __name__ == "__main__":
    main()
