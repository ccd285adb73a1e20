"""The picture of both sides of a match: each row a point, partners in like places."""

from typing import Any

import numpy as np

from pairup.components import principal_components, standardize
from pairup.types import Array, Indices

SIZE = 10_000  # the points lie in a square of this side, as whole numbers
DENSE = 500  # rows or columns up to which all components are computed


def place_rows(values: Array) -> Array:
    """Return the two leading principal components of a table with standardized columns.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        The table.

    Returns
    -------
    ndarray of shape (n, 2)
        One place per row; the second coordinate is 0 where there is one component only.
    """
    Z = standardize(np.nan_to_num(np.asarray(values, dtype=np.float64)))
    if min(Z.shape) > DENSE:
        from scipy.sparse.linalg import svds

        U, s, _ = svds(Z, k=2, v0=np.ones(min(Z.shape)))
        return _two_columns(np.asarray((U * s)[:, ::-1], dtype=np.float64))
    U, variances = principal_components(Z)
    return _two_columns(U * np.sqrt(variances))


def place_nodes(adjacency: Any) -> Array:
    """Return a spectral layout: eigenvectors of the normalized Laplacian, so that neighbours lie near each other.

    Parameters
    ----------
    adjacency : scipy.sparse array of shape (n, n)
        Weights of the edges.

    Returns
    -------
    ndarray of shape (n, 2)
        One place per node.
    """
    from scipy import sparse
    from scipy.sparse.linalg import eigsh

    A = abs(sparse.csr_array(adjacency, dtype=np.float64))
    A = A + A.T
    degrees = np.asarray(A.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.maximum(degrees, 1e-12))
    scale[degrees == 0] = 0.0
    # D^(−½) (A + τ) D^(−½): the constant τ joins components, which would otherwise be all that is seen
    n, tau = len(degrees), float(degrees.mean()) / max(len(degrees), 1)
    N = sparse.diags_array(scale) @ A @ sparse.diags_array(scale)
    if n <= DENSE:
        w, V = np.linalg.eigh(N.toarray() + tau * np.outer(scale, scale))
    else:
        from scipy.sparse.linalg import LinearOperator

        joined = LinearOperator((n, n), matvec=lambda v: N @ v + tau * scale * (scale @ v), dtype=np.float64)
        w, V = eigsh(joined, k=3, which="LA", v0=np.ones(n), tol=1e-4)
    order = np.argsort(-w)[1:3]
    return _two_columns(V[:, order] * scale[:, None])


def _two_columns(points: Array) -> Array:
    """Return the first two columns, zeros where there is one only."""
    filled: Array = np.zeros((len(points), 2))
    filled[:, : min(2, points.shape[1])] = points[:, :2]
    return filled


def turn_towards(points: Array, target: Array) -> Array:
    """Return the rotation or reflection that brings points nearest to their targets.

    Parameters
    ----------
    points : ndarray of shape (k, 2)
        Points.
    target : ndarray of shape (k, 2)
        Where each should lie.

    Returns
    -------
    ndarray of shape (2, 2)
        An orthogonal matrix Q: ``points @ Q`` is as near to `target` as can be.
    """
    if not len(points):
        return np.eye(2)
    U, _, Vt = np.linalg.svd((points - points.mean(axis=0)).T @ (target - target.mean(axis=0)))
    turned: Array = U @ Vt
    return turned


def fit_square(points: Array) -> list[list[int]]:
    """Return points as whole numbers in a square, outliers at its edge.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Points.

    Returns
    -------
    list of [int, int]
        The same, scaled alike in both directions.
    """
    low, high = np.percentile(points, [0.5, 99.5], axis=0)
    reach = max(float((high - low).max()), 1e-12)
    scaled = np.clip((points - (low + high) / 2) / reach + 0.5, 0, 1) * SIZE
    whole: list[list[int]] = np.round(scaled).astype(int).tolist()
    return whole


def draw_sides(x: Array, y: Array, indices: Indices) -> tuple[list[list[int]], list[list[int]]]:
    """Return the points of both sides, those of Y turned so that partners lie alike.

    Parameters
    ----------
    x, y : ndarray of shape (n, 2) and (m, 2)
        The places of the rows.
    indices : ndarray of int, shape (n,)
        The partner of each x, −1 for none.

    Returns
    -------
    tuple of two lists of [int, int]
        The points.
    """
    paired = np.flatnonzero(indices >= 0)
    scaled = [z / max(float(np.abs(z).max(initial=0)), 1e-300) for z in (x, y)]
    Q = turn_towards(scaled[1][indices[paired]], scaled[0][paired])
    return fit_square(x), fit_square(y @ Q)
