"""How near partners are expected to the true ones."""

from types import SimpleNamespace

import numpy as np
import pytest

import pairup
from pairup.auto.geometry import GeometryPair
from pairup.auto.nearness import disagreements, expected_nearness, shares_between
from pairup.auto.schedule import NEARNESS
from pairup.kernels import squared_distances

N = NEARNESS.fewest


def consensus(indices, candidates, scores=None):
    """A consensus of these candidates; the coarse search of two metrics found the first and the last."""
    each = [SimpleNamespace(indices=p) for p in candidates]
    coarse = [SimpleNamespace(candidates=[c], excess=0.5) for c in (each[0], each[-1])]
    scores = np.ones(len(each)) if scores is None else np.array(scores)
    return SimpleNamespace(indices=indices, candidates=each, scores=scores, coarse=coarse)


@pytest.fixture
def geometry(rng):
    D = squared_distances(rng.normal(size=(N, 2)))
    return GeometryPair("euclidean", D, D)


def test_shares_are_those_of_a_count(rng):
    D = squared_distances(rng.normal(size=(9, 2)))
    p, q = rng.permutation(9), rng.permutation(9)
    counted = np.mean([(D[p[i]] < D[p[i], q[i]]).sum() / 8 for i in range(9)])
    assert shares_between(p, [q], D)[0] == pytest.approx(counted)
    q[:] = -1
    assert shares_between(p, [q], D).tolist() == [0.5]


def test_candidates_that_agree_lie_near_and_random_ones_at_chance(rng, geometry):
    p = rng.permutation(N)
    assert disagreements(consensus(p, [p, p]), geometry) == (0.0, 0.0)
    random = [rng.permutation(N) for _ in range(30)]
    assert disagreements(consensus(p, random), geometry)[0] == pytest.approx(0.5, abs=0.04)
    assert expected_nearness(consensus(p, [p, p]), geometry) < 0.1
    assert expected_nearness(consensus(p, random), geometry) > 0.45


def test_poor_candidates_count_little_and_both_sets_alike(rng, geometry):
    p, q = rng.permutation(N), rng.permutation(N)
    even, poor = (disagreements(consensus(p, [p, q], s), geometry)[0] for s in ([1.0, 1.0], [1.0, 0.5]))
    assert poor < 0.05 * even
    turned = consensus(np.argsort(p), [np.argsort(p), np.argsort(q)])
    np.testing.assert_allclose(disagreements(turned, geometry), disagreements(consensus(p, [p, q]), geometry))


def test_the_report_says_that_groups_are_identified_where_single_pairs_are_not():
    rng = np.random.default_rng(3)
    kind = np.repeat(np.arange(4), (10, 20, 35, 55))
    X, Y = (3 * rng.normal(size=(4, d))[kind] + 0.3 * rng.normal(size=(120, d)) for d in (6, 9))
    m = pairup.match(X, Y)
    assert not m.reliable
    assert m.nearness <= NEARNESS.told_up_to
    assert f"among the {m.nearness:.0%} nearest" in m.verdict
    assert pairup.Matching.__dataclass_fields__["nearness"].default is None


def test_nothing_of_the_kind_is_said_of_unrelated_sets():
    rng = np.random.default_rng(0)
    m = pairup.match(rng.normal(size=(100, 4)), rng.gamma(2.0, size=(100, 5)))
    assert m.nearness > NEARNESS.told_up_to
    assert "nearest to the true" not in m.report
    few = pairup.match(rng.normal(size=(20, 4)), rng.gamma(2.0, size=(20, 5)))
    assert few.nearness is None
