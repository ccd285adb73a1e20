"""Scores: of a matching whose truth is known, of a layout, of a converted voice."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.kernels import Array, squared_distances


def right_pairs(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Tell of each object whether its partner is right; parameters as in `match_accuracy`.

    >>> right_pairs([0, 2, 1], [0, 1, 2])
    array([ True, False, False])
    """
    indices, truth = np.asarray(indices), np.asarray(truth)
    if indices.shape != truth.shape:
        raise ValueError(f"indices and truth must have one shape, got {indices.shape} and {truth.shape}")
    right: NDArray[np.bool_] = indices == truth
    if Y is not None:
        Y = np.asarray(Y).reshape(len(np.asarray(Y)), -1)
        both = (indices >= 0) & (truth >= 0)
        right[both] |= (Y[indices[both]] == Y[truth[both]]).all(axis=1)
    return right


def match_accuracy(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike | None = None) -> float:
    """Return the share of objects whose partner is right.

    Parameters
    ----------
    indices : the matching, Y[indices] aligned with X; −1 where an object has no partner.
    truth : the true matching, in the same form.
    Y : the objects that were matched; if given, a partner equal to the true one counts as right.

    >>> match_accuracy([0, 2, 1], [0, 1, 2])
    0.3333333333333333
    >>> match_accuracy([0, 2, 1], [0, 1, 2], Y=[[5.0], [7.0], [7.0]])
    1.0
    """
    return float(right_pairs(indices, truth, Y).mean())


def foscttm(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike) -> float:
    """Return the fraction of samples closer than the true match, in Y's space; 0 is perfect, ½ is chance.

    x_i is sent to its partner ŷ_i = Y[indices[i]]. For each i it is the share of the other images ŷ_k that lie
    closer to the true partner Y[truth[i]] than ŷ_i does, ties counted half; the mean over i is returned. Objects
    without a partner (−1) are left out.

    >>> foscttm([0, 1, 2], [0, 1, 2], [[0.0], [1.0], [3.0]])
    0.0
    >>> foscttm([0, 0, 0], [0, 1, 2], [[0.0], [1.0], [3.0]])
    0.5
    """
    indices, truth = np.asarray(indices), np.asarray(truth)
    matched = (indices >= 0) & (truth >= 0)
    Y = np.asarray(Y, dtype=np.float64)
    D: Array = squared_distances(Y)[np.ix_(truth[matched], indices[matched])]  # true partner i against image k
    own = np.diag(D)[:, None]
    scale = 1e-12 * max(float(D.max(initial=0.0)), 1e-300)  # equal images must tie, whatever the rounding
    closer = (D < own - scale).sum(axis=1) + 0.5 * ((np.abs(D - own) <= scale).sum(axis=1) - 1)
    return float((closer / (len(D) - 1)).mean())


def log_spectral_distance(P: ArrayLike, Q: ArrayLike) -> float:
    """Return the distance of power spectra in dB: the mean over rows of √(mean over ω of (10 log₁₀ P/Q)²).

    >>> log_spectral_distance([[1.0, 10.0]], [[10.0, 1.0]])
    10.0
    """
    decibels = 10 * np.log10(np.asarray(P, dtype=np.float64) / np.asarray(Q, dtype=np.float64))
    return float(np.sqrt((decibels**2).mean(axis=1)).mean())


def mel_cepstral_distortion(C: ArrayLike, D: ArrayLike) -> float:
    """Return the mean over rows of (10 / ln 10)·√(2 Σ (c_d − ĉ_d)²) in dB; leave c_0, the loudness, out.

    >>> round(mel_cepstral_distortion([[1.0, 0.0]], [[0.0, 0.0]]), 3)
    6.142
    """
    difference = np.asarray(C, dtype=np.float64) - np.asarray(D, dtype=np.float64)
    return float(10 / np.log(10) * np.sqrt(2 * (difference**2).sum(axis=1)).mean())


def pitch_error(f: ArrayLike, g: ArrayLike) -> float:
    """Return the root mean square of 1200·log₂(f/g) in cents over the frames where both have a pitch (> 0).

    NaN where there is no such frame.

    >>> pitch_error([100.0, 0.0, 200.0], [200.0, 90.0, 100.0])
    1200.0
    """
    f, g = np.asarray(f, dtype=np.float64), np.asarray(g, dtype=np.float64)
    both = (f > 0) & (g > 0)
    if not both.any():
        return float("nan")
    return float(np.sqrt(np.mean((1200 * np.log2(f[both] / g[both])) ** 2)))
