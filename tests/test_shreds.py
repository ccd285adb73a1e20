import numpy as np
import pytest

from pairup.methods import CUTS
from pairup.mosaic import MARK, PAPER
from pairup.result import Matching
from pairup.shreds import BOARD, WORDS, Reunion, Shreds, cut_mask


@pytest.fixture
def pictures(rng):
    return rng.integers(0, 200, size=(9, 40, 40, 3), dtype=np.uint8)


def reunite(shreds, indices, confidence=()):
    names = (list(range(len(indices))),) * 2
    return Reunion(shreds, Matching(indices, "auto", 0.0, None, [], names, np.asarray(confidence)))


@pytest.mark.parametrize("cut", CUTS)
def test_each_cut_deals_half_of_the_pixels_onto_each_pile(cut):
    mask = cut_mask(cut, 40, 40)
    assert mask.mean() == pytest.approx(0.5, abs=0.03)
    assert set(WORDS) == set(CUTS)


def test_strips_alternate_and_the_squares_of_a_checkerboard_differ_from_their_neighbours():
    assert np.diff(cut_mask("strips", 40, 40)[0].astype(int)).nonzero()[0].tolist() == list(range(3, 39, 4))
    assert np.diff(cut_mask("four-strips", 40, 40)[0].astype(int)).nonzero()[0].tolist() == [9, 19, 29]
    board = cut_mask("checkerboard", 40, 40)[::8, ::8]
    assert (board[1:] != board[:-1]).all()
    assert (board[:, 1:] != board[:, :-1]).all()
    with pytest.raises(ValueError, match="unknown cut 'confetti'; choose one of: strips"):
        cut_mask("confetti", 40, 40)


@pytest.mark.parametrize("cut", CUTS)
def test_the_true_pairs_and_no_others_give_the_pictures_back(pictures, cut):
    shreds = Shreds.cut(pictures, cut)
    assert (shreds.truth != np.arange(len(pictures))).any()
    assert (shreds.join(shreds.truth) == pictures).all()
    wrong = shreds.join(np.roll(shreds.truth, 1))
    assert (wrong[:, shreds.mask] == pictures[:, shreds.mask]).all()
    assert (wrong != pictures).any(axis=(1, 2, 3)).all()
    X, Y, truth = shreds.sets
    assert X.shape[1] + Y.shape[1] == 40 * 40 * 3
    assert (truth == shreds.truth).all()


def test_pieces_of_the_two_piles_complement_each_other(pictures):
    shreds = Shreds.cut(pictures)
    first, second = shreds.pieces(0), shreds.pieces(1)[shreds.truth]
    assert ((first[..., 3] > 0) != (second[..., 3] > 0)).all()
    assert (first[..., :3] + second[..., :3] == pictures).all()


def test_pieces_without_a_partner_leave_their_place_blank(pictures):
    shreds = Shreds.cut(pictures)
    indices = shreds.truth.copy()
    indices[4] = -1
    assert (shreds.join(indices)[4][~shreds.mask] == PAPER).all()


def test_right_and_sure_pairs_are_counted_apart(pictures):
    shreds = Shreds.cut(pictures)
    indices = shreds.truth.copy()
    indices[:2] = indices[1::-1]
    reunion = reunite(shreds, indices, [0.5, 0.95, *[0.9] * 5, 0.2, 0.2])
    assert reunion.right.tolist() == [False, False] + [True] * 7
    assert reunion.words == (
        "7 of 9 pictures put together correctly, without labels (at random: 1). Of the 6 it is sure of, 5 are right."
    )
    assert reunite(shreds, indices).words.endswith("It is sure of none.")
    assert reunion.verdict == f"Its own verdict: {reunion.matching.verdict}."
    assert f"<p>{reunion.verdict}</p>" in reunion.page()


def test_the_picture_frames_the_wrong_ones_and_nothing_else(pictures):
    shreds = Shreds.cut(pictures)
    indices = shreds.truth.copy()
    drawn = np.asarray(reunite(shreds, indices).draw())
    assert not (drawn == MARK).all(axis=2).any()
    indices[[0, 5]] = indices[[5, 0]]
    marks = (np.asarray(reunite(shreds, indices).draw()) == MARK).all(axis=2)
    corners = marks[1:, 1:] & ~marks[:-1, 1:] & ~marks[1:, :-1]
    assert corners.sum() == 2
    assert drawn.shape[1] > BOARD[0]


def test_the_page_holds_its_pictures_and_loads_nothing(pictures):
    shreds = Shreds.cut(pictures)
    page = reunite(shreds, shreds.truth, np.ones(9)).page()
    assert page.count("data:image/png") == 2
    assert page.count("data:image/jpeg") == 1
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert str(shreds.truth.tolist()) in page
    assert "%" + "FIRST" not in page
