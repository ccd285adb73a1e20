"""Figures 2 and 3: left and right halves of images, matched by every method at every size on common subsets."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import pairup
from pairup.datasets import Pair, half_images, load_flickr, load_tiles, to_lab
from pairup.kernels import KernelFamily
from pairup.matchers import KSHSIC, KSNOCCO, LSOM
from pairup.measures import HSIC, NOCCO, GaussianMI, Measure
from pairup.metrics import match_accuracy, right_pairs
from pairup.mosaic import mosaic, side_by_side
from pairup.paper.document import encode_jpeg
from pairup.paper.protocol import IMAGE_METHODS, Task
from pairup.paper.runner import Row
from pairup.types import Array, Images, Indices


def load_photos(data: str | None) -> Images:
    """Load 320 pictures.

    Parameters
    ----------
    data : str or None
        Folder of the original data, with the paper's Flickr photos; if None, tiles of photographs that ship with
        dependencies are used.

    Returns
    -------
    images : ndarray of uint8 of shape (320, 40, 40, 3)
        RGB pictures.
    """
    return load_tiles(320) if data is None else load_flickr(Path(data) / "flickr320" / "png40")


@lru_cache(maxsize=1)
def _load_lab(data: str | None) -> Array:
    """Return the 320 pictures in Lab colours."""
    return to_lab(load_photos(data))


def draw_subset(task: Task) -> Indices:
    """Draw which of the 320 pictures a task uses; the same for all methods.

    Parameters
    ----------
    task : Task
        Its size and number of the run decide the draw.

    Returns
    -------
    indices : ndarray of int of shape (task.n,)
        Numbers of the pictures.
    """
    return np.random.default_rng(task.seed).permutation(320)[: task.n]


def draw_problem(task: Task, data: str | None) -> Pair:
    """Return the left and right halves of a task's pictures, the right ones shuffled.

    Parameters
    ----------
    task : Task
        Its size and number of the run decide the draw.
    data : str or None
        Folder of the original data, or None for tiles.

    Returns
    -------
    pair : Pair
        X and Y, Lab colours of the halves, and the true matching.
    """
    return half_images(_load_lab(data)[draw_subset(task)], random_state=task.seed)


def run(task: Task, data: str | None) -> Row:
    """Match one subset by one method.

    Parameters
    ----------
    task : Task
        Its method is a key of IMAGE_METHODS; or its variant is "width c", and its method "KS-HSIC" or "KS-NOCCO".
    data : str or None
        Folder of the original data, or None for tiles.

    Returns
    -------
    result : dict
        Accuracy, the measure found and at the truth, the share of pairs that a search from the truth keeps, iterations;
        at n = 320 also the matched pictures.
    """
    X, Y, truth = draw_problem(task, data)
    if task.variant:
        width = float(task.variant.removeprefix("width "))
        name, parameters = task.method.replace("-", ""), {"width": width}
    else:
        name, parameters = IMAGE_METHODS[task.method]
    row: Row = {}
    if name == "match":
        matching = pairup.match(X, Y)
        indices = matching.indices
        row = {"reliable": bool(matching.reliable), "confidence": float(matching.confidence.mean())}
    else:
        matcher = getattr(pairup, name)(**parameters).fit(X, Y)
        indices = matcher.assignment_
        # LSMI at different settings is not comparable: what LSOM compares is the held-out score.
        is_lsom = isinstance(matcher, LSOM)
        row = {
            "iterations": matcher.n_iter_,
            "value": matcher.best_score_ if is_lsom else matcher.dependence_,
            "value_truth": matcher.held_out_score(X, Y, truth)
            if is_lsom
            else _make_measure(matcher, X, Y).value(truth),
            "kept": match_accuracy(matcher.search_from(X, Y, truth), truth, Y),
        }
    row["accuracy"] = match_accuracy(indices, truth, Y)
    if task.n == 320 and not task.variant and task.method in ("LSOM", "pairup"):
        row["picture"] = _draw_picture(load_photos(data)[draw_subset(task)], indices, truth, Y)
    return row


def _draw_picture(pictures: Images, indices: Indices, truth: Indices, Y: Array) -> str:
    """Return figure 3, the joined halves with wrong pairs framed, as JPEG in base64."""
    middle = pictures.shape[2] // 2
    joined = side_by_side(pictures[:, :, :middle], pictures[np.argsort(truth), :, middle:], indices)
    sheet = mosaic(joined, marked=~right_pairs(indices, truth, Y))
    return encode_jpeg(sheet)


def _make_measure(matcher: Any, X: Array, Y: Array) -> Measure:
    """Return the measure that a matcher of one width maximised."""
    K, L = (KernelFamily(Z).matrix(matcher.width) for Z in (X, Y))
    if isinstance(matcher, KSNOCCO):
        return NOCCO(K, L, epsilon=matcher.epsilon)
    return HSIC(K, L) if isinstance(matcher, KSHSIC) else GaussianMI(K, L, ridge=matcher.ridge)
