import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup.voice.score import METHODS, draw_split, parallel_frames, score_frames


@pytest.fixture(scope="module")
def frames(voices):
    return parallel_frames(*voices)


def test_made_voices_are_aligned_frame_by_frame(frames, voices):
    """Both speak in step, so that frame k belongs to frame k; within a vowel that stands, warping may slip."""
    assert_array_equal(frames.sentence_y[frames.partner], frames.sentence_x)
    start_x, start_y = (np.searchsorted(each, frames.sentence_x) for each in (frames.sentence_x, frames.sentence_y))
    slip = (frames.partner - start_y) - (np.arange(len(frames.X)) - start_x)
    assert np.median(np.abs(slip)) <= 10
    assert abs(np.median(slip)) <= 1


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


def test_the_default_beats_every_baseline_and_nears_the_oracle(frames):
    methods = ["identity", "mean-variance", "random", "z-score", "inca", "inca-z", "default", "oracle"]
    rows = list(score_frames(frames, train=[100], splits=3, methods=methods, test=500))
    mean = {method: np.mean([row["lsd"] for row in rows if row["method"] == method]) for method in methods}
    for baseline in ("identity", "mean-variance", "random", "inca"):
        assert mean["default"] < mean[baseline] - 0.5
    assert mean["oracle"] < mean["default"] < (mean["inca"] + mean["oracle"]) / 2


@pytest.mark.parametrize("method", ["ks-hsic", "ks-nocco", "lsom", "match"])
def test_matchers_convert_better_than_random_pairs(frames, method):
    """In some split at least: without a prior, a mirrored matching is as good to them and worse than chance."""
    rows = list(score_frames(frames, train=[50], splits=3, methods=["random", method], test=200))
    random, matched = ([row["lsd"] for row in rows if row["method"] == name] for name in ("random", method))
    assert min(matched) < min(random) - 0.5


def test_identity_scores_what_it_should(frames):
    split = draw_split(frames, 10, test=50)
    assert split.lsd(METHODS["identity"](split)) > 3
    truth = {row.tobytes(): y for row, y in zip(split.test_X, split.test_Y, strict=True)}
    assert_allclose(split.lsd(lambda X: np.array([truth[row.tobytes()] for row in X])), 0, atol=1e-6)


def test_splits_depend_on_the_seed_alone(frames):
    rows = [
        list(score_frames(frames, train=[20], splits=2, methods=["identity", "random"], test=50, random_state=seed))
        for seed in (0, 0, 1)
    ]
    assert rows[0] == rows[1] != rows[2]


def test_impossible_requests_are_refused(frames, voices):
    with pytest.raises(ValueError, match=r"100000 training frames were asked for, and half .* hold only \d+"):
        draw_split(frames, 100_000)
    with pytest.raises(ValueError, match="setting must be"):
        draw_split(frames, 10, setting="other")
    with pytest.raises(ValueError, match="unknown methods: magic; there are identity"):
        next(score_frames(frames, methods=["magic"]))
    with pytest.raises(ValueError, match="share no sentence"):
        parallel_frames(voices.source[:2], voices.target[2:4])


def test_left_over_recordings_are_told(voices):
    with pytest.warns(UserWarning, match="2 sentences are scored; 1 recordings have no counterpart"):
        parallel_frames(voices.source[:3], voices.target[:2])


def test_the_paper_protocol_on_real_voices(data_folder):
    folder = data_folder / "voice" / "audiomnist_48k"
    words = [f"{word}_{take:02d}.wav" for word in range(10) for take in range(6)]
    frames = parallel_frames([folder / "spk01" / name for name in words], [folder / "spk11" / name for name in words])
    for setting in ("shuffled", "disjoint"):
        methods = ["identity", "inca", "default", "oracle"]
        rows = list(score_frames(frames, train=[200], splits=3, methods=methods, setting=setting, test=1000))
        mean = {method: np.mean([row["lsd"] for row in rows if row["method"] == method]) for method in methods}
        assert mean["default"] < (mean["inca"] + mean["oracle"]) / 2 < mean["identity"] - 1
