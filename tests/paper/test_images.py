import base64

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup import KSHSIC, KSMI, KSNOCCO, LSOM
from pairup.metrics import match_accuracy
from pairup.paper import images
from pairup.paper.protocol import Task

pytest.importorskip("skimage")


def test_methods_share_their_subset_and_its_shuffling():
    a, b = (images.draw_problem(Task("images", method, 40, 1), None) for method in ("LSOM", "KS-MI"))
    for one, other in zip(a, b, strict=True):
        assert_array_equal(one, other)
    chosen = images.draw_subset(Task("images", "LSOM", 40, 1))
    assert len(set(chosen.tolist())) == 40
    assert not np.array_equal(chosen, images.draw_subset(Task("images", "LSOM", 40, 2)))


def test_the_halves_of_the_problem_are_those_of_the_photos():
    from pairup.datasets import to_lab

    task = Task("images", "LSOM", 40, 0)
    X, Y, truth = images.draw_problem(task, None)
    lab = to_lab(images.load_photos(None)[images.draw_subset(task)])
    assert_allclose(X.reshape(40, 40, 20, 3), lab[:, :, :20])
    assert_allclose(Y[truth].reshape(40, 40, 20, 3), lab[:, :, 20:])


@pytest.mark.parametrize("matcher", [KSHSIC(n_starts=1), KSNOCCO(n_starts=1), KSMI(n_starts=1)])
def test_the_measure_at_the_matching_is_the_value_that_was_found(matcher):
    X, Y, _ = images.draw_problem(Task("images", "LSOM", 40, 0), None)
    matcher.fit(X, Y)
    measure = images._make_measure(matcher, X, Y)
    assert measure.value(matcher.assignment_) == pytest.approx(matcher.dependence_)


def test_lsom_is_compared_with_the_truth_by_its_held_out_score():
    task = Task("images", "LSOM", 40, 0)
    result = images.run(task, None)
    X, Y, truth = images.draw_problem(task, None)
    model = LSOM().fit(X, Y)
    assert result["value"] == model.best_score_
    assert result["value_truth"] == model.held_out_score(X, Y, truth)
    assert result["kept"] == match_accuracy(model.search_from(X, Y, truth), truth, Y)
    assert "picture" not in result


def test_a_width_is_the_width_of_the_method():
    """Sensitivity runs at c = 1 are those of the method of that name."""
    at_one = images.run(Task("images", "KS-HSIC", 40, 0, variant="width 1"), None)
    assert at_one == images.run(Task("images", "KS-HSIC, c = 1", 40, 0), None)
    assert at_one != images.run(Task("images", "KS-HSIC", 40, 0, variant="width 5"), None)


def test_wrong_pairs_are_framed():
    """The picture of the truth differs from that of a matching with two wrong pairs."""
    photos = images.load_photos(None)[:6]
    truth = np.arange(6)
    Y = np.arange(6.0)[:, None]
    right, wrong = (images._draw_picture(photos, np.array(order), truth, Y) for order in (truth, [1, 0, 2, 3, 4, 5]))
    assert base64.b64decode(right)[:2] == b"\xff\xd8"
    assert right != wrong
