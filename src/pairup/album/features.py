"""Features: the numbers by which photos are compared."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from pairup.album.photos import Photos
from pairup.colours import to_lab
from pairup.parallel import run
from pairup.types import Array, Float32Array, Images

WEIGHTS = {"colour": 1.0, "edges": 0.5, "date": 0.0}
COLOUR_FIELDS, EDGE_FIELDS, DIRECTIONS = 8, 4, 8  # fields along each side of a miniature; directions of edges
AT_ONCE = 64  # miniatures converted to Lab at the same time: 30 MB on each core
MANY = 20_000  # photos from which on features are reduced to their principal components
DIMENSIONS = 64  # of them: more than the sorting compares means by


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
    return _map_lab("pixels", miniatures)


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
    return _map_lab("colour", miniatures)


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
    return _map_lab("edges", miniatures)


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


def _measure_colours(lab: Array) -> Array:
    """Return the mean colours of fields."""
    return _average_fields(lab, COLOUR_FIELDS)


PARTS: dict[str, Callable[[Array], Array]] = {
    "colour": _measure_colours,
    "edges": _measure_edges,
    "pixels": np.asarray,
}


def _map_lab(name: str, miniatures: Images) -> Array:
    """Compute a feature of miniatures, some at a time: all at once would need too much memory."""
    parts = [miniatures[start : start + AT_ONCE] for start in range(0, len(miniatures), AT_ONCE)]
    return np.concatenate([_measure(part, (name,))[0] for part in parts])


def _measure(miniatures: Images, names: Sequence[str]) -> list[Array]:
    """Compute features of some miniatures."""
    lab = to_lab(miniatures)
    return [PARTS[name](lab).reshape(len(lab), -1) for name in names]


def _measure_block(miniatures: Images, names: Sequence[str], kind: type) -> list[Array]:
    """Compute features of some miniatures as numbers of a kind: one task."""
    return [part.astype(kind, copy=False) for part in _measure(miniatures, names)]


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
    found = [(i, taken) for i, taken in enumerate(photos.taken) if taken is not None]
    if not found:
        raise ValueError("no photo carries its capture date; leave the date out of the features")
    dated, stamps = [i for i, _ in found], np.array([taken.timestamp() for _, taken in found])
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
    joined = np.empty((len(parts[0][0]), sum(block.shape[1] for block, _ in parts)), dtype=parts[0][0].dtype)
    start = 0
    for block, weight in parts:  # into its columns at once: a copy of all would take as much again
        columns = joined[:, start : start + block.shape[1]]
        np.subtract(block, block.mean(axis=0), out=columns)
        spread = np.sqrt(columns.var(axis=0).sum())
        columns *= weight / spread if spread > 0 else 0.0
        start += block.shape[1]
    return joined


def compress(X: Array | Float32Array, dimensions: int = DIMENSIONS) -> Array:
    """Reduce many features to their principal components, without a copy of all in double precision.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features as rows.
    dimensions : int, default 64
        How many components are kept at most.

    Returns
    -------
    ndarray of shape (n, at most `dimensions`)
        The components of largest variance.

    Examples
    --------
    >>> X = np.array([[0.0, 0, 1], [3, 4, 1], [6, 8, 1]])
    >>> compress(X, 1).ravel().round(6).tolist() in ([-5.0, 0.0, 5.0], [5.0, 0.0, -5.0])
    True
    """
    from scipy.linalg import eigh

    rows = [slice(start, start + 4096) for start in range(0, len(X), 4096)]
    mean = X.mean(axis=0, dtype=np.float64)
    gram = sum((X[part] - mean).T @ (X[part] - mean) for part in rows)
    first = max(X.shape[1] - dimensions, 0)
    axes = eigh(gram, subset_by_index=(first, X.shape[1] - 1))[1][:, ::-1]
    return np.concatenate([(X[part] - mean) @ axes for part in rows])


def photo_features(photos: Photos, weights: Mapping[str, float] | None = None, vectors: Array | None = None) -> Array:
    """Compute the features that albums are sorted by: by default colour layout and edges.

    Parameters
    ----------
    photos : Photos
        The photos.
    weights : mapping of str to float, optional
        Weights of "colour" (or "color"), "edges", "date", "pixels" (the paper's Lab pixels) and "vectors". Those not
        named keep their default (colour 1, edges 0.5), or get 0 if "pixels" or `vectors` are given. More than 20,000
        photos are compared by 64 principal components.
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
    used = {name: weight for name, weight in chosen.items() if weight > 0}
    if not used:
        raise ValueError("all weights are 0; give at least one feature a weight")
    found = _compute_parts(photos, tuple(used), vectors)
    joined = found[0] if len(found) == 1 else combine(list(zip(found, used.values(), strict=True)))
    return compress(joined) if len(photos) > MANY and joined.shape[1] > DIMENSIONS else joined


def _compute_parts(photos: Photos, names: Sequence[str], vectors: Array | None) -> list[Array]:
    """Compute blocks of features by their names, those of pictures on all cores."""
    own: dict[str, Array] = {}
    if "vectors" in names and vectors is not None:
        own["vectors"] = vectors
    if "date" in names:
        own["date"] = capture_dates(photos)
    drawn = [name for name in names if name in PARTS]
    if drawn:
        kind = np.float32 if len(photos) > MANY else np.float64  # half the memory; they are compressed next
        # Miniatures are read when a task is near its turn, so that few are in memory.
        tasks = (partial(_measure_block, block.miniatures, drawn, kind) for block in photos.blocks(AT_ONCE))
        found = list(run(tasks, n_jobs=-1))
        own |= {name: np.concatenate([part[i] for part in found]) for i, name in enumerate(drawn)}
    return [own[name] for name in names]
