"""Estimates of how dependent two paired sets are."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pairup.kernels import Kernel, KernelFamily
from pairup.measures import HSIC, NOCCO, GaussianMI
from pairup.selection import LAMBDAS, WIDTHS, RatioGrid, best_setting, fold_numbers
from pairup.validation import check_pair


def dependence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    measure: Literal["lsmi", "hsic", "nocco", "mi"] = "lsmi",
    width: float | None = None,
    epsilon: float = 0.05,
    kernel: Kernel | tuple[Kernel, Kernel] = "gaussian",
    random_state: int = 0,
) -> float:
    """Return the dependence between the paired rows of X and Y, larger where they are more dependent.

    - "lsmi": least-squares mutual information, an estimate of the squared-loss mutual information, which is 0 for
      independent sets; width and λ by 2-fold cross-validation over the paper's grid.
    - "hsic": tr(K̄L̄)/n², and "nocco": tr(K̃L̃), at the given width.
    - "mi": −log det Γ(K∘L)Γ, the mutual information under the Gaussian assumption up to what does not depend on the
      pairing: compare its values for pairings of the same sets only.

    Parameters
    ----------
    X, Y : equally many rows; row i of X belongs to row i of Y.
    width : kernel width in multiples of the median width; by default 1, √10 for "nocco", and chosen for "lsmi".
    epsilon : the regulariser of "nocco".
    kernel : as in `KSHSIC`.
    random_state : draws the folds of "lsmi".

    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> paired, shuffled = x**2, np.random.default_rng(0).permutation(x**2)
    >>> dependence(x, paired) > 0.3 > 0.1 > dependence(x, shuffled)
    True
    """
    table_x, table_y = check_pair(X, Y)
    kernel_x, kernel_y = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    x, y = KernelFamily(table_x, kernel_x, name="X"), KernelFamily(table_y, kernel_y, name="Y")
    n = len(table_x)
    same = np.arange(n)
    if measure == "lsmi":
        widths = WIDTHS if width is None else (width,)
        grid = RatioGrid((x, y), widths=widths, lambdas=LAMBDAS, folds=fold_numbers(n, 2, random_state))
        return grid.measure(*best_setting(grid.scores(same))).value(same)
    c = width or (10**0.5 if measure == "nocco" else 1.0)
    K, L = x.matrix(c), y.matrix(c)
    if measure == "hsic":
        return HSIC(K, L).value(same) / n**2
    if measure == "nocco":
        return NOCCO(K, L, epsilon=epsilon).value(same)
    if measure == "mi":
        return GaussianMI(K, L).value(same)
    raise ValueError(f"measure must be 'lsmi', 'hsic', 'nocco' or 'mi', got {measure!r}")
