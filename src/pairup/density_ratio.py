"""The density-ratio model with the product basis, each pair left out of its fit in closed form.

With the basis K(x, x_l)·L(y, y_l') and its separable ridge, least squares gives r(x, y) = n·k(x)ᵀ(K + nεI)⁻¹ P
(L + nεI)⁻¹ l(y), so LSMI is ½tr(K̃ P L̃ Pᵀ) − ½ with K̃ = K(K + nεI)⁻¹: KS-NOCCO and LSOM are one method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.forms import paired_product
from pairup.types import Array, Float32Array, Indices

Spectrum = tuple[Array, Float32Array]
"""Eigenvalues, rising, and eigenvectors as columns."""

EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001)  # the ladder of ε: coarse dependence first, fine detail last
SCORED_EPSILONS = EPSILONS[:-1]  # of held-out scores
NEGLIGIBLE = 1e-6  # directions that shrink below this share of the widest are left out
ITERATED_FROM = 8  # objects per leading direction from which these are found by subspace iteration …
SPARE_DIRECTIONS = 32  # … with this many more …
SUBSPACE_ITERATIONS = 5  # … in as many steps
FEW_DIRECTIONS = 3  # objects per direction from which products by directions are quicker
LARGEST_LEVERAGE = 0.9999  # an object that only itself predicts would be divided by 0


def eigendecompose(K: Array | Float32Array) -> Spectrum:
    """Return the eigenvalues, none below 0, and eigenvectors of a kernel matrix.

    Single precision is enough: eigenvalues count beside nε, which is far above its rounding.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A kernel matrix; it may be overwritten.

    Returns
    -------
    Spectrum
        Eigenvalues and eigenvectors.
    """
    from scipy.linalg import eigh

    w, V = eigh(K.astype(np.float32, copy=False), driver="evd", overwrite_a=True, check_finite=False)
    return np.maximum(w, 0.0).astype(np.float64), V.astype(np.float32, copy=False)


def factor(eigen: Spectrum, epsilon: float) -> Float32Array:
    """Return U with UUᵀ = K̃ = K(K + nεI)⁻¹.

    Parameters
    ----------
    eigen : Spectrum
        The eigendecomposition of K.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    ndarray of float32, shape (n, r)
        The factor.
    """
    w, V = eigen
    shrunk = w / (w + len(V) * epsilon)
    kept = shrunk > NEGLIGIBLE * shrunk.max(initial=1e-30)
    U: Float32Array = V[:, kept] * np.sqrt(shrunk[kept]).astype(np.float32)
    return U


def whiten(eigen: Spectrum, epsilon: float) -> Float32Array:
    """Return K̃ = K(K + nεI)⁻¹ centred, without its diagonal, and scaled to norm 1.

    Parameters
    ----------
    eigen : Spectrum
        The eigendecomposition of K.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    ndarray of float32, shape (n, n)
        The whitened kernel.
    """
    T = _centered_gram(factor(eigen, epsilon))
    np.fill_diagonal(T, 0.0)
    T /= max(float(np.linalg.norm(T)), 1e-30)
    return T


def count_directions(epsilon: float) -> int:
    """Return how many leading directions tell as much as all at ε, at every n: the others are noise.

    Parameters
    ----------
    epsilon : float
        The regulariser ε.

    Returns
    -------
    int
        A multiple of 16: matrices of such sides multiply fastest.

    Examples
    --------
    >>> [count_directions(epsilon) for epsilon in EPSILONS]
    [48, 64, 96, 144, 192]
    """
    coarsest = 48  # directions at ε = 0.1; their number grows as ε^−0.3
    return 16 * round(float(coarsest / 16 * (EPSILONS[0] / epsilon) ** 0.3))


def leading_directions(K: Float32Array, most: int) -> Float32Array:
    """Return the leading eigenvectors of a kernel matrix.

    If they are few beside all, by subspace iteration from fixed random vectors, which is much quicker: the spectra of
    kernels fall fast, and the last of these directions matter little.

    Parameters
    ----------
    K : ndarray of float32, shape (n, n)
        A kernel matrix; it may be overwritten.
    most : int
        How many eigenvectors at most.

    Returns
    -------
    ndarray of float32, shape (n, r)
        The eigenvectors as columns, the widest first.

    Examples
    --------
    >>> leading_directions(np.diag([1.0, 4.0, 2.0]).astype(np.float32), 1).T.round(6) ** 2
    array([[0., 1., 0.]], dtype=float32)
    """
    if len(K) < ITERATED_FROM * most:
        return np.ascontiguousarray(eigendecompose(K)[1][:, : -most - 1 : -1])
    Q = np.random.default_rng(0).normal(size=(len(K), most + SPARE_DIRECTIONS)).astype(np.float32)
    for _ in range(SUBSPACE_ITERATIONS):
        Q = np.linalg.qr(K @ Q)[0]
    V = eigendecompose(Q.T @ (K @ Q))[1][:, : -most - 1 : -1]
    return Q @ np.ascontiguousarray(V)


@dataclass(frozen=True, eq=False)
class Subspace:
    """Several kernels of one set within the leading directions of their sum.

    Parameters
    ----------
    Q : ndarray of float32, shape (n, r)
        The directions as orthonormal columns, the widest first.
    inner : list of ndarray of float32, shape (r, r)
        QᵀKQ for each kernel K.
    """

    Q: Float32Array
    inner: list[Float32Array]

    @classmethod
    def from_kernels(cls, kernels: Sequence[Float32Array], most: int) -> "Subspace":
        """Find the leading directions of the sum of several kernels.

        Parameters
        ----------
        kernels : sequence of ndarray of float32, shape (n, n)
            Kernel matrices of one set.
        most : int
            How many directions at most.

        Returns
        -------
        Subspace
            The kernels within these directions.
        """
        total = sum(kernels[1:], start=kernels[0].copy())
        Q = leading_directions(total, most)
        return cls(Q, [Q.T @ (K @ Q) for K in kernels])

    def spectrum(self, which: int) -> Spectrum:
        """Return the leading eigenvalues and eigenvectors of one of the kernels.

        Parameters
        ----------
        which : int
            The number of the kernel.

        Returns
        -------
        Spectrum
            Eigenvalues and eigenvectors.
        """
        w, V = eigendecompose(self.inner[which].copy())
        return w, self.Q @ V

    def whiten(self, epsilon: float, which: Sequence[int]) -> tuple[Float32Array, Float32Array]:
        """Whiten some of the kernels within the leading directions.

        Parameters
        ----------
        epsilon : float
            The regulariser ε.
        which : sequence of int
            The numbers of the kernels.

        Returns
        -------
        A : ndarray of float32, shape (n, r)
            Directions.
        S : ndarray of float32, shape (k, r, r)
            Kernels: A S_k Aᵀ is nearly what `whiten` returns for the k-th, but for its diagonal.
        """
        rank = min(count_directions(epsilon), self.Q.shape[1])
        A = self.Q[:, :rank] - self.Q[:, :rank].mean(axis=0)
        square = A.T @ A
        S = np.empty((len(which), rank, rank), dtype=np.float32)
        for k, number in enumerate(which):
            U = factor(eigendecompose(self.inner[number][:rank, :rank].copy()), epsilon * len(A) / rank)
            S[k] = U @ U.T
            AS = A @ S[k]
            squares = float(np.vdot(S[k] @ square, square @ S[k]) - (np.einsum("ij,ij->i", AS, A) ** 2).sum())
            S[k] /= max(squares, 1e-30) ** 0.5
        return A, S


def _centered_gram(U: Float32Array) -> Float32Array:
    U = U - U.mean(axis=0)
    square: Float32Array = U @ U.T
    return square


def leave_one_out(eigen: Spectrum, epsilon: float) -> Float32Array:
    """Return A with row i = k(x_i)ᵀ(K₋ᵢ + nεI)⁻¹, the smoother fitted without x_i: A_il = K̃_il / (1 − K̃_ii).

    Parameters
    ----------
    eigen : Spectrum
        The eigendecomposition of K.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    ndarray of float32, shape (n, n)
        The smoother, 0 on its diagonal.
    """
    return _smoother(factor(eigen, epsilon))[0]


def _smoother(U: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return A_il = K̃_il / (1 − K̃_ii) with zeros on the diagonal, and 1/(1 − K̃_ii), for K̃ = UUᵀ."""
    T: Float32Array = U @ U.T
    scale: Float32Array = (1.0 / (1.0 - np.minimum(np.diag(T), LARGEST_LEVERAGE))).astype(np.float32)
    np.fill_diagonal(T, 0.0)
    T *= scale[:, None]
    return T, scale


def smoother_and_square(eigen: Spectrum, epsilon: float) -> tuple[Float32Array, Float32Array]:
    """Return A of `leave_one_out`, and AᵀA by the few directions of K̃ where they are few.

    With K̃ = UUᵀ, its diagonal t and D = diag(1/(1 − t)), AᵀA = U(UᵀD²U)Uᵀ − W − Wᵀ + diag(t²D²), W = diag(tD²)UUᵀ.

    Parameters
    ----------
    eigen : Spectrum
        The eigendecomposition of K, or its leading part.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    tuple of two ndarray of float32, shape (n, n)
        A and AᵀA.
    """
    U = factor(eigen, epsilon)
    A, scale = _smoother(U)
    if FEW_DIRECTIONS * U.shape[1] > len(U):
        return A, A.T @ A
    square = scale**2
    own = np.einsum("ij,ij->i", U, U)
    B = np.asarray(U @ ((U.T @ (square[:, None] * U)) @ U.T), dtype=np.float32)
    W = A * (own * scale)[:, None]  # without its diagonal
    B -= W
    B -= W.T
    B[np.diag_indices(len(B))] -= own**2 * square
    return A, B


def held_out_scores(
    x: Spectrum, y: Spectrum, matchings: Sequence[Indices], epsilons: Sequence[float] = SCORED_EPSILONS
) -> Array:
    """Return J = ½ mean r(x_i, y_j)² − mean r(x_i, y_i) of matchings, each pair scored by a fit without it.

    With r_ij = n·Σ_l A_il B[p_j, p_l] and A, B of `leave_one_out`, J = ½Σ(AᵀA)∘(BᵀB)[p, p] − ΣA∘B[p, p]: a matching
    costs two elementwise products.

    Parameters
    ----------
    x, y : Spectrum
        Eigendecompositions of the kernel matrices of the two sets.
    matchings : sequence of ndarray of int, shape (n,)
        Matchings, −1 where an x has no partner.
    epsilons : sequence of float, default SCORED_EPSILONS
        The regularisers ε.

    Returns
    -------
    ndarray of shape (n_matchings, n_epsilons)
        J; lower is better.
    """
    J = np.empty((len(matchings), len(epsilons)))
    for e, epsilon in enumerate(epsilons):
        (A, AA), (B, BB) = smoother_and_square(x, epsilon), smoother_and_square(y, epsilon)
        J[:, e] = [0.5 * paired_product(AA, BB, p) - paired_product(A, B, p) for p in matchings]
    return J


def density_ratios(x: Spectrum, y: Spectrum, indices: Indices, epsilon: float) -> Float32Array:
    """Return r(x_i, y_j) of all pairs under a matching, the pairs of x_i and of y_j left out of its fit.

    Parameters
    ----------
    x, y : Spectrum
        Eigendecompositions of the kernel matrices of the two sets.
    indices : ndarray of int, shape (n,)
        The matching that the model is fitted to.
    epsilon : float
        The regulariser ε.

    Returns
    -------
    ndarray of float32, shape (n, m)
        How much likelier each pair is than chance.
    """
    matched = np.flatnonzero(indices >= 0)
    A, B = leave_one_out(x, epsilon), leave_one_out(y, epsilon)
    r: Float32Array = len(matched) * (A[:, matched] @ B[:, indices[matched]].T)
    return r


def relative_scores(J: Array) -> Array:
    """Return scores J of matchings (rows) in units of the best of each model (column), 1 at the most.

    Parameters
    ----------
    J : ndarray of shape (n_matchings, n_models)
        Held-out scores, lower is better.

    Returns
    -------
    ndarray of shape (n_matchings, n_models)
        Relative scores, larger is better.

    Examples
    --------
    >>> relative_scores(np.array([[-4.0, -1.0], [-2.0, -2.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    shares: Array = J / np.minimum(J.min(axis=0), -1e-12)
    return shares
