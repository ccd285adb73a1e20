"""Partners of many objects: the most profitable candidates of each, and one partner for each among them."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from pairup.assignment import assign
from pairup.auto.schedule import MULTILEVEL
from pairup.constraints import NO_ANCHORS
from pairup.parallel import run
from pairup.sparse_assignment import assign_sparse
from pairup.types import Float32Array, Indices, Int32Array, SparseArray


def find_candidates(
    A: Float32Array, B: Float32Array, k: int, *, n_jobs: int | None = None
) -> tuple[Int32Array, Float32Array]:
    """Return the k columns of largest profit A Bᵀ for every row.

    Up to some thousand columns all are compared. Beyond, both sets are cut into cells, and the rows of a cell are
    compared with the columns of the cells whose middles have the largest profit.

    Parameters
    ----------
    A : ndarray of float32, shape (n, r)
        Rows.
    B : ndarray of float32, shape (m, r)
        Columns.
    k : int
        How many candidates.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    candidates : ndarray of int32, shape (n, k)
        Columns, in no order.
    profit : ndarray of float32, shape (n, k)
        Their profits.
    """
    k = min(k, len(B))
    candidates = np.empty((len(A), k), dtype=np.int32)
    profit = np.empty((len(A), k), dtype=np.float32)
    if len(B) <= MULTILEVEL.compared:
        parts = [np.arange(first, min(first + MULTILEVEL.rows, len(A))) for first in range(0, len(A), MULTILEVEL.rows)]
        offers: Sequence[Indices | None] = [None] * len(parts)
    else:
        parts, offers = cut_into_cells(A, B)
    tasks = (partial(_best_columns, A, B, rows, columns, k) for rows, columns in zip(parts, offers, strict=True))
    for rows, (chosen, values) in zip(parts, run(tasks, n_jobs=n_jobs), strict=True):
        candidates[rows], profit[rows] = chosen, values
    return candidates, profit


def _best_columns(
    A: Float32Array, B: Float32Array, rows: Indices, columns: Indices | None, k: int
) -> tuple[Int32Array, Float32Array]:
    """Return the k best of some columns for some rows, and their profits."""
    G = A[rows] @ (B if columns is None else B[columns]).T
    best = np.argpartition(G, -k, axis=1)[:, -k:] if k < G.shape[1] else np.broadcast_to(np.arange(k), G.shape)
    values = np.take_along_axis(G, best, axis=1)
    return (best if columns is None else columns[best]).astype(np.int32), values


def cut_into_cells(A: Float32Array, B: Float32Array) -> tuple[list[Indices], list[Indices]]:
    """Cut rows into cells, and choose for each the columns that are compared with it.

    Parameters
    ----------
    A : ndarray of float32, shape (n, r)
        Rows.
    B : ndarray of float32, shape (m, r)
        Columns.

    Returns
    -------
    rows : list of ndarray of int
        The rows of each cell.
    columns : list of ndarray of int
        The columns that are compared with them.
    """
    sizes_of_cells = (A, MULTILEVEL.row_cell), (B, MULTILEVEL.cell)
    (x, of_x), (y, of_y) = (_cells(Z, max(2, round(len(Z) / size))) for Z, size in sizes_of_cells)
    sizes = np.array([len(cell) for cell in of_y])
    parts, offers = [], []
    for middle, rows in zip(x, of_x, strict=True):
        order = np.argsort(-(y @ middle), kind="stable")
        enough = int(np.searchsorted(np.cumsum(sizes[order]), MULTILEVEL.compared_in_cells)) + 1
        columns = np.concatenate([of_y[j] for j in order[:enough]])
        for first in range(0, len(rows), MULTILEVEL.rows):
            parts.append(rows[first : first + MULTILEVEL.rows])
            offers.append(columns)
    return parts, offers


def _cells(Z: Float32Array, k: int) -> tuple[Float32Array, list[Indices]]:
    """Return the middles of k cells, found in a sample, and the rows nearest to each; empty cells are left out."""
    from sklearn.cluster import MiniBatchKMeans

    step = max(1, len(Z) // (MULTILEVEL.cell_sample * k))
    means = MiniBatchKMeans(
        k, n_init=1, max_iter=MULTILEVEL.cell_steps, batch_size=MULTILEVEL.block, random_state=0
    ).fit(Z[::step])
    middles = means.cluster_centers_.astype(np.float32)
    half = (middles**2).sum(axis=1) / 2
    label = np.concatenate(
        [
            (Z[first : first + MULTILEVEL.block] @ middles.T - half).argmax(axis=1)
            for first in range(0, len(Z), MULTILEVEL.block)
        ]
    )
    order = np.argsort(label, kind="stable")
    counts = np.bincount(label, minlength=k)
    cells = np.split(order, np.cumsum(counts)[:-1])
    kept = np.flatnonzero(counts)
    return middles[kept], [cells[j] for j in kept]


def match_all(
    A: Float32Array,
    B: Float32Array,
    *,
    forbidden: tuple[Indices, Indices] = NO_ANCHORS,
    bonus: "SparseArray | None" = None,
    n_jobs: int | None = None,
) -> Indices:
    """Return a one-to-one matching of large profit Σ A_i · B_p(i).

    Objects whose candidates all went to others are matched among themselves, round by round. Where the map is right,
    nearly all find their partner in the first round; where it is wrong, many want the same few.

    Parameters
    ----------
    A : ndarray of float32, shape (n, r)
        Objects of X, carried over.
    B : ndarray of float32, shape (m, r)
        Objects of Y.
    forbidden : tuple of two ndarray of int, default none
        Rows and columns of pairs known to be wrong.
    bonus : csr_array of shape (n, m), optional
        What is added to the profit of some pairs; they are candidates too.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching; −1 where there are more x than y, or no partner is allowed.
    """
    if len(A) > len(B):
        swapped = None if bonus is None else bonus.T.tocsr()
        inverse = match_all(B, A, forbidden=forbidden[::-1], bonus=swapped, n_jobs=n_jobs)
        indices = np.full(len(A), -1, dtype=np.intp)
        indices[inverse[inverse >= 0]] = np.flatnonzero(inverse >= 0)
        return indices
    candidates, profit = find_candidates(A, B, MULTILEVEL.candidates, n_jobs=n_jobs)
    if bonus is not None:
        candidates, profit = add_bonus(A, B, candidates, profit, bonus)
    mask_pairs(candidates, forbidden)
    indices = assign_sparse(candidates, profit, len(B))
    for _ in range(MULTILEVEL.rounds):
        rows, columns = unmatched(indices, len(B))
        if not len(rows) or len(rows) * len(columns) <= MULTILEVEL.dense_leftovers**2:
            break
        candidates, profit = find_candidates(A[rows], B[columns], MULTILEVEL.candidates, n_jobs=n_jobs)
        mask_pairs(candidates, among(forbidden, rows, columns, len(A), len(B)))
        found = assign_sparse(candidates, profit, len(columns))
        indices[rows[found >= 0]] = columns[found[found >= 0]]
    rows, columns = unmatched(indices, len(B))
    size = MULTILEVEL.dense_leftovers
    for first in range(0, len(rows), size):  # one block but for hopeless sets
        part = rows[first : first + size]
        last = first + size >= len(rows)
        rest = columns[first:] if last and len(columns) <= 2 * len(rows) + size else columns[first : first + size]
        scores = (A[part] @ B[rest].T).astype(np.float64)
        wrong = among(forbidden, part, rest, len(A), len(B))
        scores[wrong] = -np.inf
        scores[wrong] = scores[np.isfinite(scores)].min(initial=0.0) - size * np.ptp(scores[np.isfinite(scores)]) - 1.0
        found = assign(scores)
        indices[part] = rest[found]
    is_wrong = np.isin(np.arange(len(A)) * len(B) + indices, forbidden[0] * len(B) + forbidden[1])
    indices[is_wrong] = -1
    return indices


def mask_pairs(candidates: Int32Array, pairs: tuple[Indices, Indices]) -> None:
    """Take pairs out of the candidates, in place.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns that each row may be matched with.
    pairs : tuple of two ndarray of int
        Rows and columns of the pairs.
    """
    rows, columns = pairs
    hit = candidates[rows] == columns[:, None]
    pair, place = np.nonzero(hit)
    candidates[rows[pair], place] = -1


def among(pairs: tuple[Indices, Indices], rows: Indices, columns: Indices, n: int, m: int) -> tuple[Indices, Indices]:
    """Return pairs of some rows and columns, numbered among these.

    Parameters
    ----------
    pairs : tuple of two ndarray of int
        Rows and columns of pairs.
    rows, columns : ndarray of int
        Some rows, and some columns.
    n, m : int
        How many there are in all.

    Returns
    -------
    tuple of two ndarray of int
        The pairs that lie among them.
    """
    if not len(pairs[0]):
        return NO_ANCHORS
    place_x, place_y = np.full(n, -1, dtype=np.intp), np.full(m, -1, dtype=np.intp)
    place_x[rows], place_y[columns] = np.arange(len(rows)), np.arange(len(columns))
    i, j = place_x[pairs[0]], place_y[pairs[1]]
    inside = (i >= 0) & (j >= 0)
    return i[inside], j[inside]


def add_bonus(
    A: Float32Array, B: Float32Array, candidates: Int32Array, profit: Float32Array, bonus: SparseArray
) -> tuple[Int32Array, Float32Array]:
    """Add the pairs of a sparse matrix to the candidates, and its entries to their profits.

    Parameters
    ----------
    A, B : ndarray of float32, shape (n, r) and (m, r)
        Objects, whose profits are A Bᵀ.
    candidates : ndarray of int32, shape (n, k)
        Columns that each row may be matched with.
    profit : ndarray of float32, shape (n, k)
        Their profits.
    bonus : csr_array of shape (n, m)
        What is added.

    Returns
    -------
    tuple of two ndarray
        Candidates and profits, as many more columns as the fullest row of the bonus has entries, up to k.
    """
    counts = np.diff(bonus.indptr)
    k = int(min(counts.max(initial=0), candidates.shape[1]))
    rows = np.repeat(np.arange(len(A)), counts)
    place = np.arange(len(rows)) - np.repeat(bonus.indptr[:-1], counts)
    kept = place < k
    rows, place = rows[kept], place[kept]
    columns, values = bonus.indices[kept], bonus.data[kept].astype(np.float32)
    mask_pairs(candidates, (rows, columns.astype(np.intp)))  # they come back with their bonus
    more = np.full((len(A), k), -1, dtype=np.int32)
    gains = np.zeros((len(A), k), dtype=np.float32)
    more[rows, place] = columns
    gains[rows, place] = np.einsum("ij,ij->i", A[rows], B[columns]) + values
    return np.hstack([candidates, more]), np.hstack([profit, gains])


def unmatched(indices: Indices, m: int) -> tuple[Indices, Indices]:
    """Return the rows and the columns that have no partner.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        A matching, −1 where x has no partner.
    m : int
        The number of y.

    Returns
    -------
    tuple of two ndarray of int
        Numbers of x, and of y.
    """
    free = np.ones(m, dtype=bool)
    free[indices[indices >= 0]] = False
    return np.flatnonzero(indices < 0), np.flatnonzero(free)
