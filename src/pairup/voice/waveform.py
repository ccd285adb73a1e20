"""The outline of a recording: how loud it is from moment to moment, small enough to be drawn."""

import numpy as np

from pairup.types import Array


def outline(signal: Array, parts: int) -> Array:
    """Return the largest amplitude in each of equally long parts of a signal.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Samples.
    parts : int
        How many parts; a signal of fewer samples has as many parts as samples.

    Returns
    -------
    peaks : ndarray of shape (parts,)
        The largest |sample| of each part, in the order of time.

    Examples
    --------
    >>> outline(np.array([0.0, 0.5, -1.0, 0.25, 0.0, 0.0]), 3)
    array([0.5, 1. , 0. ])
    """
    n = len(signal)
    if n == 0:
        return np.zeros(0)
    starts = np.linspace(0, n, min(parts, n), endpoint=False).astype(np.intp)
    peaks: Array = np.maximum.reduceat(np.abs(signal), starts)
    return peaks
