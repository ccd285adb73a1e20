import io
import json
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import pairup
from pairup.saved_matching import PART, load_fields


def make_matching(n=50, m=60, *, names=None, dtype=np.float64, sets=True):
    """Return a matching with three likely partners for each object."""
    rng = np.random.default_rng(0)
    indices = rng.permutation(m)[:n]
    columns = np.sort((indices[:, None] + [0, 1, 7]) % m, axis=1)
    data = np.full((n, 3), 0.2, dtype=dtype)
    data[columns == indices[:, None]] = 0.5
    P = csr_array((data.ravel(), columns.ravel(), np.arange(0, 3 * n + 1, 3)), shape=(n, m))
    return pairup.Matching(
        indices,
        "auto",
        1.0,
        None,
        [],
        names or (list(range(n)), list(range(m))),
        confidence=np.full(n, 0.5),
        probabilities=P,
        reliable=True,
        reliability=0.5,
        report="About 50% of the pairs are expected to be right.",
        alternatives=[pairup.result.Alternative(indices[::-1].copy(), 0.9, 0.1)],
        sets=(rng.normal(size=(n, 2)), rng.normal(size=(m, 3))) if sets else None,
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_probabilities_are_saved_as_they_are(tmp_path, dtype):
    m = make_matching(dtype=dtype)
    m.save(tmp_path / "m.npz")
    again = pairup.Matching.load(tmp_path / "m.npz")
    assert again == m
    assert hash(again) == hash(m)
    assert again.probabilities.nnz == 150
    assert again.to_dict() == m.to_dict()
    for one, other in zip(again.candidates(4), m.candidates(4), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.expected_partner("y"), m.expected_partner("y"))
    assert again.alternatives[0].score == 0.9
    assert pickle.loads(pickle.dumps(m)) == m
    assert m != replace(m, probabilities=2 * m.probabilities)
    assert m == replace(m, probabilities=m.probabilities.toarray())


def test_any_sparse_matrix_can_be_saved(tmp_path):
    m = make_matching()
    other = replace(m, probabilities=coo_array(m.probabilities))
    other.save(tmp_path / "m.npz")
    assert pairup.Matching.load(tmp_path / "m.npz") == m


def test_sparse_probabilities_answer_as_dense_ones_do():
    m = make_matching()
    dense = replace(m, probabilities=m.probabilities.toarray())
    np.testing.assert_array_equal(m.candidates(3)[0], dense.candidates(3)[0])
    assert (m.candidates(5)[0][:, 3:] == -1).all()
    for of in ("x", "y"):
        np.testing.assert_allclose(m.expected_partner(of), dense.expected_partner(of))
    assert m.with_names([f"a{i}" for i in range(50)], range(60)).to_frame().shape == (50, 3)
    assert "50 pairs" in m._repr_html_()


def test_many_names_go_into_several_texts(tmp_path):
    n = PART + 3
    names = ([f"name {i}" for i in range(n)], list(range(n)))
    m = make_matching(n, n, names=names, sets=False)
    m.save(tmp_path / "m.npz")
    again = load_fields(tmp_path / "m.npz")
    assert again["names"] == names
    with np.load(tmp_path / "m.npz") as file:
        assert {"x_names_1", "y_names_1"} < set(file.files)


def test_too_long_names_are_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("pairup.archives.MOST_TEXT", 1000)
    with pytest.raises(ValueError, match=r"cannot save .* names have \d+ characters, at most 1000 can be read again"):
        make_matching(names=(["long" * 20] * 50, list(range(60)))).save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


def test_memory_is_linear_in_the_number_of_objects(tmp_path):
    m = make_matching(40_000, 40_000)
    tracemalloc.start()
    m.save(tmp_path / "m.npz")
    again = pairup.Matching.load(tmp_path / "m.npz")
    again.candidates(5)
    again.expected_partner()
    assert again == m
    assert len(again.to_csv()) > 40_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8  # dense probabilities would take 12.8 GB


def corrupt(path, **changes):
    """Change arrays of a saved file; None takes one out."""
    with np.load(path) as file:
        arrays = dict(file) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"probabilities_indptr": np.zeros(50, dtype=int)}, r"should have the shape \(51\), got \(50\)"),
        ({"probabilities_indptr": np.arange(51)}, r"probabilities_indices should have the shape \(50\), got \(150\)"),
        ({"probabilities_indptr": np.r_[0, 9, 6, np.arange(9, 151, 3)][:51]}, "should rise from 0"),
        ({"probabilities_indptr": np.r_[-3, np.arange(3, 151, 3)]}, "should rise from 0"),
        ({"probabilities_indices": np.full(150, 60)}, "should lie between 0 and 59, got 60 to 60"),
        ({"probabilities_indices": np.full(150, -1)}, "should lie between 0 and 59"),
        ({"probabilities_indices": np.zeros(150, dtype=int)}, "should rise in every row"),
        ({"probabilities_indices": np.zeros(150)}, "should hold whole numbers"),
        ({"probabilities_data": np.full(150, 2.0)}, "probabilities_data should lie between"),
        ({"probabilities_data": np.full(150, np.nan)}, "probabilities_data should lie between"),
        ({"probabilities_data": np.zeros(149)}, r"should have the shape \(150\)"),
        ({"probabilities_data": None}, "it lacks probabilities_data"),
        ({"probabilities_indptr": None}, "it lacks probabilities_indptr"),
        ({"probabilities": np.zeros((50, 60))}, "dense probabilities and sparse ones"),
        ({"x_names_0": None}, "it lacks x_names_0"),
        ({"x_names_0": np.array("[[]]")}, "should be a list of texts and numbers"),
        ({"x_names_0": np.array("[1, 2]")}, r"indices should have the shape \(2\), got \(50\)"),
    ],
)
def test_every_part_of_a_sparse_matching_is_checked(changes, reason, tmp_path):
    make_matching().save(tmp_path / "m.npz")
    corrupt(tmp_path / "m.npz", **changes)
    with pytest.raises(ValueError, match=rf"m\.npz is not a saved matching \(.*{reason}"):
        pairup.Matching.load(tmp_path / "m.npz")


@pytest.mark.parametrize(("field", "value"), [("parts", [10**9, 1]), ("parts", [-1, 1]), ("parts", [1]), ("format", 1)])
def test_headers_that_lie_are_refused(field, value, tmp_path):
    make_matching().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as file:
        header = json.loads(str(file["header"])) | {field: value}
    corrupt(tmp_path / "m.npz", header=np.array(json.dumps(header)))
    with pytest.raises(ValueError, match=r"m\.npz is not a saved matching"):
        pairup.Matching.load(tmp_path / "m.npz")


def test_entries_that_the_file_does_not_have_take_no_memory(tmp_path):
    make_matching().save(tmp_path / "m.npz")
    corrupt(tmp_path / "m.npz", probabilities_indptr=np.r_[np.zeros(50, dtype=int), 2**40 - 1])
    tracemalloc.start()
    with pytest.raises(ValueError, match="probabilities_indices should have the shape"):
        pairup.Matching.load(tmp_path / "m.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


def test_rows_may_be_empty_and_begin_with_any_column(tmp_path):
    P = csr_array(np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.5, 0.25, 0.0], [0.0, 0.0, 0.0]]))
    m = pairup.Matching(np.array([2, -1, 0, -1]), "auto", 0.0, None, [], (list("abcd"), [0, 1, 2]), probabilities=P)
    m.save(tmp_path / "m.npz")
    assert pairup.Matching.load(tmp_path / "m.npz") == m
    none = replace(m, probabilities=csr_array((4, 3)))
    none.save(tmp_path / "none.npz")
    assert pairup.Matching.load(tmp_path / "none.npz").candidates(2)[0].tolist() == [[-1, -1]] * 4


def test_files_open_without_pickle(tmp_path):
    make_matching().save(tmp_path / "m.npz")
    with np.load(io.BytesIO((tmp_path / "m.npz").read_bytes()), allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)
