"""The paper's four methods, and LSOM with the product basis, as scikit-learn estimators of two unpaired sets."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pairup.climb import Step
from pairup.kernels import KernelFamily
from pairup.matcher import IterativeMatcher, KernelOrPair, Matcher
from pairup.measures import HSIC, NOCCO, GaussianMI, Measure
from pairup.multistart import Climbs, Continuations, CrossValidatedClimbs, NarrowingClimbs
from pairup.parallel import pinned_blas
from pairup.selection import LAMBDAS, WIDTHS, RatioGrid, fold_numbers
from pairup.starts import eigen_starts
from pairup.types import Array
from pairup.validation import check_count, check_matching, check_positive, check_seed

WIDE = WIDTHS[-1]  # the paper's c' = 10^½, best for NOCCO


class KernelizedSorting(IterativeMatcher):
    """Kernelized sorting: climb a measure of kernels at one width."""

    width: float

    @property
    def _solver(self) -> str:
        return "climb"

    @abstractmethod
    def _measure(self, K: Array, L: Array) -> Measure:
        """Return the measure of two kernel matrices."""

    def _prepare(self, X: Array, Y: Array) -> Climbs:
        x, y = self._families(X, Y)
        measure = self._measure(x.matrix(self.width), y.matrix(self.width))
        return Climbs(measure, eigen_starts(x, y, self.n_starts), self.max_iter, self.eta, self._solver)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self.width, "width", "it multiplies the median width")


class QuadraticSorting(KernelizedSorting):
    """Kernelized sorting of a quadratic measure, which can be annealed too."""

    solver: Literal["climb", "anneal"]

    @property
    def _solver(self) -> str:
        return self.solver

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.solver not in ("climb", "anneal"):
            raise ValueError(f"solver must be 'climb' or 'anneal', got {self.solver!r}")


class KSHSIC(QuadraticSorting):
    """Kernelized sorting with HSIC (section 3.2): maximise tr(K̄ Πᵀ L̄ Π).

    Parameters
    ----------
    width : float, default 1.0
        Kernel width in multiples of the median width, the paper's c'.
    n_starts : int, default 10
        How many eigenvalue-based starts; each is tried with both signs.
    max_iter : int, default 20
        The largest number of assignments per start.
    eta : float, default 1.0
        Step size η in (0, 1].
    solver : {"climb", "anneal"}, default "climb"
        "climb" is the paper's; "anneal" keeps a soft plan that hardens as the temperature falls, excludes the
        diagonal of the kernels, and ends in a climb: slower, and much better on hard problems.
    kernel : str, callable or tuple of two, default "gaussian"
        "gaussian", "laplacian" (of Euclidean distances), "precomputed", a name of scikit-learn's `pairwise_kernels`,
        or a function of two rows; a tuple gives X and Y different kernels.
    n_jobs : int, optional
        How many starts run at the same time, as in joblib; results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> bool((2 * X == Y[KSHSIC().fit_predict(X, Y)]).all())
    True
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

    def _measure(self, K: Array, L: Array) -> Measure:
        return HSIC(K, L)


class KSNOCCO(QuadraticSorting):
    """Kernelized sorting with NOCCO (section 4.1): maximise tr(K̃ Πᵀ L̃ Π), K̃ = K̄(K̄ + nεI)⁻¹.

    Parameters
    ----------
    width : float, default WIDE
        Kernel width in multiples of the median width, the paper's c'; 10^½ unless given.
    epsilon : float, default 0.05
        The regulariser ε, as a share of the largest modulus of each kernel, so that units do not matter; that of a
        Gaussian kernel is 1.
    n_starts : int, default 10
        How many eigenvalue-based starts; each is tried with both signs.
    max_iter : int, default 20
        The largest number of assignments per start.
    eta : float, default 1.0
        Step size η in (0, 1].
    solver : {"climb", "anneal"}, default "climb"
        "climb" is the paper's; "anneal" keeps a soft plan that hardens as the temperature falls, excludes the
        diagonal of the kernels, and ends in a climb: slower, and much better on hard problems.
    kernel : str, callable or tuple of two, default "gaussian"
        "gaussian", "laplacian" (of Euclidean distances), "precomputed", a name of scikit-learn's `pairwise_kernels`,
        or a function of two rows; a tuple gives X and Y different kernels.
    n_jobs : int, optional
        How many starts run at the same time, as in joblib; results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> bool((2 * X == Y[KSNOCCO().fit_predict(X, Y)]).all())
    True
    """

    def __init__(
        self,
        *,
        width: float = WIDE,
        epsilon: float = 0.05,
        n_starts: int = 10,
        max_iter: int = 20,
        eta: float = 1.0,
        solver: Literal["climb", "anneal"] = "climb",
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
    ) -> None:
        self.width = width
        self.epsilon = epsilon
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.eta = eta
        self.solver = solver
        self.kernel = kernel
        self.n_jobs = n_jobs

    def _measure(self, K: Array, L: Array) -> Measure:
        return NOCCO(K / np.abs(K).max(), L / np.abs(L).max(), epsilon=self.epsilon)

    @property
    def _dense_matrices(self) -> int:
        return 16

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self.epsilon, "epsilon, the regulariser,", "leave it out for 0.05")


class KSMI(KernelizedSorting):
    """Kernelized sorting with mutual information (section 3.1): minimise log det Γ(K∘ΠᵀLΠ)Γ.

    Parameters
    ----------
    width : float, default 1.0
        Kernel width in multiples of the median width.
    ridge : float, default 1e-3
        What keeps the determinant away from 0, as a share of the mean diagonal of K∘L.
    step : {"working", "published"}, default "working"
        "working" leaves the current pairs out of the profit; "published" is the literal gradient step, which hardly
        ever improves on its start.
    n_starts : int, default 10
        How many eigenvalue-based starts; each is tried with both signs.
    max_iter : int, default 20
        The largest number of assignments per start.
    eta : float, default 1.0
        Step size η in (0, 1].
    kernel : str, callable or tuple of two, default "gaussian"
        "gaussian", "laplacian" (of Euclidean distances), "precomputed", a name of scikit-learn's `pairwise_kernels`,
        or a function of two rows; a tuple gives X and Y different kernels.
    n_jobs : int, optional
        How many starts run at the same time, as in joblib; results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> Y = 2 * X[[3, 1, 0, 2]]
    >>> bool((2 * X == Y[KSMI().fit_predict(X, Y)]).all())
    True
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
        self.width = width
        self.ridge = ridge
        self.step = step
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.eta = eta
        self.kernel = kernel
        self.n_jobs = n_jobs

    def _measure(self, K: Array, L: Array) -> Measure:
        return GaussianMI(K, L, ridge=self.ridge, exclude_self=self.step == "working")

    @property
    def _dense_matrices(self) -> int:
        return 14

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self.ridge, "ridge", "leave it out for 1e-3")
        if self.step not in ("working", "published"):
            raise ValueError(f"step must be 'working' or 'published', got {self.step!r}")


class LSOM(IterativeMatcher):
    """Least-squares object matching (section 4.2): maximise LSMI, its width and λ by cross-validation.

    Each step fits the density ratio r(x, y) = Σ_l α_l K(x, x_l) L(y, y_l) to the current pairs and assigns partners of
    the largest total ratio (Eq. 10). A density ratio is nowhere negative, so the step uses α⁺ = max(α, 0): the reading
    of the paper under which its results come out. The literal step leaves the true matching when it is started there.
    Cross-validation uses α itself, and the last matching of a climb is its end, for LSMI may fall on the way to a
    better one. Of ends at different settings the one with the best held-out score wins: LSMI there is not comparable
    (a small λ inflates it), and J is.

    Parameters
    ----------
    widths : sequence of float, default WIDTHS
        Kernel widths to use, in multiples of the median widths; 1^½, …, 10^½ unless given.
    lambdas : sequence of float, default (0.1, 0.01, 0.001)
        Regularisers λ to choose from.
    cv : int, default 2
        Number of folds of the cross-validation.
    nonnegative : bool, default True
        Whether the step uses α⁺ = max(α, 0). False is the step as the paper prints it; with select="start" or
        "iteration" a climb then ends at its largest LSMI, for it wanders off. Kernels that take negative values, such
        as "linear", are always used with α itself: there the ratio is negative with α⁺ too.
    ridge : {"outside", "inside"}, default "outside"
        "outside" adds λ to H as published LSMI code does; "inside" divides it by n², as the paper prints it.
    select : {"wide-to-narrow", "start", "iteration"}, default "wide-to-narrow"
        How (width, λ) are chosen. "start": once per start, by cross-validation on its first matching. "iteration":
        anew at each iteration. "wide-to-narrow": with every λ, climb at the widest width, from there at the next, and
        so on to the narrowest; with each λ the start of the largest LSMI there wins, and among these the held-out
        score decides. Slower, and much better from a poor start.
    n_starts : int, default 10
        How many eigenvalue-based starts; each is tried with both signs.
    max_iter : int, default 20
        The largest number of assignments per start, and per width if "wide-to-narrow".
    eta : float, default 1.0
        Step size η in (0, 1].
    kernel : str, callable or tuple of two, default "gaussian"
        "gaussian", "laplacian" (of Euclidean distances), "precomputed", a name of scikit-learn's `pairwise_kernels`,
        or a function of two rows; a tuple gives X and Y different kernels.
    n_jobs : int, optional
        How many starts run at the same time, as in joblib; results do not depend on it.
    random_state : int, RandomState or None, default 0
        Draws the folds.

    Attributes
    ----------
    cv_results_ : dict
        Held-out scores of every (width, λ), as in scikit-learn's searches: of the first matching of the start that won
        if select="start", of the matching found otherwise.
    best_params_ : dict
        The (width, λ) of the best score there.
    best_score_ : float
        The held-out score −J of the matching.
    fold_seed_ : int
        What drew the folds.

    See Also
    --------
    ProductLSOM : The same measure with another basis, which is searched much better.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 12)[:, None] ** 3
    >>> Y = np.exp(X)[::-1]
    >>> LSOM().fit(X, Y).best_params_.keys()
    dict_keys(['width', 'lambda'])
    """

    cv_results_: dict[str, Any]
    best_params_: dict[str, float]
    best_score_: float
    fold_seed_: int

    def __init__(
        self,
        *,
        widths: Sequence[float] = WIDTHS,
        lambdas: Sequence[float] = LAMBDAS,
        cv: int = 2,
        nonnegative: bool = True,
        ridge: Literal["outside", "inside"] = "outside",
        select: Literal["wide-to-narrow", "start", "iteration"] = "wide-to-narrow",
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
        self.nonnegative = nonnegative
        self.ridge = ridge
        self.select = select
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.eta = eta
        self.kernel = kernel
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _prepare(self, X: Array, Y: Array) -> CrossValidatedClimbs | NarrowingClimbs:
        if not 2 <= self.cv <= len(X):
            raise ValueError(f"cv must lie between 2 and the number of objects ({len(X)}), got {self.cv}")
        x, y = self._families(X, Y)
        self.fold_seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        grid = self._make_grid((x, y), len(X))
        starts = eigen_starts(x, y, self.n_starts)
        if self.select == "wide-to-narrow":
            return NarrowingClimbs(grid, starts, self.max_iter, self.eta)
        return CrossValidatedClimbs(grid, starts, self.max_iter, self.eta, self.select == "iteration")

    def _conclude(self, search: CrossValidatedClimbs | NarrowingClimbs, answer: Step) -> None:
        of_answer = search.grid.scores(answer.indices)
        scores = search.grid.scores(search.starts[answer.start]) if self.select == "start" else of_answer
        self.cv_results_ = search.grid.table(scores)
        self.best_params_ = self.cv_results_["params"][int(scores.mean(axis=2).argmax())]
        self.best_score_ = float(of_answer.mean(axis=2).max())

    def held_out_score(self, X: ArrayLike, Y: ArrayLike, indices: ArrayLike) -> float:
        """Return the held-out score −J of any matching of the sets that were fitted, by the same grid and folds.

        At the true matching it says whether the search failed or the measure: a search that ends below it has failed.

        Parameters
        ----------
        X, Y : array_like
            The sets that `fit` was given.
        indices : array_like of int, shape (n_samples,)
            A matching: ``Y[indices]`` is aligned with ``X``.

        Returns
        -------
        float
            The best mean score of the grid; ``best_score_`` for ``assignment_``.
        """
        check_is_fitted(self)
        X_, Y_ = self._validate(X, Y, reset=False)
        matching = check_matching(indices, len(X_), "indices")
        with pinned_blas():
            return self._make_grid(self._families(X_, Y_), len(X_)).best_score(matching)

    def _make_grid(self, families: tuple[KernelFamily, KernelFamily], n: int) -> RatioGrid:
        return RatioGrid(
            families,
            widths=self.widths,
            lambdas=self.lambdas,
            folds=fold_numbers(n, self.cv, self.fold_seed_),
            ridge=self.ridge,
            nonnegative=self.nonnegative and all(family.is_nonnegative() for family in families),
        ).prepare()

    @property
    def _dense_matrices(self) -> int:
        return 10 + (4 + self.cv) * len(self.widths)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_grid("widths", self.widths)
        _check_grid("lambdas", self.lambdas)
        check_count(self.cv, "cv")
        if self.random_state is not None and not isinstance(self.random_state, np.random.RandomState):
            check_seed(self.random_state, below=2**32)
        if self.ridge not in ("outside", "inside"):
            raise ValueError(f"ridge must be 'outside' or 'inside', got {self.ridge!r}")
        if self.select not in ("wide-to-narrow", "start", "iteration"):
            raise ValueError(f"select must be 'wide-to-narrow', 'start' or 'iteration', got {self.select!r}")


class ProductLSOM(Matcher):
    """Least-squares object matching with the product basis: maximise LSMI by annealing, width and ε by held-out score.

    The density ratio is r(x, y) = Σ_ll' Θ_ll' K(x, x_l) L(y, y_l') with a separable ridge ε. Θ has a closed form, and
    LSMI becomes the quadratic form of KS-NOCCO, ½tr(K̃ Πᵀ L̃ Π) − ½ with K̃ = K(K + nεI)⁻¹, so that it can be annealed
    from coarse to fine dependence. Width and ε are those of the best score J of pairs left out one at a time.

    Parameters
    ----------
    widths : sequence of float, default WIDTHS
        Kernel widths to choose from, in multiples of the median widths; 1^½, …, 10^½ unless given.
    n_starts : int, default 10
        How many eigenvalue-based starts; each is tried with both signs, at every width.
    kernel : str, callable or tuple of two, default "gaussian"
        As in `LSOM`.
    n_jobs : int, optional
        How many widths run at the same time, as in joblib; results do not depend on it.

    Attributes
    ----------
    dependence_ : float
        LSMI of pairs that are left out of the fit, −J − ½.
    history_ : list of Step
        The steps of the width that won, one per ε.
    n_iter_ : int
        The place of the ε at which the matching was found.
    cv_results_ : dict
        Held-out scores −J of every (width, ε) for the matching, as in scikit-learn's searches.
    best_params_ : dict
        The (width, ε) of the best score.
    best_score_ : float
        That score.

    See Also
    --------
    LSOM : The paper's method.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).gamma(2.0, size=(20, 2)) * [2, 1]
    >>> indices = ProductLSOM(widths=[1.0]).fit_predict(X, np.sqrt(X)[::-1])
    >>> bool((indices == np.arange(20)[::-1]).mean() > 0.8)
    True
    """

    cv_results_: dict[str, Any]
    best_params_: dict[str, float]
    best_score_: float

    def __init__(
        self,
        *,
        widths: Sequence[float] = WIDTHS,
        n_starts: int = 10,
        kernel: KernelOrPair = "gaussian",
        n_jobs: int | None = None,
    ) -> None:
        self.widths = widths
        self.n_starts = n_starts
        self.kernel = kernel
        self.n_jobs = n_jobs

    def _prepare(self, X: Array, Y: Array) -> Continuations:
        x, y = self._families(X, Y)
        widths = tuple(self.widths) if x.has_width or y.has_width else (1.0,)
        return Continuations((x, y), widths, eigen_starts(x, y, self.n_starts))

    def _conclude(self, search: Continuations, answer: Step) -> None:
        self.cv_results_ = search.table(answer.indices)
        self.best_params_ = self.cv_results_["params"][int(self.cv_results_["mean_test_score"].argmax())]
        self.best_score_ = float(self.cv_results_["mean_test_score"].max())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_grid("widths", self.widths)


def _check_grid(name: str, grid: Sequence[float]) -> None:
    values = np.asarray(grid)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or not (values.size and 0 < values.min() < np.inf):
        raise ValueError(f"{name} must be one or more positive numbers, got {grid!r:.80}")
