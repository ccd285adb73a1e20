"""Features: the numbers by which photos are compared."""

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairup.album.photos import Photos
from pairup.archives import NUMPY_DAMAGE, read_array
from pairup.colours import to_lab
from pairup.types import Array, Images
from pairup.validation import check_set

WEIGHTS = {"colour": 1.0, "edges": 0.5, "date": 0.0}
COLOUR_FIELDS, EDGE_FIELDS, DIRECTIONS = 8, 4, 8  # fields along each side of a miniature; directions of edges
AT_ONCE = 256  # miniatures converted to Lab at the same time


def lab_pixels(miniatures: Images) -> Array:
    """Compute the Lab values of all pixels, the paper's features.

    Parameters
    ----------
    miniatures : ndarray of uint8, shape (n, 40, 40, 3)
        Pictures in RGB.

    Returns
    -------
    ndarray of shape (n, 4800)
        Features as rows.

    Examples
    --------
    >>> lab_pixels(np.zeros((2, 40, 40, 3), dtype=np.uint8)).shape
    (2, 4800)
    """
    return _map_lab(lambda lab: lab, miniatures)


def colour_layout(miniatures: Images) -> Array:
    """Compute the mean Lab colours of 8 × 8 fields: which colours are where, without detail.

    Parameters
    ----------
    miniatures : ndarray of uint8, shape (n, 40, 40, 3)
        Pictures in RGB.

    Returns
    -------
    ndarray of shape (n, 192)
        Features as rows.

    Examples
    --------
    >>> colour_layout(np.zeros((2, 40, 40, 3), dtype=np.uint8)).shape
    (2, 192)
    """
    return _map_lab(lambda lab: _average_fields(lab, COLOUR_FIELDS), miniatures)


def edge_layout(miniatures: Images) -> Array:
    """Compute the strength of edges of eight directions in 4 × 4 fields: smooth, textured, vertical, horizontal.

    Parameters
    ----------
    miniatures : ndarray of uint8, shape (n, 40, 40, 3)
        Pictures in RGB.

    Returns
    -------
    ndarray of shape (n, 128)
        Features as rows.

    Examples
    --------
    >>> edge_layout(np.zeros((2, 40, 40, 3), dtype=np.uint8)).shape
    (2, 128)
    """
    return _map_lab(_measure_edges, miniatures)


def _measure_edges(lab: Array) -> Array:
    """Return a histogram of gradient directions for each field, weighted by strength."""
    down, right = np.gradient(lab[..., 0], axis=(1, 2))
    strength, place = np.hypot(down, right), np.arctan2(down, right) % np.pi * (DIRECTIONS / np.pi)
    lower = np.floor(place)
    upper_share = strength * (place - lower)
    shares = np.zeros((*strength.shape, DIRECTIONS))  # an edge counts for the two directions it lies between
    first = lower.astype(int)[..., None] % DIRECTIONS
    np.put_along_axis(shares, first, (strength - upper_share)[..., None], axis=-1)
    np.put_along_axis(shares, (first + 1) % DIRECTIONS, upper_share[..., None], axis=-1)
    return np.sqrt(_average_fields(shares, EDGE_FIELDS))  # the root keeps the strongest edges from dominating


def _average_fields(values: Array, n: int) -> Array:
    """Return the means of n × n fields."""
    size = values.shape[1] // n
    means: Array = values.reshape(len(values), n, size, n, size, -1).mean(axis=(2, 4))
    return means


def _map_lab(function: Callable[[Array], Array], miniatures: Images) -> Array:
    """Apply a function to miniatures in Lab, some at a time: all at once would need too much memory."""
    parts = [miniatures[start : start + AT_ONCE] for start in range(0, len(miniatures), AT_ONCE)]
    return np.concatenate([function(to_lab(part)).reshape(len(part), -1) for part in parts])


def capture_dates(photos: Photos) -> Array:
    """Return when the photos were taken, as ranks from 0 to 1.

    Parameters
    ----------
    photos : Photos
        At least one with a date.

    Returns
    -------
    ndarray of shape (n, 1)
        The ranks; 0.5 for photos without a date.
    """
    dated = [i for i, photo in enumerate(photos) if photo.taken is not None]
    if not dated:
        raise ValueError("no photo carries its capture date; leave the date out of the features")
    stamps = np.array([photos[i].taken.timestamp() for i in dated])
    ranks = np.full(len(photos), 0.5)
    _, places = np.unique(stamps, return_inverse=True)
    ranks[dated] = places / max(int(places.max()), 1)
    return ranks[:, None]


def combine(parts: Sequence[tuple[Array, float]]) -> Array:
    """Join blocks of features, each centred and scaled so that its total variance is the square of its weight.

    Parameters
    ----------
    parts : sequence of (ndarray of shape (n, d), float)
        Blocks of features and their weights.

    Returns
    -------
    ndarray of shape (n, sum of all d)
        The joint features as rows.

    Examples
    --------
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
    """Compute the features that albums are sorted by: by default colour layout and edges.

    Parameters
    ----------
    photos : Photos
        The photos.
    weights : mapping of str to float, optional
        Weights of "colour" (or "color"), "edges", "date", "pixels" (the paper's Lab pixels) and "vectors". Those not
        named keep their default (colour 1, edges 0.5), or get 0 if "pixels" or `vectors` are given.
    vectors : ndarray of shape (n, d), optional
        Your own features, a row per photo.

    Returns
    -------
    ndarray of shape (n, k)
        Features as rows.

    Examples
    --------
    >>> photo_features(Photos.from_arrays(np.zeros((3, 8, 8, 3), dtype=np.uint8))).shape
    (3, 320)
    """
    chosen = {"colour" if name == "color" else name: weight for name, weight in (weights or {}).items()}
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
    parts = [(_compute_part(name, photos, vectors), weight) for name, weight in chosen.items() if weight > 0]
    if not parts:
        raise ValueError("all weights are 0; give at least one feature a weight")
    return parts[0][0] if len(parts) == 1 else combine(parts)


def _compute_part(name: str, photos: Photos, vectors: Array | None) -> Array:
    """Compute one block of features by its name."""
    if name == "vectors":
        assert vectors is not None
        return vectors
    if name == "date":
        return capture_dates(photos)
    return {"colour": colour_layout, "edges": edge_layout, "pixels": lab_pixels}[name](photos.miniatures)


def read_vectors(path: str | os.PathLike[str], photos: Photos) -> Array:
    """Read features of photos from a file.

    Parameters
    ----------
    path : path
        A ``.npy`` with a row per photo in listing order, or a csv with the photo's name in its first column and
        numbers in the others. The csv may begin with a line of column names, and have lines for other photos.
    photos : Photos
        The photos.

    Returns
    -------
    ndarray of shape (n, d)
        Features as rows, in listing order.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        try:
            vectors = read_array(path)
        except NUMPY_DAMAGE as error:
            raise ValueError(f"{path} cannot be read as an array ({error}); save it again with numpy.save") from error
        if vectors.ndim == 0:
            raise ValueError(f"{path} holds a single number; it needs a row per photo")
        if len(vectors) != len(photos):
            raise ValueError(
                f"{path} has {len(vectors)} rows for {len(photos)} photos; it needs a row per photo in listing order "
                f"(skipped files have none), or use a csv keyed by file name"
            )
        return check_set(vectors.reshape(len(vectors), -1), str(path), at_least=1)
    rows: dict[int, NDArray[np.float64]] = {}
    with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:  # as csv albums are written
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
