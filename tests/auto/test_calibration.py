from dataclasses import replace

import numpy as np
import pytest

import pairup
from pairup.auto.calibration import assess, calibrate_votes, features, impose_known, pair_probabilities
from pairup.auto.consensus import Consensus
from pairup.auto.schedule import CALIBRATION
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.significance import Significance
from pairup.constraints import Constraints

N = 8


def consensus(value=0.9, null=0.3, rival=None, support=0.5, votes=None, found=4.0):
    """A consensus on the identity, by one metric."""
    best = Candidate("cityblock", 0, 0.1, np.arange(N), value)
    rivals = [] if rival is None else [(best, rival)]
    coarse = [CoarseResult("cityblock", [best], null)]
    votes = np.eye(N) if votes is None else votes
    significance = Significance("cityblock", found, 2.0)
    return Consensus([best], np.array([1.0]), votes, np.arange(N), rivals, support, coarse, significance)


def test_features_are_the_votes_the_evidence_and_their_products():
    table = features(np.array([0.0, 0.5]), consensus(value=0.8, null=0.6, rival=0.7, support=0.4))
    of_set = np.array([0.5, np.log(2), 0.7, 0.4, 1 / N])
    np.testing.assert_allclose(table[0], [0, *of_set, *(0 * of_set)])
    np.testing.assert_allclose(table[1], [0.5, *of_set, *(0.5 * of_set)])
    assert features(np.array([1.0]), consensus())[0, 3] == CALIBRATION.no_rival


def test_more_votes_more_excess_and_more_support_are_likelier_right():
    votes = np.linspace(0, 1, 11)
    likely = calibrate_votes(votes, consensus())
    assert (np.diff(likely) > 0).all()
    assert ((likely > 0) & (likely < 1)).all()
    for weaker in ({"value": 0.35}, {"support": 0.0}, {"found": 2.0}):
        assert calibrate_votes(votes, consensus(**weaker))[-1] < likely[-1]


def test_little_is_claimed_of_few_objects_that_match_no_better_than_unrelated_ones():
    votes = np.eye(4)
    few = replace(consensus(), votes=votes)
    accident = replace(consensus(value=0.3, found=2.0), votes=votes)
    assert calibrate_votes(votes, accident).max() < 0.45 < calibrate_votes(votes, few).max() < 0.65
    assert calibrate_votes(np.eye(40), replace(consensus(), votes=np.eye(40))).max() > 0.9


def test_probabilities_sum_to_one_at_the_most_and_known_pairs_have_one(rng):
    votes = rng.dirichlet(np.ones(N), size=N)
    plan = rng.dirichlet(np.ones(N), size=N).astype(np.float32)
    constraints = Constraints(N, N, N, (np.array([2]), np.array([5])))
    likely = pair_probabilities(consensus(votes=votes), plan, constraints)
    assert (likely.sum(axis=1) <= 1 + 1e-9).all()
    assert likely[2].tolist() == np.eye(N)[5].tolist()
    assert np.delete(likely[:, 5], 2).max() == 0
    free = pair_probabilities(consensus(votes=votes), plan, Constraints(N, N, N))
    np.testing.assert_allclose(free.sum(axis=1), 1)
    np.testing.assert_allclose(free.sum(axis=0), 1, atol=2 * CALIBRATION.balanced)
    fewer = pair_probabilities(consensus(votes=0 * votes + np.eye(N)), plan, Constraints(N, N, N // 2))
    assert (fewer.sum(axis=1) < 1).all()  # some of these objects have no partner


def test_what_no_vote_claims_goes_where_the_plan_lies():
    plan = np.full((N, N), 0.01, dtype=np.float32)
    plan[0, 3] = 0.9
    likely = pair_probabilities(consensus(votes=np.eye(N) * 0.1), plan, Constraints(N, N, N))
    assert likely[0].argmax() == 3
    assert likely[0].min() >= 0.5 * CALIBRATION.uniform_share / N * (1 - likely[0, 0])


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ({"value": 0.4, "found": 2.1}, "hardly more dependent than those found in unrelated data"),
        ({"rival": 0.98}, "another solution explains the data as well"),
        ({}, "too few pairs are found again"),
    ],
)
def test_a_matching_with_few_expected_pairs_is_not_reliable_and_the_report_says_why(evidence, reason):
    reliable, expected, report = assess(np.full(N, 0.3), consensus(**evidence))
    assert not reliable
    assert expected == pytest.approx(0.3)
    last = report.splitlines()[-1]
    assert last.startswith("Do not rely on this matching: ")
    assert reason in last
    assert ";" not in last.partition(" (see")[0]  # and no other


@pytest.mark.parametrize("evidence", [{}, {"value": 0.4, "found": 2.1}, {"rival": 0.98}])
def test_verdict_and_claim_never_contradict_each_other(evidence):
    for expected in (0.02, 0.49, 0.51, 0.98):
        reliable, claimed, report = assess(np.full(N, expected), consensus(**evidence))
        assert reliable == (claimed >= 0.5) == ("Do not rely" not in report)


def test_a_report_names_the_metric_and_the_alignment_of_unrelated_data():
    reliable, _, report = assess(np.full(N, 0.9), consensus())
    assert reliable
    assert report.splitlines() == [
        "About 90% of the pairs are expected to be right.",
        "On average 100% of the weighted candidates agree on a pair.",
        "Best metric: L1 on standardized columns. Alignment 0.90 (unrelated data: 0.30).",
        "Held-out score 4.00 (unrelated data: 2.00).",
        "The data identify the pairing; see `confidence` for single pairs.",
    ]


def test_expected_and_actual_shares_of_right_pairs_agree_on_generated_relations(skewed):
    """Over noise levels from none to much, the mean claim is near the mean truth."""
    claims, right = [], []
    for seed, noise in enumerate((0.02, 0.3, 1.0, 3.0)):
        X, Y, truth = skewed(np.random.default_rng(seed), n=40, noise=noise)
        m = pairup.match(X, Y)
        claims.append(m.reliability)
        right.append((m.indices == truth).mean())
    assert np.mean(claims) == pytest.approx(np.mean(right), abs=0.2)
    assert np.corrcoef(claims, right)[0, 1] > 0.8


def test_known_pairs_are_certain():
    known = impose_known(np.full((3, 3), 0.3), Constraints(3, 3, 3, anchors=(np.array([0]), np.array([2]))))
    np.testing.assert_array_equal(known, [[0, 0, 1], [0.3, 0.3, 0], [0.3, 0.3, 0]])
