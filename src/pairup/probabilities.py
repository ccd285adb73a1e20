"""Probabilities of pairs: a dense matrix, or a sparse one of a few likely partners for each object."""

from typing import Any

import numpy as np

from pairup.types import Array, Indices, Probabilities, SparseArray


def is_sparse(P: Any) -> bool:
    """Tell whether a matrix is one of scipy.sparse; nothing is imported for that.

    Parameters
    ----------
    P : object
        A matrix.

    Returns
    -------
    bool
        Whether it is sparse.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array(np.eye(2))), is_sparse(np.eye(2))
    (True, False)
    """
    return hasattr(P, "toarray")


def are_known(P: Probabilities) -> bool:
    """Tell whether there are probabilities at all; methods that have none leave an empty array.

    Parameters
    ----------
    P : ndarray or csr_array of shape (n, m), or empty ndarray
        Probabilities of pairs.

    Returns
    -------
    bool
        Whether they are a matrix.

    Examples
    --------
    >>> are_known(np.eye(2)), are_known(np.empty(0))
    (True, False)
    """
    return bool(P.ndim == 2)


def count_bytes(P: Probabilities) -> int:
    """Return how much memory probabilities take.

    Parameters
    ----------
    P : ndarray or csr_array of shape (n, m), or empty ndarray
        Probabilities of pairs.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> count_bytes(np.eye(2))
    32
    """
    parts = (P.data, P.indices, P.indptr) if is_sparse(P) else (P,)
    return sum(int(part.nbytes) for part in parts)


def canonical(P: Any) -> SparseArray:
    """Return a sparse matrix row by row, each pair once, columns rising, and no zeros; a copy where it is not so yet.

    Parameters
    ----------
    P : sparse array of shape (n, m)
        Any of scipy.sparse.

    Returns
    -------
    csr_array of shape (n, m)
        The same matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> twice = csr_array((np.array([0.5, 0.25, 0.25]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    >>> canonical(twice).data
    array([0.25, 0.75])
    """
    from scipy.sparse import csr_array

    rows: SparseArray = csr_array(P)
    if not rows.has_canonical_format or not np.all(rows.data != 0):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def rank_partners(P: Probabilities, k: int) -> tuple[Indices, Array]:
    """Return the k likeliest partners of each x.

    Parameters
    ----------
    P : ndarray or csr_array of shape (n, m)
        Probabilities of pairs.
    k : int
        How many; no more than m are returned.

    Returns
    -------
    partners : ndarray of int, shape (n, k)
        Rows of Y, the likeliest first, the first of equally likely ones; of sparse probabilities −1 where an x has
        fewer.
    probabilities : ndarray of shape (n, k)
        Their probabilities.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rank_partners(csr_array(np.array([[0.25, 0.0, 0.75], [0.0, 0.5, 0.0]])), 2)[0]
    array([[ 2,  0],
           [ 1, -1]])
    """
    if not is_sparse(P):
        order = np.argsort(-P, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(P, order, axis=1)
    P = canonical(P)
    n, m = P.shape
    k = min(k, m)
    rows = np.repeat(np.arange(n), np.diff(P.indptr))
    order = np.lexsort((P.indices, -P.data, rows))
    places = np.arange(len(rows)) - P.indptr[rows]  # the rows stay where they are: only within them the order changes
    listed = places < k
    partners = np.full((n, k), -1, dtype=np.intp)
    likely: Array = np.zeros((n, k))
    partners[rows[listed], places[listed]] = P.indices[order[listed]]
    likely[rows[listed], places[listed]] = P.data[order[listed]]
    return partners, likely


def average_partners(P: Probabilities, partners: Array) -> Array:
    """Return the mean partner of each x, weighted by the probabilities: Σ_j p_ij y_j / Σ_j p_ij.

    Parameters
    ----------
    P : ndarray or csr_array of shape (n, m)
        Probabilities of pairs.
    partners : ndarray of shape (m, e)
        The possible partners.

    Returns
    -------
    ndarray of shape (n, e)
        The means; NaN where an x has no probable partner at all.

    Examples
    --------
    >>> average_partners(np.array([[0.25, 0.75], [0.0, 0.0]]), np.array([[0.0], [4.0]]))
    array([[ 3.],
           [nan]])
    """
    total = P @ np.ones(P.shape[1])  # sums in double precision, also of single ones
    expected: Array = np.full((P.shape[0], partners.shape[1]), np.nan)
    probable = total > 0
    expected[probable] = (P[probable] @ partners) / total[probable, None]
    return expected


def are_equal(P: Probabilities, Q: Probabilities) -> bool:
    """Tell whether two matrices of probabilities have the same entries, one of them sparse or both or none.

    Parameters
    ----------
    P, Q : ndarray or csr_array of shape (n, m), or empty ndarray
        Probabilities of pairs.

    Returns
    -------
    bool
        Whether they are equal; NaN equals NaN.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> are_equal(np.eye(2), csr_array(np.eye(2))), are_equal(np.eye(2), np.empty(0))
    (True, False)
    """
    if P.shape != Q.shape:
        return False
    if not (is_sparse(P) or is_sparse(Q)):
        return np.array_equal(P, Q, equal_nan=True)
    P, Q = canonical(P), canonical(Q)
    return (
        np.array_equal(P.indptr, Q.indptr)
        and np.array_equal(P.indices, Q.indices)
        and np.array_equal(P.data, Q.data, equal_nan=True)
    )
