import numpy as np
import pytest
from scipy.sparse import csr_array

import pairup
from pairup.auto.metrics import is_unscaled
from pairup.auto.problem import Problem
from pairup.kernels import rescale, squared_distances


def test_directions_of_one_column_are_not_believed(rng):
    m = pairup.match(1 + rng.random((20, 1)), rng.normal(size=(20, 3)), metric="cosine")
    assert not m.reliable
    assert "equal" in m.report


def test_angles_are_compared_with_unrelated_angles(rng):
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 4))
    assert next(Problem.check(X, Y, metric="cosine").geometries()).on_sphere
    assert not next(Problem.check(X, Y, metric="euclidean").geometries()).on_sphere


def test_sets_without_variation_are_not_believed(rng):
    m = pairup.match(np.ones((20, 3)), rng.normal(size=(20, 2)))
    assert m.reliable is False
    assert "all objects of X are equal" in m.report
    assert sorted(m.indices.tolist()) == list(range(20))


@pytest.mark.parametrize("metric", ["auto", "cosine", "euclidean"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(("far", "spread"), [(1e6, 1e-7), (1.7e9, 1e-3), (0.0, 1e-170)])
def test_sets_with_hardly_any_variation_are_not_believed(rng, far, spread, columns, metric):
    still = far + spread * rng.normal(size=(12, columns))
    for sets in ((still, rng.normal(size=(12, 3))), (rng.normal(size=(12, 3)), still)):
        m = pairup.match(*sets, metric=metric)
        assert m.reliable is False
        assert np.isfinite(m.confidence).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": [(0, 99)]}, r"the anchor \(0, 99\) is out of range"),
        ({"anchors": [(0, 1), (0, 1)]}, "given twice"),
        ({"anchors": [(0, 1), (0, 2)]}, "x 0 the partners 1 and 2"),
        ({"anchors": [(0, 1), (2, 1)]}, "y 1 the partners 0 and 2"),
        ({"anchors": [(0.5, 1)]}, "pairs"),
        ({"forbidden": [(0, 99)]}, r"the forbidden pair \(0, 99\) is out of range"),
        ({"forbidden": [(0, 1)], "anchors": [(0, 1)]}, r"the pair \(0, 1\) is among the anchors and forbidden too"),
        ({"forbidden": [(2, j) for j in range(20)]}, "no y is left for x 2; forbid fewer, or pass overlap=0.95"),
        ({"forbidden": [(i, 3) for i in range(20)]}, "no x is left for y 3; forbid fewer"),
        ({"forbidden": [(i, j) for i in range(12) for j in range(10)]}, "18 of the 20 pairs .* overlap=0.9 to leave"),
        ({"forbidden": [(i, j) for i in range(20) for j in range(20)], "overlap": "auto"}, "0 of the 1 pairs"),
        ({"forbidden": [(0, 1)], "method": "lsom"}, "forbidden can be used with method='auto' only"),
        ({"prior": np.ones((3, 3))}, r"\(20, 20\), got shape \(3, 3\)"),
        ({"prior": np.full((20, 20), np.nan)}, "prior contains NaN"),
        ({"prior_weight": 1.0}, "come with a prior"),
        ({"overlap": 0.0}, r"\(0, 1\], got 0.0"),
        ({"overlap": 1.5}, r"\(0, 1\], got 1.5"),
        ({"overlap": "most"}, "or 'auto', got 'most'"),
        ({"metric": "manhattan"}, "got 'manhattan'"),
        ({"metric": "precomputed"}, "symmetric distance matrix"),
        ({"kernel": "rbf"}, "'precomputed', got 'rbf'"),
        ({"method": "ks-hsic", "overlap": 0.5}, "overlap can be used with method='auto' only"),
    ],
)
def test_bad_arguments_are_refused(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        pairup.match(rng.normal(size=(20, 3)), rng.normal(size=(20, 4)), **arguments)


def test_precomputed_kernels_are_distances(rng):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(9, 2))
    problem = Problem.check(X @ X.T, Y @ Y.T, kernel="precomputed")
    for distances, Z in ((problem.x, X), (problem.y, Y)):
        unit = rescale(Z @ Z.T)[0, 0] / (Z @ Z.T)[0, 0]
        np.testing.assert_allclose(distances, unit * squared_distances(Z), atol=1e-9)
    assert problem.sets is None
    assert [pair.metric for pair in problem.geometries()] == ["precomputed", "geodesic"]
    assert list(problem.further_geometries()) == []


def test_tables_are_compared_by_every_metric_that_suits_them(rng):
    def metrics(n, d, e):
        problem = Problem.check(rng.normal(size=(n, d)), rng.normal(size=(n, e)))
        return [pair.metric for pair in problem.geometries()]

    assert metrics(40, 3, 4) == ["euclidean", "cityblock", "partially-whitened", "ranks", "cosine", "geodesic"]
    assert metrics(40, 1, 1) == ["euclidean", "ranks", "geodesic"]
    assert metrics(40, 2, 101) == ["euclidean", "cityblock", "partially-whitened", "geodesic"]
    assert "geodesic" not in metrics(15, 3, 3)


def test_components_of_unscaled_columns_are_compared_last_and_only_of_many_objects(rng):
    def unscaled(n):
        problem = Problem.check(rng.normal(size=(n, 3)) * [3, 2, 1], rng.normal(size=(n, 3)))
        return [is_unscaled(pair.metric) for pair in problem.further_geometries()]

    assert not any(unscaled(199))
    last = unscaled(200)
    assert last[-1]
    assert last == sorted(last)


def test_a_sparse_prior_stays_sparse_where_no_matrix_of_all_pairs_is_formed(rng):
    X = rng.normal(size=(6, 2))
    prior = csr_array(np.diag([0.5, 0.0, -0.25, 0.0, 0.0, 0.0]))
    sparse = Problem.check(X, X, prior=prior, dense=False).constraints
    assert sparse.prior is None
    assert sparse.sparse_prior.diagonal().tolist() == [1.0, 0.0, -0.5, 0.0, 0.0, 0.0]
    dense = Problem.check(X, X, prior=prior).constraints
    assert dense.sparse_prior is None
    np.testing.assert_array_equal(dense.prior, Problem.check(X, X, prior=prior.toarray()).constraints.prior)
