import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from pairup.assignment import SMALL, _assign_large, _auction, _augment, assign

Matrix = NDArray[np.float64]
Solver = Callable[[Matrix], NDArray[np.intp]]
LARGE = SMALL + 40
solvers = pytest.mark.parametrize("solve", [assign, _assign_large], ids=["by size", "compiled"])


def total(profit: NDArray[Any], indices: NDArray[np.intp]) -> float:
    rows = np.flatnonzero(indices >= 0)
    return float(np.asarray(profit, float)[rows, indices[rows]].sum())


def check_optimal(profit: NDArray[Any], indices: NDArray[np.intp]) -> None:
    """As many pairs as fit, no column twice, scipy's value."""
    chosen = indices[indices >= 0]
    assert indices.shape == (len(profit),)
    assert indices.dtype == np.intp
    assert len(set(chosen)) == len(chosen) == min(profit.shape)
    best = float(np.asarray(profit, float)[linear_sum_assignment(profit, maximize=True)].sum())
    assert total(profit, indices) == pytest.approx(best, rel=1e-12, abs=1e-12 * float(np.abs(profit).max()))


def climb_gradients(n: int) -> list[Matrix]:
    """K̄ L̄[p] at the eigen start and after each of three steps: left against right halves of digits."""
    digits = load_digits().images[:n]

    def prepared(halves: Matrix) -> Matrix:
        D = cdist(halves.reshape(n, -1), halves.reshape(n, -1))
        K = np.exp(-((D / np.median(D)) ** 2))
        centred: Matrix = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
        return centred

    K, L = prepared(digits[:, :, :4]), prepared(digits[:, :, 4:])
    p = np.empty(n, int)
    p[np.linalg.eigh(K)[1][:, -1].argsort()] = np.linalg.eigh(L)[1][:, -1].argsort()
    gradients = []
    for _ in range(4):
        gradients.append(K @ L[p])
        p = linear_sum_assignment(gradients[-1], maximize=True)[1]
    return gradients


def kinds(n: int) -> dict[str, Matrix]:
    rng = np.random.default_rng(n)
    uniform = rng.random((n, n))
    forbidden = uniform.copy()
    forbidden[rng.random((n, n)) < 0.3] = -1e6
    return {
        "uniform": uniform,
        "normal": rng.normal(size=(n, n)) * 1e-9 + 1,
        "distances": -cdist(rng.random((n, 3)), rng.random((n, 3))),
        "constant": np.full((n, n), -3.0),
        "zero": np.zeros((n, n)),
        "integers": rng.integers(-2, 3, (n, n)).astype(float),
        "few ones": (uniform < 0.02).astype(float),
        "duplicate rows": np.repeat(uniform[: n // 10 + 1], 10, axis=0)[:n],
        "duplicate columns": np.repeat(uniform[:, : n // 10 + 1], 10, axis=1)[:, :n],
        "rank one": np.outer(uniform[0], uniform[1]),
        "permutation": np.eye(n)[rng.permutation(n)],
        "nearly a permutation": np.eye(n)[rng.permutation(n)] + 0.01 * uniform,
        "one huge entry": uniform + 1e9 * (uniform == uniform.max()),
        "forbidden pairs": forbidden,
        "huge": 9e299 * uniform,
        "subnormal": 1e-310 * uniform,
        "far apart": 10.0 ** rng.uniform(-200, 200, (n, n)),
    }


@pytest.mark.parametrize("kind", kinds(2))
@solvers
def test_equals_scipy_in_value(kind: str, solve: Solver) -> None:
    for n in (2, 3, 63, 64, 65, LARGE):
        profit = kinds(n)[kind]
        check_optimal(profit, solve(profit))


@solvers
def test_gradients_of_a_climb(solve: Solver) -> None:
    for n in (50, LARGE):
        for profit in climb_gradients(n):
            check_optimal(profit, solve(profit))


@pytest.mark.parametrize("columns", [1, 2, 20, 170, LARGE - 3, LARGE + 1, 250, 500])
def test_rectangular_both_ways(columns: int) -> None:
    profit = np.random.default_rng(columns).normal(size=(LARGE, columns))
    check_optimal(profit, assign(profit))
    check_optimal(profit.T, assign(profit.T))
    if columns <= LARGE:
        check_optimal(profit.T, _assign_large(profit.T))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 5), (5, 3), (5, 5), (6, 6)])
def test_brute_force(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    for _ in range(10):
        profit = rng.normal(size=shape)
        wide = profit if shape[0] <= shape[1] else profit.T
        best = max(wide[range(len(wide)), list(p)].sum() for p in permutations(range(wide.shape[1]), len(wide)))
        assert total(profit, assign(profit)) == pytest.approx(best)
        assert total(wide, _assign_large(wide)) == pytest.approx(best)


@settings(deadline=None, max_examples=200)
@given(
    st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(-3, 3))
    )
)
def test_small_integers(profit: NDArray[np.int64]) -> None:
    check_optimal(profit, assign(profit))
    wide = profit if len(profit) <= profit.shape[1] else profit.T
    check_optimal(wide, _assign_large(wide))


@pytest.mark.parametrize("n", [2, 30, LARGE])
def test_paths_are_exact_from_any_prices(n: int) -> None:
    rng = np.random.default_rng(n)
    profit = rng.normal(size=(n, n))
    for prices in (np.zeros(n), rng.normal(size=n) * 10, -profit.sum(0)):
        indices = _augment(profit, prices)
        check_optimal(profit, indices)
        values = profit - prices  # the prices reached prove it: each row has what it likes best
        assert np.allclose(values[np.arange(n), indices], values.max(1), rtol=0, atol=1e-12)


def test_auction_leaves_little_to_do() -> None:
    """At its prices most rows like different columns best; at equal prices few do."""
    for profit in climb_gradients(LARGE):
        prices = _auction(profit, float(profit.max()), float(np.ptp(profit)) / 2)
        wanted = len(set((profit - prices).argmax(1)))
        assert wanted > 0.6 * LARGE
        assert wanted > 1.5 * len(set(profit.argmax(1)))


def test_layout_and_type_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    for n in (30, LARGE):
        profit = rng.normal(size=(n, n))
        indices = assign(profit)
        frozen = profit.copy()
        frozen.flags.writeable = False
        strided = np.zeros((2 * n, 3 * n))
        strided[::2, ::3] = profit
        for same in (frozen, np.asfortranarray(profit), strided[::2, ::3], profit.tolist()):
            assert total(profit, assign(same)) == pytest.approx(total(profit, indices), rel=1e-12)
        for rounded in (profit.astype(np.float32), (50 * profit + 128).astype(np.uint8), profit > 1):
            check_optimal(rounded, assign(rounded))


@pytest.mark.parametrize("n", [30, LARGE])
def test_input_is_kept_and_answer_repeats(n: int) -> None:
    profit = np.random.default_rng(1).normal(size=(n, n))
    before = profit.copy()
    first = assign(profit)
    assert np.array_equal(profit, before)
    assert np.array_equal(first, assign(profit))


@pytest.mark.parametrize("n", [4, LARGE])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_refuses_what_is_not_finite(n: int, bad: float) -> None:
    profit = np.zeros((n, n))
    profit[1, 2] = bad
    with pytest.raises(ValueError, match=r"finite.*replace"):
        assign(profit)


def test_refuses_what_would_overflow() -> None:
    with pytest.raises(ValueError, match="span less than 1e300"):
        assign([[1e308, 0.0], [0.0, -1e308]])


def test_refuses_what_is_no_matrix() -> None:
    with pytest.raises(ValueError, match="matrix"):
        assign(np.zeros(3))


def test_empty() -> None:
    assert assign(np.zeros((0, 4))).tolist() == []
    assert assign(np.zeros((2, 0))).tolist() == [-1, -1]


def test_small_problems_do_not_load_numba() -> None:
    program = (
        "import sys; from pairup.assignment import assign; assign([[1, 2], [3, 5]]); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
