"""Quadratic forms of plans, tr(K P L Pᵀ): dense, or by the leading directions of their kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from pairup.assignment import SMALL
from pairup.compiled import compiled
from pairup.types import Array, Float32Array, Indices

KEPT_ENERGY = 0.999  # share of the squared norm of Σ_k K_k ⊗ L_k that fewer forms keep


class QuadraticForm(Protocol):
    """A quadratic form of plans, tr(K P L Pᵀ), or a sum of them."""

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return K P L, half the gradient at a plan."""

    def value(self, indices: Indices) -> float:
        """Return Σ K∘L[p, p] over the matched objects."""


@dataclass(frozen=True, eq=False)
class DenseForm:
    """The form of two matrices.

    Parameters
    ----------
    K : ndarray of float32, shape (n, n)
        Kernel matrix of X, without its diagonal.
    L : ndarray of float32, shape (m, m)
        Kernel matrix of Y, likewise.
    """

    K: Float32Array
    L: Float32Array

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return K P L."""
        return np.asarray(self.K @ plan @ self.L, dtype=np.float32)

    def value(self, indices: Indices) -> float:
        """Return Σ K∘L[p, p] over the matched objects."""
        return paired_product(self.K, self.L, indices)


def combine_dense(K: Sequence[Float32Array], L: Sequence[Float32Array]) -> list[QuadraticForm]:
    """Return the forms of pairs of matrices as fewer forms, of nearly the same mean: matrices that are alike share one.

    The sum of all K_k ⊗ L_k is written as a sum of orthogonal terms, and the largest of these are kept: of two or four
    kernels of one metric mostly one or two, of ten of five metrics about three.

    Parameters
    ----------
    K : sequence of ndarray of float32, shape (n, n)
        Kernel matrices of X, without their diagonals.
    L : sequence of ndarray of float32, shape (m, m)
        As many of Y.

    Returns
    -------
    list of QuadraticForm
        The forms.

    Examples
    --------
    >>> K = np.array([[0, 1], [1, 0]], dtype=np.float32)
    >>> [round(form.value(np.array([1, 0])), 3) for form in combine_dense([K, 2 * K], [K, K])]
    [3.0]
    """
    (P, of_x), (Q, of_y) = _factor_gram(K), _factor_gram(L)
    U, s, V = np.linalg.svd(P.T @ Q)
    kept = 1 + int(np.searchsorted(np.cumsum(s**2), KEPT_ENERGY * float(s @ s)))
    if kept >= len(K):
        return [DenseForm(*pair) for pair in zip(K, L, strict=True)]
    scale = kept / len(K)  # the mean over fewer forms
    x, y = of_x @ (U[:, :kept] * (scale * s[:kept])), of_y @ V[:kept].T
    return [DenseForm(_mix(x[:, k], K), _mix(y[:, k], L)) for k in range(kept)]


def _factor_gram(matrices: Sequence[Float32Array]) -> tuple[Array, Array]:
    """Return F and C such that the matrices are F times orthonormal ones, which are Cᵀ times the matrices."""
    gram = np.array([[float(np.vdot(a, b)) for a in matrices] for b in matrices])
    w, V = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(w, 1e-9 * max(w[-1], 1e-30)))
    return V * root, V / root


def _mix(weights: Array, matrices: Sequence[Float32Array]) -> Float32Array:
    mixed = np.zeros_like(matrices[0])
    for weight, matrix in zip(weights, matrices, strict=True):
        mixed += np.float32(weight) * matrix
    return mixed


def paired_product(K: Float32Array, L: Float32Array, indices: Indices) -> float:
    """Return Σ K∘L[p, p] over the objects that have a partner.

    Parameters
    ----------
    K : ndarray of float32, shape (n, n)
        A matrix of X.
    L : ndarray of float32, shape (m, m)
        A matrix of Y.
    indices : ndarray of int, shape (n,)
        The matching p.

    Returns
    -------
    float
        The sum.
    """
    i = np.flatnonzero(indices >= 0)
    p = indices[i]
    if len(i) > SMALL:
        return float(_paired_product(K, L, i, p))
    return float(np.vdot(K[i][:, i], L[p][:, p]))


@compiled
def _paired_product(K: Float32Array, L: Float32Array, i: Indices, p: Indices) -> float:
    total = 0.0
    end = len(i) // 4 * 4
    for k, row in zip(i, p):  # noqa: B905  numba knows no strict
        x, y = K[k], L[row]
        s0 = s1 = s2 = s3 = np.float32(0)  # four sums at once: one would wait for each addition
        for j in range(0, end, 4):
            s0 += x[i[j]] * y[p[j]]
            s1 += x[i[j + 1]] * y[p[j + 1]]
            s2 += x[i[j + 2]] * y[p[j + 2]]
            s3 += x[i[j + 3]] * y[p[j + 3]]
        for j in range(end, len(i)):
            s0 += x[i[j]] * y[p[j]]
        total += float(s0 + s1 + s2 + s3)
    return total


@dataclass(frozen=True, eq=False)
class LowRankForm:
    """The sum over k of forms whose kernels share their directions: K_k = A S_k Aᵀ and L_k = B T_k Bᵀ.

    Their diagonals are left out, and no kernel is ever formed: the profit of all costs some 8·n·m·rank operations,
    half of them if the diagonals may stay in it. Among many objects the diagonals weigh little.

    Parameters
    ----------
    A : ndarray of float32, shape (n, r)
        Directions of X.
    S : ndarray of float32, shape (k, r, r)
        Kernels of X within them.
    B : ndarray of float32, shape (m, s)
        Directions of Y.
    T : ndarray of float32, shape (k, s, s)
        Kernels of Y within them.
    excludes_self : bool, default True
        Whether the diagonals are left out of the profit; they always are of the value.
    """

    A: Float32Array
    S: Float32Array
    B: Float32Array
    T: Float32Array
    excludes_self: bool = True

    @cached_property
    def _diagonals(self) -> tuple[Float32Array, Float32Array]:
        a, b = ((Z @ C * Z).sum(axis=2) for Z, C in ((self.A, self.S), (self.B, self.T)))
        return a, b

    @cached_property
    def _own(self) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]:
        """Return a, b, Σ_k α_k T_k, Σ_k β_k S_k and Σ_k α_k β_k, where α_k·a and β_k·b are nearly the k-th diagonals.

        The diagonals of kernels of one set hardly differ but by a factor.
        """
        (u, s, v), (w, t, z) = (np.linalg.svd(d, full_matrices=False) for d in self._diagonals)
        alpha, beta = u[:, 0] * s[0], w[:, 0] * t[0]
        return v[0], z[0], np.tensordot(alpha, self.T, 1), np.tensordot(beta, self.S, 1), alpha @ beta

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return Σ_k (A S_k Aᵀ − α_k·diag a) P (B T_k Bᵀ − β_k·diag b)."""
        right = plan @ self.B
        W = (self.S @ (self.A.T @ right) @ self.T).sum(axis=0) @ self.B.T
        G: Float32Array
        if not self.excludes_self:
            G = self.A @ W
            return G
        a, b, T, S, both = self._own
        W -= S @ ((self.A.T @ plan) * b)
        V = (right * -a[:, None]) @ T
        G = np.hstack([self.A, V]) @ np.vstack([W, self.B.T])
        own = plan * (both * b)
        own *= a[:, None]
        G += own
        return G

    def value(self, indices: Indices) -> float:
        """Return Σ_k Σ K_k∘L_k[p, p] over the matched objects."""
        i = np.flatnonzero(indices >= 0)
        p = indices[i]
        M = self.A[i].T @ self.B[p]
        a, b = self._diagonals
        return float(np.vdot((self.S @ M @ self.T).sum(axis=0), M) - np.vdot(a[:, i], b[:, p]))


def alignment(forms: Sequence[QuadraticForm], indices: Indices) -> float:
    """Return the kernel alignment of a matching: the mean of Σ K∘L[p, p] over forms of norm 1, a cosine.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        Forms whose kernels have norm 1.
    indices : ndarray of int, shape (n,)
        The matching p.

    Returns
    -------
    float
        A number in [−1, 1].
    """
    return float(np.mean([form.value(indices) for form in forms]))


def exclude_self(K: Array) -> Array:
    """Return K without its diagonal: with it, every current pair votes for itself, G[i, p_i] ∋ K_ii·L[p_i, p_i].

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A kernel matrix.

    Returns
    -------
    ndarray of shape (n, n)
        A copy with zeros on the diagonal.

    Examples
    --------
    >>> exclude_self(np.eye(2) + 1.0)
    array([[0., 1.],
           [1., 0.]])
    """
    off = np.array(K)
    np.fill_diagonal(off, 0.0)
    return off
