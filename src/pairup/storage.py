"""Where tables of many objects lie: in memory, in files (memory-mapped), or in Dask arrays."""

import mmap
import os
import shutil
import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ROWS = 4096  # that are copied at once
SPOOLED_FROM = 2**26  # bytes from which a Dask array is written to a file instead of being held in memory


def lies_in_file(Z: Any) -> bool:
    """Tell whether the numbers of an array lie in a file, of which only what is used is read.

    Parameters
    ----------
    Z : object
        An array, or anything else.

    Returns
    -------
    bool
        Whether it is memory-mapped, or a part of an array that is.

    Examples
    --------
    >>> lies_in_file(np.zeros(3))
    False
    """
    while Z is not None:
        if isinstance(Z, np.memmap | mmap.mmap):
            return True
        Z = getattr(Z, "base", None)
    return False


def allocate(shape: tuple[int, ...], dtype: DTypeLike, *, in_file: bool = False) -> NDArray[Any]:
    """Return an array of zeros, in memory or in a file.

    The file has no name: it lies in the folder for temporary files (TMPDIR), and its place is free again when nobody
    uses the array any more, or when the process ends in whatever way.

    Parameters
    ----------
    shape : tuple of int
        The shape.
    dtype : dtype
        The kind of numbers.
    in_file : bool, default False
        Whether it lies in a file.

    Returns
    -------
    ndarray
        The array.

    Examples
    --------
    >>> allocate((2, 2), np.float32)
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not in_file or not size:
        return np.zeros(shape, dtype=dtype)
    with tempfile.TemporaryFile(prefix="pairup-") as file:
        _reserve(file.fileno(), size)
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=shape))


def check_space(size: int) -> None:
    """Raise a MemoryError if temporary files of this size do not fit on the disk.

    Parameters
    ----------
    size : int
        Bytes.

    Examples
    --------
    >>> check_space(10**18)
    Traceback (most recent call last):
    ...
    MemoryError: 931322575 GiB are needed for temporary files, and ... are free in ...; set TMPDIR to a folder with more
    """
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if size > free:
        raise _no_space(size)


def _no_space(size: int) -> MemoryError:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    return MemoryError(
        f"{size / 2**30:.0f} GiB are needed for temporary files, and {free / 2**30:.2f} GiB are free in {folder}; "
        "set TMPDIR to a folder with more"
    )


def _reserve(file: int, size: int) -> None:
    """Reserve the place of a file: a disk that is full later on would end the process without a word."""
    check_space(size)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, size)
        else:
            os.truncate(file, size)
    except OSError as error:
        raise _no_space(size) from error


def take_rows(Z: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return some rows of an array, in a file if it lies in one.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        The array.
    rows : ndarray of int, shape (k,)
        Their numbers.

    Returns
    -------
    ndarray of shape (k, d)
        A copy of them.

    Examples
    --------
    >>> take_rows(np.array([[1], [2], [3]]), np.array([2, 0]))
    array([[3],
           [1]])
    """
    taken = allocate((len(rows), *Z.shape[1:]), Z.dtype, in_file=lies_in_file(Z))
    for first in range(0, len(rows), ROWS):
        taken[first : first + ROWS] = Z[rows[first : first + ROWS]]
    return taken


def is_dask(Z: Any) -> bool:
    """Tell whether an object is a Dask array; Dask is not imported for that.

    Parameters
    ----------
    Z : object
        What was passed as a set.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    homes = {cls.__module__.partition(".")[0] for cls in type(Z).__mro__}
    return "dask" in homes and hasattr(Z, "chunks")


def gather(Z: Any, name: str) -> Any:
    """Return a Dask array as an array, in a file if it is large; whatever else comes is returned as it is.

    Its blocks of rows are computed one after another, so that it is never in memory whole.

    Parameters
    ----------
    Z : object
        What was passed as a set.
    name : str
        Its name in messages.

    Returns
    -------
    ndarray or object
        The numbers.
    """
    if not is_dask(Z):
        return Z
    if not all(isinstance(side, int) for side in Z.shape):  # NaN where Dask does not know
        raise ValueError(f"{name} is a Dask array of unknown size; call {name}.compute_chunk_sizes() first")
    if Z.dtype.hasobject or Z.ndim == 0 or Z.nbytes < SPOOLED_FROM:
        return np.asarray(Z.compute())
    if Z.ndim > 2:
        Z = Z.reshape(len(Z), -1)
    values, first = allocate(Z.shape, Z.dtype, in_file=True), 0
    for rows in Z.chunks[0]:
        values[first : first + rows] = Z[first : first + rows].compute()
        first += rows
    return values
