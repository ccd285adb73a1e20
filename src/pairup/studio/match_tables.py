"""What a match reads: tables and graphs from files, and what the page tells of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pairup.cells import SUFFIXES as TABLES
from pairup.edge_lists import SUFFIXES as GRAPHS
from pairup.edge_lists import read_graph
from pairup.linkage import pair_tables
from pairup.studio.match_code import Reading
from pairup.studio.named_files import open_named
from pairup.tables import Table, read_table

HEAD = 6  # rows that the page shows
SHOWN = 5  # columns whose cells are listed beside a pair
MOST_COLUMNS = 200  # that the page tells of one by one
LONGEST = 80  # characters of a cell on the page
LONG_DECIMAL = re.compile(r"[+-]?\d+\.(\d{4,}|0)")  # with more digits than one reads, or only a zero: 68.0
WHOLE = 10_000  # from which on the digits after the point are left out


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a match.

    Parameters
    ----------
    data : Table or scipy.sparse array
        What `pairup.match` takes.
    names : list
        Names of the rows.
    record : dict
        What the page tells of it: rows, columns with kind, use and text, first rows, notes.
    reading : Reading
        How it was read.
    """

    data: Any
    names: list[Any]
    record: dict[str, Any]
    reading: Reading


def is_graph(files: list[dict[str, Any]], form: str) -> bool:
    """Tell whether files are read as graphs.

    Parameters
    ----------
    files : list of dict
        The files.
    form : {"auto", "tables", "graphs"}
        What was asked for.

    Returns
    -------
    bool
        Whether they are graphs.
    """
    return form == "graphs" or (form == "auto" and any(_suffix(file["name"]) in GRAPHS for file in files))


def _suffix(name: str) -> str:
    return Path(name).suffix.lower()


def _check_suffix(name: str) -> None:
    """Refuse a file whose ending is of no table or graph."""
    if _suffix(name) not in (*TABLES, *GRAPHS):
        known = ", ".join((*TABLES, *GRAPHS))
        raise ValueError(f"{name}: this is no table or graph that can be read; expected one of {known}")


def read_side(file: dict[str, Any], source: dict[str, Any], *, graph: bool, directed: bool = False) -> Side:
    """Read one side.

    Parameters
    ----------
    file : dict
        Path and name.
    source : dict
        How to read it: header and id_column, None where they are found out, kinds of columns, and columns to leave out.
    graph : bool
        Whether it is a graph.
    directed : bool, default False
        Whether the edges of an edge list have a direction.

    Returns
    -------
    Side
        What was read.
    """
    _check_suffix(file["name"])
    with open_named(file["path"], file["name"]) as path:
        return _read_graph(path, source, directed) if graph else _read_table(path, source)


def _read_graph(path: Path, source: dict[str, Any], directed: bool) -> Side:
    """Read a graph."""
    adjacency, names = read_graph(path, directed=directed, header=source["header"])
    weights = adjacency.data
    edges = int(adjacency.nnz if directed else (adjacency.nnz + np.count_nonzero(adjacency.diagonal())) // 2)
    degrees = np.asarray((adjacency != 0).sum(axis=1)).ravel()
    weighted = bool(weights.size and (weights != weights[0]).any())
    told = f"{edges:,} {'directed ' * directed}edge{'s' * (edges != 1)}{', with weights' * weighted}"
    record = {
        "kind": "graph",
        "rows": len(names),
        "columns": [],
        "id_column": None,
        "header": source["header"],
        "notes": [told],
        "head_columns": ["node", "edges"],
        "head": [[_show(name), str(degree)] for name, degree in zip(names[:HEAD], degrees, strict=False)],
    }
    reading = Reading(header=source["header"], graph=True, directed=directed)
    return Side(adjacency, names, record, reading)


def _read_table(path: Path, source: dict[str, Any]) -> Side:
    """Read a table."""
    given = {name: source[name] for name in ("id_column", "kinds", "drop")}
    table = read_table(path, header=source["header"], **given)
    names, columns = table.cells.names, table.cells.columns
    record = {
        "kind": "table",
        "header": table.cells.named,
        "head_columns": [_show(name) for name in names[:MOST_COLUMNS]],
        "head": [[_show(column[k]) for column in columns[:MOST_COLUMNS]] for k in range(min(HEAD, len(table)))],
        **_tell(table.to_dict()),
    }
    return Side(table, table.names, record, Reading(names, source["header"], **given))


def list_cells(side: Side, record: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the cells that are listed beside a pair, those of common columns first.

    Parameters
    ----------
    side : Side
        One side.
    record : dict
        What is done with its columns.

    Returns
    -------
    columns : list of str
        A few columns; none where they have only numbers.
    cells : list of lists of str
        Their cells, row by row.
    """
    if not isinstance(side.data, Table):
        degrees = np.asarray((side.data != 0).sum(axis=1)).ravel()
        return ["edges"], [[str(degree)] for degree in degrees]
    places = {name: k for k, name in enumerate(side.data.cells.names)}
    uses = [[c["name"] for c in record["columns"] if c["use"] == use] for use in ("common", "encoded")]
    names = [*uses[0], *uses[1]][:SHOWN]
    columns = [side.data.cells.columns[places[name]] for name in names]
    cells = [[_shorten(_show(column[row])) for column in columns] for row in range(len(side.names))]
    return names if side.data.cells.named else [], cells  # numbers of columns say nothing


def _tell(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a table as the page takes it."""
    columns, notes = record["columns"], list(record["notes"])
    if len(columns) > MOST_COLUMNS:
        notes.append(f"{len(columns):,} columns, of which {MOST_COLUMNS} are listed")
    return {
        "rows": record["rows"],
        "id_column": record["id_column"],
        "notes": notes,
        "columns": columns[:MOST_COLUMNS],
        "n_columns": len(columns),
    }


@dataclass(frozen=True, eq=False)
class Joined:
    """Both sides together.

    Parameters
    ----------
    data : tuple of two objects
        What `pairup.match` takes.
    numbers : tuple of two arrays
        What the picture shows: numbers, one row per object, or adjacency matrices.
    records : tuple of two dict
        What the page tells of each side, now that both are known.
    notes : list of str
        What was decided about both.
    """

    data: tuple[Any, Any]
    numbers: tuple[Any, Any]
    records: tuple[dict[str, Any], dict[str, Any]]
    notes: list[str]


def join_sides(x: Side, y: Side, settings: dict[str, Any]) -> Joined:
    """Say what is done with the columns of both sides.

    Parameters
    ----------
    x, y : Side
        The sides.
    settings : dict
        Method, metric, and whether common columns are compared directly.

    Returns
    -------
    Joined
        Both sides together.
    """
    tables = x.data, y.data
    if not (isinstance(tables[0], Table) and isinstance(tables[1], Table)):
        return Joined(tables, tables, (x.record, y.record), [])
    if settings["metric"] == "precomputed":
        numbers = tables[0].values, tables[1].values
        return Joined(numbers, numbers, (x.record, y.record), [])
    pair = pair_tables(*tables, on=settings["on"], compares=settings["method"] == "auto")
    told = pair.to_dict()
    records = {**x.record, **_tell(told["x"])}, {**y.record, **_tell(told["y"])}
    notes = list(pair.notes)
    if pair.common:
        notes.insert(0, f"Compared directly: {', '.join(pair.common)}.")
    return Joined(tables, (pair.X, pair.Y), records, notes)


def names_differ(sides: Sequence[Side]) -> bool:
    """Tell whether every row has a name of its own.

    Parameters
    ----------
    sides : sequence of Side
        The sides.

    Returns
    -------
    bool
        Whether no two rows of a side are called alike.
    """
    return all(len(set(map(str, side.names))) == len(side.names) for side in sides)


def _show(cell: Any) -> str:
    """Return a cell as the page shows it."""
    if isinstance(cell, float | np.floating):
        return f"{cell:.6g}"
    text = " ".join(str("" if cell is None else cell).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _shorten(cell: str) -> str:
    """Return a cell for a list: a long decimal number with four digits."""
    if not LONG_DECIMAL.fullmatch(cell):
        return cell
    value = float(cell)
    return f"{value:.4g}" if abs(value) < WHOLE else f"{value:.0f}"
