"""Descents for many objects: soft plans between samples of both sets, from coarse dependence to fine."""

from collections.abc import Sequence

import numpy as np

from pairup.annealing import scale_to_marginals
from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.schedule import MULTILEVEL, Level
from pairup.auto.view import View
from pairup.types import Float32Array


def descend(
    view: View, N: Float32Array, rng: np.random.Generator, levels: Sequence[Level] = MULTILEVEL.levels
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
    levels : sequence of Level, default all
        Dependence from coarse to fine.

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
                N = np.asarray(u.T @ (plan @ v) / np.float32(max(len(rows), 1)), dtype=np.float32)
    return N


def polish(view: View, N: Float32Array, rng: np.random.Generator) -> Float32Array:
    """Renew the map many times by soft plans between samples, whose profits are logarithms of density ratios.

    Hard matchings of smooth sets reproduce the small errors of the map they come from. Soft ones between ever new
    samples do not: their mean moves towards the map under which partners are most correlated.

    Parameters
    ----------
    view : View
        The two sets.
    N : ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners, where to start.
    rng : numpy.random.Generator
        Draws the samples.

    Returns
    -------
    ndarray of float32, shape (r, s)
        The covariances at the end.
    """
    U, V = view.x.values, view.y.values
    sharpness = MULTILEVEL.first_sharpness
    for step in range(MULTILEVEL.polishings):
        done = step / max(MULTILEVEL.polishings - 1, 1)
        rank = round(between(MULTILEVEL.polished_ranks, done))
        rows, columns = (rng.permutation(len(Z))[: MULTILEVEL.polished] for Z in (U, V))
        u, v = U[rows], V[columns]
        A, B = CanonicalVariates.of(N, rank).images(u, v, MULTILEVEL.soft_correlation)
        plan = balance_plan(A @ (np.float32(sharpness) * B).T)
        perplexity = 1.0 / max(float(np.einsum("ij,ij->", plan, plan)) / len(plan), 1e-12)
        wanted = between(MULTILEVEL.perplexities, done)
        sharpness *= MULTILEVEL.sharper if perplexity > wanted else 1.0 / MULTILEVEL.sharper
        new = np.asarray(u.T @ (plan @ v) / np.float32(len(rows)), dtype=np.float32)
        if step:
            p, q = N.shape
            new *= np.float32(1.0 - MULTILEVEL.memory)
            new[:p, :q] += np.float32(MULTILEVEL.memory) * N
        N = new
    return N


def shared_correlation(view: View, N: Float32Array, rng: np.random.Generator) -> float:
    """Return the sum of the correlations of canonical variates under soft plans between fresh samples.

    Maps that fit one sample and not another, or that many objects must share partners under, have less of it.

    Parameters
    ----------
    view : View
        The two sets.
    N : ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners.
    rng : numpy.random.Generator
        Draws the samples.

    Returns
    -------
    float
        The sum, a mean over some samples.
    """
    U, V = view.x.values, view.y.values
    rank = MULTILEVEL.polished_ranks[0]
    variates = CanonicalVariates.of(N, rank)
    total = 0.0
    for _ in range(MULTILEVEL.comparisons):
        rows, columns = (rng.permutation(len(Z))[: MULTILEVEL.polished] for Z in (U, V))
        u, v = U[rows], V[columns]
        A, B = variates.images(u, v, MULTILEVEL.soft_correlation)
        plan = balance_plan(A @ (np.float32(MULTILEVEL.first_sharpness) * B).T)
        a, b = (Z[:, :rank] @ axes for Z, axes in ((u, variates.left), (v, variates.right)))
        total += float(np.vdot(a, plan @ b)) / len(rows)
    return total / MULTILEVEL.comparisons


def between(ends: tuple[float, float], done: float) -> float:
    """Return a value that goes from one end to the other by equal factors.

    Parameters
    ----------
    ends : tuple of two float
        The first and the last value.
    done : float
        How much of the way is done, from 0 to 1.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> between((1.0, 100.0), 0.5)
    10.0
    """
    first, last = ends
    return float(first * (last / first) ** done)


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
    profit *= np.float32(beta / max(float(np.abs(profit).max()), 1e-30))
    return balance_plan(profit)


def balance_plan(profit: Float32Array) -> Float32Array:
    """Return Sinkhorn(exp(G)), whose rows sum to 1 and whose columns have equal sums.

    Parameters
    ----------
    profit : ndarray of float32, shape (n, m)
        The matrix G; it is overwritten.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan.
    """
    n, m = profit.shape
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
