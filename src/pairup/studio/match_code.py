"""The same matching as Python and as a command, to copy."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DEFAULTS = {"method": "auto", "metric": "auto", "overlap": 1.0, "on": "auto"}


@dataclass(frozen=True)
class Reading:
    """How a file was read.

    Parameters
    ----------
    columns : sequence of str, default ()
        Names of its columns.
    header : bool, optional
        Whether its first row holds column names; None where that was found out.
    id_column : str, optional
        The column that names the rows; None where it was found out.
    kinds : mapping of str to str, default none
        Kinds of columns that were chosen.
    drop : sequence of str, default ()
        Columns that were left out.
    graph : bool, default False
        Whether it is a graph.
    directed : bool, default False
        Whether the edges of an edge list have a direction.
    """

    columns: Sequence[str] = ()
    header: bool | None = None
    id_column: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    graph: bool = False
    directed: bool = False

    def write_call(self, path: str) -> str:
        """Write the call that reads the file again.

        Parameters
        ----------
        path : str
            The file.

        Returns
        -------
        str
            Python, what is usual left out.
        """
        given: dict[str, Any] = {"id_column": self.id_column, "kinds": dict(self.kinds), "drop": list(self.drop)}
        said = {name: value for name, value in (given | {"directed": self.directed}).items() if value}
        said |= {} if self.header is None else {"header": self.header}
        reader = "read_graph" if self.graph else "read_table"
        return f"{reader}({path!r}{''.join(f', {name}={value!r}' for name, value in said.items())})"


def write_python(
    paths: Sequence[str],
    readings: Sequence[Reading],
    settings: Mapping[str, Any],
    anchors: Sequence[tuple[int, int]] = (),
    forbidden: Sequence[tuple[int, int]] = (),
) -> str:
    """Write the Python that finds the same pairs.

    Parameters
    ----------
    paths : sequence of two str
        The files.
    readings : sequence of two Reading
        How each was read.
    settings : mapping
        Method, metric, overlap, and whether common columns are compared directly.
    anchors, forbidden : sequence of (int, int), default ()
        Pairs that are known, and pairs that are known to be wrong.

    Returns
    -------
    str
        A script that prints the verdict and writes pairs.csv.
    """
    reader, home = ("read_graph", "pairup.edge_lists") if readings[0].graph else ("read_table", "pairup.tables")
    data = ".adjacency" if readings[0].graph else ".values" if settings["metric"] == "precomputed" else ""
    imports = "\n".join(sorted([f"from {home} import {reader}", "from pairup.pairs import write_pairs"]))
    names = ".with_names(x.names, y.names)" if data else ""  # tables bring their names along
    given = {name: settings[name] for name, usual in DEFAULTS.items() if settings[name] != usual}
    given |= {
        name: [tuple(pair) for pair in pairs]
        for name, pairs in (("anchors", anchors), ("forbidden", forbidden))
        if pairs
    }
    arguments = "".join(f", {name}={value!r}" for name, value in given.items())
    x, y = (reading.write_call(path) for reading, path in zip(readings, paths, strict=True))
    return (
        "import pairup\n"
        f"{imports}\n\n"
        f"x = {x}\n"
        f"y = {y}\n"
        f"matching = pairup.match(x{data}, y{data}{arguments}){names}\n"
        "print(matching.verdict)\n"
        'write_pairs(matching, "pairs.csv")\n'
    )


def write_command(
    paths: Sequence[str],
    readings: Sequence[Reading],
    settings: Mapping[str, Any],
    *,
    anchors: bool = False,
    forbidden: bool = False,
) -> str | None:
    """Write the command that finds the same pairs.

    Parameters
    ----------
    paths : sequence of two str
        The files.
    readings : sequence of two Reading
        How each was read.
    settings : mapping
        Method, metric, overlap, and whether common columns are compared directly.
    anchors, forbidden : bool, default False
        Whether there are known pairs, in anchors.csv, and pairs known to be wrong, in forbidden.csv.

    Returns
    -------
    str or None
        The command; None where it has no options for this.
    """
    x, y = readings
    if (x.graph, x.directed, x.header) != (y.graph, y.directed, y.header):
        return None
    if any(
        one.kinds[name] != other.kinds.get(name)
        for one, other in ((x, y), (y, x))
        for name in one.kinds
        if name in other.columns
    ):
        return None  # --kind is about both tables
    words = ["pairup", "match", *paths]
    words += ["--graph"] * x.graph + ["--directed"] * x.directed
    words += [] if x.header is None else ["--header" if x.header else "--no-header"]
    for side, reading in zip("xy", readings, strict=True):
        words += [] if reading.id_column is None else ["--id-column", f"{side}={reading.id_column}"]
        for name in reading.drop:
            words += ["--drop", f"{side}={name}"]
    for name, kind in {**x.kinds, **y.kinds}.items():
        words += ["--kind", f"{name}={kind}"]
    for name, usual in DEFAULTS.items():
        if settings[name] != usual:
            words += [f"--{name}", f"{settings[name]}"]
    words += ["--anchors", "anchors.csv"] if anchors else []
    words += ["--forbidden", "forbidden.csv"] if forbidden else []
    return shlex.join([*words, "-o", "pairs.csv"])
