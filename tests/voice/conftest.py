import pytest

from pairup.datasets import make_voices
from pairup.voice import VoiceConverter


@pytest.fixture(scope="session")
def voices():
    return make_voices(n_words=24)


@pytest.fixture(scope="session")
def converter(voices):
    """Learned from different words of the two speakers; words 20 to 23 are unheard."""
    return VoiceConverter(n_frames=200).fit(voices.source[:10], voices.target[10:20])
