"""Dates as people write them, as days since 1970."""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

TIME = r"(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
MONTHS = (
    ("jan",), ("feb",), ("mar", "mär"), ("apr",), ("may", "mai"), ("jun",), ("jul",), ("aug",), ("sep",),
    ("oct", "okt"), ("nov",), ("dec", "dez"),
)  # fmt: skip
MONTH_NUMBERS = {start: number for number, starts in enumerate(MONTHS, start=1) for start in starts}
FORMS = {
    "year first": re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + TIME),
    "year last": re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + TIME),
    "day month": re.compile(r"(\d{1,2})([-. ]*)([A-Za-zä]{3,9})\.?[-, ]*(\d{4})" + TIME),
    "month day": re.compile(r"([A-Za-zä]{3,9})(\.? )(\d{1,2}),? +(\d{4})" + TIME),
}
EPOCH = datetime.datetime(1970, 1, 1)
TRIED = 200  # cells by which a form is chosen


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    day_first : bool, default True
        Whether 03/04 is the third of April, where the year comes last.
    note : str, default ''
        What had to be guessed, in words.
    """

    form: str
    day_first: bool = True
    note: str = ""


def as_days(date: Any) -> float:
    """Return a date of Python, NumPy or pandas as days since 1970.

    Parameters
    ----------
    date : datetime.date, datetime.datetime or numpy.datetime64
        The date.

    Returns
    -------
    float
        Days; NaN for NumPy's NaT.

    Examples
    --------
    >>> as_days(datetime.date(1970, 1, 2)), as_days(np.datetime64("1970-01-01T12:00"))
    (1.0, 0.5)
    """
    if isinstance(date, np.datetime64):
        return math.nan if np.isnat(date) else float(date.astype("datetime64[us]").astype(np.int64)) / 86_400e6
    if isinstance(date, datetime.datetime):
        return (date.replace(tzinfo=None) - EPOCH) / datetime.timedelta(days=1)
    return float((date - EPOCH.date()).days)


def find_date_format(texts: Sequence[str], *, share: float = 1.0, day_first: bool = False) -> DateFormat | None:
    """Return how dates are written, if the texts are dates.

    Parameters
    ----------
    texts : sequence of str
        The cells, none of them missing.
    share : float, default 1.0
        Share of them that must be dates.
    day_first : bool, default False
        How 03/04/2024 is read if nothing in the column tells.

    Returns
    -------
    DateFormat or None
        The format; None if these are no dates.

    Examples
    --------
    >>> find_date_format(["03/04/2024", "25/12/2023"])
    DateFormat(form='year last', day_first=True, note='')
    >>> find_date_format(["red", "blue"]) is None
    True
    """
    for form, pattern in FORMS.items():
        if sum(pattern.fullmatch(text.strip()) is not None for text in texts[:TRIED]) < max(
            share * len(texts[:TRIED]), 1
        ):
            continue
        if form != "year last":
            found = DateFormat(form)
        else:
            parts = [match for text in texts if (match := pattern.fullmatch(text.strip()))]
            beyond = [max(int(match[place]) for match in parts) > 12 for place in (1, 3)]
            if beyond[0] != beyond[1]:
                found = DateFormat(form, beyond[0])
            elif all(match[2] == "." for match in parts):  # 3.4.2024 is written where days come first
                found = DateFormat(form, True)
            else:
                order = "day/month" if day_first else "month/day"
                found = DateFormat(form, day_first, f"read as {order}/year, as nothing tells which comes first")
        known = sum(not math.isnan(parse_days(text, found)) for text in texts)
        if known >= max(share * len(texts), 1):
            return found
    return None


def parse_days(text: str, form: DateFormat) -> float:
    """Return a written date as days since 1970.

    Parameters
    ----------
    text : str
        The date, perhaps with a time; a time zone is read as if it were not there.
    form : DateFormat
        How it is written.

    Returns
    -------
    float
        Days; NaN if it is no date of that format.

    Examples
    --------
    >>> parse_days("2.1.1970 06:00", DateFormat("year last"))
    1.25
    """
    match = FORMS[form.form].fullmatch(text.strip())
    if match is None:
        return math.nan
    first, _, second, third, hour, minute, seconds, half = match.groups()
    if form.form == "year first":
        year, month, day = first, second, third
    elif form.form == "year last":
        year, (day, month) = third, (first, second) if form.day_first else (second, first)
    else:
        year, (day, word) = third, (first, second) if form.form == "day month" else (second, first)
        month = str(MONTH_NUMBERS.get(word[:3].lower(), 0))
    years = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 70 else 1900)
    hours = int(hour or 0) % 12 + 12 * (half.lower() == "pm") if half else int(hour or 0)
    try:
        return as_days(datetime.datetime(years, int(month), int(day), hours, int(minute or 0), int(seconds or 0)))
    except ValueError:  # the 31st of February
        return math.nan
