"""Nearness: how near the partners are to the true ones, where single pairs may not be identified.

Searches in different metrics, and to coarser and finer dependence, hardly ever find the same pairs of objects that
resemble many others, but they find partners of the same kind. In unrelated sets they do not. So how far their partners
lie apart tells how far they lie from the true ones.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from pairup.auto.consensus import Consensus
from pairup.auto.geometry import GeometryPair
from pairup.auto.schedule import CONSENSUS, NEARNESS
from pairup.types import Array, Float32Array, Indices


def expected_nearness(consensus: Consensus, geometry: GeometryPair) -> float | None:
    """Return the expected share of objects nearer to the true partner than the found one is, the mean over both sets.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    geometry : GeometryPair
        The distances that say what is near.

    Returns
    -------
    float or None
        A share, ½ at the most; ½ is chance. None of few objects, which fit by accident.
    """
    if min(len(geometry.x), len(geometry.y)) < NEARNESS.fewest:
        return None
    return float(0.5 * expit(NEARNESS.intercept + NEARNESS.slope * sum(disagreements(consensus, geometry))))


def disagreements(consensus: Consensus, geometry: GeometryPair) -> tuple[float, float]:
    """Return how far the partners lie apart that candidates give to an object.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    geometry : GeometryPair
        The distances that say what is near.

    Returns
    -------
    of_candidates : float
        The share of objects nearer to the found partner than that of a candidate is, the mean weighted by its score.
    of_metrics : float
        The same of the best coarse solution of each metric, weighted by its excess.
    """
    of_candidates = [candidate.indices for candidate in consensus.candidates]
    likely = np.exp((consensus.scores - consensus.scores[0]) / CONSENSUS.sharpness)
    of_metrics = [result.candidates[0].indices for result in consensus.coarse]
    excess = np.maximum([result.excess for result in consensus.coarse], CONSENSUS.least_weight)
    sides = [(geometry.y.distances, consensus.indices, of_candidates, of_metrics)]
    sides.append(
        (
            geometry.x.distances,
            _invert(consensus.indices, len(geometry.y)),
            [_invert(p, len(geometry.y)) for p in of_candidates],
            [_invert(p, len(geometry.y)) for p in of_metrics],
        )
    )
    found = np.zeros(2)
    for distances, indices, candidates, coarse in sides:
        found[0] += 0.5 * np.average(shares_between(indices, candidates, distances), weights=likely)
        found[1] += 0.5 * np.average(shares_between(indices, coarse, distances), weights=excess)
    return float(found[0]), float(found[1])


def shares_between(indices: Indices, others: Sequence[Indices], distances: Float32Array) -> Array:
    """Return for each of several matchings how far its partners lie from those of one matching.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The one matching, −1 where an object has no partner.
    others : sequence of ndarray of int, shape (n,)
        The others.
    distances : ndarray of shape (m, m)
        Squared distances between partners.

    Returns
    -------
    ndarray of shape (n_others,)
        The mean share of partners that are nearer to the one partner than the other is; ½ where no object has both.

    Examples
    --------
    >>> D = np.subtract.outer(np.arange(5.0), np.arange(5.0)) ** 2
    >>> shares_between(np.arange(5), [np.arange(5), np.array([1, 0, 2, 3, 4])], D)
    array([0. , 0.1])
    """
    matched = np.flatnonzero(indices >= 0)
    rows = matched[np.linspace(0, len(matched) - 1, min(len(matched), NEARNESS.compared)).astype(np.intp)]
    from_found = distances[indices[rows]]
    shares = np.full(len(others), 0.5)
    for k, other in enumerate(others):
        partners = other[rows]
        both = np.flatnonzero(partners >= 0)
        if len(both):
            apart = from_found[both, partners[both]]
            shares[k] = float((from_found[both] < apart[:, None]).sum()) / (len(both) * max(len(distances) - 1, 1))
    return shares


def _invert(indices: Indices, size: int) -> Indices:
    """Return the x of each y, −1 where it has none."""
    back = np.full(size, -1, dtype=np.intp)
    matched = np.flatnonzero(indices >= 0)
    back[indices[matched]] = matched
    return back
