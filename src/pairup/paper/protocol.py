"""The experiments of the paper as data: what is run, how often, on what."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

ROOT_10 = 10**0.5
SIZES = tuple(range(40, 321, 40))  # figure 2: the number of images
TRAINING = (50, 100, 200)  # figure 5: the number of training samples
SENSITIVITY_WIDTHS = (0.5, 1.0, 2.0, ROOT_10, 5.0, 10.0)
SENSITIVITY_SIZE = 160

IMAGE_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KS-MI": ("KSMI", {}),
    "KS-HSIC, c = 1": ("KSHSIC", {"width": 1.0}),
    "KS-HSIC, c = √10": ("KSHSIC", {"width": ROOT_10}),
    "KS-NOCCO, c = 1, ε = 0.01": ("KSNOCCO", {"width": 1.0, "epsilon": 0.01}),
    "KS-NOCCO, c = 1, ε = 0.05": ("KSNOCCO", {"width": 1.0, "epsilon": 0.05}),
    "KS-NOCCO, c = √10, ε = 0.01": ("KSNOCCO", {"width": ROOT_10, "epsilon": 0.01}),
    "KS-NOCCO, c = √10, ε = 0.05": ("KSNOCCO", {"width": ROOT_10, "epsilon": 0.05}),
    "LSOM": ("LSOM", {}),
    "pairup": ("match", {}),
}
"""Name in figures and tables → public name of the package and its parameters."""

VOICE_METHODS = ("identity", "random", "z-score", "inca", "ks-hsic", "ks-nocco", "lsom", "default", "oracle")
VOICE_SETTINGS = ("shuffled", "disjoint")

ALBUMS: dict[str, tuple[str, int, str]] = {
    "flickr-grid": ("flickr", 320, "16x20"),
    "frey-grid": ("frey", 225, "15x15"),
    "usps-grid": ("usps", 320, "16x20"),
    "flickr-mountain": ("flickr", 120, "mountain"),
    "frey-smiley": ("frey", 153, "smiley"),
    "usps-777": ("usps", 199, "777"),
}
"""Figures 6 and 7: name → pictures, how many, and the frame."""

PUBLISHED = {("images", "LSOM", 320): 234 / 320, ("images", "KS-HSIC, original configuration", 320): 140 / 320}
"""What is printed in words: the LSOM paper's matched halves, and Quadrianto et al.'s. Its curves are pictures only."""

EXPERIMENTS = ("toy", "images", "voice", "albums")


@dataclass(frozen=True, order=True)
class Task:
    """One run of one method: everything that decides its result, and so its key.

    >>> Task("images", "LSOM", 40, 3).seed == Task("images", "KS-MI", 40, 3).seed  # methods share subsets
    True
    """

    experiment: str
    method: str
    n: int
    run: int
    variant: str = ""

    @property
    def key(self) -> str:
        """The task as one string."""
        return "|".join(map(str, (self.experiment, self.variant, self.method, self.n, self.run)))

    @property
    def seed(self) -> int:
        """The seed of the draw: of the subset, the split, the sample; the same for all methods."""
        words = [*self.experiment.encode(), self.n, self.run]
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


def plan(experiment: str, *, runs: int, quick: bool = False) -> list[Task]:
    """Return the tasks of one experiment, cheap ones first.

    Parameters
    ----------
    experiment : "toy", "images", "voice" or "albums".
    runs : how many random draws of each size.
    quick : take few sizes and draws, for a first look.
    """
    planner = {"toy": _toy, "images": _images, "voice": _voice, "albums": _albums}
    if experiment not in planner:
        raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    return list(planner[experiment](min(runs, 2) if quick else runs, quick))


def _toy(runs: int, quick: bool) -> Iterator[Task]:
    for run in range(runs):
        for method in ("KS-NOCCO", "LSOM", "pairup"):
            yield Task("toy", method, 100, run)


def _images(runs: int, quick: bool) -> Iterator[Task]:
    sizes: Sequence[int] = (40, 80) if quick else SIZES
    for n in sizes:
        for run in range(1 if n == 320 else runs):  # of 320 photos there is one set only
            for method in IMAGE_METHODS:
                yield Task("images", method, n, run)
    for run in range(runs):
        for c in SENSITIVITY_WIDTHS:
            for method in ("KS-HSIC", "KS-NOCCO"):
                yield Task("images", method, 40 if quick else SENSITIVITY_SIZE, run, variant=f"width {c:.4g}")


def _voice(runs: int, quick: bool) -> Iterator[Task]:
    for n in TRAINING[:1] if quick else TRAINING:
        for run in range(runs):
            for setting in VOICE_SETTINGS[:1] if quick else VOICE_SETTINGS:
                for method in VOICE_METHODS:
                    yield Task("voice", method, n, run, variant=setting)


def _albums(runs: int, quick: bool) -> Iterator[Task]:
    for name, (_, n, _) in ALBUMS.items():
        for method in ("LSOM", "pairup"):
            yield Task("albums", method, n, 0, variant=name)
