"""Fit the map from votes to probabilities on generated relations; prints constants of pairup/auto/schedule.py.

    python3 dev.py bench calibration [--seeds 0 1]

Every relation is drawn with several strengths of noise and at four sizes, one of them tiny. Beside them stand many
unrelated sets of 4 to 150 objects, for a claim about few objects is easily too bold. Sets of fewer than 13 objects take
no part in the fit: what is said of them is corrected by the constants on few objects. How far the fit carries over is
measured by leaving out one kind of relation at a time. What was computed is kept in calibration.pkl; --again computes
it anew.
"""

import argparse
import pickle
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from relations import RELATIONS, Pair
from sklearn.linear_model import LogisticRegression

from pairup.auto import Answer, Problem, solve
from pairup.auto.calibration import features
from pairup.datasets import shuffle_pair
from pairup.parallel import pinned_blas

NOISES = (0.0, 0.05, 0.2, 0.5)
SIZES = ((60, 100, 150), (30, 40, 50), (13, 16, 20), (4, 5, 6, 8, 10))  # one of each is drawn
FITTED_FROM = 13  # objects
FEWEST = {"graph": 13}  # objects of relations that need more than a few
UNRELATED = {4: 12, 5: 12, 6: 12, 8: 12, 12: 12, 20: 12, 40: 6, 60: 2, 100: 2}  # how many unrelated sets of each size


@dataclass(frozen=True)
class Example:
    """One matched set: the features of its pairs with the last stage and without it, and which are right."""

    kind: str
    n: int
    both: np.ndarray
    votes: np.ndarray
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


def examples(seed: int, done: dict[str, Example], path: Path) -> Iterator[Example]:
    """Match all sets of one seed, but those that are done."""
    for number, (kind, (X, Y)) in enumerate(draw_sets(seed)):
        name = f"{kind}, {len(X)} objects, seed {seed}, number {number}"
        if name not in done:
            done[name] = example(kind, X, Y, seed)
            path.write_bytes(pickle.dumps(done))
            print(f"{name}: {done[name].right.mean():.2f} right", flush=True)
        yield done[name]


def example(kind: str, X: np.ndarray, Y: np.ndarray, seed: int) -> Example:
    """Match a set; where the last stage did not run, what is said with it is the same as without."""
    X, Y, truth = shuffle_pair(X, Y, random_state=seed)
    *_, answer = solve(Problem.check(X, Y))
    assert isinstance(answer, Answer)
    assert answer.consensus is not None
    consensus, i = answer.consensus, np.arange(len(X))
    votes = consensus.votes[i, answer.indices]
    plan = None if consensus.plan is None else consensus.plan[i, answer.indices].astype(float)
    alone = features(votes, None, consensus)
    both = np.empty((0, 5)) if plan is None else features(votes, plan, consensus)
    return Example(kind, len(X), both, alone, answer.indices == truth)


def fit(sets: list[Example], table: str) -> LogisticRegression:
    """Fit the regression to the features of one name; every set counts alike."""
    fitted = [e for e in sets if e.n >= FITTED_FROM and len(getattr(e, table))]
    weight = np.concatenate([np.full(len(e.right), 1.0 / len(e.right)) for e in fitted])
    model = LogisticRegression(C=10.0, max_iter=20_000)
    return model.fit(
        np.vstack([getattr(e, table) for e in fitted]),
        np.concatenate([e.right for e in fitted]),
        sample_weight=weight / weight.mean(),
    )


def tell(sets: list[Example], claims: list[np.ndarray]) -> None:
    """Print claims beside what is right, by what was claimed and by the number of objects."""
    p, right = np.concatenate(claims), np.concatenate([e.right for e in sets])
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.any():
            print(f"said {p[inside].mean():.2f}, right {right[inside].mean():.2f} ({inside.sum()} pairs)")
    for low, high in pairwise((4, 6, 9, 13, 21, 31, 61, 1000)):
        chosen = [k for k, e in enumerate(sets) if low <= e.n < high]
        said, was = (np.mean([each[k].mean() for k in chosen]) for each in (claims, [e.right for e in sets]))
        print(f"{low} to {high - 1} objects: {said:.2f} said, {was:.2f} right ({len(chosen)} sets)")
    share, said = np.array([e.right.mean() for e in sets]), np.array([each.mean() for each in claims])
    large = np.array([e.n >= 30 for e in sets])
    print(f"30 objects and more: {np.sum(large & (share >= 0.6) & (said < 0.5))} of {np.sum(large & (share >= 0.6))} "
          f"with .6 right not called reliable, {np.sum(large & (share < 0.35) & (said >= 0.5))} of "
          f"{np.sum(large & (share < 0.35))} below .35 called so")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1])
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "calibration.pkl"
    done = pickle.loads(path.read_bytes()) if path.exists() and not args.again else {}
    with pinned_blas():
        sets = [each for seed in args.seeds for each in examples(seed, done, path)]
    for table, prefix in (("both", ""), ("votes", "votes_")):
        model = fit(sets, table)
        print(f"{prefix}intercept: float = {model.intercept_[0]:.2f}")
        print(f"{prefix}coefficients: tuple[float, ...] = {tuple(np.round(model.coef_[0], 2).tolist())}")
        left_out = {kind: fit([e for e in sets if e.kind != kind], table) for kind in {e.kind for e in sets}}
        there = [e for e in sets if len(getattr(e, table))]
        print(f"each kind by a fit to the others ({table}), before the correction for few objects:")
        tell(there, [left_out[e.kind].predict_proba(getattr(e, table))[:, 1] for e in there])


if __name__ == "__main__":
    main()
