import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pairup.voice.waveform import outline


@pytest.mark.parametrize(("n", "parts"), [(1000, 10), (1003, 10), (7, 10), (1, 3), (48000, 240)])
def test_every_sample_is_in_one_part(rng, n, parts):
    signal = rng.normal(size=n)
    peaks = outline(signal, parts)
    assert len(peaks) == min(n, parts)
    assert peaks.max() == np.abs(signal).max()
    assert peaks.min() > 0


def test_the_outline_follows_the_signal():
    signal = np.repeat([0.1, -0.7, 0.3], 100)
    assert_array_equal(outline(signal, 3), [0.1, 0.7, 0.3])
    assert len(outline(np.zeros(0), 5)) == 0
