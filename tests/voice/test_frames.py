import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup.metrics import log_spectral_distance, mel_cepstral_distortion
from pairup.voice.audio import Recording
from pairup.voice.frames import Framing, mel_cepstrum

RATE = 16000


def test_frame_k_is_centred_at_k_hops():
    signal = np.full(RATE, 1e-6)
    signal[3200] = 1.0
    frames = Framing.at(RATE)(Recording(signal, RATE))
    loud = np.flatnonzero(frames.is_speech)
    assert loud.mean() == pytest.approx(3200 / RATE / 0.005, abs=0.5)
    assert len(frames) == 201


def test_silence_is_told_from_speech(rng):
    signal = np.concatenate([1e-3 * rng.normal(size=RATE), rng.normal(size=RATE)])
    frames = Framing.at(RATE)(Recording(signal, RATE))
    speech = frames.is_speech
    assert speech[:195].sum() == 0
    assert speech[205:].all()
    assert_allclose(frames.speech.power, frames.power[speech])


def test_loudness_changes_neither_filter_nor_cepstrum(rng):
    signal = rng.normal(size=4000)
    quiet, loud = (Framing.at(RATE)(Recording(gain * signal, RATE)) for gain in (0.01, 1.0))
    assert_allclose(quiet.lpc, loud.lpc, atol=1e-9)
    assert_allclose(quiet.mel_cepstrum, loud.mel_cepstrum, atol=1e-9)
    assert_allclose(loud.residual, 1e4 * quiet.residual)


def test_cepstral_distortion_of_all_coefficients_is_the_spectral_distance_on_the_mel_axis(rng):
    """Parseval: 2 Σ c_d² (10 / ln 10)² is the mean square of the log spectra's difference, c_0 aside."""
    mel = np.linspace(0, 1, 4000)
    P, Q = (np.exp(sum(rng.normal() * np.cos(d * np.pi * mel) for d in range(1, 6)))[None] for _ in range(2))
    axis = 700 * np.expm1(mel * np.log1p(RATE / 2 / 700))
    hertz = np.linspace(0, RATE / 2, 4000)
    on_hertz = [np.interp(hertz, axis, each[0])[None] for each in (P, Q)]
    distortion = mel_cepstral_distortion(*(mel_cepstrum(each, RATE, order=40) for each in on_hertz))
    assert distortion == pytest.approx(log_spectral_distance(P, Q), rel=1e-3)


def test_another_rate_is_resampled(rng):
    recording = Recording(rng.normal(size=8000), 8000)
    assert Framing.at(RATE)(recording).framing.rate == RATE
    assert len(Framing.at(RATE)(recording)) == 201


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"rate": 4000}, "rate must lie between 8000 and 192000"),
        ({"rate": 10**12}, "rate must lie between"),
        ({"order": 10**9}, "order must lie between 2 and 256, below the 400 samples"),
        ({"length": 1e9}, "at most 0.5 s"),
        ({"length": float("nan")}, "at most 0.5 s"),
        ({"hop": 1e-9}, "at least one sample apart"),
        ({"hop": 0.0005}, "overlap at most 25 times"),
        ({"hop": 0.0}, "frames must overlap"),
        ({"hop": 0.03}, "frames must overlap"),
    ],
)
def test_framings_that_would_take_all_memory_are_refused(values, reason):
    with pytest.raises(ValueError, match=reason):
        Framing(**({"rate": RATE, "order": 18} | values))


def test_frames_are_the_same_however_many_are_held_at_once(rng, monkeypatch):
    recording = Recording(rng.normal(size=RATE), RATE)
    whole = Framing.at(RATE)(recording)
    monkeypatch.setattr("pairup.voice.frames.BLOCK", 7)
    parts = Framing.at(RATE)(recording)
    assert_array_equal(parts.lpc, whole.lpc)
    assert_array_equal(parts.power, whole.power)
    assert_array_equal(parts.residual, whole.residual)
