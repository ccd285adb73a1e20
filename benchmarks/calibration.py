"""Fit the map from votes to probabilities on generated relations; prints constants of pairup/auto/schedule.py.

    python3 dev.py bench calibration [--seeds 3]

Every relation is drawn with several strengths of noise and at three sizes, one of them tiny. Beside them stand many
unrelated sets of 4 to 100 objects, for a claim about few objects is easily too bold. How far the fit carries over is
measured by leaving out one kind of relation at a time.
"""

import argparse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from relations import RELATIONS, Pair
from sklearn.linear_model import LogisticRegression

from pairup.auto import Answer, Problem, solve
from pairup.auto.calibration import features
from pairup.datasets import shuffle_pair

NOISES = (0.0, 0.05, 0.2, 0.5)
SIZES = ((40, 60, 100), (13, 16, 20, 30), (4, 5, 6, 8, 10))  # one of each is drawn
FEWEST = {"graph": 13}  # objects of relations that need more than a few
UNRELATED = {4: 12, 5: 12, 6: 12, 8: 12, 12: 12, 20: 12, 40: 6, 60: 2, 100: 2}  # how many unrelated sets of each size


@dataclass(frozen=True)
class Example:
    """One matched set: the features of its pairs, and which are right."""

    kind: str
    table: np.ndarray
    right: np.ndarray


def unrelated(rng: np.random.Generator, n: int) -> Pair:
    """Two sets of any widths that have nothing to do with each other."""

    def draw() -> np.ndarray:
        columns = int(rng.integers(1, 21))
        if rng.random() < 0.5:
            return rng.normal(size=(n, columns))
        return rng.gamma(1.5, size=(n, columns)) * rng.gamma(2.0, size=columns)

    return draw(), draw()


def draw_sets(seed: int) -> Iterator[tuple[str, Pair]]:
    """Yield pairs of sets and their kinds."""
    for n, count in UNRELATED.items():
        for k in range(count):
            yield "unrelated", unrelated(np.random.default_rng([seed, n, k]), n)
    for kind, make in RELATIONS.items():
        for noise in NOISES:
            rng = np.random.default_rng([seed, round(100 * noise), zlib.crc32(kind.encode())])
            for sizes in SIZES:
                n = int(rng.choice(sizes))
                if n >= FEWEST.get(kind, 4):
                    yield kind, make(rng, n, noise)


def examples(seed: int) -> Iterator[Example]:
    """Match all sets of one seed."""
    for kind, (X, Y) in draw_sets(seed):
        X, Y, truth = shuffle_pair(X, Y, random_state=seed)
        *_, answer = solve(Problem.check(X, Y))
        assert isinstance(answer, Answer)
        votes = answer.consensus.votes[np.arange(len(X)), answer.indices]
        right = answer.indices == truth
        print(f"{kind} n={len(X)}: {right.mean():.2f} right, {answer.reliability:.2f} claimed", flush=True)
        yield Example(kind, features(votes, answer.consensus), right)


def fit(sets: list[Example]) -> LogisticRegression:
    """Fit the regression; every set counts alike."""
    weight = np.concatenate([np.full(len(e.right), 1.0 / len(e.right)) for e in sets])
    model = LogisticRegression(C=10.0, max_iter=20_000)
    return model.fit(
        np.vstack([e.table for e in sets]),
        np.concatenate([e.right for e in sets]),
        sample_weight=weight / weight.mean(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    sets = [example for seed in range(parser.parse_args().seeds) for example in examples(seed)]
    model = fit(sets)
    print(f"intercept: float = {model.intercept_[0]:.2f}")
    print(f"coefficients: tuple[float, ...] = {tuple(np.round(model.coef_[0], 2).tolist())}")
    left_out = {kind: fit([e for e in sets if e.kind != kind]) for kind in {e.kind for e in sets}}
    p = np.concatenate([left_out[e.kind].predict_proba(e.table)[:, 1] for e in sets])
    right = np.concatenate([e.right for e in sets])
    print("each kind by a fit to the others:")
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.any():
            print(f"said {p[inside].mean():.2f}, right {right[inside].mean():.2f} ({inside.sum()} pairs)")


if __name__ == "__main__":
    main()
