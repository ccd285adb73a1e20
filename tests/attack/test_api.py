"""Whatever is passed to `match`, a matching that holds together comes out, or an error in words."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pairup

SETTINGS = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-10, 10) | st.integers(-3, 3).map(float)
DTYPES = st.sampled_from(["f8", "f4", "f2", ">f8", "i8", "i4", "u1", "?", "c16", "S3", "U3", "M8[D]", "O"])
ODD = st.sampled_from([None, "", "table.csv", 5, {}, [], [[]], [[1, 2], [3]], b"xy", object, {"a": [1, 2]}, [["a", 1]]])


@st.composite
def plain_sets(draw):
    """A table of small numbers that can be matched."""
    shape = draw(st.tuples(st.integers(2, 6), st.integers(1, 3)))
    return draw(arrays.arrays(np.float64, shape, elements=st.floats(-100, 100), unique=True))


@st.composite
def odd_sets(draw):
    """An array of any type, shape and values."""
    dtype = np.dtype(draw(DTYPES))
    elements = None if dtype.kind != "f" else NUMBERS.map(lambda number: float(np.asarray(number).astype(dtype)))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))
    with np.errstate(all="ignore"):
        if dtype.kind == "O":
            return draw(arrays.arrays(dtype, shape, elements=NUMBERS | st.text(max_size=2) | st.none()))
        return draw(arrays.arrays(dtype, shape, elements=elements))


FRAMES = plain_sets().map(lambda rows: pd.DataFrame(rows, index=[f"row {k}" for k in range(len(rows))]))
SETS = plain_sets() | plain_sets() | plain_sets().map(np.ndarray.tolist) | FRAMES | odd_sets() | ODD
PAIRS = st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 6)), max_size=3)
VALUES = {
    "metric": st.sampled_from(["auto", "euclidean", "cosine", "precomputed", "none", 3, ["auto"]]),
    "kernel": st.sampled_from([None, "precomputed", "linear", 0]),
    "anchors": PAIRS | st.sampled_from([None, 3, "ab", [1, 2], [(0, 1, 2)], np.zeros((0, 2)), [(0.5, 1)]]),
    "prior": arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=NUMBERS) | ODD,
    "prior_weight": NUMBERS | st.sampled_from([None, "much"]),
    "overlap": st.floats(0.1, 1.0) | NUMBERS | st.sampled_from(["auto", "none", None, [1.0]]),
    "random_state": st.integers(-1, 2**40) | st.sampled_from([None, 1.5, "seed", np.int64(3)]),
    "n_jobs": st.sampled_from([None, 1, 2, -1, 0, 1.5, "all"]),
}
OPTIONS = st.lists(st.sampled_from(sorted(VALUES)), max_size=2, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: VALUES[name] for name in names})
)


def check(X, Y, **options):
    """Check that a matching holds together, or that it was refused in words."""
    matching, told = None, ""
    try:
        matching = pairup.match(X, Y, **options)
    except (ValueError, TypeError, MemoryError) as error:
        told = str(error)
    if matching is None:
        assert len(told.split()) >= 4, f"no words: {told!r}"
        return
    indices, n, m = matching.indices, len(X), len(Y)
    partners = indices[indices >= 0]
    assert indices.shape == (n,)
    assert indices.dtype.kind == "i"
    assert ((indices >= -1) & (indices < m)).all()
    assert len(set(partners.tolist())) == len(partners), "a y is given twice"
    assert len(partners) <= min(n, m)
    if options.get("overlap", 1.0) == 1.0:
        assert len(partners) == min(n, m)
    for shares in (matching.confidence, matching.probabilities):
        assert np.isfinite(shares).all()
        assert ((shares >= 0) & (shares <= 1 + 1e-9)).all()
    assert np.isfinite(matching.dependence)


@pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")  # of hypothesis, which draws such numbers
@settings(SETTINGS, max_examples=100)
@given(SETS, SETS, st.sampled_from(["ks-hsic", "ks-nocco", "ks-mi"]))
def test_cheap_methods_take_or_refuse_any_sets(X, Y, method):
    check(X, Y, method=method)


@settings(SETTINGS, max_examples=40)
@given(plain_sets(), plain_sets(), OPTIONS)
def test_the_default_takes_or_refuses_any_options(X, Y, options):
    check(X, Y, **options)


@settings(SETTINGS, max_examples=20)
@given(SETS, plain_sets())
def test_the_default_takes_or_refuses_any_set(X, Y):
    check(X, Y)


@settings(SETTINGS, max_examples=60)
@given(st.sampled_from([*pairup.match.__kwdefaults__]), ODD)
def test_an_odd_option_is_told_in_words(name, value):
    X = np.arange(8.0).reshape(4, 2) ** 1.5
    check(X, X[::-1], **{"method": "ks-hsic", name: value})
