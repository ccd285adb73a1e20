"""Estimates of how dependent two paired sets are."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pairup.kernels import Kernel, KernelFamily
from pairup.measures import HSIC, NOCCO, GaussianMI
from pairup.memory import check_memory
from pairup.selection import LAMBDAS, WIDTHS, RatioGrid, best_setting, fold_numbers
from pairup.validation import check_pair, check_positive

MeasureName = Literal["lsmi", "hsic", "nocco", "mi"]
MATRICES = {"hsic": 8, "nocco": 12, "mi": 12}  # dense ones that are needed at once, as benchmarks/memory.py measures


def dependence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    measure: MeasureName = "lsmi",
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
    X : array_like of shape (n,) or (n, d)
        Objects of the first set as rows.
    Y : array_like of shape (n,) or (n, e)
        Objects of the second set as rows; row i of X belongs to row i of Y.
    measure : {"lsmi", "hsic", "nocco", "mi"}, default "lsmi"
        The measure of dependence.
    width : float, optional
        Kernel width in multiples of the median width. None means 1, √10 for "nocco", and cross-validation for "lsmi".
    epsilon : float, default 0.05
        The regulariser ε of "nocco", positive.
    kernel : str, callable or tuple of two, default "gaussian"
        Kernel of both sets, or one for each: "gaussian", "laplacian", "precomputed", any name of scikit-learn's
        `pairwise_kernels`, or a callable of two rows.
    random_state : int, default 0
        Seed of the folds of "lsmi".

    Returns
    -------
    float
        The estimate.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> paired, shuffled = x**2, np.random.default_rng(0).permutation(x**2)
    >>> dependence(x, paired) > 0.3 > 0.1 > dependence(x, shuffled)
    True
    """
    if measure not in get_args(MeasureName):
        raise ValueError(f"measure must be 'lsmi', 'hsic', 'nocco' or 'mi', got {measure!r}; choose one of them")
    if width is not None:
        check_positive(width, "width", "it multiplies the median width; leave it out for the default")
    check_positive(epsilon, "epsilon", "it is the regulariser of 'nocco'; leave it out for the paper's 0.05")
    if isinstance(kernel, tuple) and len(kernel) != 2:
        raise ValueError(f"kernel must be one kernel or a pair (of X, of Y), got {len(kernel)} kernels; pass two")
    kernel_x, kernel_y = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    table_x, table_y = check_pair(X, Y)
    widths = WIDTHS if width is None else (width,)
    matrices = 10 + 6 * len(widths) if measure == "lsmi" else MATRICES[measure]
    check_memory(len(table_x), len(table_x), matrices)
    x, y = KernelFamily(table_x, kernel_x, name="X"), KernelFamily(table_y, kernel_y, name="Y")
    n = len(table_x)
    same = np.arange(n)
    if measure == "lsmi":
        grid = RatioGrid((x, y), widths=widths, lambdas=LAMBDAS, folds=fold_numbers(n, 2, random_state))
        return grid.measure(*best_setting(grid.scores(same))).value(same)
    if width is None:
        width = 10**0.5 if measure == "nocco" else 1.0
    K, L = x.matrix(width), y.matrix(width)
    if measure == "hsic":
        return HSIC(K, L).value(same) / n**2
    if measure == "nocco":
        return NOCCO(K, L, epsilon=epsilon).value(same)
    return GaussianMI(K, L).value(same)
