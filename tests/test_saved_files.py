"""Files that earlier versions saved still load and mean the same: one of each kind and format in tests/data."""

from pathlib import Path

import numpy as np
import pytest

import pairup
from pairup.album import Album
from pairup.datasets import make_voices
from pairup.voice import VoiceConverter

DATA = Path(__file__).parent / "data"


def test_a_matching_of_format_1_loads():
    m = pairup.Matching.load(DATA / "matching-1.npz")
    assert m.indices.tolist() == [3, 0, 10, 9, 8, 5, 2, 6, 4, 11, 7, 1]
    assert m.reliable is False
    assert m.reliability == pytest.approx(0.4477, abs=1e-4)
    assert m.report.splitlines()[0] == "About 45% of the pairs are expected to be right."
    assert "not reliable: " in repr(m)
    assert m.candidates(3)[0].shape == (12, 3)
    assert m.translate(m.sets[0][:2]).shape == (2, 4)
    assert len(m.to_csv().splitlines()) == 13
    assert "svg" in m._repr_html_()


def test_a_matching_of_the_paper_of_format_1_loads():
    m = pairup.Matching.load(DATA / "matching-ks-hsic-1.npz")
    assert (m.method, m.reliable, len(m.history) > 1) == ("ks-hsic", None, True)
    assert m.dependence == pytest.approx(15.9417, abs=1e-4)


def test_an_album_of_version_1_loads():
    album = Album.load(DATA / "album-1.json")
    assert album.order.tolist() == [2, 5, 1, 3, 9, 6, 4, 10, 0, 11, 8, 7]
    assert album.pins == {2: 0}
    assert album.frame.cells.shape == (12, 2)
    assert album.move(5, (2, 3)).order[11] == 5


def test_a_voice_of_format_1_loads_and_converts():
    voice = VoiceConverter.load(DATA / "voice-1.npz")
    signal = voice.convert(make_voices(n_words=4).source[3]).signal
    assert len(signal) == 8240
    assert float(np.sqrt((signal**2).mean())) == pytest.approx(0.0695, abs=1e-3)
