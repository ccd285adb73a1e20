"""Held-out scores of matchings of many objects: each half of the pairs is judged by the map of the other half."""

import numpy as np

from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import View, covariances
from pairup.types import Array, Float32Array, Indices


def split_pairs(indices: Indices, most: int = MULTILEVEL.judged) -> tuple[Indices, Indices]:
    """Return two halves of the matched objects, of a sample of them if there are many.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching, −1 where x has no partner.
    most : int, default 8000
        How many pairs at most, about.

    Returns
    -------
    tuple of two ndarray of int
        Numbers of x.
    """
    matched = np.flatnonzero(indices >= 0)
    step = max(1, -(-len(matched) // most))
    matched = matched[::step]
    return matched[::2], matched[1::2]


def held_out_score(view: View, U: Float32Array, V: Float32Array, indices: Indices) -> float:
    """Return the best −J over ε of the density-ratio model, fitted to one half of the pairs and judged by the other.

    With r(x, y) = 1 + uᵀ diag(w²) N diag(w'²) v, J = ½·mean r² over all pairs of held-out objects − mean r over
    held-out partners; both means need covariances only.

    Parameters
    ----------
    view : View
        The two sets.
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Their eigenfunctions.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    float
        The score; ½ where the model knows nothing.
    """
    halves = split_pairs(indices)
    if min(map(len, halves)) == 0:
        return 0.0
    scores = np.zeros(len(MULTILEVEL.epsilons))
    for fitted, held in (halves, halves[::-1]):
        N = covariances(U[fitted], V, indices[fitted])
        u, v = U[held], V[indices[held]]
        for k, epsilon in enumerate(MULTILEVEL.epsilons):
            M, w, z = view.shrink(N, epsilon)
            A = map_values(u, M, w) * z
            b = v[:, : len(z)]
            square = float(np.vdot(A.T @ A, b.T @ b)) / len(held) ** 2
            scores[k] += (0.5 + float(np.einsum("ij,ij->", A, b)) / len(held) - square / 2) / 2
    return float(scores.max())


def share_found_again(view: View, U: Float32Array, V: Float32Array, indices: Indices, epsilon: float) -> float:
    """Return how many held-out pairs come first among all y by the map of the other half.

    Parameters
    ----------
    view : View
        The two sets.
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Their eigenfunctions.
    indices : ndarray of int, shape (n,)
        The matching.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    float
        The share, 1/m by chance.
    """
    fitted, held = split_pairs(indices)
    if min(len(fitted), len(held)) == 0:
        return 0.0
    M, w, z = view.shrink(covariances(U[fitted], V, indices[fitted]), epsilon)
    held = held[:: max(1, len(held) // MULTILEVEL.rows)]
    A = unit_rows(map_values(U[held], M, w))
    others = V if len(V) <= MULTILEVEL.compared else V[:: len(V) // MULTILEVEL.compared + 1]
    best = np.full(len(held), -np.inf, dtype=np.float32)
    for first in range(0, len(others), MULTILEVEL.block):
        b = unit_rows(others[first : first + MULTILEVEL.block, : len(z)] * z)
        best = np.maximum(best, (A @ b.T).max(axis=1))
    own = np.einsum("ij,ij->i", A, unit_rows(V[indices[held], : len(z)] * z))
    return float((own >= best - 1e-5).mean())


def map_values(values: Float32Array, M: Float32Array | Array, w: Float32Array) -> Float32Array:
    """Return (w∘u)ᵀM of every row u.

    Parameters
    ----------
    values : ndarray of float32, shape (n, r)
        Eigenfunctions.
    M : ndarray of shape (p, q)
        A map.
    w : ndarray of float32, shape (p,)
        Factors of the first p eigenfunctions.

    Returns
    -------
    ndarray of float32, shape (n, q)
        The images.
    """
    return np.asarray(values[:, : len(w)] @ (w[:, None] * M).astype(np.float32), dtype=np.float32)


def unit_rows(Z: Float32Array) -> Float32Array:
    """Return rows of length 1.

    Parameters
    ----------
    Z : ndarray of float32, shape (n, d)
        Rows.

    Returns
    -------
    ndarray of float32, shape (n, d)
        The rows over their lengths; rows of zeros stay.
    """
    return np.asarray(Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-30), dtype=np.float32)
