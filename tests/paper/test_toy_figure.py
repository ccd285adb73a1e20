import numpy as np
import pytest

from pairup.paper import toy
from pairup.paper.protocol import Task
from pairup.paper.runner import run_task
from pairup.paper.toy_figure import draw

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")


@pytest.fixture
def rows():
    return [run_task(toy.run, Task("toy", method, 30, 0), None) for method in ("KS-NOCCO", "LSOM", "pairup")]


def test_panels_show_the_matched_pairs_and_the_climbs(rows):
    figure = draw(rows)
    axes = figure.axes
    assert [ax.get_title()[:3] for ax in axes] == ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"]
    found = {row["method"]: row["result"] for row in rows}
    unpaired, matched = (ax.collections[0].get_offsets() for ax in (axes[0], axes[2]))
    np.testing.assert_allclose(matched[:, 1], unpaired[found["KS-NOCCO"]["indices"], 1])
    assert axes[4].lines[0].get_ydata().tolist() == found["KS-NOCCO"]["values"]
    assert axes[5].lines[0].get_ydata().tolist() == found["LSOM"]["values"]
    pyplot.close(figure)


def test_methods_that_were_not_run_leave_their_panels_empty(rows):
    figure = draw(rows[1:])
    titles = [ax.get_title() for ax in figure.axes]
    assert "matched by LSOM" in titles[1]
    assert not any("KS-NOCCO" in title for title in titles)
    pyplot.close(figure)
