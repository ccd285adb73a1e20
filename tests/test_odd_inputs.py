"""Odd input by call and by file: refused before work starts, in a sentence that says what to do.

The same cause has the same words in the default method, in the paper's methods and in the estimators.
"""

import datetime
import decimal
import io
import random
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import pairup
from pairup import KSHSIC, KSMI, KSNOCCO, LSOM, ProductLSOM
from pairup.tables import read_anchors, read_table

N = 8
GOOD = np.random.default_rng(0).gamma(2.0, size=(N, 3))
ADVICE = re.compile(
    r"; \S+|: it is the share|got .* can be used|expected one of|must be one of|must be auto|must be None"
)


def with_cell(value, dtype=object):
    Z = GOOD.astype(dtype)
    Z[2, 1] = value
    return Z


def raiser():
    class Grumpy:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("call detach first")

    return Grumpy()


def nullable():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOOD).astype("Float64")
    frame.iloc[2, 1] = pandas.NA
    return frame


def not_a_time():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GOOD).astype(object)
    frame.iloc[2, 0] = pandas.NaT
    return frame


SETS = {  # what is passed as a set, and what is said about it
    "None": (lambda: None, "Expected array-like .* got None; pass a table"),
    "generator": (lambda: (row for row in GOOD), "got a generator; pass list"),
    "map": (lambda: map(list, GOOD), "got a map; pass list"),
    "set": (lambda: set(range(N)), "got a set; pass list"),
    "dict": (lambda: {"a": [1.0] * N}, "got a dict; pass its columns as pandas.DataFrame"),
    "csr matrix": (lambda: sparse.csr_matrix(GOOD), r"got a sparse one \(csr_matrix\); pass .\.toarray\(\)"),
    "coo array": (lambda: sparse.coo_array(GOOD), r"got a sparse one \(coo_array\); pass .\.toarray\(\)"),
    "a path as text": (lambda: "data.csv", "got 'data.csv'; read the file first"),
    "a path": (lambda: Path("data.csv"), "data.csv'\\); read the file first"),
    "bytes": (lambda: b"1,2,3", "got b'1,2,3'; read the file first"),
    "a number": (lambda: 3.0, r"at least . rows? and one column, got shape \(\); pass one object per row"),
    "empty list": (list, r"got shape \(0, 1\), 0 samples; pass one object"),
    "no rows": (lambda: np.empty((0, 3)), r"got shape \(0, 3\), 0 samples; pass one object"),
    "no columns": (lambda: np.empty((N, 0)), r"got 0 feature\(s\) \(shape=\(8, 0\)\)"),
    "empty pictures": (lambda: np.empty((0, 4, 4)), r"got shape \(0, 16\), 0 samples"),
    "masked": (
        lambda: np.ma.masked_where(GOOD == GOOD[2, 1], GOOD),
        "masked values in 1 of 24 .* row 2, column 1; drop",
    ),
    "NA": (nullable, r"missing values \(None, NA\) in 1 of 24 values, the first in row 2, column 1; drop such rows"),
    "NaT": (not_a_time, r"missing values \(None, NA\) in 1 of 24 values, the first in row 2, column 0; drop such rows"),
    "None in a cell": (lambda: with_cell(None), r"missing values \(None, NA\) in 1 of 24 values"),
    "nan": (lambda: with_cell(np.nan, float), "NaN or infinity in 1 of 24 values, the first in row 2, column 1; drop"),
    "infinity": (lambda: with_cell(-np.inf, float), "NaN or infinity in 1 of 24 values"),
    "nan as text": (lambda: with_cell("nan"), "NaN or infinity in 1 of 24 values"),
    "10**400": (lambda: with_cell(10**400), "beyond ±1.8e308, .*; pass it in larger units"),
    "10**400 in a list": (lambda: [[10**400, 1.5]] * N, "beyond ±1.8e308, .*; pass it in larger units"),
    "long double": (lambda: GOOD.astype(np.longdouble) * np.longdouble("1e4000"), "beyond ±1.8e308"),
    "1e400 as text": (lambda: with_cell("1e400"), "NaN or infinity in 1 of 24 values"),
    "complex": (lambda: GOOD + 1j, "real numbers, got complex ones .*; pass real and imaginary parts"),
    "complex object": (lambda: with_cell(1j), "real numbers, got complex ones .*; pass real and imaginary parts"),
    "text": (lambda: with_cell("red"), "must be numbers, got text such as 'red'; encode text columns"),
    "text array": (lambda: np.array([["1", "red"]] * N), "must be numbers, got text such as 'red'; encode"),
    "bytes array": (lambda: np.array([[b"1", b"x"]] * N), "must be numbers, got text such as b'x'; encode"),
    "long text": (lambda: with_cell("r" * 10**6), "must be numbers, got text such as 'rrr.{60,90}; encode"),
    "dict in a cell": (lambda: with_cell({"a": 1}), "must be numbers, got something else .*'dict'.*; pass one number"),
    "date in a cell": (lambda: with_cell(datetime.date(2024, 1, 1)), "got something else .*date.*; pass one number"),
    "dates": (
        lambda: np.full((N, 1), np.datetime64("2024-01-01")),
        r"dates or times \(datetime64\[D\]\); pass numbers",
    ),
    "durations": (
        lambda: np.full((N, 1), np.timedelta64(3, "s")),
        r"dates or times \(timedelta64\[s\]\); pass numbers",
    ),
    "records": (lambda: np.zeros(N, dtype=[("a", float), ("b", int)]), "got records .*; pass numpy.lib.recfunctions"),
    "ragged": (lambda: [[1.0, 2.0]] * (N - 1) + [[1.0]], "cannot be read as a table .*; pass rows of equal length"),
    "a function": (lambda: len, "must be numbers, got something else"),
    "an object": (object, "must be numbers, got something else"),
    "an array that refuses": (raiser, r"cannot be read as a table of numbers \(call detach first\); pass rows"),
}
CALLS = {
    "auto": lambda X, Y, **more: pairup.match(X, Y, **more),
    "lsom": lambda X, Y, **more: pairup.match(X, Y, method="lsom", **more),
    "KSHSIC": lambda X, Y, **more: KSHSIC(**more).fit(X, Y),
}


def refusal(call, *sets, **more):
    """Return the message with which a call is refused, which tells what to do."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*sets, **more)
    message = str(caught.value)
    assert ADVICE.search(message), message
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.fixture
def no_search(monkeypatch):
    """Let no search begin."""

    def fail(*_, **__):
        raise AssertionError("work has started")

    monkeypatch.setattr("pairup.matcher.Matcher._families", fail)
    monkeypatch.setattr("pairup.auto.problem.Problem.geometries", fail)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("side", ["X", "Y"])
@pytest.mark.parametrize("case", SETS)
def test_odd_sets_are_refused_in_the_same_words_by_all(case, side):
    make, words = SETS[case]
    calls = {"KSHSIC": CALLS["KSHSIC"]} if case in ("NA", "NaT") else CALLS  # match fills gaps of DataFrames in
    messages = {
        name: refusal(call, *((make(), GOOD) if side == "X" else (GOOD, make()))) for name, call in calls.items()
    }
    for message in messages.values():
        assert message.startswith(side)
        assert re.search(words, message), message
    same = {re.sub("at least . rows?", "at least", message) for message in messages.values()}  # 1 row will do for auto
    assert len(same) == 1, messages


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("matcher", [KSMI(), KSNOCCO(), LSOM(), ProductLSOM()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("case", ["csr matrix", "generator", "10**400", "masked", "NA", "complex", "None", "ragged"])
def test_every_estimator_refuses_alike(matcher, case):
    make, words = SETS[case]
    assert re.search(words, refusal(matcher.fit, GOOD, make()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: GOOD.tolist(),
        lambda: np.ma.masked_invalid(GOOD),
        lambda: GOOD.astype(str),
        lambda: with_cell(decimal.Decimal(3)),
        lambda: GOOD.astype(np.longdouble),
        lambda: np.asfortranarray(GOOD),
        lambda: GOOD.reshape(N, 3, 1),
        lambda: GOOD[:, 0],
        lambda: GOOD > 1,
        lambda: pytest.importorskip("pandas").DataFrame(GOOD).astype("Float64"),
    ],
    ids=["list", "unmasked", "digits", "decimal", "long double", "Fortran", "pictures", "vector", "bool", "nullable"],
)
@pytest.mark.parametrize("method", ["auto", "ks-hsic"])
def test_what_is_a_table_is_taken_by_all(make, method):
    assert sorted(pairup.match(make(), GOOD, method=method).indices) == list(range(N))


PARAMETERS = [
    ({"n_jobs": 0}, "n_jobs must be a whole number other than 0, got 0; leave it out"),
    ({"n_jobs": 1.5}, "n_jobs must be a whole number other than 0, got 1.5"),
    ({"n_jobs": "two"}, "n_jobs must be a whole number other than 0, got 'two'"),
]
OF_MATCH = [
    ({"random_state": -1}, "random_state must be a whole number, 0 or more, got -1; pass 0"),
    ({"random_state": np.random.default_rng(0)}, "random_state must be a whole number, 0 or more, got Generator"),
    ({"random_state": np.random.RandomState(0)}, "random_state must be a whole number, 0 or more, got RandomState"),
    ({"random_state": 0.5}, "random_state must be a whole number, 0 or more, got 0.5"),
    ({"random_state": None}, "random_state must be a whole number, 0 or more, got None"),
    ({"random_state": "now"}, "random_state must be a whole number, 0 or more, got 'now'"),
    ({"anchors": None}, "anchors must be a list of pairs .*, got None; pass list"),
    ({"anchors": iter([(0, 1)])}, "anchors must be a list of pairs .*; pass list"),
    ({"forbidden": None}, "forbidden must be a list of pairs .*, got None; pass list"),
]
OF_AUTO = [
    ({"anchors": "pairs.csv"}, "anchors must be pairs .*; pass rows of X and Y counted from 0"),
    ({"anchors": [(0, 1), (2,)]}, "anchors must be pairs .*; pass rows"),
    ({"anchors": [(0, 10**400)]}, "anchors must be pairs .*; pass rows"),
    ({"forbidden": [(0, 1), (2,)]}, "forbidden must be pairs .*; pass rows"),
    ({"forbidden": np.ones((3, 3), bool)}, r"forbidden must be pairs .*; pass numpy.argwhere\(forbidden\)"),
    ({"overlap": None}, r"overlap must lie in \(0, 1\], got None"),
    ({"overlap": np.nan}, r"overlap must lie in \(0, 1\], got nan"),
    ({"overlap": [0.5]}, r"overlap must lie in \(0, 1\], got \[0.5\]"),
    ({"prior": sparse.eye_array(N + 1)}, r"prior must have one row per x .*, got shape \(9, 9\)"),
    ({"prior": 1j * sparse.eye_array(N)}, "prior must be real numbers"),
    ({"prior": np.full((N, N), 1j)}, "prior must be real numbers"),
    ({"prior": "prior.csv"}, "prior must be a table of numbers, got 'prior.csv'; read the file"),
    (
        {"prior": np.eye(N), "prior_weight": "heavy"},
        "prior_weight must be a positive number, got 'heavy'; leave it out",
    ),
    ({"prior": np.eye(N), "prior_weight": -1}, "prior_weight must be a positive number, got -1; leave it out"),
    ({"prior_weight": 1.0}, "prior_weight must come with a prior, got 1.0 alone; pass both"),
]


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("call", "more", "words"),
    [(call, *case) for call in CALLS for case in PARAMETERS]
    + [(call, *case) for call in ("auto", "lsom") for case in OF_MATCH]
    + [("auto", *case) for case in OF_AUTO],
)
def test_odd_parameters_are_refused_before_work_starts(call, more, words):
    assert re.search(words, refusal(CALLS[call], GOOD, GOOD, **more))


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        (
            LSOM(random_state=np.random.default_rng(0)),
            "random_state must be a whole number, from 0 to 4294967295, got Gen",
        ),
        (LSOM(random_state=-1), "random_state must be a whole number, from 0 to 4294967295, got -1"),
        (LSOM(random_state=2**32), "random_state must be a whole number, from 0 to 4294967295"),
        (LSOM(cv="two"), "cv must be at least 1, got 'two'"),
        (LSOM(widths=None), "widths must be one or more positive numbers, got None"),
        (LSOM(lambdas=["a"]), "lambdas must be one or more positive numbers"),
        (ProductLSOM(widths=[np.nan]), "widths must be one or more positive numbers"),
        (KSHSIC(n_starts="ten"), "n_starts must be at least 1, got 'ten'"),
        (KSHSIC(n_starts=1.5), "n_starts must be at least 1, got 1.5"),
        (KSHSIC(max_iter=None), "max_iter must be at least 1, got None"),
        (KSHSIC(eta="big"), r"eta, the step size, must lie in \(0, 1\], got 'big'"),
        (KSHSIC(width="wide"), "width must be a positive number, got 'wide'"),
        (KSNOCCO(epsilon=np.inf), "epsilon, the regulariser, must be a positive number, got inf"),
        (KSMI(ridge=None), "ridge must be a positive number, got None"),
    ],
)
def test_odd_parameters_of_estimators_are_refused(matcher, words):
    with pytest.raises(ValueError, match=words):
        matcher.fit(GOOD, GOOD)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("matcher", [KSMI(), KSHSIC(), LSOM()], ids=lambda m: type(m).__name__)
def test_sizes_and_vectors_are_told_by_estimators(matcher):
    assert "X has 8 rows and Y has 5" in refusal(matcher.fit, GOOD, GOOD[:5])
    assert "pass X.reshape(-1, 1)" in refusal(matcher.fit, GOOD[:, 0], GOOD)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(content, compression=zipfile.ZIP_STORED, name="X.npy"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as z:
        z.writestr(name, content)
    return bytearray(file.getvalue())


def encrypted():
    content = archive(npy(GOOD))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag in both headers
        content[content.index(signature) + offset] |= 1
    return content


def unknown_compression():
    content = archive(npy(GOOD))
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        content[content.index(signature) + offset] = 97
    return content


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


FILES = {
    "encrypted.npz": (encrypted, "cannot be read as a table"),
    "compression.npz": (unknown_compression, "cannot be read as a table"),
    "text.npz": (lambda: archive(b"hello", name="readme.txt"), "expected an array, got the file 'readme.txt'"),
    "fake.npz": (lambda: archive(b"hello"), "cannot be read as a table"),
    "two.npz": (lambda: b"".join([b"PK\x05\x06", bytes(18)]), "expected one array, found 0"),
    "is-npy.npz": (lambda: npy(GOOD), "cannot be read as a table"),
    "empty.npy": (lambda: npy(np.empty((0, 3))), r"got an empty array of shape \(0, 3\)"),
    "columns.npy": (lambda: npy(np.empty((3, 0))), r"got an empty array of shape \(3, 0\)"),
    "nothing.npy": (lambda: b"", "cannot be read as a table"),
    "scalar.npy": (lambda: npy(np.array(3.0)), "got a single number"),
    "complex.npy": (lambda: npy(GOOD + 1j), "got an array of complex128"),
    "text.npy": (lambda: npy(np.array(["a"])), "got an array of <U1"),
    "syntax.npy": (lambda: header(b"{'descr': '<f8', \n"), "cannot be read as a table"),
    "huge.npy": (
        lambda: header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }"),
        "damaged or truncated: 8000000000000 bytes of numbers expected, 0 found",
    ),
    "negative.npy": (lambda: header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2), }"), "cannot be read"),
    "keys.npy": (lambda: header(b"{'descr': '<f8'}"), "cannot be read as a table"),
    "number.npy": (lambda: header(b"3"), "cannot be read as a table"),
    "dtype.npy": (lambda: header(b"{'descr': '<q9', 'fortran_order': False, 'shape': (2,), }"), "cannot be read"),
    "version.npy": (lambda: b"\x93NUMPY\x09\x00" + bytes(9), "cannot be read as a table"),
    "long.csv": (lambda: b"id,a\n" + b"n" * 140_000 + b",1\n", "field larger than field limit.*; check whether a quot"),
    "quote.csv": (lambda: b'a,b\n"1,2\n' + b"3,4\n" * 40_000, "field larger than field limit.*; check whether a quot"),
    "nul.csv": (lambda: b"a,b\n1,\x00\n", "not a text table \\(row 2 holds .*save it as UTF-8"),
    "latin.csv": (lambda: b"a,b\n1,\x01\xe4\n", "not a text table \\(row 2 holds"),
    "ragged.csv": (lambda: b"1,2\n3\n", "row 2 has 1 cell and row 1 has 2"),
    "blank.csv": (lambda: b" \n\n  \n", "the file is empty"),
    "empty.txt": (lambda: b"", "the file is empty"),
    "broken.xlsx": (lambda: b"PK" + bytes(40), "cannot be read as a spreadsheet .*save it again, or as csv"),
    "broken.parquet": (lambda: b"PAR1" + bytes(40) + b"PAR1", "cannot be read as parquet"),
}


@pytest.mark.parametrize("name", FILES)
def test_odd_files_are_refused_by_name(tmp_path, name):
    if name.endswith(("parquet", "xlsx")):
        pytest.importorskip("pyarrow" if name.endswith("parquet") else "openpyxl")
    make, words = FILES[name]
    (tmp_path / name).write_bytes(make())
    message = refusal(lambda: read_table(tmp_path / name))
    assert message.startswith(str(tmp_path / name))
    assert re.search(words, message), message


@pytest.mark.filterwarnings("ignore")  # numpy and Python warn about some headers
@pytest.mark.parametrize("kind", ["npy", "npz", "deflated.npz", "bzip2.npz", "lzma.npz", "csv", "parquet"])
def test_damaged_files_are_read_or_refused(tmp_path, kind):
    """Flipped bits, cuts and insertions: nothing but a ValueError that names the file comes out."""
    if kind == "parquet":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame(GOOD, columns=list("abc")).to_parquet(tmp_path / "whole")
        whole = (tmp_path / "whole").read_bytes()
    else:
        codes = {"deflated.npz": zipfile.ZIP_DEFLATED, "bzip2.npz": zipfile.ZIP_BZIP2, "lzma.npz": zipfile.ZIP_LZMA}
        text = b"a,b,c\n" + b"".join(b"%f,%f,%f\n" % tuple(row) for row in GOOD)
        whole = {"npy": npy(GOOD), "csv": text}.get(kind) or bytes(archive(npy(GOOD), codes.get(kind, 0)))
    draw = random.Random(kind)
    path = tmp_path / f"a.{kind}"
    refused = []
    for _ in range(60):
        damaged = bytearray(whole)
        place = draw.randrange(len(whole))
        how = draw.randrange(3)
        if how == 0:
            damaged[place] ^= 1 << draw.randrange(8)
        elif how == 1:
            del damaged[place:]
        else:
            damaged[place : place + draw.randint(0, 9)] = draw.randbytes(draw.randint(0, 9))
        path.write_bytes(damaged)
        try:
            read_table(path)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > (0 if kind == "csv" else 10)  # a damaged number of a csv counts as missing
    assert all(message.startswith(str(path)) for message in refused)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"ann,0\n", "pair 1 names 'ann', as 2 rows of X are called; give every row a name of its own"),
        (b"bob,7\n", "names '7', which is no row of Y; use the names"),
        (b"bob;1\n", "expected two columns, x and y, .*; separate them by a comma"),
        (b"\xff\xfe,1\n", "cannot be read as anchors .*; pass a csv file"),
        (b"n" * 140_000 + b",1\n", "cannot be read as anchors .*; pass a csv file"),
    ],
)
def test_odd_anchors_are_refused(tmp_path, content, words):
    (tmp_path / "a.csv").write_bytes(content)
    assert re.search(words, refusal(lambda: read_anchors(tmp_path / "a.csv", ["ann", "bob", "ann"], [0, 1, 2])))


def test_there_are_many_cases():
    files, sets = len(FILES), 2 * len(SETS) * len(CALLS)
    assert files + sets + len(PARAMETERS) * len(CALLS) + 2 * len(OF_MATCH) + len(OF_AUTO) >= 300
