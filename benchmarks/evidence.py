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


def make_noise(n: int, seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 4)), np.arange(n)


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
RELATIONS: dict[str, Callable[[int], tuple]] = {
    "rotations": make_rotation,
    "linear maps": make_linear_map,
    "exponentials": make_exponential,
    "halves of tiles": make_halves,
}


def print_noise() -> None:
    called = total = 0
    print(f"Sets without any relation: how often the pairs are called more than chance, of {DRAWS} draws")
    print(f"{'':10}" + " ".join(f"{f'n = {n}':>8}" for n in (5, 10, 30, 60)))
    for method in METHODS:
        print(f"{method:10}", end="")
        for n in (5, 10, 30, 60):
            draws = [make_noise(n, 1000 + k) for k in range(DRAWS)]
            wrong = sum(pairup.match(X, Y, method=method).reliable is None for X, Y, _ in draws)
            called, total = called + wrong, total + DRAWS
            print(f"{wrong:8}", end=" ", flush=True)
        print()
    print(f"in all {called} of {total}")


def print_related() -> None:
    print(
        "\nRelated sets of 60: called more than chance, of those with more than half of the pairs right / less than .1"
    )
    counts = np.zeros((2, 2), dtype=int)
    for name, make in RELATIONS.items():
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
    print_noise()
    print_related()
