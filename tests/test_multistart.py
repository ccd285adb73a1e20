import numpy as np
import pytest

from pairup.climb import Step
from pairup.kernels import KernelFamily
from pairup.measures import HSIC
from pairup.multistart import Climbs, Continuations, CrossValidatedClimbs, NarrowingClimbs, best_history, highest
from pairup.selection import RatioGrid, fold_numbers


def history(start, *values):
    return [Step(start, k, np.arange(3), value) for k, value in enumerate(values)]


def test_the_task_that_reaches_highest_wins_and_of_equals_the_quickest():
    low, high, quick = history(0, 0.1, 0.5), history(1, 0.2, 0.9, 0.8), history(2, 0.3, 0.9)
    assert highest([low, high]) == (high, high[1])
    assert highest([low, high, quick]) == (quick, quick[1])
    assert best_history([low, high, quick], [3.0, 2.0, 1.0]) is low


def test_every_start_is_a_task(rng):
    X = rng.normal(size=(12, 2))
    starts = [rng.permutation(12) for _ in range(4)]
    climbs = Climbs(HSIC(*(KernelFamily(Z).matrix(1.0) for Z in (X, X[::-1]))), starts, 20, 1.0)
    assert climbs.n_tasks == 4
    for number in range(4):
        steps = list(climbs.steps(number))
        np.testing.assert_array_equal(steps[0].indices, starts[number])
        assert [step.value for step in steps] == sorted(step.value for step in steps)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_narrowing_climbs_take_one_task_of_each_lambda_and_of_these_the_best_score(rng, nonnegative):
    X = rng.gamma(2.0, size=(20, 3)) * [3, 2, 1]
    families = (KernelFamily(X), KernelFamily(np.sqrt(X[::-1])))
    folds = fold_numbers(20, 2, seed=0)
    grid = RatioGrid(families, widths=(1.0, 2.0), lambdas=(0.1, 0.01), folds=folds, nonnegative=nonnegative)
    search = NarrowingClimbs(grid, [rng.permutation(20) for _ in range(5)], 20, 1.0)
    histories = [list(search.steps(number)) for number in range(search.n_tasks)]
    assert len(histories) == 10
    won, answer = search.winner(histories)
    assert answer is won[-1]
    finalists = []
    for lam in range(2):
        measure = grid.measure(0, lam)
        value = measure.nonnegative_value if nonnegative else measure.value
        finalists.append(max(histories[5 * lam : 5 * lam + 5], key=lambda history: value(history[-1].indices)))
    scores = [grid.best_score(history[-1].indices) for history in finalists]
    assert grid.best_score(answer.indices) == max(scores)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_a_climb_ends_at_its_last_step_and_a_literal_one_at_its_highest(rng, nonnegative):
    X = rng.gamma(2.0, size=(20, 2))
    families = (KernelFamily(X), KernelFamily(X[::-1] ** 2))
    folds = fold_numbers(20, 2, seed=0)
    grid = RatioGrid(families, widths=(1.0,), lambdas=(0.001,), folds=folds, nonnegative=nonnegative)
    search = CrossValidatedClimbs(grid, [rng.permutation(20) for _ in range(4)], 20, 1.0, each_iteration=False)
    histories = [list(search.steps(number)) for number in range(4)]
    won, answer = search.winner(histories)
    ends = [history[-1] if nonnegative else max(history, key=lambda step: step.value) for history in histories]
    assert any(end is not history[-1] for end, history in zip(ends, histories, strict=True)) == (not nonnegative)
    assert any(answer is end for end in ends)
    assert any(answer is step for step in won)
    assert grid.best_score(answer.indices) == max(grid.best_score(end.indices) for end in ends)


def test_continuations_score_every_width_and_epsilon_without_the_pair(rng):
    X = rng.gamma(2.0, size=(25, 3)) * [3, 2, 1]
    families = (KernelFamily(X), KernelFamily(np.sqrt(X[::-1])))
    search = Continuations(families, (1.0, 2.0), [rng.permutation(25) for _ in range(3)])
    assert search.n_tasks == 2
    steps = list(search.steps(0))
    table = search.table(steps[-1].indices)
    assert len(table["params"]) == len(table["mean_test_score"]) == 8
    at_first_width = table["mean_test_score"][table["param_width"] == 1.0]
    assert steps[-1].value == pytest.approx(at_first_width.max() - 0.5, rel=1e-6)
    assert table["rank_test_score"].min() == 1
