import numpy as np
import pytest

from pairup.climb import Step
from pairup.kernels import KernelFamily
from pairup.measures import HSIC
from pairup.multistart import Climbs, Continuations, best_history, best_step


def history(start, *values):
    return [Step(start, k, np.arange(3), value) for k, value in enumerate(values)]


def test_the_task_that_reaches_highest_wins_and_of_equals_the_quickest():
    low, high, quick = history(0, 0.1, 0.5), history(1, 0.2, 0.9, 0.8), history(2, 0.3, 0.9)
    assert best_history([low, high], lambda step: step.value) is high
    assert best_history([low, high, quick], lambda step: step.value) is quick
    assert best_history([low, high, quick], lambda step: -step.value) is low
    assert best_step(high).iteration == 1


def test_every_start_is_a_task(rng):
    X = rng.normal(size=(12, 2))
    starts = [rng.permutation(12) for _ in range(4)]
    climbs = Climbs(HSIC(*(KernelFamily(Z).matrix(1.0) for Z in (X, X[::-1]))), starts, 20, 1.0)
    assert climbs.n_tasks == 4
    for number in range(4):
        steps = list(climbs.steps(number))
        np.testing.assert_array_equal(steps[0].indices, starts[number])
        assert [step.value for step in steps] == sorted(step.value for step in steps)


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
