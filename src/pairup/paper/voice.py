"""Figure 4: the log-spectral distance of unpaired voice conversion against the number of training samples."""

from functools import lru_cache
from pathlib import Path

from pairup.paper.protocol import Task
from pairup.paper.runner import Row
from pairup.voice.score import METHODS, ParallelFrames, Setting, draw_split, parallel_frames


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
    return {"lsd": split.lsd(METHODS[task.method](split))}
