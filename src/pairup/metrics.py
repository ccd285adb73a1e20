"""Scores of a matching whose truth is known, of a layout, and of a converted voice."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pairup.kernels import squared_distances
from pairup.memory import check_memory
from pairup.types import Array, BoolArray, Indices

DISTANCES = 2**19  # of a layout, held at once: about ten arrays of 4 MB
FOSCTTM_MATRICES = 4  # dense ones of all objects that are needed at once


def right_pairs(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike | None = None) -> BoolArray:
    """Tell for each object whether its partner is right.

    Parameters
    ----------
    indices : array_like of shape (n,)
        The matching: Y[indices] is aligned with X; −1 where an object has no partner.
    truth : array_like of shape (n,)
        The true matching, in the same form.
    Y : array_like of shape (m, …), optional
        The objects that were matched; if given, a partner equal to the true one counts as right.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the partner is right.

    Examples
    --------
    >>> right_pairs([0, 2, 1], [0, 1, 2])
    array([ True, False, False])
    """
    indices, truth = np.asarray(indices), np.asarray(truth)
    if indices.shape != truth.shape:
        raise ValueError(
            f"indices and truth must have one shape, got {indices.shape} and {truth.shape}; "
            "pass one partner, or -1, per object in both"
        )
    right: BoolArray = indices == truth
    if Y is not None:
        Y = np.asarray(Y).reshape(len(np.asarray(Y)), -1)
        both = (indices >= 0) & (truth >= 0)
        right[both] |= (Y[indices[both]] == Y[truth[both]]).all(axis=1)
    return right


def match_accuracy(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike | None = None) -> float:
    """Return the share of objects whose partner is right.

    Parameters
    ----------
    indices : array_like of shape (n,)
        The matching: Y[indices] is aligned with X; −1 where an object has no partner.
    truth : array_like of shape (n,)
        The true matching, in the same form.
    Y : array_like of shape (m, …), optional
        The objects that were matched; if given, a partner equal to the true one counts as right.

    Returns
    -------
    float
        The share, from 0 to 1.

    Examples
    --------
    >>> match_accuracy([0, 2, 1], [0, 1, 2])
    0.3333333333333333
    >>> match_accuracy([0, 2, 1], [0, 1, 2], Y=[[5.0], [7.0], [7.0]])
    1.0
    """
    return float(right_pairs(indices, truth, Y).mean())


def foscttm(indices: ArrayLike, truth: ArrayLike, Y: ArrayLike) -> float:
    """Return the fraction of samples closer than the true match, in Y's space; 0 is perfect, ½ is chance.

    x_i is sent to its partner ŷ_i = Y[indices[i]]. For each i the score is the share of the other images ŷ_k that lie
    closer to the true partner Y[truth[i]] than ŷ_i does, ties counted half; the mean over i is returned. Objects
    without a partner (−1) are left out.

    Parameters
    ----------
    indices : array_like of shape (n,)
        The matching: Y[indices] is aligned with X; −1 where an object has no partner.
    truth : array_like of shape (n,)
        The true matching, in the same form.
    Y : array_like of shape (m, d)
        The objects that were matched.

    Returns
    -------
    float
        The mean fraction, from 0 to 1.

    Examples
    --------
    >>> foscttm([0, 1, 2], [0, 1, 2], [[0.0], [1.0], [3.0]])
    0.0
    >>> foscttm([0, 0, 0], [0, 1, 2], [[0.0], [1.0], [3.0]])
    0.5
    """
    indices, truth = np.asarray(indices), np.asarray(truth)
    matched = (indices >= 0) & (truth >= 0)
    Y = np.asarray(Y, dtype=np.float64)
    check_memory(len(Y), len(Y), FOSCTTM_MATRICES)
    D: Array = squared_distances(Y)[np.ix_(truth[matched], indices[matched])]  # true partner i against image k
    own = np.diag(D)[:, None]
    scale = 1e-12 * max(float(D.max(initial=0.0)), 1e-300)  # equal images must tie, whatever the rounding
    closer = (D < own - scale).sum(axis=1) + 0.5 * ((np.abs(D - own) <= scale).sum(axis=1) - 1)
    return float((closer / (len(D) - 1)).mean())


def image_foscttm(images: ArrayLike, truth: ArrayLike, Y: ArrayLike) -> float:
    """Return the fraction of samples closer than the true match, for images that need not be objects of Y.

    x_i is sent to a point ŷ_i, such as its expected partner or its translation. For each i the score is the share of
    the other y that lie closer to ŷ_i than the true partner Y[truth[i]] does, ties counted half; the mean over i is
    returned. 0 is perfect, ½ is chance. (`foscttm` looks from the true partner at all images instead.) Means lie closer
    together than the objects they are means of, which this score feels and `foscttm` hardly does.

    Parameters
    ----------
    images : array_like of shape (n, d)
        Where each x is sent; rows with NaN are left out.
    truth : array_like of int, shape (n,)
        The row of Y that is the true partner of each x; −1 where it has none, which is left out.
    Y : array_like of shape (m, d)
        All objects that are compared.

    Returns
    -------
    float
        The mean fraction, from 0 to 1; NaN where nothing is left.

    Examples
    --------
    >>> image_foscttm([[0.1], [0.9]], [0, 1], [[0.0], [1.0], [3.0]])
    0.0
    >>> image_foscttm([[0.5], [0.5]], [0, 1], [[0.0], [1.0], [3.0]])
    0.25
    """
    points, truth, Y = np.asarray(images, dtype=np.float64), np.asarray(truth), np.asarray(Y, dtype=np.float64)
    if points.shape != (len(truth), Y.shape[1]):
        raise ValueError(
            f"images must have one row per object and the columns of Y, ({len(truth)}, {Y.shape[1]}), "
            f"got shape {points.shape}; for a matching use foscttm"
        )
    kept = (truth >= 0) & ~np.isnan(points).any(axis=1)
    if not kept.any() or len(Y) < 2:
        return float("nan")
    check_memory(len(points), len(Y), FOSCTTM_MATRICES)
    D = squared_distances(points[kept], Y)
    own = D[np.arange(len(D)), truth[kept]][:, None]
    scale = 1e-12 * max(float(D.max()), 1e-300)  # equal distances must tie, whatever the rounding
    closer = (D < own - scale).sum(axis=1) + 0.5 * ((np.abs(D - own) <= scale).sum(axis=1) - 1)
    return float((closer / (len(Y) - 1)).mean())


def log_spectral_distance(P: ArrayLike, Q: ArrayLike) -> float:
    """Return the distance of power spectra in dB: the mean over rows of √(mean over ω of (10 log₁₀ P/Q)²).

    Parameters
    ----------
    P : array_like of shape (n, frequencies)
        Power spectra as rows, positive.
    Q : array_like of shape (n, frequencies)
        The spectra they are compared with, positive.

    Returns
    -------
    float
        The distance in dB.

    Examples
    --------
    >>> log_spectral_distance([[1.0, 10.0]], [[10.0, 1.0]])
    10.0
    """
    decibels = 10 * np.log10(np.asarray(P, dtype=np.float64) / np.asarray(Q, dtype=np.float64))
    return float(np.sqrt((decibels**2).mean(axis=1)).mean())


def mel_cepstral_distortion(C: ArrayLike, D: ArrayLike) -> float:
    """Return the mean over rows of (10 / ln 10)·√(2 Σ (c_d − ĉ_d)²) in dB.

    Parameters
    ----------
    C : array_like of shape (n, coefficients)
        Mel cepstra as rows, without c_0, the loudness.
    D : array_like of shape (n, coefficients)
        The cepstra ĉ they are compared with.

    Returns
    -------
    float
        The distortion in dB.

    Examples
    --------
    >>> round(mel_cepstral_distortion([[1.0, 0.0]], [[0.0, 0.0]]), 3)
    6.142
    """
    difference = np.asarray(C, dtype=np.float64) - np.asarray(D, dtype=np.float64)
    return float(10 / np.log(10) * np.sqrt(2 * (difference**2).sum(axis=1)).mean())


def pitch_error(f: ArrayLike, g: ArrayLike) -> float:
    """Return the root mean square of 1200·log₂(f/g) in cents over the frames where both have a pitch.

    Parameters
    ----------
    f : array_like of shape (n,)
        Pitch of each frame in Hz, 0 where it has none.
    g : array_like of shape (n,)
        The pitch it is compared with.

    Returns
    -------
    float
        The error in cents; NaN where no frame has both pitches.

    Examples
    --------
    >>> pitch_error([100.0, 0.0, 200.0], [200.0, 90.0, 100.0])
    1200.0
    """
    f, g = np.asarray(f, dtype=np.float64), np.asarray(g, dtype=np.float64)
    both = (f > 0) & (g > 0)
    if not both.any():
        return float("nan")
    return float(np.sqrt(np.mean((1200 * np.log2(f[both] / g[both])) ** 2)))


def distance_preservation_quality(
    features: ArrayLike,
    positions: ArrayLike,
    *,
    p: float = 16,
    ties: Literal["features", "average"] = "features",
    rows: int | None = None,
) -> float:
    """Return DPQ_p, which says how similar the items at near positions are; 1 is an optimum that no layout reaches.

    D(k) is the mean feature distance of an item to the k items nearest to it in position, averaged over items;
    D_opt(k) that to the k items most similar to it; D̄ the mean distance of two items. With
    gain(k) = max((D̄ − D(k)) / D̄, 0), DPQ_p = ‖gain‖_p / ‖gain_opt‖_p.

    Parameters
    ----------
    features : array_like of shape (n, d)
        Items as rows.
    positions : array_like of shape (n, 2)
        Position of each item, as rows.
    p : float, default 16
        The norm; a larger p gives more weight to the nearest positions.
    ties : {"features", "average"}, default "features"
        Among equally near positions, "features" takes the most similar items first, as published: random layouts then
        score well above 0. "average" takes their mean: random layouts score 0.
    rows : int, optional
        Number of items, evenly spread, to average over, where all n would take too long; None takes all.

    Returns
    -------
    float
        The quality.

    Examples
    --------
    >>> distance_preservation_quality([[0.0], [1.0], [2.0], [3.0]], [[0, 0], [0, 1], [0, 2], [0, 3]])
    1.0
    """
    X, Z, chosen = _layout(features, positions, rows)
    k = np.arange(1, len(X))
    found, best, total = np.zeros(len(k)), np.zeros(len(k)), 0.0
    for part in np.array_split(chosen, -(-len(chosen) * len(X) // DISTANCES)):
        D, F = _without_self(X, part), _without_self(Z, part)
        F = np.round(F / max(float(F.max()), 1e-300), 9)  # equally near, whatever the rounding
        total += float(D.sum())
        best += (np.cumsum(np.sort(D, axis=1), axis=1) / k).sum(axis=0)
        by_place = np.lexsort((D, F), axis=1)
        D, F = np.take_along_axis(D, by_place, axis=1), np.take_along_axis(F, by_place, axis=1)
        if ties == "average":
            D = _tied_means(D, F)
        found += (np.cumsum(D, axis=1) / k).sum(axis=0)
    mean = total / (len(chosen) * len(k))
    gains = [np.linalg.norm(np.maximum(mean - d / len(chosen), 0), p) for d in (found, best)]
    return float(gains[0] / gains[1]) if gains[1] > 0 else 1.0


def neighbour_preservation(features: ArrayLike, positions: ArrayLike, k: int = 8, *, rows: int | None = None) -> float:
    """Return the mean share of the k most similar items that lie among the k nearest positions.

    Equally near positions count in expectation, as if the tie were broken by chance.

    Parameters
    ----------
    features : array_like of shape (n, d)
        Items as rows.
    positions : array_like of shape (n, 2)
        Position of each item, as rows.
    k : int, default 8
        Number of neighbours.
    rows : int, optional
        Number of items, evenly spread, to average over, where all n would take too long; None takes all.

    Returns
    -------
    float
        The share, from 0 to 1.

    Examples
    --------
    >>> neighbour_preservation([[0.0], [1.0], [2.0], [3.0]], [[0, 0], [0, 1], [0, 2], [0, 3]], k=1)
    0.75
    """
    X, Z, chosen = _layout(features, positions, rows)
    k = min(k, len(X) - 1)
    kept = 0.0
    for part in np.array_split(chosen, -(-len(chosen) * len(X) // DISTANCES)):
        D, F = _without_self(X, part), _without_self(Z, part)
        F = np.round(F / max(float(F.max()), 1e-300), 9)
        similar = np.argsort(D, axis=1, kind="stable")[:, :k]
        border = np.sort(F, axis=1)[:, k - 1 : k]
        inside, tied = F < border, border == F
        share = inside + tied * ((k - inside.sum(axis=1)) / tied.sum(axis=1))[:, None]
        kept += float(np.take_along_axis(share, similar, axis=1).sum())
    return kept / (k * len(chosen))


def neighbour_likeness(features: ArrayLike, positions: ArrayLike, *, rows: int | None = None) -> float:
    """Compute how many times nearer neighbours of a layout are to each other than in a random order.

    The mean distance ‖x_i − x_j‖ over all pairs, which is what neighbours of a random order have on average, over the
    mean distance of pairs on neighbouring positions: those at the smallest distance that occurs, within 1 %.

    Parameters
    ----------
    features : array_like of shape (n, d)
        Items as rows.
    positions : array_like of shape (n, 2)
        The position of each item.
    rows : int, optional
        Items among which the mean over all pairs is taken, drawn at random from a fixed seed; all by default.

    Returns
    -------
    float
        1 for random orders, more where neighbours are alike; infinity where they are equal and others differ.

    Examples
    --------
    >>> neighbour_likeness([[0.0], [1.0], [2.0]], [[0, 0], [0, 1], [0, 2]])
    1.3333333333333333
    """
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import pdist

    X, P = np.asarray(features, dtype=np.float64), np.asarray(positions, dtype=np.float64)
    if len(X) != len(P) or len(X) < 2:
        raise ValueError(f"expected two items at least and a position for each, got {len(X)} items, {len(P)} positions")
    tree = cKDTree(P)
    nearest = float(np.asarray(tree.query(P, 2)[0])[:, 1].min())
    pairs = tree.query_pairs(1.01 * nearest, output_type="ndarray")
    together = float(np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1).mean())
    part = X if rows is None or rows >= len(X) else np.random.default_rng(0).choice(X, max(rows, 2), replace=False)
    everywhere = float(pdist(part).mean())
    if together == 0:
        return 1.0 if everywhere == 0 else float("inf")
    return everywhere / together


def _layout(features: ArrayLike, positions: ArrayLike, rows: int | None) -> tuple[Array, Array, Indices]:
    """Return features and positions as float64 matrices, and the rows to average over."""
    X, Z = np.asarray(features, dtype=np.float64), np.asarray(positions, dtype=np.float64)
    if len(X) != len(Z) or len(X) < 2:
        raise ValueError(
            f"expected as many positions as items, at least 2, got {len(Z)} positions and {len(X)} items; "
            "pass one row of features and one row of positions per item"
        )
    n = len(X) if rows is None else min(rows, len(X))
    return X.reshape(len(X), -1), Z, np.linspace(0, len(X) - 1, n).astype(np.intp)


def _without_self(X: Array, part: Indices) -> Array:
    """Return the distances from some rows to all other rows."""
    others = np.arange(len(X)) != part[:, None]
    centred = X - X[part].mean(axis=0)  # keeps the expansion accurate far from the origin
    norms = (centred**2).sum(axis=1)
    # As `squared_distances`, but without scikit-learn: an album that shows its quality need not load it.
    D: Array = -2 * centred[part] @ centred.T
    D += norms[part, None]
    D += norms
    distances: Array = np.sqrt(np.maximum(D, 0))[others].reshape(len(part), len(X) - 1)
    return distances


def _tied_means(D: Array, F: Array) -> Array:
    """Replace, in rows sorted by F, the values of D by their mean over equal F."""
    starts = np.ones(F.shape, dtype=bool)
    starts[:, 1:] = F[:, 1:] > F[:, :-1]
    group = np.cumsum(starts.ravel()) - 1
    means: Array = (np.bincount(group, D.ravel()) / np.bincount(group))[group].reshape(D.shape)
    return means
