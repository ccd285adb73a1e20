"""Synthetic voices: two speakers of known relation, by a small source-filter generator."""

from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from pairup.types import Array
from pairup.voice.audio import Recording

# First five formants in Hz of an adult man, after the classic measurements of English vowels.
VOWELS = {
    "i": (270, 2290, 3010, 3600, 4500),
    "e": (530, 1840, 2480, 3500, 4500),
    "a": (730, 1090, 2440, 3400, 4500),
    "o": (570, 840, 2410, 3300, 4500),
    "u": (300, 870, 2240, 3300, 4500),
}
BANDWIDTHS = np.array([60.0, 80.0, 120.0, 180.0, 250.0])
BLOCK = 0.005  # seconds for which the filter does not change


class Voices(NamedTuple):
    """Recordings of two speakers; word k of both has the same sounds at the same times.

    Parameters
    ----------
    source, target : list of Recording
        Words of the two speakers.
    """

    source: list[Recording]
    target: list[Recording]


def make_voices(
    n_words: int = 10,
    *,
    rate: int = 16000,
    tract: float = 0.85,
    pitches: tuple[float, float] = (110.0, 190.0),
    random_state: int = 0,
) -> Voices:
    """Make words of two synthetic speakers: glides between three vowels.

    The target's formants are the source's divided by `tract`, the ratio of the lengths of their vocal tracts, and
    its pitch follows the same melody around another mean.

    Parameters
    ----------
    n_words : int, default 10
        How many words; each lasts between half and three quarters of a second.
    rate : int, default 16000
        Samples per second, at least 12000: the five formants reach 5.3 kHz.
    tract : float, default 0.85
        Length of the target's vocal tract, divided by the source's.
    pitches : pair of float, default (110.0, 190.0)
        Mean pitch of source and target in Hz.
    random_state : int, default 0
        Seed of the words.

    Returns
    -------
    voices : Voices
        Named tuple of ``source`` and ``target``, a list of n_words recordings each.

    Examples
    --------
    >>> voices = make_voices(n_words=2)
    >>> len(voices.source), voices.source[0].rate
    (2, 16000)
    """
    if rate < 12000:
        raise ValueError(f"rate must be at least 12000 samples per second, got {rate}")
    rng = np.random.default_rng(random_state)
    voices = Voices([], [])
    for number in range(n_words):
        letters = rng.choice(list(VOWELS), size=3, replace=False)
        blocks = int(rng.uniform(0.5, 0.75) / BLOCK)
        stations = np.array([VOWELS[letter] for letter in letters], dtype=float)
        position = np.linspace(0, 2, blocks)
        place = np.floor(position) + 0.5 - 0.5 * np.cos(np.pi * (position % 1))  # rests at vowels, then glides
        formants = np.clip(1 - np.abs(place[:, None] - np.arange(3)), 0, 1) @ stations
        melody = np.exp(0.15 * np.sin(np.pi * np.linspace(0, 1, blocks)) + 0.03 * rng.normal())
        name = f"word {number}: {''.join(letters)}"
        for voice, stretch, pitch in ((voices.source, 1.0, pitches[0]), (voices.target, 1 / tract, pitches[1])):
            voice.append(Recording(_speak(formants * stretch, pitch * melody, rate, rng), rate, name))
    return voices


def _speak(formants: Array, pitch: Array, rate: int, rng: np.random.Generator) -> Array:
    """Filter glottal pulses and a little noise by resonances that change from block to block."""
    step = round(BLOCK * rate)
    phase = np.cumsum(np.repeat(pitch, step)) / rate
    pulses = np.diff(np.floor(phase), prepend=0.0) + 0.01 * rng.normal(size=len(phase))
    excitation = lfilter([1.0], [1.0, -0.95], pulses)  # a voice falls off towards high frequencies
    fade = np.minimum(1, np.minimum(np.arange(len(phase)), np.arange(len(phase))[::-1]) / (0.03 * rate))
    poles = np.exp((-np.pi * BANDWIDTHS + 2j * np.pi * formants) / rate)
    state = np.zeros(2 * formants.shape[1])
    signal = np.empty(len(phase))
    for k, resonances in enumerate(poles):
        part = slice(k * step, (k + 1) * step)
        a = np.poly(np.concatenate([resonances, resonances.conj()])).real
        signal[part], state = lfilter([1.0], a, excitation[part], zi=state)
    signal *= fade
    signal *= 0.5 / np.abs(signal).max()
    return signal
