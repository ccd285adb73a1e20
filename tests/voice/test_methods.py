import numpy as np
import pytest
from numpy.testing import assert_allclose

from pairup.methods import VOICE_METHODS
from pairup.voice.methods import METHODS, inca
from pairup.voice.score import score_frames
from pairup.voice.splits import align_recordings, draw_split


@pytest.fixture(scope="module")
def frames(voices):
    return align_recordings(*voices)


def mean_distances(frames, methods, **settings):
    rows = list(score_frames(frames, methods=methods, **settings))
    return {method: np.mean([row["lsd"] for row in rows if row["method"] == method]) for method in methods}


def test_auto_beats_every_baseline_and_nears_the_oracle(frames):
    methods = ["identity", "mean-variance", "random", "z-score", "inca", "inca-z", "auto", "oracle"]
    mean = mean_distances(frames, methods, train=[100], splits=3, test=500)
    for baseline in ("identity", "mean-variance", "random", "inca"):
        assert mean["auto"] < mean[baseline] - 0.5
    assert mean["oracle"] < mean["auto"] < (mean["inca"] + mean["oracle"]) / 2


@pytest.mark.parametrize("method", ["ks-hsic", "ks-nocco", "lsom", "match"])
def test_matchers_convert_better_than_random_pairs(frames, method):
    """In some split at least: without a prior, a mirrored matching is as good to them and worse than chance."""
    rows = list(score_frames(frames, train=[50], splits=3, methods=["random", method], test=200))
    random, matched = ([row["lsd"] for row in rows if row["method"] == name] for name in ("random", method))
    assert min(matched) < min(random) - 0.5


def test_identity_changes_nothing_and_mean_variance_gives_the_targets_moments(frames):
    split = draw_split(frames, 50, test=50)
    assert_allclose(METHODS["identity"](split)(split.X), split.X)
    converted = METHODS["mean-variance"](split)(split.X)
    assert_allclose(converted.mean(axis=0), split.Y.mean(axis=0))
    assert_allclose(converted.std(axis=0), split.Y.std(axis=0))


def test_only_the_oracle_depends_on_the_true_pairs(frames):
    split = draw_split(frames, 40, test=50)
    blind = draw_split(frames, 40, test=50)
    object.__setattr__(blind, "oracle", blind.oracle[::-1])
    for method in ("identity", "mean-variance", "random", "z-score", "inca", "auto"):
        assert split.lsd(METHODS[method](split)) == blind.lsd(METHODS[method](blind))
    assert split.lsd(METHODS["oracle"](split)) < blind.lsd(METHODS["oracle"](blind))


def test_inca_finds_a_small_shift(rng):
    X = np.sort(rng.uniform(0.1, 3, size=(80, 4)), axis=1)
    convert = inca(X, X[rng.permutation(80)] + 0.01)
    assert np.abs(convert(X) - (X + 0.01)).mean() < np.abs(X - (X + 0.01)).mean()


def test_the_former_name_of_auto_is_accepted_with_a_warning(frames):
    with pytest.warns(FutureWarning, match="'default' is now called 'auto'"):
        rows = list(score_frames(frames, train=[20], splits=1, methods=["default"], test=50))
    assert rows == list(score_frames(frames, train=[20], splits=1, methods=["auto"], test=50))
    assert rows[0]["method"] == "auto"


def test_the_names_of_methods_are_those_that_the_command_line_lists():
    assert tuple(METHODS) == VOICE_METHODS


def test_unknown_methods_are_refused(frames):
    with pytest.raises(ValueError, match=r"method must be one of identity, .*, got 'magic'"):
        next(iter(score_frames(frames, train=[20], splits=1, methods=["magic"], test=50)))


def test_auto_on_real_voices_by_the_papers_protocol(data_folder):
    folder = data_folder / "voice" / "audiomnist_48k"
    words = [f"{word}_{take:02d}.wav" for word in range(10) for take in range(6)]
    frames = align_recordings([folder / "spk01" / name for name in words], [folder / "spk11" / name for name in words])
    for setting in ("shuffled", "disjoint"):
        methods = ["identity", "inca", "auto", "oracle"]
        mean = mean_distances(frames, methods, train=[200], splits=3, setting=setting, test=1000)
        assert mean["auto"] < (mean["inca"] + mean["oracle"]) / 2 < mean["identity"] - 1
