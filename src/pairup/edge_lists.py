"""Read graphs from files: edge lists and GraphML."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairup.archives import NUMPY_DAMAGE
from pairup.cells import in_one_line
from pairup.extras import require

SUFFIXES = (".edges", ".edgelist", ".graphml")
COLUMNS = (("source", "target"), ("from", "to"))  # usual column names
SEPARATED = (*SUFFIXES[:2], ".csv", ".tsv", ".txt")  # one edge per line


class EdgeList(NamedTuple):
    """A graph from a file.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n, n)
        Weights of the edges.
    names : list of str
        Names of the nodes, in the order of the file.
    """

    adjacency: Any
    names: list[str]


def are_edge_columns(columns: Sequence[str]) -> bool:
    """Tell whether columns are called like those of an edge list.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns of a table.

    Returns
    -------
    bool
        Whether the first two are source and target, or from and to, and at most one follows.

    Examples
    --------
    >>> are_edge_columns(["Source", "Target", "weight"]), are_edge_columns(["from", "to", "km", "price"])
    (True, False)
    """
    return len(columns) <= 3 and tuple(name.lower() for name in columns[:2]) in COLUMNS


def read_graph(path: str | Path, *, directed: bool = False, header: bool | None = None) -> EdgeList:
    """Read a graph: one edge per line, two names and perhaps a weight, or GraphML.

    Cells are separated by commas, tabs or blanks; the rest of a line after # is a comment; a line with one name is a
    node without edges. Edges given twice add up.

    Parameters
    ----------
    path : str or Path
        The file: .edges, .edgelist, .csv, .tsv, .txt or .graphml (with networkx, of the extra `graph`).
    directed : bool, default False
        Whether an edge leads from its first node to its second only; GraphML says so itself.
    header : bool, optional
        Whether the first line holds column names; None assumes it if its third cell is no number, or if it reads
        source and target, or from and to.

    Returns
    -------
    EdgeList
        The graph.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (*SEPARATED, ".graphml"):
        known = ", ".join((*SEPARATED, ".graphml"))
        raise ValueError(f"{path}: unknown kind of graph {suffix!r}; expected one of {known}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; check the path")
    return _read_graphml(path) if suffix == ".graphml" else _read_lines(path, directed, header)


def _read_graphml(path: Path) -> EdgeList:
    """Read a GraphML file with networkx."""
    networkx = require("networkx", extra="graph")
    try:
        graph = networkx.read_graphml(path)
    except (*NUMPY_DAMAGE, networkx.NetworkXException) as error:
        raise ValueError(f"{path}: cannot be read as GraphML ({in_one_line(error)}); save it again") from error
    edges = [(str(a), str(b), weight) for a, b, weight in graph.edges(data="weight", default=1.0)]
    return _build(edges, [str(node) for node in graph.nodes], bool(graph.is_directed()), path)


def _read_lines(path: Path, directed: bool, header: bool | None) -> EdgeList:
    """Read one edge per line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file ({error}); save it as UTF-8") from error
    rows = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        separator = next((each for each in ("\t", ",") if each in text), None)
        cells = next(csv.reader([text], delimiter=separator)) if separator else text.split()
        cells = [cell.strip() for cell in cells]
        if not text:
            continue
        if len(cells) > 3 or not all(cells):
            raise ValueError(
                f"{path}: line {number} has {len(cells)} cells, expected two names and perhaps a weight: {line!r:.80}"
            )
        rows.append((number, cells))
    if header is None and rows:
        first = rows[0][1]
        header = tuple(cell.lower() for cell in first[:2]) in COLUMNS or (len(first) == 3 and not _is_number(first[2]))
    if header:
        rows = rows[1:]
    edges, names = [], []
    for number, cells in rows:
        if len(cells) == 3 and not _is_number(cells[2]):
            raise ValueError(f"{path}: line {number} has the weight {cells[2]!r}, expected a number")
        names += cells[:2]
        if len(cells) > 1:
            edges.append((cells[0], cells[1], cells[2] if len(cells) == 3 else 1.0))
    return _build(edges, names, directed, path)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _build(edges: list[tuple[str, str, Any]], names: list[str], directed: bool, path: Path) -> EdgeList:
    """Return edges between named nodes as an adjacency matrix."""
    from scipy import sparse

    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    if not number:
        raise ValueError(f"{path}: the file holds no nodes; expected one edge per line")
    try:
        weights = np.array([float(weight) for _, _, weight in edges])
    except (TypeError, ValueError):
        raise ValueError(f"{path}: a weight is no number; give every edge a number as weight") from None
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        a, b, weight = edges[bad[0]]
        raise ValueError(
            f"{path}: the edge from {a!r} to {b!r} has the weight {weight!r}; drop such edges, or give them a finite "
            "weight"
        )
    ends = [number[a] for a, _, _ in edges], [number[b] for _, b, _ in edges]
    matrix = sparse.csr_array((weights, ends), shape=(len(number), len(number)))
    if not directed:
        matrix = matrix + matrix.T - sparse.diags_array(matrix.diagonal())
    return EdgeList(sparse.csr_array(matrix), list(number))
