"""Soft plans among all objects, each with a few candidates: they put right what single partners get wrong."""

import numpy as np

from pairup.auto.candidates import find_candidates
from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.descent import between
from pairup.auto.schedule import MULTILEVEL
from pairup.types import Array, Float32Array, Int32Array


def settle(U: Float32Array, V: Float32Array, N: Float32Array, n_jobs: int | None = None) -> Float32Array:
    """Renew a map by soft plans among all objects, several times from soft to nearly hard.

    One partner for each object reproduces the map that it comes from: where objects lie densely in few dimensions, any
    smooth error of the map is shared by neighbours and survives. A plan with some partners for each, fitted with many
    eigenfunctions, is pulled towards the map under which partners are most correlated. It moves slowly, so every step
    is carried on a little.

    Parameters
    ----------
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of all objects.
    N : ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners, where to start.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    ndarray of float32, shape (r, s)
        The covariances at the end.
    """
    sharpness = MULTILEVEL.first_sharpness
    for _ in range(MULTILEVEL.settlings):
        last = None
        for step in range(MULTILEVEL.settling_steps):
            done = step / max(MULTILEVEL.settling_steps - 1, 1)
            rank = round(between(MULTILEVEL.settled_ranks, done))
            A, B = CanonicalVariates.of(N, rank).images(U, V, MULTILEVEL.soft_correlation)
            candidates, profit = find_candidates(A, B, MULTILEVEL.candidates, n_jobs=n_jobs)
            del A, B
            likely, sharpness = share_partners(
                candidates, profit, len(V), between(MULTILEVEL.settled_perplexities, done), sharpness
            )
            new = plan_covariances(U, V, candidates, likely)
            N = new if last is None else new + np.float32(MULTILEVEL.momentum) * (new - last)
            last = new
    return N


def share_partners(
    candidates: Int32Array, profit: Float32Array, m: int, perplexity: float, sharpness: float
) -> tuple[Array, float]:
    """Return a plan among candidates, as sharp as to leave each object so many partners, and that sharpness.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns of each row.
    profit : ndarray of float32, shape (n, k)
        Their profits.
    m : int
        The number of columns.
    perplexity : float
        How many partners share the plan of an object, on average.
    sharpness : float
        Where the search for the sharpness starts.

    Returns
    -------
    likely : ndarray of shape (n, k)
        The plan; rows sum to 1, columns to about the same.
    sharpness : float
        What profits were multiplied by.
    """
    n = len(candidates)
    centred = profit.astype(np.float64)
    centred -= centred.max(axis=1, keepdims=True)
    perplexity = min(perplexity, candidates.shape[1] / 2)
    for _ in range(MULTILEVEL.sharpenings):
        weights = np.exp(sharpness * centred)
        shares = weights / weights.sum(axis=1, keepdims=True)
        now = n / float((shares**2).sum())
        if abs(np.log(now / perplexity)) < MULTILEVEL.sharp_enough:
            break
        sharpness = float(np.clip(sharpness * (now / perplexity) ** MULTILEVEL.sharpening, 1e-6, 1e6))
    of_column = np.ones(m)
    weights = np.exp(sharpness * centred)
    for _ in range(2 * MULTILEVEL.sweeps):
        of_row = 1.0 / (weights * of_column[candidates]).sum(axis=1)
        sums = np.bincount(candidates.ravel(), (weights * of_row[:, None]).ravel(), minlength=m)
        of_column = (n / m) / np.maximum(sums, MULTILEVEL.least_column * n / m)
    likely = weights * of_column[candidates]
    return likely / likely.sum(axis=1, keepdims=True), sharpness


def plan_covariances(U: Float32Array, V: Float32Array, candidates: Int32Array, likely: Array) -> Float32Array:
    """Return N = UᵀPV over the number of rows, for a plan among candidates.

    Parameters
    ----------
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of both sets.
    candidates : ndarray of int32, shape (n, k)
        Columns of each row.
    likely : ndarray of shape (n, k)
        The plan.

    Returns
    -------
    ndarray of float32, shape (r, s)
        Covariances of partners.
    """
    from scipy.sparse import csr_array

    n, k = candidates.shape
    plan = csr_array(
        (likely.ravel().astype(np.float32), candidates.ravel(), np.arange(0, n * k + 1, k)), shape=(n, len(V))
    )
    total: Array = np.zeros((U.shape[1], V.shape[1]))
    for first in range(0, n, MULTILEVEL.block):
        block = slice(first, first + MULTILEVEL.block)
        total += U[block].T @ (plan[block] @ V)
    return np.asarray(total / max(n, 1), dtype=np.float32)
