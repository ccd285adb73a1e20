"""Canonical variates of partners: the profit of a pair as the logarithm of a density ratio."""

from dataclasses import dataclass

import numpy as np

from pairup.auto.schedule import MULTILEVEL
from pairup.auto.view import covariances
from pairup.types import Array, Float32Array, Indices


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
    def fit(cls, U: Float32Array, V: Float32Array, indices: Indices, rank: int) -> "CanonicalVariates":
        """Fit variates to all pairs, and correlations to pairs that were left out of the fit.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (m, s)
            Eigenfunctions of both sets.
        indices : ndarray of int, shape (n,)
            The matching.
        rank : int
            How many eigenfunctions of each set take part.

        Returns
        -------
        CanonicalVariates
            The variates.
        """
        matched = np.flatnonzero(indices >= 0)
        halves = matched[::2], matched[1::2]
        N, other = (covariances(U[half, :rank], V[:, :rank], indices[half]) for half in halves)
        both = cls.of((N + other) / np.float32(2), rank)
        held_out = np.zeros(len(both.correlations))
        for fitted, held in ((N, halves[1]), (other, halves[0])):
            held_out += cls.of(fitted, rank).correlate(U[held], V[indices[held]]) / 2
        # Those of single variates scatter around a curve that falls with their number.
        return cls(both.left, both.right, np.clip(_falling(held_out), 0.0, 1.0))

    def correlate(self, U: Float32Array, V: Float32Array) -> Array:
        """Return the correlations of the variates of partners.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (n, s)
            Eigenfunctions of partners.

        Returns
        -------
        ndarray of shape (k,)
            Correlations.
        """
        a, b = U[:, : len(self.left)] @ self.left, V[:, : len(self.right)] @ self.right
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        squares = np.sqrt(np.einsum("nk,nk->k", a, a).astype(np.float64) * np.einsum("nk,nk->k", b, b))
        products: Array = np.einsum("nk,nk->k", a, b) / np.maximum(squares, 1e-30)
        return products

    def images(
        self, U: Float32Array, V: Float32Array, largest: float = MULTILEVEL.largest_correlation
    ) -> tuple[Float32Array, Float32Array]:
        """Return A and B such that A Bᵀ is the profit of every pair.

        Parameters
        ----------
        U, V : ndarray of float32, shape (n, r) and (m, s)
            Eigenfunctions of both sets.
        largest : float, default 0.999
            Correlations above count as this.

        Returns
        -------
        tuple of two ndarray of float32, shape (n, k + 2) and (m, k + 2)
            A and B.
        """
        kept = self.correlations > MULTILEVEL.least_correlation
        rho = np.minimum(self.correlations[kept], largest)
        root = np.sqrt(rho / (1 - rho**2)).astype(np.float32)
        half = (0.5 * rho).astype(np.float32)  # (ρ²/(1 − ρ²))/2 in units of root²
        left, right = self.left[:, kept] * root, self.right[:, kept] * root
        A = np.ones((len(U), len(rho) + 2), dtype=np.float32)
        B = np.ones((len(V), len(rho) + 2), dtype=np.float32)
        A[:, :-2], B[:, :-2] = U[:, : len(left)] @ left, V[:, : len(right)] @ right
        A[:, -1], B[:, -2] = -(A[:, :-2] ** 2 @ half), -(B[:, :-2] ** 2 @ half)
        return A, B


def _falling(values: Array) -> Array:
    """Return the falling sequence nearest to some values (isotonic regression)."""
    from sklearn.isotonic import IsotonicRegression

    fitted: Array = IsotonicRegression(increasing=False).fit_transform(np.arange(len(values)), values)
    return fitted
