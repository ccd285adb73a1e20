"""The mark of the quick look (`pairup.auto.leads`), on generated sets of many dimensions, none of which dominates.

    python3 dev.py bench leads [sentences turned saturated unrelated] [--seeds 0 1 2 3] [--sizes 600 1000]

Each draw is looked at as `match` does: how many pairs of the matching to which signatures lead are right, and how much
more of it is found again than of an unrelated set. Noise is swept so that signatures lead to the pairing of some sets
and astray in others; unrelated sets stand beside them. At last it prints marks that tell right leads from wrong ones:
the largest ratio of a wrong lead (less than half of the pairs right), the least of a right one, and the mark with the
fewest errors, the middle of the widest such range on a logarithmic scale.
"""

import argparse
import time

import numpy as np
from relations import Pair, noisy, sentences

from pairup.auto.leads import has_dominant_components, look
from pairup.auto.metrics import directions_pair
from pairup.auto.problem import Context
from pairup.constraints import Constraints
from pairup.datasets import shuffle_pair
from pairup.metrics import match_accuracy
from pairup.parallel import pinned_blas

NOISES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.8, 1.2)
RIGHT = 0.5  # the share of right pairs from which a lead is right


def turned(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Skewed factors of falling widths, turned into more dimensions, with noise of each view's own."""
    k = int(rng.integers(30, 120))
    Z = rng.gamma(rng.uniform(1, 4), size=(n, k)) * np.arange(1, k + 1) ** -rng.uniform(0, 0.5)
    return noisy(rng, *(Z @ np.linalg.qr(rng.normal(size=(k + 20, k)))[0].T for _ in range(2)), noise)


def saturated(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Saturating linear maps of many factors with topics, as in embeddings."""
    k = int(rng.integers(30, 90))
    Z = rng.normal(size=(n, k)) + rng.uniform(0, 1.2) * rng.normal(size=(20, k))[rng.integers(20, size=n)]
    return noisy(rng, *(np.tanh(Z @ rng.normal(size=(k, 2 * k)) / k**0.5) for _ in range(2)), noise)


KINDS = {"sentences": sentences, "turned": turned, "saturated": saturated}


def unrelated(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """One view of one draw beside one of another."""
    make = list(KINDS.values())[int(rng.integers(len(KINDS)))]
    return make(rng, n, noise)[0], make(rng, n, noise)[1]


def best_mark(ratios: np.ndarray, right: np.ndarray) -> tuple[float, int]:
    """Return the mark with the fewest errors, and their number."""
    edges = np.sort(ratios)
    marks = np.sqrt(edges[1:] * edges[:-1])
    errors = np.array([((ratios > mark) != right).sum() for mark in marks])
    widths = np.where(errors == errors.min(), np.log(edges[1:] / edges[:-1]), -1.0)
    return float(marks[widths.argmax()]), int(errors.min())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=[*KINDS, "unrelated"])
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(4)))
    parser.add_argument("--sizes", type=int, nargs="*", default=[600, 1000])
    args = parser.parse_args()
    found = []
    for n in args.sizes:
        for seed in args.seeds:
            for kind in args.kinds:
                make = KINDS.get(kind, unrelated)
                for number, noise in enumerate(NOISES):
                    X, Y, truth = shuffle_pair(*make(np.random.default_rng([seed, number, n]), n, noise), seed)
                    pair = directions_pair(X, Y)
                    if has_dominant_components(pair.x) or has_dominant_components(pair.y):
                        continue
                    began = time.process_time()
                    with pinned_blas():
                        indices, ratio = look(pair, Context(Constraints(n, n, n)))
                    share = match_accuracy(indices, truth)
                    found.append((ratio, kind != "unrelated" and share >= RIGHT))
                    seconds = time.process_time() - began
                    set_ = f"{kind}, n = {n}, seed {seed}, noise {noise}"
                    print(f"{set_}: {share:.3f} right, ratio {ratio:.2f}, {seconds:.1f} CPU s", flush=True)
    ratios, right = np.array([ratio for ratio, _ in found]), np.array([good for _, good in found])
    wrong = np.sort(ratios[~right])[::-1]
    if not 0 < right.sum() < len(right):
        return
    print(f"{right.sum()} right leads, the least ratios {np.round(np.sort(ratios[right])[:5], 2).tolist()}")
    print(f"{len(wrong)} wrong leads, the largest ratios {np.round(wrong[:5], 2).tolist()}")
    print("fewest errors: mark {:.2f}, {} errors".format(*best_mark(ratios, right)))


if __name__ == "__main__":
    main()
