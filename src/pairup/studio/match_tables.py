"""What a match reads: tables and graphs from files, and what the page tells of them."""

import csv
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pairup.edge_lists import SUFFIXES as GRAPHS
from pairup.edge_lists import read_graph
from pairup.tables import SUFFIXES as TABLES
from pairup.tables import read_table

HEAD = 6  # rows that the page shows
SHOWN = 5  # columns whose cells are listed beside a pair
MOST_COLUMNS = 200  # that the page tells of one by one
LONGEST = 80  # characters of a cell on the page
NO_ID = "none"


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a match.

    Parameters
    ----------
    data : ndarray or scipy.sparse array
        What `pairup.match` takes.
    names : list
        Names of the rows.
    record : dict
        What the page tells of it: rows, columns with kind, use and text, first rows, notes.
    columns : list of str
        Columns whose cells are listed beside a pair.
    cells : list of lists of str
        These cells, row by row.
    call : str
        The Python expression that reads it again, with ``{path}`` in place of the file.
    options : dict of str to str or None
        Options of ``pairup match`` that read it again.
    """

    data: Any
    names: list[Any]
    record: dict[str, Any]
    columns: list[str]
    cells: list[list[str]]
    call: str
    options: dict[str, str | None]


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


@contextmanager
def open_named(file: dict[str, Any]) -> Iterator[Path]:
    """Give a file of the project the ending of its name for the duration of the block.

    Parameters
    ----------
    file : dict
        Its path, and the name that a person gave it.

    Yields
    ------
    Path
        The file, with the ending by which it is read.

    Raises
    ------
    ValueError
        As inside the block, with the name in place of the path.
    """
    suffix = _suffix(file["name"])
    if suffix not in (*TABLES, *GRAPHS):
        known = ", ".join((*TABLES, *GRAPHS))
        raise ValueError(f"{file['name']}: this is no table or graph that can be read; expected one of {known}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        try:
            path.symlink_to(file["path"])
        except OSError:  # where links are not allowed
            shutil.copyfile(file["path"], path)
        try:
            yield path
        except (ValueError, MemoryError, OSError, ImportError) as error:
            raise type(error)(str(error).replace(str(path), file["name"])) from error


def read_side(file: dict[str, Any], source: dict[str, Any], *, graph: bool, directed: bool = False) -> Side:
    """Read one side.

    Parameters
    ----------
    file : dict
        Path and name.
    source : dict
        How to read it: header and id_column, None where it is found out.
    graph : bool
        Whether it is a graph.
    directed : bool, default False
        Whether the edges of an edge list have a direction.

    Returns
    -------
    Side
        What was read.
    """
    with open_named(file) as path:
        return _read_graph(path, source, directed) if graph else _read_table(path, source)


def _read_graph(path: Path, source: dict[str, Any], directed: bool) -> Side:
    """Read a graph."""
    adjacency, names = read_graph(path, directed=directed, header=source["header"])
    weights = adjacency.data
    edges = int(adjacency.nnz if directed else (adjacency.nnz + np.count_nonzero(adjacency.diagonal())) // 2)
    degrees = np.asarray((adjacency != 0).sum(axis=1)).ravel()
    weighted = bool(weights.size and (weights != weights[0]).any())
    notes = [f"{edges:,} {'directed ' if directed else ''}edges{', with weights' if weighted else ''}"]
    record = {
        "kind": "graph",
        "rows": len(names),
        "columns": [],
        "id_column": None,
        "header": source["header"],
        "notes": notes,
        "head_columns": ["node", "edges"],
        "head": [[_show(name), str(int(degree))] for name, degree in zip(names[:HEAD], degrees, strict=False)],
    }
    given = {"directed": directed or None, "header": source["header"]}
    arguments = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    options: dict[str, str | None] = {"--graph": None}
    if directed:
        options["--directed"] = None
    if source["header"] is not None:
        options["--header" if source["header"] else "--no-header"] = None
    cells = [[str(int(degree))] for degree in degrees]
    return Side(adjacency, names, record, ["edges"], cells, f"read_graph({{path}}{arguments})", options)


def _read_table(path: Path, source: dict[str, Any]) -> Side:
    """Read a table."""
    header, wanted = source["header"], source["id_column"]
    raw = _read_cells(path) if path.suffix.lower() in (".csv", ".tsv", ".txt") else None
    if wanted is None and raw is not None:
        wanted = _find_id(raw)
    id_column = None if wanted == NO_ID else wanted
    table = read_table(path, header=header, id_column=id_column)
    rows, names = len(table.names), [str(k) for k in range(table.values.shape[1] + (id_column is not None))]
    if raw is not None:
        header = len(raw) > rows
        names = [cell.strip() for cell in raw[0]] if header else names
        raw = raw[header:]
    place = None if id_column is None else names.index(id_column) if id_column in names else int(id_column)
    cells = raw or [[f"{value:g}" for value in row] for row in table.values]
    columns = [
        {"name": name, "kind": "id", "use": "names", "missing": 0, "text": "names the rows"}
        if k == place
        else {"name": name, "kind": "number", "use": "encoded", "missing": 0, "text": "used as it is"}
        for k, name in enumerate(names[:MOST_COLUMNS])
    ]
    record = {
        "kind": "table",
        "rows": rows,
        "columns": columns,
        "id_column": None if place is None else names[place],
        "header": header,
        "notes": [] if len(names) <= MOST_COLUMNS else [f"{len(names):,} columns, of which {MOST_COLUMNS} are listed"],
        "head_columns": [_show(name) for name in names[:MOST_COLUMNS]],
        "head": [[_show(cell) for cell in row[:MOST_COLUMNS]] for row in cells[:HEAD]],
    }
    listed = [k for k in range(len(names)) if k != place][:SHOWN]
    shown = [[_show(row[k]) for k in listed] if len(row) == len(names) else [] for row in cells]
    given = {"header": source["header"], "id_column": id_column}
    arguments = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    options: dict[str, str | None] = {} if id_column is None else {"--id-column": id_column}
    if source["header"] is not None:
        options["--header" if source["header"] else "--no-header"] = None
    call = f"read_table({{path}}{arguments})"
    return Side(table.values, table.names, record, [names[k] for k in listed], shown, call, options)


def _read_cells(path: Path) -> list[list[str]]:
    """Return the cells of a text table."""
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        if path.suffix.lower() == ".txt":
            rows = [line.split() for line in file]
        else:
            rows = list(csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    return [row for row in rows if len(row) > 1 or "".join(row).strip()]


def _find_id(rows: list[list[str]]) -> str | None:
    """Return the name of the first column if it names the rows: its cells are no numbers."""
    if len(rows) < 2 or len(rows[0]) < 2 or any(_is_number(row[0]) for row in rows[1:] if row):
        return None
    return rows[0][0].strip() if not any(map(_is_number, rows[0])) and rows[0][0].strip() else "0"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _show(cell: Any) -> str:
    """Return a cell as the page shows it."""
    text = " ".join(str(cell).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
