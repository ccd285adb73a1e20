"""Fit the expected nearness of partners on generated relations; prints constants of pairup/auto/schedule.py.

    python3 dev.py bench nearness [--seeds 4]

Every relation is drawn with three strengths of noise, beside unrelated sets with clusters and without. Fitted are those
that are not called reliable; a kind is judged by a fit to the others. "told" are those whose report says how near
partners are expected; no unrelated set should be among them. Then as many unrelated sets of each size are matched as
--draws says, and those are counted whose report says so.
"""

import argparse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from calibration import unrelated
from relations import RELATIONS, Pair, clusters
from scipy.optimize import minimize
from scipy.special import expit

import pairup
from pairup.auto.geometry import GeometryPair
from pairup.auto.nearness import disagreements
from pairup.auto.schedule import NEARNESS
from pairup.datasets import shuffle_pair
from pairup.kernels import squared_distances
from pairup.metrics import foscttm
from pairup.parallel import pinned_blas

KINDS = ("mixture", "rotation", "embeddings", "textures", "private", "clusters")
NOISES = (0.05, 0.3, 1.0)
SIZES = (20, 40, 80, 150)
UNRELATED = (20, 40, 100, 200)
RIDGE = 1e-3  # of the slope, which makes claims a little more careful
FIRST_SEED = 7000  # of unrelated sets, far from those of the fit


@dataclass(frozen=True)
class Example:
    """One matched set: how far its candidates disagree, and how near partners are to the true ones."""

    kind: str
    disagreement: float
    measured: float
    reliable: bool


def measure(kind: str, X: np.ndarray, Y: np.ndarray, truth: np.ndarray, m: pairup.Matching) -> Example:
    """Compare what candidates disagree on with the truth, the mean over both sets."""
    geometry = GeometryPair("euclidean", squared_distances(X), squared_distances(Y))
    back, known = np.argsort(m.indices), np.argsort(truth)
    near = 0.5 * (foscttm(m.indices, truth, Y) + foscttm(back, known, X))
    return Example(kind, sum(disagreements(m.model, geometry)), near, bool(m.reliable))


def unrelated_clusters(rng: np.random.Generator, n: int) -> Pair:
    """Two sets of clusters that have nothing to do with each other."""
    return clusters(rng, n, rng.uniform(0, 0.8))[0], clusters(rng, n, rng.uniform(0, 0.8))[1]


def draw_sets(seed: int) -> Iterator[tuple[str, Pair]]:
    """Yield pairs of sets and their kinds."""
    for kind in KINDS:
        for noise in NOISES:
            rng = np.random.default_rng([seed, round(100 * noise), zlib.crc32(kind.encode())])
            yield kind, RELATIONS[kind](rng, int(rng.choice(SIZES)), noise)
    for kind, make in (("unrelated", unrelated), ("unrelated clusters", unrelated_clusters)):
        for n in SIZES:
            yield kind, make(np.random.default_rng([seed, n]), n)


def examples(seed: int) -> Iterator[Example]:
    """Match all sets of one seed."""
    for kind, (X, Y) in draw_sets(seed):
        X, Y, truth = shuffle_pair(X, Y, random_state=seed)
        found = measure(kind, X, Y, truth, pairup.match(X, Y))
        print(f"{kind} n={len(X)}: disagreement {found.disagreement:.3f}, nearness {found.measured:.3f}", flush=True)
        yield found


def fit(sets: list[Example]) -> np.ndarray:
    """Return intercept and slope of the logistic regression of twice the nearness, 1 at the most."""
    x = np.array([each.disagreement for each in sets])
    y = np.clip([2 * each.measured for each in sets], 0, 1)

    def loss(b: np.ndarray) -> float:
        p = np.clip(expit(b[0] + b[1] * x), 1e-9, 1 - 1e-9)
        return float(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()) + RIDGE * b[1] ** 2

    return minimize(loss, np.zeros(2)).x


def claim(b: np.ndarray, example: Example) -> float:
    return float(0.5 * expit(b[0] + b[1] * example.disagreement))


def judge(sets: list[Example]) -> None:
    """Print the fit, and how well it tells kinds that it has not seen."""
    doubtful = [each for each in sets if not each.reliable]
    intercept, slope = fit(doubtful)
    print(f"intercept: float = {intercept:.2f}\nslope: float = {slope:.2f}")
    left_out = {kind: fit([e for e in doubtful if e.kind != kind]) for kind in {e.kind for e in doubtful}}
    said = np.array([claim(left_out[e.kind], e) for e in doubtful])
    was = np.array([min(e.measured, 0.5) for e in doubtful])
    told = said <= NEARNESS.told_up_to
    print(f"each kind by a fit to the others, {len(doubtful)} sets: off by {np.abs(said - was).mean():.3f} on average")
    print(f"told of {told.sum()}: said {said[told].mean():.3f}, measured {was[told].mean():.3f}")
    print(
        "told of unrelated sets:",
        sum(t and e.kind.startswith("unrelated") for t, e in zip(told, doubtful, strict=True)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--draws", type=int, default=20)
    args = parser.parse_args()
    with pinned_blas():
        if args.seeds:
            judge([example for seed in range(args.seeds) for example in examples(seed)])
        for n in UNRELATED if args.draws else ():
            near = []
            for number in range(args.draws):
                make = (unrelated, unrelated_clusters)[number % 2]
                m = pairup.match(*make(np.random.default_rng([FIRST_SEED + number, n]), n))
                near.append(0.5 if m.model.nearness is None else m.model.nearness)
            told = sum(value <= NEARNESS.told_up_to for value in near)
            print(f"unrelated, n = {n}: told of {told} of {len(near)}, least {min(near):.3f}", flush=True)


if __name__ == "__main__":
    main()
