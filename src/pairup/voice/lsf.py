"""Linear prediction and line spectral frequencies, exact both ways.

A frame of speech is modelled as an all-pole filter 1/A(z), A(z) = 1 + a_1 z⁻¹ + … + a_p z⁻ᵖ. Its line
spectral frequencies (LSFs) are the angles of the zeros of P(z) = A(z) + z^-(p+1) A(1/z) and
Q(z) = A(z) − z^-(p+1) A(1/z), which lie interlaced on the unit circle if and only if the filter is stable.
"""

import numpy as np
from scipy.fft import next_fast_len
from scipy.signal import lfilter

from pairup.types import Array

BLOCK = 4096  # frames at once: a matrix is made for each of them


def lpc_from_frames(frames: Array, order: int, *, lag_width: float = 0.0) -> tuple[Array, Array]:
    """Fit an all-pole filter to each windowed frame: autocorrelation method, Levinson-Durbin recursion.

    Parameters
    ----------
    frames : ndarray of shape (n, length)
        Windowed frames.
    order : int
        Number p of poles.
    lag_width : float, default 0.0
        Width of the Gaussian lag window in cycles per sample: it smears each spectral line by about that
        much, so that the poles follow the envelope and not the harmonics of the voice.

    Returns
    -------
    a : ndarray of shape (n, p + 1)
        Coefficients, a[:, 0] = 1.
    power : ndarray of shape (n,)
        Power of the prediction residual, so that power / |A|² models the frame's spectrum; 0 for silence.

    Examples
    --------
    >>> decay = 0.5 ** np.arange(60.0)  # the response of 1 / (1 − 0.5 z⁻¹)
    >>> lpc_from_frames(decay[None], 2)[0].round(6) + 0.0
    array([[ 1. , -0.5,  0. ]])
    """
    n, length = frames.shape
    size = next_fast_len(2 * length - 1, real=True)
    r: Array = np.fft.irfft(np.abs(np.fft.rfft(frames, size)) ** 2, size)[:, : order + 1] / length
    r *= np.exp(-0.5 * (2 * np.pi * lag_width * np.arange(order + 1)) ** 2)
    silent = r[:, 0] <= 0
    r[silent, 0] = 1.0
    r[:, 0] *= 1 + 1e-9  # a noise floor at −90 dB keeps band-limited recordings well conditioned
    a = np.zeros((n, order + 1))
    a[:, 0] = 1.0
    power = r[:, 0].copy()
    for m in range(1, order + 1):
        reflection = -np.einsum("nk,nk->n", a[:, :m], r[:, m:0:-1]) / power
        a[:, 1 : m + 1] += reflection[:, None] * a[:, m - 1 :: -1]
        power *= 1 - reflection**2
    power[silent] = 0.0
    return a, power


def lsf_from_lpc(a: Array) -> Array:
    """Return the line spectral frequencies of stable filters.

    They are the angles in (0, π) of the zeros of P and Q, found as eigenvalues.

    Parameters
    ----------
    a : ndarray of shape (n, p + 1)
        Filter coefficients, a[:, 0] = 1.

    Returns
    -------
    lsf : ndarray of shape (n, p)
        Frequencies in radians per sample, ascending in each row.

    Examples
    --------
    >>> lsf_from_lpc(np.array([[1.0, 0.0, 0.0]])) / np.pi  # a flat spectrum spreads them evenly
    array([[0.33333333, 0.66666667]])
    """
    if len(a) > BLOCK:
        return np.concatenate([lsf_from_lpc(part) for part in np.split(a, range(BLOCK, len(a), BLOCK))])
    order = a.shape[1] - 1
    padded = np.pad(a, ((0, 0), (0, 1)))
    P, Q = padded + padded[:, ::-1], padded - padded[:, ::-1]
    if order % 2:
        Q = lfilter([1.0], [1.0, 0.0, -1.0], Q)[:, :-2]  # Q vanishes at z = 1 and z = −1
    else:
        P = lfilter([1.0], [1.0, 1.0], P)[:, :-1]  # P vanishes at z = −1
        Q = lfilter([1.0], [1.0, -1.0], Q)[:, :-1]  # Q vanishes at z = 1
    lsf = np.empty((len(a), order))
    lsf[:, ::2], lsf[:, 1::2] = _angles_of_zeros(P), _angles_of_zeros(Q)
    if not (np.diff(lsf, axis=1, prepend=0.0, append=np.pi) > 0).all():
        raise ValueError(
            "line spectral frequencies exist for stable filters only; "
            "some zeros of A(z) lie on or outside the unit circle"
        )
    return lsf


def lpc_from_lsf(lsf: Array) -> Array:
    """Return the filter coefficients that have given line spectral frequencies.

    A(z) = (P(z) + Q(z)) / 2. P and Q are evaluated as products of cosines on the unit circle, where every factor is
    exact, and brought back by an inverse Fourier transform; multiplying out quadratic factors would lose six digits
    at order 50.

    Parameters
    ----------
    lsf : ndarray of shape (n, p)
        Frequencies in (0, π), ascending in each row.

    Returns
    -------
    a : ndarray of shape (n, p + 1)
        Filter coefficients, a[:, 0] = 1.

    Examples
    --------
    >>> lpc_from_lsf(np.array([[1.0, 2.0]]) * np.pi / 3).round(12) + 0.0
    array([[1., 0., 0.]])
    """
    if len(lsf) > BLOCK:
        return np.concatenate([lpc_from_lsf(part) for part in np.split(lsf, range(BLOCK, len(lsf), BLOCK))])
    order = lsf.shape[1]
    half = order // 2 + 1
    omega = np.pi * np.arange(half + 1) / half
    P = np.prod(2 * np.cos(omega) - 2 * np.cos(lsf[:, ::2, None]), axis=1)
    Q = np.prod(2 * np.cos(omega) - 2 * np.cos(lsf[:, 1::2, None]), axis=1)
    if order % 2:
        P, Q = P / 2, Q * np.sin(omega)
    else:
        P, Q = P * np.cos(omega / 2), Q * np.sin(omega / 2)
    a: Array = np.fft.irfft(np.exp(-0.5j * (order + 1) * omega) * (P + 1j * Q), 2 * half)[:, : order + 1]
    return a


def envelope(a: Array, *, bins: int = 257) -> Array:
    """Return spectral envelopes of gain 1: the power spectra 1/|A(ω)|² of all-pole filters.

    Parameters
    ----------
    a : ndarray of shape (n, p + 1)
        Filter coefficients.
    bins : int, default 257
        Number of equally spaced frequencies from 0 to π.

    Returns
    -------
    power : ndarray of shape (n, bins)
        One row per filter.

    Examples
    --------
    >>> envelope(np.array([[1.0, -0.5]]), bins=2).round(3)
    array([[4.   , 0.444]])
    """
    power: Array = np.abs(np.fft.rfft(a, 2 * (bins - 1))) ** -2.0
    return power


def repair_lsf(lsf: Array, *, gap: float = 0.02) -> Array:
    """Sort line spectral frequencies and push them apart, so that the filter is stable and no formant rings.

    Neighbours, 0 and π end up at least gap·π/order apart; frequencies that already keep this distance do not change.

    Parameters
    ----------
    lsf : ndarray of shape (n, order)
        Any numbers, such as a regression predicts.
    gap : float, default 0.02
        Smallest distance, as a share of the mean distance π/order.

    Returns
    -------
    lsf : ndarray of shape (n, order)
        Ascending in (0, π).

    Examples
    --------
    >>> (repair_lsf(np.array([[2.0, 1.0, 1.0, 4.0]]), gap=0.4) / np.pi).round(2)
    array([[0.32, 0.42, 0.64, 0.9 ]])
    """
    order = lsf.shape[1]
    distance = gap * np.pi / order
    steps = distance * np.arange(1, order + 1)
    slack = np.maximum.accumulate(np.sort(lsf, axis=1) - steps, axis=1)
    repaired: Array = np.clip(slack, 0.0, np.pi - distance * (order + 1)) + steps
    return repaired


def _angles_of_zeros(symmetric: Array) -> Array:
    """Return the angles in (0, π) of the zeros of polynomials c_0 … c_2m, c_k = c_(2m−k), c_0 = 1.

    On the unit circle such a polynomial is c_m + 2 Σ c_(m−k) cos kω, a Chebyshev series in cos ω, whose roots
    are the eigenvalues of its colleague matrix.
    """
    m = symmetric.shape[1] // 2
    colleague = np.zeros((len(symmetric), m, m))
    i = np.arange(m - 1)
    colleague[:, i, i + 1] = colleague[:, i + 1, i] = 0.5
    series = symmetric[:, m:0:-1] / 2
    series[:, 0] /= 1 if m == 1 else np.sqrt(2)
    colleague[:, 0, 1:2] = colleague[:, 1:2, 0] = np.sqrt(0.5)  # balances T_0, whose norm is √2 times the others'
    colleague[:, :, -1] -= series
    roots = np.linalg.eigvals(colleague)
    return np.sort(np.arccos(np.clip(roots.real, -1.0, 1.0)), axis=1)
