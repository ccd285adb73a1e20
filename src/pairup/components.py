"""Tables with standardized columns, and by their principal components."""

from typing import Literal

import numpy as np

from pairup.kernels import rescale
from pairup.types import Array

NOISE = 1e-12  # variances below this share of the largest are rounding errors
LEAST_SQUARE = 1e-3  # lost directions are scaled up no further than to this


def standardize(Z: Array) -> Array:
    """Return Z with columns of mean 0 and variance 1; constant columns become 0.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.

    Returns
    -------
    ndarray of shape (n, d)
        The standardized table.

    Examples
    --------
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    Z = rescale(Z, axis=0)
    deviation = Z.std(axis=0)
    deviation[deviation <= 1e-12 * np.abs(Z).max(axis=0, initial=1e-300)] = np.inf
    scaled: Array = (Z - Z.mean(axis=0)) / deviation
    return scaled


def principal_components(Z: Array, *, solver: Literal["svd", "gram"] = "svd") -> tuple[Array, Array]:
    """Return the principal components of a centred table, each of length 1, and their variances times n.

    Z = U diag(√variances) Vᵀ, and ``U * np.sqrt(variances)`` is Z in the coordinates V: distances between rows stay
    as they were. Components without variance are left out, except the first.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Objects as rows; each column has mean 0.
    solver : {"svd", "gram"}, default "svd"
        How a tall table is decomposed: by singular values, to full precision, or by the eigenvectors of its d × d Gram
        matrix, many times quicker and exact enough for single precision.

    Returns
    -------
    U : ndarray of shape (n, k)
        Components as columns, the one of largest variance first; the signs are arbitrary.
    variances : ndarray of shape (k,)
        Squared singular values of Z: n times the variance along each component.

    Examples
    --------
    >>> principal_components(np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))[1]
    array([8., 2.])
    """
    from scipy.linalg import eigh, svd

    n, d = Z.shape
    if d > n:  # the right-hand vectors of a wide table would cost most, and are not needed
        w, U = eigh(Z @ Z.T, driver="evd")
        U, variances = U[:, ::-1], np.maximum(w[::-1], 0.0)
    elif solver == "svd":
        U, s, _ = svd(Z, full_matrices=False)
        variances = s**2
    else:
        w, V = eigh(Z.T @ Z, driver="evd")
        variances = np.maximum(w[::-1], 0.0)
        U = (Z @ V)[:, ::-1] / np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    kept = variances > NOISE * variances[0]
    kept[0] = True
    return U[:, kept], variances[kept]


def shuffle_components(U: Array, variances: Array, rng: np.random.Generator, *, center: bool = True) -> Array:
    """Return components that nearly keep their distributions and lose their relations.

    Each is shuffled on its own, and they are made uncorrelated again, as principal components are.

    Parameters
    ----------
    U : ndarray of shape (n, k)
        Principal components of length 1.
    variances : ndarray of shape (k,)
        Their variances.
    rng : numpy.random.Generator
        Draws the shuffles.
    center : bool, default True
        Whether the components have mean 0, but for rounding.

    Returns
    -------
    ndarray of shape (n, k)
        The components, in their scale.
    """
    shuffled = rng.permuted(U, axis=0)
    if center:
        shuffled -= shuffled.mean(axis=0)
    scaled: Array = decorrelate(shuffled) * np.sqrt(np.maximum(variances, 0.0))
    return scaled


def decorrelate(Z: Array) -> Array:
    """Return the columns nearest to those of Z that have length 1 and are orthogonal, Z(ZᵀZ)^(−½).

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Columns of about length 1.

    Returns
    -------
    ndarray of shape (n, k)
        Orthonormal columns.

    Examples
    --------
    >>> decorrelate(np.array([[2.0, 0.0], [0.0, 0.5]]))
    array([[1., 0.],
           [0., 1.]])
    """
    from scipy.linalg import eigh

    w, V = eigh(Z.T @ Z, driver="evd")
    orthogonal: Array = Z @ (V / np.sqrt(np.maximum(w, LEAST_SQUARE * w[-1]))) @ V.T
    return orthogonal
