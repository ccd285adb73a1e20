"""The density-ratio model with the product basis, left one out in closed form.

With the basis K(x, x_l)·L(y, y_l') and its separable ridge, least squares gives r(x, y) = n·k(x)ᵀ(K + nεI)⁻¹ P
(L + nεI)⁻¹ l(y), so LSMI is ½tr(K̃ P L̃ Pᵀ) − ½ with K̃ = K(K + nεI)⁻¹: KS-NOCCO and LSOM are one method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.annealing import paired_product
from pairup.types import Array, Float32Array, Indices

Spectrum = tuple[Array, Float32Array]
EPSILONS = (0.1, 0.03, 0.01, 0.003)


def spectrum(K: Array | Float32Array) -> Spectrum:
    """Return the eigenvalues, none below 0, and eigenvectors of a kernel matrix, which may be overwritten.

    Float32Array precision is enough: eigenvalues count beside nε, which is far above its rounding.
    """
    from scipy.linalg import eigh

    w, V = eigh(K.astype(np.float32, copy=False), driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(w, 0.0).astype(np.float64), V.astype(np.float32, copy=False)


def factor(eigen: Spectrum, epsilon: float, *, least: float = 1e-6) -> Float32Array:
    """Return U with UUᵀ = K̃ = K(K + nεI)⁻¹; directions that shrink below `least` of the widest are left out."""
    w, V = eigen
    shrunk = w / (w + len(w) * epsilon)
    kept = shrunk > least * shrunk.max(initial=1e-30)
    U: Float32Array = V[:, kept] * np.sqrt(shrunk[kept]).astype(np.float32)
    return U


def whitened(eigen: Spectrum, epsilon: float) -> Float32Array:
    """Return K̃ as the search wants it: without its constant part and its diagonal, of norm 1."""
    T = _centred_square(factor(eigen, epsilon))
    np.fill_diagonal(T, 0.0)
    T /= max(float(np.linalg.norm(T)), 1e-30)
    return T


def directions(epsilon: float) -> int:
    """Return how many leading directions tell as much as all at ε, at every n: the others are noise.

    >>> [directions(epsilon) for epsilon in (0.1, 0.03, 0.01, 0.003, 0.001)]
    [48, 64, 96, 144, 192]
    """
    return 16 * round(float(3 * (0.1 / epsilon) ** 0.3))  # matrices of such sides multiply fastest


@dataclass(frozen=True)
class Compressed:
    """Several kernels of one set within the leading directions of their sum.

    Parameters
    ----------
    Q : the directions as orthonormal columns, the widest first.
    inner : QᵀKQ for each kernel K.
    """

    Q: Float32Array
    inner: list[Float32Array]

    @classmethod
    def of(cls, kernels: Sequence[Float32Array], most: int) -> "Compressed":
        """Return the kernels within at most `most` directions."""
        Q = np.ascontiguousarray(spectrum(sum(kernels[1:], start=kernels[0].copy()))[1][:, : -most - 1 : -1])
        return cls(Q, [Q.T @ (K @ Q) for K in kernels])

    def spectrum(self, which: int) -> Spectrum:
        """Return the leading eigenvalues and eigenvectors of one of the kernels."""
        w, V = spectrum(self.inner[which].copy())
        return w, self.Q @ V

    def whitened(self, epsilon: float, which: Sequence[int]) -> tuple[Float32Array, Float32Array]:
        """Return A and S_k such that A S_k Aᵀ is nearly `whitened` for some of the kernels, but for its diagonal."""
        rank = min(directions(epsilon), self.Q.shape[1])
        A = self.Q[:, :rank] - self.Q[:, :rank].mean(axis=0)
        square = A.T @ A
        S = np.empty((len(which), rank, rank), dtype=np.float32)
        for k, number in enumerate(which):
            U = factor(spectrum(self.inner[number][:rank, :rank].copy()), epsilon * len(A) / rank)
            S[k] = U @ U.T
            AS = A @ S[k]
            squares = float(np.vdot(S[k] @ square, square @ S[k]) - (np.einsum("ij,ij->i", AS, A) ** 2).sum())
            S[k] /= max(squares, 1e-30) ** 0.5
        return A, S


def _centred_square(U: Float32Array) -> Float32Array:
    U = U - U.mean(axis=0)
    square: Float32Array = U @ U.T
    return square


def left_out(eigen: Spectrum, epsilon: float) -> Float32Array:
    """Return A with row i = k(x_i)ᵀ(K₋ᵢ + nεI)⁻¹, the smoother fitted without x_i: A_il = K̃_il / (1 − K̃_ii)."""
    U = factor(eigen, epsilon)
    T: Float32Array = U @ U.T
    diagonal = np.minimum(np.diag(T), 0.9999)
    np.fill_diagonal(T, 0.0)
    T /= (1.0 - diagonal)[:, None]
    return T


def held_out(x: Spectrum, y: Spectrum, matchings: Sequence[Indices], epsilons: Sequence[float] = EPSILONS) -> Array:
    """Return J = ½ mean r(x_i, y_j)² − mean r(x_i, y_i) of matchings (rows) at each ε (columns); lower is better.

    Every pair is scored by the model that is fitted without it: r_ij = n·Σ_l A_il B[p_j, p_l] with A and B of
    `left_out`, so that J = ½Σ(AᵀA)∘(BᵀB)[p, p] − ΣA∘B[p, p]: a matching costs two elementwise products.

    Parameters
    ----------
    x, y : eigendecompositions of the kernel matrices of the two sets.
    matchings : indices, −1 where an x has no partner.
    epsilons : the regularisers ε.
    """
    J = np.empty((len(matchings), len(epsilons)))
    for e, epsilon in enumerate(epsilons):
        A, B = left_out(x, epsilon), left_out(y, epsilon)
        J[:, e] = [-paired_product(A, B, indices) for indices in matchings]
        A, B = A.T @ A, B.T @ B
        J[:, e] += [0.5 * paired_product(A, B, indices) for indices in matchings]
    return J


def ratios(x: Spectrum, y: Spectrum, indices: Indices, epsilon: float) -> Float32Array:
    """Return r(x_i, y_j) of all pairs under a matching, the pairs of x_i and of y_j left out of its fit."""
    matched = np.flatnonzero(indices >= 0)
    A, B = left_out(x, epsilon), left_out(y, epsilon)
    r: Float32Array = len(matched) * (A[:, matched] @ B[:, indices[matched]].T)
    return r


def relative(J: Array) -> Array:
    """Return scores J of matchings (rows) in units of the best that each judge (column) has seen, 1 at the most.

    >>> relative(np.array([[-4.0, -1.0], [-2.0, -2.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    shares: Array = J / np.minimum(J.min(axis=0), -1e-12)
    return shares
