"""How well voices are converted: log-spectral distance by the paper's protocol, and scores of whole recordings."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pairup.methods import check_method
from pairup.metrics import mel_cepstral_distortion, pitch_error
from pairup.voice.alignment import align
from pairup.voice.audio import Recording, Recordings
from pairup.voice.converter import VoiceConverter
from pairup.voice.frames import Framing
from pairup.voice.methods import METHODS
from pairup.voice.splits import ParallelFrames, Setting, draw_split, pair_sentences
from pairup.voice.synthesis import estimate_pitch


def score_frames(
    frames: ParallelFrames,
    *,
    train: Sequence[int] = (50, 100, 200),
    splits: int = 20,
    methods: Iterable[str] = tuple(METHODS),
    setting: Setting = "shuffled",
    test: int = 8000,
    random_state: int = 0,
) -> Iterator[dict[str, Any]]:
    """Score methods on random splits by the log-spectral distance of the converted test frames.

    Parameters
    ----------
    frames : ParallelFrames
        Both voices.
    train : sequence of int, default (50, 100, 200)
        Numbers of training frames.
    splits : int, default 20
        Number of random splits; all methods see the same splits.
    methods : iterable of str, default all
        Names of `pairup.voice.methods.METHODS`.
    setting : {"shuffled", "disjoint"}, default "shuffled"
        Whether the training frames of the two voices come from the same sentences.
    test : int, default 8000
        Largest number of test frames.
    random_state : int, default 0
        Seed of the splits.

    Yields
    ------
    row : dict
        {setting, method, n, split, lsd} for every number of training frames, split and method.
    """
    chosen = [check_method(method, METHODS) for method in methods]
    for n in train:
        for number in range(splits):
            split = draw_split(frames, n, setting=setting, test=test, random_state=[random_state, number])
            for method in chosen:
                lsd = split.lsd(METHODS[method](split))
                yield {"setting": setting, "method": method, "n": n, "split": number, "lsd": lsd}


def summarize(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Summarize the log-spectral distances of every setting, number of training frames and method.

    Parameters
    ----------
    rows : iterable of dict
        Rows as `score_frames` yields them.

    Returns
    -------
    summary : list of dict
        {setting, n, method, splits, mean, std, worst}; worst is the largest distance.

    Examples
    --------
    >>> summarize([{"setting": "shuffled", "method": "inca", "n": 50, "split": k, "lsd": 4.0 + k} for k in (0, 2)])
    [{'setting': 'shuffled', 'n': 50, 'method': 'inca', 'splits': 2, 'mean': 5.0, 'std': 1.0, 'worst': 6.0}]
    """
    groups: dict[tuple[str, int, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row["setting"], row["n"], row["method"]), []).append(row["lsd"])
    return [
        {
            "setting": setting,
            "n": n,
            "method": method,
            "splits": len(values),
            "mean": float(np.mean(values)),
            "std": float(np.std(values)),
            "worst": max(values),
        }
        for (setting, n, method), values in groups.items()
    ]


def score_voice(
    voice: VoiceConverter,
    source: Recordings,
    target: Recordings,
    *,
    synthesis: Literal["world", "residual"] = "world",
) -> Iterator[dict[str, Any]]:
    """Score a fitted converter on whole recordings of sentences that both speakers recorded.

    The converted sound is analysed again, so that the synthesis counts too.

    Parameters
    ----------
    voice : VoiceConverter
        A fitted converter.
    source, target : str, path or Recording, or an iterable of them
        The same sentences by both speakers, under the same file names.
    synthesis : {"world", "residual"}, default "world"
        As in `VoiceConverter.convert`.

    Yields
    ------
    row : dict
        {name, mcd_before, mcd, pitch_before, pitch} for every sentence: mel-cepstral distortion to the target in dB
        and pitch error in cents, before and after conversion.
    """
    for spoken, wanted in pair_sentences(source, target):
        converted = voice.convert(spoken, synthesis=synthesis)
        row: dict[str, Any] = {"name": Path(spoken.name).stem}
        for suffix, recording in (("_before", spoken), ("", converted)):
            mcd, cents = compare(recording, wanted, voice.framing_)
            row |= {f"mcd{suffix}": mcd, f"pitch{suffix}": cents}
        yield row


def compare(recording: Recording, wanted: Recording, framing: Framing) -> tuple[float, float]:
    """Compare two recordings of one sentence along the time warping of their speech frames.

    Parameters
    ----------
    recording, wanted : Recording
        What is scored, and the target's own recording.
    framing : Framing
        How both are cut into frames.

    Returns
    -------
    mcd : float
        Mel-cepstral distortion in dB.
    cents : float
        Pitch error in cents.
    """
    cepstra, pitches = [], []
    for each in (recording, wanted):
        frames, f0 = framing(each), estimate_pitch(each, framing)
        n = min(len(frames), len(f0))
        speech = frames[:n].is_speech
        cepstra.append(frames[:n][speech].mel_cepstrum)
        pitches.append(f0[:n][speech])
    i, j = align(*cepstra).T
    return mel_cepstral_distortion(cepstra[0][i], cepstra[1][j]), pitch_error(pitches[0][i], pitches[1][j])
