"""What the actions of an album do to its document."""

from collections.abc import Callable
from typing import Any

from pairup.studio.album_document import (
    ChooseFrame,
    Document,
    Keep,
    MaskFrame,
    Move,
    Pin,
    Remove,
    Restore,
    Rotate,
    SetStyle,
    SetWeights,
    Swap,
)
from pairup.studio.kinds import Change, RefusedError
from pairup.studio.project import Project


def apply(project: Project, document: Document, action: Any) -> Change:
    """Change an album by an action.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document, which stays as it is.
    action : Record
        One of the actions of an album.

    Returns
    -------
    Change
        The new document.

    Raises
    ------
    RefusedError
        If the album does not allow it.
    """
    if isinstance(action, ChooseFrame) and isinstance(action.frame, MaskFrame):
        _check_file(project, "mask", action.frame.file, "the picture of this frame")
    if isinstance(action, SetWeights) and action.weights.file is not None:
        _check_file(project, "vectors", action.weights.file, "the file of your own features")
    return ACTIONS[type(action)](document.model_copy(deep=True), action)


def _check_file(project: Project, role: str, identifier: str, what: str) -> None:
    """Refuse an action about a file that the project does not have."""
    if identifier not in {file.id for file in project.files(role)}:
        raise RefusedError(f"{what} is not in the project; upload it first")


def _swap(document: Document, action: Swap) -> Change:
    cells = len(document.order)
    if max(action.first, action.second) >= cells:
        raise RefusedError(f"the frame has {cells} cells; choose two of them")
    return _exchange(document, action.first, action.second)


def _exchange(document: Document, first: int, second: int) -> Change:
    """Swap what lies on two cells; pinned photos stay pinned, where they are now."""
    order = document.order
    order[first], order[second] = order[second], order[first]
    touched = [photo for photo in (order[first], order[second]) if photo >= 0]
    if not touched:
        raise RefusedError("both cells are empty; choose a photo")
    _mark_moved(document, touched)
    return Change(document, "move a photo" if len(touched) == 1 else "swap two photos")


def _mark_moved(document: Document, photos: list[int]) -> None:
    document.moved = [*(photo for photo in document.moved if photo not in photos), *photos]


def _move(document: Document, action: Move) -> Change:
    if action.cell >= len(document.order):
        raise RefusedError(f"the frame has {len(document.order)} cells; choose one of them")
    if action.photo in document.order:
        return _exchange(document, document.order.index(action.photo), action.cell)
    if action.photo not in document.left_out:
        raise RefusedError("this photo is not in the album; put it back first")
    before = document.order[action.cell]
    document.order[action.cell] = action.photo
    document.left_out.remove(action.photo)
    if before >= 0:
        _forget(document, [before])
        document.left_out.append(before)
    _mark_moved(document, [action.photo])
    return Change(document, "place a photo")


def _forget(document: Document, photos: list[int]) -> None:
    """Forget pins and moves of photos that have no cell any more."""
    document.pins = [photo for photo in document.pins if photo not in photos]
    document.moved = [photo for photo in document.moved if photo not in photos]


def _pin(document: Document, action: Pin) -> Change:
    photos = _check_in(action.photos, document.order)
    others = [photo for photo in document.pins if photo not in photos]
    document.pins = [*others, *photos] if action.pinned else others
    return Change(document, f"{'pin' if action.pinned else 'unpin'} {_name(photos)}")


def _remove(document: Document, action: Remove) -> Change:
    photos = _check_in(action.photos, document.photos)
    document.photos = [photo for photo in document.photos if photo not in photos]
    document.removed = [*document.removed, *photos]
    document.order = [-1 if photo in photos else photo for photo in document.order]
    document.left_out = [photo for photo in document.left_out if photo not in photos]
    _forget(document, photos)
    return Change(document, f"remove {_name(photos)}", note=describe(document))


def _restore(document: Document, action: Restore) -> Change:
    photos = _check_in(action.photos, document.removed)
    document.removed = [photo for photo in document.removed if photo not in photos]
    document.photos = sorted([*document.photos, *photos])
    for photo in photos:
        if -1 in document.order:
            document.order[document.order.index(-1)] = photo
        else:
            document.left_out.append(photo)
    return Change(document, f"put {_name(photos)} back", note=describe(document))


def _rotate(document: Document, action: Rotate) -> Change:
    photos = _check_in(action.photos, document.photos)
    for photo in photos:
        turned = (document.rotations.pop(photo, 0) + action.quarters) % 4
        if turned:
            document.rotations[photo] = turned
    return Change(document, f"rotate {_name(photos)}")


def _choose_frame(document: Document, action: ChooseFrame) -> Change:
    document.frame, document.arranged = action.frame, False
    return Change(document, "change the frame")


def _set_style(document: Document, action: SetStyle) -> Change:
    document.style = action.style
    return Change(document, "change the look")


def _set_weights(document: Document, action: SetWeights) -> Change:
    document.weights, document.arranged = action.weights, False
    return Change(document, "change what counts")


def _keep(document: Document, action: Keep) -> Change:
    placed = [photo for photo in action.order if photo >= 0]
    if len(action.cells) != len(action.order) or len({tuple(cell) for cell in action.cells}) < len(action.cells):
        raise RefusedError("expected one photo or −1 for each cell, and no cell twice")
    if len(set(placed)) < len(placed) or not set(placed) <= set(document.photos):
        raise RefusedError("expected photos of the album, each once")
    return place(document, action.cells, action.order, "arrange")


def place(document: Document, cells: list[list[int]], order: list[int], action: str) -> Change:
    """Give the photos new places.

    Parameters
    ----------
    document : Document
        The document, which is changed.
    cells : list of [int, int]
        Row and column of each cell.
    order : list of int
        The photo on each cell, −1 for none.
    action : str
        What was done.

    Returns
    -------
    Change
        The document; where it was not arranged since the last action, undo takes both back at once.
    """
    before = {photo: document.cells[cell] for cell, photo in enumerate(document.order) if photo >= 0}
    order = _hold(cells, order, {photo: before[photo] for photo in document.pins if photo in before})
    undoable, placed = document.arranged and bool(document.order), set(order)
    after = {photo: cells[cell] for cell, photo in enumerate(order) if photo >= 0}
    document.cells, document.order = cells, order
    document.left_out = [photo for photo in document.photos if photo not in placed]
    document.pins = [photo for photo in document.pins if photo in after and after[photo] == before.get(photo)]
    document.moved = [photo for photo in document.moved if photo in after and after[photo] == before.get(photo)]
    document.arranged, document.quality = True, None
    return Change(document, action, note=describe(document), undoable=undoable)


def _hold(cells: list[list[int]], order: list[int], pins: dict[int, list[int]]) -> list[int]:
    """Return an order in which pinned photos have their cells, also those pinned after the search had begun."""
    index = {(row, column): cell for cell, (row, column) in enumerate(cells)}
    held = list(order)
    for photo, (row, column) in pins.items():
        target = index.get((row, column))
        if photo in held and target is not None:
            cell = held.index(photo)
            held[cell], held[target] = held[target], photo
    return held


def describe(document: Document) -> str:
    """Describe an album for the home page.

    Parameters
    ----------
    document : Document
        The document.

    Returns
    -------
    str
        How many photos it has.
    """
    return f"{len(document.photos):,} photo{'' if len(document.photos) == 1 else 's'}"


def _check_in(photos: list[int], known: list[int]) -> list[int]:
    """Return photos once each, all of which must be known."""
    if not set(photos) <= set(known):
        raise RefusedError("this photo is not there; the album may have changed meanwhile")
    return list(dict.fromkeys(photos))


def _name(photos: list[int]) -> str:
    return "a photo" if len(photos) == 1 else f"{len(photos)} photos"


ACTIONS: dict[type, Callable[[Document, Any], Change]] = {
    Swap: _swap,
    Move: _move,
    Pin: _pin,
    Remove: _remove,
    Restore: _restore,
    Rotate: _rotate,
    ChooseFrame: _choose_frame,
    SetStyle: _set_style,
    SetWeights: _set_weights,
    Keep: _keep,
}
