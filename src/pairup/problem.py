"""What is to be matched, checked before work starts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup.annealing import NO_ANCHORS, Terms
from pairup.kernels import check_kernel, squared_distances
from pairup.memory import check_memory
from pairup.types import Array, Indices
from pairup.validation import check_finite, check_set
from pairup.views import ROUNDING, View, geodesic, unit_rows, views, whitened_views

FEWEST = 4  # objects below which nothing can be told
TINY = 1e-150  # a difference whose square is all but 0
MATRICES = 40  # dense matrices in use at once, in units of n × m numbers of 8 bytes


@dataclass(frozen=True)
class Problem:
    """Two sets, what is known of their pairing, and how to look at them.

    Parameters
    ----------
    x, y : the sets as tables, or as squared distances.
    metric : one of "auto", "euclidean", "cosine", "precomputed".
    terms : what a matching keeps to.
    prior_weight : of the prior in `terms`; None leaves it open.
    estimates_overlap : whether the number of pairs is to be found out.
    """

    x: Array
    y: Array
    metric: str
    terms: Terms
    prior_weight: float | None
    estimates_overlap: bool

    @classmethod
    def checked(
        cls,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        metric: str = "auto",
        kernel: str | None = None,
        anchors: Sequence[tuple[int, int]] = (),
        prior: ArrayLike | None = None,
        prior_weight: float | None = None,
        overlap: Any = 1.0,
    ) -> "Problem":
        """Return the problem, or say what is wrong with it."""
        if metric not in ("auto", "euclidean", "cosine", "precomputed"):
            raise ValueError(f"metric must be auto, euclidean, cosine or precomputed, got {metric!r}")
        if kernel not in (None, "precomputed"):
            raise ValueError(
                f"kernel must be None or 'precomputed', got {kernel!r}; the estimators KSHSIC, KSNOCCO and LSOM "
                "take other kernels"
            )
        x, y = check_set(X, "X", at_least=1), check_set(Y, "Y", at_least=1)
        if kernel == "precomputed":
            metric = "precomputed"
            x, y = (_distances_of_kernel(check_kernel(Z, name)) for Z, name in ((x, "X"), (y, "Y")))
        elif metric == "precomputed":
            x, y = (_checked_distances(Z, name) for Z, name in ((x, "X"), (y, "Y")))
        n, m = len(x), len(y)
        check_memory(max(n, m), max(n, m), MATRICES)
        if prior_weight is not None and (prior is None or not prior_weight > 0):
            raise ValueError(f"prior_weight must be positive and come with a prior, got {prior_weight}")
        terms = Terms(
            n,
            m,
            _pairs(overlap, n, m, len(anchors)),
            checked_anchors(anchors, n, m),
            None if prior is None else checked_prior(prior, n, m),
        )
        return cls(x, y, metric, terms, prior_weight, overlap == "auto")

    @property
    def sets(self) -> tuple[Array, Array] | None:
        """The two tables, where they are tables."""
        return None if self.metric == "precomputed" else (self.x, self.y)

    def undecided(self) -> str:
        """Say why nothing can be told about these sets; empty if something can."""
        smaller = min(self.terms.n, self.terms.m)
        if smaller < FEWEST:
            return f"{smaller} object{'s' if smaller > 1 else ''} on one side cannot be told apart by their likeness"
        cosine = self.metric == "cosine"
        least = ROUNDING if cosine else TINY
        for Z, name in ((self.x, "X"), (self.y, "Y")):
            if np.ptp(unit_rows(Z) if cosine else Z, axis=0).max() <= least:
                return f"all objects of {name} are equal, so nothing tells them apart"
        return ""

    def views(self) -> Iterator[View]:
        """Yield the ways of looking at the sets."""
        if self.metric == "auto":
            yield from (view for view in views(self.x, self.y) if view.tells_apart)
        elif self.metric == "precomputed":
            yield View("precomputed", self.x, self.y)
            yield View("geodesic", geodesic(self.x), geodesic(self.y))
        else:
            change = unit_rows if self.metric == "cosine" else np.asarray
            x, y = squared_distances(change(self.x)), squared_distances(change(self.y))
            yield View(self.metric, x, y, on_sphere=self.metric == "cosine")
            yield View("geodesic", geodesic(x), geodesic(y))

    def further_views(self) -> Iterator[View]:
        """Yield more ways, for sets that do not match clearly in any of the first."""
        if self.metric == "auto":
            yield from (view for view in whitened_views(self.x, self.y) if view.tells_apart)


def _distances_of_kernel(K: Array) -> Array:
    diagonal = np.diag(K)
    return np.maximum(diagonal[:, None] + diagonal - 2 * K, 0.0)


def _checked_distances(D: Array, name: str) -> Array:
    if D.shape[0] != D.shape[1] or (np.abs(D - D.T) > 1e-8 * max(float(np.abs(D).max()), 1e-300)).any():
        raise ValueError(
            f"with metric='precomputed' {name} must be a symmetric distance matrix, got shape {D.shape}; "
            "pass the distances of all objects to all objects"
        )
    if (D < 0).any() or np.diag(D).any():
        raise ValueError(f"distances in {name} must not be negative, and 0 on the diagonal; is it a kernel matrix?")
    return np.asarray(D**2, dtype=np.float64)


def _pairs(overlap: Any, n: int, m: int, anchors: int) -> int:
    if isinstance(overlap, str):
        if overlap != "auto":
            raise ValueError(f"overlap must be a number in (0, 1] or 'auto', got {overlap!r}")
        return min(n, m)
    if not 0 < overlap <= 1:
        raise ValueError(
            f"overlap must lie in (0, 1], got {overlap}: it is the share of the smaller set that has a partner"
        )
    return max(round(float(overlap) * min(n, m)), anchors, 1)


def checked_anchors(anchors: Sequence[tuple[int, int]], n: int, m: int) -> tuple[Indices, Indices]:
    """Return known pairs as the indices of their x and of their y.

    >>> checked_anchors([(0, 1), (0, 2)], 3, 3)
    Traceback (most recent call last):
    ...
    ValueError: anchors give x 0 the partners 1 and 2; keep one of them
    """
    if len(anchors) == 0:
        return NO_ANCHORS
    pairs = np.asarray(anchors)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(f"anchors must be pairs (i, j) of whole numbers, got {anchors!r:.100}")
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


def checked_prior(prior: ArrayLike, n: int, m: int) -> Any:
    """Return prior scores centred, and scaled to at most 1 in modulus."""
    S = np.asarray(prior, dtype=np.float64)
    if S.shape != (n, m):
        raise ValueError(f"prior must have one row per x and one column per y, ({n}, {m}), got shape {S.shape}")
    check_finite(S, "prior")
    S = S - S.mean()
    return (S / max(float(np.abs(S).max()), 1e-300)).astype(np.float32)
