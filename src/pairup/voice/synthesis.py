"""Pitch estimation, and synthesis: from converted frames back to sound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require
from pairup.types import Array
from pairup.voice.audio import Recording
from pairup.voice.frames import Frames, Framing

BLOCK = 512  # frames whose spectra are held at once


def estimate_pitch(recording: Recording, framing: Framing, *, careful: bool = False) -> Array:
    """Estimate the fundamental frequency of every frame with WORLD.

    Parameters
    ----------
    recording : Recording
        The sound, of any rate.
    framing : Framing
        Where the frames are.
    careful : bool, default False
        Use Harvest, which misses fewer voiced frames, instead of DIO and StoneMask, which are five times faster.

    Returns
    -------
    f0 : ndarray of shape (n,)
        Fundamental frequency in Hz, 0 where there is none.

    Examples
    --------
    >>> buzz = np.where(np.arange(8000) % 80 == 0, 1.0, 0.0)  # 16000 / 80 = 200 pulses per second
    >>> f0 = estimate_pitch(Recording(buzz, 16000), Framing.at(16000))
    >>> float(np.median(f0[f0 > 0]).round())
    200.0
    """
    world = require("pyworld", extra="voice")
    signal, rate, period = recording.resample(framing.rate).signal, framing.rate, 1000 * framing.step / framing.rate
    if careful:
        f0: Array = world.harvest(signal, rate, frame_period=period)[0]
    else:
        f0 = world.stonemask(signal, *world.dio(signal, rate, frame_period=period), rate)
    return f0


def change_pitch(recording: Recording, framing: Framing, f0: Array, new_f0: Array) -> Recording:
    """Synthesize a recording at another pitch with WORLD (CheapTrick, D4C).

    Parameters
    ----------
    recording : Recording
        The sound, at the rate of the framing.
    framing : Framing
        Where the frames are.
    f0, new_f0 : ndarray of shape (n,)
        Pitch of every frame in the recording and in the result, in Hz; 0 where there is none.

    Returns
    -------
    recording : Recording
        The same envelopes at the new pitch, as long and as loud as the input.
    """
    world = require("pyworld", extra="voice")
    times = np.arange(len(f0)) * framing.step / framing.rate
    spectrum = world.cheaptrick(recording.signal, f0, times, framing.rate)
    aperiodicity = world.d4c(recording.signal, f0, times, framing.rate)
    period = 1000 * framing.step / framing.rate
    signal = world.synthesize(new_f0, spectrum, aperiodicity, framing.rate, period)
    return _match_length_and_loudness(signal, recording)


def filter_residual(recording: Recording, frames: Frames, lpc: Array) -> Recording:
    """Replace the all-pole filter of every frame, keeping its prediction residual: pass it through A(z)/Â(z).

    The filtered frames are overlapped and added, each with the energy it had.

    Parameters
    ----------
    recording : Recording
        The sound, at the rate of the frames.
    frames : Frames
        All frames of the recording, with the filters A it has.
    lpc : ndarray of shape (n, order + 1)
        The filters Â of the result.

    Returns
    -------
    recording : Recording
        As long and as loud as the input.
    """
    rate, hop = frames.framing.rate, frames.framing.step
    length = round(frames.framing.length * rate)
    window = np.hanning(length + 2)[1:-1]
    size = 1 << (3 * length - 1).bit_length()  # room for the filter to ring out
    padded = np.pad(recording.signal, (length // 2, length))
    cut = np.lib.stride_tricks.sliding_window_view(padded, length)[::hop][: len(lpc)]
    total, weight = np.zeros(len(padded) + size), np.zeros(len(padded) + size)
    for part in _split_into_blocks(len(cut)):
        old = np.fft.rfft(cut[part] * window, size)
        new = old * _filter_response(frames.lpc[part], lpc[part], size)
        energy = (np.abs(new) ** 2).sum(axis=1)
        gain = np.sqrt((np.abs(old) ** 2).sum(axis=1) / np.where(energy > 0, energy, 1.0))
        for k, piece in zip(range(part.start, part.stop), np.fft.irfft(new * gain[:, None], size), strict=False):
            total[k * hop : k * hop + size] += piece
            weight[k * hop : k * hop + length] += window
    inside = slice(length // 2, length // 2 + len(recording.signal))
    return _match_length_and_loudness(total[inside] / np.maximum(weight[inside], 1e-3), recording)


def _split_into_blocks(n: int) -> Iterator[slice]:
    """Yield slices of at most BLOCK frames."""
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def _filter_response(old: Array, new: Array, size: int) -> NDArray[np.complex128]:
    """Return A_old(ω)/A_new(ω) from 0 to π."""
    response: NDArray[np.complex128] = np.fft.rfft(old, size) / np.fft.rfft(new, size)
    return response


def _match_length_and_loudness(signal: Array, recording: Recording) -> Recording:
    """Cut or pad a signal to the length of a recording and scale it to its energy."""
    n = len(recording.signal)
    signal = np.pad(signal[:n], (0, max(0, n - len(signal))))
    energy = float(signal @ signal)
    gain = np.sqrt(recording.signal @ recording.signal / energy) if energy > 0 else 0.0
    return Recording(signal * gain, recording.rate, recording.name)
