"""Figures 2 and 3: half images, matched by every method at every size on common subsets."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import pairup
from pairup.datasets import Pair, half_images, load_flickr, load_tiles, to_lab
from pairup.kernels import KernelFamily
from pairup.measures import HSIC, NOCCO, GaussianMI, Measure
from pairup.metrics import match_accuracy, right_pairs
from pairup.mosaic import mosaic, side_by_side
from pairup.paper.document import jpeg
from pairup.paper.protocol import IMAGE_METHODS, Task
from pairup.paper.runner import Row
from pairup.types import Array, Images, Indices


def photos(data: str | None) -> Images:
    """Return 320 pictures: the paper's Flickr photos, or tiles of the photographs that ship with dependencies."""
    return load_tiles(320) if data is None else load_flickr(Path(data) / "flickr320" / "png40")


@lru_cache(maxsize=1)
def _lab(data: str | None) -> Array:
    return to_lab(photos(data))


def subset(task: Task) -> Any:
    """Return which of the 320 pictures a task uses."""
    return np.random.default_rng(task.seed).permutation(320)[: task.n]


def problem(task: Task, data: str | None) -> Pair:
    """Return the halves of the task's pictures, the right ones shuffled."""
    return half_images(_lab(data)[subset(task)], random_state=task.seed)


def run(task: Task, data: str | None) -> Row:
    """Match one subset by one method."""
    X, Y, truth = problem(task, data)
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
        measure = _measure(name, matcher, KernelFamily(X), KernelFamily(Y))
        row = {
            "iterations": matcher.n_iter_,
            "value": matcher.dependence_,
            "value_truth": None if measure is None else measure.value(truth),
        }
    row["accuracy"] = match_accuracy(indices, truth, Y)
    if task.n == 320 and task.method in ("LSOM", "pairup"):
        row["picture"] = _picture(photos(data)[subset(task)], indices, truth, Y)
    return row


def _picture(pictures: Images, indices: Indices, truth: Indices, Y: Array) -> str:
    """Return figure 3, the joined halves with wrong ones framed, as JPEG in base64."""
    middle = pictures.shape[2] // 2
    joined = side_by_side(pictures[:, :, :middle], pictures[np.argsort(truth), :, middle:], indices)
    sheet = mosaic(joined, marked=~right_pairs(indices, truth, Y))
    return jpeg(sheet)


def _measure(name: str, matcher: Any, x: KernelFamily, y: KernelFamily) -> Measure | None:
    """Return the measure a matcher maximised, to compare its value at the truth with what was found."""
    if name == "LSOM":  # its setting changes from start to start
        return None
    K, L = x.matrix(matcher.width), y.matrix(matcher.width)
    if name == "KSNOCCO":
        return NOCCO(K, L, epsilon=matcher.epsilon)
    return HSIC(K, L) if name == "KSHSIC" else GaussianMI(K, L, ridge=matcher.ridge)
