import numpy as np
import pytest

from pairup.matching import MATCHERS
from pairup.methods import ALBUM_METHODS, FORMER_NAMES, METHODS, VOICE_METHODS, check_method


def test_names_and_estimators_agree():
    assert METHODS == ("auto", *MATCHERS)
    assert set(ALBUM_METHODS) < set(METHODS)


def test_former_names_warn_and_lead_to_current_ones():
    for known in (ALBUM_METHODS, VOICE_METHODS):
        for former, current in FORMER_NAMES.items():
            with pytest.warns(FutureWarning, match=f"{former!r} is now called {current!r}") as warned:
                assert check_method(former, known) == current
            assert warned[0].filename != __file__  # the caller of who calls this
            assert current in known


def test_known_names_pass_and_others_are_refused():
    assert check_method("lsom", METHODS) == "lsom"
    with pytest.raises(ValueError, match="method must be one of a, b, got 'c'"):
        check_method("c", ("a", "b"))
    for odd in (["auto"], None, 3, {"auto"}, np.array(["a", "b"])):
        with pytest.raises(ValueError, match=r"method must be one name of a, b, got "):
            check_method(odd, ("a", "b"))
