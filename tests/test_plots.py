import ast
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color

from pairup import KSHSIC, LSOM, match, plots
from pairup.datasets import make_cubic
from pairup.kernels import KernelFamily
from pairup.measures import LSMI
from pairup.mosaic import MARK
from pairup.plots import (
    RIGHT,
    WRONG,
    ConvergenceDisplay,
    MatchedImagesDisplay,
    MatchedPairsDisplay,
    MatchingDisplay,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cubic():
    pair = make_cubic(30)
    return pair, KSHSIC(n_starts=2).fit(pair.X, pair.Y)


def test_points_are_the_matched_pairs_and_the_line_is_the_function(cubic):
    (X, Y, truth), model = cubic
    display = MatchedPairsDisplay.from_estimator(model, X, Y, truth=truth, function=lambda x: x**3)
    assert np.allclose(display.points_.get_offsets(), np.hstack([X, Y[model.assignment_]]))
    x, y = display.ax_.lines[0].get_data()
    assert np.allclose(y, x**3)
    assert display.figure_ is display.ax_.figure


def test_wrong_pairs_have_their_own_colour():
    X = np.arange(4.0)[:, None]
    display = MatchedPairsDisplay.from_indices([0, 1, 3, 2], X, X, truth=[0, 1, 2, 3])
    colours = display.points_.get_edgecolors()
    assert [same_color(c, RIGHT) for c in colours] == [True, True, False, False]
    assert same_color(colours[3], WRONG)


def test_an_object_without_partner_is_left_out():
    X = np.arange(3.0)[:, None]
    display = MatchedPairsDisplay.from_indices([2, -1, 0], X, X)
    assert display.points_.get_offsets().tolist() == [[0.0, 2.0], [2.0, 0.0]]


@pytest.mark.parametrize(("columns_x", "columns_y"), [(1, 2), (2, 2), (5, 3), (1, 7)])
def test_sets_of_other_dimensions_are_linked(columns_x, columns_y, rng):
    X, Y = rng.normal(size=(8, columns_x)), rng.normal(size=(8, columns_y))
    indices = rng.permutation(8)
    indices[0] = -1
    display = MatchedPairsDisplay.from_indices(indices, X, Y)
    places = np.asarray(display.points_.get_offsets())
    ends = np.array(display.links_.get_segments())
    assert np.allclose(ends[:, 0], places[1:8])
    assert np.allclose(ends[:, 1], places[8:][indices[1:]])
    assert places[:8, 0].max() <= 1 < places[8:, 0].min()


def test_two_columns_keep_their_shape():
    square = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]])
    places = MatchedPairsDisplay.from_indices(np.arange(4), square, square).points_.get_offsets()[:4]
    assert np.allclose(np.ptp(places, axis=0), [1.0, 0.5])


def test_convergence_shows_the_values_of_the_winning_start(cubic):
    (X, Y, _), model = cubic
    display = ConvergenceDisplay.from_estimator(model)
    assert display.line_.get_ydata().tolist() == [step.value for step in model.history_]
    assert display.ax_.get_ylabel() == "dependence (KSHSIC)"
    matching = match(X, Y, method="ks-hsic")
    assert ConvergenceDisplay.from_matching(matching).values.tolist() == [step.value for step in matching.history]


def test_convergence_of_lsom_is_that_of_its_last_width(cubic):
    """LSMI at different widths is not comparable: the curve would rise by narrowing alone."""
    (X, Y, _), _ = cubic
    model = LSOM(widths=(1.0, 2.0, 3.0), lambdas=(0.01,), n_starts=2).fit(X, Y)
    values = ConvergenceDisplay.from_estimator(model).values
    assert 1 <= len(values) < len(model.history_)
    measure = LSMI(KernelFamily(X).matrix(1.0), KernelFamily(Y).matrix(1.0), lam=0.01)
    expected = [measure.value(step.indices) for step in model.history_[-len(values) :]]
    np.testing.assert_allclose(values, expected)


def test_images_stand_beside_their_partners_and_wrong_ones_are_framed(rng):
    left, right = rng.integers(0, 200, (2, 9, 6, 3, 3), dtype=np.uint8)
    indices = np.array([0, 1, 2, 3, 4, 5, 6, 8, 7])
    display = MatchedImagesDisplay.from_indices(indices, left, right, truth=np.arange(9))
    assert np.array_equal(display.image_.get_array(), display.sheet)
    assert np.array_equal(display.sheet[6:12, 6:12], np.concatenate([left[0], right[0]], axis=1))
    marks = (display.sheet == MARK).all(axis=2)
    assert marks.sum() == 2 * (10 * 10 - 6 * 6)


def test_displays_draw_on_given_axes(cubic):
    (X, Y, _), model = cubic
    figure, axes = plt.subplots(1, 2)
    pairs = MatchedPairsDisplay.from_estimator(model, X, Y, ax=axes[0])
    convergence = ConvergenceDisplay.from_estimator(model, ax=axes[1])
    assert pairs.ax_ is axes[0]
    assert convergence.ax_ is axes[1]
    assert pairs.figure_ is convergence.figure_ is figure
    figure.savefig(drawn := BytesIO(), format="png")
    assert drawn.getvalue().startswith(b"\x89PNG")


def test_a_matching_an_estimator_and_indices_are_drawn_alike(cubic):
    (X, Y, _), _ = cubic
    matching = match(X, Y, method="ks-hsic")
    drawn = (
        MatchedPairsDisplay.from_matching(matching, X, Y),
        MatchedPairsDisplay.from_estimator(KSHSIC().fit(X, Y), X, Y),
        MatchedPairsDisplay.from_indices(matching.indices, X, Y),
        MatchedPairsDisplay.from_result(matching, X, Y),
    )
    for display in drawn[1:]:
        assert np.array_equal(display.points_.get_offsets(), drawn[0].points_.get_offsets())


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X: MatchedPairsDisplay.from_estimator(model, X, X),
        lambda model, X: ConvergenceDisplay.from_estimator(model),
    ],
    ids=["pairs", "convergence"],
)
def test_an_estimator_before_fit_is_refused(draw):
    with pytest.raises(TypeError, match="got KSHSIC; an estimator must be fitted first"):
        draw(KSHSIC(), np.arange(3.0))


def test_three_panels_show_pairs_confidence_and_candidates():
    from types import SimpleNamespace

    X, indices = np.arange(4.0)[:, None], np.array([1, 0, 2, 3])
    steps = [SimpleNamespace(value=2.0, indices=indices), SimpleNamespace(value=1.0, indices=np.arange(4))]
    result = SimpleNamespace(
        indices=indices, method="auto", history=steps, confidence=np.array([0.9, 0.9, 0.5, 0.1]), sets=(X, X),
        reliable=False, reliability=0.4, verdict="not reliable",
    )  # fmt: skip
    display = MatchingDisplay.from_matching(result)
    pairs, confidence, candidates = display.axes_
    assert display.figure_.get_suptitle() == "not reliable: about 40% of the pairs are expected to be right"
    assert pairs.collections[0].get_offsets().tolist() == [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 3.0]]
    assert sum(bar.get_height() for bar in confidence.patches) == 4
    assert candidates.collections[0].get_offsets().tolist() == [[1.0, 1.0], [0.5, 0.5]]


def test_the_module_imports_neither_results_nor_estimators():
    """Matching.plot imports this module: to import it back, lazily or not, would be a cycle."""
    tree = ast.parse(Path(plots.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name.startswith("pairup.")} == {
        f"pairup.{name}" for name in ("climb", "extras", "metrics", "mosaic", "sampling", "types", "validation")
    }


def test_importing_the_module_does_not_import_matplotlib():
    code = "import pairup.plots, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_of_unlike_units_do_not_collapse_to_a_line(columns, rng):
    table = rng.normal(size=(200, columns)) * np.array([10.0, 20_000.0, 1.0])[:columns]
    places = np.asarray(MatchedPairsDisplay.from_indices(np.arange(200), table, table).points_.get_offsets())[:200]
    assert np.ptp(places, axis=0).min() > 0.6
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9


def test_partners_have_one_colour_unless_it_is_known_which_are_right(rng):
    X, Y, indices = rng.normal(size=(5, 2)), rng.normal(size=(6, 2)), np.array([3, 0, -1, 5, 1])
    display = MatchedPairsDisplay.from_indices(indices, X, Y)
    colours = display.points_.get_facecolors()
    for i, j in enumerate(indices):
        if j >= 0:
            assert np.array_equal(colours[i], colours[5 + j])
    assert len(np.unique(colours, axis=0)) == 5  # four pairs, and gray for what has no partner
    known = MatchedPairsDisplay.from_indices(indices, X, Y, truth=indices)
    assert len(np.unique(known.points_.get_facecolors(), axis=0)) == 1


@pytest.mark.parametrize("columns", [1, 4])
def test_of_many_pairs_a_sample_is_drawn_and_told(rng, columns):
    X, Y = rng.normal(size=(5000, columns)), rng.normal(size=(5200, columns))
    indices = rng.permutation(5200)[:5000]
    indices[:100] = -1
    display = MatchedPairsDisplay.from_indices(indices, X, Y)
    drawn = display.points_.get_offsets()
    assert len(drawn) <= 2100
    shown = int(display.ax_.get_title().split()[0].replace(",", ""))
    assert display.ax_.get_title() == f"{shown:,} of 4,900 pairs drawn"
    assert 960 <= shown <= 1000
    if columns == 1:
        assert {tuple(point) for point in drawn.tolist()} <= set(zip(X[:, 0], Y[indices, 0], strict=True))
    else:
        assert len(display.links_.get_segments()) == shown
