"""Message passing for sparse graphs: how likely two nodes correspond, by their surroundings.

In sparse random graphs the surroundings of a node are a tree. The likelihood ratio of two trees that share a part
s of their edges, against unrelated ones, is a sum over partial matchings of their branches,
L = exp(λs)·(1 − s)^(d+e)·Σ Π s·L_ab / (λ(1 − s)²), λ the mean degree, d and e the numbers of branches (Ganassali,
Massoulié and Semerjian; Piccioli, Semerjian, Sicuro and Zdeborová). Messages run between pairs of directed edges.
After each round they are divided by their means over rows and columns: a branch has one partner, and likely partners
compete. Without that, loops make all messages grow.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pairup.compiled import compiled
from pairup.types import Array, Float32Array

MOST_BRANCHES = 6  # of the smaller node, the likeliest, beside the one left out; the sum runs over their subsets
LEAST, MOST = np.exp(-20.0), np.exp(20.0)  # of a message


def cost(A: Any, B: Any) -> float:
    """Return about how many operations a round takes.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (n, n) and (m, m)
        The two graphs.

    Returns
    -------
    float
        The number: Σ_ij max(d_i, e_j)²·s·2^s / 2, s = min(d_i, e_j, MOST_BRANCHES).
    """
    degrees = [np.minimum(np.diff(Z.indptr), 40) for Z in (A, B)]
    d, e = (np.bincount(each, minlength=41) for each in degrees)
    k = np.arange(41.0)
    smaller = np.minimum(np.minimum(k[:, None], k), MOST_BRANCHES)
    work = np.maximum(k[:, None], k) ** 2 * 0.5 * smaller * 2**smaller
    return float(d @ work @ e)


def pass_messages(A: Any, B: Any, *, shared: float, rounds: int, every: int = 3) -> Iterator[Array]:
    """Yield, every few rounds, the log-likelihood ratio of each pair of nodes.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (n, n) and (m, m)
        Two graphs without self-loops; directions and weights are left out.
    shared : float
        Share s of the edges that both graphs have.
    rounds : int
        How often all messages are renewed.
    every : int, default 3
        How many rounds lie between two answers.

    Yields
    ------
    ndarray of shape (n, m)
        The logarithms of the ratios.
    """
    a, b = reverse_edges(A), reverse_edges(B)
    mean_degree = max(0.5 * (A.nnz / A.shape[0] + B.nnz / B.shape[0]), 0.1)
    messages = np.ones((len(a[1]), len(b[1])), dtype=np.float32)
    renewed = np.ones_like(messages)
    ratios = np.zeros((A.shape[0], B.shape[0]))
    for number in range(1, rounds + 1):
        _renew(messages, renewed, *a, *b, mean_degree, shared, ratios, False)
        balance(renewed)
        messages, renewed = renewed, messages
        if number % every == 0:
            _renew(messages, renewed, *a, *b, mean_degree, shared, ratios, True)
            yield ratios.copy()


def balance(messages: Float32Array, *, sweeps: int = 3) -> None:
    """Divide messages, in place, by the means of their rows and columns in turn.

    Parameters
    ----------
    messages : ndarray of float32
        The messages.
    sweeps : int, default 3
        How often.
    """
    for _ in range(sweeps):
        for axis in (1, 0):
            messages /= np.maximum(messages.mean(axis=axis, keepdims=True), 1e-30)


def reverse_edges(A: Any) -> tuple[Any, Any]:
    """Return where the neighbours of each node begin, and for each directed edge the place of its reverse.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        A graph with edges in both directions.

    Returns
    -------
    starts : ndarray of int64, shape (n + 1,)
        The first edge of each node.
    reverse : ndarray of int64, shape (n_entries,)
        The place of the reverse of each edge.

    Examples
    --------
    >>> from scipy import sparse
    >>> reverse_edges(sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])))[1]
    array([2, 3, 0, 1])
    """
    from scipy import sparse

    places = sparse.csr_array((np.arange(1, A.nnz + 1), A.indices, A.indptr), shape=A.shape)
    return A.indptr.astype(np.int64), places.T.tocsr().data.astype(np.int64) - 1


@compiled
def _choose_columns(W: Array, rows: int, columns: int, places: Any) -> int:
    """Number the columns of W that the sums run over, −1 for the others; return how many there are."""
    if columns <= MOST_BRANCHES + 1:
        for b in range(columns):
            places[b] = b
        return columns
    places[:columns] = -1
    for place in range(MOST_BRANCHES + 1):
        best, most = -1, -1.0
        for b in range(columns):
            if places[b] < 0:
                total = 0.0
                for a in range(rows):
                    total += W[a, b]
                if total > most:
                    best, most = b, total
        places[best] = place
    return MOST_BRANCHES + 1


@compiled
def _sum_matchings(V: Array, rows: int, size: int, left_out: int, sums: Array) -> float:
    """Fill `sums` with the sums of products over matchings that cover each subset of columns, one row left out."""
    subsets = 1 << size
    sums[0] = 1.0
    for subset in range(1, subsets):
        sums[subset] = 0.0
    for a in range(rows):
        if a != left_out:
            for subset in range(subsets - 1, 0, -1):
                total = 0.0
                for t in range(size):
                    if subset >> t & 1:
                        total += V[a, t] * sums[subset ^ (1 << t)]
                sums[subset] += total
    result = 0.0
    for subset in range(subsets):
        result += sums[subset]
    return result


@compiled
def _renew(
    messages: Float32Array, renewed: Float32Array, a_starts: Any, a_reverse: Any, b_starts: Any, b_reverse: Any,
    mean_degree: float, shared: float, ratios: Array, final: bool,
) -> None:  # fmt: skip
    """Renew all messages or, at the end, the ratios of all pairs of nodes."""
    most = 0
    for starts in (a_starts, b_starts):
        for i in range(len(starts) - 1):
            most = max(most, starts[i + 1] - starts[i])
    W, V = np.empty((most + 1, most + 1)), np.empty((most + 1, MOST_BRANCHES + 1))
    places, sums = np.empty(most + 1, np.int64), np.empty(1 << (MOST_BRANCHES + 1))
    weight = shared / (mean_degree * (1.0 - shared) ** 2)
    constant, single = mean_degree * shared, np.log(1.0 - shared)
    for i in range(len(a_starts) - 1):
        d = a_starts[i + 1] - a_starts[i]
        for j in range(len(b_starts) - 1):
            e = b_starts[j + 1] - b_starts[j]
            turned = e > d  # subsets are those of the smaller side, the columns
            for a in range(d):
                for b in range(e):
                    value = weight * messages[a_starts[i] + a, b_starts[j] + b]
                    if turned:
                        W[b, a] = value
                    else:
                        W[a, b] = value
            rows, columns = max(d, e), min(d, e)
            size = _choose_columns(W, rows, columns, places)
            for b in range(columns):
                if places[b] >= 0:
                    V[:rows, places[b]] = W[:rows, b]
            if final:
                ratios[i, j] = constant + single * (d + e) + np.log(_sum_matchings(V, rows, size, -1, sums))
                continue
            factor = np.exp(constant + single * (d + e - 2))
            for row in range(rows):
                _sum_matchings(V, rows, size, row, sums)
                for column in range(columns):
                    # The same sums serve all columns: those that leave this one out, or the last where it is not among
                    # them, so that equally many stay.
                    place = places[column] if places[column] >= 0 else size - 1
                    total = 0.0
                    for subset in range(1 << size):
                        if not subset >> place & 1:
                            total += sums[subset]
                    a, b = (column, row) if turned else (row, column)
                    value = min(max(factor * total, LEAST), MOST)
                    renewed[a_reverse[a_starts[i] + a], b_reverse[b_starts[j] + b]] = value
