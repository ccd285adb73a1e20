"""What `match` answers does not drift unnoticed: recorded answers on sets of every kind of input.

Who changes an answer on purpose records it anew. Tolerances are those of other builds of the linear algebra.
"""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import pairup
from pairup.datasets import shuffle_pair


def related(seed, n=40):
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    Y = Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T + 0.02 * rng.normal(size=(n, 7))
    return shuffle_pair(Z, Y, seed)


def tables():
    X, Y, truth = related(0)
    return truth, pairup.match(X, Y)


def cosine():
    X, Y, truth = related(1)
    return truth, pairup.match(X, Y, metric="cosine")


def precomputed():
    X, Y, truth = related(2)
    return truth, pairup.match(cdist(X, X), cdist(Y, Y), metric="precomputed")


def anchors():
    X, Y, truth = related(3)
    known = [(i, int(truth[i])) for i in (0, 5)]
    return truth, pairup.match(X, Y, anchors=known, metric="euclidean")


def unequal():
    X, Y, truth = related(4)
    return truth, pairup.match(X, Y[:30], metric="euclidean")


def overlap():
    X, Y, truth = related(5)
    return truth[:30], pairup.match(X[:30], Y, overlap="auto", metric="euclidean")


def prior():
    X, Y, truth = related(7)
    scores = -np.abs(np.subtract.outer(np.arange(40), np.argsort(truth)))
    return truth, pairup.match(X, Y, prior=scores, metric="euclidean")


def six_objects():
    X, Y, truth = related(6, 6)
    return truth, pairup.match(X, Y)


@pytest.mark.parametrize(
    ("case", "right", "reliability", "reliable", "dependence", "n_pairs"),
    [
        (tables, 1.0, 0.9997, True, 0.9908, 40),
        (cosine, 1.0, 0.9997, True, 0.9910, 40),
        (precomputed, 1.0, 0.9997, True, 0.9894, 40),
        (anchors, 1.0, 0.9997, True, 0.9911, 40),
        (unequal, 0.725, 0.9006, True, 0.7048, 30),
        (overlap, 0.9667, 0.9667, True, 0.7368, 29),
        (prior, 1.0, 0.9966, True, 0.9891, 40),
        (six_objects, 1.0, 0.5663, True, 0.9826, 6),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_recorded_answers_stay(case, right, reliability, reliable, dependence, n_pairs):
    truth, m = case()
    assert (m.indices == truth).mean() == pytest.approx(right, abs=0.04)
    assert m.reliability == pytest.approx(reliability, abs=0.005)
    assert m.reliable is reliable
    assert m.dependence == pytest.approx(dependence, abs=0.002)
    assert m.n_pairs == n_pairs


@pytest.mark.parametrize(
    ("method", "right", "dependence"),
    [("lsom", 1.0, 0.2620), ("ks-hsic", 1.0, 74.13), ("ks-nocco", 1.0, 0.5195), ("ks-mi", 1.0, 62.155)],
)
def test_recorded_answers_of_the_paper_stay(method, right, dependence):
    X, Y, truth = related(8)
    m = pairup.match(X, Y, method=method)
    assert (m.indices == truth).mean() == pytest.approx(right, abs=0.04)
    assert m.dependence == pytest.approx(dependence, rel=0.002)
