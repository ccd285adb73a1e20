import numpy as np
import pytest

from pairup import metrics
from pairup.metrics import foscttm, image_foscttm, match_accuracy


def test_accuracy_counts_equal_partners_as_right():
    Y = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    assert match_accuracy([1, 0, 2], [0, 1, 2]) == pytest.approx(1 / 3)
    assert match_accuracy([1, 0, 2], [0, 1, 2], Y) == 1.0


def test_accuracy_of_objects_without_partner():
    assert match_accuracy([-1, 1, -1], [-1, 1, 2], [[0.0], [1.0], [2.0]]) == pytest.approx(2 / 3)


def test_accuracy_needs_one_shape():
    with pytest.raises(ValueError, match="must have one shape"):
        match_accuracy([0, 1], [0, 1, 2])


def test_foscttm_of_chance_is_a_half(rng):
    Y = rng.normal(size=(60, 3))
    values = [foscttm(rng.permutation(60), np.arange(60), Y) for _ in range(40)]
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)


def test_foscttm_agrees_with_its_definition(rng):
    Y = rng.normal(size=(15, 2))
    p, t = rng.permutation(15), rng.permutation(15)
    shares = []
    for i in range(15):
        distances = np.linalg.norm(Y[p] - Y[t[i]], axis=1)
        shares.append(sum(distances[k] < distances[i] for k in range(15) if k != i) / 14)
    assert foscttm(p, t, Y) == pytest.approx(np.mean(shares))


def test_foscttm_of_a_constant_plan_is_a_half():
    assert foscttm(np.zeros(10, dtype=int), np.arange(10), np.random.default_rng(0).normal(size=(10, 2))) == 0.5


GRID = np.argwhere(np.ones((10, 12)))


@pytest.mark.parametrize("p", [2, 16])
def test_distance_preservation_agrees_with_vc_flas(p, rng):
    peer = pytest.importorskip("vc_flas.metrics", reason="vc-flas needs Python < 3.13")
    X = rng.random((120, 3))
    theirs = peer.distance_preservation_quality(X.reshape(10, 12, 3), p=p)
    assert metrics.distance_preservation_quality(X, GRID, p=p) == pytest.approx(theirs, abs=1e-9)
    holes = rng.random((10, 12)) < 0.7
    theirs = peer.distance_preservation_quality(X.reshape(10, 12, 3), valid=holes, p=p)
    kept = holes.ravel()
    assert metrics.distance_preservation_quality(X[kept], GRID[kept], p=p) == pytest.approx(theirs, abs=1e-9)


def test_tie_free_quality_of_random_layouts_is_near_zero_and_of_sorted_ones_near_one(rng):
    X = rng.random((120, 3))
    assert metrics.distance_preservation_quality(X, GRID, ties="average") < 0.1
    assert metrics.distance_preservation_quality(X, GRID) > 0.25  # the tie rule flatters
    assert metrics.distance_preservation_quality(GRID + 0.1 * rng.random(GRID.shape), GRID, ties="average") > 0.95


def test_quality_does_not_depend_on_the_order_scale_or_place(rng):
    X = rng.random((120, 3))
    p = rng.permutation(120)
    for ties in ("features", "average"):
        value = metrics.distance_preservation_quality(X, GRID, ties=ties)
        again = metrics.distance_preservation_quality(7 * X[p] - 3, 0.1 * GRID[p] + 5, ties=ties)
        assert again == pytest.approx(value, abs=1e-9)
        rows = metrics.distance_preservation_quality(X, GRID, ties=ties, rows=60)
        assert rows == pytest.approx(value, abs=0.1)


def test_neighbours_kept_by_hand():
    line = [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]
    assert metrics.neighbour_preservation([[0.0], [1.0], [2.0], [3.0], [4.0]], line, k=2) == pytest.approx(1.0)
    # Of the two equally near cells, one is the nearest item: half of it in expectation.
    assert metrics.neighbour_preservation([[0.0], [1.0], [2.1], [3.3], [4.6]], line, k=1) == pytest.approx(
        (1 + 3 * 0.5 + 1) / 5
    )


def test_layout_metrics_refuse_unequal_counts():
    with pytest.raises(ValueError, match="as many positions as items"):
        metrics.distance_preservation_quality([[1.0]], [[0, 0], [0, 1]])


def test_image_foscttm_is_that_of_brute_force(rng):
    Y = np.round(rng.normal(size=(9, 2)), 1)  # coarse, so that some distances tie
    Y[4] = Y[2]
    images, truth = np.round(rng.normal(size=(6, 2)), 1), rng.integers(9, size=6)
    images[3], truth[3] = Y[2], 2
    shares = []
    for image, t in zip(images, truth, strict=True):
        own = round(float(((image - Y[t]) ** 2).sum()), 9)
        others = [round(float(((image - y) ** 2).sum()), 9) for k, y in enumerate(Y) if k != t]
        shares.append(sum((d < own) + 0.5 * (d == own) for d in others) / 8)
    assert image_foscttm(images, truth, Y) == pytest.approx(np.mean(shares))
    images[0], truth[1] = np.nan, -1
    assert image_foscttm(images, truth, Y) == pytest.approx(np.mean(shares[2:]))


def test_images_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="for a matching use foscttm"):
        image_foscttm([0, 1], [0, 1], [[0.0], [1.0]])


def test_neighbour_likeness_is_one_for_random_orders_and_more_for_sorted_ones(rng):
    cells = np.argwhere(np.ones((20, 20)))
    X = cells + 0.0
    sorted_ = metrics.neighbour_likeness(X, cells)
    everywhere = np.linalg.norm(X[:, None] - X, axis=2).sum() / (400 * 399)
    assert sorted_ == pytest.approx(everywhere)  # neighbours have distance 1
    assert metrics.neighbour_likeness(rng.permutation(X), cells) == pytest.approx(1, abs=0.05)
    assert metrics.neighbour_likeness(X, cells, rows=150) == pytest.approx(sorted_, rel=0.05)
    assert metrics.neighbour_likeness(np.ones((4, 2)), cells[:4]) == 1
    with pytest.raises(ValueError, match="two items at least"):
        metrics.neighbour_likeness([[1.0]], [[0, 0]])
