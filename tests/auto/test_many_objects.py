from types import SimpleNamespace

import numpy as np

from pairup.auto.many_objects import assess_many, undecided_many
from pairup.auto.significance import Significance
from pairup.constraints import Constraints


def found(agree=(True, True)):
    return SimpleNamespace(
        best=SimpleNamespace(metric="euclidean", found_again=0.5), agree=list(agree), searches=[None] * len(agree)
    )


def test_half_of_the_pairs_expected_right_make_a_matching_reliable():
    related = Significance("euclidean", 9.0, 3.0)
    reliable, report = assess_many(0.5, 1e-4, related, found())
    assert reliable
    assert "The data identify the pairing" in report
    assert "2 of 2 searches found this pairing" in report
    reliable, report = assess_many(0.49, 0.2, related, found())
    assert not reliable
    assert "too few pairs are found again" in report


def test_the_reasons_for_doubt_are_told():
    alike, related = Significance("euclidean", 3.0, 3.0), Significance("euclidean", 9.0, 3.0)
    assert "hardly more dependent" in assess_many(0.1, 0.2, alike, found())[1]
    assert "no other search found the same pairing" in assess_many(0.1, 0.2, related, found((True, False)))[1]
    assert "each partner is nearly the true one" in assess_many(0.3, 1e-4, related, found())[1]


def test_an_undecided_answer_has_no_probabilities():
    answer = undecided_many(Constraints(5, 3, 3), "nothing tells the objects of a set apart")
    assert (answer.indices >= 0).sum() == 3
    assert answer.probabilities.nnz == 0
    assert not answer.reliable
    np.testing.assert_array_equal(answer.confidence, 0.0)
