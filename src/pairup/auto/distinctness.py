"""Whether partners stand out among the objects around them: how much of what is claimed can be kept.

The map of one half of the pairs says where the partner of an object should lie. Dense sets have some object near every
place, so being near is no evidence, and such pairs confirm the map that they come from, whatever the noise. But if the
partner were just the nearest of objects that have nothing to do with x, the volumes up to the first and the second of
them would have a ratio that is uniform between 0 and 1 (objects around a place arrive like events of a Poisson
process). A true partner that is identified lies much nearer than the next object.
"""

import numpy as np

from pairup.auto.schedule import CALIBRATION
from pairup.types import Array, Float32Array, Int32Array


def share_to_keep(candidates: Int32Array, profit: Float32Array, reach: Array) -> float:
    """Return which share of the claims to keep, by how many partners stand out.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k + 1)
        The partner of each x in the first column, −1 if it has none, then those of largest profit; −1 stands there
        for the partner.
    profit : ndarray of float32, shape (n, k + 1)
        Their profits, by the map of pairs that x has no part in.
    reach : ndarray of shape (n,)
        The largest profit that any object could have.

    Returns
    -------
    float
        The share, 1 where nothing tells against them; never 0, so that likely partners stay likelier than others.
    """
    rows = np.flatnonzero(candidates[:, 0] >= 0)
    rows = rows[:: max(1, len(rows) // CALIBRATION.distinct_sample)]
    if candidates.shape[1] < CALIBRATION.distinct_from + 4:  # too few say nothing about the density around them
        return 1.0
    others = np.where(candidates[rows, 1:] >= 0, profit[rows, 1:], -np.inf)
    others = -np.sort(-others, axis=1)[:, :-1].astype(np.float64)  # the partner may be among them or not
    enough = np.isfinite(others).all(axis=1)
    if not enough.any():
        return 1.0
    rows, others = rows[enough], others[enough]
    limit = np.asarray(reach[rows], dtype=np.float64)
    tiny = 1e-9 * max(float(np.abs(limit).max()), 1e-30)
    own = np.maximum(limit - profit[rows, 0], tiny)
    distances = np.maximum(limit[:, None] - others, tiny)
    arrivals = np.arange(2, distances.shape[1] + 1)  # the partner counts as the first
    steps = np.log(distances[:, 1:] / distances[:, :-1]) * arrivals
    mean = float(steps[:, CALIBRATION.distinct_from :].mean())
    if mean < 1e-9:  # nothing but copies
        return 1.0
    # Of unrelated objects k times the logarithm of the ratio of volumes is exponentially distributed with mean 1.
    gaps = np.log(distances[:, 0] / own) / mean
    unclear = float((gaps <= np.log(2.0)).mean())
    none, all_of_them = CALIBRATION.unclear
    return float(np.clip((none - unclear) / (none - all_of_them), CALIBRATION.least_kept, 1.0))


def lower_claims(likely: Array, kept: float) -> Array:
    """Return probabilities whose mean is a share of what it was: all odds are divided by one number.

    Parameters
    ----------
    likely : ndarray of shape (n,)
        Probabilities.
    kept : float
        The share, from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        The probabilities.

    Examples
    --------
    >>> lower_claims(np.array([0.5, 0.9]), 5 / 7).round(2)
    array([0.25, 0.75])
    >>> lower_claims(np.array([0.5, 0.9]), 1.0)
    array([0.5, 0.9])
    """
    from scipy.optimize import brentq

    if not len(likely) or kept >= 1.0:
        return likely
    wanted = kept * float(likely.mean())
    odds = likely / np.maximum(1.0 - likely, 1e-12)

    def exceeds(log_factor: float) -> float:
        lowered = odds * np.exp(-log_factor)
        return float((lowered / (1.0 + lowered)).mean()) - wanted

    if exceeds(60.0) >= 0.0:
        return np.zeros_like(odds)
    lowered = odds * np.exp(-brentq(exceeds, 0.0, 60.0, xtol=1e-6))
    return np.asarray(lowered / (1.0 + lowered))
