"""Linear assignment beside scipy and POT: CPU milliseconds on one thread, smallest of several runs.

    python benchmarks/assignment.py [--sizes 100 320 1000 4096]

Gradients are K̄ L̄[p] of a KS-HSIC climb that matches left with right halves of photograph tiles; a plan is
the annealed one of the same task; distances are those of sorting colours. All three must agree in value.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from pairup.assignment import assign

Matrix = NDArray[np.float64]


def tiles(n: int, size: int = 16, step: int = 12) -> Matrix:
    """n tiles in Lab, drawn from the photographs that ship with scikit-image and scikit-learn."""
    import skimage.data
    from skimage.color import rgb2lab
    from sklearn.datasets import load_sample_images

    photographs = [skimage.data.astronaut(), skimage.data.coffee(), skimage.data.chelsea(), skimage.data.rocket()]
    cut = []
    for photograph in photographs + load_sample_images().images:
        windows = np.lib.stride_tricks.sliding_window_view(rgb2lab(photograph), (size, size), axis=(0, 1))
        cut.append(windows[::step, ::step].reshape(-1, 3, size, size))
    every = np.concatenate(cut)
    return every[np.random.default_rng(0).permutation(len(every))[:n]]


def prepared(features: Matrix) -> Matrix:
    D = cdist(features, features)
    K = np.exp(-((D / np.median(D)) ** 2))
    return K - K.mean(0) - K.mean(1)[:, None] + K.mean()


def problems(n: int) -> Iterator[tuple[str, Matrix]]:
    rng = np.random.default_rng(n)
    photographs = tiles(n)
    K = prepared(photographs[..., :8].reshape(n, -1))
    L = prepared(photographs[rng.permutation(n), :, :, 8:].reshape(n, -1))
    p = np.empty(n, int)
    start = np.ones(n)  # eigsh draws at random without it
    start[0] = 2
    p[eigsh(K, 1, v0=start)[1][:, 0].argsort()] = eigsh(L, 1, v0=start)[1][:, 0].argsort()
    for step in range(4):
        G = K @ L[p]
        if step == 3 or (step == 0 and n <= 1000):  # scipy needs half a minute for one beyond
            yield f"gradient, step {step}", G
        p = assign(G)
    P = np.exp(100 * (G / np.abs(G).max() - 1))
    for _ in range(20):
        P /= P.sum(1, keepdims=True)
        P /= P.sum(0, keepdims=True)
    yield "annealed plan", P
    yield "distances", -cdist(rng.random((n, 3)), rng.random((n, 3)))
    yield "uniform", rng.random((n, n))
    if n <= 1000:
        yield "integers 0…9", rng.integers(0, 10, (n, n)).astype(float)
        yield "ten distinct rows", rng.random((10, n))[rng.integers(0, 10, n)]
        yield "constant", np.ones((n, n))


def by_scipy(profit: Matrix) -> NDArray[np.intp]:
    return linear_sum_assignment(profit, maximize=True)[1]


def by_pot(profit: Matrix) -> NDArray[np.intp]:
    import ot

    ones = np.ones(len(profit))
    return ot.emd(ones, ones, -profit, numItermax=10**8, numThreads=1, check_marginals=False).argmax(1)


def solvers() -> dict[str, Callable[[Matrix], NDArray[np.intp]]]:
    try:
        import ot  # noqa: F401
    except ImportError:
        return {"pairup": assign, "scipy": by_scipy}
    return {"pairup": assign, "scipy": by_scipy, "POT": by_pot}


def milliseconds(solve: Callable[[Matrix], NDArray[np.intp]], profit: Matrix) -> tuple[float, float]:
    """CPU time and the value reached."""
    times: list[float] = []
    while len(times) < 5 and sum(times) < 1:
        began = time.process_time()
        indices = solve(profit)
        times.append(time.process_time() - began)
    return 1000 * min(times), float(profit[np.arange(len(profit)), indices].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 320, 1000, 4096])
    sizes = parser.parse_args().sizes
    peers = solvers()
    assign(np.random.default_rng(0).random((400, 400)))  # compiles, or reads the cache
    print(f"{'n':>5}  {'profit':18}" + "".join(f"{name:>10}" for name in peers) + "  scipy/pairup")
    ratios = []
    for n in sizes:
        for name, profit in problems(n):
            measured = {peer: milliseconds(solve, profit) for peer, solve in peers.items()}
            values = [value for _, value in measured.values()]
            assert np.allclose(values, values[0], rtol=1e-9), f"{name}, n = {n}: {measured} disagree in value"
            ratio = measured["scipy"][0] / measured["pairup"][0]
            if n == 1000 and name.startswith("gradient"):
                ratios.append(ratio)
            print(f"{n:5}  {name:18}" + "".join(f"{ms:10.2f}" for ms, _ in measured.values()) + f"{ratio:14.1f}")
    if ratios:
        print(f"n = 1000, gradients: at least {min(ratios):.1f} times faster than scipy")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
