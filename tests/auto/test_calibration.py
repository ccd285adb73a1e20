import numpy as np
import pytest

import pairup
from pairup.auto.calibration import assess, calibrate_votes, features, pair_probabilities
from pairup.auto.consensus import Consensus
from pairup.auto.schedule import CALIBRATION
from pairup.auto.search import Candidate, CoarseResult
from pairup.constraints import Constraints

N = 8


def consensus(value=0.9, null=0.3, rival=None, support=0.5, votes=None):
    """A consensus on the identity, by one metric."""
    best = Candidate("cityblock", 0, 0.1, np.arange(N), value)
    rivals = [] if rival is None else [(best, rival)]
    coarse = [CoarseResult("cityblock", [best], null)]
    return Consensus(
        [best], np.array([1.0]), np.eye(N) if votes is None else votes, np.arange(N), rivals, support, coarse
    )


def test_features_are_the_votes_the_evidence_and_their_products():
    table = features(np.array([0.0, 0.5]), consensus(value=0.8, null=0.6, rival=0.7, support=0.4))
    np.testing.assert_allclose(table[0], [0, 0.5, 0.7, 0.4, 0, 0, 0])
    np.testing.assert_allclose(table[1], [0.5, 0.5, 0.7, 0.4, 0.25, 0.35, 0.2])
    assert features(np.array([1.0]), consensus())[0, 2] == CALIBRATION.no_rival


def test_more_votes_more_excess_and_more_support_are_likelier_right():
    votes = np.linspace(0, 1, 11)
    likely = calibrate_votes(votes, consensus())
    assert (np.diff(likely) > 0).all()
    assert ((likely > 0) & (likely < 1)).all()
    assert calibrate_votes(votes, consensus(value=0.35))[-1] < likely[-1]
    assert calibrate_votes(votes, consensus(support=0.0))[-1] < likely[-1]


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
    fewer = pair_probabilities(consensus(votes=0 * votes + np.eye(N)), plan, Constraints(N, N, N // 2))
    assert (fewer.sum(axis=1) < 1).all()  # some of these objects have no partner


def test_what_no_vote_claims_goes_where_the_plan_lies():
    plan = np.full((N, N), 0.01, dtype=np.float32)
    plan[0, 3] = 0.9
    likely = pair_probabilities(consensus(votes=np.eye(N) * 0.1), plan, Constraints(N, N, N))
    assert likely[0].argmax() == 3
    assert likely[0].min() >= CALIBRATION.uniform_share / N * (1 - likely[0, 0])


@pytest.mark.parametrize(
    ("evidence", "confidence", "reason"),
    [
        ({"value": 0.4}, 0.9, "hardly better than that of unrelated data"),
        ({"rival": 0.98}, 0.9, "another solution explains the data as well"),
        ({}, 0.3, "too few pairs are found again"),
    ],
)
def test_each_doubt_alone_makes_a_matching_unreliable(evidence, confidence, reason):
    reliable, expected, report = assess(np.full(N, confidence), consensus(**evidence))
    assert not reliable
    assert expected == pytest.approx(confidence)
    last = report.splitlines()[-1]
    assert last.startswith("Do not rely on this matching: ")
    assert reason in last
    assert ";" not in last.partition(" (see")[0]  # and no other


def test_a_report_names_the_metric_and_the_alignment_of_unrelated_data():
    reliable, _, report = assess(np.full(N, 0.9), consensus())
    assert reliable
    assert report.splitlines() == [
        "About 90% of the pairs are expected to be right.",
        "On average 100% of the weighted candidates agree on a pair.",
        "Best metric: L1 on standardized columns. Alignment 0.90 (unrelated data: 0.30).",
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
