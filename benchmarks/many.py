"""Fit the probabilities of many objects on generated relations; prints constants of pairup/auto/schedule.py.

    python3 dev.py bench many [--n 800] [--quick] [--seeds 1] [KIND[:NOISE] …]

Every set is matched coarse to fine whatever its size. "by the map" is the mean probability of its pairs by the map of
the other half, before the regression; how far the fit carries over is measured by leaving out one kind of relation at a
time.
--quick takes fewer clusters, landmarks and updates, as the tests do: the fit in use was made so, but for a few sets of
3,000 to 10,000 objects.
"""

import argparse
import zlib
from dataclasses import dataclass, replace

import numpy as np
from relations import MANY, RELATIONS
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from pairup.auto import Problem, multilevel, posterior
from pairup.auto.canonical import Canonical
from pairup.auto.schedule import CALIBRATION, MULTILEVEL
from pairup.auto.significance import Significance
from pairup.auto.solution import score_sample
from pairup.datasets import shuffle_pair

KINDS = {
    "views": "0 .1 .3 .5",
    "views20": ".3 .6",
    "embeddings": "0 .2 .5",
    "rotation": "0 .02 .1 .2 .3",
    "mixture": "0 .05",
    "units": "0 .05 .2",
    "private": "0 .1",
    "sentences": ".1 .3",
    "fields": "0 .2",
    "textures": "0",
    "clusters": "0 .2",
    "nothing": "0 1",
}
SETS = tuple(f"{kind}:{noise}" for kind, noises in KINDS.items() for noise in noises.split())
QUICK = {
    "clusters": 80,
    "landmarks": 300,
    "starts_per_clustering": 1,
    "clusterings": 1,
    "finalists": 1,
    "polishings": 20,
    "polished": 500,
    "settlings": 1,
    "settling_steps": 14,
    "populations": 1,
}


@dataclass(frozen=True)
class Example:
    """One matched set: the features of its pairs, which are right, and what the map of the other half says of them."""

    kind: str
    table: np.ndarray
    right: np.ndarray
    mapped: float


def example(kind: str, n: int, seed: int) -> Example | None:
    """Match one set; None where nothing is found."""
    name, _, noise = kind.partition(":")
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    X, Y, truth = shuffle_pair(*(RELATIONS | MANY)[name](rng, n, float(noise or 0.0)), random_state=seed)
    canonical = Canonical.of(Problem.check(X, Y, dense=False))
    problem = canonical.problem
    steps = multilevel.search(problem, seed=seed, n_jobs=None)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
    if found is None:
        return None
    best, view = found.best, found.view
    unrelated = multilevel.score_unrelated(view, problem, seed)
    scores = Significance(best.metric, score_sample(view, problem, best.indices), unrelated)
    U, V = multilevel.all_values(view.x, problem.x), multilevel.all_values(view.y, problem.y)
    candidates, profit, others, _ = posterior.predict_pairs(U, V, best.indices, best.rank)
    own = posterior.pair_probabilities(candidates, profit, others, len(V))[:, 0]
    own = np.clip(own, CALIBRATION.least_of_many, 1.0 - CALIBRATION.least_of_many)
    of_set = np.append(multilevel.evidence(found, scores.log_ratio), own.mean())
    table = np.column_stack([np.tile(of_set, (len(own), 1)), own.mean() * np.log(own / (1.0 - own))])
    given = canonical.restore_matching(best.indices)
    at = canonical.columns[best.indices] if canonical.swapped else canonical.rows
    return Example(name, table, (given == truth)[at], float(own.mean()))


def fit(sets: list[Example]) -> LogisticRegression:
    """Fit the regression; every set counts alike."""
    weight = np.concatenate([np.full(len(e.right), 1.0 / len(e.right)) for e in sets])
    right = np.concatenate([e.right for e in sets])
    return LogisticRegression(C=10.0, max_iter=20_000).fit(
        np.vstack([e.table for e in sets]), right, sample_weight=weight / weight.mean()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=SETS)
    parser.add_argument("--n", type=int, default=800)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        for name, value in QUICK.items():
            object.__setattr__(MULTILEVEL, name, value)
    sets = []
    with threadpool_limits(1):
        for kind in args.kinds:
            for seed in range(args.seeds):
                if (e := example(kind, args.n, seed)) is not None:
                    sets.append(replace(e, kind=kind.partition(":")[0]))
                    print(f"{kind}: {e.right.mean():.3f} right, {e.mapped:.3f} by the map", flush=True)
    model = fit(sets)
    print(f"intercept_of_many: float = {model.intercept_[0]:.2f}")
    print(f"evidence_of_many: tuple[float, float] = {tuple(np.round(model.coef_[0, :2], 2).tolist())}")
    print(f"mean_of_many: float = {model.coef_[0, 2]:.2f}")
    print(f"log_odds_of_many: float = {model.coef_[0, 3]:.2f}")
    print("each kind by a fit to the others:")
    errors = []
    for e in sets:
        model = fit([other for other in sets if other.kind != e.kind])
        log_odds = e.table[:, 3] / e.table[:, 2]
        claimed = expit(np.minimum(model.decision_function(e.table), log_odds + CALIBRATION.most_gain_of_many)).mean()
        errors.append(abs(claimed - e.right.mean()))
        print(f"{e.kind}: said {claimed:.3f}, right {e.right.mean():.3f}")
    print(f"mean error {np.mean(errors):.3f}")


if __name__ == "__main__":
    main()
