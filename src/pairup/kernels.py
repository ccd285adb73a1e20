"""Kernel matrices and the median width."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.types import Array

Kernel: TypeAlias = str | Callable[..., Any]
"""Name of a kernel, or a function of two rows."""


ROUNDING = 1e-15  # squared distances below this share of the largest are rounding errors
LARGEST = 1e34  # modulus of a kernel: its squares are numbers then, also in single precision, and so are its inverses


def rescale(Z: NDArray[Any], axis: int | None = None) -> Array:
    """Return Z times a power of two, so that its largest modulus lies in [½, 1) and no square over- or underflows.

    The one place where units are taken away. A power of two is exact: in ordinary units results do not change by a bit.

    Parameters
    ----------
    Z : ndarray
        Numbers of any scale.
    axis : int, optional
        The axis along which the largest is sought; None scales all of Z alike, 0 each column, 1 each row.

    Returns
    -------
    ndarray
        The scaled numbers; zeros stay.

    Examples
    --------
    >>> rescale(np.array([[3.0, 40.0], [-1.0, 10.0]]), axis=0)
    array([[ 0.75   ,  0.625  ],
           [-0.25   ,  0.15625]])
    """
    scaled: Array = np.ldexp(Z, -_exponents(Z, axis))
    return scaled


def _exponents(Z: NDArray[Any], axis: int | None = None) -> NDArray[np.intc]:
    """Return e with 2^(e − 1) ≤ max |Z| < 2^e."""
    e: NDArray[np.intc] = np.frexp(np.abs(Z).max(axis=axis, keepdims=True, initial=0.0))[1]
    return e


def squared_distances(X: ArrayLike, Z: ArrayLike | None = None) -> Array:
    """Return ‖x_i − z_j‖² for all pairs, with z = x unless Z is given; the diagonal is then exactly 0.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Objects as rows.
    Z : array_like of shape (m, d), optional
        Other objects as rows; None compares X with itself.

    Returns
    -------
    ndarray of shape (n, m)
        The squared Euclidean distances.

    Examples
    --------
    >>> squared_distances([[0.0], [3.0]])
    array([[0., 9.],
           [9., 0.]])
    """
    from sklearn.metrics.pairwise import euclidean_distances

    X = np.asarray(X, dtype=np.float64)
    # Centring first keeps the expansion ‖x‖² − 2x·z + ‖z‖² accurate for data far from the origin.
    origin = X.mean(axis=0)
    other = None if Z is None else np.asarray(Z, dtype=np.float64) - origin
    D: Array = euclidean_distances(X - origin, other, squared=True)
    return D


def median_width(X: ArrayLike, *, distances: NDArray[Any] | None = None) -> float:
    """Return m = 2^(−1/2) · median(‖x_i − x_j‖) over all i, j, the diagonal included as the paper writes it.

    Where more than half of the distances are 0 but for rounding (many duplicates, or one object far from all others),
    the median of the others takes its place.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Objects as rows.
    distances : ndarray of shape (n, n), optional
        Their squared distances, if they are known already.

    Returns
    -------
    float
        The median width; 0 if all rows are equal.

    Examples
    --------
    >>> round(median_width([[0.0], [1.0], [2.0]]), 3)
    0.707
    """
    if distances is None:
        Z = np.asarray(X, dtype=np.float64)
        return math.ldexp(median_width((), distances=squared_distances(rescale(Z))), int(_exponents(Z).item()))
    D = distances
    median, rounding = np.median(D), ROUNDING * float(D.max())
    if median <= rounding and D.any():
        median = np.median(D[D > rounding])
    return float(np.sqrt(median / 2))


def _positive(width: float) -> float:
    """Return the width, or raise a ValueError if it is not positive."""
    if not width > 0:
        raise ValueError(
            f"the kernel width must be positive, got {width}; a median width of 0 means that all rows are equal"
        )
    return width


def _in_widths(X: ArrayLike, Z: ArrayLike | None, width: float) -> tuple[Array, Array | None, float]:
    """Return both sets and the width times the same power of two, so that the width lies in [½, 1)."""
    scaled, e = math.frexp(_positive(width))
    x, z = (None if S is None else np.ldexp(np.asarray(S, dtype=np.float64), -e) for S in (X, Z))
    assert x is not None
    return x, z, scaled


def gaussian(X: ArrayLike, Z: ArrayLike | None = None, *, width: float) -> Array:
    """Return the Gaussian kernel K(x, z) = exp(−‖x − z‖² / (2·width²)).

    Parameters
    ----------
    X : array_like of shape (n, d)
        Objects as rows.
    Z : array_like of shape (m, d), optional
        Other objects as rows; None compares X with itself.
    width : float
        Kernel width σ, positive.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> gaussian([[0.0], [1.0]], width=1.0).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    X, Z, width = _in_widths(X, Z, width)
    K = squared_distances(X, Z)
    K *= -0.5 / width**2
    np.exp(K, out=K)
    return K


def laplacian(X: ArrayLike, Z: ArrayLike | None = None, *, width: float) -> Array:
    """Return the Laplacian kernel K(x, z) = exp(−‖x − z‖ / width) of Euclidean distances.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Objects as rows.
    Z : array_like of shape (m, d), optional
        Other objects as rows; None compares X with itself.
    width : float
        Kernel width, positive.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> laplacian([[0.0], [1.0]], width=1.0).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    X, Z, width = _in_widths(X, Z, width)
    K = np.sqrt(squared_distances(X, Z))
    K /= -width
    np.exp(K, out=K)
    return K


def linear(X: ArrayLike, Z: ArrayLike | None = None) -> Array:
    """Return the linear kernel K(x, z) = x·z.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Objects as rows.
    Z : array_like of shape (m, d), optional
        Other objects as rows; None compares X with itself.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> linear([[1.0], [2.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    X = np.asarray(X, dtype=np.float64)
    K: Array = X @ (X if Z is None else np.asarray(Z, dtype=np.float64)).T
    return K


def center(K: NDArray[Any]) -> NDArray[Any]:
    """Return K̄ = ΓKΓ with Γ = I − 11ᵀ/n, whose rows and columns sum to 0.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.

    Returns
    -------
    ndarray of shape (n, n)
        The centred matrix, a new array.

    Examples
    --------
    >>> center(np.array([[4.0, 2.0], [2.0, 4.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    columns = K.mean(axis=0)
    centred: NDArray[Any] = K - columns
    centred -= (K.mean(axis=1) - columns.mean())[:, None]
    return centred


def check_kernel(K: ArrayLike, name: str = "K") -> Array:
    """Return a precomputed kernel matrix as float64, or raise a ValueError that says what is wrong with it.

    Parameters
    ----------
    K : array_like of shape (n, n)
        The kernel of all objects against all objects, symmetric.
    name : str, default "K"
        Name of the matrix in error messages.

    Returns
    -------
    ndarray of shape (n, n)
        The same matrix as float64.

    Examples
    --------
    >>> check_kernel([[1, 0], [0, 1]])
    array([[1., 0.],
           [0., 1.]])
    """
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"a precomputed kernel {name} must be a square matrix, got shape {K.shape}; "
            "pass the kernel of all objects against all objects, or another kernel than 'precomputed'"
        )
    scale = float(np.abs(K).max(initial=0.0))
    if not (scale == 0 or 1 / LARGEST <= scale <= LARGEST):  # NaN is not
        raise ValueError(
            f"the kernel of {name} must be finite, its largest modulus between {1 / LARGEST:.0e} and {LARGEST:.0e}, "
            f"got {scale:.3g}; divide {name} by its largest value first"
        )
    gap = float(np.abs(K - K.T).max(initial=0.0))
    if gap > 1e-8 * scale:
        raise ValueError(
            f"a precomputed kernel {name} must be symmetric, got |{name} − {name}ᵀ| up to {gap:.3g}; "
            f"pass ({name} + {name}.T) / 2 if the difference is rounding"
        )
    return K


class KernelFamily:
    """The kernel matrices of one set at any multiple c of its median width.

    Distances are computed once; a kernel without a width ignores c.

    Parameters
    ----------
    X : array_like of shape (n, d) or (n, n)
        Objects as rows, or their kernel matrix with ``kernel="precomputed"``.
    kernel : str or callable, default "gaussian"
        "gaussian", "laplacian", "precomputed", any name of scikit-learn's `pairwise_kernels`, or a callable of two
        rows.
    name : str, default "X"
        Name of the set in error messages.

    Attributes
    ----------
    has_width : bool
        Whether the kernel has a width: "gaussian" and "laplacian" do.
    median_width : float
        Median width of the set, where the kernel has a width.

    Examples
    --------
    >>> family = KernelFamily([[0.0], [1.0], [2.0]])
    >>> bool(np.allclose(family.matrix(2.0), gaussian([[0.0], [1.0], [2.0]], width=2.0 * family.median_width)))
    True
    """

    def __init__(self, X: ArrayLike, kernel: Kernel = "gaussian", *, name: str = "X") -> None:
        self.kernel = kernel
        self.has_width = kernel in ("gaussian", "laplacian")
        if self.has_width:
            Z = np.asarray(X, dtype=np.float64)
            self._distances = squared_distances(rescale(Z))
            self._width = median_width((), distances=self._distances)  # in the units of these distances
            self.median_width = math.ldexp(self._width, int(_exponents(Z).item()))
            if not self._width > 0:
                raise ValueError(
                    f"all rows of {name} are equal; expected objects that differ; "
                    f"check that {name} holds the data you want to match"
                )
        elif kernel == "precomputed":
            self._matrix = check_kernel(X, name)
        else:
            from sklearn.metrics.pairwise import pairwise_kernels

            with np.errstate(over="ignore", invalid="ignore"):  # told by the check
                K = pairwise_kernels(np.asarray(X, dtype=np.float64), metric=kernel)
            self._matrix = check_kernel(K, name)
            if np.ptp(self._matrix) == 0:
                raise ValueError(
                    f"the kernel of {name} is {self._matrix.flat[0]:.3g} for all objects, expected one that tells them "
                    f"apart; check that {name} holds the data you want to match, and in ordinary units"
                )

    def matrix(self, c: float = 1.0) -> Array:
        """Return the kernel matrix at width c · median width.

        Parameters
        ----------
        c : float, default 1.0
            Multiple of the median width; ignored by kernels without a width.

        Returns
        -------
        ndarray of shape (n, n)
            The kernel matrix.
        """
        if not self.has_width:
            return self._matrix
        width = c * self._width
        if self.kernel == "gaussian":
            return np.exp(self._distances * (-0.5 / width**2))
        return np.exp(np.sqrt(self._distances) / -width)

    def is_nonnegative(self) -> bool:
        """Tell whether the kernel is nowhere negative, as the Gaussian and Laplacian are.

        Returns
        -------
        bool
            True if no entry of the kernel matrix is negative.
        """
        return self.has_width or bool(self._matrix.min() >= 0)

    def is_indefinite(self) -> bool:
        """Tell whether the kernel has negative eigenvalues beyond rounding; the Gaussian and Laplacian have none.

        Returns
        -------
        bool
            True if the smallest eigenvalue is negative beyond rounding.
        """
        if self.has_width:
            return False
        eigenvalues = np.linalg.eigvalsh(self._matrix)
        return bool(eigenvalues[0] < -1e-8 * max(abs(eigenvalues[0]), abs(eigenvalues[-1])))
