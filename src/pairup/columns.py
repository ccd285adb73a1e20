"""Columns of tables: what their cells hold, found from the cells themselves."""

import datetime
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from pairup.dates import as_days, find_date_format, parse_days
from pairup.types import Array

KINDS = ("number", "category", "text", "date", "boolean", "id", "empty", "constant")
MISSING = frozenset({"", "na", "n/a", "#n/a", "#na", "nan", "null", "none", "<na>", "nat", "?", "-", "--", ".", "–"})
MISSING_TYPES = ("NoneType", "NAType", "NaTType")  # of None and of what pandas puts in empty cells
TRUTHS = {  # the words for true and false, in the languages of the usual spreadsheets
    **dict.fromkeys(("true", "yes", "y", "t", "wahr", "ja", "j", "vrai", "oui", "si", "sí", "verdadero", "vero"), 1.0),
    **dict.fromkeys(("false", "no", "n", "f", "falsch", "nein", "faux", "non", "falso"), 0.0),
}
MOSTLY = 0.9  # of the cells are numbers: then the others count as missing
MOST_CATEGORIES = 40
ROWS_PER_CATEGORY = 2  # fewer on average: the values are text of their own, not categories
WORDS = 3.0  # on average, from which different values are text rather than categories
LONGEST_ID = 40  # characters
FEWEST_COUNTED = 5  # rows; fewer may be consecutive numbers by accident
CODE_DIGITS = 3  # 007 is a code; 07 may be a month
MARKED = re.compile(r"[€$£¥%\s']|(?<=\d)’(?=\d)|^'|EUR|USD|CHF")  # signs around and inside numbers
NUMBER = {  # with a digit before an exponent: e0 is a name
    ".": re.compile(r"[+-]?(?=\.?\d)(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(?=,?\d)(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?"),
}
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),(\d{1,2}|\d{4,})")  # can be nothing else
DECIMAL_POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)\.(\d{1,2}|\d{4,})")
THREE_DIGITS = re.compile(r"[+-]?\d{1,3},\d{3}")  # 1,234: thousands or a decimal comma
ID_NAME = re.compile(
    r"(?i:id|ids|key|uuid|guid|index|idx|nr|rownames?|row|unnamed: 0|kennung)|.*(?i:[_\-. ]id|[_\-. ]nr|[_\-. ]key)"
    r"|.*[a-z]I[dD]|(?i:id[_\-. ].*)|(?i:.*nummer)"
)
REPEATS = "named like an id, but its values repeat"
TIME_NAME = re.compile(
    r"(?i)t|time|zeit|(.*[_\-. ])?(years?|jahre?|months?|monate?|weeks?|wochen?|days?|tage?|hours?|age)"
)


class UnknownColumn(ValueError):
    """A column or a kind was asked for that does not exist."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        Its name; its number from 0 where the table has no names.
    kind : {"number", "category", "text", "date", "boolean", "id", "empty", "constant"}
        What its cells hold.
    cells : sequence
        The cells as they were read.
    values : ndarray of float, or of object
        Numbers, days since 1970, or 0 and 1, NaN where missing; texts, None where missing.
    missing : int
        How many cells are missing.
    notes : tuple of str, default ()
        What reading had to decide, in words.
    """

    name: str
    kind: str
    cells: Sequence[Any]
    values: Any
    missing: int
    notes: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether the values are floats."""
        return bool(self.values.dtype.kind == "f")


def is_missing(cell: Any) -> bool:
    """Tell whether a cell holds nothing.

    Parameters
    ----------
    cell : object
        A cell.

    Returns
    -------
    bool
        True for None, NaN, NA, NaT, empty text and the usual words for a missing value.

    Examples
    --------
    >>> [is_missing(cell) for cell in ("", "n/a", None, float("nan"), 0, "0")]
    [True, True, True, True, False, False]
    """
    if isinstance(cell, str):
        return len(cell) < 6 and cell.strip().lower() in MISSING
    if isinstance(cell, float):
        return math.isnan(cell)
    return type(cell).__name__ in MISSING_TYPES


def find_decimal_mark(cells: Sequence[str], *, separator: str = ",") -> str:
    """Return the decimal mark of the numbers in a text table, a point or a comma.

    Parameters
    ----------
    cells : sequence of str
        Cells of the table.
    separator : str, default ","
        What stands between cells; it decides where all numbers could be read in both ways.

    Returns
    -------
    {".", ","}
        The mark.

    Examples
    --------
    >>> find_decimal_mark(["1.234,50", "7,25"]), find_decimal_mark(["1,234.50", "725"])
    (',', '.')
    """
    commas = points = unclear = 0
    for cell in cells:
        if "," in cell or "." in cell:
            number = MARKED.sub("", cell)
            commas += DECIMAL_COMMA.fullmatch(number) is not None
            points += DECIMAL_POINT.fullmatch(number) is not None
            unclear += THREE_DIGITS.fullmatch(number) is not None
    if commas == points:
        return "," if not commas and unclear and separator == ";" else "."
    return "," if commas > points else "."


def parse_number(cell: Any, decimal: str = ".") -> float:
    """Return a cell as a number.

    Parameters
    ----------
    cell : object
        A cell.
    decimal : {".", ","}, default "."
        The decimal mark; the other one, blanks and apostrophes stand between thousands.

    Returns
    -------
    float
        The number, NaN if it is none.

    Examples
    --------
    >>> [parse_number(cell) for cell in ("1,234.5", "$ 12", "12 %", "red", "1e3")]
    [1234.5, 12.0, 12.0, nan, 1000.0]
    >>> parse_number("1.234,5", ",")
    1234.5
    """
    if isinstance(cell, str):
        if decimal == ".":
            try:
                return float(cell)
            except ValueError:
                pass
        number = MARKED.sub("", cell)
        if NUMBER[decimal].fullmatch(number):
            number = number.replace("." if decimal == "," else ",", "")
            return float(number.replace(",", ".").replace("\u2212", "-"))
        try:  # 1.5 among decimal commas, nan, inf
            return float(cell)
        except ValueError:
            return math.nan
    if isinstance(cell, bool | np.bool_) or not isinstance(cell, Real | Decimal):
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def make_column(
    name: str,
    cells: Sequence[Any],
    *,
    kind: str | None = None,
    decimal: str = ".",
    is_first: bool = False,
    named: bool = True,
) -> Column:
    """Return a column of the kind that its cells show, or of a given kind.

    Parameters
    ----------
    name : str
        Its name.
    cells : sequence
        Its cells, as texts or as Python's own objects.
    kind : str, optional
        One of `KINDS`; by default the cells decide.
    decimal : {".", ","}, default "."
        The decimal mark of numbers that are written as text.
    is_first : bool, default False
        Whether it is the first of its table, where names of the rows usually are.
    named : bool, default True
        Whether its name was in the table, and so may tell its kind.

    Returns
    -------
    Column
        The column.

    Examples
    --------
    >>> [make_column("c", cells).kind for cells in (["1", "2.5", ""], ["yes", "no", "no"], ["a", "a", "b", "b"])]
    ['number', 'boolean', 'category']
    """
    if kind is not None and kind not in KINDS:
        raise UnknownColumn(f"column {name!r}: the kind must be one of {', '.join(KINDS)}, got {kind!r:.80}")
    if isinstance(cells, np.ndarray) and kind in (None, "number"):
        column = number_column(name, cells, cells.astype(np.float64), kind, named=named)
        return count_rows(column) if is_first and named and kind is None else column
    present = [cell for cell in cells if not is_missing(cell)]
    if not present:
        return Column(name, "empty", cells, np.full(len(cells), None, dtype=object), len(cells))
    if kind in ("id", "category", "text", "constant"):
        return _texts(name, cells, kind)
    if kind in ("number", "date", "boolean"):
        forced = {"number": _as_number, "date": _as_date, "boolean": _as_boolean}[kind](
            name, cells, present, decimal, 0.0, named
        )
        if forced is None:
            raise ValueError(
                f"column {name!r}: no cell can be read as a {kind}, the first is {present[0]!r:.80}; "
                f"choose another kind, or leave it out"
            )
        return forced
    codes = are_codes(present)
    for attempt in (_as_date,) if codes else (_as_boolean, _as_number, _as_date):
        if (found := attempt(name, cells, present, decimal, MOSTLY, named)) is not None:
            return count_rows(found) if is_first and named else found
    column = _texts(name, cells, None, is_first=is_first)
    return replace(column, notes=("digits with leading zeros are codes, not numbers",)) if codes else column


def are_codes(cells: Sequence[Any]) -> bool:
    """Tell whether cells are codes of digits, such as postcodes: as long as each other, some with leading zeros.

    Parameters
    ----------
    cells : sequence
        The cells that are not missing.

    Returns
    -------
    bool
        Whether they are codes, which as numbers would lose their zeros and get distances that mean nothing.

    Examples
    --------
    >>> are_codes(["01067", "53111"]), are_codes(["1067", "53111"]), are_codes(["01", "12"])
    (True, False, False)
    """
    first = cells[0]
    if not isinstance(first, str) or len(first) < CODE_DIGITS:
        return False
    return all(isinstance(cell, str) and len(cell) == len(first) and cell.isdecimal() for cell in cells) and any(
        cell[0] == "0" for cell in cells
    )


def count_rows(column: Column) -> Column:
    """Return the first column of a table as ids, if it only counts the rows, in whatever order.

    Parameters
    ----------
    column : Column
        The first column.

    Returns
    -------
    Column
        An id column if the numbers are whole, without gaps or repetition, and its name is not one of a time; otherwise
        the column as it is.

    Examples
    --------
    >>> cells = ["4002", "4000", "4001", "4003", "4004"]
    >>> [count_rows(make_column(name, cells)).kind for name in ("account", "year")]
    ['id', 'number']
    """
    values = column.values
    if column.kind != "number" or column.missing or len(values) < FEWEST_COUNTED or TIME_NAME.fullmatch(column.name):
        return column
    if not np.array_equal(np.sort(values), np.arange(len(values)) + values.min()) or values.min() % 1:
        return column
    return replace(column, kind="id", notes=(*column.notes, "its numbers only count the rows"))


def number_column(
    name: str,
    cells: Sequence[Any],
    values: Array,
    kind: str | None = None,
    *,
    notes: tuple[str, ...] = (),
    named: bool = True,
) -> Column:
    """Return a column of numbers; whole numbers without repetition under the name of an id are ids.

    Parameters
    ----------
    name : str
        Its name.
    cells : sequence
        Its cells.
    values : ndarray of float
        The cells as numbers, NaN where missing.
    kind : str, optional
        Its kind; by default the numbers decide.
    notes : tuple of str, default ()
        What reading had to decide.
    named : bool, default True
        Whether its name was in the table, and so may tell its kind.

    Returns
    -------
    Column
        The column.
    """
    missing = int(np.isnan(values).sum())
    if missing == len(values):
        return Column(name, "empty", cells, values, missing)
    known = values[~np.isnan(values)]
    if kind is None:
        kind = "number"
        if len(values) > 1 and (known == known[0]).all() and not missing:
            kind = "constant"
        elif named and not missing and looks_like_id(name, values):
            kind = "id"
        elif named and name and ID_NAME.fullmatch(name) and len(np.unique(known)) < len(known):
            notes += (REPEATS,)
    return Column(name, kind, cells, values, missing, notes)


def looks_like_id(name: str, values: Array) -> bool:
    """Tell whether a column of numbers has the name of an id and whole numbers, each once.

    Parameters
    ----------
    name : str
        Name of the column.
    values : ndarray of float
        Its numbers.

    Returns
    -------
    bool
        Whether it names the rows.
    """
    if not (ID_NAME.fullmatch(name) or name == "") or not np.isfinite(values).all():
        return False
    return bool((values == np.round(values)).all()) and len(np.unique(values)) == len(values)


def _as_number(
    name: str, cells: Sequence[Any], present: list[Any], decimal: str, share: float, named: bool
) -> Column | None:
    values = np.array([math.nan if is_missing(cell) else parse_number(cell, decimal) for cell in cells])
    numbers = int((~np.isnan(values)).sum())
    if numbers == 0 or numbers < share * len(present):
        return None
    notes: tuple[str, ...] = ()
    if numbers < len(present):
        odd = Counter(
            str(cell) for cell, value in zip(cells, values, strict=True) if math.isnan(value) and not is_missing(cell)
        )
        shown = ", ".join(repr(cell[:30]) for cell, _ in odd.most_common(3))
        total = sum(odd.values())
        notes = (f"{total} cell{'s' * (total > 1)} that {'are no numbers' if total > 1 else 'is no number'} ({shown}) "
                 f"count{'s' * (total == 1)} as missing",)  # fmt: skip
    return number_column(name, cells, values, None if share else "number", notes=notes, named=named)


def _as_boolean(
    name: str, cells: Sequence[Any], present: list[Any], decimal: str, share: float, named: bool
) -> Column | None:
    words = [str(cell).strip().lower() for cell in present]
    if len(set(words)) > 2 or not set(words) <= set(TRUTHS) or (share and len(set(words)) < 2):
        if not share and set(words) <= {"0", "1", "0.0", "1.0"}:
            column = _as_number(name, cells, present, decimal, share, named)
            return None if column is None else Column(name, "boolean", cells, column.values, column.missing)
        return None
    if len({TRUTHS[word] for word in words}) < len(set(words)):  # yes and true: categories
        return None
    values = np.array([math.nan if is_missing(cell) else TRUTHS[str(cell).strip().lower()] for cell in cells])
    return Column(name, "boolean", cells, values, len(cells) - len(present))


def _as_date(
    name: str, cells: Sequence[Any], present: list[Any], decimal: str, share: float, named: bool
) -> Column | None:
    if all(isinstance(cell, datetime.date | np.datetime64) for cell in present):
        values = np.array([math.nan if is_missing(cell) else as_days(cell) for cell in cells])
        return Column(name, "date", cells, values, len(cells) - len(present))
    texts = [str(cell) for cell in present]
    form = find_date_format(texts, share=share, day_first=decimal == ",")
    if form is None:
        return None
    values = np.array([math.nan if is_missing(cell) else parse_days(str(cell), form) for cell in cells])
    known = int((~np.isnan(values)).sum())
    if known == 0:
        return None
    notes: tuple[str, ...] = (form.note,) if form.note else ()
    if known < len(present):
        odd = next(text for text in texts if math.isnan(parse_days(text, form)))
        notes += (f"{len(present) - known} cells that are no dates ({odd[:30]!r}) count as missing",)
    return Column(name, "date", cells, values, len(cells) - known, notes)


def _texts(name: str, cells: Sequence[Any], kind: str | None, *, is_first: bool = False) -> Column:
    """Return a column of texts: an id, categories or text."""
    texts = np.array([None if is_missing(cell) else as_text(cell) for cell in cells], dtype=object)
    present = [text for text in texts if text is not None]
    missing = len(texts) - len(present)
    distinct = len(set(present))
    if kind is None:
        words = float(np.mean([len(text.split()) for text in present]))
        if distinct == 1 and not missing and len(texts) > 1:
            kind = "constant"
        elif distinct == len(texts) > 1 and _are_ids(name, present, is_first):
            kind = "id"
        elif distinct <= min(MOST_CATEGORIES, max(len(present) / ROWS_PER_CATEGORY, 2)) and (
            words < WORDS or distinct <= len(present) / 5
        ):
            kind = "category"
        else:
            kind = "text"
        notes = _tell_mixture(present) if kind != "id" else ()
        if kind in ("category", "text") and name and ID_NAME.fullmatch(name) and distinct < len(present):
            notes += (REPEATS,)
        return Column(name, kind, cells, texts, missing, notes)
    return Column(name, kind, cells, texts, missing)


def _tell_mixture(texts: list[str]) -> tuple[str, ...]:
    """Say how many of the texts are numbers, where many are and many are not."""
    numbers = sum(not math.isnan(parse_number(text)) for text in texts)
    if not (1 - MOSTLY) * len(texts) <= numbers < len(texts):
        return ()
    return (f"{numbers} of its {len(texts)} cells are numbers, the others are not: taken as texts",)


def _are_ids(name: str, texts: list[str], is_first: bool) -> bool:
    """Tell whether different texts are ids: by the name of the column, as codes, or short and in the first column."""
    if max(map(len, texts)) > LONGEST_ID:
        return False
    one_word = all(len(text.split()) == 1 for text in texts)
    codes = one_word and np.mean([any(map(str.isdigit, text)) for text in texts]) >= MOSTLY
    short = is_first and np.mean([len(text.split()) for text in texts]) < WORDS
    return bool(ID_NAME.fullmatch(name)) or bool(codes) or bool(short)


def as_text(cell: Any) -> str:
    """Return a cell as text without blanks around it.

    Parameters
    ----------
    cell : object
        A cell.

    Returns
    -------
    str
        Its text; whole numbers without a point.

    Examples
    --------
    >>> [as_text(cell) for cell in (" red ", b"blue", 3.0, True)]
    ['red', 'blue', '3', 'True']
    """
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace").strip()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
