import numpy as np
import pytest

from pairup.validation import (
    check_count,
    check_equal_size,
    check_finite,
    check_jobs,
    check_matching,
    check_pair,
    check_positive,
    check_seed,
    check_set,
)


@pytest.mark.parametrize(
    ("Z", "shape"),
    [([1, 2, 3], (3, 1)), (np.zeros((4, 2, 3)), (4, 6)), ([["1", "2"], ["3", "4"]], (2, 2)), ([True, False], (2, 1))],
    ids=["vector", "pictures", "digits as text", "booleans"],
)
def test_sets_become_tables_of_floats(Z, shape):
    table = check_set(Z, "X")
    assert table.shape == shape
    assert table.dtype == np.float64
    assert table.flags.c_contiguous


def test_a_table_that_is_one_already_is_not_copied(rng):
    X = rng.normal(size=(5, 2))
    assert check_set(X, "X") is X


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        ([1.0], "Z must have at least 2 rows and one column, got shape"),
        (np.zeros((3, 0)), "Z must have at least 2 rows and one column"),
        (3.0, "Z must have at least 2 rows"),
        ([1j, 2j], "Z must be real numbers, got complex"),
        ([["a"], ["b"]], "Z must be numbers, got text such as 'a'; encode"),
        ([[0.0, 1.0], [2.0, np.inf]], "in 1 of 4 values, the first in row 1, column 1; drop such rows"),
    ],
)
def test_other_sets_are_refused_by_name(Z, message):
    with pytest.raises(ValueError, match=message):
        check_set(Z, "Z")


def test_one_row_is_enough_where_that_is_said():
    assert check_set([1.0], "X", at_least=1).shape == (1, 1)


def test_finite_tables_pass(rng):
    check_finite(rng.normal(size=(3, 2)), "X")


@pytest.mark.parametrize(("n", "m", "advice"), [(5, 3, "drop 2 rows of X"), (3, 4, "drop 1 row of Y")])
def test_pairs_need_equally_many_rows(n, m, advice):
    with pytest.raises(ValueError, match=f"X has {n} rows and Y has {m}.*{advice}$"):
        check_pair(np.arange(n), np.arange(m))
    x, y = check_pair(np.arange(n), np.arange(n))
    assert x.shape == y.shape == (n, 1)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), float("-inf"), "wide", None])
def test_only_positive_finite_numbers_pass(value):
    for right in (2, 0.5, np.float32(0.5), np.float64(1e-300)):
        assert check_positive(right, "width", "x") == right
    with pytest.raises(ValueError, match=r"width must be a positive number, got .*; leave it out"):
        check_positive(value, "width", "leave it out")


@pytest.mark.parametrize("right", [0, 7, np.int64(7), True, 2**40])
def test_seeds_are_whole_numbers(right):
    assert check_seed(right) == right
    assert type(check_seed(right)) is int


@pytest.mark.parametrize("wrong", [-1, 1.0, None, "0", np.random.default_rng(0), np.array([1, 2])])
def test_other_seeds_are_refused(wrong):
    with pytest.raises(ValueError, match=r"random_state must be a whole number, 0 or more, got .*; pass 0"):
        check_seed(wrong)
    with pytest.raises(ValueError, match="random_state must be a whole number, from 0 to 9, got 10"):
        check_seed(10, below=10)


def test_jobs_and_counts():
    for right in (None, 1, -1, np.int64(4)):
        assert check_jobs(right) == right
    assert check_count(np.int64(3), "cv", at_least=2) == 3
    with pytest.raises(ValueError, match="cv must be at least 2, got 1; pass a whole number"):
        check_count(1, "cv", at_least=2)


def test_equal_sizes_pass_and_others_say_which_rows_to_drop():
    check_equal_size(np.zeros((2, 1)), np.zeros((2, 5)), "so it is")
    with pytest.raises(ValueError, match="X has 1 rows and Y has 4, and so it is; drop 3 rows of Y"):
        check_equal_size(np.zeros((1, 1)), np.zeros((4, 1)), "so it is")


@pytest.mark.parametrize("indices", [[0, 0, 1], [0, 1], [0, 1, 3], [0.0, 1.0, 2.0], [[0, 1], [2, 3]], ["a", "b", "c"]])
def test_what_is_no_matching_is_refused(indices):
    with pytest.raises(ValueError, match="start must hold each of 0, …, 2 once"):
        check_matching(indices, 3, "start")
