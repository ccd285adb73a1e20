import numpy as np
import pytest

from pairup.metrics import log_spectral_distance
from pairup.paper import voice
from pairup.paper.protocol import Task
from pairup.voice.splits import draw_split


@pytest.fixture(scope="module")
def split():
    return draw_split(voice.load_frames(None), 50, random_state=Task("voice", "oracle", 50, 0).seed)


def test_the_distance_is_that_of_the_split(split):
    result = voice.run(Task("voice", "identity", 50, 0, variant="shuffled"), None)
    assert result["lsd"] == split.lsd(lambda lsf: lsf)


def test_the_oracle_is_nearer_to_the_true_envelopes_than_the_source():
    distances = {}
    for method in ("identity", "oracle"):
        result = voice.run(Task("voice", method, 50, 0, variant="shuffled"), None)
        estimated, true = (10 ** (np.array(result[name]) / 10) for name in ("envelopes", "true_envelopes"))
        assert estimated.shape == true.shape == (voice.SHOWN, 257)
        distances[method] = log_spectral_distance(estimated, true)
    assert distances["oracle"] < distances["identity"]


def test_settings_differ_and_envelopes_are_saved_of_the_first_run_only():
    shuffled, disjoint = (
        voice.run(Task("voice", "oracle", 50, 1, variant=setting), None) for setting in ("shuffled", "disjoint")
    )
    assert shuffled.keys() == {"lsd"}
    assert shuffled != disjoint
