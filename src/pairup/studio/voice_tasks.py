"""What a worker does for voices: read recordings, learn, convert, and make the demo."""

import base64
import json
import secrets
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pairup.extras import require
from pairup.files import make_folder, replace_file
from pairup.types import Array
from pairup.voice.audio import DamagedRecording, Recording, read_recording
from pairup.voice.converter import HIGHEST_RATE, SHORTEST_INPUT, VoiceConverter
from pairup.voice.envelopes import Envelopes, trace
from pairup.voice.frames import FINEST_RATE, Framing
from pairup.voice.synthesis import estimate_pitch
from pairup.voice.waveform import outline

Named = tuple[str, str, Path]
"""Identifier, name and place of a recording."""

LONGEST = 300.0  # seconds of one recording
MOST_SAMPLES = 60_000_000  # of all channels: half a gigabyte in memory
PARTS = 240  # of an outline: more than a player has pixels for
RANGE = 40.0  # dB above and below the mean that an envelope may have when it is written as a byte
PITCHED = 60  # seconds in which the pitch is measured; more of them take gigabytes
DEMO_WORDS = 10  # of each speaker
PLAYED = {"WAV", "WAVEX", "FLAC", "MP3", "OGG"}  # what browsers play
PLAYED_SUBTYPES = {"PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "VORBIS", "OPUS", "MPEG_LAYER_III"}
KINDS = "wav, flac, ogg, mp3 or aiff"


def read_bounded(path: Path, name: str) -> tuple[Recording, dict[str, Any], list[str]]:
    """Read a recording that anyone may have sent.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What a person calls it.

    Returns
    -------
    recording : Recording
        At most 48000 samples per second.
    details : dict
        Length, rate, channels, format, and whether browsers play the file as it is.
    notes : list of str
        What is wrong with it but does not hinder.

    Raises
    ------
    ValueError
        If it is no sound, silent, damaged, too short or too long; the sentence is shown on the page.
    """
    soundfile = require("soundfile", extra="voice")
    try:
        info = soundfile.info(path)
    except (soundfile.LibsndfileError, TypeError):
        raise ValueError(f"{name} cannot be read as sound; expected {KINDS}") from None
    seconds = info.frames / info.samplerate if info.samplerate > 0 else 0.0
    if info.frames == 0:
        raise ValueError(f"{name} holds no sound; record it again")
    if seconds > LONGEST:
        length = f"{seconds / 60:.0f} minutes" if seconds < 1e6 else "too long"
        raise ValueError(f"{name} lasts {length}; {LONGEST / 60:.0f} minutes are read at most: cut a part out of it")
    if info.samplerate > FINEST_RATE:
        raise ValueError(f"{name} has {info.samplerate} samples per second; {FINEST_RATE} are read at most")
    if info.frames * info.channels > MOST_SAMPLES:
        raise ValueError(
            f"{name} has {info.channels} channels of {info.samplerate} samples per second: too much to read; save it "
            "as mono or cut a part out of it"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            recording = read_recording(path)
        except (DamagedRecording, ValueError) as error:
            raise ValueError(str(error).replace(str(path), name)) from None
    if recording.duration < SHORTEST_INPUT:
        raise ValueError(f"{name} lasts {recording.duration:.2f} s; at least {SHORTEST_INPUT} s are needed")
    details = {
        "seconds": round(recording.duration, 3),
        "rate": info.samplerate,
        "channels": info.channels,
        "format": info.format,
        "plays": bool(
            info.format in PLAYED
            and info.subtype in PLAYED_SUBTYPES
            and info.channels <= 2
            and info.samplerate <= HIGHEST_RATE
        ),
    }
    notes = [str(warning.message).replace(str(path), name) for warning in caught]
    signal = recording.resample(min(recording.rate, HIGHEST_RATE))
    return Recording(signal.signal, signal.rate, name), details, notes


def look(files: list[Named], folder: Path) -> Iterator[dict[str, Any]]:
    """Read recordings: how long they are, how they look, and which cannot be used.

    Parameters
    ----------
    files : list of (str, str, Path)
        The recordings.
    folder : Path
        Where outlines go, and copies of what browsers do not play.

    Yields
    ------
    dict
        The steps; last what is known of each recording: its length, or its "problem".
    """
    make_folder(folder)
    details: dict[str, dict[str, Any]] = {}
    for number, (identifier, name, path) in enumerate(files):
        yield {"progress": number / len(files), "text": f"reading {name}"}
        try:
            recording, found, notes = read_bounded(path, name)
        except (ValueError, OSError, MemoryError) as error:
            details[identifier] = {"problem": str(error) or f"{name} cannot be read"}
            continue
        write_outline(folder, identifier, recording)
        if not found["plays"]:
            recording.save(folder / f"{identifier}.wav")
        details[identifier] = found | ({"note": notes[0]} if notes else {})
    yield {"result": {"details": details}}


def learn(sources: list[Named], targets: list[Named], folder: Path, identifier: str) -> Iterator[dict[str, Any]]:
    """Learn a voice and save it.

    Parameters
    ----------
    sources, targets : list of (str, str, Path)
        Recordings of the two speakers.
    folder : Path
        Where the voice goes.
    identifier : str
        Its name there.

    Yields
    ------
    dict
        The steps; last the voice as the document holds it.
    """
    make_folder(folder)
    yield {"progress": 0.0, "text": "reading the recordings"}
    sides = [[read_bounded(path, name)[0] for _, name, path in side] for side in (sources, targets)]
    voice = VoiceConverter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in voice.fit_steps(*sides):
            yield {"progress": 0.95 * step.progress, "text": step.text}
    yield {"progress": 0.96, "text": "drawing the envelopes of the target"}
    target = [trace(voice.framing_(recording)) for recording in sides[1]]
    weights = [float(each.is_speech.sum()) for each in target]
    mean = np.average([each.mean for each in target], axis=0, weights=weights)
    write_json(folder / f"{identifier}.target.json", mean.round(2).tolist())
    voice.save(folder / f"{identifier}.npz")
    made = {
        "id": identifier,
        "sources": [each[0] for each in sources],
        "targets": [each[0] for each in targets],
        "rate": voice.framing_.rate,
        "frames": len(voice.samples_),
        "seconds": [round(sum(recording.duration for recording in side), 2) for side in sides],
        "pitch": [round(float(np.exp(log)), 1) if np.isfinite(log) else None for log in voice.pitch_[:, 0]],
        "notes": [str(warning.message)[:1000] for warning in caught][:20],
    }
    yield {"result": {"voice": made}}


def convert(
    inputs: list[Named],
    examples: dict[str, str],
    example: str | None,
    voice: str,
    synthesis: str,
    folder: Path,
    cover: Path,
) -> Iterator[dict[str, Any]]:
    """Convert recordings with a learned voice.

    Parameters
    ----------
    inputs : list of (str, str, Path)
        What to convert.
    examples : dict of str to str
        Recordings of the target by name: one of the same name is heard beside the result.
    example : str, optional
        The recording of the target to hear otherwise.
    voice : str
        The learned voice.
    synthesis : {"world", "residual"}
        How sound is made.
    folder : Path
        Where the voice lies and the results go.
    cover : Path
        Where the picture of the project goes.

    Yields
    ------
    dict
        The steps; last the results as the document holds them.
    """
    converter = VoiceConverter.load(folder / f"{voice}.npz")
    target = np.array(json.loads((folder / f"{voice}.target.json").read_bytes()))
    results: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, (identifier, name, path) in enumerate(inputs):
        start, share = number / len(inputs), 1 / len(inputs)
        try:
            recording = read_bounded(path, name)[0]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for step in converter.convert_steps(recording, synthesis=synthesis):  # type: ignore[arg-type]
                    if isinstance(step, Recording):
                        converted = step
                    else:
                        progress = start + 0.9 * share * step.progress
                        yield {"progress": progress, "text": f"{name}: {step.text}"}
        except ValueError as error:  # too short or silent: the others are still worth converting
            problems.append(str(error))
            continue
        yield {"progress": start + 0.9 * share, "text": f"{name}: drawing the envelopes"}
        made = secrets.token_hex(8)
        before, after = (trace(converter.framing_(sound), most=1500) for sound in (recording, converted))
        write_json(folder / f"{made}.envelopes.json", describe_envelopes(before, after, target))
        write_outline(folder, made, converted)
        converted.save(folder / f"{made}.wav")
        result = {
            "id": made,
            "input": identifier,
            "name": name,
            "example": examples.get(name, example),
            "voice": voice,
            "synthesis": synthesis,
            "seconds": round(converted.duration, 3),
            "pitch": [measure_pitch(sound, converter.framing_) for sound in (recording, converted)],
            "distance": [round(float(np.sqrt(np.mean((each.mean - target) ** 2))), 2) for each in (before, after)],
            "notes": [str(warning.message)[:1000] for warning in caught][:20],
        }
        results.append(result)
        draw_cover(cover, outline(recording.signal, 60), outline(converted.signal, 60))
    if not results:
        raise ValueError("; ".join(problems[:3]))
    for problem in problems:
        results[0]["notes"].append(f"skipped: {problem}"[:1000])
    yield {"result": {"results": results}}


def make_demo(folder: Path) -> Iterator[dict[str, Any]]:
    """Make recordings of two synthetic speakers, of different words, and words to convert.

    Parameters
    ----------
    folder : Path
        Where they go until the project takes them.

    Yields
    ------
    dict
        The steps; last role, name and place of each recording.
    """
    from pairup.datasets import make_voices

    make_folder(folder)
    yield {"progress": None, "text": "making two synthetic voices"}
    voices = make_voices(2 * DEMO_WORDS + 2)
    yield {"progress": 0.7, "text": "writing the recordings"}
    files = []
    for role, recordings in (
        ("source", voices.source[:DEMO_WORDS]),
        ("target", voices.target[DEMO_WORDS : 2 * DEMO_WORDS]),
        ("input", voices.source[2 * DEMO_WORDS :]),
    ):
        for recording in recordings:
            path = folder / f"demo-{secrets.token_hex(8)}.wav"
            recording.save(path)
            number, _, letters = recording.name.removeprefix("word ").partition(": ")
            files.append((role, f"word {int(number) + 1} {letters}.wav", str(path)))
    yield {"result": {"files": files}}


def describe_envelopes(before: Envelopes, after: Envelopes, target: Array) -> dict[str, Any]:
    """Return envelopes as a page draws them.

    Parameters
    ----------
    before, after : Envelopes
        Of the recording and of its conversion, which has the same frames.
    target : ndarray of shape (points,)
        The mean envelope of the target.

    Returns
    -------
    dict
        The highest frequency, means in dB, and single frames as bytes: 128 is 0 dB, `scale` is the dB of a step.
    """
    n = min(len(before.frames), len(after.frames))

    def pack(frames: Array) -> str:
        steps = np.clip(np.rint(frames[:n] / RANGE * 127), -127, 127) + 128
        return base64.b64encode(steps.astype(np.uint8).tobytes()).decode()

    return {
        "top": float(before.frequencies[-1]),
        "points": len(before.frequencies),
        "hop": float(before.times[1] - before.times[0]) if n > 1 else 0.005,
        "scale": RANGE / 127,
        "source": before.mean.round(2).tolist(),
        "converted": after.mean.round(2).tolist(),
        "target": target.round(2).tolist(),
        "source_frames": pack(before.frames),
        "converted_frames": pack(after.frames),
        "speech": "".join("1" if is_speech else "0" for is_speech in before.is_speech[:n]),
    }


def measure_pitch(recording: Recording, framing: Framing) -> float | None:
    """Return the median pitch of the first minute of a recording in Hz, or None where hardly any frame has one.

    Parameters
    ----------
    recording : Recording
        The sound.
    framing : Framing
        Where its frames are.

    Returns
    -------
    float or None
        The pitch.
    """
    heard = Recording(recording.signal[: PITCHED * recording.rate], recording.rate, recording.name)
    f0 = estimate_pitch(heard, framing)
    voiced = f0[f0 > 0]
    return round(float(np.median(voiced)), 1) if len(voiced) > 0.05 * len(f0) else None


def write_outline(folder: Path, identifier: str, recording: Recording) -> None:
    """Write the outline of a recording, the loudest part being 100.

    Parameters
    ----------
    folder : Path
        Where.
    identifier : str
        Of the recording.
    recording : Recording
        The sound.
    """
    peaks = outline(recording.signal, PARTS)
    write_json(
        folder / f"{identifier}.outline.json", np.rint(100 * peaks / max(peaks.max(), 1e-9)).astype(int).tolist()
    )


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    data : object
        What JSON holds.
    """
    with replace_file(path) as temporary:
        Path(temporary).write_text(json.dumps(data), encoding="utf-8")


def draw_cover(path: Path, before: Array, after: Array) -> None:
    """Draw the picture of a project: the outline of a recording above that of its conversion.

    Parameters
    ----------
    path : Path
        The JPEG to write.
    before, after : ndarray of shape (parts,)
        The outlines.
    """
    image = require("PIL.Image", extra="album").new("RGB", (480, 360), "#20203a")
    draw = require("PIL.ImageDraw", extra="album").Draw(image)
    for peaks, centre, colour in ((before, 110, "#a5a0ff"), (after, 250, "#5eead4")):
        width = 420 / len(peaks)
        for number, height in enumerate(56 * peaks / max(peaks.max(), 1e-9)):
            left = 30 + number * width
            draw.rounded_rectangle((left, centre - height - 2, left + 0.6 * width, centre + height + 2), 2, colour)
    with replace_file(path) as temporary:
        image.save(temporary, "JPEG", quality=88)
