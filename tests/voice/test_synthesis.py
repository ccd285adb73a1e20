import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup.metrics import log_spectral_distance
from pairup.voice.audio import Recording
from pairup.voice.frames import Framing
from pairup.voice.lsf import envelope, lpc_from_lsf
from pairup.voice.synthesis import change_pitch, estimate_pitch, filter_residual

RATE = 16000
FRAMING = Framing.at(RATE)


def buzz(hertz):
    """One second of pulses."""
    phase = hertz * np.arange(RATE) / RATE
    return Recording(np.diff(np.floor(phase), prepend=-1.0), RATE)


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("hertz", [100, 180, 250])
def test_the_pitch_of_pulses_is_their_frequency(hertz, careful):
    f0 = estimate_pitch(buzz(hertz), FRAMING, careful=careful)
    assert np.mean(f0 > 0) > 0.9
    assert np.median(f0[f0 > 0]) == pytest.approx(hertz, rel=0.01)


def test_the_pitch_does_not_depend_on_the_rate_of_the_recording():
    f0 = estimate_pitch(buzz(150).resample(24000), FRAMING)
    assert np.median(f0[f0 > 0]) == pytest.approx(150, rel=0.01)


def test_the_pitch_is_changed_and_the_envelope_is_not(voices):
    spoken = voices.source[0]
    f0 = estimate_pitch(spoken, FRAMING, careful=True)
    raised = change_pitch(spoken, FRAMING, f0, 1.5 * f0)
    found = estimate_pitch(raised, FRAMING, careful=True)
    both = (f0 > 0) & (found > 0)
    assert np.median(found[both] / f0[both]) == pytest.approx(1.5, rel=0.02)
    before, after = FRAMING(spoken), FRAMING(raised)
    speech = before.is_speech & after.is_speech
    other = FRAMING(voices.target[0]).lpc[: len(speech)][speech]
    wanted = envelope(before.lpc[speech])
    assert log_spectral_distance(envelope(after.lpc[speech]), wanted) < log_spectral_distance(envelope(other), wanted)


def test_an_unchanged_filter_gives_the_sound_back(voices):
    spoken = voices.source[0]
    frames = FRAMING(spoken)
    assert_allclose(filter_residual(spoken, frames, frames.lpc).signal, spoken.signal, atol=1e-9)


def test_noise_gets_the_envelope_of_the_new_filter(rng):
    """A/Â whitens the noise by its own filter, then colours it by Â."""
    noise = Recording(rng.normal(size=RATE), RATE)
    frames = FRAMING(noise)
    wanted = lpc_from_lsf((np.arange(1, 19) + 0.4 * np.sin(np.arange(18)))[None] * np.pi / 19)
    filtered = filter_residual(noise, frames, np.repeat(wanted, len(frames), axis=0))
    truth = envelope(wanted)
    before, after = (
        log_spectral_distance(envelope(each.lpc[20:180]), np.repeat(truth, 160, axis=0))
        for each in (frames, FRAMING(filtered))
    )
    assert after < before / 4


@pytest.mark.parametrize("length", [RATE // 2, RATE // 2 + 37])
def test_length_and_energy_stay(rng, length):
    sound = Recording(rng.normal(size=length), RATE, "noise")
    frames = FRAMING(sound)
    filtered = filter_residual(sound, frames, np.roll(frames.lpc, 7, axis=0))
    assert filtered.name == "noise"
    assert len(filtered.signal) == length
    assert np.sum(filtered.signal**2) == pytest.approx(np.sum(sound.signal**2))


def test_silence_stays_silent():
    silence = Recording(np.zeros(RATE // 2), RATE)
    frames = FRAMING(silence)
    assert_array_equal(filter_residual(silence, frames, frames.lpc).signal, silence.signal)
