import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import KDTree
from sklearn.exceptions import NotFittedError

from pairup import KSHSIC
from pairup.metrics import log_spectral_distance
from pairup.voice import Recording, VoiceConverter
from pairup.voice.converter import smooth
from pairup.voice.frames import Frames
from pairup.voice.lsf import envelope, lpc_from_lsf
from pairup.voice.score import score_voice
from pairup.voice.synthesis import estimate_pitch

HELD_OUT = slice(20, 24)


def test_unheard_words_move_most_of_the_way_to_the_target(voices, converter):
    before, after = [], []
    for x, y in zip(voices.source[HELD_OUT], voices.target[HELD_OUT], strict=True):
        frames_x, frames_y = converter.framing_(x), converter.framing_(y)
        both = frames_x.is_speech & frames_y.is_speech
        wanted = envelope(frames_y[both].lpc)
        before.append(log_spectral_distance(envelope(frames_x[both].lpc), wanted))
        converted = envelope(lpc_from_lsf(converter.convert_lsf(frames_x[both].lsf)))
        after.append(log_spectral_distance(converted, wanted))
    assert np.mean(after) < 0.6 * np.mean(before)


@pytest.mark.parametrize("synthesis", ["world", "residual"])
def test_what_is_heard_is_nearer_to_the_target(voices, converter, synthesis):
    rows = list(score_voice(converter, voices.source[HELD_OUT], voices.target[HELD_OUT], synthesis=synthesis))
    mean = {key: np.mean([row[key] for row in rows]) for key in rows[0] if key != "name"}
    assert mean["mcd"] < mean["mcd_before"] - 1
    if synthesis == "world":
        assert mean["pitch"] < 0.2 * mean["pitch_before"]
    else:
        assert mean["pitch"] == pytest.approx(mean["pitch_before"], rel=0.1)


@pytest.mark.parametrize("synthesis", ["world", "residual"])
def test_length_rate_and_loudness_stay(voices, converter, synthesis):
    spoken = voices.source[20].resample(22050)
    with pytest.warns(UserWarning, match="has 22050 samples per second and the voice was trained at 16000"):
        converted = converter.convert(spoken, synthesis=synthesis)
    assert converted.rate == 22050
    assert len(converted.signal) == len(spoken.signal)
    assert np.std(converted.signal) == pytest.approx(np.std(spoken.signal), rel=0.05)


def test_pitch_gets_the_targets_mean_and_variance(voices, converter):
    f0 = np.concatenate([estimate_pitch(recording, converter.framing_) for recording in voices.source[:10]])
    mapped = converter.convert_pitch(f0)
    assert_array_equal(mapped > 0, f0 > 0)
    logs = np.log(mapped[mapped > 0])
    assert_allclose([logs.mean(), logs.std()], converter.pitch_[1])


def test_a_saved_voice_converts_alike(voices, converter, tmp_path):
    converter.save(tmp_path / "voice.npz")
    loaded = VoiceConverter.load(tmp_path / "voice.npz")
    assert_array_equal(loaded.convert(voices.source[20]).signal, converter.convert(voices.source[20]).signal)
    with np.load(tmp_path / "voice.npz", allow_pickle=False) as file:
        assert file["format"] == 1
        assert not any(file[name].dtype.hasobject for name in file.files)


def test_files_that_are_no_voices_are_refused(converter, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.npz; expected a saved voice"):
        VoiceConverter.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", a=1)
    np.savez(tmp_path / "pickle.npz", format=np.array([{}], dtype=object))
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("text.npz", "other.npz", "pickle.npz", "array.npy"):
        with pytest.raises(ValueError, match="is not a saved voice"):
            VoiceConverter.load(tmp_path / name)
    converter.save(tmp_path / "voice.npz")
    with np.load(tmp_path / "voice.npz") as file:
        np.savez(tmp_path / "newer.npz", **(dict(file) | {"format": 99}))
    with pytest.raises(ValueError, match="has format 99, and this pairup reads formats up to 1; upgrade it"):
        VoiceConverter.load(tmp_path / "newer.npz")


def test_any_matcher_of_the_package_fits(voices):
    matched = VoiceConverter(n_frames=60, matcher=KSHSIC(n_starts=2).fit_predict)
    assert matched.fit(voices.source[:3], voices.target[:3]).samples_.shape == (60, 18)


def test_frames_have_the_chosen_length_and_hop(voices, tmp_path):
    converter = VoiceConverter(n_frames=50, length=0.03, hop=0.01).fit(voices.source[:3], voices.target[:3])
    converter.save(tmp_path / "voice.npz")
    assert VoiceConverter.load(tmp_path / "voice.npz").framing_ == converter.framing_
    assert len(converter.framing_(voices.source[0])) == len(voices.source[0].signal) // 160 + 1
    assert np.isfinite(converter.convert(voices.source[4]).signal).all()
    with pytest.raises(ValueError, match="frames must overlap"):
        VoiceConverter(length=0.01, hop=0.02).fit(voices.source[:3], voices.target[:3])


def test_the_same_seed_gives_the_same_voice(voices):
    a, b = (VoiceConverter(n_frames=50).fit(voices.source[:3], voices.target[3:6]).weights_ for _ in range(2))
    assert_array_equal(a, b)


def test_mixed_rates_are_brought_to_the_lowest(voices):
    mixed = [voices.source[0].resample(24000), *voices.source[1:4]]
    with pytest.warns(UserWarning, match=r"different rates \(16000, 24000\): all are resampled to 16000"):
        assert VoiceConverter(n_frames=50).fit(mixed, voices.target[:4]).framing_.rate == 16000


def test_too_little_speech_is_refused_with_what_is_needed(voices):
    short = Recording(voices.source[0].signal[:2000], 16000)
    with pytest.raises(
        ValueError, match=r"the source has 0\.\d\d s of speech in 1 recordings; at least 0\.5 s are needed"
    ):
        VoiceConverter().fit(short, voices.target)
    with pytest.raises(ValueError, match=r"the target has 0\.\d\d s of speech"):
        VoiceConverter().fit(voices.source, short)


def test_short_or_silent_input_is_refused(converter):
    with pytest.raises(ValueError, match=r"lasts 0\.050 s; at least 0\.1 s are needed"):
        converter.convert(Recording(np.ones(800), 16000))
    with pytest.raises(ValueError, match="is silent; there is nothing to convert"):
        converter.convert(Recording(np.zeros(16000), 16000))


def test_bad_outputs_are_refused_before_any_work(voices, converter, tmp_path):
    with pytest.raises(ValueError, match="must end in one of"):
        converter.convert(tmp_path / "never-read.wav", tmp_path / "out.doc")
    with pytest.raises(FileNotFoundError, match="does not exist; create it"):
        converter.convert(tmp_path / "never-read.wav", tmp_path / "no" / "out.wav")
    with pytest.raises(ValueError, match="synthesis must be"):
        converter.convert(voices.source[0], synthesis="magic")


def test_a_voice_without_pitch_is_said_and_converted_without(rng, voices):
    whisper = [Recording(0.1 * rng.normal(size=16000), 16000) for _ in range(2)]
    with pytest.warns(UserWarning, match="no pitch was found in the target"):
        converter = VoiceConverter(n_frames=50).fit(voices.source[:3], whisper)
    f0 = np.array([0.0, 100.0])
    assert_array_equal(converter.convert_pitch(f0), f0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(converter.convert(voices.source[5]).signal).all()


def test_smoothing_keeps_lines_and_does_not_cross_pauses(rng):
    line = np.arange(12.0)[:, None]
    assert_allclose(smooth(line, np.arange(12))[2:-2], line[2:-2])
    lsf, places = rng.normal(size=(20, 3)), np.r_[0:9, 40:51]
    assert_array_equal(smooth(lsf, places)[:9], smooth(lsf[:9], places[:9]))


def test_chosen_frames_cover_rare_sounds_and_weigh_all_speech(voices, converter):
    frames = Frames.concatenate([converter.framing_(recording).speech for recording in voices.source[:6]])
    chosen, weights = converter._choose_covering(frames, 30)
    assert weights.sum() == pytest.approx(1)
    assert np.ptp(weights) > 0  # common sounds weigh more
    distance = KDTree(chosen.mel_cepstrum).query(frames.mel_cepstrum)[0].max()
    drawn = np.random.default_rng(0).permutation(len(frames))[:30]
    assert distance < KDTree(frames[drawn].mel_cepstrum).query(frames.mel_cepstrum)[0].max()


def test_skipped_files_are_listed(voices, tmp_path):
    for number in range(3):
        voices.source[number].save(tmp_path / f"{number}.wav")
    (tmp_path / "broken.wav").write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match=r"skipped 1 recordings: .*broken.wav cannot be read"):
        converter = VoiceConverter(n_frames=50).fit(tmp_path, voices.target[:3])
    assert len(converter.skipped_) == 1


def test_the_steps_learn_the_same_voice_and_end_unfitted_when_left(voices, converter):
    stepped = VoiceConverter(n_frames=200)
    steps = list(stepped.fit_steps(voices.source[:10], voices.target[10:20]))
    assert_array_equal(stepped.weights_, converter.weights_)
    assert_array_equal(stepped.pitch_, converter.pitch_)
    progress = [step.progress for step in steps]
    assert progress == sorted(progress)
    assert progress[0] == 0
    assert progress[-1] < 1
    left = VoiceConverter(n_frames=200)
    for step in left.fit_steps(voices.source[:3], voices.target[:3]):
        if step.text.startswith("learning"):
            break
    with pytest.raises(NotFittedError):
        left.convert(voices.source[20])


@pytest.mark.parametrize("synthesis", ["world", "residual"])
def test_the_steps_of_a_conversion_end_with_the_same_recording(voices, converter, synthesis, tmp_path):
    *steps, result = converter.convert_steps(voices.source[20], tmp_path / "out.wav", synthesis=synthesis)
    assert_array_equal(result.signal, converter.convert(voices.source[20], synthesis=synthesis).signal)
    assert (tmp_path / "out.wav").exists()
    progress = [step.progress for step in steps]
    assert progress == sorted(progress)
    assert any("pitch" in step.text for step in steps) == (synthesis == "world")


def test_long_recordings_are_mapped_in_blocks_alike(voices, converter, monkeypatch):
    lsf = converter.framing_(voices.source[20]).speech.lsf
    whole = converter.convert_lsf(lsf)
    monkeypatch.setattr("pairup.voice.converter.BLOCK", 17)
    assert_allclose(converter.convert_lsf(lsf), whole, rtol=1e-12)
