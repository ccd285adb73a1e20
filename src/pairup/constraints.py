"""What every matching keeps to: the sizes of the sets, known pairs, how many pairs there are, and a prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from pairup.assignment import assign
from pairup.kernels import rescale
from pairup.types import Array, Float32Array, Indices
from pairup.validation import check_set

FORBIDDEN = -60.0  # exp of it is nothing beside exp(0), and float32 still holds its inverse
NO_ANCHORS = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Constraints:
    """What a plan or a matching has to keep to.

    Parameters
    ----------
    n, m : int
        How many objects X and Y have.
    n_pairs : int
        How many pairs to form, at most min(n, m).
    anchors : tuple of two ndarray of int, shape (n_anchors,), default none
        Known pairs, as the indices of their x and of their y.
    prior : ndarray of float32, shape (n, m), optional
        Scores of all pairs, larger where a pair is likelier: at most 1 in modulus, times the weight of the prior.
    """

    n: int
    m: int
    n_pairs: int
    anchors: tuple[Indices, Indices] = NO_ANCHORS
    prior: Float32Array | None = None

    @property
    def is_permutation(self) -> bool:
        """Whether every object has a partner."""
        return self.n == self.m == self.n_pairs

    @property
    def largest(self) -> int:
        """The size of the larger set."""
        return max(self.n, self.m)

    @property
    def smallest(self) -> int:
        """The size of the smaller set."""
        return min(self.n, self.m)

    def mask_anchors(self, profit: Float32Array) -> None:
        """Forbid, in place, every pair that competes with a known one."""
        rows, columns = self.anchors
        if len(rows):
            profit[rows, :] = FORBIDDEN
            profit[:, columns] = FORBIDDEN
            profit[rows, columns] = 0.0

    def impose_anchors(self, indices: Indices) -> Indices:
        """Put the known pairs into a matching.

        An x that loses its partner to a known pair gets the partner that this pair gives up.

        Parameters
        ----------
        indices : ndarray of int, shape (n,)
            A matching.

        Returns
        -------
        ndarray of int, shape (n,)
            The matching with the known pairs.

        Examples
        --------
        >>> known = np.array([0]), np.array([2])
        >>> Constraints(3, 3, 3, known).impose_anchors(np.array([0, 1, 2]))
        array([2, 1, 0])
        """
        imposed = indices.copy()
        for i, j in zip(*self.anchors, strict=True):
            imposed[imposed == j] = imposed[i]
            imposed[i] = j
        return imposed

    def uniform(self) -> Float32Array:
        """Return the plan that knows nothing but the anchors."""
        rows, columns = self.anchors
        plan = np.full((self.n, self.m), self.n_pairs / (self.n * self.m), dtype=np.float32)
        plan[rows, :] = 0.0
        plan[:, columns] = 0.0
        plan[rows, columns] = 1.0
        return plan

    def hard(self, indices: Indices) -> Float32Array:
        """Return a matching as a plan of zeros and ones."""
        plan = np.zeros((self.n, self.m), dtype=np.float32)
        matched = np.flatnonzero(indices >= 0)
        plan[matched, indices[matched]] = 1.0
        return plan

    def warm_start(self, indices: Indices, *, trust: float = 0.5) -> Float32Array:
        """Return a plan between the uniform one and a matching.

        Parameters
        ----------
        indices : ndarray of int, shape (n,)
            The matching.
        trust : float, default 0.5
            How far to go towards it, from 0 to 1.

        Returns
        -------
        ndarray of float32, shape (n, m)
            The plan.
        """
        plan: Float32Array = np.float32(1.0 - trust) * self.uniform() + np.float32(trust) * self.hard(indices)
        return plan

    def round(self, plan: Array | Float32Array) -> Indices:
        """Return the matching of largest total plan that keeps to the constraints.

        Parameters
        ----------
        plan : ndarray of shape (n, m)
            A soft plan, or any scores of all pairs.

        Returns
        -------
        ndarray of int, shape (n,)
            The partner of each x, −1 where it has none.
        """
        scores = np.array(plan, dtype=np.float64)
        rows, columns = self.anchors
        scores[rows, columns] += 1.0 + float(scores.max(initial=0.0)) * self.smallest
        if self.n_pairs == self.smallest:
            return assign(scores)
        # Dummies take the objects without a partner: m − n_pairs of them among the rows, n − n_pairs among the columns.
        size = self.n + self.m - self.n_pairs
        padded = np.zeros((size, size))
        padded[: self.n, : self.m] = scores
        padded[self.n :, self.m :] = -1.0 - float(scores.max(initial=0.0)) * size
        indices = assign(padded)[: self.n]
        indices[indices >= self.m] = -1
        return indices


def count_pairs(overlap: float | str, n: int, m: int, n_anchors: int) -> int:
    """Return how many pairs an overlap asks for.

    Parameters
    ----------
    overlap : float or "auto"
        The share of the smaller set that has a partner, in (0, 1]; "auto" starts from all of it.
    n, m : int
        Sizes of the sets.
    n_anchors : int
        How many pairs are known; there are no fewer.

    Returns
    -------
    int
        The number of pairs, at least 1.

    Examples
    --------
    >>> count_pairs(0.5, 10, 20, n_anchors=0)
    5
    """
    if isinstance(overlap, str):
        if overlap != "auto":
            raise ValueError(f"overlap must be a number in (0, 1] or 'auto', got {overlap!r}")
        return min(n, m)
    if not (isinstance(overlap, Real) and 0 < overlap <= 1):
        raise ValueError(
            f"overlap must lie in (0, 1], got {overlap!r:.80}: it is the share of the smaller set that has a partner"
        )
    return max(round(float(overlap) * min(n, m)), n_anchors, 1)


def count_anchors(anchors: Sequence[tuple[int, int]]) -> int:
    """Return how many pairs are known, or raise a TypeError if they cannot be counted.

    Parameters
    ----------
    anchors : sequence of (int, int)
        Known pairs.

    Returns
    -------
    int
        Their number.

    Examples
    --------
    >>> count_anchors([(0, 1)])
    1
    """
    try:
        return len(anchors)
    except TypeError:
        raise TypeError(
            f"anchors must be a list of pairs (i, j), got {anchors!r:.100}; pass list(anchors), or leave it out"
        ) from None


def check_anchors(anchors: Sequence[tuple[int, int]], n: int, m: int) -> tuple[Indices, Indices]:
    """Return known pairs as the indices of their x and of their y.

    Parameters
    ----------
    anchors : sequence of (int, int)
        Known pairs (i, j) in any order.
    n, m : int
        Sizes of the sets.

    Returns
    -------
    tuple of two ndarray of int, shape (n_anchors,)
        All i, and all j.

    Examples
    --------
    >>> check_anchors([(0, 1), (0, 2)], 3, 3)
    Traceback (most recent call last):
    ...
    ValueError: anchors give x 0 the partners 1 and 2; keep one of them
    """
    if count_anchors(anchors) == 0:
        return NO_ANCHORS
    try:
        pairs = np.asarray(anchors)
    except ValueError:  # of different lengths
        pairs = np.empty(0)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"anchors must be pairs (i, j) of whole numbers, got {anchors!r:.100}; pass rows of X and Y counted from 0"
        )
    of_x: dict[int, int] = {}
    of_y: dict[int, int] = {}
    for i, j in pairs.tolist():
        if not (0 <= i < n and 0 <= j < m):
            raise ValueError(f"the anchor ({i}, {j}) is out of range: X has rows 0 … {n - 1}, Y has rows 0 … {m - 1}")
        if i in of_x and of_x[i] == j:
            raise ValueError(f"the anchor ({i}, {j}) is given twice; give it once")
        if i in of_x:
            raise ValueError(f"anchors give x {i} the partners {of_x[i]} and {j}; keep one of them")
        if j in of_y:
            raise ValueError(f"anchors give y {j} the partners {of_y[j]} and {i}; keep one of them")
        of_x[i], of_y[j] = j, i
    return pairs[:, 0].astype(np.intp), pairs[:, 1].astype(np.intp)


def check_prior(prior: ArrayLike, n: int, m: int) -> Float32Array:
    """Return prior scores centred, and scaled to at most 1 in modulus.

    Parameters
    ----------
    prior : array_like of shape (n, m)
        Scores of all pairs, larger where a pair is likelier.
    n, m : int
        Sizes of the sets.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The scores.
    """
    S = rescale(check_set(prior, "prior", at_least=1))
    if S.shape != (n, m):
        raise ValueError(f"prior must have one row per x and one column per y, ({n}, {m}), got shape {S.shape}")
    S = S - S.mean()
    scaled: Float32Array = (S / max(float(np.abs(S).max()), 1e-300)).astype(np.float32)
    return scaled
