"""Coarse to fine, for many objects."""

import os
import signal
import threading

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array, issparse

import pairup
from pairup.auto.canonical import Canonical
from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.multilevel import Found, choose_finalists, evidence
from pairup.auto.partners import match_all
from pairup.auto.posterior import predict_pairs
from pairup.auto.problem import Problem
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.solution import Solution
from pairup.auto.view import View
from pairup.storage import lies_in_file


def turned(n, seed=0):
    """Skewed data against themselves, turned into more dimensions, with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, 5)) * [5, 4, 3, 2, 1]
    Y = X @ np.linalg.qr(rng.normal(size=(8, 5)))[0].T + 0.02 * rng.normal(size=(n, 8))
    order = rng.permutation(n)
    return X, Y[order], np.argsort(order)


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Fewer clusters, landmarks and updates: enough for some hundred objects."""
    usual = {"clusters": 80, "landmarks": 300, "starts_per_clustering": 2, "polishings": 20, "polished": 400}
    usual |= {"settlings": 1, "settling_steps": 8, "geodesic_landmarks": 100, "populations": 1}
    kept = {name: getattr(MULTILEVEL, name) for name in usual}
    for name, value in usual.items():
        object.__setattr__(MULTILEVEL, name, value)
    yield
    for name, value in kept.items():
        object.__setattr__(MULTILEVEL, name, value)


@pytest.fixture(scope="module")
def solved(quick):
    X, Y, truth = turned(500)
    return X, Y, truth, pairup.match(X, Y, solver="multilevel")


def test_two_views_of_the_same_objects_are_paired_and_the_answer_knows_it(solved):
    _, _, truth, m = solved
    right = m.indices == truth
    assert right.mean() > 0.9
    assert m.reliable
    assert abs(m.reliability - right.mean()) < 0.2
    assert sorted(m.indices.tolist()) == list(range(500))


def test_probabilities_are_sparse_and_agree_with_the_confidence(solved):
    _, _, _, m = solved
    assert issparse(m.probabilities)
    own = m.probabilities[np.arange(500), m.indices]
    np.testing.assert_allclose(own, m.confidence)
    assert m.probabilities.sum(axis=1).max() <= 1 + 1e-9
    assert m.probabilities.sum(axis=0).max() <= 1 + 1e-9
    assert m.candidates(3)[0].shape == (500, 3)
    assert "searches found this pairing" in m.report


def test_order_origin_unit_and_the_first_set_change_nothing(solved):
    X, Y, _, m = solved
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(500), rng.permutation(5)
    other = pairup.match(Y, (4.0 * X + 3.0)[rows][:, columns], solver="multilevel")
    inverse = np.empty(500, dtype=int)
    inverse[other.indices] = np.arange(500)
    np.testing.assert_array_equal(m.indices[rows], inverse)


def test_unrelated_sets_are_not_believed():
    rng = np.random.default_rng(0)
    m = pairup.match(rng.normal(size=(400, 5)), rng.gamma(2.0, size=(420, 6)), solver="multilevel")
    assert m.reliable is False
    assert m.reliability < 0.2
    assert (m.indices >= 0).all()


def test_known_and_forbidden_pairs_and_a_sparse_prior_are_kept_to():
    X, Y, truth = turned(400, seed=1)
    prior = csr_array((np.ones(50), (np.arange(50), truth[:50])), shape=(400, 400))
    known, wrong = (7, int(truth[8])), (5, int(truth[5]))
    m = pairup.match(X, Y, solver="multilevel", anchors=[known], forbidden=[wrong], prior=prior)
    assert m.indices[7] == known[1]
    assert m.confidence[7] == 1.0
    assert m.indices[5] != wrong[1]
    assert m.probabilities[5, wrong[1]] == 0.0
    assert len(np.unique(m.indices[m.indices >= 0])) == (m.indices >= 0).sum() >= 399


def test_an_overlap_keeps_the_likeliest_pairs(solved):
    X, Y, truth, _ = solved
    m = pairup.match(X, Y, solver="multilevel", overlap=0.5)
    assert (m.indices >= 0).sum() == 250
    assert (m.indices == truth)[m.indices >= 0].mean() > 0.95


def test_equal_rows_get_a_word():
    X = np.ones((400, 3))
    m = pairup.match(X, np.random.default_rng(0).normal(size=(400, 3)), solver="multilevel")
    assert m.reliable is False
    assert "nothing tells them apart" in m.report
    assert issparse(m.probabilities)  # a dense matrix of 100,000 objects would not fit


@pytest.mark.parametrize("case", ["copies", "outliers", "few kinds", "few against many"])
def test_odd_sets_get_an_answer(case):
    X, Y, truth = turned(400, seed=3)
    order = np.argsort(truth)
    rng = np.random.default_rng(0)
    if case == "copies":  # half of the objects are one and the same
        X[200:], Y[truth[200:]] = X[0], Y[truth[0]]
    elif case == "outliers":
        X[40:], Y[truth[40:]] = 1e6 * rng.standard_cauchy(size=(360, 5)), 1e6 * rng.standard_cauchy(size=(360, 8))
    elif case == "few kinds":  # fewer than clusters
        kind = rng.integers(5, size=400)
        X, Y = X[kind], Y[truth[kind]][order]
    else:
        X, Y, truth = turned(1500, seed=3)
        X, truth = X[:300], truth[:300]
    m = pairup.match(X, Y, solver="multilevel")
    matched = m.indices[m.indices >= 0]
    assert len(np.unique(matched)) == len(matched) == len(X)
    if case == "few against many":
        assert (m.indices == truth).mean() > 0.5
    right = (m.indices == truth).mean()
    assert m.reliability < right + 0.2


def test_what_cannot_work_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ValueError, match="needs at least"):
        pairup.match(X, X, solver="multilevel")
    with pytest.raises(ValueError, match="takes tables"):
        pairup.match(np.zeros((400, 400)), np.zeros((400, 400)), metric="precomputed", solver="multilevel")
    with pytest.raises(ValueError, match="solver must be"):
        pairup.match(X, X, solver="quick")
    with pytest.raises(ValueError, match="solver can be used with method='auto' only"):
        pairup.match(X, X, method="lsom", solver="dense")


def test_the_share_of_searches_that_agree_is_evidence_and_finalists_differ():
    Y = np.arange(1000.0)[:, None]
    one, other, near = np.arange(1000), np.arange(1000)[::-1].copy(), np.roll(np.arange(1000), 3)
    found = [Solution(metric, indices, 1.0, 0.8, 32) for metric, indices in zip("abc", (one, other, near), strict=True)]
    agree = [True, False, True]
    np.testing.assert_allclose(evidence(Found(found[0], None, found, agree), 0.1), [0.1, 2 / 3])
    assert evidence(Found(found[0], None, found, agree), -1.0)[0] == 0
    assert choose_finalists(found, Y) == found[:2]


def test_maps_of_a_sample_lead_to_the_pairs_of_all():
    object.__setattr__(MULTILEVEL, "raced", 300)
    try:
        X, Y, truth = turned(700, seed=2)
        steps = []
        m = pairup.match(X, Y, solver="multilevel", callback=steps.append)
    finally:
        object.__setattr__(MULTILEVEL, "raced", 4000)
    assert (m.indices == truth).mean() > 0.9
    assert m.reliable
    assert {int((step.indices >= 0).sum()) for step in steps} == {300, 700}


def test_sets_in_files_and_threads_change_nothing(tmp_path, solved):
    X, Y, _, m = solved
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.asfortranarray(Y))
    mapped = [np.load(tmp_path / name, mmap_mode="r") for name in ("x.npy", "y.npy")]
    for other in (pairup.match(*mapped, solver="multilevel"), pairup.match(X, Y, solver="multilevel", n_jobs=2)):
        np.testing.assert_array_equal(other.indices, m.indices)
        np.testing.assert_array_equal(other.confidence, m.confidence)
        assert (other.probabilities != m.probabilities).nnz == 0
        assert other.report == m.report


def test_what_is_kept_of_mapped_sets_lies_in_files(tmp_path, rng):
    np.save(tmp_path / "x.npy", rng.normal(size=(400, 3)).astype(np.float32))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    problem = Problem.check(X, X, dense=False)
    assert problem.x.dtype == np.float32
    canonical = Canonical.of(problem).problem
    assert lies_in_file(canonical.x)
    view = View.fit("euclidean", np.asarray(canonical.x), np.asarray(canonical.y), 0)
    U = view.x.evaluate(canonical.x)
    A, B = CanonicalVariates.of(np.eye(8, dtype=np.float32), 8).images(U, U)
    assert all(map(lies_in_file, (U, A, B)))


@pytest.mark.filterwarnings("ignore")  # Dask warns of what it does with threads
def test_stages_that_grow_give_the_same_on_a_cluster_of_which_a_worker_is_killed(rng):
    distributed = pytest.importorskip("distributed")
    X = rng.gamma(2.0, size=(5000, 3)).astype(np.float32)
    view = View.fit("euclidean", X[:600], X[:600], 0)

    def stages():
        U = view.x.evaluate(X)
        return U, match_all(U[:, :6], U[::-1, :6].copy()), *predict_pairs(U, U, np.arange(len(U)), 8)

    here = stages()
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        with parallel_config("dask", client=client):
            threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
            there = stages()
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)
