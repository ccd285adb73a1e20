from dataclasses import replace

import numpy as np
import pytest

import pairup
from pairup.auto.calibration import (
    assess,
    calibrate,
    features,
    impose_known,
    log_odds,
    pair_probabilities,
    share_among_ties,
)
from pairup.auto.consensus import Consensus
from pairup.auto.schedule import CALIBRATION
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.significance import Significance
from pairup.constraints import Constraints

N = 8


def consensus(value=0.9, null=0.3, rival=None, support=0.5, votes=None, found=4.0, plan=None):
    """A consensus on the identity, by one metric."""
    best = Candidate("cityblock", 0, 0.1, np.arange(N), value)
    rivals = [] if rival is None else [(best, rival)]
    coarse = [CoarseResult("cityblock", [best], null)]
    votes = np.eye(N) if votes is None else votes
    significance = Significance("cityblock", found, 2.0)
    return Consensus([best], np.array([1.0]), votes, np.arange(N), rivals, support, coarse, significance, plan)


def test_features_are_votes_plan_significance_and_the_log_odds_of_both_means():
    both = consensus(votes=0.5 * np.eye(N), plan=(0.25 * np.eye(N)).astype(np.float32))
    table = features(np.array([0.0, 0.5]), np.array([0.1, 0.2]), both)
    of_set = [np.log(2) * (N / 100) ** 0.5, 0.0, np.log(1 / 3)]
    np.testing.assert_allclose(table, [[0, 0.1, *of_set], [0.5, 0.2, *of_set]], atol=1e-12)
    np.testing.assert_allclose(features(np.array([0.5]), None, both), [[0.5, *of_set[:2]]], atol=1e-12)


@pytest.mark.parametrize("plan", [None, np.eye(N, dtype=np.float32) * 0.6])
def test_more_votes_more_of_the_plan_and_better_scores_are_likelier_right(plan):
    shares = np.linspace(0, 1, 11)
    of_plan = None if plan is None else np.full(11, 0.6)
    likely = calibrate(shares, of_plan, consensus(plan=plan))
    assert (np.diff(likely) > 0).all()
    assert ((likely > 0) & (likely < 1)).all()
    for weaker in ({"found": 2.0}, {"votes": np.eye(N) * 0.3}):
        assert calibrate(shares, of_plan, consensus(plan=plan, **weaker))[-1] < likely[-1]
    if plan is not None:
        assert (np.diff(calibrate(of_plan, shares, consensus(plan=plan))) > 0).all()
        assert calibrate(shares, of_plan, consensus(plan=0.3 * plan))[-1] < likely[-1]


def test_a_solution_beside_an_equally_good_one_is_half_as_likely():
    assert share_among_ties(consensus()) == 1.0
    assert share_among_ties(consensus(rival=1.0)) == 0.5
    assert share_among_ties(consensus(rival=0.95)) > 0.999
    alone, tied = (calibrate(np.ones(1), None, each) for each in (consensus(), consensus(rival=1.0)))
    assert tied < alone


def test_little_is_claimed_of_few_objects_that_match_no_better_than_unrelated_ones():
    def claim(n, **evidence):
        same = Candidate("cityblock", 0, 0.1, np.arange(n), 0.9)
        several = replace(
            consensus(votes=np.eye(n), plan=np.eye(n, dtype=np.float32), **evidence), candidates=[same],
            indices=np.arange(n),
        )  # fmt: skip
        return calibrate(np.ones(1), np.ones(1), several)[0]

    assert claim(4, value=0.3, found=2.0) < 0.45 < claim(4) < 0.65
    assert claim(40) > 0.9


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


def test_the_chosen_pairs_are_as_likely_as_calibrated_whatever_the_others(rng):
    votes = 0.5 * np.eye(N) + 0.5 * rng.dirichlet(np.ones(N), size=N)
    plan = rng.dirichlet(np.ones(N), size=N).astype(np.float32)
    found = consensus(votes=votes)
    likely = pair_probabilities(found, plan, Constraints(N, N, N))
    np.testing.assert_allclose(np.diag(likely), calibrate(np.diag(votes), None, found))
    np.testing.assert_allclose(likely.sum(axis=0), 1, atol=2 * CALIBRATION.balanced)
    np.testing.assert_allclose(likely.sum(axis=1), 1)


def test_what_no_vote_claims_goes_where_the_plan_lies():
    plan = np.full((N, N), 0.01, dtype=np.float32)
    plan[0, 3] = 0.9
    likely = pair_probabilities(consensus(votes=np.eye(N) * 0.1, found=2.0), plan, Constraints(N, N, N))
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


def test_the_report_says_how_surely_random_halves_lead_to_the_pairs():
    report = assess(np.full(N, 0.9), consensus(plan=np.full((N, N), 0.25, dtype=np.float32)))[2]
    assert "Random halves of the pairs lead back to a pair with 25% on average." in report.splitlines()


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


def test_log_odds_are_bounded():
    np.testing.assert_allclose(log_odds(np.array([0.0, 0.2, 1.0]), 0.01), [-np.log(99), np.log(0.25), np.log(99)])
