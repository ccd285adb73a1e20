import numpy as np
import pytest

from pairup.auto.answer import answer_by_prior, keep_likeliest, undecided_answer
from pairup.auto.problem import Problem
from pairup.auto.solver import solve
from pairup.constraints import Constraints


def test_the_likeliest_pairs_and_the_known_ones_are_kept(rng, skewed):
    X, Y, _ = skewed(rng)
    *_, answer = solve(Problem.check(X, Y))
    least = int(answer.confidence.argmin())
    known = Constraints(60, 60, 60, (np.array([least]), answer.indices[[least]]))
    kept = keep_likeliest(answer, 20, known)
    assert (kept.indices >= 0).sum() == 20
    assert kept.indices[least] == answer.indices[least]
    others = np.flatnonzero((kept.indices >= 0) & (np.arange(60) != least))
    assert answer.confidence[others].min() >= answer.confidence[kept.indices < 0].max()
    assert kept.reliability == pytest.approx(kept.confidence[kept.indices >= 0].mean())
    assert keep_likeliest(answer, 60, known) is answer


def test_an_undecided_answer_matches_all_and_believes_nothing():
    answer = undecided_answer(Constraints(3, 5, 3), "nothing is known")
    assert len(np.unique(answer.indices)) == 3
    np.testing.assert_allclose(answer.probabilities, 1 / 5)
    assert answer.reliability == 1 / 5
    assert not answer.reliable
    assert answer.report.endswith("nothing is known.")


def test_a_prior_alone_decides_as_far_as_it_is_sure():
    prior = np.eye(4, dtype=np.float32)
    sure, unsure = (
        answer_by_prior(Constraints(4, 4, 4, prior=prior, prior_unit=unit), "all are equal") for unit in (50.0, 0.5)
    )
    assert sure.indices.tolist() == [0, 1, 2, 3]
    assert sure.reliability > unsure.reliability
    assert "The common columns alone tell the pairs: all are equal." in sure.report
