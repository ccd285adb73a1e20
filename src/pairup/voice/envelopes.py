"""Spectral envelopes to be seen: in dB, up to the highest frequency of speech."""

from dataclasses import dataclass

import numpy as np

from pairup.types import Array, BoolArray
from pairup.voice.frames import Frames
from pairup.voice.lsf import envelope

TOP = 8000  # Hz; what lies above says little about a voice
FINE = 2049  # bins of the whole spectrum, from which the points are taken


@dataclass(frozen=True)
class Envelopes:
    """Envelopes of some frames.

    Parameters
    ----------
    frequencies : ndarray of shape (points,)
        From 0 to 8 kHz, or to half the rate if that is less.
    mean : ndarray of shape (points,)
        The mean of all frames of speech in dB.
    frames : ndarray of shape (n, points)
        The single frames in dB.
    is_speech : ndarray of bool of shape (n,)
        Which of them are speech and not silence.
    times : ndarray of shape (n,)
        Their centres in seconds.
    """

    frequencies: Array
    mean: Array
    frames: Array
    is_speech: BoolArray
    times: Array


def trace(frames: Frames, *, points: int = 96, most: int = 3000) -> Envelopes:
    """Compute 10 log₁₀ 1/|A(ω)|² of the frames of a recording, each with a mean of 0 dB over the frequencies shown.

    Parameters
    ----------
    frames : Frames
        All frames of one recording, silence included.
    points : int, default 96
        Number of frequencies.
    most : int, default 3000
        Frames that are kept; of more, every second, third … is.

    Returns
    -------
    envelopes : Envelopes
        Single frames, and the mean over all frames of speech that were kept.

    Examples
    --------
    >>> from pairup.voice.audio import Recording
    >>> from pairup.voice.frames import Framing
    >>> noise = Recording(np.random.default_rng(0).normal(size=16000), 16000)
    >>> found = trace(Framing.at(16000)(noise), points=5)
    >>> found.frequencies, found.frames.shape
    (array([   0., 2000., 4000., 6000., 8000.]), (201, 5))
    """
    framing = frames.framing
    every = max(1, -(-len(frames) // most))
    kept = frames[::every]
    frequencies = np.linspace(0, min(TOP, framing.rate / 2), points)
    bins = np.rint(frequencies / (framing.rate / 2) * (FINE - 1)).astype(np.intp)
    decibels = np.empty((len(kept), points))
    for start in range(0, len(kept), 512):  # a whole spectrum is much larger than what is kept of it
        part = slice(start, start + 512)
        decibels[part] = 10 * np.log10(envelope(kept.lpc[part], bins=FINE)[:, bins])
    decibels -= decibels.mean(axis=1, keepdims=True)
    speech = frames.is_speech[::every]
    mean = decibels[speech].mean(axis=0) if speech.any() else decibels.mean(axis=0)
    return Envelopes(frequencies, mean, decibels, speech, np.arange(len(kept)) * every * framing.step / framing.rate)
