"""Start matchings of a search, from leading eigenvectors."""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from pairup.kernels import KernelFamily, center
from pairup.types import Array, Indices

LANCZOS_FROM = 150  # below, a dense eigensolver is quicker


def leading_eigenvectors(K: Array, k: int = 1) -> Array:
    """Return the k eigenvectors of the largest eigenvalues as columns, the largest first.

    The sign of a column is arbitrary but fixed: its entry of largest modulus is positive.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    k : int, default 1
        Number of eigenvectors.

    Returns
    -------
    ndarray of shape (n, k)
        The eigenvectors.

    Examples
    --------
    >>> leading_eigenvectors(np.diag([1.0, 3.0, 2.0])).T
    array([[0., 1., 0.]])
    """
    n = len(K)
    V: Array | None = None
    if n >= LANCZOS_FROM and k <= 3:
        try:
            # A fixed start vector makes ARPACK repeatable; it has no symmetry that could hide an eigenvector.
            w, V = eigsh(K, k=k, which="LA", v0=np.cos(np.arange(n) * 1.7) + 0.1, tol=1e-8)
            V = V[:, np.argsort(-w)]
        except ArpackNoConvergence:
            V = None  # a degenerate spectrum: solve it densely
    if V is None:
        V = linalg.eigh(K, subset_by_index=(n - k, n - 1))[1][:, ::-1]
        if V.shape[1] < k:  # equal eigenvalues can confuse the search for some of them
            V = linalg.eigh(K, driver="evd")[1][:, : -k - 1 : -1]
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(k)])
    V[np.abs(V) < 1e-14] = 0.0
    return V


def sort_match(f: Array, g: Array) -> Indices:
    """Return the matching that sorts f and g alike, the maximum of (fᵀg[p])² for one of the two signs of g (Eq. 6).

    Parameters
    ----------
    f : ndarray of shape (n,)
        One number per object of X.
    g : ndarray of shape (n,)
        One number per object of Y.

    Returns
    -------
    ndarray of shape (n,)
        Indices p such that g[p] has the order of f.

    Examples
    --------
    >>> sort_match(np.array([0.1, 0.3, 0.2]), np.array([5.0, 4.0, 6.0]))
    array([1, 2, 0])
    """
    indices = np.empty(len(f), dtype=np.intp)
    indices[np.argsort(f, kind="stable")] = np.argsort(g, kind="stable")
    return indices


def both_signs(f: Array, g: Array) -> list[Indices]:
    """Return the two matchings of f with g and with −g: the eigenvectors of centred kernels have no sign.

    Parameters
    ----------
    f : ndarray of shape (n,)
        One number per object of X.
    g : ndarray of shape (n,)
        One number per object of Y.

    Returns
    -------
    list of two ndarray of shape (n,)
        The matchings by `sort_match`, of g and of −g.

    Examples
    --------
    >>> both_signs(np.array([0.1, 0.3, 0.2]), np.array([5.0, 4.0, 6.0]))
    [array([1, 2, 0]), array([2, 1, 0])]
    """
    return [sort_match(f, g), sort_match(f, -g)]


def unique(matchings: Iterable[Indices]) -> Iterator[Indices]:
    """Yield matchings without repetitions, in their order.

    Parameters
    ----------
    matchings : iterable of ndarray of shape (n,)
        Matchings, some of which may be equal.

    Yields
    ------
    ndarray of shape (n,)
        Each different matching once.

    Examples
    --------
    >>> list(unique([np.array([0, 1]), np.array([1, 0]), np.array([0, 1])]))
    [array([0, 1]), array([1, 0])]
    """
    seen = set()
    for indices in matchings:
        key = indices.tobytes()
        if key not in seen:
            seen.add(key)
            yield indices


def eigen_starts(x: KernelFamily, y: KernelFamily, n_starts: int) -> list[Indices]:
    """Return the paper's starts: leading eigenvectors of K̄ and L̄ sorted against each other, both signs each.

    The kernels are taken at the widths c = 1^½, 2^½, … times the median. Where neither kernel has a width, the
    second, third, … eigenvectors take the place of further widths. Equal matchings are kept once.

    Parameters
    ----------
    x, y : KernelFamily
        The kernels of X and of Y.
    n_starts : int
        How many widths.

    Returns
    -------
    list of ndarray of int, shape (n,)
        At most 2·n_starts matchings.
    """
    if x.has_width or y.has_width:
        vectors = [
            (leading_eigenvectors(center(x.matrix(c)))[:, 0], leading_eigenvectors(center(y.matrix(c)))[:, 0])
            for c in (number**0.5 for number in range(1, n_starts + 1))
        ]
    else:
        K, L = x.matrix(), y.matrix()
        k = min(n_starts, len(K))
        vectors = list(zip(leading_eigenvectors(center(K), k).T, leading_eigenvectors(center(L), k).T, strict=True))
    return list(unique(start for f, g in vectors for start in both_signs(f, g)))
