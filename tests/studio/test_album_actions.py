from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from pairup.studio.album_actions import apply, describe, place
from pairup.studio.album_document import Action, Document
from pairup.studio.kinds import RefusedError


class NoFiles:
    def files(self, role=None):
        return []


def album(**changes):
    cells = [[row, column] for row in range(2) for column in range(3)]
    return Document(photos=[0, 1, 2, 3, 4], cells=cells, order=[0, 1, 2, 3, 4, -1], **changes)


def act(document, **action):
    return apply(NoFiles(), document, TypeAdapter(Action).validate_python(action))


def test_swapping_twice_is_nothing_and_marks_both_as_moved():
    document = album()
    once = act(document, type="swap", first=0, second=4).document
    assert document.order == [0, 1, 2, 3, 4, -1]  # the document itself stays: undo needs it
    assert once.order == [4, 1, 2, 3, 0, -1]
    assert once.moved == [4, 0]
    assert act(once, type="swap", first=0, second=4).document.order == document.order


def test_a_photo_moves_to_an_empty_cell():
    change = act(album(pins=[1]), type="move", photo=1, cell=5)
    assert (change.document.order, change.action) == ([0, -1, 2, 3, 4, 1], "move a photo")
    assert change.document.pins == [1]


def test_a_photo_that_was_left_out_takes_the_place_of_another():
    document = album(pins=[2], moved=[2])
    document.photos.append(7)
    document.left_out = [7]
    after = act(document, type="move", photo=7, cell=2).document
    assert (after.order[2], after.left_out, after.pins, after.moved) == (7, [2], [], [7])


def test_pins_come_and_go():
    pinned = act(album(), type="pin", photos=[3, 3, 1], pinned=True)
    assert (pinned.document.pins, pinned.action) == ([3, 1], "pin 2 photos")
    assert act(pinned.document, type="pin", photos=[3], pinned=False).document.pins == [1]


def test_what_is_removed_comes_back():
    gone = act(album(pins=[1]), type="remove", photos=[1])
    assert (gone.document.order, gone.document.removed, gone.document.pins) == ([0, -1, 2, 3, 4, -1], [1], [])
    assert gone.note == "4 photos"
    back = act(gone.document, type="restore", photos=[1]).document
    assert (back.photos, back.removed, sorted(back.order)) == ([0, 1, 2, 3, 4], [], [-1, 0, 1, 2, 3, 4])


def test_what_comes_back_without_an_empty_cell_is_left_out():
    document = Document(photos=[0], removed=[1], cells=[[0, 0]], order=[0])
    assert act(document, type="restore", photos=[1]).document.left_out == [1]


def test_four_quarters_are_none():
    document = album()
    for quarters in (1, 2, 3):
        document = act(document, type="rotate", photos=[2], quarters=1).document
        assert document.rotations == {2: quarters}
    assert act(document, type="rotate", photos=[2], quarters=1).document.rotations == {}


def test_a_new_frame_and_its_arrangement_are_one_step_of_undo():
    chosen = act(album(pins=[0, 4]), type="frame", frame={"kind": "grid", "rows": 1, "columns": 5})
    assert chosen.undoable
    assert not chosen.document.arranged
    cells = [[0, column] for column in range(5)]
    placed = place(chosen.document, cells, [0, 2, 1, 3, 4], "arrange")
    assert not placed.undoable
    assert placed.document.arranged
    assert placed.document.pins == [0]  # photo 4 lost its cell
    assert place(placed.document, cells, [4, 3, 2, 1, 0], "arrange").undoable


def test_a_step_that_is_kept_must_be_one():
    cells = [[0, 0], [0, 1]]
    kept = act(album(), type="keep", cells=cells, order=[3, 1])
    assert kept.document.left_out == [0, 2, 4]
    for wrong in ([3], [3, 3], [3, 9]):
        with pytest.raises(RefusedError, match="expected"):
            act(album(), type="keep", cells=cells, order=wrong)
    with pytest.raises(RefusedError, match="no cell twice"):
        act(album(), type="keep", cells=[[0, 0], [0, 0]], order=[0, 1])


@pytest.mark.parametrize(
    "action",
    [
        {"type": "swap", "first": 0, "second": 6},
        {"type": "swap", "first": 5, "second": 5},
        {"type": "move", "photo": 9, "cell": 0},
        {"type": "move", "photo": 0, "cell": 99},
        {"type": "pin", "photos": [9], "pinned": True},
        {"type": "remove", "photos": [9]},
        {"type": "restore", "photos": [0]},
        {"type": "rotate", "photos": [9]},
        {"type": "frame", "frame": {"kind": "mask", "file": "0" * 16}},
    ],
)
def test_what_is_not_there_is_refused(action):
    with pytest.raises(RefusedError):
        act(album(), **action)


def test_own_features_need_their_file():
    class WithVectors(NoFiles):
        def files(self, role=None):
            return [SimpleNamespace(id="a" * 16)] if role == "vectors" else []

    weights = {"colour": 0, "edges": 0, "vectors": 1, "file": "a" * 16}
    action = TypeAdapter(Action).validate_python({"type": "weights", "weights": weights})
    assert apply(WithVectors(), album(), action).document.weights.file == "a" * 16
    with pytest.raises(RefusedError, match="your own features is not in the project"):
        apply(NoFiles(), album(), action)


def test_the_home_page_counts():
    assert [describe(Document(photos=photos)) for photos in ([], [1], [1, 2])] == ["0 photos", "1 photo", "2 photos"]


number = st.integers(0, 7)
actions = st.one_of(
    st.builds(lambda a, b: {"type": "swap", "first": a, "second": b}, number, number),
    st.builds(lambda a, b: {"type": "move", "photo": a, "cell": b}, number, number),
    st.builds(lambda a, b: {"type": "pin", "photos": [a], "pinned": b}, number, st.booleans()),
    st.builds(lambda a, kind: {"type": kind, "photos": [a]}, number, st.sampled_from(["remove", "restore", "rotate"])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(actions, max_size=25))
def test_whatever_is_done_no_photo_is_lost_or_doubled(chosen):
    document = album()
    for action in chosen:
        try:
            document = act(document, **action).document
        except RefusedError:
            continue
        placed = [photo for photo in document.order if photo >= 0]
        assert sorted(placed + document.left_out) == sorted(document.photos)
        assert sorted(document.photos + document.removed) == [0, 1, 2, 3, 4]
        assert set(document.pins) <= set(placed)
        assert set(document.moved) <= set(placed)


def test_a_photo_pinned_while_a_search_went_on_keeps_its_cell():
    document = album(pins=[4, 0])
    after = place(document, document.cells, [4, 2, 1, 0, 3, -1], "arrange").document  # searched without the pins
    assert (after.order[0], after.order[4], after.pins) == (0, 4, [4, 0])
    assert sorted(after.order) == [-1, 0, 1, 2, 3, 4]
    # where the frame has no such cell, the photo is let go
    smaller = place(album(pins=[4]), [[0, 0], [0, 1]], [3, 4], "arrange").document
    assert (smaller.order, smaller.pins, smaller.left_out) == ([3, 4], [], [0, 1, 2])
