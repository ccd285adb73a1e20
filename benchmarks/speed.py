"""What the paper's methods cost beside the work they cannot avoid; one thread, CPU seconds, one run.

python3 dev.py bench speed
"""

import os
import time
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from scipy import linalg

import pairup.climb
from pairup import KSHSIC, LSOM
from pairup.assignment import assign
from pairup.datasets import half_images, load_flickr, load_tiles, to_lab
from pairup.kernels import KernelFamily
from pairup.measures import LSMI
from pairup.parallel import pinned_blas
from pairup.starts import eigen_starts

N = 320


class Meter:
    """Counts calls of a function and the CPU time inside it."""

    def __init__(self, function) -> None:
        self.function, self.calls, self.seconds = function, 0, 0.0

    def __call__(self, *arguments, **options):
        begin = time.process_time()
        result = self.function(*arguments, **options)
        self.seconds += time.process_time() - begin
        self.calls += 1
        return result


@contextmanager
def metered_assignments():
    meter = Meter(assign)
    with patch.object(pairup.climb, "assign", meter):
        yield meter


def cpu_seconds(function, repeat: int = 5) -> float:
    """The best of several runs, for another process may have disturbed some."""
    best = np.inf
    for _ in range(repeat):
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return best


def kernelized_sorting(X, Y) -> None:
    print(f"KS-HSIC with its {len(eigen_starts(KernelFamily(X), KernelFamily(Y), 10))} starts, n = {N}")
    for _ in range(3):
        with metered_assignments() as meter:
            begin = time.process_time()
            KSHSIC().fit(X, Y)
            total = time.process_time() - begin
        print(
            f"  {total:.3f} s in all, {meter.seconds:.3f} s in {meter.calls} assignments: "
            f"{total / meter.seconds:.2f} times the assignments (goal: at most 1.5)"
        )


def object_matching(X, Y) -> None:
    matcher = LSOM()
    with metered_assignments() as meter:
        begin = time.process_time()
        steps = list(matcher.steps(X, Y))
        total = time.process_time() - begin
    starts = 1 + max(step.start for step in steps)
    widths, lambdas, folds = len(matcher.widths), len(matcher.lambdas), matcher.cv
    # The products and factorisations of the method, counted from its formulas.
    selections = 2 * starts + 1  # at each start, on the winner of each start, and for the report
    half_products = widths * folds * (1 + selections)  # KKᵀ of a fold once, LLᵀ of a fold per selection
    factorisations = widths * folds * lambdas * selections + len(steps)
    products = 2 * widths + len(steps)  # KKᵀ and LLᵀ of each width, and the profit of each step
    K = KernelFamily(X).matrix()
    half, H = K[:, : N // 2], K @ K + np.eye(N)
    one_product = cpu_seconds(lambda: K @ K, 20)
    one_half = cpu_seconds(lambda: half @ half.T, 20)
    one_factorisation = cpu_seconds(lambda: linalg.cholesky(H, lower=True, check_finite=False), 20)
    one_assignment = meter.seconds / meter.calls
    bare = (
        products * one_product
        + half_products * one_half
        + factorisations * one_factorisation
        + meter.calls * one_assignment
    )
    print(f"LSOM with the paper's grid, n = {N}, {starts} starts, {len(steps)} steps")
    print(
        f"  bare: {products} products of {1e3 * one_product:.2f} ms, {half_products} over a fold of "
        f"{1e3 * one_half:.2f} ms, {factorisations} Cholesky of {1e3 * one_factorisation:.2f} ms, "
        f"{meter.calls} assignments of {1e3 * one_assignment:.2f} ms: {bare:.2f} s"
    )
    print(f"  fit: {total:.2f} s, {total / bare:.2f} times the bare cost (goal: at most 3)")


if __name__ == "__main__":
    photos = load_flickr() if os.environ.get("PAIRUP_DATA") else load_tiles(N)
    X, Y, _ = half_images(to_lab(photos))
    assign(LSMI(KernelFamily(X).matrix(), KernelFamily(Y).matrix(), lam=0.1).profit(np.arange(N)))  # compile
    with pinned_blas():
        kernelized_sorting(X, Y)
        object_matching(X, Y)
