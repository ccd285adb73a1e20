import datetime
import math
from decimal import Decimal

import numpy as np
import pytest

from pairup.columns import KINDS, as_text, find_decimal_mark, is_missing, looks_like_id, make_column, parse_number

TEXTS = [f"a long remark about thing number {k} and its use" for k in range(30)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3e2"], "number"),
        (["1", "", "n/a", "7"], "number"),
        ([1, 2.5, Decimal("3"), None], "number"),
        (["$1,234.50", "$7", "$12"], "number"),
        (["true", "false", ""], "boolean"),
        (["ja", "nein", "ja"], "boolean"),
        ([True, False, None], "boolean"),
        (["yes", "true", "no"] * 2, "category"),
        (["red", "blue", "red", "blue"], "category"),
        (["2024-01-01", "some other day", "2024-03-01"], "text"),
        (["2024-01-01", "2023-02-03", ""], "date"),
        ([datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 2, 3)], "date"),
        (TEXTS, "text"),
        (["", None, "NA", float("nan")], "empty"),
        (["red", "red", "red"], "constant"),
        (["5", "5", "5"], "constant"),
    ],
)
def test_cells_tell_their_kind(cells, kind):
    column = make_column("c", cells)
    assert column.kind == kind
    assert column.kind in KINDS
    assert len(column.values) == len(cells)


@pytest.mark.parametrize(
    ("name", "cells", "is_first", "kind"),
    [
        ("customer", ["C01", "C02", "C03"], False, "id"),
        ("name", ["ann", "bob", "cy"], True, "id"),
        ("name", ["ann", "bob", "cy"], False, "text"),
        ("customer_id", ["4", "2", "9"], False, "id"),
        ("customerId", ["4", "2", "9"], False, "id"),
        ("Kundennummer", ["4", "2", "9"], False, "id"),
        ("height", ["4", "2", "9"], True, "number"),
        ("id", ["4", "2", "2"], True, "number"),
        ("id", ["4.5", "2", "7"], True, "number"),
        ("remark", TEXTS, True, "text"),
    ],
)
def test_ids_are_found_by_name_or_by_form(name, cells, is_first, kind):
    assert make_column(name, cells, is_first=is_first).kind == kind


def test_names_that_were_not_in_the_table_tell_nothing():
    assert make_column("", ["1", "2", "3"], named=False).kind == "number"
    assert make_column("", ["1", "2", "3"]).kind == "id"  # as pandas writes its index
    assert not looks_like_id("a", np.arange(3.0))


def test_a_few_odd_cells_among_numbers_count_as_missing_and_are_told():
    column = make_column("c", [*map(str, range(30)), "unknown", "unknown"])
    assert (column.kind, column.missing) == ("number", 2)
    assert column.notes == ("2 cells that are no numbers ('unknown') count as missing",)
    assert make_column("c", ["1", "2", "red", "blue"] * 5).kind == "category"  # mixed: no number at all


def test_kinds_can_be_given():
    assert make_column("c", ["1", "2", "1"], kind="category").values.tolist() == ["1", "2", "1"]
    assert make_column("c", ["1", "0", ""], kind="boolean").kind == "boolean"
    assert make_column("c", [3.0, 4.0], kind="category").values.tolist() == ["3", "4"]
    assert make_column("c", np.array([3.0, 4.0]), kind="text").values.tolist() == ["3", "4"]
    odd = make_column("c", ["1", "red"], kind="number")
    assert math.isnan(odd.values[1])
    with pytest.raises(ValueError, match="no cell can be read as a date, the first is 'red'; choose another"):
        make_column("c", ["red"], kind="date")


@pytest.mark.parametrize(
    ("cell", "decimal", "number"),
    [
        ("1.234,5", ",", 1234.5), ("1,5", ",", 1.5), ("1.234", ",", 1234.0), ("12", ",", 12.0), ("-0,5", ",", -0.5),
        ("1'234.5", ".", 1234.5), ("1 234.5", ".", 1234.5), ("1,234", ".", 1234.0), ("€ 5", ".", 5.0), ("5%", ".", 5.0),
        ("1.5", ",", 1.5), ("1e3", ",", 1000.0),
    ],
)  # fmt: skip
def test_numbers_with_marks(cell, decimal, number):
    assert parse_number(cell, decimal) == number


@pytest.mark.parametrize("cell", ["", "1.2.3", "1,23,4", "abc", "+", "€", None, True, [], "0x10", "e0", "-E12", ".e5"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_what_is_no_number(cell, decimal):
    assert math.isnan(parse_number(cell, decimal))


def test_decimal_marks_are_told_by_all_cells():
    assert find_decimal_mark(["1,5", "2,25", "red"]) == ","
    assert find_decimal_mark(["1.5", "2.25"]) == "."
    assert find_decimal_mark(["1,234", "5,678"], separator=";") == ","
    assert find_decimal_mark(["1,234", "5,678"], separator=",") == "."
    assert find_decimal_mark([]) == "."


def test_missing_cells_and_texts():
    assert is_missing(np.float64("nan"))
    assert not is_missing("nothing")
    assert as_text(Decimal("1.50")) == "1.50"


def test_a_column_of_several_kinds_is_told():
    cells = ["12", "abc", "3.5", "red", "7", "blue"] * 4
    column = make_column("mix", cells)
    assert column.kind == "category"
    assert column.notes == ("12 of its 24 cells are numbers, the others are not: taken as texts",)
    assert make_column("words", ["red", "blue", "red", "blue"]).notes == ()


def test_a_column_named_like_an_id_whose_values_repeat_is_told():
    column = make_column("id", ["1", "1", "2", "3"])
    assert (column.kind, column.notes) == ("number", ("named like an id, but its values repeat",))
    column = make_column("id", ["d1", "d1", "d2", "d2", "d3", "d3", "d1", "d2"])
    assert (column.kind, column.notes) == ("category", ("named like an id, but its values repeat",))
