"""Models of many matched pairs by kernels at some landmarks: no matrix has a side for every pair twice.

An object is described by its similarity to k landmarks, φ(x) = (K(x, l_1), …, K(x, l_k)), and sums over the pairs are
taken block by block. With every object as a landmark both models are those of few pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pairup.density_ratio import SCORED_EPSILONS
from pairup.kernels import gaussian, median_width
from pairup.sampling import choose_landmarks, draw_rows
from pairup.types import Array, Indices

FULL_UP_TO = 3000  # pairs; more are modelled by landmarks
LANDMARKS = 1000
WIDTH_ROWS = 2000  # objects whose distances give the median width
SELECTION_ROWS = 10_000  # pairs that choose the width of the regression
HELD_OUT_ROWS = 2000  # pairs that choose ε of the density ratio, and no fit knows
SPREAD_ROWS = 20_000  # pairs that say how much spread is missing
RATIO_ROWS = 200_000  # pairs that the density ratio is fitted to: 200 for each landmark; more hardly tell more
BLOCK = 4096  # pairs at once
FOLDS = 5
WIDTHS = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)  # multiples of the median width, as of `MatchedRegressor`
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
LEAST_EIGENVALUE = 1e-10  # of the largest: directions of the landmarks below are rounding


def _blocks(rows: Indices) -> Iterator[Indices]:
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK]


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over pairs, of φ = φ(x) and y: all that a ridge regression needs to know of them."""

    count: float
    phi: Array  # Σ φ
    y: Array  # Σ y
    phi_phi: Array  # Σ φφᵀ
    phi_y: Array  # Σ φyᵀ
    y_y: float  # Σ ‖y‖²

    @classmethod
    def over(cls, phi: Array, y: Array) -> "_Sums":
        return cls(len(y), phi.sum(axis=0), y.sum(axis=0), phi.T @ phi, phi.T @ y, float((y**2).sum()))

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def __sub__(self, other: "_Sums") -> "_Sums":
        return _Sums(*(getattr(self, name) - getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def mean(self) -> Array:
        return self.y / self.count

    def solve(self, ridges: Sequence[float]) -> Array:
        """Return W = (Σφφᵀ + (δ/2) I)⁻¹ Σφ(y − ȳ)ᵀ for every ridge δ, stacked."""
        from scipy.linalg import eigh

        w, V = eigh(self.phi_phi, driver="evd")
        shrunk = 1 / (np.maximum(w, 0.0) + np.asarray(ridges, dtype=np.float64)[:, None] / 2)
        weights: Array = V @ (shrunk[:, :, None] * (V.T @ (self.phi_y - np.outer(self.phi, self.mean))))
        return weights

    def error(self, weights: Array, mean: Array) -> float:
        """Return Σ‖y − ȳ − Wᵀφ‖² of these pairs under a fit to others."""
        centred = self.phi_y - np.outer(self.phi, mean)
        around = self.y_y - 2 * float(mean @ self.y) + self.count * float(mean @ mean)
        return around - 2 * float(np.vdot(weights, centred)) + float(np.vdot(weights, self.phi_phi @ weights))


class LandmarkRegressor:
    """Regress matched partners on their points, as `pairup.regression.MatchedRegressor` does, at landmarks.

    W minimises Σ‖y_i − ȳ − Wᵀφ(x_i)‖² + (δ/2) tr(WᵀW). A sample of the pairs chooses the width in 2-fold
    cross-validation, and all of them the ridge in 5-fold cross-validation.

    Parameters
    ----------
    landmarks : int, default 1000
        How many landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of shape (k, d)
        The landmarks.
    width_ : float
        The chosen width, as a multiple of the median width.
    ridge_ : float
        The chosen ridge.
    weights_ : ndarray of shape (k, e)
        The weights W.
    mean_ : ndarray of shape (e,)
        The mean ȳ.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 400)[:, None]
    >>> every = np.arange(400)
    >>> model = LandmarkRegressor(landmarks=50).fit(x, np.hstack([x**2, np.sin(3 * x)]), every, every)
    >>> model.predict(np.array([[0.5]])).round(2)
    array([[0.25, 1.  ]])
    """

    def __init__(self, *, landmarks: int = LANDMARKS) -> None:
        self.landmarks = landmarks

    def fit(self, X: Array, Y: Array, rows: Indices, partners: Indices) -> "LandmarkRegressor":
        """Learn from the pairs (X[rows[i]], Y[partners[i]]).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points as rows.
        Y : ndarray of shape (m, e)
            Partners as rows.
        rows, partners : ndarray of int, shape (n_pairs,)
            The pairs.

        Returns
        -------
        LandmarkRegressor
            The fitted regressor itself.
        """
        self._pairs = X, Y, rows, partners
        self._exponent = int(
            np.frexp(max((float(np.abs(Y[block]).max()) for block in _blocks(partners)), default=0))[1]
        )
        self.landmarks_ = np.asarray(X[rows[choose_landmarks(X, rows, self.landmarks)]], dtype=np.float64)
        median = median_width(X[rows[draw_rows(len(rows), WIDTH_ROWS)]])
        sample = draw_rows(len(rows), SELECTION_ROWS)
        best = np.inf
        for width in WIDTHS:
            self._width = width * median
            error, _ = self._validate([self._sum(sample[part::2]) for part in range(2)])
            if error < best:
                best, self.width_ = error, width
        self._width = self.width_ * median
        shuffled = np.random.default_rng(0).permutation(len(rows))
        self._folds = [np.sort(shuffled[part::FOLDS]) for part in range(FOLDS)]
        self._of_folds = [self._sum(fold) for fold in self._folds]
        _, self.ridge_ = self._validate(self._of_folds)
        self.weights_, self.mean_ = self._fit(sum(self._of_folds[1:], start=self._of_folds[0]))
        return self

    def predict(self, X: Array) -> Array:
        """Return the expected partner of each row of X.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            New points as rows.

        Returns
        -------
        ndarray of shape (m, e)
            The expected partners.
        """
        images: Array = np.empty((len(X), len(self.mean_)))
        for block in _blocks(np.arange(len(X))):
            images[block] = self._features(X[block]) @ self.weights_ + self.mean_
        return images

    def predict_held_out(self) -> Array:
        """Return the expected partners of a sample of the fitted points, each by a fit without its fold.

        Returns
        -------
        ndarray of shape (k, e)
            The expected partners.
        """
        X, _, rows, _ = self._pairs
        images = []
        every = sum(self._of_folds[1:], start=self._of_folds[0])
        for fold, sums in zip(self._folds, self._of_folds, strict=True):
            weights, mean = self._fit(every - sums)
            some = fold[draw_rows(len(fold), SPREAD_ROWS // FOLDS)]
            images += [self._features(X[rows[block]]) @ weights + mean for block in _blocks(some)]
        return np.concatenate(images)

    def _features(self, X: Array) -> Array:
        return gaussian(X, self.landmarks_, width=self._width)

    def _sum(self, chosen: Indices) -> _Sums:
        """Return the sums over some of the pairs; partners times a power of two, so that no square overflows."""
        X, Y, rows, partners = self._pairs
        total: _Sums | None = None
        for block in _blocks(chosen):
            y = np.ldexp(np.asarray(Y[partners[block]], dtype=np.float64), -self._exponent)
            sums = _Sums.over(self._features(X[rows[block]]), y)
            total = sums if total is None else total + sums
        assert total is not None
        return total

    def _validate(self, parts: list[_Sums]) -> tuple[float, float]:
        """Return the least cross-validated error, and its ridge."""
        every = sum(parts[1:], start=parts[0])
        error = np.zeros(len(RIDGES))
        for part in parts:
            others = every - part
            error += [part.error(weights, others.mean) for weights in others.solve(RIDGES)]
        return float(error.min()), RIDGES[int(error.argmin())]

    def _fit(self, sums: _Sums) -> tuple[Array, Array]:
        """Return weights and mean of a fit, in the units of Y."""
        return np.ldexp(sums.solve([self.ridge_])[0], self._exponent), np.ldexp(sums.mean, self._exponent)


@dataclass(frozen=True, eq=False)
class _Side:
    """One set by landmarks: z(x) = M^(−½) φ(x), so that z(x)·z(x') ≈ K(x, x') (Nyström)."""

    landmarks: Array
    width: float
    root: Array  # M^(−½) of the kernel M among the landmarks, without directions that are rounding

    @classmethod
    def of(cls, X: Array, rows: Indices, k: int) -> "_Side":
        from scipy.linalg import eigh

        landmarks = np.asarray(X[rows[choose_landmarks(X, rows, k)]], dtype=np.float64)
        width = median_width(X[rows[draw_rows(len(rows), WIDTH_ROWS)]])
        w, V = eigh(gaussian(landmarks, width=width), driver="evd")
        kept = w > LEAST_EIGENVALUE * w[-1]
        return cls(landmarks, width, V[:, kept] / np.sqrt(w[kept]))

    def similarities(self, X: Array) -> Array:
        return gaussian(X, self.landmarks, width=self.width)

    def features(self, X: Array) -> Array:
        z: Array = self.similarities(X) @ self.root
        return z


class LandmarkRatio:
    """The density ratio r(x, y) of matched pairs with the product basis, at landmarks.

    With K ≈ ZZᵀ, r(x, y) = n·k(x)ᵀ(K + nεI)⁻¹(L + nεI)⁻¹l(y) is n·z(x)ᵀ(A + nεI)⁻¹ C (B + nεI)⁻¹ z(y), where A, B
    and C are the sums of z(x)z(x)ᵀ, z(y)z(y)ᵀ and z(x)z(y)ᵀ over the pairs. Pairs that the fit does not know choose ε.

    Parameters
    ----------
    landmarks : int, default 1000
        How many landmarks each set has.

    Attributes
    ----------
    epsilon_ : float
        The chosen ε.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> every = np.arange(500)
    >>> model = LandmarkRatio(landmarks=40).fit(x, x**3, every, every)
    >>> model.ratios(np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])).argmax(axis=1)
    array([1, 0])
    """

    def __init__(self, *, landmarks: int = LANDMARKS) -> None:
        self.landmarks = landmarks

    def fit(self, X: Array, Y: Array, rows: Indices, partners: Indices) -> "LandmarkRatio":
        """Learn from the pairs (X[rows[i]], Y[partners[i]]).

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points as rows.
        Y : ndarray of shape (m, e)
            Partners as rows.
        rows, partners : ndarray of int, shape (n_pairs,)
            The pairs.

        Returns
        -------
        LandmarkRatio
            The fitted model itself.
        """
        some = draw_rows(len(rows), RATIO_ROWS)
        rows, partners = rows[some], partners[some]
        self._x, self._y = _Side.of(X, rows, self.landmarks), _Side.of(Y, partners, self.landmarks)
        held = draw_rows(len(rows), min(HELD_OUT_ROWS, len(rows) // 5), seed=1)
        known = np.ones(len(rows), dtype=bool)
        known[held] = False
        k, l = len(self._x.landmarks), len(self._y.landmarks)  # noqa: E741
        A, B, C = np.zeros((k, k)), np.zeros((l, l)), np.zeros((k, l))
        for block in _blocks(np.flatnonzero(known)):
            x, y = self._x.similarities(X[rows[block]]), self._y.similarities(Y[partners[block]])
            A += x.T @ x
            B += y.T @ y
            C += x.T @ y
        R, S = self._x.root, self._y.root  # the sums are taken of φ, and turned into those of z once
        A, B, C = R.T @ A @ R, S.T @ B @ S, R.T @ C @ S
        x, y = self._x.features(X[rows[held]]), self._y.features(Y[partners[held]])
        best = np.inf
        for epsilon in SCORED_EPSILONS:
            r = x @ _ratio_matrix(A, B, C, len(rows) - len(held), epsilon) @ y.T
            J = 0.5 * float((r**2).mean()) - float(np.diag(r).mean())
            if J < best:
                best, self.epsilon_ = J, epsilon
        self._matrix = _ratio_matrix(A + x.T @ x, B + y.T @ y, C + x.T @ y, len(rows), self.epsilon_)
        return self

    def ratios(self, X: Array, Y: Array) -> Array:
        """Return r of all new x with all new y.

        Parameters
        ----------
        X : ndarray of shape (k, d)
            New objects like those of X.
        Y : ndarray of shape (l, e)
            New objects like those of Y.

        Returns
        -------
        ndarray of shape (k, l)
            How much likelier each pair is than chance.
        """
        x, y = self._x.features(X), self._y.features(Y)
        r: Array = x @ self._matrix @ y.T
        return r


def _ratio_matrix(A: Array, B: Array, C: Array, n: int, epsilon: float) -> Array:
    """Return n·(A + nεI)⁻¹ C (B + nεI)⁻¹."""
    from scipy.linalg import solve

    ridge = n * epsilon
    inner = solve(A + ridge * np.eye(len(A)), C, assume_a="pos")
    R: Array = n * solve(B + ridge * np.eye(len(B)), inner.T, assume_a="pos").T
    return R
