import datetime
import math

import numpy as np
import pytest

from pairup.dates import DateFormat, as_days, find_date_format, parse_days

DAY = datetime.date(2024, 4, 3)


@pytest.mark.parametrize(
    "text",
    [
        "2024-04-03",
        "2024/4/3",
        "03.04.2024",
        "3.4.24",
        "3 April 2024",
        "3. Apr. 2024",
        "Apr 3, 2024",
        "2024-04-03T00:00:00Z",
    ],
)
def test_dates_as_people_write_them(text):
    form = find_date_format([text])
    assert form is not None
    assert parse_days(text, form) == as_days(DAY)


@pytest.mark.parametrize("time", ["12:00", "12:00:00", "12:00 PM", "12:00:00.000+02:00"])
def test_times_are_parts_of_a_day(time):
    text = f"2024-04-03 {time}"
    assert parse_days(text, find_date_format([text])) == as_days(DAY) + 0.5


def test_the_column_tells_whether_days_come_first():
    assert find_date_format(["03/04/2024", "25/04/2024"]).day_first
    assert not find_date_format(["03/04/2024", "04/25/2024"]).day_first
    unclear = find_date_format(["03/04/2024", "05/06/2024"])
    assert not unclear.day_first
    assert "nothing tells which comes first" in unclear.note
    assert find_date_format(["03/04/2024"], day_first=True).day_first


@pytest.mark.parametrize("text", ["red", "12", "1.5", "2024-13-01", "31.02.2024", "1.2.3.4", "2024"])
def test_what_is_no_date(text):
    assert find_date_format([text]) is None
    assert math.isnan(parse_days(text, DateFormat("year first")))


def test_numpy_and_python_agree():
    moment = datetime.datetime(1969, 12, 31, 18, 30, 1, 500000)
    assert as_days(np.datetime64(moment)) == pytest.approx(as_days(moment), abs=1e-9)
    assert math.isnan(as_days(np.datetime64("NaT")))
