"""Figures 4 and 5: the log-spectral distance of unpaired voice conversion against the number of training samples."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from pairup.paper.protocol import Task
from pairup.paper.runner import Row
from pairup.types import Array
from pairup.voice.lsf import envelope, lpc_from_lsf, repair_lsf
from pairup.voice.methods import METHODS
from pairup.voice.splits import ParallelFrames, Setting, align_recordings, draw_split

SHOWN = 3  # test frames whose envelopes are saved for the figure


@lru_cache(maxsize=1)
def load_frames(data: str | None) -> ParallelFrames:
    """Load the frames of two speakers.

    Parameters
    ----------
    data : str or None
        Folder of the original data, with two speakers of AudioMNIST; None for two synthetic voices.

    Returns
    -------
    frames : ParallelFrames
        Frames and their true partners.
    """
    if data is None:
        from pairup.voice.synthetic import make_voices

        source, target = make_voices()
        return align_recordings(source, target)
    folder = Path(data) / "voice" / "audiomnist_48k"
    return align_recordings(folder / "spk01", folder / "spk11", rate=44100)


def run(task: Task, data: str | None) -> Row:
    """Learn a conversion from one split by one method, and score it on the test frames.

    Parameters
    ----------
    task : Task
        Its method is a key of `pairup.voice.methods.METHODS`, its variant the setting of the split.
    data : str or None
        Folder of the original data, or None for synthetic voices.

    Returns
    -------
    result : dict
        Log-spectral distance; of the first run also some true and estimated envelopes.
    """
    setting: Setting = "disjoint" if task.variant == "disjoint" else "shuffled"
    split = draw_split(load_frames(data), task.n, setting=setting, random_state=task.seed)
    convert = METHODS[task.method](split)
    row: Row = {"lsd": split.lsd(convert)}
    if task.run == 0:
        row["envelopes"] = _envelopes_in_decibels(convert(split.test_X[:SHOWN]))
        row["true_envelopes"] = _envelopes_in_decibels(split.test_Y[:SHOWN])
        row["rate"] = split.rate
    return row


def _envelopes_in_decibels(lsf: Array) -> list[list[float]]:
    """Return spectral envelopes of gain 1 in dB."""
    P = envelope(lpc_from_lsf(repair_lsf(lsf)))
    return [[round(float(value), 2) for value in frame] for frame in 10 * np.log10(P)]
