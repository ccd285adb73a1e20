"""Exact linear assignment."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from pairup.kernels import Array
from pairup.measures import Indices


def assign(profit: Array) -> Indices:
    """Return the matching that maximises Σ_i profit[i, indices[i]]; −1 for rows without a partner."""
    rows, columns = linear_sum_assignment(profit, maximize=True)
    indices = np.full(profit.shape[0], -1, dtype=np.intp)
    indices[rows] = columns
    return indices
