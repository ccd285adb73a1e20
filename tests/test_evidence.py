import numpy as np
import pytest

from pairup.evidence import DOUBT, MARGIN, Evidence


def test_the_words_hold_the_scores_and_say_what_they_do_not_prove():
    believed = Evidence(7.77, -0.11, 6.05, draws=3)
    assert str(believed).splitlines()[0] == (
        "Held-out score 7.77 (shuffled pairs: -0.11; largest of 3 unrelated sets: 6.05)."
    )
    assert "it does not say how many pairs are right" in str(believed)
    assert DOUBT not in str(believed)
    assert believed.verdict == "more dependent than unrelated sets (7.77 against 6.05), share of right pairs unknown"


def test_doubts_are_the_last_line():
    doubted = Evidence(6.1, -0.11, 6.05, draws=1)
    assert "an unrelated set: 6.05" in str(doubted)
    assert str(doubted).splitlines()[-1].startswith(DOUBT + "the pairs are hardly more dependent")
    assert doubted.verdict == ""
    sortable = Evidence(6.1, -0.11, 6.05, draws=1, sortable=True)
    assert "any two sets of one dimension can be sorted against each other" in str(sortable)


@pytest.mark.parametrize(("found", "beyond"), [(MARGIN * 2.0 + 1e-9, True), (MARGIN * 2.0 - 1e-9, False)])
def test_scores_count_from_those_of_shuffled_pairs(found, beyond):
    for shift in (0.0, -0.5):
        assert Evidence(found + shift, shift, 2.0 + shift, draws=3).is_beyond_chance == beyond
    assert not Evidence(np.nan, 0.0, 1.0, draws=3).is_beyond_chance
