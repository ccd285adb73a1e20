"""Vectors: tables of embeddings that others have computed, a row for each photo, matched by file name."""

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.album.photos import Photos
from pairup.archives import NUMPY_DAMAGE
from pairup.extras import require
from pairup.types import Array
from pairup.validation import check_set

LISTED = 5  # photos without a row that are named
NAMES = ("name", "names", "file", "filename", "file_name", "path", "filepath", "file_path", "image", "photo", "id")


def read_vectors(path: str | os.PathLike[str], photos: Photos, *, names: str | os.PathLike[str] | None = None) -> Array:
    """Read features of photos from a file.

    Parameters
    ----------
    path : path
        A ``.npy`` with a row per photo in listing order, or in the order of `names`; a ``.parquet`` with a column of
        names and columns of numbers, or one column of lists; or a csv with the photo's name in its first column and
        numbers in the others. The csv may begin with a line of column names. Rows for other photos are passed over.
    photos : Photos
        The photos.
    names : path, optional
        A text file with the name of each row of a ``.npy``, one per line.

    Returns
    -------
    ndarray of shape (n, d)
        Features as rows, in listing order.

    Raises
    ------
    ValueError
        If photos have no row, and which.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if names is not None and kind != ".npy":
        raise ValueError(f"{path} has its own names; a file of names goes with a .npy")
    if kind == ".npy" and names is None:
        vectors = _load(path)
        if len(vectors) != len(photos):
            raise ValueError(
                f"{path} has {len(vectors)} rows for {len(photos)} photos; it needs a row per photo in listing order "
                f"(skipped files have none), a file of names (--feature-names), or use a csv keyed by file name"
            )
        return check_set(vectors, str(path), at_least=1)
    if kind == ".npy":
        assert names is not None
        return _match(path, photos, zip(_read_names(Path(names), path), _load(path), strict=True))
    if kind in (".parquet", ".pq"):
        return _match(path, photos, _read_parquet(path))
    return _match(path, photos, _read_csv(path))


def _load(path: Path) -> NDArray[Any]:
    """Return the rows of a .npy, which stay on disk."""
    try:
        vectors = np.load(path, allow_pickle=False, mmap_mode="r")
    except NUMPY_DAMAGE as error:
        raise ValueError(f"{path} cannot be read as an array ({error}); save it again with numpy.save") from error
    if vectors.ndim < 1 or not np.issubdtype(vectors.dtype, np.number):
        raise ValueError(f"{path} should hold a row of numbers per photo, got {vectors.dtype} of shape {vectors.shape}")
    rows: NDArray[Any] = vectors.reshape(len(vectors), -1)
    return rows


def _read_names(path: Path, table: Path) -> list[str]:
    """Return the names of the rows of a .npy."""
    lines = path.read_text(encoding="utf-8-sig", errors="surrogateescape").splitlines()
    names = [line for line in lines if line]
    if len(names) != (rows := len(_load(table))):
        raise ValueError(f"{path} has {len(names)} names for the {rows} rows of {table}; give a name per row")
    return names


def _match(path: Path, photos: Photos, rows: Iterable[tuple[str, Sequence[float] | NDArray[Any]]]) -> Array:
    """Put rows into the order of the photos they name; rows of others are passed over."""
    found, vectors = np.zeros(len(photos), dtype=bool), np.empty((len(photos), 0))
    for name, row in rows:
        number = _find(photos, name)
        if number is None:
            continue
        if not found.any():
            vectors = np.empty((len(photos), len(row)))
        if len(row) != vectors.shape[1]:
            raise ValueError(f"{path} has lines of different length; give every photo the same number of columns")
        vectors[number], found[number] = row, True
    if not found.all():
        lacking = [photos.names[number] for number in np.flatnonzero(~found)]
        listed = ", ".join(map(repr, lacking[:LISTED])) + (" …" if len(lacking) > LISTED else "")
        raise ValueError(
            f"{path} has no line for {len(lacking)} of {len(photos)} photos, such as {listed}; add them, or "
            "leave these photos out"
        )
    return check_set(vectors, str(path), at_least=1)


def _find(photos: Photos, name: str) -> int | None:
    """Return the number of a photo; None where there is none, an error where there are several."""
    try:
        return photos.find(name)
    except ValueError as error:
        if "are named" in str(error):
            raise
        return None


def _read_csv(path: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the name and the numbers of each line."""
    with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:  # as csv albums are written
        for number, line in enumerate(csv.reader(file), start=1):
            if len(line) < 2:
                continue
            try:
                yield line[0], np.array(line[1:], dtype=np.float64)
            except ValueError:
                if number > 1:
                    raise ValueError(f"{path}, line {number}: expected numbers after the name") from None


def _read_parquet(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the name and the numbers of each row, some thousand at a time."""
    parquet = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        file = parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is no parquet file that can be read ({str(error)[:120]})") from None
    with file:
        schema = file.schema_arrow
        texts = [f.name for f in schema if arrow.types.is_string(f.type) or arrow.types.is_large_string(f.type)]
        named = [name for name in texts if name.lower() in NAMES] or texts
        if not named:
            raise ValueError(f"{path} has no column of text; one should hold the names of the photos")
        columns = [f.name for f in schema if _is_numeric(f.type, arrow)]
        if not columns:
            raise ValueError(f"{path} has no column of numbers or of lists of numbers beside {named[0]!r}")
        for batch in file.iter_batches(batch_size=4096, columns=[named[0], *columns]):
            names, numbers = batch.column(0).to_pylist(), _join_columns(batch.columns[1:], path)
            yield from ((name, row) for name, row in zip(names, numbers, strict=True) if name is not None)


def _is_numeric(kind: Any, arrow: Any) -> bool:
    """Tell whether a column holds numbers, or lists of them."""
    types = arrow.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _join_columns(columns: Sequence[Any], path: Path) -> NDArray[np.float64]:
    """Return columns of numbers, and of lists of numbers, side by side."""
    parts = []
    for column in columns:
        values = column.to_pylist()
        try:
            parts.append(np.array(values, dtype=np.float64).reshape(len(values), -1))
        except (TypeError, ValueError):
            raise ValueError(
                f"{path} has lists of different length, or empty cells; give every photo a whole row"
            ) from None
    return np.hstack(parts)
