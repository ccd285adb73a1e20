"""The pairs of a matching, written to files of any usual kind, with both rows side by side where wanted."""

import csv
import datetime
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pairup.columns import Column, is_missing
from pairup.extras import require
from pairup.files import replace_file
from pairup.result import Matching
from pairup.tables import Table, plain_name

SUFFIXES = (".csv", ".json", ".parquet", ".xlsx")
FIRST_YEAR = 1900  # of Excel, which takes it for a leap year; days up to its end are written as text


def pair_rows(
    matching: Matching, tables: tuple[Table, Table] | None = None, *, typed: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield one pair after another as plain numbers and texts.

    Parameters
    ----------
    matching : Matching
        The matching.
    tables : tuple of two Table, optional
        The tables, whose rows are put side by side.
    typed : bool, default False
        Whether numbers, dates and truth values that were written as text are given as what they are.

    Yields
    ------
    dict
        ``x``, ``y`` and, where it is known, ``confidence``; with tables ``x.NAME`` and ``y.NAME`` of every column.
    """
    sides = []
    for side, table in zip("xy", tables or (), strict=False):
        sides.append([(f"{side}.{each.name}", type_cells(each) if typed else each.cells) for each in table.columns])
    for i, row in enumerate(matching.rows()):
        plain = row | {"x": plain_name(row["x"]), "y": plain_name(row["y"])}
        for columns, k in zip(sides, (i, int(matching.indices[i])), strict=False):
            for name, cells in columns:
                cell = cells[k] if k >= 0 else None
                plain[name] = cell if isinstance(cell, datetime.date) and typed else plain_name(cell)
        yield plain


def type_cells(column: Column) -> Sequence[Any]:
    """Return the cells of a column as numbers, dates or truth values, where they were read as such from text.

    Parameters
    ----------
    column : Column
        A column of a table.

    Returns
    -------
    sequence
        One value per cell, None where it is missing; the cells as they are if the column is of another kind, or if a
        cell could not be read.

    Examples
    --------
    >>> from pairup.columns import make_column
    >>> type_cells(make_column("price", ["1.234,50", "", "7,25"], decimal=","))
    [1234.5, None, 7.25]
    >>> type_cells(make_column("since", ["03.04.2020", "25.12.2021"], decimal=","))
    [datetime.date(2020, 4, 3), datetime.date(2021, 12, 25)]
    """
    missing = [is_missing(cell) for cell in column.cells]
    text = all(isinstance(cell, str) or gap for cell, gap in zip(column.cells, missing, strict=True))
    if not text or column.kind not in ("number", "date", "boolean") or sum(missing) < column.missing:
        return column.cells
    values = [None if gap else float(value) for value, gap in zip(column.values, missing, strict=True)]
    known = [value for value in values if value is not None]
    if column.kind == "boolean":
        return [None if value is None else bool(value) for value in values]
    if column.kind == "date":
        epoch = datetime.datetime(1970, 1, 1)
        seconds = [None if value is None else round(86400 * value) for value in values]
        times = [None if value is None else epoch + datetime.timedelta(seconds=value) for value in seconds]
        return times if any(value % 1 for value in known) else [time and time.date() for time in times]
    whole = all(value.is_integer() and abs(value) < 2**53 for value in known)
    return [None if value is None else int(value) for value in values] if whole else values


def format_pairs(matching: Matching, tables: tuple[Table, Table] | None = None, *, as_json: bool = False) -> str:
    """Return the pairs as text.

    Parameters
    ----------
    matching : Matching
        The matching.
    tables : tuple of two Table, optional
        As in `pair_rows`.
    as_json : bool, default False
        Whether as one JSON object, as of `Matching.to_dict`, instead of csv.

    Returns
    -------
    str
        The text.
    """
    if as_json:
        answer = matching.to_dict()
        if tables is not None:
            answer["pairs"] = list(pair_rows(matching, tables))
        return json.dumps(answer, indent=1) + "\n"
    if tables is None:
        return matching.to_csv()
    text = io.StringIO()
    rows = list(pair_rows(matching, tables))
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_pairs(matching: Matching, path: str | Path, tables: tuple[Table, Table] | None = None) -> None:
    """Write the pairs to a file by its suffix: csv, json, parquet or xlsx.

    Parameters
    ----------
    matching : Matching
        The matching.
    path : str or Path
        The file.
    tables : tuple of two Table, optional
        As in `pair_rows`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")
    check_extra(path)
    with replace_file(path) as temporary:
        if suffix == ".parquet":
            _write_parquet(temporary, list(pair_rows(matching, tables, typed=True)))
        elif suffix == ".xlsx":
            _write_excel(temporary, list(pair_rows(matching, tables, typed=True)))
        else:
            text = format_pairs(matching, tables, as_json=suffix == ".json")
            temporary.write_text(text, encoding="utf-8", newline="")


def check_extra(path: str | Path) -> None:
    """Raise an error that names the extra, if a file of this suffix cannot be written without one.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    needed = {".parquet": ("pyarrow.parquet", "parquet"), ".xlsx": ("openpyxl", "excel")}
    if (suffix := Path(path).suffix.lower()) in needed:
        module, extra = needed[suffix]
        require(module, extra=extra)


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    arrow, parquet = require("pyarrow", extra="parquet"), require("pyarrow.parquet", extra="parquet")
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if len({type(value) for value in values if value is not None}) > 1:  # a column of parquet has one type
            values = [None if value is None else str(value) for value in values]
        columns[name] = values
    parquet.write_table(arrow.table(columns), path)


def _write_excel(path: Path, rows: list[dict[str, Any]]) -> None:
    openpyxl = require("openpyxl", extra="excel")
    illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("pairs")
    for row in ({name: name for name in rows[0]}, *rows):
        cells = []
        for value in row.values():
            if isinstance(value, datetime.date) and value.year <= FIRST_YEAR:
                value = value.isoformat()
            cell = openpyxl.cell.WriteOnlyCell(sheet, illegal.sub("", value) if isinstance(value, str) else value)
            if isinstance(value, str):
                cell.data_type = "s"  # or a name that begins with = would be a formula
            cells.append(cell)
        sheet.append(cells)
    book.save(path)
