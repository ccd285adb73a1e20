"""Canonical variates of partners: the profit of a pair as the logarithm of a density ratio."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import covariances
from pairup.parallel import run_here
from pairup.storage import allocate, lies_in_file
from pairup.types import Array, BoolArray, Float32Array, Indices


@dataclass(frozen=True, eq=False)
class CanonicalVariates:
    """Directions of both sets, each correlated with one of the other set and uncorrelated with all else.

    Eigenfunctions are uncorrelated with variance 1, so that the singular value decomposition of their covariances
    N = L diag(ρ) Rᵀ is canonical correlation analysis. For Gaussian variates a = Lᵀu and b = Rᵀv the logarithm of the
    density ratio of a pair is Σ_k (ρ_k a_k b_k − ½ρ_k²(a_k² + b_k²)) / (1 − ρ_k²), but for a constant.

    Parameters
    ----------
    left : ndarray of float32, shape (r, k)
        Directions of X.
    right : ndarray of float32, shape (s, k)
        Directions of Y.
    correlations : ndarray of shape (k,)
        Their correlations ρ.
    """

    left: Float32Array
    right: Float32Array
    correlations: Array

    @classmethod
    def of(cls, N: Float32Array, rank: int) -> "CanonicalVariates":
        """Return the variates of covariances whose singular values are taken for correlations.

        Parameters
        ----------
        N : ndarray of float32, shape (r, s)
            Covariances of the eigenfunctions of partners.
        rank : int
            How many eigenfunctions of each set take part.

        Returns
        -------
        CanonicalVariates
            The variates.
        """
        L, rho, Rt = np.linalg.svd(N[:rank, :rank].astype(np.float64), full_matrices=False)
        return cls(L.astype(np.float32), Rt.T.astype(np.float32), rho)

    @classmethod
    def fit(
        cls, U: Float32Array, V: Float32Array, indices: Indices, rank: int, *, n_jobs: int | None = None
    ) -> "CanonicalVariates":
        """Fit variates to all pairs, and correlations to pairs that were left out of the fit.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (m, s)
            Eigenfunctions of both sets.
        indices : ndarray of int, shape (n,)
            The matching.
        rank : int
            How many eigenfunctions of each set take part.
        n_jobs : int, optional
            How many threads of this process take part, as in joblib.

        Returns
        -------
        CanonicalVariates
            The variates.
        """
        matched = np.flatnonzero(indices >= 0)
        halves = [np.full_like(indices, -1) for _ in range(2)]
        for half, rows in zip(halves, (matched[::2], matched[1::2]), strict=True):
            half[rows] = indices[rows]
        N, other = run_here([partial(covariances, U[:, :rank], V[:, :rank], half) for half in halves], n_jobs=n_jobs)
        both = cls.of((N + other) / np.float32(2), rank)
        held_out = np.zeros(len(both.correlations))
        judged = ((N, halves[1]), (other, halves[0]))
        tasks = [partial(cls.of(fitted, rank).correlate, U, V, held) for fitted, held in judged]
        for correlations in run_here(tasks, n_jobs=n_jobs):
            held_out += correlations / 2
        # Those of single variates scatter around a curve that falls with their number.
        return cls(both.left, both.right, np.clip(_falling(held_out), 0.0, 1.0))

    def correlate(self, U: Float32Array, V: Float32Array, indices: Indices) -> Array:
        """Return the correlations of the variates of partners.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (m, s)
            Eigenfunctions of both sets.
        indices : ndarray of int, shape (n,)
            The matching, −1 where x has no partner.

        Returns
        -------
        ndarray of shape (k,)
            Correlations.
        """
        matched = np.flatnonzero(indices >= 0)
        moments = np.zeros((5, len(self.correlations)))
        for first in range(0, len(matched), MULTILEVEL.block):
            rows = matched[first : first + MULTILEVEL.block]
            a, b = U[rows, : len(self.left)] @ self.left, V[indices[rows], : len(self.right)] @ self.right
            moments += [Z.sum(axis=0, dtype=np.float64) for Z in (a, b, a * a, b * b, a * b)]
        of_a, of_b, aa, bb, ab = moments / max(len(matched), 1)
        squares = np.sqrt(np.maximum(aa - of_a**2, 0.0) * np.maximum(bb - of_b**2, 0.0))
        return np.asarray((ab - of_a * of_b) / np.maximum(squares, 1e-30), dtype=np.float64)

    def images(
        self,
        U: Float32Array,
        V: Float32Array,
        largest: float = MULTILEVEL.largest_correlation,
        *,
        n_jobs: int | None = None,
    ) -> tuple[Float32Array, Float32Array]:
        """Return A and B such that A Bᵀ is the profit of every pair.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (m, s)
            Eigenfunctions of both sets.
        largest : float, default 0.999
            Correlations above count as this.
        n_jobs : int, optional
            How many threads of this process take part, as in joblib.

        Returns
        -------
        tuple of two ndarray of float32, shape (n, k + 2) and (m, k + 2)
            A and B.
        """
        kept, rho = self._kept(largest)
        root = np.sqrt(rho / (1 - rho**2)).astype(np.float32)
        half = (0.5 * rho).astype(np.float32)  # (ρ²/(1 − ρ²))/2 in units of root²
        left, right = self.left[:, kept] * root, self.right[:, kept] * root
        A, B = (allocate((len(Z), len(rho) + 2), np.float32, in_file=lies_in_file(Z)) for Z in (U, V))
        tasks = []
        for Z, values, directions, place in ((A, U, left, -1), (B, V, right, -2)):
            for first in range(0, len(Z), MULTILEVEL.block):
                block = slice(first, first + MULTILEVEL.block)
                tasks.append(partial(_carry, Z[block], values[block], directions, half, place))
        run_here(tasks, n_jobs=n_jobs)
        return A, B

    def largest_profit(self, A: Float32Array, largest: float = MULTILEVEL.largest_correlation) -> Array:
        """Return the largest profit that any y could have for each x: ½|a|², that of b = a/ρ.

        Parameters
        ----------
        A : ndarray of float32, shape (n, k + 2)
            Images of some x.
        largest : float, default 0.999
            Correlations above count as this.

        Returns
        -------
        ndarray of shape (n,)
            The profits.
        """
        rho = self._kept(largest)[1]
        return np.asarray(A[:, :-2].astype(np.float64) ** 2 @ (0.5 * (1 - rho**2) / rho))

    def _kept(self, largest: float) -> tuple[BoolArray, Array]:
        """Return which variates count, and their correlations."""
        kept = self.correlations > MULTILEVEL.least_correlation
        return kept, np.minimum(self.correlations[kept], largest)


def _carry(Z: Float32Array, values: Float32Array, directions: Float32Array, half: Float32Array, place: int) -> None:
    """Write the images of some objects, their lengths at one of the last two places and 1 at the other."""
    Z[:, :-2] = values[:, : len(directions)] @ directions
    Z[:, -2:] = 1.0
    Z[:, place] = -(Z[:, :-2] ** 2 @ half)


def _falling(values: Array) -> Array:
    """Return the falling sequence nearest to some values (isotonic regression)."""
    from sklearn.isotonic import IsotonicRegression

    fitted: Array = IsotonicRegression(increasing=False).fit_transform(np.arange(len(values)), values)
    return fitted
