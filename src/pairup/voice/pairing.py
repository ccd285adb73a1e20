"""Which frames of one voice belong to which frames of another."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from pairup.annealing import scale_to_marginals
from pairup.types import Array

Pairing = NDArray[np.intp] | Array
"""Indices, so that Y[indices] is aligned with X, or a soft plan whose rows sum to one."""


def pair_frames(U: Array, V: Array, *, weights: Array | None = None) -> Array:
    """Return a soft plan between the frames of two voices that share no sentence.

    Frames of two voices live in the same space, so that a frame can look for frames that sound alike, once the two
    speakers are made comparable: every coefficient is z-scored within each voice and given back the spread it has
    in speech. But what differs may be the words and not the voices. So the first plan removes only half of the
    difference, and the next three take the target's mean and spread over those frames that the plan before used.

    Parameters
    ----------
    U, V : array of shape (n, d) and (m, d)
        Mel cepstra of the frames.
    weights : array of shape (n,), optional
        How much speech each row of U stands for, summing to one; equally much unless given.

    Returns
    -------
    plan : array of shape (n, m)
        Rows sum to one.
    """
    a = np.full(len(U), 1 / len(U)) if weights is None else weights
    b = np.full(len(V), 1 / len(V))
    for trust in (0.5, 1.0, 1.0, 1.0):
        plan = soft_plan(_similarity(U, V, a, b, trust), a)
        b = a @ plan
    return plan


def similarity(U: Array, V: Array) -> Array:
    """Return −‖u_i − v_j‖² / median of the z-scored frames: a prior for the matchers of the package.

    Parameters
    ----------
    U, V : array of shape (n, d) and (m, d)
        Mel cepstra of the frames.
    """
    return _similarity(U, V, np.full(len(U), 1 / len(U)), np.full(len(V), 1 / len(V)), 1.0)


def _similarity(U: Array, V: Array, a: Array, b: Array, trust: float) -> Array:
    """Compare frames after z-scoring each voice under the weights a and b, as far as `trust` says."""
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
    """Return P, its rows summing to one: how likely each y_j is the partner of each x_i, given similarities S.

    P ∝ u_i K_ij v_j with K = exp(sharpness·S), u = weights / Kv and v = (1 / m / Kᵀu)^balance: a transport plan whose
    columns are held to equal use only as far as `balance` says. At 1 every y is used equally often, which is wrong
    where two recordings hold the same sounds in different proportions; at 0 every x takes what is nearest, and
    whole regions of y are never used.

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


def partners(Y: Array, pairing: Pairing) -> Array:
    """Return the partner of every x: Y[indices] for a matching, the expected partner P Y for a soft plan."""
    if pairing.ndim == 2:
        return pairing @ Y
    if (pairing < 0).any():
        raise ValueError("some frames have no partner (index −1); a conversion needs one for every frame")
    return Y[pairing]


def _moments(C: Array, weights: Array) -> tuple[Array, Array]:
    mean = weights @ C
    return mean, np.sqrt(weights @ (C - mean) ** 2)
