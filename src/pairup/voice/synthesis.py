"""From converted frames back to sound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require
from pairup.types import Array
from pairup.voice.audio import Recording
from pairup.voice.frames import Frames, Framing

BLOCK = 512  # frames whose spectra are held at once


def pitch(recording: Recording, framing: Framing, *, careful: bool = False) -> Array:
    """Return the fundamental frequency of every frame in Hz, 0 where there is none.

    Parameters
    ----------
    recording : Recording
        The sound.
    framing : Framing
        Where the frames are.
    careful : bool
        Harvest, which misses fewer voiced frames, instead of DIO and StoneMask, which are five times quicker.
    """
    world = require("pyworld", extra="voice")
    signal, rate, period = recording.resampled(framing.rate).signal, framing.rate, 1000 * framing.step / framing.rate
    if careful:
        f0: Array = world.harvest(signal, rate, frame_period=period)[0]
    else:
        f0 = world.stonemask(signal, *world.dio(signal, rate, frame_period=period), rate)
    return f0


def repitch(recording: Recording, framing: Framing, f0: Array, new_f0: Array) -> Recording:
    """Speak a recording anew at another pitch (WORLD: CheapTrick, D4C).

    Parameters
    ----------
    recording : Recording
        The sound, at the rate of the framing.
    framing : Framing
        Where the frames are.
    f0, new_f0 : array of shape (n,)
        Pitch of every frame as it is and as it shall be, 0 where there is none.
    """
    world = require("pyworld", extra="voice")
    times = np.arange(len(f0)) * framing.step / framing.rate
    spectrum = world.cheaptrick(recording.signal, f0, times, framing.rate)
    aperiodicity = world.d4c(recording.signal, f0, times, framing.rate)
    period = 1000 * framing.step / framing.rate
    return _as_long_and_loud_as(recording, world.synthesize(new_f0, spectrum, aperiodicity, framing.rate, period))


def filter_residual(recording: Recording, frames: Frames, lpc: Array) -> Recording:
    """Pass each frame through A(z)/Â(z): its prediction residual, through the filter it shall have.

    Parameters
    ----------
    recording : Recording
        The sound, at the rate of the frames.
    frames : Frames
        Its frames.
    lpc : array of shape (n, order + 1)
        The filters the frames shall have.
    """
    rate, hop = frames.framing.rate, frames.framing.step
    length = round(frames.framing.length * rate)
    window = np.hanning(length + 2)[1:-1]
    size = 1 << (3 * length - 1).bit_length()  # room for the filter to ring out
    padded = np.pad(recording.signal, (length // 2, length))
    cut = np.lib.stride_tricks.sliding_window_view(padded, length)[::hop][: len(lpc)]
    total, weight = np.zeros(len(padded) + size), np.zeros(len(padded) + size)
    for part in _blocks(len(cut)):
        old = np.fft.rfft(cut[part] * window, size)
        new = old * _response(frames.lpc[part], lpc[part], size)
        energy = (np.abs(new) ** 2).sum(axis=1)
        gain = np.sqrt((np.abs(old) ** 2).sum(axis=1) / np.where(energy > 0, energy, 1.0))
        for k, piece in zip(range(part.start, part.stop), np.fft.irfft(new * gain[:, None], size), strict=False):
            total[k * hop : k * hop + size] += piece
            weight[k * hop : k * hop + length] += window
    inside = slice(length // 2, length // 2 + len(recording.signal))
    return _as_long_and_loud_as(recording, total[inside] / np.maximum(weight[inside], 1e-3))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))


def _response(old: Array, new: Array, size: int) -> NDArray[np.complex128]:
    """Return A_old(ω)/A_new(ω) from 0 to π."""
    response: NDArray[np.complex128] = np.fft.rfft(old, size) / np.fft.rfft(new, size)
    return response


def _as_long_and_loud_as(recording: Recording, signal: Array) -> Recording:
    n = len(recording.signal)
    signal = np.pad(signal[:n], (0, max(0, n - len(signal))))
    energy = float(signal @ signal)
    gain = np.sqrt(recording.signal @ recording.signal / energy) if energy > 0 else 0.0
    return Recording(signal * gain, recording.rate, recording.name)
