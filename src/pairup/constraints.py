"""What every matching keeps to: the sizes of the sets, known and forbidden pairs, how many there are, and a prior."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from pairup.assignment import assign
from pairup.kernels import rescale
from pairup.memory import check_memory
from pairup.probabilities import canonical, is_sparse
from pairup.types import Array, Float32Array, Indices, SparseArray
from pairup.validation import check_set

FORBIDDEN = -60.0  # exp of it is nothing beside exp(0), and float32 still holds its inverse
NEVER = -1e30  # the profit of a forbidden pair: below all others at any temperature, and finite in float32
PRIOR_MATRICES = 3  # dense ones that are needed at once while a sparse prior is filled in
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
    forbidden : tuple of two ndarray of int, shape (n_forbidden,), default none
        Pairs known to be wrong, in the form of `anchors`, each once.
    prior_unit : float, default 0.0
        What a score of 1 is in nats, where the prior is a logarithm of ratios of densities; 0 where that is not known.
    sparse_prior : csr_array of float32, shape (n, m), optional
        In place of `prior`, for engines that never form a matrix of all pairs: a pair that is not stored is neutral.
    """

    n: int
    m: int
    n_pairs: int
    anchors: tuple[Indices, Indices] = NO_ANCHORS
    prior: Float32Array | None = None
    forbidden: tuple[Indices, Indices] = NO_ANCHORS
    prior_unit: float = 0.0
    sparse_prior: "SparseArray | None" = None

    @property
    def largest(self) -> int:
        """The size of the larger set."""
        return max(self.n, self.m)

    @property
    def smallest(self) -> int:
        """The size of the smaller set."""
        return min(self.n, self.m)

    @cached_property
    def marginals(self) -> tuple[Float32Array, Float32Array]:
        """The sums of the rows and of the columns of a plan: 1 for known pairs, alike for all other objects."""
        sums = []
        for size, known in zip((self.n, self.m), self.anchors, strict=True):
            free = max(size - len(known), 1)
            degrees = np.full(size, (self.n_pairs - len(known)) / free, dtype=np.float32)
            degrees[known] = 1.0
            sums.append(np.maximum(degrees, np.float32(1e-6)))
        return sums[0], sums[1]

    def mask(self, profit: Float32Array) -> None:
        """Rule out, in place, the forbidden pairs and every pair that competes with a known one."""
        profit[..., *self.forbidden] = NEVER
        rows, columns = self.anchors
        if len(rows):
            profit[..., rows, :] = FORBIDDEN
            profit[..., columns] = FORBIDDEN
            profit[..., rows, columns] = 0.0

    def impose_anchors(self, indices: Indices) -> Indices:
        """Put the known pairs into a matching.

        An x that loses its partner to a known pair gets the partner that this pair gives up. Where that is forbidden,
        as few pairs change as it takes.

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
        return self.round(self.hard(imposed)) if self.breaks(imposed) else imposed

    def breaks(self, indices: Indices) -> bool:
        """Tell whether a matching has a forbidden pair."""
        rows, columns = self.forbidden
        return bool((indices[rows] == columns).any())

    def count_possible(self) -> int:
        """Return the largest number of pairs, the known ones among them, that no forbidden pair is needed for.

        Examples
        --------
        >>> forbidden = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])  # x 0 and x 1 both need the third y
        >>> Constraints(3, 3, 3, forbidden=forbidden).count_possible()
        2
        """
        if not len(self.forbidden[0]):
            return self.smallest
        allowed = np.ones((self.n, self.m), dtype=bool)
        allowed[self.forbidden] = False
        rows, columns = self.anchors
        allowed[rows, :] = False
        allowed[:, columns] = False
        partners = maximum_bipartite_matching(csr_array(allowed), perm_type="column")
        return len(rows) + int((partners >= 0).sum())

    def uniform(self) -> Float32Array:
        """Return the plan that knows nothing but the anchors and the forbidden pairs."""
        rows, columns = self.anchors
        plan = np.full((self.n, self.m), self.n_pairs / (self.n * self.m), dtype=np.float32)
        if len(self.forbidden[0]):  # the other partners of an x share what its forbidden ones would get
            others = self.m - np.bincount(self.forbidden[0], minlength=self.n)
            plan *= (self.m / np.maximum(others, 1)).astype(np.float32)[:, None]
            plan[self.forbidden] = 0.0
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
        scores -= min(float(scores.min()), 0.0)  # or no pair would be better than one
        unit = 1.0 + float(scores.max()) * self.smallest  # more than all other pairs of a matching bring
        scores[self.anchors] += unit
        scores[self.forbidden] = -(len(self.anchors[0]) + 2) * unit
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


def count_given(pairs: Sequence[tuple[int, int]], name: str) -> int:
    """Return how many pairs are given, or raise a TypeError if they cannot be counted.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Known or forbidden pairs.
    name : str
        Name of the parameter in the message.

    Returns
    -------
    int
        Their number.

    Examples
    --------
    >>> count_given([(0, 1)], "anchors")
    1
    """
    try:
        return len(pairs)
    except TypeError:
        raise TypeError(
            f"{name} must be a list of pairs (i, j), got {pairs!r:.100}; pass list({name}), or leave it out"
        ) from None


def _as_pairs(given: Sequence[tuple[int, int]], name: str) -> Indices:
    """Return pairs as an array of two columns, or say what they are instead."""
    if count_given(given, name) == 0:
        return np.empty((0, 2), dtype=np.intp)
    try:
        pairs = np.asarray(given)
    except ValueError:  # of different lengths
        pairs = np.empty(0)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        advice = f"numpy.argwhere({name})" if pairs.dtype.kind == "b" else "rows of X and Y counted from 0"
        got = " ".join(repr(given).split())
        raise ValueError(f"{name} must be pairs (i, j) of whole numbers, got {got:.100}; pass {advice}")
    return pairs


def _out_of_range(what: str, i: int, j: int, n: int, m: int) -> ValueError:
    return ValueError(f"the {what} ({i}, {j}) is out of range: X has rows 0 … {n - 1}, Y has rows 0 … {m - 1}")


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
    pairs = _as_pairs(anchors, "anchors")
    of_x: dict[int, int] = {}
    of_y: dict[int, int] = {}
    for i, j in pairs.tolist():
        if not (0 <= i < n and 0 <= j < m):
            raise _out_of_range("anchor", i, j, n, m)
        if i in of_x and of_x[i] == j:
            raise ValueError(f"the anchor ({i}, {j}) is given twice; give it once")
        if i in of_x:
            raise ValueError(f"anchors give x {i} the partners {of_x[i]} and {j}; keep one of them")
        if j in of_y:
            raise ValueError(f"anchors give y {j} the partners {of_y[j]} and {i}; keep one of them")
        of_x[i], of_y[j] = j, i
    return pairs[:, 0].astype(np.intp), pairs[:, 1].astype(np.intp)


def check_forbidden(
    forbidden: Sequence[tuple[int, int]], n: int, m: int, anchors: tuple[Indices, Indices] = NO_ANCHORS
) -> tuple[Indices, Indices]:
    """Return pairs known to be wrong as the indices of their x and of their y, each pair once.

    Parameters
    ----------
    forbidden : sequence of (int, int)
        Forbidden pairs (i, j) in any order.
    n, m : int
        Sizes of the sets.
    anchors : tuple of two ndarray of int, shape (n_anchors,), default none
        Known pairs, which must not be forbidden.

    Returns
    -------
    tuple of two ndarray of int, shape (n_forbidden,)
        All i, and all j.

    Examples
    --------
    >>> check_forbidden([(0, 1)], 3, 3, anchors=(np.array([0]), np.array([1])))
    Traceback (most recent call last):
    ...
    ValueError: the pair (0, 1) is among the anchors and forbidden too; take it out of one of them
    """
    pairs = _as_pairs(forbidden, "forbidden")
    outside = ((pairs < 0) | (pairs >= (n, m))).any(axis=1)
    if outside.any():
        i, j = pairs[int(outside.argmax())].tolist()
        raise _out_of_range("forbidden pair", i, j, n, m)
    cells = np.unique(pairs[:, 0].astype(np.intp) * m + pairs[:, 1].astype(np.intp))
    both = np.intersect1d(cells, anchors[0] * m + anchors[1])
    if len(both):
        i, j = divmod(int(both[0]), m)
        raise ValueError(f"the pair ({i}, {j}) is among the anchors and forbidden too; take it out of one of them")
    return cells // m, cells % m


def check_possible(constraints: Constraints) -> None:
    """Raise a ValueError if the forbidden pairs leave too few others for a matching.

    Parameters
    ----------
    constraints : Constraints
        What the matching is to keep to.

    Examples
    --------
    >>> check_possible(Constraints(2, 2, 2, forbidden=(np.array([0, 0]), np.array([0, 1]))))
    Traceback (most recent call last):
    ...
    ValueError: 1 of the 2 pairs can be formed without a forbidden one, and no y is left for x 0; forbid fewer, ...
    """
    possible = constraints.count_possible()
    if possible >= constraints.n_pairs:
        return
    n, m = constraints.n, constraints.m
    of_x, of_y = (np.bincount(side, minlength=size) for side, size in zip(constraints.forbidden, (n, m), strict=True))
    alone = ""
    if of_x.max() == m and constraints.n_pairs == n:
        alone = f", and no y is left for x {int(of_x.argmax())}"
    elif of_y.max() == n and constraints.n_pairs == m:
        alone = f", and no x is left for y {int(of_y.argmax())}"
    share = np.floor(1000 * possible / constraints.smallest) / 1000
    advice = f", or pass overlap={share:g} to leave objects alone" if share > 0 else ""
    raise ValueError(
        f"{possible} of the {constraints.n_pairs} pairs can be formed without a forbidden one{alone}; "
        f"forbid fewer{advice}"
    )


def weigh_prior(constraints: Constraints, weight: float) -> Constraints:
    """Return the constraints with a weight of the prior; what its scores are in nats stays the same.

    Parameters
    ----------
    constraints : Constraints
        What a matching keeps to, with a prior.
    weight : float
        The weight.

    Returns
    -------
    Constraints
        The same with a prior that counts as much.
    """
    assert constraints.prior is not None
    return replace(
        constraints, prior=np.float32(weight) * constraints.prior, prior_unit=constraints.prior_unit / weight
    )


def fill_prior(prior: Any, n: int, m: int) -> Any:
    """Return a sparse prior as a dense one, a pair that is not stored having the score 0; any other as it is.

    Parameters
    ----------
    prior : array_like or sparse array of shape (n, m)
        Scores of pairs.
    n, m : int
        Sizes of the sets.

    Returns
    -------
    array_like of shape (n, m)
        Scores of all pairs.
    """
    if not is_sparse(prior):
        return prior
    check_prior_shape(prior.shape, n, m)
    check_memory(n, m, PRIOR_MATRICES)
    return prior.toarray()


def check_prior_shape(shape: tuple[int, ...], n: int, m: int) -> None:
    """Raise a ValueError if a prior has not one row per x and one column per y.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    n, m : int
        Sizes of the sets.
    """
    if shape != (n, m):
        raise ValueError(
            f"prior must have one row per x and one column per y, ({n}, {m}), got shape {shape}; "
            "pass the scores of all rows of X and Y, 0 where nothing is known"
        )


def check_sparse_prior(prior: Any, n: int, m: int) -> SparseArray:
    """Return sparse prior scores scaled to at most 1 in modulus; a pair that is not stored stays neutral, at 0.

    The scores are not centred as those of `check_prior` are: a constant says nothing, and would fill the matrix.

    Parameters
    ----------
    prior : sparse array of shape (n, m)
        Scores of some pairs: positive where a pair is likelier than one of which nothing is said, else negative.
    n, m : int
        Sizes of the sets.

    Returns
    -------
    csr_array of float32, shape (n, m)
        The scores.

    Examples
    --------
    >>> check_sparse_prior(csr_array(np.array([[0.0, 4.0], [-1.0, 0.0]])), 2, 2).toarray()
    array([[ 0.  ,  1.  ],
           [-0.25,  0.  ]], dtype=float32)
    """
    check_prior_shape(prior.shape, n, m)
    S = canonical(prior)
    if S.nnz:
        check_set(S.data, "prior", at_least=1)
    scores = rescale(np.asarray(S.data, dtype=np.float64))
    scores /= max(float(np.abs(scores).max(initial=0.0)), 1e-300)
    scaled: SparseArray = csr_array((scores.astype(np.float32), S.indices, S.indptr), shape=(n, m))
    return scaled


def check_prior(prior: ArrayLike, n: int, m: int) -> Float32Array:
    """Return prior scores centred, and scaled to at most 1 in modulus.

    Parameters
    ----------
    prior : array_like or sparse array of shape (n, m)
        Scores of all pairs, larger where a pair is likelier; 0 where a sparse array stores none.
    n, m : int
        Sizes of the sets.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The scores.
    """
    S = rescale(check_set(fill_prior(prior, n, m), "prior", at_least=1))
    check_prior_shape(S.shape, n, m)
    S = S - S.mean()
    scaled: Float32Array = (S / max(float(np.abs(S).max()), 1e-300)).astype(np.float32)
    return scaled
