"""Checks of sets of objects and of numbers, before work starts."""

import math
import os
from collections.abc import Iterator, Mapping, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.storage import lies_in_file
from pairup.types import Array, Indices

FINITE_ROWS = 2**14  # that are checked at once
MISSING = ("NoneType", "NAType", "NaTType")  # the types of None and of what pandas puts in empty cells


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
    for start in range(0, len(Z), FINITE_ROWS):  # a table of truth values for all of Z would take much memory
        if not np.isfinite(Z[start : start + FINITE_ROWS]).all():
            _refuse_cells(~np.isfinite(Z), name, "NaN or infinity")


def _refuse_cells(bad: NDArray[np.bool_], name: str, what: str) -> None:
    """Raise a ValueError that counts bad cells and says where the first is."""
    if bad.any():
        bad = bad.reshape(len(bad), -1)
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"{name} contains {what} in {int(bad.sum())} of {bad.size} values, the first in row {row}, "
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
        raise ValueError(f"{name} must be a positive number, got {value!r:.80}; {advice}")
    return value


def check_set(Z: ArrayLike, name: str, *, at_least: int = 2, keeps_file: bool = False) -> Array:
    """Return a set of objects as a finite float64 table of n rows; a vector becomes one column.

    Parameters
    ----------
    Z : array_like of shape (n,) or (n, …)
        Objects as rows; further axes are flattened.
    name : str
        Name of the set in error messages.
    at_least : int, default 2
        Smallest number of rows.
    keeps_file : bool, default False
        Whether floats that lie in a file are left there, as they are, even if they are no float64.

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
    array = _as_array(Z, name)
    is_left = keeps_file and array.ndim == 2 and array.dtype.kind == "f" and lies_in_file(array)
    if not is_left:
        array = _as_floats(array, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim > 2:
        array = array.reshape(len(array), math.prod(array.shape[1:]))
    if array.ndim == 0 or array.size == 0 or len(array) < at_least:
        # "feature(s)", "sample" and the shape: scikit-learn asks for these words
        got = f"shape {np.shape(array)}"
        if array.ndim == 2:
            n, d = array.shape
            empty = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
            got = empty if d == 0 else f"shape {array.shape}, {n} sample{'' if n == 1 else 's'}"
        raise ValueError(
            f"{name} must have at least {at_least} row{'s' if at_least > 1 else ''} and one column, got {got}; "
            "pass one object per row"
        )
    table: Array = array if is_left else np.ascontiguousarray(array)
    check_finite(table, name)
    return table


def looks_like_graph(Z: Any) -> bool:
    """Tell whether an object may be a graph: a sparse matrix, or one of networkx; nothing is imported for that.

    Parameters
    ----------
    Z : object
        What was passed as a set.

    Returns
    -------
    bool
        Whether `pairup.graph` should look at it.

    Examples
    --------
    >>> looks_like_graph([[1.0, 2.0]])
    False
    """
    return hasattr(Z, "toarray") or any(cls.__module__.partition(".")[0] == "networkx" for cls in type(Z).__mro__)


def _as_array(Z: Any, name: str) -> NDArray[Any]:
    """Return what a set was given as as an array, or say which kind of object it is and what to pass instead."""
    kind = type(Z).__name__
    if Z is None:  # in the words that scikit-learn asks for
        raise ValueError(
            f"{name}: Expected array-like (array or non-string sequence), got None; pass a table, one object per row"
        )
    if isinstance(Z, str | bytes | os.PathLike):
        raise ValueError(
            f"{name} must be a table of numbers, got {Z!r:.80}; read the file first, "
            "for example with numpy.loadtxt or pandas.read_csv"
        )
    if hasattr(Z, "toarray"):
        raise TypeError(
            f"{name} must be a dense array, got a sparse one ({kind}); pass {name}.toarray() if it fits into memory "
            "(pairup.match takes two square sparse matrices as graphs)"
        )
    if isinstance(Z, Mapping):
        raise TypeError(f"{name} must be a table, got a {kind}; pass its columns as pandas.DataFrame({name})")
    if isinstance(Z, Iterator | Set):
        raise TypeError(f"{name} must be a table whose rows have an order, got a {kind}; pass list({name})")
    if isinstance(Z, np.ma.MaskedArray):
        _refuse_cells(np.atleast_1d(np.ma.getmaskarray(Z)), name, "masked values")
    try:
        return np.asarray(Z)
    except OverflowError:
        raise _too_large(name) from None
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{name} cannot be read as a table of numbers ({error}); pass rows of equal length, one per object"
        ) from error


def _as_floats(array: NDArray[Any], name: str) -> Array:
    """Return an array as float64, or say what it holds instead of real numbers."""
    kind = array.dtype.kind
    if kind == "c" or (kind == "O" and any(isinstance(value, complex) for value in array.flat)):
        raise ValueError(
            f"{name} must be real numbers, got complex ones (Complex data not supported); "
            "pass real and imaginary parts as columns"
        )
    if kind in "mM":
        raise ValueError(
            f"{name} must be numbers, got dates or times ({array.dtype}); pass numbers, such as days since the first"
        )
    if kind == "V":
        raise ValueError(
            f"{name} must be numbers, got records ({array.dtype}); "
            "pass numpy.lib.recfunctions.structured_to_unstructured of them"
        )
    if kind == "O" and array.ndim:
        missing = [type(value).__name__ in MISSING for value in array.flat]
        _refuse_cells(np.reshape(missing, array.shape), name, "missing values (None, NA)")
    try:
        with np.errstate(over="ignore"):
            floats: Array = array.astype(np.float64, copy=False)
    except OverflowError:
        raise _too_large(name) from None
    except ValueError:
        first = next((value for value in array.ravel().tolist() if not _is_number(value)), array)
        raise ValueError(
            f"{name} must be numbers, got text such as {first!r:.80}; encode text columns first "
            "(sklearn.preprocessing.OneHotEncoder) or drop them"
        ) from None
    except TypeError as error:  # the cause is told in the words that scikit-learn asks for
        raise TypeError(f"{name} must be numbers, got something else ({error}); pass one number per cell") from error
    if array.dtype.itemsize > 8 and kind == "f" and (np.isfinite(array) & ~np.isfinite(floats)).any():
        raise _too_large(name)
    return floats


def _is_number(value: Any) -> bool:
    """Tell whether a value can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _too_large(name: str) -> ValueError:
    return ValueError(f"{name} holds a number beyond ±1.8e308, the largest a float can be; pass it in larger units")


def check_jobs(n_jobs: int | None) -> int | None:
    """Return how many tasks run at the same time, or raise a ValueError if it is no such number.

    Parameters
    ----------
    n_jobs : int or None
        The number, as in joblib.

    Returns
    -------
    int or None
        The same.

    Examples
    --------
    >>> check_jobs(-1)
    -1
    >>> check_jobs(0)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs must be a whole number other than 0, got 0; leave it out to run one task after another, ...
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be a whole number other than 0, got {n_jobs!r:.80}; leave it out to run one task after "
            "another, or pass -1 for all cores"
        )
    return n_jobs


def check_seed(random_state: Any, *, below: float = math.inf) -> int:
    """Return the seed of whatever is random as an int, or raise a ValueError if it is none.

    Parameters
    ----------
    random_state : int
        The seed.
    below : float, default inf
        What it has to lie below.

    Returns
    -------
    int
        The seed.

    Examples
    --------
    >>> check_seed(np.int64(3))
    3
    >>> check_seed(-1)
    Traceback (most recent call last):
    ...
    ValueError: random_state must be a whole number, 0 or more, got -1; pass 0, or any other: results repeat ...
    """
    if not isinstance(random_state, Integral) or not 0 <= int(random_state) < below:
        bound = "0 or more" if below == math.inf else f"from 0 to {int(below) - 1}"
        raise ValueError(
            f"random_state must be a whole number, {bound}, got {random_state!r:.80}; "
            "pass 0, or any other: results repeat with the same one"
        )
    return int(random_state)


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """Return a whole number, or raise a ValueError if it is none or too small.

    Parameters
    ----------
    value : int
        The number.
    name : str
        Name of the parameter in the message.
    at_least : int, default 1
        The smallest allowed.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> check_count(0, "n_starts")
    Traceback (most recent call last):
    ...
    ValueError: n_starts must be at least 1, got 0; pass a whole number
    """
    if not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value!r:.80}; pass a whole number")
    return int(value)


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
    check_equal_size(x, y, "the rows of paired sets belong together one to one")
    return x, y


def check_equal_size(X: Array, Y: Array, reason: str) -> None:
    """Raise a ValueError if two sets have not equally many rows.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        The two sets.
    reason : str
        Why they should.

    Examples
    --------
    >>> check_equal_size(np.zeros((3, 1)), np.zeros((2, 1)), "KSHSIC gives each x a y")
    Traceback (most recent call last):
    ...
    ValueError: X has 3 rows and Y has 2, and KSHSIC gives each x a y; drop 1 row of X
    """
    n, m = len(X), len(Y)
    if n != m:
        longer, surplus = ("X" if n > m else "Y"), abs(n - m)
        raise ValueError(
            f"X has {n} rows and Y has {m}, and {reason}; drop {surplus} row{'s' if surplus > 1 else ''} of {longer}"
        )


def check_matching(indices: ArrayLike, n: int, name: str) -> Indices:
    """Return a matching as an array, or raise an error that says what is wrong with it.

    Parameters
    ----------
    indices : array_like of int, shape (n,)
        What should be a matching.
    n : int
        The number of objects.
    name : str
        What it is called in the message.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching.

    Examples
    --------
    >>> check_matching([1, 0], 2, "start")
    array([1, 0])
    """
    matching = np.asarray(indices)
    if matching.dtype.kind not in "iu" or not np.array_equal(np.sort(matching, axis=None), np.arange(n)):
        raise ValueError(f"{name} must hold each of 0, …, {n - 1} once, got {indices!r}")
    return matching.astype(np.intp)
