"""Cells of tables, read from files of any usual kind: text, spreadsheet, parquet, NumPy."""

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.archives import MAPPED_FROM, NUMPY_DAMAGE, read_array
from pairup.columns import are_codes, find_decimal_mark, is_missing, parse_number
from pairup.dates import find_date_format
from pairup.extras import require
from pairup.memory import free_memory

SUFFIXES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".xlsx", ".xlsm")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
SNIFFED = 200  # lines by which the separator is chosen
HEAD = 2**20  # bytes by which the number of rows is predicted
ROWS = 2**14  # of numbers that are looked at at once
LARGE = 2**26  # bytes of a file from which memory is predicted before it is read
CELL_BYTES = 80  # that a cell of text takes as an object of Python, beside its characters
OBJECT_BYTES = 4000  # that matching keeps of an object, coarse to fine: no method does with less
CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
DEEPEST_PACKING = 200  # a spreadsheet that unpacks to more than this many times its size is no table


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a file, column by column.

    Parameters
    ----------
    source : str
        The file.
    names : list of str
        Names of the columns; their numbers from 0 where the file has none.
    columns : list of sequence
        The cells of each column.
    named : bool
        Whether the file names its columns.
    decimal : {".", ","}, default "."
        The decimal mark of numbers written as text.
    notes : tuple of str, default ()
        What reading had to decide, in words.
    numbers : ndarray of shape (n, d), optional
        The cells as numbers, where all are.
    is_array : bool, default False
        Whether the file holds an array, whose columns are nothing but numbers.
    """

    source: str
    names: list[str]
    columns: list[Any]
    named: bool
    decimal: str = "."
    notes: tuple[str, ...] = ()
    numbers: Any = None
    is_array: bool = False


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


def read_cells(path: str | Path, *, header: bool | None = None, id_column: str | None = None) -> Cells:
    """Read the cells of a file by its suffix.

    Parameters
    ----------
    path : str or Path
        A csv, tsv, txt, npy, npz (one array), parquet, xlsx or xlsm file.
    header : bool, optional
        Whether the first row of a text table or spreadsheet holds column names; by default the cells tell.
    id_column : str, optional
        Name, or number counted from 0, of a column that names the objects; it helps to tell whether there is a header.

    Returns
    -------
    Cells
        The cells.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: unknown kind of table {suffix!r}; expected one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; check the path")
    if suffix in (".npy", ".npz"):
        return _read_numpy(path)
    if suffix == ".parquet":
        return _read_parquet(path)
    if suffix in (".xlsx", ".xlsm"):
        return _read_excel(path, header, id_column)
    return _read_text(path, header, id_column)


def _read_numpy(path: Path) -> Cells:
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
    names = [str(k) for k in range(values.shape[1])]
    return Cells(str(path), names, list(values.T), named=False, numbers=values, is_array=True)


def map_numbers(path: str | Path) -> NDArray[Any] | None:
    """Return the numbers of a large .npy file, which stay there; None for whatever must be read as a table.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    ndarray of shape (n, d) or None
        Floats without gaps, memory-mapped.
    """
    path = Path(path)
    if path.suffix.lower() != ".npy" or path.stat().st_size < MAPPED_FROM:
        return None
    try:
        numbers = read_array(path)
    except (MemoryError, *NUMPY_DAMAGE):  # which is told where it is read as a table
        return None
    if numbers.ndim != 2 or numbers.dtype.kind != "f" or not numbers.size:
        return None
    blocks = (numbers[first : first + ROWS] for first in range(0, len(numbers), ROWS))
    return numbers if all(np.isfinite(block).all() for block in blocks) else None


def _read_parquet(path: Path) -> Cells:
    """Read a parquet file."""
    parquet = require("pyarrow.parquet", extra="parquet")
    arrow = require("pyarrow", extra="parquet")
    try:
        _predict_parquet(path, parquet.read_metadata(path))
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{path}: cannot be read as parquet ({in_one_line(error)}); save it again, or as csv"
        ) from error
    if not table.num_columns or not table.num_rows:
        raise ValueError(f"{path}: the table is empty; expected one object per row")
    try:
        columns = [table.column(k).to_pylist() for k in range(table.num_columns)]
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise ValueError(
            f"{path}: cannot be read as parquet ({in_one_line(error)}); save it again, or as csv"
        ) from error
    return Cells(str(path), [str(name) for name in table.column_names], columns, named=True)


def _predict_parquet(path: Path, metadata: Any) -> None:
    """Refuse a parquet file that is too large to be read: a few bytes can stand for billions of equal cells."""
    cells = metadata.num_rows * metadata.num_columns
    needed = CELL_BYTES * cells + sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    free, limit = free_memory()
    if needed > max(free, LARGE):
        raise MemoryError(
            f"{path}: {metadata.num_rows:,} rows and {metadata.num_columns} columns: reading them takes about "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free ({limit}); take fewer rows or columns"
        )


def _read_excel(path: Path, header: bool | None, id_column: str | None) -> Cells:
    """Read the first sheet of a spreadsheet."""
    openpyxl = require("openpyxl", extra="excel")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > DEEPEST_PACKING * max(path.stat().st_size, 2**16) or (size > LARGE and 10 * size > free_memory()[0]):
            raise ValueError(f"it unpacks to {size / 2**20:.0f} MiB")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = book.sheetnames
            rows = [list(row) for row in book[sheets[0]].iter_rows(values_only=True)]
        finally:
            book.close()
    except MemoryError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers do
        raise ValueError(
            f"{path}: cannot be read as a spreadsheet ({in_one_line(error)}); save it again, or as csv"
        ) from error
    rows = [row for row in rows if any(cell is not None and cell != "" for cell in row)]
    width = max((k + 1 for row in rows for k, cell in enumerate(row) if cell is not None), default=0)
    rows = [[*row[:width], *[None] * (width - len(row))] for row in rows]
    notes = () if len(sheets) == 1 else (f"the first of {len(sheets)} sheets, {sheets[0]!r}, was read",)
    return _split_columns(path, rows, header, id_column, ".", notes)


def decode(data: bytes, path: Path) -> tuple[str, str]:
    """Return the text of a file, and its encoding.

    Parameters
    ----------
    data : bytes
        What the file holds.
    path : Path
        Its name, for messages.

    Returns
    -------
    text : str
        The text.
    encoding : str
        "UTF-8", "UTF-16" or "Windows-1252".

    Examples
    --------
    >>> decode("Käse".encode("cp1252"), Path("a.csv"))
    ('Käse', 'Windows-1252')
    """
    encoding, name = "utf-8-sig", "UTF-8"
    odd, even = data[1:2000:2].count(0), data[0:2000:2].count(0)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding, name = "utf-16", "UTF-16"
    elif max(odd, even) > 0.4 * len(data[:2000:2]) and min(odd, even) < 0.1 * len(data[:2000:2]):
        encoding, name = "utf-16-le" if odd > even else "utf-16-be", "UTF-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        try:
            if name == "UTF-16":
                raise error
            text, name = data.decode("cp1252"), "Windows-1252"
        except UnicodeDecodeError:
            raise ValueError(f"{path}: not a text table ({in_one_line(error)}); save it as UTF-8") from error
    if (name != "UTF-8" and (found := CONTROL.search(text)) is not None) or "\x00" in text:
        place = found.start() if name != "UTF-8" and found else text.index("\x00")
        row = text.count("\n", 0, place) + 1
        raise ValueError(f"{path}: not a text table (row {row} holds {text[place]!r}); save it as UTF-8")
    return text, name


def _predict_memory(path: Path) -> None:
    """Refuse a text table that is too large to be matched, before it is read."""
    size = path.stat().st_size
    if size < LARGE:
        return
    with path.open("rb") as file:
        head = file.read(HEAD)
    lines = head.count(b"\n") or head.count(b"\r")
    rows = max(int(size * lines / len(head)), 1)
    cells = size * max(head.count(separator) for separator in (b",", b";", b"\t", b"|", b" ")) / len(head) + rows
    needed, (free, limit) = size * 2 + cells * CELL_BYTES + rows * OBJECT_BYTES, free_memory()
    if needed > free:
        raise MemoryError(
            f"{path}: {size / 2**30:.1f} GiB, about {rows} rows: reading and matching them takes about "
            f"{needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free ({limit}); take fewer rows or columns, or "
            "split it by something both tables share"
        )


def _read_text(path: Path, header: bool | None, id_column: str | None) -> Cells:
    """Read a csv, tsv or txt file."""
    _predict_memory(path)
    text, encoding = decode(path.read_bytes(), path)
    notes: tuple[str, ...] = () if encoding == "UTF-8" else (f"encoding {encoding}",)
    suffix = path.suffix.lower()
    usual = {".tsv": "\t", ".txt": " "}.get(suffix, ",")
    if re.match(r"sep=.[\r\n]", text):  # as Excel writes and reads
        separator, text = text[4], text[6 + text.startswith("\r\n", 5) :]
    else:
        separator = find_separator(text, usual, blanks=suffix == ".txt")
    try:
        rows: list[list[Any]] = _split_rows(text, separator)
    except csv.Error as error:
        raise ValueError(
            f"{path}: not a text table ({error}); check whether a quotation mark is missing, or a cell holds a document"
        ) from error
    rows = [row for row in rows if len(row) > 1 or "".join(row).strip()]
    if not rows:
        raise ValueError(f"{path}: the file is empty; expected one object per row")
    width = len(rows[0])
    if all(len(row) in (width, width + 1) and (len(row) == width or row[-1] == "") for row in rows):
        rows = [row[:width] for row in rows]  # a separator at the end of some lines
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise ValueError(
                f"{path}: row {number} has {len(row)} cell{'s' * (len(row) != 1)} and row 1 has {width}; check whether "
                "the file is truncated"
            )
    if separator != usual:
        notes += (f"cells separated by {SEPARATORS.get(separator, repr(separator))}",)
    decimal = find_decimal_mark([cell for row in rows for cell in row], separator=separator)
    if decimal == ",":
        notes += ("decimal commas",)
    return _split_columns(path, rows, header, id_column, decimal, notes)


def _split_rows(text: str, separator: str, most: int | None = None) -> list[list[str]]:
    """Return the rows of a text table."""
    if separator == " ":
        return [line.split() for line in re.split(r"\r\n|\r|\n", text)[:most]]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    return [row for _, row in zip(range(most), reader, strict=False)] if most is not None else list(reader)


def find_separator(text: str, usual: str, *, blanks: bool = False) -> str:
    """Return what splits the lines of a text table into equally many cells, as many of them numbers as possible.

    Parameters
    ----------
    text : str
        The table.
    usual : str
        The separator that the name of the file promises; it is taken where nothing speaks for another.
    blanks : bool, default False
        Whether it may be blanks.

    Returns
    -------
    str
        One character.

    Examples
    --------
    >>> find_separator("a;b\\n1,5;2,5\\n3,5;4,5\\n", ",")
    ';'
    """
    head = text[: 2**18]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    best, found = (0.0, 0.0, 0.0), usual
    for separator in dict.fromkeys((usual, ";", "\t", "|", ",", *(" " * blanks))):
        try:
            rows = [row for row in _split_rows(head, separator, SNIFFED) if len(row) > 1 or "".join(row).strip()]
        except csv.Error:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if width < 2:
            continue
        cells = [cell for row in rows for cell in row]
        decimal = find_decimal_mark(cells, separator=separator)
        plain = np.mean(
            [is_missing(cell) or parse_number(cell, decimal) == parse_number(cell, decimal) for cell in cells]
        )
        quality = (count / len(rows) if len(rows[0]) == width else 0.0, float(plain), float(separator == usual))
        if quality > best:
            best, found = quality, separator
    return found


def _split_columns(
    path: Path, rows: list[list[Any]], header: bool | None, id_column: str | None, decimal: str, notes: tuple[str, ...]
) -> Cells:
    """Return rows of cells as columns, the names of the columns taken off."""
    if not rows:
        raise ValueError(f"{path}: the file is empty; expected one object per row")
    width = len(rows[0])
    if header is None:
        header = has_header(rows, id_column, decimal)
    names = _unique_names([str(k) if cell is None else str(cell).strip() for k, cell in enumerate(rows[0])])
    if not header:
        names = [str(k) for k in range(width)]
    below = rows[1:] if header else rows
    if not below:
        raise ValueError(f"{path}: no rows below the header; expected one object per row")
    numbers = None
    if decimal == ".":
        try:
            numbers = np.array(below, dtype=np.float64)
        except OverflowError:
            raise ValueError(f"{path}: a number is beyond ±1.8e308; save it in larger units") from None
        except (TypeError, ValueError):
            numbers = None
    columns = [list(column) for column in zip(*below, strict=True)]
    if any(map(are_codes, columns)):
        numbers = None
    return Cells(str(path), names, columns, header, decimal, notes, numbers)


def _unique_names(names: Sequence[str]) -> list[str]:
    """Return names of columns, repeated ones with a number."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}.{seen[name] - 1}")
    return unique


def has_header(rows: Sequence[Sequence[Any]], id_column: str | None = None, decimal: str = ".") -> bool:
    """Tell whether the first row of a table holds the names of its columns.

    Parameters
    ----------
    rows : sequence of sequence
        The rows.
    id_column : str, optional
        Name or number of a column of ids, if it is known.
    decimal : {".", ","}, default "."
        The decimal mark.

    Returns
    -------
    bool
        True if a name stands above numbers or dates; in a table of texts, if its first row repeats nowhere below.

    Examples
    --------
    >>> has_header([["who", "age"], ["ann", "31"]]), has_header([["ann", "31"], ["bob", "47"]])
    (True, False)
    """
    if id_column is not None and not id_column.isdecimal():
        return True
    ids = {int(id_column)} if id_column is not None else set()
    numeric = False
    for k, first in enumerate(rows[0]):
        if k in ids or is_missing(first):
            continue
        below = [row[k] for row in rows[1 : 1 + SNIFFED] if not is_missing(row[k])]
        if _is_value(first, decimal):
            numeric = True
        elif not below or np.mean([_is_value(cell, decimal) for cell in below]) >= 0.5:
            return True
    if numeric:
        return False
    cells = [str(cell).strip() for cell in rows[0]]
    others = {(k, str(cell).strip()) for row in rows[1:] for k, cell in enumerate(row)}
    return len(set(cells)) == len(cells) and not any(
        (k, cell) in others for k, cell in enumerate(cells) if k not in ids
    )


def _is_value(cell: Any, decimal: str) -> bool:
    """Tell whether a cell is a number or a date, and so no name of a column."""
    if not isinstance(cell, str):
        return True
    number = parse_number(cell, decimal)
    return number == number or find_date_format([cell]) is not None
