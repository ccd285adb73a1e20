"""Descents for many objects: soft plans between samples of both sets, from coarse dependence to fine."""

import numpy as np

from pairup.annealing import scale_to_marginals
from pairup.auto.schedule import MULTILEVEL, Level
from pairup.auto.view import View
from pairup.types import Float32Array


def descend(
    view: View, N: Float32Array, rng: np.random.Generator, levels: tuple[Level, ...] = MULTILEVEL.levels
) -> Float32Array:
    """Anneal from coarse dependence to fine, every update of the plan on fresh samples of both sets.

    The plan is never kept: all that the next update needs are the covariances N = UᵀPV of the eigenfunctions of
    partners. Samples hardly share objects, so the plans stay soft; what they tell is the map.

    Parameters
    ----------
    view : View
        The two sets.
    N : ndarray of float32, shape (r, s)
        Where to start.
    rng : numpy.random.Generator
        Draws the samples.
    levels : tuple of Level, default MULTILEVEL.levels
        ε, size of the samples and inverse temperatures of each level.

    Returns
    -------
    ndarray of float32, shape (r, s)
        The covariances at the end.
    """
    U, V = view.x.values, view.y.values
    for level in levels:
        for beta in level.betas:
            for _ in range(MULTILEVEL.updates):
                rows = rng.permutation(len(U))[: level.sample]
                columns = rng.permutation(len(V))[: level.sample]
                M, w, z = view.shrink(N, level.epsilon)
                u, v = U[rows, : len(w)], V[columns, : len(z)]
                plan = soft_plan((u * w) @ M @ (v * z).T, beta)
                N = u.T @ (plan @ v) / np.float32(max(len(rows), 1))
    return N


def soft_plan(profit: Float32Array, beta: float) -> Float32Array:
    """Return Sinkhorn(exp(β·G / max|G|)), whose rows sum to 1 and whose columns have equal sums.

    Parameters
    ----------
    profit : ndarray of float32, shape (n, m)
        The profit matrix G; it is overwritten.
    beta : float
        The inverse temperature.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan.

    Examples
    --------
    >>> soft_plan(np.eye(2, dtype=np.float32), 50.0).round(3)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    n, m = profit.shape
    profit *= np.float32(beta / max(float(np.abs(profit).max()), 1e-30))
    profit -= profit.max(axis=1)[:, None]
    E = np.exp(profit, out=profit)
    E += np.float32(1e-30)
    ones = np.ones(n, dtype=np.float32)
    u, v = scale_to_marginals(
        E, ones, np.full(m, n / m, dtype=np.float32), np.ones(m, dtype=np.float32), sweeps=MULTILEVEL.sweeps
    )
    E *= u[:, None]
    E *= v
    return E
