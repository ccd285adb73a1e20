"""The protocol of the paper's experiments: methods, sizes, random draws and seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pairup.methods import VOICE_METHODS

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
    "LSOM, literal": ("LSOM", {"nonnegative": False, "select": "start"}),
    "LSOM, one width": ("LSOM", {"select": "start"}),
    "LSOM": ("LSOM", {}),
    "pairup": ("match", {}),
}
"""Name in figures and tables → public name of the package and its parameters."""

TOY_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KS-NOCCO": ("KSNOCCO", {}),
    "LSOM, literal": IMAGE_METHODS["LSOM, literal"],
    "LSOM, one width": IMAGE_METHODS["LSOM, one width"],
    "LSOM, c = √10, λ = 0.1": ("LSOM", {"widths": (ROOT_10,), "lambdas": (0.1,)}),
    "LSOM": IMAGE_METHODS["LSOM"],
    "pairup": IMAGE_METHODS["pairup"],
}
"""The same for the toy."""

ALBUM_METHODS = ("LSOM, literal", "LSOM", "pairup")

REPORTED_VOICE_METHODS = tuple(name for name in VOICE_METHODS if name not in ("mean-variance", "inca-z", "match"))
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
"""Numbers printed in the text: of the LSOM paper, and of Quadrianto et al. All others can only be read off figures."""

EXPERIMENTS = ("toy", "images", "voice", "albums")


@dataclass(frozen=True, order=True)
class Task:
    """One run of one method, with everything that decides its result.

    Parameters
    ----------
    experiment : str
        "toy", "images", "voice" or "albums".
    method : str
        Name of the method in tables.
    n : int
        Number of objects.
    run : int
        Number of the random draw.
    variant : str, default ""
        Kernel width, setting of the split or album, where the experiment has several.

    Examples
    --------
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
        """The task as one string, by which its row is found on disk."""
        return "|".join(map(str, (self.experiment, self.variant, self.method, self.n, self.run)))

    @property
    def seed(self) -> int:
        """Seed of the random draw (subset, split or sample), the same for all methods."""
        words = [*self.experiment.encode(), self.n, self.run]
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary.

        Returns
        -------
        fields : dict
            Name → value.
        """
        return asdict(self)


def plan(experiment: str, *, runs: int, quick: bool = False) -> list[Task]:
    """List the tasks of one experiment, small sizes first.

    Parameters
    ----------
    experiment : {"toy", "images", "voice", "albums"}
        The experiment.
    runs : int
        Number of random draws of each size.
    quick : bool, default False
        Few sizes, at most two draws, and of the albums those of figure 7 alone, for a first look.

    Returns
    -------
    tasks : list of Task
        All runs of all methods.

    Examples
    --------
    >>> [task.key for task in plan("albums", runs=1)][:3]
    ['albums|flickr-grid|LSOM, literal|320|0', 'albums|flickr-grid|LSOM|320|0', 'albums|flickr-grid|pairup|320|0']
    """
    planner = {"toy": _plan_toy, "images": _plan_images, "voice": _plan_voice, "albums": _plan_albums}
    if experiment not in planner:
        raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    return list(planner[experiment](min(runs, 2) if quick else runs, quick))


def _plan_toy(runs: int, _quick: bool) -> Iterator[Task]:
    """Yield the tasks of figure 1."""
    for run in range(runs):
        for method in TOY_METHODS:
            yield Task("toy", method, 100, run)


def _plan_images(runs: int, quick: bool) -> Iterator[Task]:
    """Yield the tasks of figures 2 and 3, and those on the kernel width."""
    sizes: Sequence[int] = (40, 80) if quick else SIZES
    for n in sizes:
        for run in range(1 if n == 320 else runs):  # there are only 320 photos: one subset
            for method in IMAGE_METHODS:
                yield Task("images", method, n, run)
    for run in range(runs):
        for c in SENSITIVITY_WIDTHS:
            for method in ("KS-HSIC", "KS-NOCCO"):
                yield Task("images", method, 40 if quick else SENSITIVITY_SIZE, run, variant=f"width {c:.4g}")


def _plan_voice(runs: int, quick: bool) -> Iterator[Task]:
    """Yield the tasks of figures 4 and 5."""
    for n in TRAINING[:1] if quick else TRAINING:
        for run in range(runs):
            for setting in VOICE_SETTINGS[:1] if quick else VOICE_SETTINGS:
                for method in REPORTED_VOICE_METHODS:
                    yield Task("voice", method, n, run, variant=setting)


def _plan_albums(_runs: int, quick: bool) -> Iterator[Task]:
    """Yield the tasks of figures 6 and 7, one run each; those of figure 7 alone for a first look."""
    for name, (_, n, _) in ALBUMS.items():
        if quick and name.endswith("-grid"):
            continue
        for method in ALBUM_METHODS:
            yield Task("albums", method, n, 0, variant=name)
