import numpy as np
from numpy.testing import assert_allclose
from scipy.signal import find_peaks, freqz, lfilter

from pairup.voice.audio import Recording
from pairup.voice.envelopes import trace
from pairup.voice.frames import Frames, Framing


def test_the_envelope_of_a_filter_is_its_response():
    a = np.poly([0.9 * np.exp(0.5j), 0.9 * np.exp(-0.5j), 0.8 * np.exp(1.5j), 0.8 * np.exp(-1.5j)]).real
    framing = Framing(rate=16000, order=4)
    frames = Frames(framing=framing, lpc=np.tile(a, (3, 1)), residual=np.ones(3), power=np.ones(3))
    found = trace(frames, points=65)
    response = freqz(1.0, a, worN=found.frequencies, fs=16000)[1]
    wanted = 20 * np.log10(np.abs(response))
    assert_allclose(found.mean, wanted - wanted.mean(), atol=1e-9)
    assert_allclose(found.frames, np.tile(found.mean, (3, 1)), atol=1e-12)


def test_formants_are_where_they_were_put(rng):
    a = np.poly([0.992 * np.exp(s * 2j * np.pi * f / 48000) for f in (700, 1800) for s in (1, -1)]).real
    recording = Recording(lfilter([1.0], a, rng.normal(size=48000)), 48000)
    found = trace(Framing.at(48000)(recording))
    assert found.frequencies[-1] == 8000
    peaks = found.frequencies[find_peaks(found.mean, prominence=3)[0]]
    assert_allclose(peaks, [700, 1800], atol=120)


def test_long_recordings_keep_every_kth_frame(rng):
    framing = Framing.at(8000)
    frames = framing(Recording(rng.normal(size=16000), 8000))
    found = trace(frames, most=100)
    assert len(frames) == 401
    assert len(found.frames) == len(found.times) == len(found.is_speech) == 81
    assert_allclose(np.diff(found.times), 5 * 0.005)
    assert found.frequencies[-1] == 4000


def test_silence_is_left_out_of_the_mean(rng):
    speech = rng.normal(size=8000)
    quiet = 1e-4 * lfilter([1.0], [1.0, -0.99], rng.normal(size=8000))
    framing = Framing.at(8000)
    both = trace(framing(Recording(np.concatenate([speech, quiet]), 8000)))
    alone = trace(framing(Recording(speech, 8000)))
    assert_allclose(both.mean, alone.mean, atol=0.5)
