"""Short overlapping frames of speech and their spectral envelopes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from pairup.types import Array, BoolArray
from pairup.voice.audio import LOWEST_RATE, Recording
from pairup.voice.lsf import envelope, lpc_from_frames, lsf_from_lpc

FINEST_RATE = 192_000  # samples per second of the finest recorders
MOST_POLES = 256
LONGEST = 0.5  # seconds of a frame; speech stands still for a tenth of that
BLOCK = 2048  # frames whose spectra are held at once; all of a long recording would take 10 MB per second of sound
MOST_OVERLAP = 25  # frames that cover a sample; each is a copy of the signal in memory


def lpc_order(rate: int) -> int:
    """Return the number of poles for a sampling rate: the paper's 50 at 44.1 kHz, in proportion elsewhere, and even.

    Parameters
    ----------
    rate : int
        Samples per second.

    Returns
    -------
    order : int
        Number of poles, which is the number of line spectral frequencies.

    Examples
    --------
    >>> [lpc_order(rate) for rate in (8000, 16000, 44100, 48000)]
    [10, 18, 50, 54]
    """
    return 2 * round(25 * rate / 44100)


@dataclass(frozen=True, kw_only=True)
class Framing:
    """How speech is cut into frames and modelled; frames can be compared only if their framing is the same.

    Parameters
    ----------
    rate : int
        Samples per second of the recordings.
    order : int
        Number of poles, which is the number of line spectral frequencies.
    length : float, default 0.025
        Length of a frame in seconds.
    hop : float, default 0.005
        Time from one frame to the next in seconds. Frame k is centred at k·hop.
    preemphasis : float, default 0.97
        Coefficient b of the filter 1 − b z⁻¹ that flattens the spectrum before the poles are fitted.
    lag_width : float, default 40.0
        Width of the Gaussian lag window in Hz.
    floor : float, default 35.0
        A frame more than this many dB below the loudest is silence.

    Examples
    --------
    >>> framing = Framing.at(16000)
    >>> frames = framing(Recording(np.sin(np.arange(16000.0)), rate=16000))
    >>> frames.lsf.shape
    (201, 18)
    """

    rate: int
    order: int
    length: float = 0.025
    hop: float = 0.005
    preemphasis: float = 0.97
    lag_width: float = 40.0
    floor: float = 35.0

    def __post_init__(self) -> None:
        if not LOWEST_RATE <= self.rate <= FINEST_RATE:
            raise ValueError(
                f"the rate must lie between {LOWEST_RATE} and {FINEST_RATE} samples per second, got {self.rate}"
            )
        if not self.length <= LONGEST:
            raise ValueError(f"frames last at most {LONGEST} s, 0.025 s are usual; got {self.length}")
        samples = round(self.length * self.rate)
        if not 2 <= self.order <= min(MOST_POLES, samples - 1):
            raise ValueError(
                f"the order must lie between 2 and {MOST_POLES}, below the {samples} samples of a frame, "
                f"got {self.order}"
            )
        if self.hop > 0 and (self.step < 1 or self.length > MOST_OVERLAP * self.hop):
            raise ValueError(
                f"frames must be at least one sample apart and overlap at most {MOST_OVERLAP} times, got length "
                f"{self.length} and hop {self.hop} s at {self.rate} samples per second; 0.005 s are usual"
            )
        if not self.length > self.hop > 0:
            raise ValueError(
                f"frames must overlap: expected length > hop > 0 seconds, got length {self.length} and hop {self.hop}"
            )

    @classmethod
    def at(cls, rate: int) -> "Framing":
        """Return the default framing at a sampling rate.

        Parameters
        ----------
        rate : int
            Samples per second.

        Returns
        -------
        framing : Framing
            Frames of 25 ms every 5 ms, with the order that `lpc_order` gives.
        """
        return cls(rate=rate, order=lpc_order(rate))

    @property
    def step(self) -> int:
        """Number of samples from one frame to the next."""
        return round(self.hop * self.rate)

    def __call__(self, recording: Recording) -> "Frames":
        """Cut a recording into frames and fit an all-pole filter to each.

        Parameters
        ----------
        recording : Recording
            Sound of any rate; it is resampled to the rate of the framing.

        Returns
        -------
        frames : Frames
            One frame per hop, silence included.
        """
        signal = recording.resample(self.rate).signal
        length = round(self.length * self.rate)
        padded = np.pad(signal, (length // 2, length - length // 2))
        cut = np.lib.stride_tricks.sliding_window_view(padded, length)[:: self.step]
        starts = range(0, len(cut), BLOCK)
        power = np.concatenate([np.mean(cut[start : start + BLOCK] ** 2, axis=1) for start in starts])
        padded[1:] -= self.preemphasis * padded[:-1]  # `cut` is a view: from here on it is pre-emphasised
        window, lag_width = np.hamming(length), self.lag_width / self.rate
        fitted = [
            lpc_from_frames(cut[start : start + BLOCK] * window, self.order, lag_width=lag_width) for start in starts
        ]
        lpc, residual = (np.concatenate(parts) for parts in zip(*fitted, strict=True))
        return Frames(framing=self, lpc=lpc, residual=residual, power=power)


@dataclass(frozen=True, kw_only=True)
class Frames:
    """The frames of one recording, or of several.

    Parameters
    ----------
    framing : Framing
        How they were cut.
    lpc : ndarray of shape (n, order + 1)
        Filter coefficients of each frame.
    residual : ndarray of shape (n,)
        Power of each frame's prediction residual.
    power : ndarray of shape (n,)
        Power of each frame.
    """

    framing: Framing
    lpc: Array
    residual: Array
    power: Array

    def __len__(self) -> int:
        return len(self.lpc)

    def __getitem__(self, index: BoolArray | NDArray[np.intp] | slice) -> "Frames":
        return Frames(framing=self.framing, lpc=self.lpc[index], residual=self.residual[index], power=self.power[index])

    @classmethod
    def concatenate(cls, parts: Sequence["Frames"]) -> "Frames":
        """Join the frames of several recordings.

        Parameters
        ----------
        parts : sequence of Frames
            All of the same framing.

        Returns
        -------
        frames : Frames
            All frames, in the order given.
        """
        lpc, residual, power = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("lpc", "residual", "power")
        )
        return cls(framing=parts[0].framing, lpc=lpc, residual=residual, power=power)

    @property
    def is_speech(self) -> BoolArray:
        """For each frame, whether it is speech and not silence."""
        loud: BoolArray = self.power > self.power.max(initial=0.0) * 10 ** (-self.framing.floor / 10)
        return loud

    @property
    def speech(self) -> "Frames":
        """The frames that are not silence."""
        return self[self.is_speech]

    @cached_property
    def lsf(self) -> Array:
        """Line spectral frequencies, one row per frame."""
        return lsf_from_lpc(self.lpc)

    @cached_property
    def mel_cepstrum(self) -> Array:
        """Mel cepstral coefficients c_1 … c_24 of the envelopes, one row per frame."""
        return mel_cepstrum(envelope(self.lpc), self.framing.rate)


def mel_cepstrum(power: Array, rate: int, *, order: int = 24) -> Array:
    """Return the mel cepstral coefficients of power spectra.

    They are c_1 … c_order of log|H| = c_0 + Σ c_d cos(dω̃), where ω̃ is the frequency on the mel scale, from 0 to π.
    c_0, the loudness, is left out.

    Parameters
    ----------
    power : ndarray of shape (n, bins)
        Power spectra |H|² at equally spaced frequencies from 0 to half the rate.
    rate : int
        Samples per second.
    order : int, default 24
        Number of coefficients.

    Returns
    -------
    cepstrum : ndarray of shape (n, order)
        One row per spectrum.

    Examples
    --------
    >>> mel_cepstrum(np.full((1, 257), 7.0), 16000, order=3).round(12) + 0.0  # a flat spectrum has no shape
    array([[0., 0., 0.]])
    """
    bins = power.shape[1]
    nyquist = rate / 2
    centres = (np.arange(bins) + 0.5) / bins * np.log1p(nyquist / 700)
    position = 700 * np.expm1(centres) / nyquist * (bins - 1)
    left = np.minimum(position.astype(int), bins - 2)
    log = 0.5 * np.log(power)
    warped = log[:, left] + (position - left) * (log[:, left + 1] - log[:, left])
    cepstrum: Array = dct(warped, axis=1)[:, 1 : order + 1] / bins
    return cepstrum
