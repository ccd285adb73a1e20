"""The canonical form of a problem, which has no order of rows or columns, no origin, no unit and no first set.

A search that draws at random and stops at local maxima feels the order of its input and every rounding error. So it is
handed one and the same form of all problems that differ in nothing else: values are rounded to a grid of 1e-8 to 4e-6
of the spread of their column, rows and columns are sorted by what they hold, and the set that comes first is chosen by
what both hold. The answer is put back into the order of the user.

Rows that are equal cannot be told apart: any of them may get the partner of another.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pairup.auto.consensus import Consensus
from pairup.auto.problem import Problem
from pairup.auto.schedule import CANONICAL
from pairup.auto.search import Candidate
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.kernels import rescale
from pairup.probabilities import is_sparse
from pairup.storage import allocate, lies_in_file
from pairup.types import Array, Indices

Hashes = NDArray[np.uint64]
Matrix = TypeVar("Matrix", bound=NDArray[np.floating])


@dataclass(frozen=True, eq=False)
class Form:
    """One set in canonical form.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        The rounded values, in canonical order.
    order : ndarray of int, shape (n,)
        The row of the given set that each row of `values` was.
    hash : int
        A hash of all values, whatever their order.
    """

    values: Array
    order: Indices
    hash: int

    @property
    def key(self) -> tuple[int, int, int]:
        """What decides which of two sets comes first."""
        return (*self.values.shape, self.hash)


@dataclass(frozen=True, eq=False)
class Canonical:
    """A problem in canonical form, and the way back.

    Parameters
    ----------
    problem : Problem
        The canonical problem.
    rows, columns : ndarray of int, shape (n,) and (m,)
        The object of the given X or Y that each object of the canonical one was; of Y and X if they are swapped.
    swapped : bool
        Whether the canonical X is the given Y.
    """

    problem: Problem
    rows: Indices
    columns: Indices
    swapped: bool

    @classmethod
    def of(cls, problem: Problem) -> "Canonical":
        """Bring a problem into canonical form.

        Parameters
        ----------
        problem : Problem
            Two sets, checked.

        Returns
        -------
        Canonical
            The canonical problem, and the way back.
        """
        if problem.metric == "precomputed":
            x, y = canonical_distances(problem.x), canonical_distances(problem.y)
        else:
            keeps_origin = problem.metric == "cosine"
            x, y = (canonical_table(Z, keeps_origin=keeps_origin) for Z in (problem.x, problem.y))
        swapped = x.key > y.key
        if swapped:
            x, y = y, x
        constraints = _reorder(problem.constraints, x.order, y.order, swapped=swapped)
        canonical = replace(problem, x=x.values, y=y.values, constraints=constraints)
        return cls(canonical, x.order, y.order, swapped)

    def restore_matching(self, indices: Indices) -> Indices:
        """Return a matching of the canonical sets as one of the given sets."""
        matched = np.flatnonzero(indices >= 0)
        first, second = self.rows[matched], self.columns[indices[matched]]
        if self.swapped:
            first, second = second, first
        restored = np.full(len(self.columns if self.swapped else self.rows), -1, dtype=np.intp)
        restored[first] = second
        return restored

    def restore_pairs(self, values: Matrix) -> Matrix:
        """Return values of all pairs of the canonical sets as values of the pairs of the given sets."""
        if is_sparse(values):
            sparse: Matrix = self._restore_sparse(values)
            return sparse
        restored = np.empty_like(values)
        restored[np.ix_(self.rows, self.columns)] = values
        return np.ascontiguousarray(restored.T) if self.swapped else restored  # type: ignore[return-value]

    def _restore_sparse(self, values: Any) -> Any:
        from scipy.sparse import csr_array

        pairs = values.tocoo()
        first, second = self.rows[pairs.row], self.columns[pairs.col]
        shape = values.shape
        if self.swapped:
            first, second, shape = second, first, shape[::-1]
        restored = csr_array((pairs.data, (first, second)), shape=shape)
        restored.sort_indices()
        return restored

    def restore_step(self, step: Step) -> Step:
        """Return a step of the canonical search as one of the given sets."""
        return replace(step, indices=self.restore_matching(step.indices))

    def restore_consensus(self, consensus: Consensus) -> Consensus:
        """Return the combined result of the canonical search as one of the given sets."""
        restore = _Once(self.restore_candidate)
        coarse = [
            replace(
                result,
                candidates=[restore(c) for c in result.candidates],
                solutions=[self.restore_matching(p) for p in result.solutions],
            )
            for result in consensus.coarse
        ]
        return replace(
            consensus,
            candidates=[restore(c) for c in consensus.candidates],
            votes=self.restore_pairs(consensus.votes),
            indices=self.restore_matching(consensus.indices),
            rivals=[(restore(c), score) for c, score in consensus.rivals],
            coarse=coarse,
            plan=None if consensus.plan is None else self.restore_pairs(consensus.plan),
        )

    def restore_candidate(self, candidate: Candidate) -> Candidate:
        """Return a candidate of the canonical search, whose plan is dropped, as one of the given sets."""
        return replace(candidate, indices=self.restore_matching(candidate.indices), plan=None)


class _Once:
    """A function of candidates that returns the same object for the same candidate."""

    def __init__(self, function: Callable[[Candidate], Candidate]) -> None:
        self.function = function
        self.known: dict[int, Candidate] = {}

    def __call__(self, candidate: Candidate) -> Candidate:
        return self.known.setdefault(id(candidate), self.function(candidate))


def _reorder(constraints: Constraints, rows: Indices, columns: Indices, *, swapped: bool) -> Constraints:
    prior, n, m = constraints.prior, constraints.n, constraints.m
    if swapped:
        n, m = m, n
        prior = None if prior is None else prior.T
    places = np.argsort(rows), np.argsort(columns)
    sparse = constraints.sparse_prior
    if sparse is not None:
        sparse = sparse.T.tocsr() if swapped else sparse
        sparse = sparse[rows][:, columns].tocsr()

    def reorder(pairs: tuple[Indices, Indices]) -> tuple[Indices, Indices]:
        first, second = (place[side] for place, side in zip(places, pairs[::-1] if swapped else pairs, strict=True))
        order = np.lexsort((second, first))
        return first[order], second[order]

    return replace(
        constraints,
        n=n,
        m=m,
        anchors=reorder(constraints.anchors),
        forbidden=reorder(constraints.forbidden),
        prior=None if prior is None else np.ascontiguousarray(prior[np.ix_(rows, columns)]),
        sparse_prior=sparse,
    )


def canonical_table(Z: Array, *, keeps_origin: bool = False) -> Form:
    """Bring a table into canonical form.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.
    keeps_origin : bool, default False
        Whether the origin matters, as it does where directions are compared; otherwise each column starts at 0.

    Returns
    -------
    Form
        The same for any order of the rows and columns, in any unit and from any origin, but for rounding errors.

    Examples
    --------
    >>> Z = np.array([[1.0, 0.1], [5.0, 0.2], [2.0, 0.6]])
    >>> bool((canonical_table(Z).values == canonical_table(3.0 * Z[[2, 0, 1]][:, [1, 0]] + 7.0).values).all())
    True
    """
    parts = [slice(k, k + width) for width in [_chunk(len(Z))] for k in range(0, Z.shape[1], width)]
    steps = _by_columns(Z)  # until each is rounded
    exponents = np.concatenate([np.frexp(np.abs(steps[:, part]).max(axis=0, initial=0.0))[1] for part in parts])
    exponents -= exponents.max()
    origin, spread = (np.concatenate(each) for each in zip(*(_centre(steps[:, part]) for part in parts), strict=True))
    varies = np.flatnonzero(spread > 0)
    powers, unit = np.zeros(len(spread)), 1.0
    steps[:, spread == 0] = 0.0
    if len(varies):
        unit = float(np.ldexp(spread, exponents)[varies].sum())  # of the table; columns have powers of two of it
        powers[varies] = round_to_grid((np.log2(spread[varies] / unit) + exponents[varies])[:, None])[:, 0]
        powers[varies] -= count_bits(Z.size, CANONICAL.table_bits)
        for part in parts:
            inside = varies[(varies >= part.start) & (varies < part.stop)]
            centred = rescale(steps[:, inside], axis=0) - origin[inside]
            in_units = np.ldexp(centred / unit, exponents[inside] - powers[inside].astype(np.intc))
            steps[:, inside] = round_to_grid(in_units)
        if powers.min() < CANONICAL.least_power:  # columns of units that differ by hundreds of orders of magnitude
            powers[varies] += CANONICAL.least_power - powers.min()
    marks = mix((powers + 0.0).view(np.uint64))
    if keeps_origin:
        mantissa, exponent = np.frexp(origin / unit)
        origin = np.ldexp(np.rint(np.ldexp(mantissa, CANONICAL.origin_digits)), exponent - CANONICAL.origin_digits)
        origin = np.ldexp(origin, exponents) + 0.0
        marks = mix(marks + origin.view(np.uint64))
    rows, columns = hash_table(steps, marks)
    order, across = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
    values = allocate(Z.shape, np.float64, in_file=lies_in_file(Z))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    for block in _row_blocks(steps):  # in the order in which they are read: that of the places is any
        rounded = np.ldexp(steps[block][:, across], powers[across].astype(np.intc))
        values[place[block]] = rounded + origin[across] if keeps_origin else rounded
    return Form(values, order, int(rows.sum(dtype=np.uint64)))


def _chunk(size: int) -> int:
    """Return how many rows or columns of this size are computed at once: tables of many objects are copied in parts."""
    return max(1, CANONICAL.chunk // max(size, 1))


def _by_columns(Z: Array) -> Array:
    """Return a copy of a table in which each column lies together, in a file if the table lies in one."""
    columns = allocate(Z.shape[::-1], np.float64, in_file=lies_in_file(Z))
    for block in _row_blocks(Z):
        columns[:, block] = Z[block].T
    return columns.T


def _row_blocks(Z: Array) -> list[slice]:
    size = _chunk(Z.shape[1])
    return [slice(first, first + size) for first in range(0, len(Z), size)]


def _centre(Z: Array) -> tuple[Array, Array]:
    """Return the origin of some columns, which is an element of each, and their spreads around it."""
    Z = rescale(Z, axis=0)
    origin = np.sort(Z, axis=0)[len(Z) // 2]  # nothing is rounded but by the subtraction
    return origin, column_spreads(Z - origin)


def canonical_distances(D: Array) -> Form:
    """Bring a matrix of squared distances into canonical form.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Squared distances.

    Returns
    -------
    Form
        The same for any order of the objects and in any unit, but for rounding errors.
    """
    spread = column_spreads(rescale(D).reshape(-1, 1))[0]
    if not spread:
        return Form(np.zeros_like(D), np.arange(len(D)), 0)
    bits = count_bits(D.size, CANONICAL.distance_bits)
    steps = round_to_grid(np.ldexp(rescale(D).reshape(-1, 1) / spread, bits)).reshape(D.shape)
    hashes = mix(steps.view(np.uint64))
    rows = mix(hashes.sum(axis=1))
    for _ in range(CANONICAL.rounds):
        rows = mix(mix(hashes ^ rows).sum(axis=1) + rows)
    order = np.argsort(rows, kind="stable")
    return Form(np.ldexp(steps[np.ix_(order, order)], -bits), order, int(rows.sum(dtype=np.uint64)))


def count_bits(size: int, bits: int) -> int:
    """Return how many bits of their spread values keep.

    Each value may lie so near to a mark that a rounding error carries it over. The more values, the coarser the grid,
    so that all of them together seldom do.

    Parameters
    ----------
    size : int
        How many values there are.
    bits : int
        How many bits a single one would keep.

    Returns
    -------
    int
        The number of bits.

    Examples
    --------
    >>> count_bits(1024, 37)
    27
    """
    return int(np.clip(bits - round(np.log2(size)), CANONICAL.fewest_bits, CANONICAL.most_bits))


def column_spreads(Z: Array) -> Array:
    """Return the size that values of each column typically have.

    It is the median modulus, or a higher quantile where the one below is very much smaller: then most values are 0 but
    for rounding. A few huge values do not count.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.

    Returns
    -------
    ndarray of shape (d,)
        Spreads; 0 for a column of zeros.

    Examples
    --------
    >>> column_spreads(np.r_[np.linspace(0, 1, 21), 1e9][:, None])
    array([0.55])
    """
    modulus = np.sort(np.abs(Z), axis=0)
    spread: Array = modulus[-1]
    goes_on, least = np.ones(len(spread), dtype=bool), CANONICAL.rounding
    for level in CANONICAL.quantiles:
        quantile = modulus[int(level * len(Z))]
        goes_on &= quantile > least * spread
        spread = np.where(goes_on, quantile, spread)
        least = CANONICAL.least_spread
    return spread


def round_to_grid(Z: Array) -> Array:
    """Return each column rounded to whole numbers, where the values stay away from the marks of rounding.

    Values that lie near a mark would be rounded up once and down another time. So the marks of a column lie in the
    middle of the widest gap between the fractions of its values.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table in units of the grid.

    Returns
    -------
    ndarray of shape (n, d)
        Whole numbers.

    Examples
    --------
    >>> round_to_grid(np.array([[0.4999], [1.5001], [2.5]])).T
    array([[1., 2., 3.]])
    """
    fractions = np.sort(Z - np.floor(Z), axis=0)
    gaps = np.diff(fractions, axis=0, append=fractions[:1] + 1.0)
    widest = (gaps > (1.0 - CANONICAL.tie) * gaps.max(axis=0)).argmax(axis=0)  # the first of those that are as wide
    columns = np.arange(Z.shape[1])
    marks = (fractions[widest, columns] + 0.5 * gaps[widest, columns]) % 1.0
    rounded = np.floor(Z - marks) + 1.0
    mantissa, exponent = np.frexp(Z)  # a huge value has fewer digits than the grid asks for
    huge: Array = np.ldexp(np.rint(np.ldexp(mantissa, CANONICAL.digits)), exponent - CANONICAL.digits)
    return np.where(exponent > CANONICAL.digits, huge, rounded) + 0.0  # no −0


def mix(hashes: Hashes) -> Hashes:
    """Return hashes of whole numbers, by the finalizer of SplitMix64.

    Parameters
    ----------
    hashes : ndarray of uint64
        Numbers.

    Returns
    -------
    ndarray of uint64
        Other numbers, which have no order in common with them.
    """
    z = hashes + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = z ^ (z >> np.uint64(31))
    return mixed


def hash_table(Z: Array, marks: Hashes) -> tuple[Hashes, Hashes]:
    """Return hashes of the rows and columns of a table that depend on no order.

    Columns that hold the same values are told apart by the rows in which they stand, and rows by the columns, as in the
    refinement of colours of Weisfeiler and Leman.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table, without −0.
    marks : ndarray of uint64, shape (d,)
        Hashes of what else is known of each column.

    Returns
    -------
    rows : ndarray of uint64, shape (n,)
        A hash for each row.
    columns : ndarray of uint64, shape (d,)
        A hash for each column.
    """
    bits = Z.view(np.uint64)
    blocks = _row_blocks(Z)

    def hash_rows(columns: Hashes) -> Hashes:
        return np.concatenate([mix(mix(bits[block]) ^ columns).sum(axis=1) for block in blocks])

    columns = mix(np.sum([mix(bits[block]).sum(axis=0) for block in blocks], axis=0, dtype=np.uint64) + marks)
    rows = mix(hash_rows(columns))
    for _ in range(CANONICAL.rounds):
        sums = [mix(mix(bits[block]) ^ rows[block, None]).sum(axis=0) for block in blocks]
        columns = mix(np.sum(sums, axis=0, dtype=np.uint64) + columns)
        rows = mix(hash_rows(columns) + rows)
    return rows, columns
