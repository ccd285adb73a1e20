"""What the estimators share: two unpaired sets in, the matching of largest dependence out."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from pairup.climb import Step
from pairup.kernels import Kernel, KernelFamily
from pairup.memory import check_memory
from pairup.multistart import MultiStart
from pairup.parallel import pinned_blas, run, runs_here
from pairup.types import Array, Indices
from pairup.validation import check_count, check_equal_size, check_jobs, check_matching, check_set

KernelOrPair: TypeAlias = Kernel | tuple[Kernel, Kernel]


def _all_steps(search: MultiStart, number: int) -> list[Step]:
    return list(search.steps(number))


class Matcher(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Two unpaired sets in, the matching of largest dependence out: what all estimators share.

    Attributes
    ----------
    assignment_ : ndarray of int, shape (n_samples,)
        ``Y[assignment_]`` is aligned with ``X``.
    dependence_ : float
        The measure at that matching.
    history_ : list of Step
        The steps of the start that won.
    n_iter_ : int
        How many assignments led to the matching.
    n_searches_ : int
        How many searches were made; the `start` of a step is the number of its search.
    indefinite_ : bool
        Whether a kernel has negative eigenvalues, so that climbs may go down.
    """

    n_starts: int
    kernel: KernelOrPair
    n_jobs: int | None

    assignment_: Indices
    dependence_: float
    history_: list[Step]
    n_iter_: int
    n_searches_: int
    indefinite_: bool

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Match the rows of Y with the rows of X.

        Parameters
        ----------
        X : array_like of shape (n_samples, n_features)
            One set, an object per row, in any order.
        Y : array_like of shape (n_samples, n_outputs)
            The other set, with as many rows, in any order.

        Returns
        -------
        Self
            The fitted estimator.
        """
        for _ in self.steps(X, Y):
            pass
        return self

    def fit_predict(self, X: ArrayLike, Y: ArrayLike) -> Indices:
        """Match the rows of Y with the rows of X.

        Parameters
        ----------
        X, Y : array_like
            As in `fit`.

        Returns
        -------
        ndarray of int, shape (n_samples,)
            ``assignment_``: ``Y[assignment_]`` is aligned with ``X``.
        """
        return self.fit(X, Y).assignment_

    def steps(self, X: ArrayLike, Y: ArrayLike) -> Iterator[Step]:
        """Fit step by step; to stop iterating is to cancel.

        Parameters
        ----------
        X, Y : array_like
            As in `fit`.

        Yields
        ------
        Step
            An iterate of the search.
        """
        X_, Y_ = self._validate(X, Y)
        with pinned_blas():
            search = self._prepare(X_, Y_)
            self.n_searches_ = search.n_tasks
            histories: list[list[Step]] = []
            if runs_here(self.n_jobs):
                for number in range(search.n_tasks):
                    histories.append([])
                    for step in search.steps(number):
                        histories[-1].append(step)
                        yield step
            else:
                tasks = [partial(_all_steps, search, number) for number in range(search.n_tasks)]
                for history in run(tasks, n_jobs=self.n_jobs):
                    histories.append(history)
                    yield from history
            winner, answer = search.winner(histories)
            self._conclude(search, answer)
        self.assignment_ = answer.indices
        self.dependence_ = answer.value
        self.history_ = winner
        self.n_iter_ = answer.iteration

    @abstractmethod
    def _prepare(self, X: Array, Y: Array) -> MultiStart:
        """Return the search for this problem."""

    def _conclude(self, search: Any, answer: Step) -> None:
        """Set what only one estimator has."""

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        if isinstance(self.kernel, tuple):
            return self.kernel
        return self.kernel, self.kernel

    def _validate(self, X: ArrayLike, Y: ArrayLike, *, reset: bool = True) -> tuple[Array, Array]:
        self._check_parameters()
        table_x, table_y = check_set(X, "X"), check_set(Y, "Y")
        if np.ndim(X) < 2:  # scikit-learn asks for that
            raise ValueError(
                f"X must be a table of rows and columns, got a vector of shape {np.shape(X)}; "
                "pass X.reshape(-1, 1) if it is one column, or call pairup.match, which takes vectors"
            )
        validate_data(self, X, skip_check_array=True, ensure_2d=False, reset=reset, y=table_y)  # names of columns
        validate_data(self, table_x, skip_check_array=True, reset=reset, y=table_y)
        check_equal_size(table_x, table_y, f"{type(self).__name__} gives every x a y; pairup.match takes any sizes")
        check_memory(len(table_x), len(table_y), self._dense_matrices)
        return table_x, table_y

    @property
    def _dense_matrices(self) -> int:
        return 10

    def _check_parameters(self) -> None:
        check_count(self.n_starts, "n_starts")
        check_jobs(self.n_jobs)

    def _families(self, X: Array, Y: Array) -> tuple[KernelFamily, KernelFamily]:
        kernel_x, kernel_y = self._kernels
        x, y = KernelFamily(X, kernel_x, name="X"), KernelFamily(Y, kernel_y, name="Y")
        self.indefinite_ = x.is_indefinite() or y.is_indefinite()
        return x, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self._kernels[0] == "precomputed"
        return tags


class IterativeMatcher(Matcher):
    """A matcher that climbs by successive assignments: what the paper's four methods share."""

    max_iter: int
    eta: float

    def search_from(self, X: ArrayLike, Y: ArrayLike, start: ArrayLike) -> Indices:
        """Return where the search ends if it begins at one given matching; nothing is fitted.

        From a known truth it says how much of it the method keeps: what is lost there is lost by its steps, not by
        its starts.

        Parameters
        ----------
        X, Y : array_like
            As in `fit`.
        start : array_like of int, shape (n_samples,)
            The first matching: ``Y[start]`` is aligned with ``X``.

        Returns
        -------
        ndarray of int, shape (n_samples,)
            The last one.
        """
        other = clone(self)
        X_, Y_ = other._validate(X, Y)
        with pinned_blas():
            search: Any = other._prepare(X_, Y_)
            search = replace(search, starts=[check_matching(start, len(X_), "start")])
            indices: Indices = search.winner([_all_steps(search, number) for number in range(search.n_tasks)])[
                1
            ].indices
        return indices

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.max_iter, "max_iter")
        if not (isinstance(self.eta, Real) and 0 < self.eta <= 1):
            raise ValueError(f"eta, the step size, must lie in (0, 1], got {self.eta!r:.80}")
