import numpy as np
import pytest
from numpy.testing import assert_allclose

from pairup.voice.audio import DamagedRecording, Recording, read_recording, read_recordings

soundfile = pytest.importorskip("soundfile")
RATE = 16000


@pytest.fixture
def tone():
    return Recording(0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE), RATE)


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg", ".mp3", ".aiff"])
def test_formats_come_back(tone, suffix, tmp_path):
    path = tmp_path / f"tone{suffix}"
    tone.save(path)
    back = read_recording(path)
    assert back.rate == RATE
    spectrum = np.abs(np.fft.rfft(back.signal[:RATE]))
    assert spectrum.argmax() == 440
    assert abs(np.std(back.signal) - np.std(tone.signal)) < 0.02


@pytest.mark.parametrize(("subtype", "tolerance"), [("PCM_U8", 1e-2), ("PCM_24", 1e-6), ("FLOAT", 1e-7)])
def test_sample_formats(tone, subtype, tolerance, tmp_path):
    soundfile.write(tmp_path / "tone.wav", tone.signal, RATE, subtype=subtype)
    assert_allclose(read_recording(tmp_path / "tone.wav").signal, tone.signal, atol=tolerance)


def test_channels_are_averaged(tone, tmp_path):
    soundfile.write(tmp_path / "stereo.wav", np.stack([tone.signal, 0 * tone.signal], axis=1), RATE, "FLOAT")
    assert_allclose(read_recording(tmp_path / "stereo.wav").signal, tone.signal / 2, atol=1e-6)


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_resampling_keeps_the_sound(tone, rate):
    other = tone.resample(rate)
    assert other.rate == rate
    assert other.duration == pytest.approx(tone.duration, abs=2 / rate)
    assert np.abs(np.fft.rfft(other.signal[:rate])).argmax() == 440
    assert_allclose(other.resample(RATE).signal[100:-100], tone.signal[100:-100], atol=0.01)


def test_loud_peaks_are_scaled_not_clipped(rng, tmp_path):
    signal = rng.normal(size=RATE)
    Recording(signal, RATE).save(tmp_path / "loud.wav")
    assert_allclose(read_recording(tmp_path / "loud.wav").signal, signal / np.abs(signal).max(), atol=1e-3)


def test_clipping_is_warned_of(tone, tmp_path):
    soundfile.write(tmp_path / "clipped.wav", np.clip(4 * tone.signal, -1, 1), RATE)
    with pytest.warns(UserWarning, match=r"clipped.wav looks clipped: \d+\.\d% of its samples"):
        read_recording(tmp_path / "clipped.wav")


def test_damaged_files_in_a_folder_are_skipped_and_listed(tone, tmp_path):
    tone.save(tmp_path / "b.wav")
    (tmp_path / "below").mkdir()
    tone.save(tmp_path / "below" / "c.flac")
    (tmp_path / "a.wav").write_bytes(b"RIFF and nothing behind it")
    (tmp_path / "notes.txt").write_text("no sound")
    Recording(np.zeros(RATE), RATE).save(tmp_path / "silent.wav")
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), RATE)
    recordings, skipped = read_recordings(tmp_path)
    assert [recording.name.rsplit("/")[-1] for recording in recordings] == ["b.wav", "c.flac"]
    assert [reason.split("/")[-1].split(":")[0] for reason in skipped] == [
        "a.wav cannot be read as sound",
        "empty.wav is empty",
        "silent.wav is silent",
    ]


def test_files_folders_and_recordings_mix(tone, tmp_path):
    tone.save(tmp_path / "tone.wav")
    recordings, skipped = read_recordings([tone, tmp_path, tmp_path / "tone.wav"])
    assert len(recordings) == 3
    assert skipped == []


def test_nothing_to_read_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="holds no sound files"):
        read_recordings(tmp_path)
    with pytest.raises(ValueError, match="nothing was given"):
        read_recordings([])
    with pytest.raises(FileNotFoundError, match="there is no recording"):
        read_recordings(tmp_path / "missing.wav")
    (tmp_path / "a.wav").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"no recording could be read: .*a.wav cannot be read as sound"):
        read_recordings(tmp_path)
    with pytest.raises(DamagedRecording):
        read_recording(tmp_path / "a.wav")


def test_bad_samples_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
        Recording(np.zeros((3, 2)), RATE)
    with pytest.raises(ValueError, match="not a number"):
        Recording(np.array([0.0, np.nan]), RATE)
    with pytest.raises(ValueError, match="speech needs at least 8000"):
        Recording(np.zeros(10), 4000)
    soundfile.write(tmp_path / "nan.wav", np.array([0.1, np.nan]), RATE, "FLOAT")
    with pytest.raises(DamagedRecording, match="infinite or not a number"):
        read_recording(tmp_path / "nan.wav")


def test_unknown_suffixes_are_refused_before_writing(tone, tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.wav"):
        tone.save(tmp_path / "tone.xyz")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_path(tmp_path, monkeypatch):
    soundfile = pytest.importorskip("soundfile")

    def fail(*arguments):
        raise soundfile.LibsndfileError(2)

    monkeypatch.setattr(soundfile, "write", fail)
    with pytest.raises(OSError, match=r"cannot write .*out\.wav: .*is the disk full\?"):
        Recording(np.zeros(100), 16000, "silence").save(tmp_path / "out.wav")
    assert list(tmp_path.iterdir()) == []
