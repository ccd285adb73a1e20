"""Whether the verdict on a matching by one of the paper's methods can be trusted.

python3 dev.py bench evidence
"""

from collections.abc import Callable

import numpy as np

import pairup
from pairup.datasets import half_images, load_tiles, shuffle_pair, to_lab
from pairup.metrics import match_accuracy

METHODS = ("ks-hsic", "ks-nocco", "ks-mi", "lsom")
DRAWS = 12


def make_noise(n: int, d: int, e: int) -> Callable[[int], tuple]:
    def make(seed: int) -> tuple:
        rng = np.random.default_rng(seed)
        return rng.normal(size=(n, d)), rng.normal(size=(n, e)), np.arange(n)

    return make


def make_clusters(seed: int) -> tuple:
    """Two sets of four clusters each that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X, Y = (4 * rng.normal(size=(4, 3))[rng.integers(4, size=40)] + 0.5 * rng.normal(size=(40, 3)) for _ in range(2))
    return X, Y, np.arange(40)


def make_curves(seed: int) -> tuple:
    """Two curves that have nothing to do with each other but that both are curves."""
    rng = np.random.default_rng(seed)
    s, t = (np.sort(rng.uniform(0, 6, size=40)) for _ in range(2))
    X = np.column_stack([np.cos(s), np.sin(s), 0.3 * s])
    return X, np.column_stack([t, np.sqrt(t), np.sin(2 * t)])[rng.permutation(40)], np.arange(40)


def make_rotation(seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(60, 4)) * [4, 3, 2, 1]
    return shuffle_pair(Z, Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T + 0.02 * rng.normal(size=(60, 7)), seed)


def make_linear_map(seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(60, 3)) * [3, 2, 1]
    return shuffle_pair(Z, Z @ rng.normal(size=(3, 3)), seed)


def make_exponential(seed: int) -> tuple:
    X = np.random.default_rng(seed).normal(size=(60, 2))
    return shuffle_pair(X, np.exp(X), seed)


def make_halves(seed: int) -> tuple:
    return half_images(TILES[np.random.default_rng(seed).permutation(640)[:60]], random_state=seed)


TILES = to_lab(load_tiles(640))
UNRELATED: dict[str, Callable[[int], tuple]] = {
    "noise, 3 and 4 columns, n = 5": make_noise(5, 3, 4),
    "noise, 3 and 4 columns, n = 10": make_noise(10, 3, 4),
    "noise, 3 and 4 columns, n = 40": make_noise(40, 3, 4),
    "noise, 3 and 1 columns, n = 40": make_noise(40, 3, 1),
    "noise, 20 and 20 columns, n = 60": make_noise(60, 20, 20),
    "noise, 50 and 100 columns, n = 40": make_noise(40, 50, 100),
    "clusters, n = 40": make_clusters,
    "curves, n = 40": make_curves,
}
RELATED: dict[str, Callable[[int], tuple]] = {
    "rotations": make_rotation,
    "linear maps": make_linear_map,
    "exponentials": make_exponential,
    "halves of tiles": make_halves,
}


def print_unrelated() -> None:
    print(f"Sets without any relation: how often the pairs are called more than chance, of {DRAWS} draws")
    print(f"{'':34}" + " ".join(f"{method:>9}" for method in METHODS))
    for name, make in UNRELATED.items():
        print(f"{name:34}", end="")
        for method in METHODS:
            sets = [make(1000 + k)[:2] for k in range(DRAWS)]
            believed = sum(pairup.match(X, Y, method=method).reliable is None for X, Y in sets)
            print(f"{believed:9}", end=" ", flush=True)
        print()


def print_related() -> None:
    print(
        "\nRelated sets of 60: called more than chance, of those with more than half of the pairs right / less than .1"
    )
    counts = np.zeros((2, 2), dtype=int)
    for name, make in RELATED.items():
        for method in METHODS:
            cells = np.zeros((2, 2), dtype=int)
            for k in range(DRAWS):
                X, Y, truth = make(50 + k)
                m = pairup.match(X, Y, method=method)
                accuracy = match_accuracy(m.indices, truth, Y)
                if accuracy > 0.5 or accuracy < 0.1:
                    cells[int(accuracy < 0.1)] += [m.reliable is None, 1]
            counts += cells
            texts = [f"{believed} of {of}" for believed, of in cells]
            print(f"{name:16} {method:10} {texts[0]:>9} / {texts[1]:>9}", flush=True)
    print(f"in all: right {counts[0, 0]} of {counts[0, 1]}, wrong {counts[1, 0]} of {counts[1, 1]}")


if __name__ == "__main__":
    print_unrelated()
    print_related()
