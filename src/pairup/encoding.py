"""From columns of any kind to numbers, and a record of what was done with each column."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pairup.cells import Cells
from pairup.columns import Column
from pairup.memory import check_memory
from pairup.types import Array

MOST_LEVELS = 30  # categories with a column of their own; the rarest beyond share one
TEXT_COMPONENTS = 10  # numbers that stand for a text
MOST_PIECES = 4096  # pieces of words that a text column is described by
DAYS_OF_TIMES = 1e-6  # a fraction of a day: dates with larger ones have times
REPEATED = "a name that another row has too"
SHOWN = 12  # columns of a summary that are named one by one


@dataclass(frozen=True)
class ColumnRecord:
    """What was done with one column.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        What it holds, one of `pairup.columns.KINDS`.
    use : {"names", "encoded", "common", "dropped"}
        What it is used for.
    missing : int
        How many cells are missing.
    text : str
        What was done, in one sentence.
    """

    name: str
    kind: str
    use: str
    missing: int
    text: str


@dataclass(frozen=True)
class TableRecord:
    """What was read and what was done with it.

    Parameters
    ----------
    source : str
        Where the table came from.
    rows : int
        How many rows it has.
    columns : tuple of ColumnRecord
        What was done with each column, in their order.
    id_column : str or None
        The column that names the rows.
    notes : tuple of str
        What reading had to decide, in words.
    """

    source: str
    rows: int
    columns: tuple[ColumnRecord, ...]
    id_column: str | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain numbers, strings and lists.

        Returns
        -------
        dict
            All fields; `columns` is a list of dicts.
        """
        plain = asdict(self)
        return plain | {"columns": list(plain["columns"]), "notes": list(self.notes)}

    def __str__(self) -> str:
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        lines = [f"{self.source}: {self.rows} rows, {len(self.columns)} columns{notes}"]
        shown = self.columns
        if len(shown) > 100 and len({column.text for column in shown}) == 1:  # a large matrix
            return f"{lines[0]}\n  all columns  {shown[0].kind}: {shown[0].text}"
        width = min(max(len(column.name) for column in shown), 30)
        for column in shown:
            missing = f", {column.missing} missing" if column.missing else ""
            lines.append(f"  {column.name:<{width}}  {column.kind}{missing}: {column.text}")
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """The record in one sentence: how many columns of each kind are used, and what is not."""
        used = Counter(column.kind for column in self.columns if column.use == "encoded")
        kinds = ", ".join(f"{count} {_plural(kind, count)}" for kind, count in used.items())
        told = [f"{kinds or 'no columns'}"]
        if self.id_column is not None:
            repeated = "".join(f" ({note})" for note in self.notes if note.endswith(REPEATED))
            told.append(f"rows named by {self.id_column!r}{repeated}")
        dropped = [column.name for column in self.columns if column.use == "dropped"]
        if dropped:
            more = f" and {len(dropped) - SHOWN} more" if len(dropped) > SHOWN else ""
            told.append(f"not used: {', '.join(dropped[:SHOWN])}{more}")
        missing = sum(column.missing for column in self.columns if column.use in ("encoded", "common"))
        if missing:
            told.append(f"{missing} missing value{'s' * (missing > 1)}")
        return "; ".join(told)


def _plural(kind: str, count: int) -> str:
    if count == 1:
        return kind
    return {"category": "categories", "text": "texts"}.get(kind, f"{kind}s")


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        The numbers; no columns where all are common, dropped or names.
    record : TableRecord
        What was done with each column.
    """

    values: Array
    record: TableRecord


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for.

    Parameters
    ----------
    id_column : str, optional
        The column that names the rows.
    found_id : bool, default False
        Whether it was found, not given.
    dropped : frozenset of str, default none
        Columns that are left out because the user asked for it.
    common : tuple of str, default none
        Columns that are compared directly with those of the other table.
    keeps_common : bool, default False
        Whether the common columns are encoded too, where no others are left.
    """

    id_column: str | None = None
    found_id: bool = False
    dropped: frozenset[str] = frozenset()
    common: tuple[str, ...] = ()
    keeps_common: bool = False

    def is_free(self, column: Column) -> bool:
        """Tell whether a column is neither the names nor left out by the user."""
        return column.name != self.id_column and column.name not in self.dropped

    def is_used(self, column: Column) -> bool:
        """Tell whether a column is encoded."""
        common = column.name in self.common and not self.keeps_common
        return self.is_free(column) and not common and column.kind not in ("id", "empty", "constant")


def encode_columns(cells: Cells, columns: Sequence[Column], roles: Roles) -> Encoded:
    """Encode the columns of a table as numbers.

    A table of nothing but numbers stays as it is. Otherwise every column gets the same total variance, 1: numbers are
    standardized; categories become one column each, texts the leading directions of the pieces of their words (tf-idf),
    dates days. Missing numbers are filled in from the five most similar rows.

    Parameters
    ----------
    cells : Cells
        What was read.
    columns : sequence of Column
        Its columns.
    roles : Roles
        What they are for.

    Returns
    -------
    Encoded
        The numbers, and what was done with each column.

    Examples
    --------
    >>> from pairup.columns import make_column
    >>> cells = Cells("rooms", ["area", "floor"], [["12", "48", "9"], ["up", "down", "up"]], named=True)
    >>> columns = [make_column(name, column) for name, column in zip(cells.names, cells.columns)]
    >>> encoded = encode_columns(cells, columns, Roles())
    >>> encoded.values.shape, encoded.record.summary
    ((3, 3), '1 number, 1 category')
    """
    n = len(columns[0].cells)
    used = [column for column in columns if roles.is_used(column)]
    if cells.is_array or all(map(is_plain, used)):
        names = {column.name for column in used}
        plain = [c for c in columns if c.name in names or (c.kind == "constant" and c.is_numeric and roles.is_free(c))]
        done = {column.name: "used as it is" for column in plain}
        if cells.is_array and len(plain) == len(columns):
            values = np.asarray(cells.numbers, dtype=np.float64)
        else:
            values = np.column_stack([column.values for column in plain]) if plain else np.empty((n, 0))
    else:
        width = sum(count_columns(column) for column in used)
        try:
            check_memory(n, width, 3)
        except MemoryError as error:
            raise MemoryError(
                f"{cells.source}: {len(used)} columns become up to {width} columns of numbers, too many for "
                f"the free memory ({error}); drop some of them"
            ) from None
        blocks = {column.name: encode_column(column) for column in used}
        done = {name: text for name, (_, text) in blocks.items()}
        values = _join_blocks([block for block, _ in blocks.values()])
    records = tuple(_record(column, roles, done) for column in columns)
    notes = cells.notes + tuple(_tell_repeated(column) for column in columns if column.name == roles.id_column)
    record = TableRecord(cells.source, n, records, roles.id_column, tuple(note for note in notes if note))
    return Encoded(values, record)


def _tell_repeated(column: Column) -> str:
    """Say how many ids are not the only ones of their kind."""
    repeated = len(column.cells) - len(set(map(str, column.cells)))
    return f"{repeated} row{'s' * (repeated > 1)} with {REPEATED}" if repeated else ""


def is_plain(column: Column) -> bool:
    """Tell whether a column holds nothing but numbers, none missing, and so needs no encoding.

    Parameters
    ----------
    column : Column
        The column.

    Returns
    -------
    bool
        Whether its numbers can be used as they are; Python's own truth values count as numbers.
    """
    truth = column.kind == "boolean" and isinstance(column.cells[0], bool | np.bool_)
    return (column.kind == "number" or truth) and not column.missing


def count_columns(column: Column) -> int:
    """Return how many columns of numbers a column becomes, at the most.

    Parameters
    ----------
    column : Column
        The column.

    Returns
    -------
    int
        Their number.
    """
    if column.kind == "category":
        return min(len(set(column.values)), MOST_LEVELS + 1)
    return {"text": TEXT_COMPONENTS, "date": 3}.get(column.kind, 1)


def encode_column(column: Column) -> tuple[Array, str]:
    """Return a column as one or several columns of numbers, NaN where missing, and say what was done.

    Parameters
    ----------
    column : Column
        A column of numbers, categories, text, dates or booleans.

    Returns
    -------
    values : ndarray of shape (n, k)
        The numbers.
    text : str
        What was done.
    """
    if column.is_numeric:
        infinite = np.flatnonzero(np.isinf(column.values))
        if len(infinite):
            raise ValueError(
                f"column {column.name!r} holds infinity in {len(infinite)} rows, the first is row {infinite[0]}; "
                "write such cells as missing, or drop the column"
            )
    if column.kind == "date":
        return _encode_dates(column)
    if column.kind == "category":
        return _encode_categories(column)
    if column.kind == "text":
        return _encode_text(column)
    text = "as 0 and 1" if column.kind == "boolean" else "as a number, standardized"
    return column.values[:, None], text


def _encode_dates(column: Column) -> tuple[Array, str]:
    """Return days, and the time of day on a circle where there are times."""
    days = column.values
    first, last = (np.datetime64(int(day), "D") for day in (np.floor(np.nanmin(days)), np.floor(np.nanmax(days))))
    text = f"as days, from {first} to {last}"
    hours = days - np.floor(days)
    if np.nanmax(hours) - np.nanmin(hours) < DAYS_OF_TIMES:
        return days[:, None], text
    angle = 2 * np.pi * hours
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.column_stack([days / max(float(np.nanstd(days)), 1e-300), circle]), f"{text}, and by the time of day"


def _encode_categories(column: Column) -> tuple[Array, str]:
    """Return one column per category, the rarest together."""
    from sklearn.preprocessing import OneHotEncoder

    levels = len(set(column.values) - {None})
    encoder = OneHotEncoder(sparse_output=False, max_categories=MOST_LEVELS + 1, handle_unknown="ignore")
    present = np.array([value is not None for value in column.values])
    encoder.fit(column.values[present, None].astype(str))
    values = np.full((len(present), len(encoder.get_feature_names_out())), np.nan)
    values[present] = encoder.transform(column.values[present, None].astype(str))
    rest = f", the {levels - MOST_LEVELS} rarest together" if levels > MOST_LEVELS + 1 else ""
    return values, f"one column for each of {levels} categories{rest}"


def _encode_text(column: Column) -> tuple[Array, str]:
    """Return the leading directions of the tf-idf of pieces of words."""
    from sklearn.decomposition import TruncatedSVD

    present = np.array([value is not None for value in column.values])
    try:
        pieces = weigh_pieces(column.values[present])
    except ValueError:  # no piece of a word in any text
        return np.zeros((len(present), 1)), "as nothing: its texts have no words"
    k = min(TEXT_COMPONENTS, min(pieces.shape) - 1)
    values = np.full((len(present), max(k, 1)), np.nan)
    if k < 1:
        values[present] = pieces.sum(axis=1).reshape(-1, 1)
    else:
        values[present] = TruncatedSVD(k, algorithm="arpack", random_state=0).fit_transform(pieces)
    return values, f"as {values.shape[1]} numbers by the pieces of its words (tf-idf)"


def weigh_pieces(texts: Any) -> Any:
    """Return the tf-idf of three and four letters in a row, inside words.

    Parameters
    ----------
    texts : sequence of str
        Texts.

    Returns
    -------
    scipy.sparse array of shape (n_texts, n_pieces)
        Rows of norm 1.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    tf_idf = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), max_features=MOST_PIECES, sublinear_tf=True)
    return tf_idf.fit_transform(texts)


def _join_blocks(blocks: list[Array]) -> Array:
    """Return the columns of all blocks, each of total variance 1, missing values filled in from similar rows."""
    if not blocks:
        return np.empty((0, 0))
    scaled = []
    for block in blocks:
        centred = block - np.nanmean(block, axis=0)
        total = float(np.nanmean(np.square(centred), axis=0).sum())
        scaled.append(centred / np.sqrt(total) if total > 0 else centred)
    return fill_in(np.column_stack(scaled))


def fill_in(values: Array) -> Array:
    """Fill missing numbers in from the five most similar rows.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Numbers, NaN where missing.

    Returns
    -------
    ndarray of shape (n, d)
        The same without NaN.
    """
    if not np.isnan(values).any():
        return values
    from sklearn.impute import KNNImputer

    filled: Array = KNNImputer(n_neighbors=5).fit_transform(values)
    return filled


def _record(column: Column, roles: Roles, done: dict[str, str]) -> ColumnRecord:
    """Say what was done with a column."""
    use, text = "dropped", ""
    if column.name == roles.id_column:
        use, text = "names", "names the rows, not compared" + ("; found by itself" if roles.found_id else "")
    elif column.name in roles.dropped:
        text = "dropped, as asked for"
    elif column.name in roles.common:
        use, text = "common", "compared directly with the same column of the other table"
        if roles.keeps_common:
            text += f", and by dependence: {done.get(column.name, 'not at all')}"
    elif column.name in done:
        use, text = "encoded", done[column.name]
        if column.kind == "constant":
            text = "the same value in all rows, which tells nothing apart"
        if column.missing:
            text += "; missing ones filled in from similar rows"
    elif column.kind == "id":
        text = "dropped: an id, each value once"
    else:
        text = {"empty": "dropped: no values", "constant": "dropped: the same value in all rows"}[column.kind]
    notes = "".join(f"; {note}" for note in column.notes)
    return ColumnRecord(column.name, column.kind, use, column.missing, text + notes)
