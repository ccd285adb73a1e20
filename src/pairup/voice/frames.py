"""Short overlapping frames of speech and their spectral envelopes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from pairup.types import Array, BoolArray
from pairup.voice.audio import Recording
from pairup.voice.lsf import envelope, lpc_from_frames, lsf_from_lpc


def lpc_order(rate: int) -> int:
    """Return the even order that is 50 at 44.1 kHz and grows with the rate.

    >>> [lpc_order(rate) for rate in (8000, 16000, 44100, 48000)]
    [10, 18, 50, 54]
    """
    return 2 * round(25 * rate / 44100)


@dataclass(frozen=True, kw_only=True)
class Framing:
    """How speech is cut into frames and modelled; two voices can be compared only under one framing.

    Parameters
    ----------
    rate : int
        Samples per second of the recordings.
    order : int
        Number of poles, which is the number of line spectral frequencies.
    length, hop : float
        Length of a frame and distance of two, in seconds. Frame k is centred at k·hop.
    preemphasis : float
        Coefficient b of the filter 1 − b z⁻¹ that flattens the spectrum before the poles are fitted.
    lag_width : float
        Width of the Gaussian lag window in Hz.
    floor : float
        A frame more than this many dB below the loudest is silence.
    """

    rate: int
    order: int
    length: float = 0.025
    hop: float = 0.005
    preemphasis: float = 0.97
    lag_width: float = 40.0
    floor: float = 35.0

    def __post_init__(self) -> None:
        if not self.length > self.hop > 0:
            raise ValueError(
                f"frames must overlap: expected length > hop > 0 seconds, got length {self.length} and hop {self.hop}"
            )

    @classmethod
    def at(cls, rate: int) -> "Framing":
        """Return the usual framing at a rate."""
        return cls(rate=rate, order=lpc_order(rate))

    @property
    def step(self) -> int:
        """Distance of two frames in samples."""
        return round(self.hop * self.rate)

    def __call__(self, recording: Recording) -> "Frames":
        """Cut a recording into frames and fit an all-pole filter to each."""
        signal = recording.resampled(self.rate).signal
        length = round(self.length * self.rate)
        padded = np.pad(signal, (length // 2, length - length // 2))
        cut = np.lib.stride_tricks.sliding_window_view(padded, length)[:: self.step]
        power = np.mean(cut**2, axis=1)
        padded[1:] -= self.preemphasis * padded[:-1]  # `cut` is a view: from here on it is pre-emphasised
        lpc, residual = lpc_from_frames(cut * np.hamming(length), self.order, lag_width=self.lag_width / self.rate)
        return Frames(framing=self, lpc=lpc, residual=residual, power=power)


@dataclass(frozen=True, kw_only=True)
class Frames:
    """The frames of one recording.

    Parameters
    ----------
    framing : Framing
        How they were cut.
    lpc : array of shape (n, order + 1)
        Filter coefficients of each frame.
    residual, power : array of shape (n,)
        Power of the prediction residual and of the frame itself.
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
        """Join frames of one framing."""
        lpc, residual, power = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("lpc", "residual", "power")
        )
        return cls(framing=parts[0].framing, lpc=lpc, residual=residual, power=power)

    @property
    def is_speech(self) -> BoolArray:
        """Which frames are not silence."""
        loud: BoolArray = self.power > self.power.max(initial=0.0) * 10 ** (-self.framing.floor / 10)
        return loud

    @cached_property
    def lsf(self) -> Array:
        """Line spectral frequencies, one row per frame."""
        return lsf_from_lpc(self.lpc)

    @cached_property
    def mel_cepstrum(self) -> Array:
        """Mel cepstral coefficients c_1 … c_24 of the envelopes, one row per frame."""
        return mel_cepstrum(envelope(self.lpc), self.framing.rate)


def mel_cepstrum(power: Array, rate: int, *, order: int = 24) -> Array:
    """Return c_1 … c_order of power spectra: log|H| = c_0 + Σ c_d cos(dω̃) on the mel axis ω̃.

    c_0, the loudness, is left out.
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
