import numpy as np
import pytest

from pairup.voice.score import compare, score_frames, score_voice, summarize
from pairup.voice.splits import align_recordings


@pytest.fixture(scope="module")
def frames(voices):
    return align_recordings(*voices)


def test_splits_depend_on_the_seed_alone(frames):
    rows = [
        list(score_frames(frames, train=[20], splits=2, methods=["identity", "random"], test=50, random_state=seed))
        for seed in (0, 0, 1)
    ]
    assert rows[0] == rows[1] != rows[2]


def test_there_is_one_row_per_size_split_and_method(frames):
    rows = list(score_frames(frames, train=[20, 30], splits=2, methods=["identity", "mean-variance"], test=50))
    assert len({(row["n"], row["split"], row["method"]) for row in rows}) == len(rows) == 8


def test_the_summary_has_the_moments_of_each_group(rng):
    values = rng.normal(5, 1, size=(2, 4))
    rows = [
        {"setting": "shuffled", "method": method, "n": 50, "split": k, "lsd": value}
        for method, line in zip("ab", values, strict=True)
        for k, value in enumerate(line)
    ]
    for line, expected in zip(summarize(rows), values, strict=True):
        assert line["splits"] == 4
        assert line["mean"] == pytest.approx(expected.mean())
        assert line["std"] == pytest.approx(expected.std())
        assert line["worst"] == expected.max()


def test_a_recording_compared_with_itself_has_no_error(voices, converter):
    assert compare(voices.source[0], voices.source[0], converter.framing_) == (0, 0)
    mcd, cents = compare(voices.source[0], voices.target[0], converter.framing_)
    assert mcd > 1
    assert cents == pytest.approx(1200 * np.log2(190 / 110), rel=0.05)  # the ratio of the mean pitches


def test_whole_recordings_are_scored_before_and_after(voices, converter):
    (row,) = score_voice(converter, voices.source[20:21], voices.target[20:21])
    before = compare(voices.source[20], voices.target[20], converter.framing_)
    after = compare(converter.convert(voices.source[20]), voices.target[20], converter.framing_)
    assert (row["mcd_before"], row["pitch_before"]) == before
    assert (row["mcd"], row["pitch"]) == after
