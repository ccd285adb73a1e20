"""Checks of sets of objects and of numbers, before work starts."""

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from pairup.types import Array


def check_finite(Z: Array, name: str) -> None:
    """Raise a ValueError that says where a table is not finite.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Objects as rows.
    name : str
        Name of the set in the message.

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.nan]]), "X")
    Traceback (most recent call last):
    ...
    ValueError: X contains NaN or infinity in 1 of 2 values, the first in row 0, column 1; ...
    """
    bad = ~np.isfinite(Z)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{name} contains NaN or infinity in {int(bad.sum())} of {Z.size} values, the first in row {row}, "
            f"column {column}; drop such rows, or fill them in first (sklearn.impute does)"
        )


def check_positive(value: float, name: str, advice: str) -> float:
    """Return a number, or raise a ValueError if it is not positive and finite.

    Parameters
    ----------
    value : float
        The number.
    name : str
        Name of the parameter in the message.
    advice : str
        What to do instead, the end of the message.

    Returns
    -------
    float
        The same number.

    Examples
    --------
    >>> check_positive(0.5, "width", "leave it out for the default")
    0.5
    >>> check_positive(-1.0, "width", "leave it out for the default")
    Traceback (most recent call last):
    ...
    ValueError: width must be a positive number, got -1.0; leave it out for the default
    """
    if not (isinstance(value, Real) and 0 < value < math.inf):  # NaN is not
        raise ValueError(f"{name} must be a positive number, got {value!r}; {advice}")
    return value


def check_set(Z: ArrayLike, name: str, *, at_least: int = 2) -> Array:
    """Return a set of objects as a finite float64 table of n rows; a vector becomes one column.

    Parameters
    ----------
    Z : array_like of shape (n,) or (n, …)
        Objects as rows; further axes are flattened.
    name : str
        Name of the set in error messages.
    at_least : int, default 2
        Smallest number of rows.

    Returns
    -------
    ndarray of shape (n, d)
        The table.

    Examples
    --------
    >>> check_set([1, 2, 3], "X").shape
    (3, 1)
    >>> check_set([["a"], ["b"]], "X")
    Traceback (most recent call last):
    ...
    ValueError: X must be numbers, got text such as 'a'; encode text columns first ...
    """
    array = np.asarray(Z)
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            first = next((v for v in array.ravel().tolist() if isinstance(v, str)), array.ravel()[0])
            raise ValueError(
                f"{name} must be numbers, got text such as {first!r}; encode text columns first "
                "(sklearn.preprocessing.OneHotEncoder) or drop them"
            ) from None
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be real numbers, got complex ones; pass real and imaginary parts as columns")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim > 2:
        array = array.reshape(len(array), -1)
    if array.ndim == 0 or len(array) < at_least or array.shape[1] == 0:
        raise ValueError(
            f"{name} must have at least {at_least} rows and one column, got shape {np.shape(Z)}; "
            "pass one object per row"
        )
    table: Array = np.ascontiguousarray(array, dtype=np.float64)
    check_finite(table, name)
    return table


def check_pair(X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    """Return two sets of equally many objects as finite float64 tables.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, …)
        Objects of the first set as rows.
    Y : array_like of shape (n,) or (n, …)
        Their partners.

    Returns
    -------
    X : ndarray of shape (n, d)
        The first table.
    Y : ndarray of shape (n, e)
        The second table.

    Examples
    --------
    >>> check_pair([1, 2, 3], [1, 2])
    Traceback (most recent call last):
    ...
    ValueError: X has 3 rows and Y has 2, and the rows of paired sets belong together one to one; drop 1 row of X
    """
    x, y = check_set(X, "X"), check_set(Y, "Y")
    if len(x) != len(y):
        longer, surplus = ("X" if len(x) > len(y) else "Y"), abs(len(x) - len(y))
        raise ValueError(
            f"X has {len(x)} rows and Y has {len(y)}, and the rows of paired sets belong together one to one; "
            f"drop {surplus} row{'s' if surplus > 1 else ''} of {longer}"
        )
    return x, y
