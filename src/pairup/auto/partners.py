"""Partners of many objects: one for each among its most profitable candidates."""

from collections.abc import Iterator

import numpy as np

from pairup.assignment import assign
from pairup.auto.candidates import find_candidates
from pairup.auto.schedule import MULTILEVEL
from pairup.constraints import NO_ANCHORS
from pairup.sparse_assignment import assign_sparse
from pairup.storage import take_rows
from pairup.types import Float32Array, Indices, Int32Array, SparseArray


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
    A, B = part_copies(A), part_copies(B)
    candidates, profit = find_candidates(A, B, MULTILEVEL.candidates, n_jobs=n_jobs)
    if bonus is not None:
        candidates, profit = add_bonus(A, B, candidates, profit, bonus)
    mask_pairs(candidates, forbidden)
    indices = assign_sparse(candidates, profit, len(B))
    for number in range(1, MULTILEVEL.rounds + 1):
        rows, columns = unmatched(indices, len(B))
        if not len(rows) or len(rows) * len(columns) <= MULTILEVEL.dense_leftovers**2:
            break
        k = int(np.clip(MULTILEVEL.leftover_candidates // len(rows), 1, 2**number)) * MULTILEVEL.candidates
        candidates, profit = find_candidates(A[rows], B[columns], k, n_jobs=n_jobs)
        mask_pairs(candidates, among(forbidden, rows, columns, len(A), len(B)))
        found = assign_sparse(candidates, profit, len(columns))
        indices[rows[found >= 0]] = columns[found[found >= 0]]
    rows, columns = unmatched(indices, len(B))
    for part, rest in pair_leftovers(A, B, rows, columns):
        scores = (A[part] @ B[rest].T).astype(np.float64)
        wrong = among(forbidden, part, rest, len(A), len(B))
        scores[wrong] = -np.inf
        allowed = scores[np.isfinite(scores)]
        scores[wrong] = allowed.min(initial=0.0) - len(part) * np.ptp(allowed) - 1.0
        found = assign(scores)
        indices[part] = rest[found]
    is_wrong = np.isin(np.arange(len(A)) * len(B) + indices, forbidden[0] * len(B) + forbidden[1])
    indices[is_wrong] = -1
    return indices


def part_copies(Z: Float32Array) -> Float32Array:
    """Move rows that many others are equal to a little apart, so that not all of them want the same few partners.

    Parameters
    ----------
    Z : ndarray of float32, shape (n, r)
        Objects; the last two entries of each hold lengths.

    Returns
    -------
    ndarray of float32, shape (n, r)
        The objects; the same array where no row is there more often than an object has candidates.
    """
    rng = np.random.default_rng(len(Z))
    sums = Z @ np.asarray(rng.normal(size=Z.shape[1]), dtype=np.float32)
    _, group, counts = np.unique(sums, return_inverse=True, return_counts=True)
    copies = np.flatnonzero(counts[group] > MULTILEVEL.candidates)
    if not len(copies):
        return Z
    Z = take_rows(Z, np.arange(len(Z)))
    apart = np.float32(MULTILEVEL.apart) * Z[:, :-2].std(axis=0)
    Z[copies, :-2] += apart * np.asarray(rng.normal(size=(len(copies), Z.shape[1] - 2)), dtype=np.float32)
    return Z


def pair_leftovers(
    A: Float32Array, B: Float32Array, rows: Indices, columns: Indices
) -> Iterator[tuple[Indices, Indices]]:
    """Yield parts of the rows and columns that are left, each to be matched by all pairs; one but for hopeless sets.

    Parameters
    ----------
    A, B : ndarray of float32, shape (n, r) and (m, r)
        Objects.
    rows, columns : ndarray of int
        Those without a partner, no more rows than columns.

    Yields
    ------
    tuple of two ndarray of int
        Rows, and at least as many columns.
    """
    if len(rows) * len(columns) <= 2 * MULTILEVEL.dense_leftovers**2:
        if len(rows):
            yield rows, columns
        return
    rows, columns = rows[np.argsort(A[rows, 0], kind="stable")], columns[np.argsort(B[columns, 0], kind="stable")]
    few = len(rows) <= MULTILEVEL.few_left * len(A)
    size = MULTILEVEL.part_of_few if few else MULTILEVEL.hopeless
    ends = np.linspace(0, len(rows), -(-len(rows) // size) + 1).astype(np.intp)
    places = np.linspace(0, len(columns) - len(rows), len(ends) - 1).astype(np.intp)
    for first, last, shift in zip(ends[:-1], ends[1:], places, strict=True):
        yield rows[first:last], columns[first + shift : last + shift]


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
