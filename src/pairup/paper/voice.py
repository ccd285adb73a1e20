"""Figures 4 and 5: the log-spectral distance of unpaired voice conversion against the number of training samples."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from pairup.paper.protocol import Task
from pairup.paper.runner import Row
from pairup.types import Array
from pairup.voice.lsf import envelope, lpc_from_lsf, repair_lsf
from pairup.voice.score import METHODS, ParallelFrames, Setting, draw_split, parallel_frames

SHOWN = 3  # test frames whose envelopes are kept for the figure


@lru_cache(maxsize=1)
def frames(data: str | None) -> ParallelFrames:
    """Return the frames of two speakers: of AudioMNIST, or of two made voices."""
    if data is None:
        from pairup.voice.synthetic import make_voices

        source, target = make_voices()
        return parallel_frames(source, target)
    folder = Path(data) / "voice" / "audiomnist_48k"
    return parallel_frames(folder / "spk01", folder / "spk11", rate=44100)


def run(task: Task, data: str | None) -> Row:
    """Learn from one split by one method, and convert the test frames."""
    setting: Setting = "disjoint" if task.variant == "disjoint" else "shuffled"
    split = draw_split(frames(data), task.n, setting=setting, random_state=task.seed)
    convert = METHODS[task.method](split)
    row: Row = {"lsd": split.lsd(convert)}
    if task.run == 0:
        row["envelopes"] = _decibels(convert(split.test_X[:SHOWN]))
        row["true_envelopes"] = _decibels(split.test_Y[:SHOWN])
        row["rate"] = split.rate
    return row


def _decibels(lsf: Array) -> list[list[float]]:
    """Return spectral envelopes of gain 1 in dB."""
    P = envelope(lpc_from_lsf(repair_lsf(lsf)))
    return [[round(float(value), 2) for value in frame] for frame in 10 * np.log10(P)]
