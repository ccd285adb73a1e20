"""Which pairs to ask about: the design of an experiment with a Gaussian process."""

import numpy as np

from pairup.kernels import center, gaussian, median_width
from pairup.types import Array, Indices

ANSWERS_VARY = 0.1  # σ²: what one pair says of an object just like it is off by so much, in units of all there is


def telling(X: Array, indices: Indices, confidence: Array, k: int) -> list[int]:
    """Return the k objects whose pairs would tell most about those in doubt, the most telling first.

    What is learnt about one x tells something about those like it: a Gaussian process on X. With U its covariance
    given all that is known, the next object has the largest Σ_j d_j U_ij² / (U_ii + σ²), by which it lowers the
    variance of all, each weighted by the doubt d_j about its pair.

    Parameters
    ----------
    X : a table, one row per object.
    indices : their partners; an object without one (−1) is neither in doubt nor asked about.
    confidence : probability of each pair; 1 for known ones.
    k : how many to ask about, as far as there are any in doubt.

    >>> telling(np.array([[0.0], [0.1], [9.0]]), np.arange(3), np.array([0.5, 0.5, 1.0]), 5)
    [0, 1]
    """
    width = median_width(X) if len(X) > 1 else 0.0
    unknown = center(gaussian(X, width=width)) if width > 0 else np.eye(len(X))
    doubt = np.where(indices >= 0, 1.0 - confidence, 0.0)
    for known in np.flatnonzero(confidence == 1.0):
        unknown = learnt(unknown, int(known))
    askable = doubt > 0
    chosen: list[int] = []
    for _ in range(min(k, int(askable.sum()))):
        told = doubt @ unknown**2 / (np.diag(unknown) + ANSWERS_VARY)
        chosen.append(int(np.where(askable, told, -1.0).argmax()))
        askable[chosen[-1]] = False
        unknown = learnt(unknown, chosen[-1])
    return chosen


def learnt(unknown: Array, i: int) -> Array:
    """Return the covariance of a Gaussian process after object i was asked about."""
    left: Array = unknown - np.outer(unknown[i], unknown[i]) / (unknown[i, i] + ANSWERS_VARY)
    return left
