import numpy as np
import pytest

from pairup.auto.consensus import form_consensus, median_scores, partner_similarity, weigh_by_prior
from pairup.auto.search import Candidate, CoarseResult
from pairup.constraints import Constraints, weigh_prior
from pairup.kernels import squared_distances


def test_partners_of_the_same_kind_are_alike(rng):
    Y = np.repeat([[0.0], [10.0]], 10, axis=0) + 0.01 * rng.normal(size=(20, 1))
    L = np.exp(-squared_distances(Y))
    same = np.r_[rng.permutation(10), 10 + rng.permutation(10)]
    also = np.r_[rng.permutation(10), 10 + rng.permutation(10)]
    swapped = np.r_[10 + rng.permutation(10), rng.permutation(10)]
    alike = partner_similarity([same, also, swapped], L)
    assert alike[0, 1] > 0.99
    assert alike[0, 2] < -0.99


def test_the_models_in_the_middle_of_the_weights_decide():
    J = np.array([[-1.0, -1.0, -0.2, -0.1], [-0.5, -0.6, -1.0, -1.0]])
    assert median_scores(J, np.array([1.0, 1.0, 1.0, 0.0]))[0] > 0.9  # a weak model hardly moves the middle
    assert median_scores(J, np.array([0.0, 1.0, 9.0, 9.0]))[0] < 0.3
    np.testing.assert_allclose(median_scores(J[:, :2], np.array([3.0, 1.0])), [1.0, 0.525])


def test_the_best_candidates_vote_and_rivals_are_kept(rng):
    n = 30
    truth, mirror = np.arange(n), np.arange(n)[::-1]
    Y = np.sort(rng.normal(size=(n, 1)), axis=0)
    candidates = [
        Candidate("a", 0, 0.1, truth, 1.0),
        Candidate("b", 0, 0.1, truth, 1.0),
        Candidate("a", 1, 0.1, mirror, 1.0),
    ]
    J = np.array([[-5.0], [-4.9], [-3.0]])
    constraints = Constraints(n, n, n)
    looks = [
        CoarseResult(metric, [Candidate(metric, 0, 0.1, p, 1.0)], 0.0) for metric, p in (("a", mirror), ("b", truth))
    ]
    decided = form_consensus(candidates, J, np.ones(1), np.exp(-squared_distances(Y)), constraints, looks)
    np.testing.assert_array_equal(decided.indices, truth)
    assert decided.votes[np.arange(n), truth].min() > 0.8
    np.testing.assert_array_equal(decided.rivals[0][0].indices, mirror)
    assert decided.support == pytest.approx(1.0)  # by the metric that is not the winner's own


def test_a_mirror_image_has_no_vote(rng):
    n = 30
    truth, mirror = np.arange(n), np.arange(n)[::-1]
    Y = np.sort(rng.normal(size=(n, 1)), axis=0)
    of_truth, of_mirror = (Candidate("a", k, 0.1, p, 1.0) for k, p in enumerate((truth, mirror)))
    candidates = [of_truth, of_mirror, of_mirror, of_mirror]
    J = np.array([[-5.0], [-4.9], [-4.9], [-4.9]])
    decided = form_consensus(candidates, J, np.ones(1), np.exp(-squared_distances(Y)), Constraints(n, n, n), [])
    np.testing.assert_array_equal(decided.indices, truth)


def test_the_joint_geometry_has_to_be_better_by_its_penalty(rng):
    n = 20
    one, other = rng.permutation(n), rng.permutation(n)
    constraints = Constraints(n, n, n)
    similarity = np.eye(n)
    for J, first in (([[-5.0], [-5.0]], "a"), ([[-5.0], [-6.0]], "joint")):
        candidates = [Candidate("a", 0, 0.1, one, 1.0), Candidate("joint", 0, 0.1, other, 1.0)]
        decided = form_consensus(candidates, np.array(J), np.ones(1), similarity, constraints, [])
        assert decided.candidates[0].metric == first


def test_a_prior_in_nats_weighs_candidates_by_their_likelihood():
    prior = np.eye(4, dtype=np.float32)
    constraints = Constraints(4, 4, 4, prior=prior, prior_unit=2.0)
    matchings = [np.array([1, 0, 3, 2]), np.arange(4), np.array([0, 1, 3, 2])]
    scores = weigh_by_prior(np.array([1.0, 0.5, 0.5]), matchings, constraints)
    np.testing.assert_allclose(scores, np.array([1.0, 0.5 * np.exp(2.0), 0.5 * np.exp(1.0)]) / (0.5 * np.exp(2.0)))
    raised = weigh_by_prior(np.array([1.0, 0.5, 0.5]), matchings, constraints, unrelated=1.2)  # no dependence at all
    np.testing.assert_allclose(raised, np.exp([-2.0, 0.0, -1.0]))
    doubled = weigh_prior(constraints, 5.0)  # another weight in the search, the same likelihood
    np.testing.assert_allclose(weigh_by_prior(np.array([1.0, 0.5, 0.5]), matchings, doubled), scores, rtol=1e-6)
