"""Reading, learning and converting, called directly."""

import json
import struct
from base64 import b64decode

import numpy as np
import pytest
import soundfile
from numpy.testing import assert_allclose

from pairup.datasets import make_voices
from pairup.studio import voice_tasks
from pairup.voice import Recording, VoiceConverter, read_recording
from pairup.voice.envelopes import trace

SOURCE = "5" * 16


def drain(steps):
    """Return the result of a task; its progress must not go back."""
    *before, last = steps
    progress = [step["progress"] for step in before if step["progress"] is not None]
    assert progress == sorted(progress)
    assert all(0 <= each <= 1 for each in progress)
    assert all(step["text"] for step in before)
    return last["result"]


def write(path, signal, rate=16000, **options):
    soundfile.write(path, signal, rate, **options)
    return path


def look_at(path, folder, name="take.wav"):
    return drain(voice_tasks.look([(SOURCE, name, path)], folder))["details"][SOURCE]


@pytest.fixture(scope="module")
def voices():
    return make_voices(14)


@pytest.fixture
def word(voices):
    return voices.source[0].signal


@pytest.mark.parametrize(
    ("rate", "channels", "subtype", "plays"),
    [(16000, 1, "PCM_16", True), (8000, 2, "PCM_U8", True), (44100, 2, "PCM_24", True), (16000, 1, "FLOAT", True),
     (192000, 1, "PCM_24", False), (48000, 6, "PCM_16", False), (16000, 1, "IMA_ADPCM", False)],
)  # fmt: skip
def test_every_usual_form_is_read_and_can_be_heard(word, tmp_path, rate, channels, subtype, plays):
    signal = Recording(word, 16000).resample(rate).signal
    path = write(tmp_path / "x.wav", np.tile(signal[:, None], (1, channels)), rate, subtype=subtype)
    found = look_at(path.rename(tmp_path / "5555"), tmp_path / "voice")
    assert found["seconds"] == pytest.approx(len(word) / 16000, abs=0.05)
    assert (found["rate"], found["channels"], found["plays"]) == (rate, channels, plays)
    heights = json.loads((tmp_path / "voice" / f"{SOURCE}.outline.json").read_text())
    assert len(heights) == 240
    assert max(heights) == 100
    copy = tmp_path / "voice" / f"{SOURCE}.wav"
    assert copy.exists() != plays
    if not plays:
        heard = soundfile.info(copy)
        assert (heard.channels, heard.subtype) == (1, "PCM_16")
        assert heard.samplerate <= 48000


def test_what_cannot_be_used_is_told_in_a_sentence(word, tmp_path):
    samples = (word[:8000] * 20000).astype("<i2").tobytes()

    def wav(rate=16000, channels=1, data=samples):
        size = len(data)
        head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, channels, rate,
                           2 * rate % 2**32, 2, 16, b"data", size)  # fmt: skip
        return head + data

    cases = {
        "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(500), "take.wav cannot be read as sound; expected wav, flac"),
        "text": (b"hello", "cannot be read as sound"),
        "a damaged header": (b"RIFF" + wav()[4:20] + b"\xff" * 40 + samples, "take.wav"),
        "only a header": (wav(data=b""), "take.wav holds no sound"),
        "silence": (wav(data=bytes(len(samples))), "take.wav is silent"),
        "a moment": (wav(data=samples[:1000]), r"take.wav lasts 0\.03 s; at least 0\.1 s are needed"),
        "an odd rate": (wav(rate=2**31 - 1), r"take.wav has 2147483647 samples per second; 192000 are read at most"),
        "a low rate": (wav(rate=4000), "take.wav has 4000 samples per second; speech needs at least 8000"),
    }
    for number, (what, (content, sentence)) in enumerate(cases.items()):
        path = tmp_path / str(number)
        path.write_bytes(content)
        found = look_at(path, tmp_path / "voice")
        assert set(found) == {"problem"}, what
        assert str(tmp_path) not in found["problem"], what
        with pytest.raises(ValueError, match=sentence):
            voice_tasks.read_bounded(path, "take.wav")
    assert "problem" in look_at(tmp_path / "gone", tmp_path / "voice")


def test_two_hours_and_too_many_samples_are_refused_before_they_are_read(tmp_path, monkeypatch):
    path = write(tmp_path / "long.wav", np.zeros(8000 * 301), 8000, subtype="PCM_U8")
    monkeypatch.setattr(voice_tasks, "read_recording", lambda path: pytest.fail("was read"))
    with pytest.raises(ValueError, match=r"a\.wav lasts 5 minutes; 5 minutes are read at most: cut a part"):
        voice_tasks.read_bounded(path, "a.wav")
    monkeypatch.setattr(voice_tasks, "MOST_SAMPLES", 100_000)
    path = write(tmp_path / "wide.wav", np.zeros((8000 * 30, 6)), 8000)
    with pytest.raises(ValueError, match="6 channels of 8000 samples per second: too much to read"):
        voice_tasks.read_bounded(path, "a.wav")


def test_a_clipped_recording_is_used_with_a_note(word, tmp_path):
    path = write(tmp_path / "loud.wav", np.clip(20 * word, -1, 1))
    assert look_at(path, tmp_path / "voice")["note"].startswith("take.wav looks clipped")


def name_all(recordings, folder, prefix):
    named = []
    for number, recording in enumerate(recordings):
        path = folder / f"{prefix}{number}.wav"
        recording.save(path)
        named.append((f"{prefix}{number:015x}", f"{prefix} {number}.wav", path))
    return named


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("voice")


@pytest.fixture(scope="module")
def learned(voices, folder):
    sources, targets = name_all(voices.source[:6], folder, "a"), name_all(voices.target[6:12], folder, "b")
    made = drain(voice_tasks.learn(sources, targets, folder, "e" * 16))["voice"]
    return made, sources, targets


def test_the_learned_voice_is_that_of_the_package(folder, learned):
    made, sources, targets = learned
    wanted = VoiceConverter().fit([path for *_, path in sources], [path for *_, path in targets])
    saved = VoiceConverter.load(folder / f"{'e' * 16}.npz")
    assert_allclose(saved.weights_, wanted.weights_)
    assert_allclose(made["pitch"], np.exp(wanted.pitch_[:, 0]), atol=0.06)
    assert made["sources"] == [each[0] for each in sources]
    assert (made["rate"], made["frames"]) == (16000, len(wanted.samples_))


@pytest.mark.parametrize("synthesis", ["world", "residual"])
@pytest.mark.usefixtures("learned")
def test_conversion_writes_sound_outline_envelopes_and_a_cover(voices, folder, tmp_path, synthesis):
    inputs = name_all(voices.source[12:14], tmp_path, "c")
    arguments = {"examples": {"c 0.wav": "d" * 16}, "example": "b" * 16, "voice": "e" * 16, "synthesis": synthesis}
    made = drain(voice_tasks.convert(inputs, **arguments, folder=folder, cover=tmp_path / "cover.jpg"))["results"]
    assert [each["name"] for each in made] == ["c 0.wav", "c 1.wav"]
    assert [each["example"] for each in made] == ["d" * 16, "b" * 16]
    assert (tmp_path / "cover.jpg").stat().st_size > 1000
    for each, (*_, path) in zip(made, inputs, strict=True):
        recording = read_recording(path)
        sound, rate = soundfile.read(folder / f"{each['id']}.wav")
        assert (len(sound), rate) == (len(recording.signal), 16000)
        before, after = each["distance"]
        assert after < 0.7 * before
        before, after = each["pitch"]
        assert after / before == pytest.approx(190 / 110 if synthesis == "world" else 1, rel=0.1)
        drawn = json.loads((folder / f"{each['id']}.envelopes.json").read_text())
        frames = np.frombuffer(b64decode(drawn["source_frames"]), np.uint8).reshape(-1, drawn["points"])
        wanted = trace(VoiceConverter.load(folder / f"{'e' * 16}.npz").framing_(recording))
        assert_allclose((frames.astype(float) - 128) * drawn["scale"], np.clip(wanted.frames, -40, 40), atol=0.3)
        assert len(drawn["speech"]) == len(frames)


@pytest.mark.usefixtures("learned")
def test_one_bad_input_does_not_stop_the_others(voices, folder, tmp_path):
    short = write(tmp_path / "short.wav", voices.source[0].signal[:500])
    inputs = [("1" * 16, "short.wav", short), *name_all(voices.source[12:13], tmp_path, "c")]
    arguments = {"examples": {}, "example": None, "voice": "e" * 16, "synthesis": "residual"}
    places = {"folder": folder, "cover": tmp_path / "cover.jpg"}
    (made,) = drain(voice_tasks.convert(inputs, **arguments, **places))["results"]
    assert made["notes"] == ["skipped: short.wav lasts 0.03 s; at least 0.1 s are needed"]
    with pytest.raises(ValueError, match=r"short\.wav lasts 0\.03 s"):
        list(voice_tasks.convert(inputs[:1], **arguments, **places))


def test_a_tenth_of_a_second_is_learned_from_and_converted(voices, tmp_path):
    sources = name_all([*voices.source[:2], Recording(voices.source[2].signal[2000:3600], 16000)], tmp_path, "a")
    targets = name_all(voices.target[:2], tmp_path, "b")
    folder = tmp_path / "voice"
    drain(voice_tasks.learn(sources, targets, folder, "e" * 16))
    arguments = {"examples": {}, "example": None, "voice": "e" * 16, "synthesis": "world"}
    (made,) = drain(voice_tasks.convert(sources[2:], **arguments, folder=folder, cover=tmp_path / "c.jpg"))["results"]
    assert made["seconds"] == 0.1


def test_the_demo_makes_recordings_of_both_speakers_and_words_to_convert(tmp_path):
    files = drain(voice_tasks.make_demo(tmp_path / "voice"))["files"]
    assert [role for role, *_ in files] == ["source"] * 10 + ["target"] * 10 + ["input"] * 2
    assert len({name for _, name, _ in files}) == 22
    assert all(soundfile.info(path).duration > 0.4 for *_, path in files)
