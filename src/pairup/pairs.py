"""The pairs of a matching, written to files of any usual kind, with both rows side by side where wanted."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pairup.extras import require
from pairup.files import replace_file
from pairup.result import Matching
from pairup.tables import Table, plain_name

SUFFIXES = (".csv", ".json", ".parquet", ".xlsx")


def pair_rows(matching: Matching, tables: tuple[Table, Table] | None = None) -> Iterator[dict[str, Any]]:
    """Yield one pair after another as plain numbers and texts.

    Parameters
    ----------
    matching : Matching
        The matching.
    tables : tuple of two Table, optional
        The tables, whose rows are put side by side.

    Yields
    ------
    dict
        ``x``, ``y`` and, where it is known, ``confidence``; with tables ``x.NAME`` and ``y.NAME`` of every column.
    """
    for i, row in enumerate(matching.rows()):
        plain = row | {"x": plain_name(row["x"]), "y": plain_name(row["y"])}
        if tables is not None:
            for side, table, k in (("x", tables[0], i), ("y", tables[1], int(matching.indices[i]))):
                for column in table.columns:
                    plain[f"{side}.{column.name}"] = plain_name(column.cells[k]) if k >= 0 else None
        yield plain


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
            _write_parquet(temporary, list(pair_rows(matching, tables)))
        elif suffix == ".xlsx":
            _write_excel(temporary, list(pair_rows(matching, tables)))
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
            cell = openpyxl.cell.WriteOnlyCell(sheet, illegal.sub("", value) if isinstance(value, str) else value)
            if isinstance(value, str):
                cell.data_type = "s"  # or a name that begins with = would be a formula
            cells.append(cell)
        sheet.append(cells)
    book.save(path)
