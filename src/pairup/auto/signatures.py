"""Signatures: what no isometry changes about an object, compared across the sets.

A signature is the distribution of the cosines of an object with all others, in the leading principal coordinates of its
set. It seldom tells the partner, but it makes the right region of the other set likelier, which is enough to lead many
random starts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.auto.geometry import Geometry, GeometryPair
from pairup.auto.initializers import quantiles_of
from pairup.auto.metrics import normalize_rows
from pairup.auto.schedule import GEOMETRY, SIGNATURES
from pairup.kernels import center
from pairup.types import Array, Float32Array


def score_signatures(
    geometry: GeometryPair,
    quantiles: int = SIGNATURES.quantiles,
    precision: type[np.floating[Any]] = np.float64,
) -> Float32Array:
    """Score all pairs by how alike their signatures are: the mean over several spaces of standardized L1 distances.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    quantiles : int, default 64
        How many quantiles of the cosines are compared.
    precision : type, default float64
        The type of the cosines; single precision takes half the time.

    Returns
    -------
    ndarray of float32, shape (n, m)
        Scores, larger where signatures are more alike; rows and columns have mean 0, the largest modulus is 1.
    """
    from scipy.spatial.distance import cdist

    (U, s), (V, t) = principal_coordinates(geometry.x), principal_coordinates(geometry.y)
    fewest = min(len(U), len(V))
    total = np.zeros((len(U), len(V)))
    for k in SIGNATURES.components:
        if k > min(SIGNATURES.components[0], fewest) and k > SIGNATURES.component_share * fewest:
            break
        for power in SIGNATURES.powers:
            both = ((U, s), (V, t))
            of_x, of_y = (sort_cosines(Z[:, :k] * scale[:k] ** power, precision) for Z, scale in both)
            count = min(fewest, quantiles)
            total += _standardize(cdist(quantiles_of(of_x, count), quantiles_of(of_y, count), "cityblock"))
            nearest = slice(-min(fewest, SIGNATURES.nearest), None)
            total += _standardize(cdist(of_x[:, nearest], of_y[:, nearest], "cityblock"))
    scores = -_standardize(total)
    return (scores / max(float(np.abs(scores).max()), 1e-30)).astype(np.float32)


def principal_coordinates(geometry: Geometry) -> tuple[Array | Float32Array, Array]:
    """Return principal coordinates of a set, by classical scaling; of many objects the leading ones.

    Parameters
    ----------
    geometry : Geometry
        The set.

    Returns
    -------
    V : ndarray of shape (n, r)
        The coordinates as columns of length 1, the widest first.
    scales : ndarray of shape (r,)
        Their widths.
    """
    if len(geometry) >= GEOMETRY.many_objects_from:
        return geometry.coordinates
    from scipy.linalg import eigh

    w, V = eigh(-0.5 * center(geometry.distances.astype(np.float64)), driver="evd")
    return V[:, ::-1], np.sqrt(np.maximum(w[::-1], 0.0))


def sort_cosines(Z: Array, precision: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """Return the cosines of each row with all others, rising.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.
    precision : type, default float64
        The type of the cosines.

    Returns
    -------
    ndarray of shape (n, n − 1)
        The cosines.

    Examples
    --------
    >>> sort_cosines(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 3.0]]))
    array([[0., 0.],
           [0., 1.],
           [0., 1.]])
    """
    directions = normalize_rows(Z).astype(precision)
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, np.inf)
    return np.sort(cosines, axis=1)[:, :-1]


def _standardize(C: Array) -> Array:
    C = C - C.mean(axis=0) - C.mean(axis=1, keepdims=True) + C.mean()
    return C / max(float(C.std()), 1e-30)
