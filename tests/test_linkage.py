import json

import numpy as np
import pytest

from pairup.assignment import assign
from pairup.cells import Cells
from pairup.columns import make_column
from pairup.linkage import (
    MOST_COMMON,
    agreement_ratios,
    closeness_ratios,
    explain_difference,
    find_common,
    measure_distances,
    pair_tables,
    score_column,
    share_closer,
)
from pairup.memory import check_memory
from pairup.tables import Table, as_table


def table(name, **columns):
    return Table.from_cells(Cells(name, list(columns), list(columns.values()), named=True))


@pytest.fixture
def pair(rng):
    age = rng.integers(20, 80, size=30)
    town = rng.choice(["Ulm", "Kiel", "Bonn"], size=30)
    x = table("x", age=[*map(str, age)], town=[*town], pay=[*map(str, age * 100.5)])
    y = table("y", age=[*map(str, age[::-1])], town=[*town[::-1]], rent=[*map(str, age[::-1] * 3.25)])
    return x, y


def test_columns_of_the_same_name_and_kind_become_the_prior(pair):
    found = pair_tables(*pair)
    assert found.common == ("age", "town")
    assert found.prior.shape == (30, 30)
    assert (found.X.shape, found.Y.shape) == ((30, 1), (30, 1))
    assert "Compared directly: age, town." in found.summary
    told = found.to_dict()
    assert json.loads(json.dumps(told)) == told
    best = assign(found.prior)
    ages = [np.array(t.columns[0].values) for t in pair]
    np.testing.assert_array_equal(ages[0], ages[1][best])


@pytest.mark.parametrize("on", ["none", (), []])
def test_comparison_can_be_switched_off(pair, on):
    found = pair_tables(*pair, on=on)
    assert (found.prior, found.common) == (None, ())
    assert found.X.shape[1] == 1 + 3 + 1


@pytest.mark.parametrize("on", ["town", ["town"], ("town",)])
def test_columns_can_be_named(pair, on):
    assert pair_tables(*pair, on=on).common == ("town",)


def test_all_columns_in_common_also_pair_by_dependence(pair):
    found = pair_tables(pair[0], pair[0])
    assert found.common == ("age", "town", "pay")
    assert found.X.shape == found.Y.shape
    assert found.X.shape[1] > 0
    assert "the common ones also pair by dependence" in found.notes[-1]


def test_methods_that_take_no_prior_get_all_columns(pair):
    found = pair_tables(*pair, compares=False)
    assert found.prior is None
    assert "only method auto compares them" in found.notes[0]


def test_different_kinds_are_told_or_refused():
    x = table("x.csv", a=["1", "2", "3"], b=["1", "5", "3"])
    y = table("y.csv", a=["red", "blue", "red"], b=["1", "4", "3"])
    common, notes = find_common(x, y)
    assert common == ["b"]
    assert notes == ["a: number in X and category in Y, so not compared directly"]
    with pytest.raises(
        ValueError, match=r"column 'a' holds number in x.csv and text in y.csv, expected the same .*--kind"
    ):
        pair_tables(x, y, on="a")
    with pytest.raises(ValueError, match=r"y.csv: no column 'c' to compare; the columns are a, b"):
        pair_tables(table("x.csv", c=["1", "2"], a=["1", "2"]), y, on="c")


def test_columns_whose_values_are_far_apart_are_not_taken_for_the_same():
    x = table("x", b=["u", "v"] * 10, a=[*map(str, range(20))])
    y = table("y", b=["s", "t"] * 10, a=[*map(str, range(500, 520))])
    common, notes = find_common(x, y)
    assert common == []
    assert "far apart" in notes[1]
    assert "hardly overlap" in notes[0]
    assert find_common(x, y, "a")[0] == ["a"]
    one, other = (make_column("a", ["ann b", "cy d", "eve f"], kind="text") for _ in range(2))
    assert explain_difference(one, other) == ""


def test_common_ids_are_told_and_can_be_compared():
    x = table("x", id=["A1", "A2", "A3", "A4"], v=["1", "2", "4", "8"])
    y = table("y", id=["A3", "A1", "A4", "A2"], w=["7", "1", "0", "3"])
    found = pair_tables(x, y)
    assert found.common == ()
    assert "4 ids are in both tables; --on id compares them" in found.notes[0]
    np.testing.assert_array_equal(assign(pair_tables(x, y, on="id").prior), [1, 3, 0, 2])


def test_a_table_without_columns_to_compare_is_refused():
    x = Table.from_cells(Cells("x", ["id", "a"], [["A1", "A2"], ["1", "2"]], True), id_column="id", drop=["a"])
    with pytest.raises(ValueError, match=r"x: no column is left to compare .*; give another id column"):
        pair_tables(x, x)


def test_scores_are_logarithms_of_ratios_of_mean_one(rng):
    D = rng.random((5, 40))
    np.testing.assert_allclose(closeness_ratios(D).mean(axis=1), 1.0)
    equal = (rng.random((5, 40)) < 0.3) * 1.0
    np.testing.assert_allclose(agreement_ratios(equal).mean(axis=1), 1.0)


def test_rare_agreement_counts_more_and_missing_values_count_nothing():
    column = make_column("c", ["red"] * 5 + ["blue"] * 2 + [None], kind="category")
    S = score_column(column, column)
    assert S[5, 5] > S[0, 0] > 0 > S[0, 5]
    assert not S[7].any()
    assert not S[:, 7].any()


def test_closer_numbers_score_more():
    column = make_column("c", ["1", "2", "4", "8", "16", ""])
    S = score_column(column, column)
    assert S[0, 0] > S[0, 1] > S[0, 2] > S[0, 4]
    assert (S[5] == 0).all()


def test_distances_of_all_kinds():
    dates = make_column("d", ["2024-01-01", "2024-01-03"])
    np.testing.assert_array_equal(measure_distances(dates, dates), [[0, 2], [2, 0]])
    texts = make_column("t", ["wooden spoon", "office chair", None], kind="text")
    D = measure_distances(texts, texts)
    assert D[0, 0] == 0 < D[0, 1] <= 1
    assert np.isnan(D[2]).all()
    odd = make_column("t", ["!", "&"], kind="text")
    assert np.isfinite(measure_distances(odd, odd)).all()
    np.testing.assert_array_equal(share_closer(np.zeros((1, 4))), np.ones((1, 4)))


def test_ten_thousand_common_columns_are_not_all_compared(rng):
    values = rng.normal(size=(12, 10_000)).round(3).astype(str)
    columns = {f"gene {k} count": list(values[:, k]) for k in range(values.shape[1])}
    found = pair_tables(table("x", **columns), table("y", **columns))
    assert len(found.common) == MOST_COMMON
    assert found.X.shape == (12, 10_000 - MOST_COMMON)
    assert "the first 50 of 10000 names that both tables have are compared" in found.notes[0]
    assert len(found.summary) < 600


def test_ten_thousand_columns_of_categories_need_memory_that_is_predicted(monkeypatch):
    columns = {f"c{k}": ["red", "blue", "red", "green"] for k in range(10_000)}
    monkeypatch.setattr("pairup.memory.free_memory", lambda: (2**20, "of this test"))
    monkeypatch.setattr("pairup.encoding.check_memory", lambda n, m, k: check_memory(n * 1000, m, k))
    with pytest.raises(MemoryError, match=r"x: 10000 columns become up to 100000 columns of numbers, .*; drop some"):
        table("x", **columns).encode()


def test_numbered_columns_are_taken_for_coordinates(rng):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(rng.normal(size=(30, 4)), columns=["pc1", "pc2", "pc3", "age"]) for _ in range(2)]
    x, y = (as_table(frame, side) for frame, side in zip(frames, "XY", strict=True))
    common, notes = find_common(x, y)
    assert common == ["age"]
    assert any("pc1 to pc3: numbered columns" in note for note in notes)
    assert find_common(x, y, ["pc2"])[0] == ["pc2"]
