"""Read tables of numbers, and known pairs, from files."""

import csv
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairup.archives import NUMPY_DAMAGE, read_array
from pairup.extras import require
from pairup.types import Array

SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet")
OTHER_SEPARATORS = (
    (";", "semicolons", "save it with commas between cells and points as decimal marks"),
    ("\t", "tabs", "name it .tsv"),
)


class Table(NamedTuple):
    """The numbers of a file and the names of its objects.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Numbers, one object per row.
    names : list
        Name of each object, a number or text; its row number where the file has no names.
    """

    values: Array
    names: list[Any]


def plain_name(name: Any) -> Any:
    """Return the name of an object as a number or text that can be written to any file.

    Parameters
    ----------
    name : object
        A name, such as a date, a Decimal or bytes.

    Returns
    -------
    int, float, bool, str or None
        The same name; text where it was neither a number nor text.

    Examples
    --------
    >>> import datetime
    >>> [plain_name(name) for name in (3, "ann", b"bob", datetime.date(2024, 5, 1), float("nan"))]
    [3, 'ann', 'bob', '2024-05-01', 'nan']
    """
    if isinstance(name, np.generic):
        name = name.item()
    if name is None or isinstance(name, bool | int) or (isinstance(name, float) and math.isfinite(name)):
        return name
    if isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")  # some text cannot be written as UTF-8


def read_table(path: str | Path, *, header: bool | None = None, id_column: str | None = None) -> Table:
    """Read a table by its suffix: csv, tsv, txt (blank-separated), npy, npz (one array) or parquet.

    Parameters
    ----------
    path : str or Path
        The file.
    header : bool, optional
        Whether the first row of a text table holds column names; None assumes it if a cell outside the id column is not
        a number.
    id_column : str, optional
        Name, or number counted from 0, of a column that names the objects.

    Returns
    -------
    Table
        The numbers and the names.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: unknown kind of table {suffix!r}; expected one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; check the path")
    if suffix in (".npy", ".npz"):
        return _read_numpy(path, id_column)
    if suffix == ".parquet":
        return _read_parquet(path, id_column)
    return _read_text(path, header, id_column)


def _read_numpy(path: Path, id_column: str | None) -> Table:
    """Read a .npy file, or the only array of an .npz file."""
    try:
        loaded = read_array(path)
    except MemoryError as error:
        raise MemoryError(f"{path}: too large for the free memory ({error}); cut it into parts") from error
    except NUMPY_DAMAGE as error:
        raise ValueError(
            f"{path}: cannot be read as a table ({in_one_line(error)}); save it again with numpy.save or numpy.savez"
        ) from error
    if loaded.dtype.kind not in "biuf":
        raise ValueError(f"{path}: expected numbers, got an array of {loaded.dtype}; save it as floats")
    if loaded.ndim == 0:
        raise ValueError(f"{path}: expected one object per row, got a single number; save a matrix")
    if loaded.size == 0:
        raise ValueError(
            f"{path}: expected one object per row, got an empty array of shape {loaded.shape}; save a matrix"
        )
    values = np.asarray(loaded, dtype=np.float64).reshape(len(loaded), -1)
    if id_column is None:
        return Table(values, list(range(len(values))))
    place = _column([str(i) for i in range(values.shape[1])], id_column, path)
    return Table(np.delete(values, place, axis=1), [plain_name(name) for name in values[:, place]])


def in_one_line(error: Exception) -> str:
    """Return the beginning of a message without line breaks.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    str
        At most 200 characters of its message.
    """
    return " ".join(str(error).split())[:200]


def _read_parquet(path: Path, id_column: str | None) -> Table:
    """Read a parquet file."""
    parquet = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{path}: cannot be read as parquet ({in_one_line(error)}); save it again, or as csv"
        ) from error
    columns = table.column_names
    cells = [table.column(i).to_pylist() for i in range(len(columns))]
    return _numbers([list(row) for row in zip(*cells, strict=True)], columns, id_column, path, first_row=1)


def _read_text(path: Path, header: bool | None, id_column: str | None) -> Table:
    """Read a csv, tsv or txt file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() == ".txt":
                rows: list[list[Any]] = [line.split() for line in file]
            else:
                rows = list(csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text table ({error}); save it as UTF-8") from error
    except csv.Error as error:
        raise ValueError(
            f"{path}: not a text table ({error}); check whether a quotation mark is missing, or a cell holds a document"
        ) from error
    rows = [row for row in rows if len(row) > 1 or "".join(row).strip()]
    if not rows:
        raise ValueError(f"{path}: the file is empty; expected one object per row")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            _check_separator(rows, path)
            raise ValueError(
                f"{path}: row {number} has {len(row)} cells and row 1 has {width}; check whether the file is truncated"
            )
    if header is None:
        named = id_column is not None and not id_column.isdecimal()
        ids = {int(id_column)} if id_column is not None and id_column.isdecimal() else set()
        header = named or any(not _is_number(cell) for i, cell in enumerate(rows[0]) if i not in ids)
    columns = [str(cell).strip() for cell in rows[0]] if header else [str(i) for i in range(width)]
    return _numbers(rows[header:], columns, id_column, path, first_row=1 + header)


def _check_separator(rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Raise a ValueError if the cells of a csv file seem to be separated by something else."""
    lines = [",".join(map(str, row)) for row in rows] if path.suffix.lower() == ".csv" else []
    for separator, words, advice in OTHER_SEPARATORS:
        cells = lines[-1].replace(",", ".").split(separator) if lines else []
        alike = len({line.count(separator) for line in lines}) == 1
        if alike and len(cells) > 1 and 2 * sum(map(_is_number, cells)) >= len(cells):
            raise ValueError(f"{path}: the cells seem to be separated by {words}, expected commas; {advice}")


def _is_number(cell: Any) -> bool:
    """Tell whether a cell can be read as a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _column(columns: list[str], wanted: str, path: Path) -> int:
    """Return the index of the column of that name or number."""
    if wanted in columns:
        return columns.index(wanted)
    if wanted.isdecimal() and int(wanted) < len(columns):
        return int(wanted)
    raise ValueError(f"{path}: no column {wanted!r}; the columns are {', '.join(columns[:20])}")


def _numbers(rows: list[list[Any]], columns: list[str], id_column: str | None, path: Path, *, first_row: int) -> Table:
    """Return rows of cells as a Table, or raise a ValueError that names the first cell that is not a number."""
    if not rows:
        raise ValueError(f"{path}: no rows below the header; expected one object per row")
    names: list[Any] = list(range(len(rows)))
    if id_column is not None:
        place = _column(columns, id_column, path)
        names = [plain_name(row[place]) for row in rows]
        rows = [row[:place] + row[place + 1 :] for row in rows]
        columns = columns[:place] + columns[place + 1 :]
    if not columns:
        raise ValueError(f"{path}: no column but the id column; expected columns of numbers too")
    try:
        return Table(np.array(rows, dtype=np.float64), names)
    except OverflowError:
        raise ValueError(f"{path}: a number is beyond ±1.8e308; save it in larger units") from None
    except (TypeError, ValueError):
        _check_separator(rows, path)
        for number, row in enumerate(rows, first_row):
            for column, cell in zip(columns, row, strict=True):
                if not _is_number(cell):
                    raise ValueError(
                        f"{path}: row {number}, column {column!r} holds {cell!r}, expected a number; drop the column, "
                        "or pass it as the id column if it names the objects"
                    ) from None
        raise


def read_anchors(
    path: str | Path, x_names: list[Any], y_names: list[Any], *, what: str = "anchors"
) -> list[tuple[int, int]]:
    """Read known or forbidden pairs from a csv of two columns: the name (or row number) of an x and that of its y.

    A first line "x,y" and columns after the second are skipped: the pairs that `pairup match` writes can be read as
    anchors.

    Parameters
    ----------
    path : str or Path
        The csv file.
    x_names : list
        Names of the rows of X.
    y_names : list
        Names of the rows of Y.
    what : str, default "anchors"
        What the pairs are called in messages.

    Returns
    -------
    list of tuple of two int
        Pairs (i, j) of row i of X and row j of Y.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path}: cannot be read as {what} ({error}); pass a csv file of two columns, x and y"
        ) from error
    if lines and [cell.strip().lower() for cell in lines[0][:2]] == ["x", "y"]:
        lines = lines[1:]
    x_names, y_names = ([str(plain_name(name)).strip() for name in names] for names in (x_names, y_names))
    of_x, of_y = ({name: k for k, name in enumerate(names)} for names in (x_names, y_names))
    repeated = {side: Counter(names) for side, names in (("X", x_names), ("Y", y_names))}
    anchors = []
    for number, line in enumerate(lines, start=1):
        if len(line) < 2:
            raise ValueError(
                f"{path}: expected two columns, x and y, got {line} as pair {number}; separate them by a comma"
            )
        for cell, known, side in ((line[0], of_x, "X"), (line[1], of_y, "Y")):
            if cell.strip() not in known:
                raise ValueError(
                    f"{path}: pair {number} names {cell.strip()!r}, which is no row of {side}; "
                    "use the names of the id column, or row numbers counted from 0 if there is none"
                )
            if (rows := repeated[side][cell.strip()]) > 1:
                raise ValueError(
                    f"{path}: pair {number} names {cell.strip()!r}, as {rows} rows of {side} are called; "
                    "give every row a name of its own"
                )
        anchors.append((of_x[line[0].strip()], of_y[line[1].strip()]))
    return anchors
