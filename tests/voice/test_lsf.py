import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_toeplitz

from pairup.voice.audio import read_recording
from pairup.voice.frames import Framing
from pairup.voice.lsf import envelope, lpc_from_frames, lpc_from_lsf, lsf_from_lpc, repair_lsf


@pytest.mark.parametrize("order", [2, 3, 4, 9, 18, 50])
def test_there_and_back_is_exact(order, rng):
    a, _ = lpc_from_frames(rng.normal(size=(20, 400)), order)
    assert_allclose(lpc_from_lsf(lsf_from_lpc(a)), a, atol=1e-12)


def test_there_and_back_on_real_speech(data_folder):
    folder = data_folder / "voice" / "audiomnist_48k"
    for name in ("spk01/3_07.wav", "spk11/6_01.wav"):
        frames = Framing.at(44100)(read_recording(folder / name))
        assert frames.framing.order == 50
        assert np.abs(lpc_from_lsf(frames.lsf) - frames.lpc).max() < 1e-10


def test_frequencies_are_the_angles_of_the_zeros_of_p_and_q(rng):
    a, _ = lpc_from_frames(rng.normal(size=(1, 300)), 8)
    padded = np.append(a[0], 0)
    zeros = np.concatenate([np.roots(padded + padded[::-1]), np.roots(padded - padded[::-1])])
    angles = np.angle(zeros)
    assert_allclose(lsf_from_lpc(a)[0], np.sort(angles[(angles > 1e-6) & (angles < np.pi - 1e-6)]))


def test_levinson_solves_the_normal_equations(rng):
    frame = rng.normal(size=256)
    a, power = lpc_from_frames(frame[None], 12)
    r = np.correlate(frame, frame, "full")[255 : 255 + 13] / 256
    r[0] *= 1 + 1e-9
    assert_allclose(a[0, 1:], -solve_toeplitz(r[:-1], r[1:]), atol=1e-12)
    assert_allclose(power[0], r @ a[0])


def test_an_all_pole_signal_gives_its_filter_back(rng):
    from scipy.signal import lfilter

    a = lpc_from_lsf(np.array([[0.3, 0.5, 1.0, 1.3, 2.0, 2.6]]))
    signal = lfilter([1.0], a[0], rng.normal(size=200_000))
    assert_allclose(lpc_from_frames(signal[None], 6)[0], a, atol=0.02)


def test_silence_is_flat_and_without_power():
    a, power = lpc_from_frames(np.zeros((2, 100)), 4)
    assert_allclose(a, [[1, 0, 0, 0, 0]] * 2)
    assert_allclose(power, 0)


def test_unstable_filters_are_refused():
    with pytest.raises(ValueError, match="stable filters only"):
        lsf_from_lpc(np.array([[1.0, 0.0, 1.5]]))


def test_envelope_is_the_squared_response(rng):
    from scipy.signal import freqz

    a, _ = lpc_from_frames(rng.normal(size=(1, 300)), 8)
    _, response = freqz([1.0], a[0], worN=np.linspace(0, np.pi, 257))
    assert_allclose(envelope(a)[0], np.abs(response) ** 2)


@given(arrays(float, (3, 12), elements=st.floats(-1, 4)))
def test_repaired_frequencies_keep_their_distance(lsf):
    repaired = repair_lsf(lsf)
    gaps = np.diff(repaired, axis=1, prepend=0.0, append=np.pi)
    assert gaps.min() >= 0.02 * np.pi / 12 - 1e-12
    assert_allclose(repair_lsf(repaired), repaired, atol=1e-12)


def test_repaired_frequencies_make_a_stable_filter(rng):
    even = np.arange(1, 13) * np.pi / 13
    for lsf in even + rng.normal(scale=0.3, size=(50, 12)):
        zeros = np.roots(lpc_from_lsf(repair_lsf(lsf[None]))[0])
        assert np.abs(zeros).max() < 1


def test_good_frequencies_are_left_alone(rng):
    a, _ = lpc_from_frames(rng.normal(size=(20, 400)), 10)
    lsf = lsf_from_lpc(a)
    assert_allclose(repair_lsf(lsf), lsf, atol=1e-12)


def test_frames_in_blocks_are_the_same(rng, monkeypatch):
    a, _ = lpc_from_frames(rng.normal(size=(20, 400)), 18)
    lsf = lsf_from_lpc(a)
    back = lpc_from_lsf(lsf)
    monkeypatch.setattr("pairup.voice.lsf.BLOCK", 7)
    assert_array_equal(lsf_from_lpc(a), lsf)
    assert_array_equal(lpc_from_lsf(lsf), back)
