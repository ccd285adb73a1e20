import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pairup.datasets import make_voices
from pairup.voice.frames import Framing
from pairup.voice.synthesis import estimate_pitch


def test_both_speakers_say_the_same_at_the_same_times(voices):
    for x, y in zip(*voices, strict=True):
        assert x.name == y.name
        assert len(x.signal) == len(y.signal)
        assert 0.5 <= x.duration <= 0.75


def test_pitches_are_as_asked():
    voices = make_voices(4, pitches=(100.0, 220.0))
    for recordings, wanted in zip(voices, (100.0, 220.0), strict=True):
        f0 = np.concatenate([estimate_pitch(recording, Framing.at(16000)) for recording in recordings])
        assert np.median(f0[f0 > 0]) == pytest.approx(wanted, rel=0.2)  # the melody rises by up to 16 %


def test_the_shorter_tract_moves_the_formants_up():
    """The target's spectra are the source's, stretched by the inverse ratio of the tract lengths."""
    voices = make_voices(1, tract=0.8)
    (x,), (y,) = voices
    frames = [Framing.at(16000)(recording) for recording in (x, y)]
    both = frames[0].is_speech & frames[1].is_speech
    spectra = [10 * np.log10(1 / np.abs(np.fft.rfft(each[both].lpc, 1024)) ** 2) for each in frames]
    grid = np.arange(300)  # up to 4.7 kHz of the source
    shifts = np.linspace(0.9, 1.5, 61)
    agreement = [
        np.mean(
            [np.corrcoef(p[grid], np.interp(grid * s, np.arange(513), q))[0, 1] for p, q in zip(*spectra, strict=True)]
        )
        for s in shifts
    ]
    assert shifts[np.argmax(agreement)] == pytest.approx(1 / 0.8, abs=0.05)


def test_the_seed_decides():
    a, b, c = (make_voices(1, random_state=seed).source[0].signal for seed in (0, 0, 1))
    assert_array_equal(a, b)
    assert len(a) != len(c) or not np.array_equal(a, c)


def test_low_rates_are_refused():
    with pytest.raises(ValueError, match="at least 12000"):
        make_voices(1, rate=8000)
