import numpy as np
import pytest
from scipy.stats import ttest_rel

from pairup.paper.comparison import find_comparable, group_results, tabulate


def numbered(values):
    return dict(enumerate(values))


def rows(values):
    return [
        {"method": method, "n": n, "run": run, "result": {"accuracy": value}}
        for (method, n), samples in values.items()
        for run, value in enumerate(samples)
    ]


@pytest.mark.parametrize("gap", [0.0, 0.1, 0.3, 1.0])
def test_a_method_is_comparable_where_the_paired_t_test_says_so(rng, gap):
    a = rng.normal(size=30)
    b = a + gap + 0.5 * rng.normal(size=30)
    values = {"a": numbered(a), "b": numbered(b)}
    same = ttest_rel(a, b).pvalue >= 0.01
    for smaller in (True, False):
        best = "a" if (a.mean() < b.mean()) == smaller else "b"
        assert find_comparable(values, smaller_is_better=smaller) == ({"a", "b"} if same else {best})


def test_pairing_shows_what_independent_samples_would_hide(rng):
    hard = 10 * rng.normal(size=20)
    values = {"a": numbered(hard), "b": numbered(hard + 0.1 + 0.01 * rng.normal(size=20))}
    assert find_comparable(values, smaller_is_better=True) == {"a"}


def test_ties_are_comparable_and_constant_gaps_are_not():
    runs = numbered([1.0, 2.0, 3.0])
    assert find_comparable({"a": runs, "b": runs}, smaller_is_better=True) == {"a", "b"}
    worse = {k: value + 1 for k, value in runs.items()}
    assert find_comparable({"a": runs, "b": worse}, smaller_is_better=True) == {"a"}
    assert find_comparable({"a": runs, "b": worse}, smaller_is_better=False) == {"b"}


def test_only_common_runs_count_and_three_are_needed():
    a, b = {0: 1.0, 1: 1.1, 2: 0.9, 3: 100.0}, {0: 2.0, 1: 2.2, 2: 2.1}
    assert find_comparable({"a": a, "b": b}, smaller_is_better=True) == {"a"}
    del b[2]
    assert find_comparable({"a": a, "b": b}, smaller_is_better=True) == set()
    assert find_comparable({}, smaller_is_better=True) == set()


def test_the_table_has_means_deviations_and_marks(rng):
    good, bad = 0.9 + 0.01 * rng.normal(size=10), 0.1 + 0.01 * rng.normal(size=10)
    grouped = group_results(rows({("good", 40): good, ("bad", 40): bad, ("good", 80): good[:1]}), "accuracy")
    table = tabulate(grouped, ["good", "bad"], smaller_is_better=False, digits=2)
    assert list(table.header) == ["method", "n = 40", "n = 80"]
    assert table.rows[0] == ["good", f"{good.mean():.2f} ± {np.std(good, ddof=1):.2f} ∘", f"{good[0]:.2f}"]
    assert table.rows[1] == ["bad", f"{bad.mean():.2f} ± {np.std(bad, ddof=1):.2f}", ""]
