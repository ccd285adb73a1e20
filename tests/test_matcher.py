"""What the base class does for every estimator, shown on the smallest one."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from pairup.climb import Step
from pairup.matcher import IterativeMatcher, Matcher
from pairup.multistart import highest


@dataclass
class Candidates:
    """Two tasks: one that ends high, and one that begins higher and ends low."""

    n: int
    n_tasks: int = 2

    def steps(self, number):
        values = ([0.1, 0.9], [0.5, 0.2])[number]
        for iteration, value in enumerate(values):
            yield Step(number, iteration, np.roll(np.arange(self.n), number + iteration), value)

    def winner(self, histories):
        return highest(histories)


class Toy(Matcher):
    def __init__(self, *, n_starts=2, kernel="gaussian", n_jobs=None):
        self.n_starts = n_starts
        self.kernel = kernel
        self.n_jobs = n_jobs

    def _prepare(self, X, Y):
        self._families(X, Y)
        return Candidates(len(X))


X = np.arange(10.0).reshape(5, 2) ** 2
Y = np.arange(5.0)[:, None] ** 3


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_best_step_of_the_best_task_is_kept(n_jobs):
    toy = Toy(n_jobs=n_jobs).fit(X, Y)
    assert toy.dependence_ == 0.9
    assert toy.assignment_.tolist() == [4, 0, 1, 2, 3]
    assert toy.n_iter_ == 1
    assert [step.start for step in toy.history_] == [0, 0]
    assert toy.n_features_in_ == 2
    assert toy.indefinite_ is False


def test_steps_of_all_tasks_are_yielded_and_stopping_cancels():
    toy = Toy()
    steps = toy.steps(X, Y)
    assert [next(steps).value for _ in range(3)] == [0.1, 0.9, 0.5]
    steps.close()
    assert not hasattr(toy, "assignment_")


def test_one_kernel_serves_both_sets_and_two_serve_each_its_own():
    assert Toy(kernel="linear")._kernels == ("linear", "linear")
    assert Toy(kernel=("linear", "laplacian"))._kernels == ("linear", "laplacian")
    assert Toy(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not Toy(kernel=("gaussian", "precomputed")).__sklearn_tags__().input_tags.pairwise


def test_a_matcher_is_cloned_by_its_parameters():
    toy = Toy(n_starts=7, n_jobs=2)
    assert clone(toy).get_params() == {"n_starts": 7, "kernel": "gaussian", "n_jobs": 2}


def test_parameters_and_sets_are_checked_before_the_search():
    with pytest.raises(ValueError, match="n_starts must be at least 1, got 0"):
        Toy(n_starts=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"Y: Expected array-like .* got None; pass a table"):
        Toy().fit(X, None)
    with pytest.raises(ValueError, match="Y contains NaN"):
        Toy().fit(X, np.where(Y == 1, np.nan, Y))


def test_iterative_matchers_check_their_steps():
    class Iterative(IterativeMatcher, Toy):
        def __init__(self, *, max_iter=20, eta=1.0, n_starts=2, kernel="gaussian", n_jobs=None):
            super().__init__(n_starts=n_starts, kernel=kernel, n_jobs=n_jobs)
            self.max_iter = max_iter
            self.eta = eta

    assert Iterative().fit(X, Y).dependence_ == 0.9
    for parameters, message in (({"max_iter": 0}, "max_iter must be"), ({"eta": 1.5}, "eta, the step size, must lie")):
        with pytest.raises(ValueError, match=message):
            Iterative(**parameters).fit(X, Y)
