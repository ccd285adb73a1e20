"""The sets of benchmarks/pathologies.py, without matching them."""

import numpy as np
import pytest

pytest.importorskip("resource")  # no limits of CPU time on Windows
import pathologies


def test_of_copies_one_pair_is_found_by_chance():
    X = np.array([[1.0], [2.0], [2.0], [3.0]])
    assert pathologies.possible(X, X, np.arange(4)) == 0.75
    assert pathologies.possible(X, X, np.array([0, 1, -1, -1])) == 1.0
    assert pathologies.possible(X, X, np.full(4, -1)) == 0.0


def test_outliers_have_no_partner_and_the_others_are_shuffled():
    X, Y, truth = pathologies.outliers()
    assert X.shape[0] == Y.shape[0] == 5000
    assert (truth >= 0).sum() == 500
    full = pathologies.related(9500)[1]
    np.testing.assert_array_equal(Y[truth[:500]], full[:500])


@pytest.mark.parametrize("name", ["equal", "few values", "collapsed"])
def test_sets_are_as_poor_as_their_names_say(name):
    X, Y, truth = pathologies.CASES[name][0]()
    assert len(X) == len(Y) == len(truth)
    distinct = len(np.unique(X.round(6), axis=0))
    assert distinct == {"equal": 1, "few values": 7}.get(name, distinct)
    assert distinct <= 51


def test_a_case_that_takes_too_long_is_stopped_and_said_to_hang(monkeypatch, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text("while True: pass\n")
    monkeypatch.setattr(pathologies, "__file__", str(endless))
    assert pathologies.observe("equal", 1) == "STOPPED after 1 CPU s: a hang"
