"""Features: what makes two photos similar."""

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairup.album.photos import Photos
from pairup.datasets import to_lab
from pairup.types import Array, Images
from pairup.validation import check_set

WEIGHTS = {"colour": 1.0, "edges": 0.5, "date": 0.0}


def lab_pixels(miniatures: Images) -> Array:
    """Return the Lab values of all pixels of 40 × 40 miniatures, the paper's features.

    >>> lab_pixels(np.zeros((2, 40, 40, 3), dtype=np.uint8)).shape
    (2, 4800)
    """
    return _by_parts(lambda lab: lab, miniatures)


def colour_layout(miniatures: Images) -> Array:
    """Return the mean Lab colours of 8 × 8 fields: where which colours are, whatever the detail."""
    return _by_parts(lambda lab: _fields(lab, 8), miniatures)


def edge_layout(miniatures: Images) -> Array:
    """Return how strong edges of eight directions are in 4 × 4 fields: what is smooth, busy, upright or level."""
    return _by_parts(_edges, miniatures)


def _edges(lab: Array) -> Array:
    down, right = np.gradient(lab[..., 0], axis=(1, 2))
    strength, place = np.hypot(down, right), np.arctan2(down, right) % np.pi * (8 / np.pi)
    lower = np.floor(place)
    upper_share = strength * (place - lower)
    shares = np.zeros((*strength.shape, 8))  # each edge is shared by the two directions it lies between
    first = lower.astype(int)[..., None] % 8
    np.put_along_axis(shares, first, (strength - upper_share)[..., None], axis=-1)
    np.put_along_axis(shares, (first + 1) % 8, upper_share[..., None], axis=-1)
    return np.sqrt(_fields(shares, 4))  # the root tames the strongest edges


def _fields(values: Array, n: int) -> Array:
    """Return the means of n × n fields."""
    size = values.shape[1] // n
    means: Array = values.reshape(len(values), n, size, n, size, -1).mean(axis=(2, 4))
    return means


def _by_parts(function: Callable[[Array], Array], miniatures: Images) -> Array:
    """Apply a function of Lab pictures to some miniatures after the other: all at once would fill the memory."""
    starts = range(0, len(miniatures), 256)
    return np.concatenate([function(to_lab(m)).reshape(len(m), -1) for m in (miniatures[s : s + 256] for s in starts)])


def capture_dates(photos: Photos) -> Array:
    """Return when the photos were taken, as ranks from 0 to 1 in one column; those without a date in the middle."""
    dated = [i for i, photo in enumerate(photos) if photo.taken is not None]
    if not dated:
        raise ValueError("no photo carries its capture date; leave the date out of the features")
    stamps = np.array([photos[i].taken.timestamp() for i in dated])
    ranks = np.full(len(photos), 0.5)
    _, places = np.unique(stamps, return_inverse=True)
    ranks[dated] = places / max(int(places.max()), 1)
    return ranks[:, None]


def combine(parts: Sequence[tuple[Array, float]]) -> Array:
    """Join blocks of features, each scaled so that its variance is the square of its weight.

    >>> combine([(np.array([[0.0], [2.0]]), 1.0), (np.array([[5.0], [1.0]]), 0.5)]).var(axis=0)
    array([1.  , 0.25])
    """
    blocks = []
    for block, weight in parts:
        centred = block - block.mean(axis=0)
        spread = np.sqrt(centred.var(axis=0).sum())
        blocks.append(centred * (weight / spread if spread > 0 else 0.0))
    return np.hstack(blocks)


def photo_features(photos: Photos, weights: Mapping[str, float] | None = None, vectors: Array | None = None) -> Array:
    """Return the features that albums are sorted by: colour layout and edges, and more where asked.

    Parameters
    ----------
    weights : "colour", "edges", "date", "pixels" (the paper's Lab pixels) and "vectors"; those not named keep their
        default, or 0 once "pixels" or `vectors` are given.
    vectors : the user's own features, a row per photo.
    """
    chosen = dict(weights or {})
    if vectors is not None:
        chosen.setdefault("vectors", 1.0)
    own = chosen.get("pixels", 0) > 0 or vectors is not None
    chosen = {**({} if own else WEIGHTS), **chosen}
    known = ("colour", "edges", "pixels", "date", "vectors")
    if set(chosen) - set(known) or min(chosen.values()) < 0:
        raise ValueError(f"weights must be ≥ 0 and named {', '.join(known)}; got {dict(weights or {})}")
    if vectors is None and chosen.get("vectors", 0) > 0:
        raise ValueError("the weight of vectors is set, but no vectors are given; pass them with --features FILE")
    if vectors is not None and len(vectors) != len(photos):
        raise ValueError(f"the vectors have {len(vectors)} rows for {len(photos)} photos; give a row per photo")
    parts = [(_part(name, photos, vectors), weight) for name, weight in chosen.items() if weight > 0]
    if not parts:
        raise ValueError("all weights are 0; give at least one feature a weight")
    return parts[0][0] if len(parts) == 1 else combine(parts)


def _part(name: str, photos: Photos, vectors: Array | None) -> Array:
    if name == "vectors":
        assert vectors is not None
        return vectors
    if name == "date":
        return capture_dates(photos)
    return {"colour": colour_layout, "edges": edge_layout, "pixels": lab_pixels}[name](photos.miniatures)


def read_vectors(path: str | os.PathLike[str], photos: Photos) -> Array:
    """Read the user's own features: ``.npy`` with a row per photo in listing order, or csv keyed by file name.

    The csv holds the photo's name in its first column and numbers in the others; a first line of names is allowed,
    and so are lines of photos that are not in the album.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        vectors = np.load(path, allow_pickle=False)
        if len(vectors) != len(photos):
            raise ValueError(
                f"{path} has {len(vectors)} rows for {len(photos)} photos; it needs a row per photo in listing order "
                f"(skipped files have none), or use a csv keyed by file name"
            )
        return check_set(vectors.reshape(len(vectors), -1), str(path), at_least=1)
    rows: dict[int, NDArray[np.float64]] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, line in enumerate(csv.reader(file), start=1):
            if len(line) < 2:
                continue
            try:
                values = np.array([float(value) for value in line[1:]])
            except ValueError:
                if number == 1:
                    continue
                raise ValueError(f"{path}, line {number}: expected numbers after the name") from None
            try:
                rows[photos.find(line[0])] = values
            except ValueError as error:
                if "are named" in str(error):
                    raise
    lacking = [photo.name for i, photo in enumerate(photos) if i not in rows]
    if lacking:
        raise ValueError(f"{path} has no line for {len(lacking)} of {len(photos)} photos, such as {lacking[0]!r}")
    if len({len(row) for row in rows.values()}) > 1:
        raise ValueError(f"{path} has lines of different length; give every photo the same number of columns")
    return check_set(np.stack([rows[i] for i in range(len(photos))]), str(path), at_least=1)
