"""The paper's four methods as scikit-learn estimators of two unpaired sets."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pairup.annealing import anneal
from pairup.climb import Step, climb
from pairup.density_ratio import EPSILONS
from pairup.kernels import Kernel, KernelFamily, center
from pairup.measures import HSIC, NOCCO, GaussianMI, Measure, Quadratic
from pairup.memory import check_memory
from pairup.parallel import pinned_blas, run, runs_here
from pairup.product import Continuations
from pairup.selection import LAMBDAS, WIDTHS, RatioGrid, best_setting, fold_numbers
from pairup.starts import both_signs, leading_eigenvectors, unique
from pairup.types import Array, Indices
from pairup.validation import check_finite

KernelOrPair = Kernel | tuple[Kernel, Kernel]


@dataclass(frozen=True)
class Climbs:
    """Climbs of one measure from several starts."""

    measure: Measure
    starts: list[Indices]
    max_iter: int
    eta: float
    solver: str = "climb"

    def steps(self, number: int) -> Iterator[Step]:
        """Climb or anneal from one of the starts."""
        if self.solver == "anneal" and isinstance(self.measure, Quadratic):
            return anneal(self.measure, self.starts[number], number=number)
        return climb(self.measure, self.starts[number], number=number, max_iter=self.max_iter, eta=self.eta)

    def rank(self, step: Step) -> float:
        """Return what ranks the best steps of different starts: the measure itself."""
        return step.value


@dataclass(frozen=True)
class SelectedClimbs:
    """Climbs of LSMI whose width and λ are chosen by cross-validation, once per start or at each iteration."""

    grid: RatioGrid
    starts: list[Indices]
    max_iter: int
    eta: float
    each_iteration: bool

    def steps(self, number: int) -> Iterator[Step]:
        """Climb from one of the starts."""
        start = self.starts[number]
        measure = self.choose if self.each_iteration else self.choose(start)
        return climb(measure, start, number=number, max_iter=self.max_iter, eta=self.eta)

    def choose(self, indices: Indices) -> Measure:
        """Return LSMI at the setting whose held-out score −J is best for a matching."""
        return self.grid.measure(*best_setting(self.grid.scores(indices)))

    def rank(self, step: Step) -> float:
        """Return what ranks the best steps of different starts: −J, for LSMI at different settings is incomparable."""
        return float(self.grid.scores(step.indices).mean(axis=2).max())


def _climb(climbs: Climbs | SelectedClimbs | Continuations, number: int) -> list[Step]:
    return list(climbs.steps(number))


def _value(step: Step) -> float:
    return step.value


def _winner(histories: list[list[Step]], rank: Callable[[Step], float]) -> list[Step]:
    """Return the start whose best step ranks highest; of several, the one that took the fewest steps."""
    reached = [rank(max(history, key=_value)) for history in histories]
    best = max(reached)
    level = [history for history, value in zip(histories, reached, strict=True) if value >= best - 1e-10 * abs(best)]
    return min(level, key=len)


def eigen_starts(x: KernelFamily, y: KernelFamily, n_starts: int) -> list[Indices]:
    """Return the paper's starts: leading eigenvectors of K̄ and L̄ sorted against each other, both signs each.

    The kernels are taken at the widths c = 1^½, 2^½, … times the median. Where neither kernel has a width, the
    second, third, … eigenvectors take the place of further widths. Equal matchings are kept once.
    """
    if x.has_width or y.has_width:
        vectors = [
            (leading_eigenvectors(center(x.matrix(c)))[:, 0], leading_eigenvectors(center(y.matrix(c)))[:, 0])
            for c in (number**0.5 for number in range(1, n_starts + 1))
        ]
    else:
        K, L = x.matrix(), y.matrix()
        k = min(n_starts, len(K))
        vectors = list(zip(leading_eigenvectors(center(K), k).T, leading_eigenvectors(center(L), k).T, strict=True))
    return list(unique(start for f, g in vectors for start in both_signs(f, g)))


class Matcher(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Two unpaired sets in, the matching of largest dependence out: what the four methods share.

    `fit(X, Y)` takes two sets of equally many rows, each in any order, and sets

    - ``assignment_``: ``Y[assignment_]`` is aligned with ``X``;
    - ``dependence_``: the measure at that matching;
    - ``history_``: the steps of the start that won;
    - ``n_iter_``: how many assignments led to the matching;
    - ``indefinite_``: whether a kernel has negative eigenvalues, so that climbs may go down.
    """

    n_starts: int
    max_iter: int
    eta: float
    kernel: KernelOrPair
    n_jobs: int | None

    assignment_: Indices
    dependence_: float
    history_: list[Step]
    n_iter_: int
    indefinite_: bool

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Match the rows of Y with the rows of X."""
        for _ in self.steps(X, Y):
            pass
        return self

    def fit_predict(self, X: ArrayLike, Y: ArrayLike) -> Indices:
        """Fit, and return ``assignment_``."""
        return self.fit(X, Y).assignment_

    def steps(self, X: ArrayLike, Y: ArrayLike) -> Iterator[Step]:
        """Fit step by step; to stop iterating is to cancel."""
        X_, Y_ = self._validate(X, Y)
        with pinned_blas():
            climbs = self._prepare(X_, Y_)
            histories: list[list[Step]] = []
            if runs_here(self.n_jobs):
                for number in range(len(climbs.starts)):
                    histories.append([])
                    for step in climbs.steps(number):
                        histories[-1].append(step)
                        yield step
            else:
                tasks = [partial(_climb, climbs, number) for number in range(len(climbs.starts))]
                for history in run(tasks, n_jobs=self.n_jobs):
                    histories.append(history)
                    yield from history
            winner = _winner(histories, climbs.rank)
            best = max(winner, key=_value)
            self._conclude(climbs, best)
        self.assignment_ = best.indices
        self.dependence_ = best.value
        self.history_ = winner
        self.n_iter_ = best.iteration

    @abstractmethod
    def _prepare(self, X: Array, Y: Array) -> Climbs | SelectedClimbs | Continuations:
        """Return the search for this problem."""

    def _conclude(self, climbs: Any, best: Step) -> None:
        """Set what only one method has."""

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        if isinstance(self.kernel, tuple):
            return self.kernel
        return self.kernel, self.kernel

    def _validate(self, X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
        self._check_parameters()
        if np.size(Y) and np.ndim(Y) in (1, 2) and np.asarray(Y).dtype.kind == "f":
            check_finite(
                np.asarray(Y).reshape(np.shape(Y)[0], -1), "Y"
            )  # says more than scikit-learn's own check of targets
        checked: tuple[Array, Array] = validate_data(
            self,
            X,
            Y,
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        table_x, table_y = checked[0], checked[1].astype(np.float64).reshape(len(checked[1]), -1)
        check_finite(table_x, "X")
        check_finite(table_y, "Y")
        check_memory(len(table_x), len(table_y), self._dense_matrices)
        return table_x, table_y

    @property
    def _dense_matrices(self) -> int:
        return 10

    def _check_parameters(self) -> None:
        if self.n_starts < 1 or self.max_iter < 1:
            raise ValueError(f"n_starts and max_iter must be at least 1, got {self.n_starts} and {self.max_iter}")
        if not 0 < self.eta <= 1:
            raise ValueError(f"eta, the step size, must lie in (0, 1], got {self.eta}")

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


class KSHSIC(Matcher):
    """Kernelized sorting with HSIC (section 3.2): maximise tr(K̄ Πᵀ L̄ Π).

    Parameters
    ----------
    width : kernel width in multiples of the median width, the paper's c'.
    n_starts : how many eigenvalue-based starts; each is tried with both signs.
    max_iter : the largest number of assignments per start.
    eta : step size η in (0, 1].
    solver : "climb" is the paper's; "anneal" keeps a soft plan that hardens as the temperature falls, leaves out what
        pairs say about themselves, and ends in a climb: slower, and much better on hard problems.
    kernel : "gaussian", "laplacian" (of Euclidean distances), "precomputed", a name of scikit-learn's
        `pairwise_kernels`, or a callable; a tuple of two gives X and Y different kernels.
    n_jobs : starts run at the same time, as in joblib; results do not depend on it.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> (2 * X == Y[KSHSIC().fit_predict(X, Y)]).all()
    np.True_
    """

    def __init__(
        self,
        *,
        width: float = 1.0,
        n_starts: int = 10,
        max_iter: int = 20,
        eta: float = 1.0,
        solver: Literal["climb", "anneal"] = "climb",
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
    ) -> None:
        self.width = width
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.eta = eta
        self.solver = solver
        self.kernel = kernel
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.width > 0:
            raise ValueError(f"width must be positive, got {self.width}; it multiplies the median width")
        if self.solver not in ("climb", "anneal"):
            raise ValueError(f"solver must be 'climb' or 'anneal', got {self.solver!r}")

    def _prepare(self, X: Array, Y: Array) -> Climbs:
        x, y = self._families(X, Y)
        measure = self._measure(x.matrix(self.width), y.matrix(self.width))
        return Climbs(measure, eigen_starts(x, y, self.n_starts), self.max_iter, self.eta, self.solver)

    def _measure(self, K: Array, L: Array) -> Measure:
        return HSIC(K, L)


class KSNOCCO(KSHSIC):
    """Kernelized sorting with NOCCO (section 4.1): maximise tr(K̃ Πᵀ L̃ Π), K̃ = K̄(K̄ + nεI)⁻¹.

    Parameters
    ----------
    width : kernel width in multiples of the median width, the paper's c'.
    epsilon : the regulariser ε.
    n_starts, max_iter, eta, solver, kernel, n_jobs : as in `KSHSIC`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> (2 * X == Y[KSNOCCO().fit_predict(X, Y)]).all()
    np.True_
    """

    def __init__(
        self,
        *,
        width: float = 10**0.5,
        epsilon: float = 0.05,
        n_starts: int = 10,
        max_iter: int = 20,
        eta: float = 1.0,
        solver: Literal["climb", "anneal"] = "climb",
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            width=width, n_starts=n_starts, max_iter=max_iter, eta=eta, solver=solver, kernel=kernel, n_jobs=n_jobs
        )
        self.epsilon = epsilon

    def _measure(self, K: Array, L: Array) -> Measure:
        return NOCCO(K, L, epsilon=self.epsilon)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.epsilon > 0:
            raise ValueError(f"epsilon, the regulariser, must be positive, got {self.epsilon}")


class KSMI(KSHSIC):
    """Kernelized sorting with mutual information (section 3.1): minimise log det Γ(K∘ΠᵀLΠ)Γ.

    Parameters
    ----------
    width : kernel width in multiples of the median width.
    ridge : what keeps the determinant away from 0, as a share of the mean diagonal of K∘L.
    step : "working" leaves the current pairs out of the profit; "published" is the literal gradient step, which
        hardly ever improves on its start.
    n_starts, max_iter, eta, kernel, n_jobs : as in `KSHSIC`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> (2 * X == Y[KSMI().fit_predict(X, Y)]).all()
    np.True_
    """

    def __init__(
        self,
        *,
        width: float = 1.0,
        ridge: float = 1e-3,
        step: Literal["working", "published"] = "working",
        n_starts: int = 10,
        max_iter: int = 20,
        eta: float = 1.0,
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(width=width, n_starts=n_starts, max_iter=max_iter, eta=eta, kernel=kernel, n_jobs=n_jobs)
        self.ridge = ridge
        self.step = step

    def _measure(self, K: Array, L: Array) -> Measure:
        return GaussianMI(K, L, ridge=self.ridge, exclude_self=self.step == "working")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self.ridge > 0:
            raise ValueError(f"ridge must be positive, got {self.ridge}")
        if self.step not in ("working", "published"):
            raise ValueError(f"step must be 'working' or 'published', got {self.step!r}")


class LSOM(Matcher):
    """Least-squares object matching (section 4.2): maximise LSMI, its width and λ by cross-validation.

    With ``basis="product"`` the density ratio is r(x, y) = Σ_ll' Θ_ll' K(x, x_l) L(y, y_l') with a separable ridge ε.
    Θ has a closed form, and LSMI becomes the quadratic form of KS-NOCCO, so that it can be annealed from coarse to
    fine dependence; width and ε are those of the best score of pairs left out one at a time. `lambdas`, `cv`,
    `ridge`, `select`, `max_iter` and `eta` are of no use there.

    Parameters
    ----------
    widths : kernel widths to choose from, in multiples of the median widths.
    lambdas : regularisers λ to choose from.
    cv : number of folds of the cross-validation.
    ridge : "outside" adds λ to H as published LSMI code does; "inside" divides it by n², as the paper prints it.
    select : choose (width, λ) once per "start", on its first matching, or anew at each "iteration".
    n_starts, max_iter, eta, kernel, n_jobs : as in `KSHSIC`.
    basis : "pairs" is the paper's; "product" is searched much better.
    random_state : draws the folds.

    Of the starts, the one wins whose best matching has the best held-out score: LSMI at different settings is not
    comparable (a small λ inflates it), and J is.

    Sets, besides what every `Matcher` sets, ``cv_results_`` and ``best_params_`` of the start that won, and
    ``best_score_``, the held-out score −J of the matching.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 12)[:, None] ** 3
    >>> Y = np.exp(X)[::-1]
    >>> LSOM().fit(X, Y).best_params_.keys()
    dict_keys(['width', 'lambda'])
    """

    cv_results_: dict[str, Any]
    best_params_: dict[str, float]
    best_score_: float

    def __init__(
        self,
        *,
        widths: Sequence[float] = WIDTHS,
        lambdas: Sequence[float] = LAMBDAS,
        cv: int = 2,
        ridge: Literal["outside", "inside"] = "outside",
        select: Literal["start", "iteration"] = "start",
        basis: Literal["pairs", "product"] = "pairs",
        n_starts: int = 10,
        max_iter: int = 20,
        eta: float = 1.0,
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.widths = widths
        self.lambdas = lambdas
        self.cv = cv
        self.ridge = ridge
        self.select = select
        self.basis = basis
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.eta = eta
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _prepare(self, X: Array, Y: Array) -> SelectedClimbs | Continuations:
        if self.basis == "product":
            x, y = self._families(X, Y)
            widths = tuple(self.widths) if x.has_width or y.has_width else (1.0,)
            return Continuations((x, y), widths, eigen_starts(x, y, self.n_starts))
        if not 2 <= self.cv <= len(X):
            raise ValueError(f"cv must lie between 2 and the number of objects ({len(X)}), got {self.cv}")
        x, y = self._families(X, Y)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        grid = RatioGrid(
            (x, y),
            widths=self.widths,
            lambdas=self.lambdas,
            folds=fold_numbers(len(X), self.cv, seed),
            ridge=self.ridge,
        ).prepare()
        starts = eigen_starts(x, y, self.n_starts)
        return SelectedClimbs(grid, starts, self.max_iter, self.eta, self.select == "iteration")

    def _conclude(self, climbs: SelectedClimbs | Continuations, best: Step) -> None:
        if isinstance(climbs, Continuations):
            self.cv_results_ = climbs.table(best.indices, EPSILONS)
            self.best_params_ = self.cv_results_["params"][int(self.cv_results_["mean_test_score"].argmax())]
            self.best_score_ = float(self.cv_results_["mean_test_score"].max())
            return
        chosen_on = best.indices if self.select == "iteration" else climbs.starts[best.start]
        scores = climbs.grid.scores(chosen_on)
        self.cv_results_ = climbs.grid.table(scores)
        self.best_params_ = self.cv_results_["params"][int(scores.mean(axis=2).argmax())]
        self.best_score_ = climbs.rank(best)

    @property
    def _dense_matrices(self) -> int:
        return 10 + (4 + self.cv) * len(self.widths)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, grid in (("widths", self.widths), ("lambdas", self.lambdas)):
            if len(grid) == 0 or not min(grid) > 0:
                raise ValueError(f"{name} must be one or more positive numbers, got {grid!r}")
        if self.ridge not in ("outside", "inside"):
            raise ValueError(f"ridge must be 'outside' or 'inside', got {self.ridge!r}")
        if self.select not in ("start", "iteration"):
            raise ValueError(f"select must be 'start' or 'iteration', got {self.select!r}")
        if self.basis not in ("pairs", "product"):
            raise ValueError(f"basis must be 'pairs' or 'product', got {self.basis!r}")
