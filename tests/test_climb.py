import numpy as np
import pytest

from pairup.climb import climb
from pairup.kernels import KernelFamily
from pairup.measures import HSIC, Quadratic


@pytest.fixture
def measure(rng):
    X = rng.normal(size=(25, 2))
    return HSIC(KernelFamily(X).matrix(), KernelFamily(np.exp(X)[rng.permutation(25)]).matrix())


def test_the_first_step_is_the_start(measure, rng):
    start = rng.permutation(25)
    step = next(climb(measure, start, number=7))
    np.testing.assert_array_equal(step.indices, start)
    assert (step.start, step.iteration, step.value) == (7, 0, measure.value(start))


def test_a_climb_ends_in_a_fixed_point(measure, rng):
    end = list(climb(measure, rng.permutation(25), max_iter=100))[-1]
    assert len(list(climb(measure, end.indices))) == 1


def test_a_climb_takes_at_most_max_iter_assignments(measure, rng):
    assert len(list(climb(measure, rng.permutation(25), max_iter=2))) == 3


def test_a_cycle_ends_the_climb(rng):
    A = rng.normal(size=(30, 30))
    indefinite = Quadratic(-(A @ A.T), A.T @ A)  # a descent in disguise: it cycles
    steps = list(climb(indefinite, rng.permutation(30), max_iter=1000))
    assert len(steps) < 1000


def test_half_steps_move_a_soft_plan_and_reach_good_matchings(measure, rng):
    start = rng.permutation(25)
    full = max(step.value for step in climb(measure, start))
    half = max(step.value for step in climb(measure, start, eta=0.5, max_iter=60))
    assert half >= measure.value(start)
    assert half >= 0.8 * full
    for step in climb(measure, start, eta=0.3):
        assert sorted(step.indices) == list(range(25))
        assert step.value == pytest.approx(measure.value(step.indices))


def test_a_measure_may_be_chosen_at_each_iterate(measure, rng):
    seen = []

    def choose(indices):
        seen.append(indices)
        return measure

    steps = list(climb(choose, rng.permutation(25)))
    assert len(seen) == len(steps)
    assert all((a == step.indices).all() for a, step in zip(seen, steps, strict=True))
