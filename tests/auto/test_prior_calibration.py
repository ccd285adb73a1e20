from dataclasses import replace

import numpy as np
import pytest

from pairup.auto import Problem, solve
from pairup.auto.calibration import log_odds
from pairup.auto.consensus import Consensus, of_pairs
from pairup.auto.prior_calibration import (
    calibrate_both,
    calibrate_prior,
    features_by_prior,
    features_of_both,
    held_out_ratios,
    prior_probabilities,
    share_rest,
    sharpen_prior,
    tell_prior,
)
from pairup.auto.schedule import PRIOR_CALIBRATION
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.significance import Significance
from pairup.constraints import Constraints

N = 20


def near(closeness, n=N):
    """The prior of one number that both sets have, whose right pairs, i and i, agree the closer the larger it is."""
    place = np.linspace(0, 1, n)
    scores = -closeness * np.abs(place[:, None] - place)
    return Constraints(n, n, n, prior=(scores / np.abs(scores).max()).astype(np.float32), prior_unit=closeness)


def agreed(votes=1.0, log_ratio=1.0, n=N):
    """A consensus on the identity."""
    best = Candidate("cityblock", 0, 0.1, np.arange(n), 0.9)
    significance = Significance("cityblock", float(np.exp(log_ratio)), 1.0)
    coarse = [CoarseResult("cityblock", [best], 0.3)]
    return Consensus([best], np.ones(1), votes * np.eye(n), np.arange(n), [], 0.5, coarse, significance)


def test_probabilities_by_a_prior_in_nats_are_those_of_bayes():
    S = np.log([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    constraints = Constraints(3, 3, 3, prior=S.astype(np.float32), prior_unit=1.0)
    np.testing.assert_allclose(prior_probabilities(constraints), np.exp(S), rtol=1e-5)
    likelier = prior_probabilities(constraints, ratios=np.float32(1.0 + 9.0 * np.eye(3)))
    np.testing.assert_allclose(likelier, (8 * np.eye(3) + 0.1 - 0.1 * np.eye(3)) / 8.2, rtol=1e-5)
    squared = prior_probabilities(constraints, sharpness=2.0)
    np.testing.assert_allclose(np.diag(squared), 0.64 / 0.66, rtol=1e-5)
    known = prior_probabilities(replace(constraints, anchors=(np.array([0]), np.array([1]))))
    assert known[0, 1] == pytest.approx(1.0, abs=1e-3)
    wrong = prior_probabilities(replace(constraints, forbidden=(np.array([0]), np.array([0]))))
    assert wrong[0, 0] == 0.0


def test_a_matching_whose_pairs_agree_closely_sharpens_the_prior_and_a_random_one_blunts_it(rng):
    constraints, truth = near(4.0), np.arange(N)
    plain = of_pairs(prior_probabilities(constraints), truth).mean()
    assert of_pairs(sharpen_prior(constraints, truth), truth).mean() > 2 * plain
    shuffled = rng.permutation(N)
    assert of_pairs(sharpen_prior(constraints, shuffled), shuffled).mean() == pytest.approx(1 / N, abs=0.03)


def test_values_of_pairs_leave_objects_without_a_partner_out():
    assert of_pairs(np.arange(6.0).reshape(3, 2), np.array([1, -1, 0])).tolist() == [1.0, 4.0]


def test_features_are_the_vote_the_posterior_and_those_of_the_set():
    constraints, found = near(8.0), agreed(votes=0.7, log_ratio=0.4)
    posterior = prior_probabilities(constraints)
    table = features_of_both(found, posterior)
    np.testing.assert_allclose(table[:, 1], log_odds(np.diag(posterior), PRIOR_CALIBRATION.least_probability))
    weight = np.log(N)
    np.testing.assert_allclose(table[:, [0, 2, 3]], np.tile([0.7, 0.4 * weight, 0.7 * weight], (N, 1)))
    many = features_of_both(agreed(n=150), np.eye(150))
    assert many[0, 3] == pytest.approx(np.log(PRIOR_CALIBRATION.most_objects))
    assert features_by_prior(constraints, np.arange(N)).shape == (N, 2)


def test_what_a_matching_leaves_is_shared_and_forbidden_pairs_get_nothing():
    constraints = Constraints(4, 4, 4, forbidden=(np.array([0]), np.array([1])))
    likely = share_rest(np.full((4, 4), 0.25), np.arange(4), np.full(4, 0.7), constraints)
    np.testing.assert_allclose(likely.sum(axis=0), 1.0, atol=1e-3)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0, atol=1e-3)
    assert likely[0, 1] == 0.0
    np.testing.assert_allclose(np.diag(likely), 0.7, atol=0.05)
    partial = share_rest(np.full((3, 2), 0.3), np.array([0, 1, -1]), np.full(2, 0.9), Constraints(3, 2, 2))
    assert partial[2].sum() < 0.4  # the third of three has seldom a partner


def test_closer_columns_are_surer_alone_and_beside_a_search(rng):
    X = rng.normal(size=(N, 3))
    problem = Problem.check(X, np.exp(X))
    geometry = next(iter(problem.geometries()))
    blurred, close = near(3.0), near(300.0)
    expected = []
    for constraints in (blurred, close):
        indices, likely = calibrate_prior(constraints)
        np.testing.assert_array_equal(indices, np.arange(N))
        both = calibrate_both(agreed(), constraints, geometry)
        expected.append((np.diag(likely).mean(), np.diag(both).mean()))
    assert expected[0][0] < expected[1][0]
    assert expected[0][1] < expected[1][1]
    doubtful = calibrate_both(agreed(votes=0.2, log_ratio=-0.5), close, geometry)
    assert np.diag(doubtful).mean() < expected[1][1]
    assert f"about {expected[1][0]:.0%} of the pairs" in tell_prior(close)


def test_ratios_favour_the_pairs_of_a_true_matching(rng):
    X = rng.normal(size=(60, 2))
    geometry = next(iter(Problem.check(X, np.tanh(X)).geometries()))
    ratios = held_out_ratios(geometry, np.arange(60))
    assert np.median(np.diag(ratios)) > 5 * np.median(ratios)


def test_claims_with_common_columns_come_true(rng):
    claims, right = [], []
    n = 16
    for blur in (0.001, 1.0):
        order, common = rng.permutation(n), rng.uniform(size=(n, 2))
        measured = common + blur * rng.normal(size=(n, 2))
        scores = -np.log(np.abs(measured[:, None] - common[order]) + 1 / n).sum(axis=-1)
        X, Y = rng.normal(size=(2, n, 3))  # nothing but the common columns tells the pairs
        *_, answer = solve(Problem.check(X, Y, prior=scores, prior_in_nats=True))
        claims.append(answer.reliability)
        right.append((order[answer.indices] == np.arange(n)).mean())
        assert answer.reliable == (answer.reliability >= 0.5)
    assert right[0] > 0.8
    assert claims[0] > 0.6
    assert right[1] < 0.5
    assert claims[1] < 0.5
