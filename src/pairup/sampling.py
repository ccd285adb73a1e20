"""Samples of a set: some objects chosen to represent all."""

from collections.abc import Sequence

import numpy as np

from pairup.kernels import rescale
from pairup.types import Array, Indices

SAMPLED_PER_LANDMARK = 10  # objects among which a landmark is chosen
REFINEMENTS = 3  # rounds in which each representative moves to the middle of its group


def farthest_first(X: Array, k: int, first: Sequence[int] = ()) -> Indices:
    """Choose k distinct objects, each the farthest from those chosen before it (farthest-first traversal).

    The largest distance of an object to the nearest chosen one is at most twice the smallest possible
    (Gonzalez, 1985).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects as rows.
    k : int
        How many to choose, at most n.
    first : sequence of int, default ()
        Objects to begin with; the one nearest to the mean if there are none.

    Returns
    -------
    ndarray of shape (k,)
        Row numbers, in the order of choice.

    Examples
    --------
    >>> farthest_first(np.array([[0.0], [1.0], [4.0], [10.0]]), 3).tolist()
    [2, 3, 0]
    """
    least = max(len(first), 1)
    if not least <= k <= len(X):
        raise ValueError(f"k must lie between {least} and {len(X)}, the number of rows, got {k}")
    X = X - X.mean(axis=0)
    norms = (X**2).sum(axis=1)
    chosen = list(first) or [int(norms.argmin())]
    nearest = _squared_distances(X, norms, chosen).min(axis=1)
    nearest[chosen] = -np.inf
    while len(chosen) < k:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, _squared_distances(X, norms, chosen[-1:])[:, 0])
        nearest[chosen] = -np.inf  # duplicates: no object is chosen twice
    return np.array(chosen, dtype=np.intp)


def representatives(X: Array, k: int, first: Sequence[int] = ()) -> Indices:
    """Choose k different objects that represent the others: farthest-first traversal, refined as in k-medoids.

    Every object belongs to its nearest representative. Three times, each representative is replaced by the object
    nearest to the mean of its group.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects as rows.
    k : int
        How many to choose, at most n.
    first : sequence of int, default ()
        Objects that must be among them.

    Returns
    -------
    ndarray of shape (k,)
        Row numbers, ascending.

    Examples
    --------
    >>> representatives(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2).tolist()
    [1, 4]
    """
    chosen = farthest_first(X, k, first)
    X = X - X.mean(axis=0)
    norms = (X**2).sum(axis=1)
    for _ in range(REFINEMENTS):
        group = _squared_distances(X, norms, chosen).argmin(axis=1)
        group[chosen] = np.arange(k)  # a duplicate of another representative keeps a group of its own
        sums = np.zeros((k, X.shape[1]))
        np.add.at(sums, group, X)
        means = sums / np.bincount(group, minlength=k)[:, None]
        to_mean = ((X - means[group]) ** 2).sum(axis=1)
        ranked = np.lexsort((to_mean, group))
        middle = ranked[np.searchsorted(group[ranked], np.arange(k))]
        chosen[len(first) :] = middle[len(first) :]
    return np.sort(chosen)


def draw_rows(n: int, k: int, seed: int = 0) -> Indices:
    """Draw k of n rows at random, the same ones each time.

    Parameters
    ----------
    n : int
        How many rows there are.
    k : int
        How many to draw; all where there are no more.
    seed : int, default 0
        Which draw.

    Returns
    -------
    ndarray of int, shape (min(k, n),)
        Row numbers, ascending.

    Examples
    --------
    >>> draw_rows(3, 5).tolist(), len(draw_rows(1000, 5))
    ([0, 1, 2], 5)
    """
    if k >= n:
        return np.arange(n, dtype=np.intp)
    return np.sort(np.random.default_rng(seed).choice(n, k, replace=False)).astype(np.intp)


def choose_landmarks(X: Array, rows: Indices, k: int) -> Indices:
    """Choose k of some rows of a set of any size: the `representatives` of a random sample of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects as rows.
    rows : ndarray of int
        The rows to choose from.
    k : int
        How many to choose; all where there are no more.

    Returns
    -------
    ndarray of int, shape (min(k, len(rows)),)
        Places in `rows`, ascending.

    Examples
    --------
    >>> X = np.array([[0.0], [9.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> choose_landmarks(X, np.array([0, 2, 3, 4, 5, 6]), 2).tolist()
    [1, 4]
    """
    sample = draw_rows(len(rows), SAMPLED_PER_LANDMARK * k)
    if k >= len(sample):
        return sample
    return sample[representatives(rescale(np.asarray(X[rows[sample]], dtype=np.float64)), k)]


def _squared_distances(X: Array, norms: Array, chosen: Sequence[int] | Indices) -> Array:
    """Return ‖x_i − x_j‖² of all rows i and the chosen rows j; `norms` are the squared lengths of all rows."""
    D: Array = norms[:, None] - 2 * X @ X[chosen].T + (X[chosen] ** 2).sum(axis=1)
    return D
