"""The paper's multi-output kernel regression, which finds partners for new points."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, svd
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted, validate_data

from pairup.kernels import gaussian, median_width, rescale
from pairup.memory import check_memory
from pairup.types import Array

MATRICES = 6  # dense ones of all points that are needed at once: a kernel, and its eigenvectors
HELD_OUT_FOLDS = 5  # of the images that say how much spread is missing
LARGEST_FACTOR = 5.0  # by which a component of images is scaled: one that x says nothing about stays small
NO_SPREAD = 1e-6  # of the widest component: what spreads less is rounding


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Describe a point by its Gaussian similarity to every fitted point: k(x) = (K(x, x_1), …, K(x, x_n)).

    Parameters
    ----------
    width : float, default 1.0
        Kernel width as a multiple of the median width of the fitted points.

    Attributes
    ----------
    samples_ : ndarray of shape (n, d)
        The fitted points.
    width_ : float
        The kernel width in the units of the points.

    Examples
    --------
    >>> KernelFeatures(width=1.0).fit_transform([[0.0], [1.0]]).diagonal()
    array([1., 1.])
    """

    def __init__(self, *, width: float = 1.0) -> None:
        self.width = width

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Store the points of X and their median width.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points as rows.
        y : None, optional
            Ignored; scikit-learn's pipelines pass it.

        Returns
        -------
        KernelFeatures
            The fitted transformer itself.
        """
        self.samples_: Array = validate_data(self, X, dtype=np.float64)
        self.width_ = self.width * median_width(self.samples_)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return one row of similarities for each row of X.

        Parameters
        ----------
        X : array_like of shape (m, d)
            Points as rows.

        Returns
        -------
        ndarray of shape (m, n)
            Similarity of each row of X to each fitted point.
        """
        check_is_fitted(self)
        return gaussian(validate_data(self, X, dtype=np.float64, reset=False), self.samples_, width=self.width_)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of the transformed points, for scikit-learn."""
        return len(self.samples_)


class MatchedRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regress matched partners on their points, to predict the partners of new points.

    With the rows of X and Y paired, W minimises Σ‖y_i − ȳ − Wᵀk(x_i)‖² + (δ/2) tr(WᵀW), that is
    W = (K² + (δ/2) I)⁻¹ K (Y − ȳ). Width τ and ridge δ are the pair with the least squared error in
    cross-validation. (scikit-learn's ``KernelRidge`` penalises WᵀKW instead: another model.)

    Parameters
    ----------
    widths : sequence of float, default (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
        Candidates for τ, as multiples of the median width of X.
    ridges : sequence of float, default (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
        Candidates for δ.
    cv : int, default 2
        Number of folds.
    random_state : int, RandomState or None, default 0
        Seed of the shuffled folds.

    Attributes
    ----------
    width_ : float
        The chosen width.
    ridge_ : float
        The chosen ridge.
    features_ : KernelFeatures
        The map k(x), fitted to X.
    weights_ : ndarray of shape (n, n_outputs)
        The weights W.
    mean_ : ndarray of shape (n_outputs,)
        The mean ȳ.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> model = MatchedRegressor().fit(x, np.hstack([x**2, np.sin(3 * x)]))
    >>> model.predict([[0.5]]).round(2)
    array([[0.25, 1.  ]])
    """

    def __init__(
        self,
        *,
        widths: Sequence[float] = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0),
        ridges: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2),
        cv: int = 2,
        random_state: Any = 0,
    ) -> None:
        self.widths = widths
        self.ridges = ridges
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from the pairs (X[i], y[i]).

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points as rows.
        y : array_like of shape (n,) or (n, n_outputs)
            Their partners, as one or many columns.

        Returns
        -------
        MatchedRegressor
            The fitted regressor itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        points, partners = np.asarray(X), np.asarray(y, dtype=np.float64)
        n = len(points)
        if n < self.cv:
            raise ValueError(
                f"{self.cv}-fold cross-validation needs at least {self.cv} pairs, got n_samples = {n}; "
                "pass more pairs or a smaller cv"
            )
        check_memory(n, n, MATRICES)
        self._one_column = partners.ndim == 1
        Y = partners.reshape(n, -1)
        scaled = rescale(Y)  # so that errors can be squared, whatever the units of Y
        error = np.zeros((len(self.widths), len(self.ridges)))
        for train, test in KFold(self.cv, shuffle=True, random_state=self.random_state).split(points):
            mean = scaled[train].mean(axis=0)
            for k, width in enumerate(self.widths):
                features = KernelFeatures(width=width).fit(points[train])
                weights = _solve(features.transform(points[train]), scaled[train] - mean, self.ridges)
                error[k] += ((features.transform(points[test]) @ weights + mean - scaled[test]) ** 2).sum(axis=(1, 2))
        k, j = divmod(int(error.argmin()), len(self.ridges))
        self.width_, self.ridge_ = self.widths[k], self.ridges[j]
        self.features_ = KernelFeatures(width=self.width_).fit(points)
        self.mean_ = Y.mean(axis=0)
        self.weights_ = _solve(self.features_.transform(points), Y - self.mean_, [self.ridge_])[0]
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the expected partner of each row of X.

        Parameters
        ----------
        X : array_like of shape (m, d)
            New points as rows.

        Returns
        -------
        ndarray of shape (m,) or (m, n_outputs)
            The expected partners, in the form of the `y` of `fit`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        Y: Array = self.features_.transform(X) @ self.weights_ + self.mean_
        return Y[:, 0] if self._one_column else Y


def predict_held_out(model: MatchedRegressor, X: Array, Y: Array) -> Array:
    """Return the expected partners of points that a model was fitted to, each by a fit without it.

    Width and ridge stay; images of points that took part in a fit spread more than those of new ones.

    Parameters
    ----------
    model : MatchedRegressor
        The fitted model.
    X : ndarray of shape (n, d)
        The points of its fit.
    Y : ndarray of shape (n, e)
        Their partners.

    Returns
    -------
    ndarray of shape (n, e)
        The expected partners.
    """
    images = np.empty_like(Y)
    for train, test in KFold(min(HELD_OUT_FOLDS, len(X)), shuffle=True, random_state=0).split(X):
        features, mean = KernelFeatures(width=model.width_).fit(X[train]), Y[train].mean(axis=0)
        weights = _solve(features.transform(X[train]), Y[train] - mean, [model.ridge_])[0]
        images[test] = features.transform(X[test]) @ weights + mean
    return images


def restore_spread(images: Array, fitted: Array, Y: Array) -> Array:
    """Scale images along the principal components of Y by what makes the fitted ones spread as Y does.

    A mean partner lies nearer to the middle than a partner does, most of all along components that x says little
    about. Its nearest objects of Y are then those in the middle, which the scaling mends.

    Parameters
    ----------
    images : ndarray of shape (k, e)
        Where objects are sent.
    fitted : ndarray of shape (n, e)
        Where objects are sent that no fit knew; they say how much spread is missing.
    Y : ndarray of shape (m, e)
        The objects that the images are to resemble.

    Returns
    -------
    ndarray of shape (k, e)
        The scaled images.

    Examples
    --------
    >>> Y = np.array([[-2.0, -1.0], [-2.0, 1.0], [2.0, -1.0], [2.0, 1.0]])
    >>> restore_spread(Y / [2, 1], Y / [2, 1], Y).round(6)
    array([[-2., -1.],
           [-2.,  1.],
           [ 2., -1.],
           [ 2.,  1.]])
    """
    exponent = np.frexp(np.abs(Y).max())[1]  # so that no square over- or underflows
    scaled, of_fit, points = (np.ldexp(Z, -exponent) for Z in (Y, fitted, images))
    centre, middle = scaled.mean(axis=0), of_fit.mean(axis=0)
    axes = svd(scaled - centre, full_matrices=False)[2].T
    wanted, found = ((scaled - centre) @ axes).std(axis=0), ((of_fit - middle) @ axes).std(axis=0)
    factors = np.where(found > wanted / LARGEST_FACTOR, wanted / np.maximum(found, 1e-300), LARGEST_FACTOR)
    factors = np.where(wanted > NO_SPREAD * wanted.max(initial=0.0), factors, 1.0)
    spread: Array = np.ldexp(centre + ((points - middle) @ axes * factors) @ axes.T, exponent)
    return spread


def _solve(K: Array, Y: Array, ridges: Sequence[float]) -> Array:
    """Return W for every ridge, stacked: one eigendecomposition serves them all, for K is symmetric."""
    w, V = eigh(K)
    shrunk = w / (w**2 + np.asarray(ridges, dtype=np.float64)[:, None] / 2)
    weights: Array = V @ (shrunk[:, :, None] * (V.T @ Y))
    return weights
