"""Probabilities of pairs of many objects: each half of the pairs is predicted by the map of the other half."""

from functools import partial

import numpy as np
from scipy.special import expit

from pairup.auto.candidates import find_candidates
from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.distinctness import lower_claims
from pairup.auto.schedule import CALIBRATION, MULTILEVEL
from pairup.kernels import squared_distances
from pairup.parallel import run, run_here
from pairup.storage import take_rows
from pairup.types import Array, Float32Array, Indices, Int32Array, SparseArray


def predict_pairs(
    U: Float32Array, V: Float32Array, indices: Indices, rank: int, *, n_jobs: int | None = None
) -> tuple[Int32Array, Float32Array, Array, Array]:
    """Return candidates of every x and their profits, by the map of pairs that x has no part in.

    Parameters
    ----------
    U, V : ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions of both sets.
    indices : ndarray of int, shape (n,)
        The matching.
    rank : int
        How many eigenfunctions take part.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    candidates : ndarray of int32, shape (n, k + 1)
        The partner of x, −1 if it has none, and its other candidates.
    profit : ndarray of float32, shape (n, k + 1)
        Logarithms of density ratios.
    others : ndarray of shape (n, q)
        The logarithm of the weight that all other y have together, for each sharpness: Σ_j exp(sharpness·profit), as a
        sample of them tells.
    reach : ndarray of shape (n,)
        The largest profit that any y could have.
    """
    k = min(MULTILEVEL.posterior, len(V))
    candidates = np.empty((len(U), k + 1), dtype=np.int32)
    profit = np.empty((len(U), k + 1), dtype=np.float32)
    rest, reach = np.empty((len(U), len(MULTILEVEL.sharpnesses))), np.empty(len(U))
    sample = np.linspace(0, len(V) - 1, min(len(V), MULTILEVEL.posterior_sample)).astype(np.intp)
    fold = np.zeros(len(U), dtype=np.intp)
    fold[np.flatnonzero(indices >= 0)[1::2]] = 1
    for held in (0, 1):
        rows = np.flatnonzero(fold == held)
        fitted = np.where(fold == held, -1, indices)
        variates = CanonicalVariates.fit(U, V, fitted, rank, n_jobs=n_jobs)
        A, B = variates.images(take_rows(U, rows), V, n_jobs=n_jobs)
        found, values = find_candidates(A, B, k, n_jobs=n_jobs)
        parts = [slice(first, first + MULTILEVEL.block) for first in range(0, len(rows), MULTILEVEL.block)]
        tasks = (partial(_rest, np.array(A[part]), B[sample], found[part], sample, len(V)) for part in parts)
        for part, weights in zip(parts, run(tasks, n_jobs=n_jobs), strict=True):
            rest[rows[part]] = weights
        own = indices[rows]
        found[found == own[:, None]] = -1  # the partner stands in the first column
        candidates[rows, 0], candidates[rows, 1:] = own, found
        profit[rows, 1:] = values
        for part in parts:
            profit[rows[part], 0] = np.einsum("ij,ij->i", A[part], B[own[part]])
            reach[rows[part]] = variates.largest_profit(A[part])
    return candidates, profit, rest, reach


def _rest(A: Float32Array, B: Float32Array, found: Int32Array, sample: Indices, m: int) -> Array:
    """Return the logarithm of the weight of all y that are no candidates, for each sharpness."""
    G = (A @ B.T).astype(np.float64)
    for column in found.T:  # candidates have weights of their own
        G[column[:, None] == sample] = -np.inf
    top = np.where(np.isfinite(G.max(axis=1)), G.max(axis=1), 0.0)
    sums = [np.exp(s * (G - top[:, None])).sum(axis=1) * (m / len(sample)) for s in MULTILEVEL.sharpnesses]
    weights: Array = np.stack([s * top for s in MULTILEVEL.sharpnesses], axis=1) + np.log(
        np.stack(sums, axis=1) + 1e-300
    )
    return weights


def pair_probabilities(
    candidates: Int32Array, profit: Float32Array, others: Array, m: int, *, n_jobs: int | None = None
) -> Array:
    """Return how likely each candidate is, rows and columns balanced, as sharp as held-out pairs allow.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        The partner of each x in the first column, then other candidates; −1 stands for none.
    profit : ndarray of float32, shape (n, k)
        Logarithms of density ratios.
    others : ndarray of shape (n, q)
        Logarithms of the weight of all other y, for each sharpness.
    m : int
        The number of y.
    n_jobs : int, optional
        How many threads of this process take part, as in joblib.

    Returns
    -------
    ndarray of shape (n, k)
        Probabilities; no row or column sums to more than 1.
    """
    matched = candidates[:, 0] >= 0

    def balance(sharpness: float, rest: Array) -> Array:
        return balance_candidates(candidates, sharpness * profit.astype(np.float64), rest, m)

    def judge(sharpness: float, rest: Array) -> float:
        """Return how likely partners are: what is said of them is what held-out pairs confirm or deny."""
        likely = balance(sharpness, rest)[matched, 0]
        return float(np.log(np.maximum(likely, MULTILEVEL.least_share / m)).mean()) if len(likely) else 0.0

    tasks = [partial(judge, *each) for each in zip(MULTILEVEL.sharpnesses, others.T, strict=True)]
    best = int(np.argmax(run_here(tasks, n_jobs=n_jobs)))
    return balance(MULTILEVEL.sharpnesses[best], others[:, best])


def balance_candidates(candidates: Int32Array, logits: Array, rest: Array, m: int) -> Array:
    """Return exp(logits) in proportion to all weights of a row, scaled until no column sums to more than 1.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns of each row, −1 for none.
    logits : ndarray of shape (n, k)
        Logarithms of their weights.
    rest : ndarray of shape (n,)
        The logarithm of the weight of all other columns of each row.
    m : int
        The number of columns.

    Returns
    -------
    ndarray of shape (n, k)
        Probabilities.
    """
    is_there = candidates >= 0
    logits = np.where(is_there, logits, -np.inf)
    top = np.maximum(logits.max(axis=1), rest)
    weights, left = np.exp(logits - top[:, None]), np.exp(rest - top)
    columns = np.where(is_there, candidates, 0)
    likely = weights / (weights.sum(axis=1) + left)[:, None]
    for _ in range(MULTILEVEL.balancings):
        sums = np.bincount(columns.ravel(), likely.ravel(), minlength=m)
        if sums.max() <= 1.0 + 1e-6:
            break
        weights = weights / np.maximum(sums, 1.0)[columns]
        likely = weights / (weights.sum(axis=1) + left)[:, None]
    kept: Array = likely / np.maximum(np.bincount(columns.ravel(), likely.ravel(), minlength=m), 1.0)[columns]
    return kept


def calibrate_pairs(candidates: Int32Array, likely: Array, evidence: Array, m: int, kept: float = 1.0) -> Array:
    """Return probabilities of pairs given what is known of the whole matching, by logistic regression.

    Probabilities by the map of one half of the pairs are too low where the map of all is better, and too high where the
    matching is wrong as a whole. What is taken from partners, their rivals lose or gain.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        The partner of each x in the first column, then other candidates; −1 stands for none.
    likely : ndarray of shape (n, k)
        Their probabilities by the map of the other half.
    evidence : ndarray of shape (2,)
        What speaks for the matching as a whole.
    m : int
        The number of y.
    kept : float, default 1.0
        The share of the claims to keep.

    Returns
    -------
    ndarray of shape (n, k)
        Probabilities; no row or column sums to more than 1.
    """
    own = np.clip(likely[:, 0], CALIBRATION.least_of_many, 1.0 - CALIBRATION.least_of_many)
    there = candidates[:, 0] >= 0
    mean = float(own[there].mean()) if there.any() else 0.0
    bound = float(np.array(CALIBRATION.evidence_of_many) @ evidence) + CALIBRATION.mean_of_many * mean
    log_odds = np.log(own / (1.0 - own))
    fitted = CALIBRATION.intercept_of_many + bound + mean * CALIBRATION.log_odds_of_many * log_odds
    # However good the whole is, copies of one object stay what they are.
    given = np.where(there, expit(np.minimum(fitted, log_odds + CALIBRATION.most_gain_of_many)), 0.0)
    given[there] = lower_claims(given[there], kept)
    factor = np.where(given > own, (1.0 - given) / (1.0 - own), given / own)
    calibrated = likely * factor[:, None]
    calibrated[:, 0] = given
    columns = np.where(candidates >= 0, candidates, 0)
    calibrated = np.where(candidates >= 0, calibrated, 0.0)
    calibrated /= np.maximum(calibrated.sum(axis=1, keepdims=True), 1.0)
    sums = np.bincount(columns.ravel(), calibrated.ravel(), minlength=m)
    balanced: Array = calibrated / np.maximum(sums, 1.0)[columns]
    return balanced


def expected_nearness(Y: Array, candidates: Int32Array, likely: Array) -> float:
    """Return the expected share of the y nearer to the true partner than the found one is, the median of x.

    What probabilities leave lies anywhere, half of the y nearer. So the mean would tell of few lost pairs alone.

    Parameters
    ----------
    Y : ndarray of shape (m, d)
        The second table; distances are those of standardized columns.
    candidates : ndarray of int32, shape (n, k)
        The partner of each x in the first column, then other candidates; −1 stands for none.
    likely : ndarray of shape (n, k)
        Probabilities.

    Returns
    -------
    float
        0 where all partners are the true ones, ½ by chance.
    """
    matched = np.flatnonzero(candidates[:, 0] >= 0)
    if not len(matched):
        return 0.5
    rows = matched[np.linspace(0, len(matched) - 1, min(len(matched), MULTILEVEL.compared_pairs)).astype(np.intp)]
    some = np.linspace(0, len(Y) - 1, min(len(Y), MULTILEVEL.sample)).astype(np.intp)
    others = np.asarray(Y[some], dtype=np.float64)
    unit = np.maximum(others.std(axis=0), 1e-300)
    others = others / unit
    expected = np.zeros(len(rows))
    for k, i in enumerate(rows):
        there = (candidates[i] >= 0) & (likely[i] > 0)
        there[0] = True
        points = np.asarray(Y[candidates[i, there]], dtype=np.float64) / unit
        apart = ((points - points[0]) ** 2).sum(axis=1)
        nearer = (squared_distances(points, others) < apart[:, None] * (1 - 1e-9)).mean(axis=1)
        shares = likely[i, there]
        expected[k] = shares @ nearer + 0.5 * max(0.0, 1.0 - float(shares.sum()))
    return float(np.median(expected))


def as_sparse(candidates: Int32Array, likely: Array, m: int) -> SparseArray:
    """Return probabilities of candidates as a sparse matrix.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns of each row, −1 for none.
    likely : ndarray of shape (n, k)
        Their probabilities.
    m : int
        The number of columns.

    Returns
    -------
    csr_array of shape (n, m)
        The matrix; its rows are sorted.
    """
    from scipy.sparse import csr_array

    kept = (candidates >= 0) & (likely > 0)
    rows, places = np.nonzero(kept)
    matrix = csr_array((likely[rows, places], (rows, candidates[rows, places])), shape=(len(candidates), m))
    matrix.sort_indices()
    return matrix


def impose_anchors(candidates: Int32Array, likely: Array, anchors: tuple[Indices, Indices]) -> Array:
    """Return probabilities in which known pairs have 1, and whatever contradicts them 0.

    Parameters
    ----------
    candidates : ndarray of int32, shape (n, k)
        Columns of each row, the partner first; known pairs are partners.
    likely : ndarray of shape (n, k)
        Their probabilities.
    anchors : tuple of two ndarray of int
        Rows and columns of the known pairs.

    Returns
    -------
    ndarray of shape (n, k)
        The probabilities.
    """
    rows, columns = anchors
    likely = np.where(np.isin(candidates, columns), 0.0, likely)
    likely[rows] = 0.0
    likely[rows, 0] = 1.0
    return likely
