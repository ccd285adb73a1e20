"""The same matching as Python and as a command, to copy."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

DEFAULTS = {"method": "auto", "metric": "auto", "overlap": 1.0, "on": "auto"}


def write_python(
    paths: Sequence[str],
    calls: Sequence[str],
    settings: Mapping[str, Any],
    anchors: Sequence[tuple[int, int]] = (),
    forbidden: Sequence[tuple[int, int]] = (),
) -> str:
    """Write the Python that finds the same pairs.

    Parameters
    ----------
    paths : sequence of two str
        The files.
    calls : sequence of two str
        How each is read, with ``{path}`` in place of the file.
    settings : mapping
        Method, metric, overlap, and whether common columns are compared directly.
    anchors, forbidden : sequence of (int, int), default ()
        Pairs that are known, and pairs that are known to be wrong.

    Returns
    -------
    str
        A script that prints the verdict and writes pairs.csv.
    """
    reader = calls[0].partition("(")[0]
    home = "pairup.edge_lists" if reader == "read_graph" else "pairup.tables"
    data = ".adjacency" if reader == "read_graph" else ".values" if settings["metric"] == "precomputed" else ""
    names = ".with_names(x.names, y.names)" if data else ""  # tables bring their names along
    given = {name: settings[name] for name, usual in DEFAULTS.items() if settings[name] != usual}
    given |= {
        name: [tuple(pair) for pair in pairs]
        for name, pairs in (("anchors", anchors), ("forbidden", forbidden))
        if pairs
    }
    arguments = "".join(f", {name}={value!r}" for name, value in given.items())
    x, y = (call.replace("{path}", repr(path)) for call, path in zip(calls, paths, strict=True))
    return (
        "from pathlib import Path\n\n"
        "import pairup\n"
        f"from {home} import {reader}\n\n"
        f"x = {x}\n"
        f"y = {y}\n"
        f"matching = pairup.match(x{data}, y{data}{arguments}){names}\n"
        "print(matching.verdict)\n"
        'Path("pairs.csv").write_text(matching.to_csv(), encoding="utf-8", newline="")\n'
    )


def write_command(
    paths: Sequence[str],
    options: Sequence[Mapping[str, str | None]],
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
    options : sequence of two mappings
        Options that read each file.
    settings : mapping
        Method, metric, overlap, and whether common columns are compared directly.
    anchors, forbidden : bool, default False
        Whether there are known pairs, in anchors.csv, and pairs known to be wrong, in forbidden.csv.

    Returns
    -------
    str or None
        The command; None where it has no options for this.
    """
    if options[0] != options[1] or settings["on"] != "auto":
        return None
    words = ["pairup", "match", *paths]
    for name, value in options[0].items():
        words += [name] if value is None else [name, value]
    for name, usual in DEFAULTS.items():
        if settings[name] != usual:
            words += [f"--{name}", f"{settings[name]}"]
    words += ["--anchors", "anchors.csv"] if anchors else []
    words += ["--forbidden", "forbidden.csv"] if forbidden else []
    return shlex.join([*words, "-o", "pairs.csv"])
