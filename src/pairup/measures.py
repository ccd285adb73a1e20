"""The paper's four measures of dependence, as functions of a matching.

Each measure is prepared once from the kernel matrices K (of X) and L (of Y) and is then evaluated at a *plan*:
either `indices`, an integer array such that Y[indices] is aligned with X, or a soft plan P (rows X, columns Y).
`Measure.evaluate` returns the measure's value and the profit matrix G whose linear assignment is the next matching.
"""

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg

from pairup.kernels import center
from pairup.types import Array, Plan


def is_hard(plan: Plan) -> bool:
    """Tell whether a plan is an integer array `indices`, not a soft plan.

    Parameters
    ----------
    plan : ndarray of shape (n,) or (n, n)
        Indices, or a soft plan.

    Returns
    -------
    bool
        True for indices.

    Examples
    --------
    >>> is_hard(np.array([1, 0])), is_hard(np.eye(2))
    (True, False)
    """
    return plan.ndim == 1


def align(L: Array, plan: Plan) -> Array:
    """Return L[p, p], or P L Pᵀ for a soft plan: the kernel of Y in the order of X.

    Parameters
    ----------
    L : ndarray of shape (n, n)
        Kernel matrix of Y.
    plan : ndarray of shape (n,) or (n, n)
        Indices p, or a soft plan P.

    Returns
    -------
    ndarray of shape (n, n)
        The aligned kernel matrix.

    Examples
    --------
    >>> align(np.arange(4.0).reshape(2, 2), np.array([1, 0]))
    array([[3., 2.],
           [1., 0.]])
    """
    # Rows, then columns: two contiguous gathers beat one with np.ix_.
    return L[plan][:, plan] if is_hard(plan) else plan @ L @ plan.T


def carry(L: Array, plan: Plan) -> Array:
    """Return L[p], or P L for a soft plan: row i is the kernel of the partner of x_i against all of Y.

    Parameters
    ----------
    L : ndarray of shape (n, n)
        Kernel matrix of Y.
    plan : ndarray of shape (n,) or (n, n)
        Indices p, or a soft plan P.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix with its rows in the order of X.

    Examples
    --------
    >>> carry(np.arange(4.0).reshape(2, 2), np.array([1, 0]))
    array([[2., 3.],
           [0., 1.]])
    """
    return L[plan] if is_hard(plan) else plan @ L


def paired_sum(G: Array, plan: Plan) -> float:
    """Return Σ_i G[i, p_i], or ⟨G, P⟩ for a soft plan.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Profit of every pair.
    plan : ndarray of shape (n,) or (n, n)
        Indices p, or a soft plan P.

    Returns
    -------
    float
        The total profit of the plan.

    Examples
    --------
    >>> paired_sum(np.arange(4.0).reshape(2, 2), np.array([1, 0]))
    3.0
    """
    if is_hard(plan):
        return float(G[np.arange(len(plan)), plan].sum())
    return float(np.vdot(G, plan))


class Measure(ABC):
    """A dependence measure of matched sets; larger is more dependent."""

    @abstractmethod
    def evaluate(self, plan: Plan) -> tuple[float, Array]:
        """Return the value at a plan and the profit matrix of the next assignment.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            The matrix G whose linear assignment is the next matching.
        """

    def reevaluate(self, plan: Plan, before: Plan, profit: Array) -> tuple[float, Array]:
        """Return value and profit at a plan, given the profit at another plan; it may be overwritten.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.
        before : ndarray of shape (n,) or (n, n)
            The plan evaluated before.
        profit : ndarray of shape (n, n)
            The profit at `before`.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            The profit at the plan.
        """
        return self.evaluate(plan)

    def value(self, plan: Plan) -> float:
        """Return the value at a plan.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        float
            The measure at the plan.
        """
        return self.evaluate(plan)[0]

    def profit(self, plan: Plan) -> Array:
        """Return the profit matrix at a plan.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix G whose linear assignment is the next matching.
        """
        return self.evaluate(plan)[1]


class Quadratic(Measure):
    """The common form of HSIC and NOCCO, tr(K Πᵀ L Π) = Σ_ij K_ij L[p_i, p_j] (Eq. 3).

    Its profit G = K·L[p] is half the gradient (Eq. 5), and the value is Σ_i G[i, p_i].

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix of X.
    L : ndarray of shape (n, n)
        Symmetric matrix of Y.

    Examples
    --------
    >>> Quadratic(np.diag([1.0, 2.0]), np.diag([3.0, 4.0])).value(np.array([1, 0]))
    10.0
    """

    def __init__(self, K: Array, L: Array) -> None:
        self.K = K
        self.L = L

    def evaluate(self, plan: Plan) -> tuple[float, Array]:
        """Return Σ K∘L[p, p] and K·L[p].

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices p, or a soft plan.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            K·L[p], half the gradient.
        """
        G = self.K @ carry(self.L, plan)
        return paired_sum(G, plan), G

    def reevaluate(self, plan: Plan, before: Plan, profit: Array) -> tuple[float, Array]:
        """Add to K·L[p] the change K[:, c]·(L[p_c] − L[q_c]) of the changed pairs c: late in a climb they are few.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices p, or a soft plan.
        before : ndarray of shape (n,) or (n, n)
            The plan q evaluated before.
        profit : ndarray of shape (n, n)
            The profit at `before`; it may be overwritten.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            The profit at the plan.
        """
        if not is_hard(plan):
            return self.evaluate(plan)
        changed = np.flatnonzero(plan != before)
        if 4 * len(changed) > 3 * len(plan):
            return self.evaluate(plan)
        gain = self.L[plan[changed]] - self.L[before[changed]]
        # K is symmetric: its rows are its columns, and lie together in memory. BLAS adds in place, in Fortran's order.
        profit = linalg.blas.dgemm(
            1.0, gain.T, self.K[changed].T, beta=1.0, c=profit.T, trans_b=True, overwrite_c=True
        ).T
        return paired_sum(profit, plan), profit


class HSIC(Quadratic):
    """The Hilbert-Schmidt independence criterion tr(K̄ L̄) of centred kernels.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of X.
    L : ndarray of shape (n, n)
        Kernel matrix of Y.

    Examples
    --------
    >>> K = np.eye(3)
    >>> float(HSIC(K, K).value(np.arange(3)).__round__(12))
    2.0
    """

    def __init__(self, K: Array, L: Array) -> None:
        super().__init__(center(K), center(L))


def normalize(K: Array, epsilon: float) -> Array:
    """Return K(K + nεI)⁻¹ for a symmetric K, symmetric to the last bit.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    epsilon : float
        The regulariser ε, positive.

    Returns
    -------
    ndarray of shape (n, n)
        The normalized matrix.

    Examples
    --------
    >>> round(float(normalize(np.eye(2), epsilon=0.5)[0, 0]), 12)
    0.5
    """
    n = len(K)
    shifted = K.copy()
    shifted[np.diag_indices(n)] += n * epsilon
    # K(K + nεI)⁻¹ = I − nε(K + nεI)⁻¹: one symmetric inverse, and it commutes, so the result is symmetric.
    inverse = inverse_symmetric(shifted)
    inverse *= -n * epsilon
    inverse[np.diag_indices(n)] += 1.0
    return inverse


def inverse_symmetric(A: Array) -> Array:
    """Return A⁻¹ of a symmetric A: by Cholesky if it is positive definite, by LU if not (indefinite kernels).

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric, invertible matrix.

    Returns
    -------
    ndarray of shape (n, n)
        The inverse, symmetric to the last bit.

    Examples
    --------
    >>> inverse_symmetric(np.diag([2.0, -4.0]))
    array([[ 0.5 ,  0.  ],
           [ 0.  , -0.25]])
    """
    factor, failed = linalg.lapack.dpotrf(A, lower=1, clean=0)
    if not failed:
        inverse, failed = linalg.lapack.dpotri(factor, lower=1)
    if failed:
        inverse = linalg.inv(A)
    lower = np.tril(inverse)
    result: Array = lower + np.tril(lower, -1).T
    return result


class NOCCO(Quadratic):
    """The normalized cross-covariance operator's tr(K̃ L̃), K̃ = K̄(K̄ + nεI)⁻¹.

    The permuted L̃ is the L̃ of permuted data (section 4.1), so it is prepared once.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of X.
    L : ndarray of shape (n, n)
        Kernel matrix of Y.
    epsilon : float, default 0.05
        The regulariser ε, positive.

    Examples
    --------
    >>> round(NOCCO(np.eye(3), np.eye(3), epsilon=1 / 3).value(np.arange(3)), 12)
    0.5
    """

    def __init__(self, K: Array, L: Array, *, epsilon: float = 0.05) -> None:
        super().__init__(normalize(center(K), epsilon), normalize(center(L), epsilon))
        self.epsilon = epsilon


class GaussianMI(Measure):
    """Mutual information under the Gaussian assumption in feature space, −log det M (Eq. 1).

    M = Qᵀ(K∘L[p, p])Q + ρI, where Q is an orthonormal basis of the complement of the ones vector: Γ(K∘L)Γ itself
    is singular, so the determinant of Eq. 1 is taken on the space where it is not. With W = Q M⁻¹ Qᵀ the gradient
    is −2(K∘W)L[p].

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of X, positive semidefinite.
    L : ndarray of shape (n, n)
        Kernel matrix of Y, positive semidefinite.
    ridge : float, default 1e-3
        The regulariser ρ, as a share of the mean diagonal of K∘L.
    exclude_self : bool, default True
        Whether the diagonal of K∘W is set to 0 in the profit. If not (the literal gradient step), the profit of every
        present pair is lowered, and the full step hardly ever improves on its start.

    Examples
    --------
    >>> K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.5], [0.1, 0.5, 1.0]])
    >>> mi = GaussianMI(K, K)
    >>> mi.value(np.array([0, 1, 2])) > mi.value(np.array([0, 2, 1]))
    True
    """

    def __init__(self, K: Array, L: Array, *, ridge: float = 1e-3, exclude_self: bool = True) -> None:
        self.K = K
        self.L = L
        scale = float(np.trace(K) * np.trace(L)) / len(K) ** 2
        self.rho = ridge * scale
        self.unit = math.ldexp(1.0, math.frexp(scale)[1] - 1)  # a power of two of that size; 1 for Gaussian kernels
        self.exclude_self = exclude_self

    def evaluate(self, plan: Plan) -> tuple[float, Array]:
        """Return −log det M and −(K∘W)·L[p].

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices p, or a soft plan.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            Half the gradient, without its diagonal terms if `exclude_self`.
        """
        n = len(self.K)
        M = center(self.K * align(self.L, plan))
        # On the ones direction M is 0; put a number of the size of M there, and take its logarithm away below.
        M += (self.unit - self.rho) / n
        M[np.diag_indices(n)] += self.rho
        try:
            factor = linalg.cholesky(M, lower=True)
        except linalg.LinAlgError:
            raise ValueError(
                "Gaussian MI needs positive semidefinite kernels, and these are indefinite; "
                "use KSHSIC or KSNOCCO, or clip the negative eigenvalues"
            ) from None
        inverse, _ = linalg.lapack.dpotri(factor, lower=1)
        lower = np.tril(inverse)
        W = lower + np.tril(lower, -1).T
        W -= 1.0 / (n * self.unit)
        W *= self.K
        if self.exclude_self:
            np.fill_diagonal(W, 0.0)
        value = math.log(self.unit) - 2.0 * float(np.log(np.diag(factor)).sum())
        return value, -(W @ carry(self.L, plan))


class LSMI(Measure):
    """Least-squares mutual information ½αᵀh − ½, a fit of the density ratio p(x, y)/(p(x)p(y)).

    α = (H + λI)⁻¹h with H = (KKᵀ∘LLᵀ)/n² and h = mean over the samples of K∘L. The profit (K·diag α)L[p] is the
    fitted ratio r(x_i, y_j) = Σ_l α_l K(x_i, x_l) L(y_{p_l}, y_j) (Eq. 10); it is not a gradient.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of X.
    L : ndarray of shape (n, n)
        Kernel matrix of Y.
    lam : float
        The regulariser λ.
    ridge : {"outside", "inside"}, default "outside"
        "outside" adds λ to H as published LSMI code does; "inside" adds it before the division by n², as the paper
        prints it, which makes it n² times weaker.
    nonnegative : bool, default False
        Whether the profit is made with α⁺ = max(α, 0), so that the ratio of kernels that are nowhere negative is not
        either; the value is not affected.
    squares : tuple of two ndarray of shape (n, n), optional
        The matrices KKᵀ and LLᵀ, if they are known already.

    Examples
    --------
    >>> K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.5], [0.1, 0.5, 1.0]])
    >>> lsmi = LSMI(K, K, lam=0.1)
    >>> lsmi.value(np.array([0, 1, 2])) > lsmi.value(np.array([0, 2, 1]))
    True
    """

    def __init__(
        self,
        K: Array,
        L: Array,
        *,
        lam: float,
        ridge: str = "outside",
        nonnegative: bool = False,
        squares: tuple[Array, Array] | None = None,
    ) -> None:
        self.K = K
        self.L = L
        self.KK, self.LL = (K @ K.T, L @ L.T) if squares is None else squares
        self.lam = ridge_term(lam, ridge, len(K))
        self.nonnegative = nonnegative

    def coefficients(self, plan: Plan) -> tuple[Array, Array]:
        """Return α and h at a plan.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        alpha : ndarray of shape (n,)
            Coefficients of the fitted density ratio.
        h : ndarray of shape (n,)
            Mean of the basis functions over the pairs.
        """
        H, h = self._moments(plan)
        return solve_ridge(H, h, self.lam), h

    def _moments(self, plan: Plan) -> tuple[Array, Array]:
        n = len(self.K)
        H = self.KK * align(self.LL, plan)
        H /= n**2
        return H, np.einsum("ij,ij->i", self.K, align(self.L, plan)) / n

    def evaluate(self, plan: Plan) -> tuple[float, Array]:
        """Return ½αᵀh − ½ and the fitted density ratio of every pair (x_i, y_j).

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        value : float
            The measure at the plan.
        profit : ndarray of shape (n, n)
            The fitted density ratio.
        """
        alpha, h = self.coefficients(plan)
        value = 0.5 * float(alpha @ h) - 0.5
        if self.nonnegative:
            alpha = np.maximum(alpha, 0.0)
        return value, (self.K * alpha) @ carry(self.L, plan)

    def nonnegative_value(self, plan: Plan) -> float:
        """Return LSMI of the non-negative ratio, ½(hᵀα⁺)²/(α⁺ᵀHα⁺) − ½.

        It is the largest value of s·hᵀα⁺ − ½s²·α⁺ᵀHα⁺ − ½ over the scale s: α⁺ alone, without the negative
        coefficients that balanced it, is too large to be a fit.

        Parameters
        ----------
        plan : ndarray of shape (n,) or (n, n)
            Indices, or a soft plan.

        Returns
        -------
        float
            The value, at most that of LSMI without a ridge.
        """
        H, h = self._moments(plan)
        alpha = np.maximum(solve_ridge(H, h, self.lam), 0.0)
        square = float(alpha @ H @ alpha)
        return 0.5 * float(h @ alpha) ** 2 / square - 0.5 if square > 0 else -0.5


def ridge_term(lam: float, ridge: str, n: int) -> float:
    """Return what is added to the diagonal of H for the given reading of λ.

    Parameters
    ----------
    lam : float
        The regulariser λ.
    ridge : {"outside", "inside"}
        Where λ stands, see `LSMI`.
    n : int
        Number of pairs.

    Returns
    -------
    float
        The addend: λ, or λ/n².

    Examples
    --------
    >>> ridge_term(0.5, "outside", 10), ridge_term(0.5, "inside", 10)
    (0.5, 0.005)
    """
    if ridge == "outside":
        return lam
    if ridge == "inside":
        return lam / n**2
    raise ValueError(f"ridge must be 'outside' or 'inside', got {ridge!r}; choose one of them")


def solve_ridge(H: Array, h: Array, lam: float) -> Array:
    """Return (H + λI)⁻¹h for a positive semidefinite H, by Cholesky.

    A λ below rounding leaves H + λI singular; it is then raised tenfold until the factorisation succeeds.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        Positive semidefinite matrix.
    h : ndarray of shape (n,)
        Right-hand side.
    lam : float
        The regulariser λ, not negative.

    Returns
    -------
    ndarray of shape (n,)
        The solution α.

    Examples
    --------
    >>> solve_ridge(np.eye(2), np.array([1.0, 2.0]), 1.0)
    array([0.5, 1. ])
    """
    n = len(H)
    A = H.copy()
    A[np.diag_indices(n)] += lam
    while True:
        _, alpha, failed = linalg.lapack.dposv(A, h, lower=1)
        if not failed:
            result: Array = alpha
            return result
        lam = max(10 * lam, 1e-15 * float(np.trace(H)) / n)
        A = H.copy()
        A[np.diag_indices(n)] += lam
