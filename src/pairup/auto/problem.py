"""What is to be matched, checked before work starts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup.auto.geometry import GeometryPair
from pairup.auto.metrics import (
    directions_pair,
    geodesic_pair,
    normalize_rows,
    table_geometries,
    unscaled_geometries,
    whitened_geometries,
)
from pairup.auto.schedule import CLUSTER_PLANS, GEOMETRY, MULTILEVEL, PROBLEM
from pairup.constraints import (
    Constraints,
    check_anchors,
    check_forbidden,
    check_possible,
    check_prior,
    check_sparse_prior,
    count_given,
    count_pairs,
)
from pairup.kernels import check_kernel, rescale, squared_distances
from pairup.memory import check_linear_memory, check_memory
from pairup.methods import METRICS, SOLVERS
from pairup.parallel import count_threads
from pairup.probabilities import canonical, is_sparse
from pairup.storage import check_space, lies_in_file
from pairup.types import Array
from pairup.validation import check_positive, check_set


@dataclass(frozen=True)
class Context:
    """What every part of a search is handed: what a matching keeps to, and how to run.

    Parameters
    ----------
    constraints : Constraints
        What a matching keeps to.
    seed : int, default 0
        Draws unrelated sets, rotations and populations.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.
    """

    constraints: Constraints
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """Two sets, and what is known of their pairing.

    Parameters
    ----------
    x, y : ndarray of shape (n, d) and (m, e)
        The sets as tables, or as squared distances in a unit of their own where `metric` is "precomputed".
    metric : {"auto", "euclidean", "cosine", "precomputed"}
        How objects of one set are compared.
    constraints : Constraints
        What a matching keeps to.
    prior_weight : float or None
        Weight of the prior; None leaves it to the data.
    estimates_overlap : bool
        Whether the number of pairs is to be estimated.
    is_dense : bool, default True
        Whether it is solved by matrices of all pairs, or coarse to fine.
    """

    x: Array
    y: Array
    metric: str
    constraints: Constraints
    prior_weight: float | None
    estimates_overlap: bool
    is_dense: bool = True

    @classmethod
    def check(
        cls,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        metric: str = "auto",
        kernel: str | None = None,
        anchors: Sequence[tuple[int, int]] = (),
        forbidden: Sequence[tuple[int, int]] = (),
        prior: ArrayLike | None = None,
        prior_weight: float | None = None,
        prior_in_nats: bool = False,
        overlap: Any = 1.0,
        dense: bool = True,
        n_jobs: int | None = None,
    ) -> "Problem":
        """Return the problem, or raise an error that says what is wrong with it.

        Parameters
        ----------
        X, Y : array_like of shape (n, d) and (m, e)
            The two sets.
        metric : {"auto", "euclidean", "cosine", "precomputed"}, default "auto"
            How objects of one set are compared; "precomputed" takes X and Y as distance matrices.
        kernel : {"precomputed"}, optional
            Takes X and Y as kernel matrices.
        anchors : sequence of (int, int), default ()
            Known pairs (i, j), in any order.
        forbidden : sequence of (int, int), default ()
            Pairs (i, j) known to be wrong, in any order.
        prior : array_like or sparse array of shape (n, m), optional
            Scores of all pairs, larger where a pair is likelier; 0 where a sparse array stores none.
        prior_weight : float, optional
            Weight of the prior; by default the data choose.
        prior_in_nats : bool, default False
            Whether the scores are logarithms of ratios of densities, so that they can be weighed against the data.
        overlap : float or "auto", default 1.0
            The share of the smaller set that has a partner, in (0, 1]; "auto" estimates it.
        dense : bool, default True
            Whether it is solved by matrices of all pairs: they must fit into memory, and a sparse prior is filled in.
            False leaves a sparse prior sparse, as `Constraints.sparse_prior`.
        n_jobs : int, optional
            How many tasks will run at the same time, each with matrices of its own.

        Returns
        -------
        Problem
            The problem.
        """
        if metric not in METRICS:
            raise ValueError(f"metric must be auto, euclidean, cosine or precomputed, got {metric!r}")
        if kernel not in (None, "precomputed"):
            raise ValueError(
                f"kernel must be None or 'precomputed', got {kernel!r}; the estimators KSHSIC, KSNOCCO and LSOM "
                "take other kernels"
            )
        x, y = (check_set(Z, name, at_least=1, keeps_file=not dense) for Z, name in ((X, "X"), (Y, "Y")))
        if kernel == "precomputed":
            metric = "precomputed"
            x, y = (_kernel_distances(check_kernel(rescale(Z), name)) for Z, name in ((x, "X"), (y, "Y")))
        elif metric == "precomputed":
            x, y = (_check_distances(Z, name) for Z, name in ((x, "X"), (y, "Y")))
        n, m = len(x), len(y)
        if dense:
            check_memory(max(n, m), max(n, m), PROBLEM.matrices * max(count_threads(n_jobs), 1))
        else:
            _check_many(x, y, max(count_threads(n_jobs), 1))
        if prior_weight is not None:
            check_positive(prior_weight, "prior_weight", "leave it out, and the data choose")
            if prior is None:
                raise ValueError(f"prior_weight must come with a prior, got {prior_weight} alone; pass both or neither")
        known = check_anchors(anchors, n, m)
        keeps_sparse = not dense and is_sparse(prior)
        constraints = Constraints(
            n,
            m,
            count_pairs(overlap, n, m, count_given(anchors, "anchors")),
            known,
            None if prior is None or keeps_sparse else check_prior(prior, n, m),
            check_forbidden(forbidden, n, m, known),
            _largest_deviation(prior) if prior_in_nats and prior is not None else 0.0,
            check_sparse_prior(prior, n, m) if keeps_sparse else None,
        )
        if overlap == "auto":  # starts from as many pairs as there can be
            constraints = replace(constraints, n_pairs=max(constraints.count_possible(), 1))
        check_possible(constraints)
        return cls(x, y, metric, constraints, prior_weight, overlap == "auto", dense)

    @property
    def sets(self) -> tuple[Array, Array] | None:
        """The two tables, where they are tables."""
        return None if self.metric == "precomputed" else (self.x, self.y)

    def explain_undecidable(self) -> str:
        """Say why nothing can be told about these sets; empty if something can."""
        smaller = self.constraints.smallest
        if smaller < PROBLEM.fewest:
            name = "X" if self.constraints.n == smaller else "Y"
            return f"{name} has {smaller} object{'s' if smaller > 1 else ''}, and at least {PROBLEM.fewest} are needed"
        cosine = self.metric == "cosine"
        for Z, name in ((self.x, "X"), (self.y, "Y")):
            change = normalize_rows if cosine else np.asarray
            blocks = (change(Z[first : first + PROBLEM.rows]) for first in range(0, len(Z), PROBLEM.rows))
            ends = [np.stack(each) for each in zip(*((b.min(axis=0), b.max(axis=0)) for b in blocks), strict=True)]
            least, most = ends[0].min(axis=0), ends[1].max(axis=0)
            if (most - least).max() <= GEOMETRY.rounding if cosine else (most == least).all():
                return f"all objects of {name} are equal, so nothing tells them apart"
        return ""

    @staticmethod
    def prefers_dense(n: int, m: int, *, metric: str, kernel: str | None, solver: str) -> bool:
        """Tell whether sets of these sizes are matched by matrices of all pairs.

        Parameters
        ----------
        n, m : int
            Sizes of the sets.
        metric : str
            As in `match`.
        kernel : str or None
            As in `match`.
        solver : {"auto", "dense", "multilevel"}
            What was asked for.

        Returns
        -------
        bool
            Whether; distances and kernels always are.

        Examples
        --------
        >>> Problem.prefers_dense(300, 300, metric="auto", kernel=None, solver="auto")
        True
        """
        is_table = metric != "precomputed" and kernel is None
        if solver not in SOLVERS:
            raise ValueError(f"solver must be auto, dense or multilevel, got {solver!r}")
        if solver == "multilevel" and not is_table:
            raise ValueError("solver='multilevel' takes tables, got distances or kernels; leave it out, or pass tables")
        if solver == "multilevel" and min(n, m) < MULTILEVEL.fewest:
            raise ValueError(
                f"solver='multilevel' needs at least {MULTILEVEL.fewest} objects in both sets, got {n} and {m}; "
                "leave it out, and they are compared with each other one by one"
            )
        if solver != "auto" or not is_table:
            return solver != "multilevel"
        return max(n, m) <= MULTILEVEL.dense_up_to or min(n, m) < MULTILEVEL.fewest

    def geometries(self) -> Iterator[GeometryPair]:
        """Yield the geometries in which the sets are compared."""
        if self.metric == "auto":
            yield from (pair for pair in table_geometries(self.x, self.y) if pair.has_variation)
        elif self.metric == "precomputed":
            yield GeometryPair("precomputed", self.x, self.y)
            yield geodesic_pair(self.x, self.y)
        else:
            change = normalize_rows if self.metric == "cosine" else rescale
            x, y = squared_distances(change(self.x)), squared_distances(change(self.y))
            yield GeometryPair(self.metric, x, y, on_sphere=self.metric == "cosine")
            yield geodesic_pair(x, y)

    def further_geometries(self) -> Iterator[GeometryPair]:
        """Yield more of them, for sets that match well in none of the first."""
        if self.metric == "auto":
            if min(self.x.shape[1], self.y.shape[1]) >= GEOMETRY.cosine_from:
                directions = directions_pair(self.x, self.y)
                if directions.has_variation:
                    yield directions
            yield from (pair for pair in whitened_geometries(self.x, self.y) if pair.has_variation)
            if self.constraints.smallest >= CLUSTER_PLANS.fewest_objects:
                yield from (pair for pair in unscaled_geometries(self.x, self.y) if pair.has_variation)


def _check_many(x: Array, y: Array, threads: int) -> None:
    """Raise a MemoryError if two sets of many objects do not fit into free memory, or on the disk."""
    total, on_disk = 0, 0
    for Z in (x, y):
        n, d = Z.shape
        if lies_in_file(Z):
            total += n * MULTILEVEL.bytes_in_memory
            on_disk += n * (2 * 8 * d + MULTILEVEL.bytes_on_disk)
        else:
            total += n * (4 * 8 * d + MULTILEVEL.bytes_per_object)
    count = len(x) + len(y)
    fixed = MULTILEVEL.bytes_of_samples + threads * MULTILEVEL.bytes_of_task
    check_linear_memory(count, -(-total // count), fixed)
    if on_disk:
        check_space(on_disk)


def _largest_deviation(prior: ArrayLike) -> float:
    """Return what `check_prior` divides the scores by."""
    if is_sparse(prior):  # which is not centred
        return float(np.abs(np.asarray(canonical(prior).data)).max(initial=0.0))
    S = np.asarray(prior, dtype=np.float64)
    return float(np.abs(S - S.mean()).max())


def _kernel_distances(K: Array) -> Array:
    diagonal = np.diag(K)
    return np.maximum(diagonal[:, None] + diagonal - 2 * K, 0.0)


def _check_distances(D: Array, name: str) -> Array:
    D = rescale(D)
    if D.shape[0] != D.shape[1] or (np.abs(D - D.T) > 1e-8).any():
        raise ValueError(
            f"with metric='precomputed' {name} must be a symmetric distance matrix, got shape {D.shape}; "
            "pass the distances of all objects to all objects"
        )
    if (D < 0).any() or np.diag(D).any():
        raise ValueError(f"distances in {name} must be 0 or more, with zeros on the diagonal; is it a kernel matrix?")
    return np.asarray(D**2, dtype=np.float64)
