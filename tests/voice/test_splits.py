import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup.voice.splits import align_recordings, draw_split


@pytest.fixture(scope="module")
def frames(voices):
    return align_recordings(*voices)


def test_synthetic_voices_are_aligned_frame_by_frame(frames):
    """Both speak in step, so that frame k belongs to frame k; within a constant vowel, warping may slip."""
    assert_array_equal(frames.sentence_y[frames.partner], frames.sentence_x)
    start_x, start_y = (np.searchsorted(each, frames.sentence_x) for each in (frames.sentence_x, frames.sentence_y))
    slip = (frames.partner - start_y) - (np.arange(len(frames.X)) - start_x)
    assert np.median(np.abs(slip)) <= 10
    assert abs(np.median(slip)) <= 1


def test_a_voice_is_aligned_with_itself(voices):
    frames = align_recordings(voices.source[:2], voices.source[:2])
    assert_array_equal(frames.partner, np.arange(len(frames.X)))


def test_training_and_test_share_no_sentence(frames):
    split = draw_split(frames, 100, random_state=3)
    sentence_of = {row.tobytes(): s for row, s in zip(frames.X, frames.sentence_x, strict=True)}
    trained, tested = ({sentence_of[row.tobytes()] for row in rows} for rows in (split.X, split.test_X))
    assert trained.isdisjoint(tested)


def test_shuffled_holds_the_partners_and_disjoint_does_not(frames):
    shuffled = draw_split(frames, 60)
    assert_array_equal(np.sort(shuffled.Y, axis=0), np.sort(shuffled.oracle, axis=0))
    disjoint = draw_split(frames, 60, setting="disjoint")
    assert not {row.tobytes() for row in disjoint.Y} & {row.tobytes() for row in disjoint.oracle}


def test_the_distance_of_the_true_partners_is_zero(frames):
    split = draw_split(frames, 10, test=50)
    assert split.lsd(lambda X: X) > 3
    truth = {row.tobytes(): y for row, y in zip(split.test_X, split.test_Y, strict=True)}
    assert_allclose(split.lsd(lambda X: np.array([truth[row.tobytes()] for row in X])), 0, atol=1e-6)


def test_impossible_requests_are_refused(frames, voices):
    with pytest.raises(ValueError, match=r"100000 training frames were asked for, but only \d+ are available"):
        draw_split(frames, 100_000)
    with pytest.raises(ValueError, match="setting must be"):
        draw_split(frames, 10, setting="other")
    with pytest.raises(ValueError, match="share no sentence"):
        align_recordings(voices.source[:2], voices.target[2:4])


def test_left_over_recordings_are_told(voices):
    with pytest.warns(UserWarning, match="2 sentences are scored; 1 recordings have no counterpart"):
        align_recordings(voices.source[:3], voices.target[:2])
