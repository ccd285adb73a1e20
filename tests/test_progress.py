import sys
import types

import numpy as np
import pytest

import pairup
from pairup.climb import Step
from pairup.progress import describe_step, estimate_seconds, in_words, show_progress, warn_if_long


def test_time_grows_with_size_and_is_told_from_a_minute_on():
    sizes = [estimate_seconds(n, n) for n in (10, 320, 999, 1000, 3000, 10_000)]
    assert sizes == sorted(sizes)
    assert warn_if_long(320, 320, "auto") == ""
    assert "takes roughly 73 seconds" in warn_if_long(10, 3000, "auto")
    assert estimate_seconds(10**6, 5, "ks-hsic") == 0.0
    assert in_words(60) == "60 seconds"


def test_outside_of_terminals_one_line_is_printed(capsys):
    with show_progress("Matching.") as display:
        display.show("start 1")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Matching.\n")


def test_terminals_show_a_bar(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with show_progress("Matching.") as display:
        display.show("start 1, iteration 2")
    assert "start 1, iteration 2" in capsys.readouterr().err


def test_notebooks_show_a_line_in_their_cell(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    monkeypatch.setattr("pairup.progress.NOTEBOOK_SECONDS", 0.0)
    with show_progress("Matching.") as line:
        line.show("start 1")
    assert shown[0] == "Matching."
    assert shown[1].startswith("start 1 (")
    assert shown[2].startswith("Done in ")


def test_match_hands_every_step_to_a_callback_and_shows_it(rng, capsys):
    X = rng.gamma(2.0, size=(12, 2))
    steps = []
    with_callback = pairup.match(X, X[::-1] * 2, method="ks-hsic", verbose=1, callback=steps.append)
    assert steps
    assert all(isinstance(step, Step) for step in steps)
    assert "Matching 12 with 12 objects." in capsys.readouterr().err
    assert with_callback == pairup.match(X, X[::-1] * 2, method="ks-hsic")
    assert "iteration" in describe_step(steps[0])


def test_what_a_callback_raises_ends_the_search(rng):
    def stop(step):
        raise KeyboardInterrupt

    X = rng.gamma(2.0, size=(12, 2))
    with pytest.raises(KeyboardInterrupt):
        pairup.match(X, X, method="ks-hsic", callback=stop)
    assert np.isfinite(X).all()
