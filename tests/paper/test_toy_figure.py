import numpy as np
import pytest

from pairup.paper import toy
from pairup.paper.protocol import Task
from pairup.paper.runner import run_task
from pairup.paper.toy_figure import draw

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")
FIXED = "LSOM, c = √10, λ = 0.1"


@pytest.fixture
def rows():
    methods = ("KS-NOCCO", "LSOM", FIXED, "pairup")
    return [run_task(toy.run, Task("toy", method, 30, 0), None) for method in methods]


def test_panels_show_the_matched_pairs_and_the_climbs(rows):
    figure = draw(rows)
    axes = figure.axes
    assert [ax.get_title()[:3] for ax in axes] == ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"]
    found = {row["method"]: row["result"] for row in rows}
    unpaired, matched = (ax.collections[0].get_offsets() for ax in (axes[0], axes[2]))
    np.testing.assert_allclose(matched[:, 1], unpaired[found["KS-NOCCO"]["indices"], 1])
    assert axes[4].lines[0].get_ydata().tolist() == found["KS-NOCCO"]["values"]
    assert axes[5].lines[0].get_ydata().tolist() == found[FIXED]["values"]
    pyplot.close(figure)


def test_methods_that_were_not_run_leave_their_panels_empty(rows):
    figure = draw(rows[1:])
    titles = [ax.get_title() for ax in figure.axes]
    assert "matched by LSOM" in titles[1]
    assert not any("KS-NOCCO" in title for title in titles)
    pyplot.close(figure)


def test_a_mirror_image_is_called_so(rows):
    for mirrored in (False, True):
        for row in rows:
            row["result"] |= {"accuracy": 0.5, "accuracy_mirror": 0.5 + 0.5 * mirrored}
        figure = draw(rows)
        told = ["mirrored" in ax.get_title() for ax in figure.axes]
        assert told == [False, False, mirrored, mirrored, False, False]
        pyplot.close(figure)
