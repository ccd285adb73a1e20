"""The picture of both sides of a match: each row a point, partners in like places."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairup.components import principal_components, standardize
from pairup.types import Array, Indices

SIZE = 10_000  # the points lie in a square of this side, as whole numbers
COVER_SIZE = (640, 480)
JOINED = 60  # pairs that the picture on the home page joins
GROUND, GREY, UNSURE, SURE = (238, 238, 243), (160, 160, 172), (217, 119, 6), (79, 70, 229)  # colours of the page
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


def draw_cover(points: Sequence[Sequence[Sequence[int]]], partners: Sequence[int], sure: Sequence[float] | None) -> Any:
    """Draw the picture of a project on the home page: both sides, and some of the pairs joined.

    Parameters
    ----------
    points : sequence of two sequences of [int, int]
        The points of both sides, as `draw_sides` returns them.
    partners : sequence of int
        The partner of each x, −1 for none.
    sure : sequence of float, optional
        The probability of each pair.

    Returns
    -------
    PIL.Image.Image
        The picture.
    """
    from PIL import Image, ImageDraw

    width, height = COVER_SIZE
    picture = Image.new("RGB", (2 * width, 2 * height), GROUND)  # twice as large, so that it is smooth when reduced
    pen = ImageDraw.Draw(picture)
    side, gap = 0.84 * width, 0.08 * width
    places = [
        [(gap + k * width + px / SIZE * side, height - side / 2 + (SIZE - py) / SIZE * side) for px, py in of]
        for k, of in enumerate(points)
    ]
    colours = [GREY if j < 0 else _mix(1.0 if sure is None else sure[i]) for i, j in enumerate(partners)]
    stride = max(1, len(partners) // JOINED)
    for i, j in list(enumerate(partners))[::stride]:
        if j >= 0:
            pen.line(
                [places[0][i], places[1][j]],
                fill=tuple((c + 3 * g) // 4 for c, g in zip(colours[i], GROUND, strict=True)),
                width=2,
            )
    radius = 9 if len(partners) <= 300 else 5
    owners = {j: i for i, j in enumerate(partners) if j >= 0}
    for k, of in enumerate(places):
        for row, (px, py) in enumerate(of):
            owner = owners.get(row) if k else row
            pen.ellipse(
                [px - radius, py - radius, px + radius, py + radius], fill=GREY if owner is None else colours[owner]
            )
    return picture.resize(COVER_SIZE, Image.Resampling.LANCZOS)


def _mix(share: float) -> tuple[int, ...]:
    """Return the colour of a probability, as on the page."""
    t = min(1.0, max(0.0, (share - 0.35) / 0.6))
    return tuple(round(a + t * (b - a)) for a, b in zip(UNSURE, SURE, strict=True))
