"""Matchings of many objects by a map, and the map by the matching, with more and more eigenfunctions."""

from collections.abc import Iterator, Sequence

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.held_out import held_out_score, share_found_again
from pairup.auto.partners import match_all
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.soft_partners import settle
from pairup.auto.solution import Solution
from pairup.auto.view import View, covariances
from pairup.constraints import Constraints
from pairup.types import Float32Array, Indices, SparseArray


def refine_all(
    view: View,
    values: tuple[Float32Array, Float32Array],
    variates: CanonicalVariates,
    constraints: Constraints,
    n_jobs: int | None,
    ranks: Sequence[int],
) -> Iterator[Solution]:
    """Match all objects by a map and renew the map by the matching, with more and more eigenfunctions.

    Parameters
    ----------
    view : View
        The sets in one metric.
    values : tuple of two ndarray of float32
        Eigenfunctions of all objects of X, and of Y.
    variates : CanonicalVariates
        The map by which they are matched first.
    constraints : Constraints
        What the matching keeps to.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.
    ranks : sequence of int
        How many eigenfunctions take part, one matching after another.

    Yields
    ------
    Solution
        Each with a better held-out score than the one before.
    """
    U, V = values
    best, stalled = -np.inf, 0
    matching: Indices | None = None
    for rank in ranks:
        if matching is not None:
            variates = CanonicalVariates.fit(U, V, matching, rank, n_jobs=n_jobs)
        A, B = variates.images(U, V, n_jobs=n_jobs)
        bonus = None if constraints.sparse_prior is None else scale_prior(constraints.sparse_prior, A, B)
        matching = match_all(A, B, forbidden=constraints.forbidden, bonus=bonus, n_jobs=n_jobs)
        del A, B
        matching = impose_anchors(matching, constraints)
        score = held_out_score(view, U, V, matching)
        gains = score > best + MULTILEVEL.least_gain * abs(best) if np.isfinite(best) else True
        stalled = 0 if gains else stalled + 1
        if gains:
            best = score
            again = share_found_again(view, U, V, matching, MULTILEVEL.epsilons[-1])
            yield Solution(view.metric, matching, score, again, rank)
        elif stalled >= MULTILEVEL.patience:
            return


def scale_prior(prior: SparseArray, A: Float32Array, B: Float32Array) -> SparseArray:
    """Return a prior in units of the spread of profits: its largest score outweighs what tells neighbours apart.

    Parameters
    ----------
    prior : csr_array of shape (n, m)
        Scores of at most 1 in modulus.
    A, B : ndarray of float32, shape (n, r) and (m, r)
        Objects, whose profits are A Bᵀ.

    Returns
    -------
    csr_array of shape (n, m)
        What is added to the profits.
    """
    rows, columns = (
        np.linspace(0, len(Z) - 1, min(len(Z), most)).astype(np.intp)
        for Z, most in zip((A, B), MULTILEVEL.prior_sample, strict=True)
    )
    spread = float((A[rows] @ B[columns].T).std())
    scaled: SparseArray = prior * np.float32(spread)
    return scaled


def impose_anchors(indices: Indices, constraints: Constraints) -> Indices:
    """Return a matching with the known pairs in it; whoever had their partners gets those that become free.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        A matching.
    constraints : Constraints
        The known pairs.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching with them.
    """
    rows, columns = constraints.anchors
    if not len(rows):
        return indices
    indices = indices.copy()
    owner = np.full(constraints.m, -1, dtype=np.intp)
    matched = np.flatnonzero(indices >= 0)
    owner[indices[matched]] = matched
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        before, other = int(indices[i]), int(owner[j])
        if before == j:
            continue
        indices[i], owner[j] = j, i
        if other >= 0:
            indices[other] = before
        if before >= 0:
            owner[before] = other
    return indices


def refine_finalist(
    view: View,
    values: tuple[Float32Array, Float32Array],
    searched: Solution,
    constraints: Constraints,
    n_jobs: int | None,
    *,
    settles: bool,
) -> Iterator[Solution]:
    """Match all objects by a map that was found on a sample, and renew it as long as it gets better.

    Parameters
    ----------
    view : View
        The sets in one metric.
    values : tuple of two ndarray of float32
        Eigenfunctions of all objects of X, and of Y.
    searched : Solution
        What was found on the sample.
    constraints : Constraints
        What the matching keeps to.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.
    settles : bool
        Whether soft plans among all objects may follow, where one half of the pairs does not lead to the other.

    Yields
    ------
    Solution
        Each with a better held-out score than the one before.
    """
    ranks = [rank for rank in MULTILEVEL.ranks if rank >= searched.rank]
    variates = CanonicalVariates.fit(*values, searched.indices, searched.rank, n_jobs=n_jobs)
    best = None
    for best in refine_all(view, values, variates, constraints, n_jobs, ranks):
        yield best
    if best is None or best.found_again >= MULTILEVEL.decided or not settles:
        return
    N = settle(*values, covariances(*values, best.indices), n_jobs)
    variates = CanonicalVariates.of(N, MULTILEVEL.ranks[-1])
    for settled in refine_all(view, values, variates, constraints, n_jobs, MULTILEVEL.ranks[-3:]):
        if settled.score > best.score:
            yield settled
