"""Columns that two tables have in common, compared directly: scores of all pairs."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairup.columns import Column, UnknownColumn
from pairup.encoding import SHOWN, TableRecord, weigh_pieces
from pairup.memory import check_memory
from pairup.tables import Table
from pairup.types import Array

COMPARED = ("number", "date", "boolean", "category", "text")
FURTHEST = 0.5  # largest distance of two distributions (Kolmogorov–Smirnov) of columns that are found to be common
AGREEMENT = 0.9  # share of right pairs whose categories agree: some are mistyped, some change
MOST_COMMON = 50  # columns that are compared directly unless they are named: each takes n·m·log m operations
SERIES = 3  # columns whose names differ by a number only: coordinates, as a rule
ONLY_COMMON = "one table has no other columns, so the common ones also pair by dependence"
SHARED = 0.3  # least share of rows whose category or text occurs in the other table too


@dataclass(frozen=True, eq=False)
class TablePair:
    """Two tables as numbers, with the scores of their common columns.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        The columns that pair by dependence, encoded.
    prior : ndarray of shape (n, m), optional
        Scores of all pairs by the common columns, larger where a pair is likelier.
    names : tuple of two lists
        Names of the rows.
    common : tuple of str
        The common columns.
    records : tuple of two TableRecord
        What was done with every column of both.
    notes : tuple of str
        What was decided about both tables together, in words.
    """

    X: Array
    Y: Array
    prior: Array | None
    names: tuple[list[Any], list[Any]]
    common: tuple[str, ...]
    records: tuple[TableRecord, TableRecord]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what was done with every column as plain numbers, strings and lists.

        Returns
        -------
        dict
            ``x`` and ``y`` (as of `TableRecord.to_dict`), ``common`` and ``notes``.
        """
        x, y = (record.to_dict() for record in self.records)
        return {"x": x, "y": y, "common": list(self.common), "notes": list(self.notes)}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.records), *self.notes])

    @property
    def summary(self) -> str:
        """What was done with the columns, in a few short lines; empty for two tables of plain numbers."""
        if not self.common and not self.notes and not any(map(_is_changed, self.records)):
            return ""
        lines = [f"Columns of {side}: {record.summary}." for side, record in zip("XY", self.records, strict=True)]
        if self.common:
            more = f" and {len(self.common) - SHOWN} more" if len(self.common) > SHOWN else ""
            lines.append(f"Compared directly: {', '.join(self.common[:SHOWN])}{more}.")
        lines += [f"Column {note}." if ": " in note[:60] else f"{note[:1].upper()}{note[1:]}." for note in self.notes]
        return "\n".join(lines)


def _is_changed(record: TableRecord) -> bool:
    """Tell whether anything was decided about a table: not where its numbers are used as they are, its ids as given."""
    expected = ("used as it is", "names the rows, not compared")
    return any(
        column.text not in expected and not (column.kind == "constant" and column.use == "encoded")
        for column in record.columns
    )


def pair_tables(x: Table, y: Table, *, on: str | Sequence[str] = "auto", compares: bool = True) -> TablePair:
    """Encode two tables, and compare their common columns directly.

    Parameters
    ----------
    x, y : Table
        The tables.
    on : "auto", "none" or sequence of str, default "auto"
        The common columns. "auto" takes those of the same name and kind whose values overlap; "none" or () none.
    compares : bool, default True
        Whether the method can use a score of all pairs; if not, common columns are columns like others.

    Returns
    -------
    TablePair
        The tables as numbers, the scores, and what was done with every column.
    """
    common, notes = find_common(x, y, on)
    if common and not compares:
        notes += [f"{', '.join(common)}: in both tables, but only method auto compares them directly"]
        common = []
    free = [[c for c in _usable(table) if c.name not in common] for table in (x, y)]
    keeps = bool(common) and not all(free)
    encoded = [table.encode(common=common, keeps_common=keeps) for table in (x, y)]
    for table, done in zip((x, y), encoded, strict=True):
        if not done.values.shape[1]:
            raise ValueError(
                f"{table.cells.source}: no column is left to compare ({done.record.summary}); "
                "give another id column, or keep more columns"
            )
    if keeps:
        notes.append(ONLY_COMMON)
    prior = compare_columns(x, y, common) if common else None
    return TablePair(
        encoded[0].values,
        encoded[1].values,
        prior,
        (x.names, y.names),
        tuple(common),
        (encoded[0].record, encoded[1].record),
        tuple(notes),
    )


def _usable(table: Table) -> list[Column]:
    """Return the columns of a table that tell objects apart."""
    return [
        column
        for column in table.columns
        if column.kind in COMPARED and column.name != table.id_column and column.name not in table.dropped
    ]


def find_common(x: Table, y: Table, on: str | Sequence[str] = "auto") -> tuple[list[str], list[str]]:
    """Return the names of the columns that are compared directly, and notes about those that are not.

    Parameters
    ----------
    x, y : Table
        The tables.
    on : "auto", "none" or sequence of str, default "auto"
        As in `pair_tables`.

    Returns
    -------
    common : list of str
        Names of columns of both.
    notes : list of str
        Why columns of the same name are not compared.
    """
    if isinstance(on, str) and on not in ("auto", "none"):
        on = [name.strip() for name in on.split(",") if name.strip()]
    if on == "none" or len(on) == 0:
        return [], []
    of_x, of_y = ({column.name: column for column in table.columns} for table in (x, y))
    if on != "auto":
        for name in on:
            _check_wanted(name, x, y)
        return list(dict.fromkeys(on)), []
    common, notes = [], []
    numbered = find_series([name for name in of_x if name in of_y]) if x.cells.named and y.cells.named else []
    if numbered:
        notes.append(
            f"{numbered[0]} to {numbered[-1]}: numbered columns are taken for coordinates, which may mean different "
            f"things in X and in Y; --on {numbered[0]} compares one all the same"
        )
    for name in of_x if x.cells.named and y.cells.named else ():
        if name not in of_y or name in x.dropped | y.dropped or name in numbered:
            continue
        one, other = of_x[name], of_y[name]
        if "id" in (one.kind, other.kind) or name in (x.id_column, y.id_column):
            shared = set(map(str, one.cells)) & set(map(str, other.cells))
            if shared:
                notes.append(f"{name}: {len(shared)} ids are in both tables; --on {name} compares them")
        elif "empty" in (one.kind, other.kind) or "constant" in (one.kind, other.kind):
            continue
        elif one.kind != other.kind and not {one.kind, other.kind} <= {"category", "text"}:
            notes.append(f"{name}: {one.kind} in X and {other.kind} in Y, so not compared directly")
        elif reason := explain_difference(one, other):
            notes.append(f"{name}: {reason}, so not compared directly; --on {name} compares them all the same")
        else:
            common.append(name)
        if len(common) == MOST_COMMON:
            total = len(of_x.keys() & of_y.keys())
            notes.append(
                f"the first {MOST_COMMON} of {total} names that both tables have are compared; --on names others"
            )
            break
    return common, notes


def find_series(names: Sequence[str]) -> list[str]:
    """Return the names that differ from others by a number only, such as pc1, pc2 and pc3.

    Parameters
    ----------
    names : sequence of str
        Names of columns.

    Returns
    -------
    list of str
        Those of which at least three have the same stem.

    Examples
    --------
    >>> find_series(["pc1", "age", "pc2", "pc3", "line2"])
    ['pc1', 'pc2', 'pc3']
    """
    stems = {name: re.sub(r"\d+$", "", name) for name in names if re.search(r"\d$", name)}
    counts = Counter(stems.values())
    return [name for name, stem in stems.items() if counts[stem] >= SERIES]


def _check_wanted(name: str, x: Table, y: Table) -> None:
    """Raise a ValueError if columns that the user wants to compare cannot be."""
    kinds = []
    for table in (x, y):
        column = next((column for column in table.columns if column.name == name), None)
        if column is None:
            shown = ", ".join(column.name for column in table.columns[:20])
            raise UnknownColumn(f"{table.cells.source}: no column {name!r} to compare; the columns are {shown}")
        kinds.append("text" if column.kind in ("category", "text", "id", "constant") and not column.is_numeric else
                     "number" if column.kind in ("id", "constant") else column.kind)  # fmt: skip
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"column {name!r} holds {kinds[0]} in {x.cells.source} and {kinds[1]} in {y.cells.source}, expected the "
            f"same kind in both; give it by --kind {name}={kinds[1]}, or take {name!r} out of --on"
        )


def explain_difference(one: Column, other: Column) -> str:
    """Say why two columns of one name are unlikely to hold the same thing; empty if they may.

    Parameters
    ----------
    one, other : Column
        Columns of the same kind.

    Returns
    -------
    str
        The reason: their values hardly overlap.
    """
    if one.is_numeric:
        from scipy.stats import ks_2samp

        a, b = (column.values[~np.isnan(column.values)] for column in (one, other))
        if float(ks_2samp(a, b, method="asymp").statistic) > FURTHEST:
            return "its values in X and in Y are far apart"
        return ""
    a, b = ({value for value in column.values if value is not None} for column in (one, other))
    if "text" in (one.kind, other.kind):  # texts are worded differently
        words = [{word for value in values for word in value.lower().split()} for values in (a, b)]
        shared = len(words[0] & words[1]) / max(min(map(len, words)), 1)
    else:
        present = [value for value in one.values if value is not None]
        shared = sum(value in b for value in present) / max(len(present), 1)
    return "" if shared >= SHARED else "its values in X and in Y hardly overlap"


def compare_columns(x: Table, y: Table, common: Collection[str]) -> Array:
    """Return the scores of all pairs by common columns, summed over the columns.

    Parameters
    ----------
    x, y : Table
        The tables.
    common : collection of str
        The columns to compare.

    Returns
    -------
    ndarray of shape (n, m)
        Scores in nats: how much likelier the values of a pair are if it is right than if it is not.
    """
    check_memory(len(x), len(y), 4)
    of_x, of_y = ({column.name: column for column in table.columns} for table in (x, y))
    total = np.zeros((len(x), len(y)))
    for name in common:
        total += score_column(of_x[name], of_y[name])
    return total


def score_column(one: Column, other: Column) -> Array:
    """Return the score of every pair by one column.

    The score is the logarithm of a ratio of densities, that of right pairs beside that of all pairs. Categories and
    truth values of right pairs are taken to agree in nine of ten cases, so that agreement counts more the rarer a value
    is. Of numbers, dates and texts nothing is known about how closely those of right pairs agree: with u the share of
    objects that are at least as close as the partner, the density of right pairs is ∝ 1/(u + 1/m), which has the same
    mass at every scale. Missing values score 0.

    Parameters
    ----------
    one, other : Column
        The columns.

    Returns
    -------
    ndarray of shape (n, m)
        Scores in nats.

    Examples
    --------
    >>> from pairup.columns import make_column
    >>> colours = make_column("colour", ["red", "blue", "red", "red", None], kind="category")
    >>> score_column(colours, colours)[:2].round(1)
    array([[ 0.2, -1.5,  0.2,  0.2,  0. ],
           [-1.5,  1.3, -1.5, -1.5,  0. ]])
    """
    distance = measure_distances(one, other)
    known = ~np.isnan(distance)
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    scores = np.zeros(distance.shape)
    if len(rows) and len(columns):
        D = distance[np.ix_(rows, columns)]
        ratio = agreement_ratios if {one.kind, other.kind} <= {"category", "boolean"} else closeness_ratios
        scores[np.ix_(rows, columns)] = 0.5 * (np.log(ratio(D)) + np.log(ratio(D.T)).T)
    return scores


def agreement_ratios(D: Array) -> Array:
    """Return for every pair the ratio of densities of agreement, a for equal values: a/p and (1 − a)/(1 − p).

    Parameters
    ----------
    D : ndarray of shape (n, m)
        Distances, 0 where values agree.

    Returns
    -------
    ndarray of shape (n, m)
        Ratios, whose mean over a row is 1 where the value of the row occurs and is not the only one.
    """
    equal = D == 0
    m = D.shape[1]
    p = np.clip(equal.mean(axis=1, keepdims=True), 0.5 / m, 1.0 - 0.5 / m)
    ratios: Array = np.where(equal, AGREEMENT / p, (1.0 - AGREEMENT) / (1.0 - p))
    return ratios


def closeness_ratios(D: Array) -> Array:
    """Return for every pair the ratio of densities ∝ 1/(u + 1/m), u the share of its row that is at least as close.

    Parameters
    ----------
    D : ndarray of shape (n, m)
        Distances.

    Returns
    -------
    ndarray of shape (n, m)
        Ratios, of mean 1 over every row.
    """
    ratios: Array = 1.0 / (share_closer(D) + 1.0 / D.shape[1])
    ratios /= ratios.mean(axis=1, keepdims=True)
    return ratios


def share_closer(D: Array) -> Array:
    """Return for every pair the share of its row that is at least as close, ties counted whole.

    Parameters
    ----------
    D : ndarray of shape (n, m)
        Distances.

    Returns
    -------
    ndarray of shape (n, m)
        Shares in (0, 1].

    Examples
    --------
    >>> share_closer(np.array([[0.0, 2.0, 2.0, 1.0]]))
    array([[0.25, 1.  , 1.  , 0.5 ]])
    """
    shares = np.empty_like(D)
    for row, out in zip(D, shares, strict=True):
        out[:] = np.searchsorted(np.sort(row), row, side="right") / len(row)
    return shares


def measure_distances(one: Column, other: Column) -> Array:
    """Return the distances of all values of two columns, NaN where one is missing.

    Parameters
    ----------
    one, other : Column
        Columns of the same kind.

    Returns
    -------
    ndarray of shape (n, m)
        Of numbers and dates the differences, of categories 0 or 1, of texts one less the cosine of their tf-idf.
    """
    if one.is_numeric and other.is_numeric:
        differences: Array = np.abs(one.values[:, None] - other.values)
        return differences
    texts = [np.array([None if v is None else str(v) for v in column.values], dtype=object) for column in (one, other)]
    missing = [np.array([value is None for value in values]) for values in texts]
    if "text" in (one.kind, other.kind):
        D = _text_distances(*texts)
    else:
        _, codes = np.unique(np.concatenate(texts).astype(str), return_inverse=True)
        D = (codes[: len(texts[0]), None] != codes[len(texts[0]) :]).astype(np.float64)
    D[missing[0]] = np.nan
    D[:, missing[1]] = np.nan
    return D


def _text_distances(a: Any, b: Any) -> Array:
    """Return one less the cosine of the tf-idf of texts."""
    both = [value or "" for value in (*a, *b)]
    try:
        pieces = weigh_pieces(both)
    except ValueError:  # no words at all
        return np.ones((len(a), len(b)))
    cosine = (pieces[: len(a)] @ pieces[len(a) :].T).toarray()
    distances: Array = np.round(1.0 - cosine, 9)  # equal texts are at 0, whatever the order of the sums
    return distances
