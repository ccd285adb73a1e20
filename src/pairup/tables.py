"""Tables of numbers, read from files."""

import csv
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require
from pairup.types import Array

SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet")


class Table(NamedTuple):
    """The numbers of a file, one object per row, and the objects' names (row numbers where it has none)."""

    values: Array
    names: list[Any]


def read_table(path: str | Path, *, header: bool | None = None, id_column: str | None = None) -> Table:
    """Read a table by its suffix: csv, tsv, txt (blank-separated), npy, npz (one array) or parquet.

    Parameters
    ----------
    path : the file.
    header : whether the first row of a text table holds column names; by default, whether it holds any text that
        is not a number outside the id column.
    id_column : name, or number counted from 0, of a column that names the objects.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: unknown kind of table {suffix!r}; expected one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    if suffix in (".npy", ".npz"):
        return _read_numpy(path, id_column)
    if suffix == ".parquet":
        return _read_parquet(path, id_column)
    return _read_text(path, header, id_column)


def _read_numpy(path: Path, id_column: str | None) -> Table:
    try:
        with path.open("rb") as file:  # numpy leaves a broken archive open
            loaded = np.load(file, allow_pickle=False)
            if path.suffix.lower() == ".npz":
                loaded = _only_array(loaded)
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path}: cannot be read as a table ({error})") from error
    if loaded.dtype.kind not in "biuf":
        raise ValueError(f"{path}: expected numbers, got an array of {loaded.dtype}; save it as floats")
    if loaded.ndim == 0:
        raise ValueError(f"{path}: expected one object per row, got a single number")
    values = np.asarray(loaded, dtype=np.float64).reshape(len(loaded), -1)
    if id_column is None:
        return Table(values, list(range(len(values))))
    place = _column([str(i) for i in range(values.shape[1])], id_column, path)
    return Table(np.delete(values, place, axis=1), values[:, place].tolist())


def _only_array(archive: Any) -> NDArray[Any]:
    if len(archive.files) != 1:
        raise ValueError(
            f"expected one array, found {len(archive.files)} ({', '.join(archive.files)}); save one per file"
        )
    array: NDArray[Any] = archive[archive.files[0]]
    return array


def _read_parquet(path: Path, id_column: str | None) -> Table:
    parquet = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path}: cannot be read as parquet ({error})") from error
    columns = table.column_names
    cells = [table.column(i).to_pylist() for i in range(len(columns))]
    return _numbers([list(row) for row in zip(*cells, strict=True)], columns, id_column, path, first_row=1)


def _read_text(path: Path, header: bool | None, id_column: str | None) -> Table:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text table ({error}); save it as UTF-8") from error
    lines = [line for line in text.splitlines() if line.strip()]
    if path.suffix.lower() == ".txt":
        rows: list[list[Any]] = [line.split() for line in lines]
    else:
        rows = list(csv.reader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    if not rows:
        raise ValueError(f"{path}: the file is empty; expected one object per row")
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise ValueError(f"{path}: row {number} has {len(row)} cells and row 1 has {width}; is the file truncated?")
    if header is None:
        named = id_column is not None and not id_column.isdigit()
        ids = {int(id_column)} if id_column is not None and id_column.isdigit() else set()
        header = named or any(not _is_number(cell) for i, cell in enumerate(rows[0]) if i not in ids)
    columns = [str(cell).strip() for cell in rows[0]] if header else [str(i) for i in range(width)]
    return _numbers(rows[header:], columns, id_column, path, first_row=1 + header)


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _column(columns: list[str], wanted: str, path: Path) -> int:
    if wanted in columns:
        return columns.index(wanted)
    if wanted.isdigit() and int(wanted) < len(columns):
        return int(wanted)
    raise ValueError(f"{path}: no column {wanted!r}; there are {', '.join(columns[:20])}")


def _numbers(rows: list[list[Any]], columns: list[str], id_column: str | None, path: Path, *, first_row: int) -> Table:
    if not rows:
        raise ValueError(f"{path}: no rows below the header; expected one object per row")
    names: list[Any] = list(range(len(rows)))
    if id_column is not None:
        place = _column(columns, id_column, path)
        names = [row[place] for row in rows]
        rows = [row[:place] + row[place + 1 :] for row in rows]
        columns = columns[:place] + columns[place + 1 :]
    if not columns:
        raise ValueError(f"{path}: nothing but the id column; expected columns of numbers beside it")
    try:
        return Table(np.array(rows, dtype=np.float64), names)
    except (TypeError, ValueError):
        for number, row in enumerate(rows, first_row):
            for column, cell in zip(columns, row, strict=True):
                if not _is_number(cell):
                    raise ValueError(
                        f"{path}: row {number}, column {column!r} holds {cell!r}, expected a number; drop the column, "
                        f"or name the objects by it with an id column"
                    ) from None
        raise


def read_anchors(path: str | Path, x_names: list[Any], y_names: list[Any]) -> list[tuple[int, int]]:
    """Read known pairs from a csv of two columns: the name (or row number) of an x and that of its y.

    A first line "x,y" is skipped, and columns after the second are, so that the pairs `pairup match` writes can be
    read as anchors again.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as anchors ({error})") from error
    if lines and [cell.strip().lower() for cell in lines[0][:2]] == ["x", "y"]:
        lines = lines[1:]
    of_x, of_y = ({str(name): k for k, name in enumerate(names)} for names in (x_names, y_names))
    anchors = []
    for number, line in enumerate(lines, start=1):
        if len(line) < 2:
            raise ValueError(f"{path}: expected two columns, x and y, got {line} as pair {number}")
        for cell, known, side in ((line[0], of_x, "X"), (line[1], of_y, "Y")):
            if cell.strip() not in known:
                raise ValueError(f"{path}: pair {number} names {cell.strip()!r}, which is no row of {side}")
        anchors.append((of_x[line[0].strip()], of_y[line[1].strip()]))
    return anchors
