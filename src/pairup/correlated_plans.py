"""Soft plans under which leading eigenfunctions of both sets are correlated: where partners are expected.

A matching gives each object one partner, and fits what is accidental where no single pair is identified. Here an object
shares several partners, and the map between the sets is fitted to all pairs by a few leading eigenfunctions of a
kernel alone.

The constants were chosen with the true pairs in sight, on five splits of 2,407 blood cells into halves and three draws
of 177 of them; the ranks that are averaged on nine more draws and on 26 generated pairs of sets
(``benchmarks/partners.py``).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from pairup.density_ratio import leading_directions
from pairup.kernels import center, gaussian, laplacian, median_width
from pairup.types import Array, Float32Array, Indices

RANK = 0.8  # eigenfunctions that take part in the end, in units of √n: more fit accidents
# The same where several plans are averaged. With 1.2 as a third, cells of which much is shared come out a little nearer
# to their partners, and those of which little is shared farther from them than with one rank alone.
RANKS = (RANK, 0.5)
FIRST_RANK = 0.33  # share of them that take part at first
PARTNERS = 8.0  # that share the plan of an object in the end …
OBJECTS_PER_PARTNER = 15.0  # … but one for so many objects at the most …
FEWEST_PARTNERS = 2.0  # … and no fewer than these
FIRST_PARTNERS = 2.5  # times as many share it at first
SOFT_SHARE = (
    2 / 3
)  # of means in softened partners; the whole is better on cells, and worse where half the pairs are right
STEPS = 12
MEMORY = 0.5  # share of the map that a step keeps
NEAR_BEST = 0.75  # metrics that share as much correlation, in units of the best, take part
FIRST_SHARPNESS = 0.3
SHARPENINGS = 4  # trials for the sharpness at each step …
SHARPENING = 0.7  # … each by this power of what it is off by
SHARP_ENOUGH = 0.05
SWEEPS = 6  # of Sinkhorn's iteration
LARGEST_CORRELATION = 0.99  # a sharper one would leave all others no say
LEAST = 1e-12  # of a plan, so that no column vanishes


def expected_plan(
    functions: Iterable[tuple[Float32Array, Float32Array]], indices: Indices, ranks: Sequence[float] = (RANK,)
) -> Float32Array:
    """Return the mean plan around a matching by those metrics under which the sets share most correlation.

    Parameters
    ----------
    functions : iterable of two ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of both sets, a pair for each metric.
    indices : ndarray of int, shape (n,)
        The matching, −1 where an x has no partner.
    ranks : sequence of float, default (0.8,)
        Numbers of eigenfunctions, in units of √n, each of which gives plans; the first chooses the metrics.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan; each row sums to 1, columns to about the same.
    """
    found = [(sides, *correlate_functions(*sides, indices, ranks[0])) for sides in functions]
    least = NEAR_BEST * max(shared for *_, shared in found)
    chosen = [(sides, plan) for sides, plan, shared in found if shared >= least]
    plans = [plan for _, plan in chosen]
    plans += [correlate_functions(*sides, indices, rank)[0] for rank in ranks[1:] for sides, _ in chosen]
    mean: Float32Array = sum(plans[1:], start=plans[0]) / np.float32(len(plans))
    return mean


def soften_partners(X: Array, Y: Array) -> Array:
    """Return partners of paired objects that are mostly means over several likely ones.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects.
    Y : ndarray of shape (n, e)
        Their partners by a matching.

    Returns
    -------
    ndarray of shape (n, e)
        The softened partners; the same where all objects of a set are equal.
    """
    widths = median_width(X), median_width(Y)
    if min(widths) == 0.0:
        return Y
    plans = [
        correlate(kernel(X, width=widths[0]), kernel(Y, width=widths[1]), np.arange(len(X)))[0]
        for kernel in (gaussian, laplacian)
    ]
    means = np.mean(plans, axis=0, dtype=np.float64) @ Y
    softened: Array = SOFT_SHARE * means + (1.0 - SOFT_SHARE) * Y
    return softened


def correlate(K: Array | Float32Array, L: Array | Float32Array, indices: Indices) -> tuple[Float32Array, float]:
    """Return the plan at which the map between two sets and the plan agree, from where a matching leads.

    Parameters
    ----------
    K, L : ndarray of shape (n, n) and (m, m)
        Kernel matrices of both sets.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    plan : ndarray of float32, shape (n, m)
        The plan.
    shared : float
        The sum of the squared canonical correlations of its partners.
    """
    most = count_functions(min(len(K), len(L)), RANK)
    return correlate_functions(eigenfunctions(K, most), eigenfunctions(L, most), indices)


def correlate_functions(
    U: Float32Array, V: Float32Array, indices: Indices, rank: float = RANK
) -> tuple[Float32Array, float]:
    """Return the plan at which the map between leading eigenfunctions and the plan agree, as `correlate` does.

    Parameters
    ----------
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of both sets, of variance 1, the leading one first.
    indices : ndarray of int, shape (n,)
        The matching.
    rank : float, default 0.8
        How many take part in the end, in units of √n, if there are as many.

    Returns
    -------
    plan : ndarray of float32, shape (n, m)
        The plan.
    shared : float
        The sum of the squared canonical correlations of its partners.
    """
    n, least = len(U), min(len(U), len(V))
    most = count_functions(least, rank)
    U, V = U[:, :most], V[:, :most]
    matched = np.flatnonzero(indices >= 0)
    N = U[matched].T @ V[indices[matched]] / np.float32(max(len(matched), 1))
    sharpness, plan = FIRST_SHARPNESS, np.empty((n, 0), dtype=np.float32)
    partners = max(FEWEST_PARTNERS, min(PARTNERS, least / OBJECTS_PER_PARTNER))
    for left in np.linspace(1.0, 0.0, STEPS):
        now = max(1, round(most * FIRST_RANK**left))
        profit = log_ratios(U[:, :now], V[:, :now], N[:now, :now])
        plan, sharpness = soft_plan(profit, partners * FIRST_PARTNERS**left, sharpness)
        N = np.float32(MEMORY) * N + np.float32((1 - MEMORY) / n) * (U.T @ (plan @ V))
    return plan, float((N.astype(np.float64) ** 2).sum())


def count_functions(n: int, rank: float) -> int:
    """Return how many eigenfunctions of n objects are so many in units of √n.

    Parameters
    ----------
    n : int
        The number of objects.
    rank : float
        How many, in units of √n.

    Returns
    -------
    int
        The number, 1 at least.

    Examples
    --------
    >>> count_functions(225, 0.8)
    12
    """
    return max(1, round(rank * float(np.sqrt(n))))


def eigenfunctions(K: Array | Float32Array, most: int) -> Float32Array:
    """Return the leading eigenfunctions of a kernel once it is centred, of variance 1.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A kernel matrix.
    most : int
        How many eigenfunctions at most.

    Returns
    -------
    ndarray of float32, shape (n, r)
        Eigenfunctions as columns, the leading one first.
    """
    V = leading_directions(np.asarray(center(K), dtype=np.float32), most)
    values: Float32Array = V * np.float32(np.sqrt(len(V)))
    return values


def log_ratios(U: Float32Array, V: Float32Array, N: Float32Array) -> Float32Array:
    """Return the logarithms of the density ratios of all pairs for Gaussian canonical variates, but for constants.

    Parameters
    ----------
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of both sets.
    N : ndarray of float32, shape (r, s)
        Their covariances between partners.

    Returns
    -------
    ndarray of float32, shape (n, m)
        Σ_k (ρ_k a_k b_k − ½ρ_k²(a_k² + b_k²)) / (1 − ρ_k²), the largest of each row 0.
    """
    L, rho, Rt = np.linalg.svd(N.astype(np.float64), full_matrices=False)
    rho = np.minimum(rho, LARGEST_CORRELATION)
    root = np.sqrt(rho / (1.0 - rho**2))
    A, B = U @ (L * root).astype(np.float32), V @ (Rt.T * root).astype(np.float32)
    half = (0.5 * rho).astype(np.float32)
    profit: Float32Array = A @ B.T
    profit -= B**2 @ half
    profit -= profit.max(axis=1, keepdims=True)
    return profit


def soft_plan(profit: Float32Array, perplexity: float, sharpness: float) -> tuple[Float32Array, float]:
    """Return a plan that is as sharp as to leave each x so many partners, and that sharpness.

    Parameters
    ----------
    profit : ndarray of float32, shape (n, m)
        Profits, the largest of each row 0.
    perplexity : float
        How many partners share the plan of an x, on average.
    sharpness : float
        Where the search for the sharpness starts.

    Returns
    -------
    plan : ndarray of float32, shape (n, m)
        The plan; each row sums to 1, columns to about the same.
    sharpness : float
        What profits were multiplied by.
    """
    n, m = profit.shape
    for _ in range(SHARPENINGS):
        weights = np.exp(np.float32(sharpness) * profit)
        now = n / float((np.einsum("ij,ij->i", weights, weights) / weights.sum(axis=1) ** 2).sum())
        if abs(np.log(now / perplexity)) < SHARP_ENOUGH:
            break
        sharpness = float(np.clip(sharpness * (now / perplexity) ** SHARPENING, 1e-6, 1e6))
    weights = np.exp(np.float32(sharpness) * profit) + np.float32(LEAST)
    of_column: Array = np.ones(m, dtype=np.float32)
    for _ in range(SWEEPS):
        of_row = 1.0 / (weights @ of_column)
        of_column = np.float32(n / m) / (of_row @ weights)
    weights *= of_column
    weights /= weights.sum(axis=1, keepdims=True)
    return weights, sharpness
