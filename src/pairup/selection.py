"""Cross-validation of the density-ratio model, which selects the kernel width and the regulariser."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pairup.kernels import KernelFamily
from pairup.measures import LSMI, align, ridge_term, solve_ridge
from pairup.types import Array, Indices

WIDTHS = tuple(float(c) ** 0.5 for c in range(1, 11))
"""The paper's multiples of the median width, c = 1^½, …, 10^½."""

LAMBDAS = (1e-1, 1e-2, 1e-3)
"""The paper's regularisers λ."""


def fold_numbers(n: int, cv: int, seed: int) -> Indices:
    """Return the fold of each of n pairs, at random, in sizes that differ by at most one.

    Parameters
    ----------
    n : int
        Number of pairs.
    cv : int
        Number of folds.
    seed : int
        Seed of the random generator.

    Returns
    -------
    ndarray of shape (n,)
        The fold of each pair, 0 to cv − 1.

    Examples
    --------
    >>> np.bincount(fold_numbers(5, 2, seed=0))
    array([3, 2])
    """
    return np.random.default_rng(seed).permutation(np.arange(n) % cv)


class RatioGrid:
    """LSMI over a grid of widths and λ, scored on held-out pairs of a matching.

    The score of a setting is −J, J = ½αᵀĤα − ĥᵀα, with α fitted to the other folds and Ĥ, ĥ averaged over the
    held-out one (all samples are centres, as in published LSMI code). Unlike LSMI itself it is comparable over
    widths and λ.

    Parameters
    ----------
    families : tuple of two KernelFamily
        The kernels of X and of Y.
    widths : sequence of float, default WIDTHS
        Multiples c of the median widths, common to both sets.
    lambdas : sequence of float, default LAMBDAS
        The regularisers λ.
    folds : ndarray of shape (n,)
        The fold of each row of X.
    ridge : {"outside", "inside"}, default "outside"
        Where λ stands, see `LSMI`.
    nonnegative : bool, default False
        Whether the measures of the grid make their profit with α⁺, see `LSMI`; the scores never do.

    Examples
    --------
    >>> from pairup.kernels import KernelFamily
    >>> family = KernelFamily(np.linspace(0.0, 1.0, 20)[:, None])
    >>> grid = RatioGrid((family, family), widths=(1.0, 2.0), lambdas=(0.1,), folds=fold_numbers(20, 2, seed=0))
    >>> grid.scores(np.arange(20)).shape
    (2, 1, 2)
    """

    def __init__(
        self,
        families: tuple[KernelFamily, KernelFamily],
        *,
        widths: Sequence[float] = WIDTHS,
        lambdas: Sequence[float] = LAMBDAS,
        folds: Indices,
        ridge: str = "outside",
        nonnegative: bool = False,
    ) -> None:
        self.families = families
        self.widths = tuple(widths) if families[0].has_width or families[1].has_width else (1.0,)
        self.lambdas = tuple(lambdas)
        self.folds = folds
        self.ridge = ridge
        self.nonnegative = nonnegative

    def __getstate__(self) -> dict[str, Any]:
        """Leave the matrices of the grid out of a pickle: they are computed again where it is unpickled."""
        made = ("_K", "_KK", "_KK_of_folds", "_L", "_LL")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @cached_property
    def _K(self) -> list[Array]:
        return [self.families[0].matrix(c) for c in self.widths]

    @cached_property
    def _L(self) -> list[Array]:
        return [self.families[1].matrix(c) for c in self.widths]

    @cached_property
    def _KK(self) -> list[Array]:
        return [K @ K for K in self._K]

    @cached_property
    def _LL(self) -> list[Array]:
        return [L @ L for L in self._L]

    @cached_property
    def _KK_of_folds(self) -> list[list[Array]]:
        return [[K[:, fold] @ K[fold] for fold in self._members] for K in self._K]

    @property
    def _members(self) -> list[Indices]:
        return [np.flatnonzero(self.folds == fold) for fold in range(self.folds.max() + 1)]

    def prepare(self) -> "RatioGrid":
        """Compute all matrices now, before threads share the grid.

        Returns
        -------
        RatioGrid
            The grid itself.
        """
        for name in ("_KK_of_folds", "_KK", "_LL"):
            getattr(self, name)
        return self

    def measure(self, width: int, lam: int) -> LSMI:
        """Return LSMI at one setting of the grid.

        Parameters
        ----------
        width : int
            Index into `widths`.
        lam : int
            Index into `lambdas`.

        Returns
        -------
        LSMI
            The measure at that setting.
        """
        return LSMI(
            self._K[width],
            self._L[width],
            lam=self.lambdas[lam],
            ridge=self.ridge,
            nonnegative=self.nonnegative,
            squares=(self._KK[width], self._LL[width]),
        )

    def scores(self, indices: Indices, setting: tuple[int, int] | None = None) -> Array:
        """Return −J of every (width, λ, fold) for a matching, or of one (width, λ) alone.

        Parameters
        ----------
        indices : ndarray of shape (n,)
            The matching: Y[indices] is aligned with X.
        setting : tuple of two int, optional
            Indices of one width and one λ; None scores the whole grid.

        Returns
        -------
        ndarray of shape (widths, lambdas, folds)
            The held-out scores; larger is better.
        """
        widths = range(len(self.widths)) if setting is None else [setting[0]]
        lambdas = self.lambdas if setting is None else [self.lambdas[setting[1]]]
        members = self._members
        result = np.empty((len(widths), len(lambdas), len(members)))
        for w, width in enumerate(widths):
            K, L = self._K[width], align(self._L[width], indices)
            KK, LL = self._KK[width], align(self._LL[width], indices)
            KL = K * L
            h = KL.sum(axis=0)
            for f, held_out in enumerate(members):
                m = len(held_out)
                n = len(K) - m
                L_out = L[:, held_out]
                KK_out, LL_out = self._KK_of_folds[width][f], L_out @ L_out.T
                H = KK - KK_out
                H *= LL - LL_out
                H /= n**2
                H_out = KK_out * LL_out
                h_out = KL[:, held_out].sum(axis=1)
                for j, lam in enumerate(lambdas):
                    alpha = solve_ridge(H, (h - h_out) / n, ridge_term(lam, self.ridge, n))
                    result[w, j, f] = alpha @ h_out / m - 0.5 * alpha @ (H_out @ alpha) / m**2
        return result

    def best_score(self, indices: Indices) -> float:
        """Return the largest mean −J of the grid for a matching: it compares matchings, which LSMI does not.

        Parameters
        ----------
        indices : ndarray of shape (n,)
            The matching: Y[indices] is aligned with X.

        Returns
        -------
        float
            The held-out score; larger is better.
        """
        return float(self.scores(indices).mean(axis=2).max())

    def table(self, scores: Array) -> dict[str, Any]:
        """Return scores in the form of `cv_results_` of scikit-learn's searches.

        Parameters
        ----------
        scores : ndarray of shape (widths, lambdas, folds)
            Scores of the whole grid, possibly of several matchings along the last axis.

        Returns
        -------
        dict
            Arrays by name: params, param_width, param_lambda, split0_test_score, …, mean_test_score, std_test_score and
            rank_test_score.
        """
        from scipy.stats import rankdata

        grid = [(c, lam) for c in self.widths for lam in self.lambdas]
        by_split = scores.reshape(len(grid), -1)
        mean = by_split.mean(axis=1)
        return {
            "params": [{"width": c, "lambda": lam} for c, lam in grid],
            "param_width": np.array([c for c, _ in grid]),
            "param_lambda": np.array([lam for _, lam in grid]),
            **{f"split{i}_test_score": by_split[:, i] for i in range(by_split.shape[1])},
            "mean_test_score": mean,
            "std_test_score": by_split.std(axis=1),
            "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
        }


def best_setting(scores: Array) -> tuple[int, int]:
    """Return the indices (width, λ) of the best mean score.

    Parameters
    ----------
    scores : ndarray of shape (widths, lambdas, folds)
        Scores of a grid.

    Returns
    -------
    width : int
        Index of the width.
    lam : int
        Index of λ.

    Examples
    --------
    >>> best_setting(np.array([[[0.1, 0.2], [0.3, 0.4]]]))
    (0, 1)
    """
    mean = scores.mean(axis=2)
    width, lam = np.unravel_index(int(mean.argmax()), mean.shape)
    return int(width), int(lam)
