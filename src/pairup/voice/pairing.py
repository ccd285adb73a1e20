"""Soft pairing of the frames of two voices."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from pairup.annealing import scale_to_marginals
from pairup.types import Array

Pairing = NDArray[np.intp] | Array
"""Indices, so that Y[indices] is aligned with X, or a soft plan whose rows sum to one."""


def pair_frames(U: Array, V: Array, *, weights: Array | None = None) -> Array:
    """Pair the frames of two voices, which need not share a sentence, by a soft plan.

    Frames of two voices lie in the same space, so a frame can be compared with the frames of the other speaker once
    the speakers are made comparable: every coefficient is z-scored within each voice and scaled back to its common
    spread. But the recordings may differ in words and not only in voice. So the first plan removes only half of the
    difference, and the next three take the target's mean and spread over the frames that the previous plan used.

    Parameters
    ----------
    U, V : ndarray of shape (n, d) and (m, d)
        Mel cepstra of the frames.
    weights : ndarray of shape (n,), optional
        How much speech each row of U represents, summing to one; 1/n by default.

    Returns
    -------
    plan : ndarray of shape (n, m)
        Probability that frame j is the partner of frame i; rows sum to one.

    Examples
    --------
    >>> U = np.random.default_rng(0).normal(size=(50, 4)) * [8, 4, 2, 1]
    >>> bool((pair_frames(U, 1.2 * U + 3).argmax(axis=1) == np.arange(50)).mean() > 0.9)
    True
    """
    a = np.full(len(U), 1 / len(U)) if weights is None else weights
    b = np.full(len(V), 1 / len(V))
    for trust in (0.5, 1.0, 1.0, 1.0):
        plan = soft_plan(_similarity(U, V, a, b, trust), a)
        b = a @ plan
    return plan


def similarity(U: Array, V: Array) -> Array:
    """Return −‖u_i − v_j‖² / median for z-scored frames, to be used as ``prior`` in `pairup.match`.

    Parameters
    ----------
    U, V : ndarray of shape (n, d) and (m, d)
        Mel cepstra of the frames.

    Returns
    -------
    S : ndarray of shape (n, m)
        Similarities, at most 0; their median is −1.

    Examples
    --------
    >>> U = np.array([[0.0], [1.0], [5.0]])
    >>> similarity(U, 2 * U + 1).argmax(axis=1)
    array([0, 1, 2])
    """
    return _similarity(U, V, np.full(len(U), 1 / len(U)), np.full(len(V), 1 / len(V)), 1.0)


def _similarity(U: Array, V: Array, a: Array, b: Array, trust: float) -> Array:
    """Compare frames after z-scoring each voice under the weights a and b: fully at trust 1, by half at 0.5."""
    (mean_u, std_u), (mean_v, std_v) = _moments(U, a), _moments(V, b)
    spread = np.sqrt(std_u * std_v)
    D = cdist(
        (U - mean_u) * (spread / std_u) ** trust + (1 - trust) * mean_u,
        (V - mean_v) * (spread / std_v) ** trust + (1 - trust) * mean_v,
        "sqeuclidean",
    )
    S: Array = -D / np.median(D)
    return S


def soft_plan(S: Array, weights: Array, *, sharpness: float = 20.0, balance: float = 0.7, sweeps: int = 50) -> Array:
    """Solve a semi-unbalanced optimal transport problem by Sinkhorn iterations, and return its plan by rows.

    P ∝ u_i K_ij v_j with K = exp(sharpness·S), u = weights / Kv and v = (1 / m / Kᵀu)^balance. At balance 1 every y is
    used equally often, which is wrong where two recordings hold the same sounds in different proportions. At
    balance 0 every x takes what is nearest, and whole regions of y are never used.

    Parameters
    ----------
    S : ndarray of shape (n, m)
        Similarities of all x and y.
    weights : ndarray of shape (n,)
        How much each x counts, summing to one.
    sharpness : float, default 20.0
        Inverse temperature: the larger, the fewer y share a row.
    balance : float, default 0.7
        How strictly every y is used equally often, from 0 (not at all) to 1 (exactly).
    sweeps : int, default 50
        Number of Sinkhorn iterations.

    Returns
    -------
    P : ndarray of shape (n, m)
        Probability that y_j is the partner of x_i; rows sum to one.

    Examples
    --------
    >>> soft_plan(np.array([[0.0, -1.0], [-1.0, 0.0]]), np.array([0.5, 0.5])).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    K: Array = np.exp(sharpness * (S - S.max(axis=1, keepdims=True)))
    m = K.shape[1]
    _, v = scale_to_marginals(K, weights, np.full(m, 1 / m), np.ones(m), sweeps=sweeps, balance=balance)
    K *= v
    K /= K.sum(axis=1, keepdims=True)
    return K


def take_partners(Y: Array, pairing: Pairing) -> Array:
    """Return the partner of every x: Y[indices] for a matching, the expected partner P Y for a soft plan.

    Parameters
    ----------
    Y : ndarray of shape (m, d)
        Features of the target's frames.
    pairing : ndarray of int of shape (n,), or ndarray of shape (n, m)
        Indices, or a soft plan whose rows sum to one.

    Returns
    -------
    partners : ndarray of shape (n, d)
        One row per x.

    Examples
    --------
    >>> Y = np.array([[0.0], [8.0]])
    >>> take_partners(Y, np.array([1, 0])).T, take_partners(Y, np.array([[0.5, 0.5]]))
    (array([[8., 0.]]), array([[4.]]))
    """
    if pairing.ndim == 2:
        return pairing @ Y
    if (pairing < 0).any():
        raise ValueError("some frames have no partner (index −1); voice conversion needs a partner for every frame")
    return Y[pairing]


def _moments(C: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean and standard deviation of every column."""
    mean = weights @ C
    return mean, np.sqrt(weights @ (C - mean) ** 2)
