"""The array types that annotations name."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array: TypeAlias = NDArray[np.float64]
Float32Array: TypeAlias = NDArray[np.float32]
Int32Array: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]

Images: TypeAlias = NDArray[np.uint8]
"""Pictures of one size: (n, height, width, 3)."""

Indices: TypeAlias = NDArray[np.intp]
"""A matching: Y[indices] is aligned with X, −1 where an x has no partner."""

Plan: TypeAlias = NDArray[Any]
"""Indices, or a soft plan with rows for X and columns for Y."""

SparseArray: TypeAlias = "csr_array[Any]"
"""A sparse matrix, row by row."""

Probabilities: TypeAlias = Any
"""Probabilities of pairs: an `Array` or a `SparseArray` of shape (n, m), or an empty array where there are none."""
