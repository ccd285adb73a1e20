import inspect

import numpy as np
import pytest

from pairup.album import Album, Frame, arrange, arrange_steps, read_photos
from pairup.matchers import KSHSIC


def test_vectors_and_photos(folder, rng):
    album = arrange(rng.random((20, 3)), Frame.grid(4, 5))
    assert sorted(album.order) == list(range(20))
    album = arrange(read_photos(folder), "3x4")
    assert sorted(album.order) == list(range(12))
    assert album.quality.dpq > album.quality.random
    assert "DPQ16" in str(album.quality)
    assert album.quality.likeness > 1.1
    assert album.quality.in_words == f"neighbours are {album.quality.likeness:.1f}× more alike than in a random order"


def test_steps_stream_and_end_with_the_album(rng):
    *steps, album = arrange_steps(rng.random((30, 3)), "5x6")
    assert len(steps) > 10
    assert isinstance(album, Album)
    assert all(sorted(step.order) == list(range(30)) for step in steps)
    assert np.all(np.diff([step.progress for step in steps]) >= 0)
    np.testing.assert_array_equal(steps[-1].order, album.order)


def test_fewer_items_leave_blanks_on_purpose(rng):
    album = arrange(rng.random((17, 3)), Frame.grid(4, 5))
    assert album.frame.cells[album.order < 0].tolist() == [[3, 0], [3, 1], [3, 4]]
    assert sorted(album.order[album.order >= 0]) == list(range(17))


def test_more_items_leave_named_ones_out(folder):
    album = arrange(read_photos(folder), "2x4", pins={"img3.png": (1, 2)})
    assert len(album.left_out) == 4
    assert sorted([*album.order, *album.left_out]) == list(range(12))
    assert album.order[6] == 2
    assert album.to_csv().count(",,") == 4


def test_the_papers_methods_are_the_matchers(rng):
    X = rng.random((24, 3))
    album = arrange(X, "4x6", method="ks-hsic")
    assignment = KSHSIC().fit_predict(X, album.frame.cells.astype(float))
    np.testing.assert_array_equal(album.order[assignment], np.arange(24))
    progress = [step.progress for step in list(arrange_steps(X, "4x6", method="ks-hsic"))[:-1]]
    assert progress == sorted(progress)
    assert progress[0] == 0.0
    assert len(set(progress)) > 5
    for method in ("lsom", "ks-nocco"):
        assert sorted(arrange(X, "4x6", method=method).order) == list(range(24))
    with pytest.raises(ValueError, match="does not support pins"):
        arrange(X, "4x6", method="lsom", pins={0: (0, 0)})


def test_pins(rng):
    X = rng.random((18, 3))
    album = arrange(X, "4x5", pins={3: (3, 0), 4: (0, 0)})  # the first would be a blank
    places = {int(item): tuple(cell) for item, cell in zip(album.order, album.frame.cells.tolist(), strict=True)}
    assert places[3] == (3, 0)
    assert places[4] == (0, 0)
    assert (album.order < 0).sum() == 2


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ({0: (9, 0)}, "no cell at 9,0; its rows go from 0 to 3"),
        ({0: (1, 1), 1: (1, 1)}, "two items are pinned to the cell 1,1"),
        ({99: (1, 1)}, "there is no item 99"),
        ({"x.jpg": (1, 1)}, "x.jpg"),
    ],
)
def test_wrong_pins(pins, message, rng):
    with pytest.raises(ValueError, match=message):
        arrange(rng.random((20, 3)), "4x5", pins=pins)


def test_unknown_photo_pinned_twice(folder):
    photos = read_photos(folder)
    with pytest.raises(ValueError, match=r"no photo is named 'x\.jpg'"):
        arrange(photos, "3x4", pins={"x.jpg": (0, 0)})
    with pytest.raises(ValueError, match="pinned twice"):
        arrange(photos, "3x4", pins={"img1.png": (0, 0), 0: (0, 1)})


def test_wrong_features_and_methods(folder, rng):
    photos = read_photos(folder)
    with pytest.raises(ValueError, match="11 rows for 12 items"):
        arrange(photos, "3x4", features=rng.random((11, 2)))
    with pytest.raises(ValueError, match=r"method must be one of auto, .*, got 'magic'"):
        arrange(photos, "3x4", method="magic")
    with pytest.raises(ValueError, match="NaN"):
        arrange([[1.0], [np.nan]], "1x2")


def test_arrange_and_its_steps_take_the_same_parameters():
    assert inspect.signature(arrange).parameters == inspect.signature(arrange_steps).parameters


def test_the_old_name_of_the_method_warns(rng):
    X = rng.random((12, 3))
    with pytest.warns(FutureWarning, match="'default' is now called 'auto'") as warned:
        old = arrange(X, "3x4", method="default")
    assert warned[0].filename == __file__  # the caller's line
    np.testing.assert_array_equal(old.order, arrange(X, "3x4", method="auto").order)


def test_random_state_decides_the_order(rng):
    X = rng.random((60, 3))
    first, again, other = (arrange(X, "6x10", random_state=seed).order for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_a_number_of_jobs_that_is_none_is_told(n_jobs, folder, rng):
    told = "n_jobs must be a whole number other than 0"
    with pytest.raises(ValueError, match=told):
        arrange(rng.random((12, 3)), "3x4", n_jobs=n_jobs)
    with pytest.raises(ValueError, match=told):
        read_photos(folder, n_jobs=n_jobs)


def test_a_seed_that_is_none_is_told(rng):
    with pytest.raises(ValueError, match="random_state must be a whole number, 0 or more, got -1"):
        arrange(rng.random((12, 3)), "3x4", random_state=-1)


def test_a_start_keeps_most_items_near_and_ends_as_good_as_from_anywhere(rng):
    X = rng.random((120, 3))
    draft = arrange(X, "10x12", draft=True)
    refined, fresh = arrange(X, "10x12", start=draft.order), arrange(X, "10x12", random_state=1)
    assert sorted(refined.order) == list(range(120))
    assert draft.quality.dpq < refined.quality.dpq
    assert refined.quality.dpq == pytest.approx(fresh.quality.dpq, abs=0.02)

    def way(album):
        there = draft.frame.cells[np.argsort(album.order)] - draft.frame.cells[np.argsort(draft.order)]
        return np.linalg.norm(there, axis=1).mean()

    assert way(refined) < 0.5 * way(fresh)
    assert next(iter(arrange_steps(X, "10x12", start=draft.order))).order.tolist() == draft.order.tolist()


def test_a_start_of_other_items_or_pins_is_refused(rng):
    X = rng.random((6, 3))
    with pytest.raises(ValueError, match="other items or cells"):
        arrange(X, "2x3", start=[0, 1, 2, 3, 4, 4])
    with pytest.raises(ValueError, match="other items or cells"):
        arrange(X, "2x3", start=[0, 1, 2])
    with pytest.raises(ValueError, match="other items or cells"):
        arrange(X, "2x3", start=[0, 1, 2, 3, 4, 5], pins={5: (0, 0)})
    assert arrange(X, "2x3", start=[5, 1, 2, 3, 4, 0], pins={5: (0, 0)}).order[0] == 5


def test_draft_and_best_exclude_each_other():
    with pytest.raises(ValueError, match="leave one out"):
        arrange([[0.1], [0.9]], Frame.grid(1, 2), draft=True, best=True)
