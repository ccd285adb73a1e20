"""What a worker does for a match: look at the files, and match them."""

import csv
import io
import json
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pairup.files import replace_file
from pairup.matching import match_steps
from pairup.pairs import write_pairs
from pairup.probabilities import are_known, count_bytes
from pairup.progress import estimate_seconds, warn_if_long
from pairup.result import Matching
from pairup.studio.match_code import write_command, write_python
from pairup.studio.match_picture import draw_cover, draw_sides, place_nodes, place_rows
from pairup.studio.match_results import UNCERTAIN
from pairup.studio.match_tables import Joined, Side, is_graph, join_sides, list_cells, names_differ, read_side
from pairup.studio.project import COVER
from pairup.tables import Table

SUFFIXES = ("csv", "xlsx", "json", "parquet")
BINS = 20  # of the histogram
CANDIDATES = 5  # partners that are listed for a row
LARGEST_SAVED = 300_000_000  # bytes of probabilities that are saved with a result
LONGEST_NAME = 120  # characters of a name on the page
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)  # of files that cannot be read
SHORT = 5.0  # seconds up to which a search is too short for an estimate
MOST_EXPECTED = 0.95  # of the progress, which is an estimate
PAUSE = 0.1  # seconds between two steps that the page is told

Files = dict[str, dict[str, Any] | None]
Pairs = Sequence[tuple[int, int]]


def look(path: Path, files: Files, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Read the files and write what is in them.

    Parameters
    ----------
    path : Path
        Where to write.
    files : dict
        The files of both sides; None where there is none yet.
    settings : dict
        How they are read.

    Yields
    ------
    dict
        Steps; a file that cannot be read is no error but a part of what is told.
    """
    told: dict[str, Any] = {"x": None, "y": None, "notes": [], "error": None}
    given = [file for file in files.values() if file is not None]
    graph = is_graph(given, settings["form"])
    sides: dict[str, Side] = {}
    for side, file in files.items():
        if file is None:
            continue
        yield {"progress": None, "text": f"reading {file['name']}"}
        try:
            sides[side] = read_side(file, _source(settings, side), graph=graph, directed=settings["directed"])
            told[side] = {"name": file["name"], "error": None, **sides[side].record}
        except EXPECTED as error:
            told[side] = {"name": file["name"], "error": str(error) or type(error).__name__}
    if len(sides) == 2:
        yield {"progress": None, "text": "comparing the columns"}
        try:
            joined = join_sides(sides["x"], sides["y"], settings)
            slow = warn_if_long(len(sides["x"].names), len(sides["y"].names), settings["method"])
            told["notes"] = [*joined.notes, slow] if slow and not graph else joined.notes
            for side, record in zip("xy", joined.records, strict=True):
                told[side] |= record
        except EXPECTED as error:
            told["error"] = str(error)
    path.parent.mkdir(exist_ok=True)
    with replace_file(path) as temporary:
        temporary.write_text(json.dumps(told), encoding="utf-8")
    yield {"result": {}}


def run(
    folder: Path, files: Files, settings: dict[str, Any], anchors: Pairs, forbidden: Pairs, previous: str | None
) -> Iterator[dict[str, Any]]:
    """Match the two files and write the result into a folder of its own.

    Parameters
    ----------
    folder : Path
        Where the results are.
    files : dict
        The files of both sides.
    settings : dict
        How they are read and matched.
    anchors, forbidden : list of (int, int)
        Pairs that were confirmed and rejected.
    previous : str or None
        The result with which the new one is compared.

    Yields
    ------
    dict
        Steps, and the answer last.
    """
    given = [file for file in files.values() if file is not None]
    graph = is_graph(given, settings["form"])
    sides = []
    for name, file in zip("xy", given, strict=True):
        yield {"progress": None, "text": f"reading {file['name']}"}
        sides.append(read_side(file, _source(settings, name), graph=graph, directed=settings["directed"]))
    x, y = sides
    joined = join_sides(x, y, settings)
    yield {"progress": None, "text": f"matching {len(x.names):,} with {len(y.names):,} {'nodes' if graph else 'rows'}"}
    matching: Matching | None = None
    expected = 0.0 if graph else estimate_seconds(len(x.names), len(y.names), settings["method"])
    began = told = time.monotonic()
    for step in match_steps(
        *joined.data,
        method=settings["method"],
        metric=settings["metric"],
        overlap=settings["overlap"],
        on=settings["on"],
        anchors=anchors,
        forbidden=forbidden,
    ):
        if isinstance(step, Matching):
            matching = step.with_names(x.names, y.names)
        elif time.monotonic() - told > PAUSE:
            told = time.monotonic()
            share = min((told - began) / expected, MOST_EXPECTED) if expected > SHORT else None
            yield {"progress": share, "text": f"searching: start {step.start + 1}, step {step.iteration}"}
    assert matching is not None
    yield {"progress": None, "text": "drawing the picture"}
    identifier = secrets.token_hex(8)
    before = _read_before(folder, previous, len(matching))
    temporary = folder / f".{identifier}"
    temporary.mkdir(parents=True)
    try:
        _write_view(temporary, matching, sides, joined, before)
        _write_picture(temporary, matching, joined, graph=graph)
        downloads = _write_downloads(temporary, matching, joined, anchors, forbidden)
        _write_code(temporary, given, sides, settings, anchors, forbidden)
        with replace_file(folder.parent / COVER) as picture:
            shutil.copyfile(temporary / COVER, picture)
        temporary.rename(folder / identifier)  # whole or not at all
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    changed = None if before is None else int((matching.indices != np.array(before)).sum())
    yield {
        "result": {
            "id": identifier,
            "settings": settings,
            "anchors": list(anchors),
            "forbidden": list(forbidden),
            "rows": (len(x.names), len(y.names)),
            "graphs": graph,
            "previous": previous if before is not None else None,
            "changed": changed,
            "downloads": downloads,
            **judge(matching),
        }
    }


def _source(settings: dict[str, Any], side: str) -> dict[str, Any]:
    """Return how a side is read; distances have no column of names unless one is chosen."""
    source: dict[str, Any] = settings[side]
    found = settings["metric"] == "precomputed" and source["id_column"] is None
    return source | {"id_column": "none"} if found else source


def judge(matching: Matching) -> dict[str, Any]:
    """Return what the page says of a matching as a whole.

    Parameters
    ----------
    matching : Matching
        The matching.

    Returns
    -------
    dict
        Tone, verdict in words, expected share of right pairs, report, histogram of the confidences.
    """
    tone = {True: "good", False: "bad", None: "warn"}[matching.reliable]
    sure = matching.confidence[matching.indices >= 0] if matching.confidence.size else None
    return {
        "pairs": matching.n_pairs,
        "tone": tone,
        "verdict": matching.verdict,
        "reliability": matching.reliability,
        "report": matching.report[:20_000],
        "histogram": [] if sure is None else np.histogram(sure, bins=BINS, range=(0, 1))[0].tolist(),
        "uncertain": None if sure is None else int((sure < UNCERTAIN).sum()),
    }


def _read_before(folder: Path, previous: str | None, n: int) -> list[int] | None:
    """Return the partners of the answer before, if it is about as many rows."""
    path = folder / str(previous) / "pairs-view.json"
    if previous is None or not path.is_file():
        return None
    partners: list[int] = json.loads(path.read_text(encoding="utf-8"))["partners"]
    return partners if len(partners) == n else None


def _show_names(names: Sequence[Any]) -> list[str]:
    """Return names as the page shows them; rows without names are counted from 1."""
    if list(names) == list(range(len(names))):
        return [f"row {k + 1}" for k in names]
    return [str(name)[:LONGEST_NAME] for name in names]


def _write_view(folder: Path, matching: Matching, sides: list[Side], joined: Joined, before: list[int] | None) -> None:
    """Write what the list of pairs shows."""
    candidates = None
    if are_known(matching.probabilities):
        partners, shares = matching.candidates(CANDIDATES)
        candidates = [
            [[int(j), round(float(p), 4)] for j, p in zip(js, ps, strict=True) if p >= 5e-4]
            for js, ps in zip(partners, shares, strict=True)
        ]
    listed = [list_cells(side, record) for side, record in zip(sides, joined.records, strict=True)]
    view = {
        "names": [_show_names(names) for names in matching.names],
        "partners": matching.indices.tolist(),
        "confidence": matching.confidence.round(4).tolist() if matching.confidence.size else None,
        "candidates": candidates,
        "columns": [columns for columns, _ in listed],
        "cells": [cells for _, cells in listed],
        "before": before,
    }
    (folder / "pairs-view.json").write_text(json.dumps(view), encoding="utf-8")


def _write_picture(folder: Path, matching: Matching, joined: Joined, *, graph: bool) -> None:
    """Write the places of all rows in the picture."""
    place = place_nodes if graph else place_rows
    x, y = map(place, joined.numbers)
    points = draw_sides(x, y, matching.indices)
    picture = {
        "x": {"points": points[0], "names": _show_names(matching.names[0])},
        "y": {"points": points[1], "names": _show_names(matching.names[1])},
        "partners": matching.indices.tolist(),
        "confidence": matching.confidence.round(3).tolist() if matching.confidence.size else None,
    }
    (folder / "picture.json").write_text(json.dumps(picture, separators=(",", ":")), encoding="utf-8")
    sure = matching.confidence.tolist() if matching.confidence.size else None
    draw_cover(points, matching.indices.tolist(), sure).save(folder / COVER, quality=88)


def _write_downloads(folder: Path, matching: Matching, joined: Joined, anchors: Pairs, forbidden: Pairs) -> list[str]:
    """Write the files that can be downloaded, and return their names."""
    written = []
    tables = joined.data if all(isinstance(each, Table) for each in joined.data) else None
    for name, rows in (*((f"pairs.{suffix}", None) for suffix in SUFFIXES), ("pairs-with-rows.csv", tables)):
        if rows is not None or "rows" not in name:
            with suppress(ImportError):  # parquet and xlsx need packages of their own
                write_pairs(matching, folder / name, rows)
                written.append(name)
    is_large = count_bytes(matching.probabilities) > LARGEST_SAVED
    saved = replace(matching, probabilities=np.empty(0)) if is_large else matching
    saved.save(folder / "matching.npz")
    for name, pairs in (("anchors.csv", anchors), ("forbidden.csv", forbidden)):
        if pairs:
            text = io.StringIO()
            named = [(matching.names[0][i], matching.names[1][j]) for i, j in pairs]
            csv.writer(text, lineterminator="\n").writerows([("x", "y"), *named])
            (folder / name).write_text(text.getvalue(), encoding="utf-8", newline="")
    return [*written, "matching.npz"]


def _write_code(
    folder: Path,
    files: list[dict[str, Any]],
    sides: list[Side],
    settings: dict[str, Any],
    anchors: Pairs,
    forbidden: Pairs,
) -> None:
    """Write the same matching as Python and as a command."""
    paths = [file["own_path"] or file["name"] for file in files]
    readings = [side.reading for side in sides]
    python = write_python(paths, readings, settings, anchors, forbidden)
    command = write_command(paths, readings, settings, anchors=bool(anchors), forbidden=bool(forbidden))
    needed = [name for name, pairs in (("anchors.csv", anchors), ("forbidden.csv", forbidden)) if pairs]
    reason = ""
    if command is None:
        reason = "The two files are read in different ways, for which the command has no options; use the Python."
    elif needed and not names_differ(sides):
        command, reason = (
            None,
            "Some rows have the same name, so a file of known pairs cannot name them; use the Python.",
        )
    code = {"python": python, "command": command, "reason": reason, "needs": needed}
    (folder / "code.json").write_text(json.dumps(code), encoding="utf-8")
