"""What five pairs help that `Matching.suggest` asks for, beside five drawn at random; prints mean accuracies.

    python3 dev.py bench suggestions [--seeds 2]

The objects that are asked for get their true partners as anchors. Relations that come out right anyway are left out.
"""

import argparse
import zlib

import numpy as np
from relations import RELATIONS

import pairup
from pairup.datasets import shuffle_pair
from pairup.metrics import match_accuracy
from pairup.parallel import pinned_blas

ASKED = 5
KINDS = ("mixture", "rotation", "graph", "fields", "textures", "private", "units", "spiral")


def helped(kind: str, noise: float, seed: int) -> tuple[float, float, float] | None:
    """Return the accuracy without known pairs, with suggested and with random ones."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    X, Y, truth = shuffle_pair(*RELATIONS[kind](rng, 100, noise), random_state=seed)
    m = pairup.match(X, Y)
    blind = match_accuracy(m.indices, truth)
    if blind > 0.95:
        return None
    drawn = rng.permutation(len(X))[:ASKED]
    scores = [blind]
    for asked in ([i for i, _ in m.suggest(ASKED)], drawn):
        known = pairup.match(X, Y, anchors=[(int(i), int(truth[i])) for i in asked])
        scores.append(match_accuracy(known.indices, truth))
    return scores[0], scores[1], scores[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    rows = []
    for seed in range(parser.parse_args().seeds):
        for kind in KINDS:
            for noise in (0.1, 0.3):
                with pinned_blas():
                    scores = helped(kind, noise, seed)
                if scores is not None:
                    rows.append(scores)
                    print(f"{kind} {noise}: without {scores[0]:.2f}, suggested {scores[1]:.2f}, random {scores[2]:.2f}")
    means = np.mean(rows, axis=0)
    error = np.std(np.subtract(*np.transpose(rows)[1:])) / len(rows) ** 0.5
    print(f"{len(rows)} sets: without {means[0]:.3f}, suggested {means[1]:.3f}, random {means[2]:.3f} (± {error:.3f})")


if __name__ == "__main__":
    main()
