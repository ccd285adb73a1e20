"""The array types that annotations name."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
