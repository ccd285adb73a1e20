"""Arrangement: from photos or vectors, and a frame, to an album."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup.album.album import Album, Cell, find_cell, find_item, format_cell
from pairup.album.features import photo_features
from pairup.album.frames import Frame
from pairup.album.layout import BEST, DEFAULT, DRAFT, Preset, SortStep, remaining, sort_steps
from pairup.album.photos import Photos
from pairup.methods import ALBUM_METHODS, check_method
from pairup.sampling import representatives
from pairup.types import Array, Indices
from pairup.validation import check_jobs, check_seed, check_set


def arrange(
    items: Photos | ArrayLike,
    frame: Frame | str,
    *,
    features: ArrayLike | None = None,
    pins: Mapping[Any, Cell] | None = None,
    start: ArrayLike | None = None,
    method: str = "auto",
    draft: bool = False,
    best: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Album:
    """Arrange photos or vectors in a frame, similar ones side by side.

    Blank cells remain if there are too many cells. If there are too few, a similar item represents each that is left
    out (`pairup.sampling.representatives`).

    Parameters
    ----------
    items : Photos, or array_like of shape (n, d)
        Photos, or vectors as rows.
    frame : Frame or str
        A frame, or its description as in `Frame.parse`.
    features : array_like of shape (n, k), optional
        The numbers by which items are compared; by default `photo_features`, or the vectors themselves.
    pins : mapping of int or str to (row, column), optional
        Cells of items that must not move; an item is given by its number or, for photos, by its name.
    start : array_like of shape (m,), optional
        The item on each cell to begin with, −1 for a blank, as in a draft of the same items in the same frame; most
        items then stay near where they are ("auto" only). By default a random order.
    method : {"auto", "lsom", "ks-hsic", "ks-nocco"}, default "auto"
        "auto" sorts as `pairup.album.layout` describes; the others are the paper's methods.
    draft : bool, default False
        Whether to stop after a rough sorting, several times sooner ("auto" only).
    best : bool, default False
        Whether to sort as well as possible, ten times as long or more ("auto" only).
    random_state : int, default 0
        Seed of the first order and of the search ("auto" only).
    n_jobs : int, optional
        Tasks run at the same time, as in joblib; the result does not depend on it.

    Returns
    -------
    Album
        The items on the cells.

    Raises
    ------
    ValueError
        If features, pins or method do not fit.

    Examples
    --------
    >>> album = arrange([[0.1], [0.9], [0.5], [0.7]], Frame.grid(1, 4))
    >>> album.order.tolist() in ([0, 2, 3, 1], [1, 3, 2, 0])
    True
    """
    steps = arrange_steps(
        items,
        frame,
        features=features,
        pins=pins,
        start=start,
        method=check_method(method, ALBUM_METHODS),  # here, so that a warning names the line of the caller
        draft=draft,
        best=best,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    for step in steps:
        if isinstance(step, Album):
            return step
    raise AssertionError("arrange_steps ends with an album")


def arrange_steps(
    items: Photos | ArrayLike,
    frame: Frame | str,
    *,
    features: ArrayLike | None = None,
    pins: Mapping[Any, Cell] | None = None,
    start: ArrayLike | None = None,
    method: str = "auto",
    draft: bool = False,
    best: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Iterator[SortStep | Album]:
    """Arrange step by step, with the parameters of `arrange`.

    Parameters
    ----------
    items, frame : as in `arrange`
        The items and the frame.
    features, pins : as in `arrange`, optional
        What to compare, and what must not move.
    start : array_like of shape (m,), optional
        The item on each cell to begin with ("auto" only).
    method : str, default "auto"
        One of "auto", "lsom", "ks-hsic", "ks-nocco".
    draft, best : bool, default False
        Whether a rough sorting is enough, or the best is wanted.
    random_state : int, default 0
        Seed of the search.
    n_jobs : int, optional
        Tasks run at the same time.

    Yields
    ------
    SortStep
        Progress, and the item on each cell (−1 for a blank).
    Album
        The result, at the end.

    Examples
    --------
    >>> *steps, album = arrange_steps([[0.1], [0.9], [0.5], [0.7]], Frame.grid(1, 4))
    >>> steps[-1].progress, bool((steps[-1].order == album.order).all())
    (1.0, True)
    """
    method = check_method(method, ALBUM_METHODS)
    check_seed(random_state)
    check_jobs(n_jobs)
    preset = _choose_preset(draft, best)
    photos = items if isinstance(items, Photos) else None
    X = _check_features(items, features)
    frame = (Frame.parse(frame) if isinstance(frame, str) else frame).fit(len(X))
    pinned = check_pins(pins or {}, frame, photos, len(X))
    subset = Subset.of(X, frame, pinned)
    coordinates = frame.cells[subset.cells].astype(np.float64)
    if method == "auto":
        steps = sort_steps(
            X[subset.items],
            coordinates,
            pins=subset.number_pins(pinned),
            start=None if start is None else subset.find(np.asarray(start), pinned),
            preset=preset,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    elif pinned:
        raise ValueError(f'the method {method} does not support pins; use method="auto", or leave the pins out')
    else:
        steps = _match_steps(X[subset.items], coordinates, method, n_jobs)
    order = None
    for step in steps:
        order = subset.place(step.order, len(frame.cells))
        yield SortStep(step.progress, order)
    assert order is not None
    left_out = tuple(remaining(len(X), subset.items).tolist())
    yield Album(frame, order, X, photos, left_out, pinned)


def _choose_preset(draft: bool, best: bool) -> Preset:
    """Return how much work is wanted."""
    if draft and best:
        raise ValueError("draft and best were both given; a sorting is one or the other, leave one out")
    return DRAFT if draft else BEST if best else DEFAULT


def _check_features(items: Photos | ArrayLike, features: ArrayLike | None) -> Array:
    """Return the features by which items are compared, a row for each."""
    if features is not None:
        X = check_set(features, "the features", at_least=1)
    elif isinstance(items, Photos):
        X = photo_features(items)
    else:
        X = check_set(items, "the items", at_least=1)
    count = len(items if isinstance(items, Photos) else np.asarray(items))
    if len(X) != count:
        raise ValueError(f"the features have {len(X)} rows for {count} items; give a row per item")
    return X


@dataclass(frozen=True)
class Subset:
    """The items and the cells that take part: equally many of both.

    Parameters
    ----------
    items : ndarray of int
        Items that get a cell, ascending.
    cells : ndarray of int
        Cells that get an item, ascending.
    """

    items: Indices
    cells: Indices

    @classmethod
    def of(cls, X: Array, frame: Frame, pins: Mapping[int, int]) -> "Subset":
        """Choose representatives if there are too many items, and blanks if there are too many cells.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features of all items.
        frame : Frame
            The frame, with its cells.
        pins : mapping of int to int
            Cell of each pinned item; both take part.

        Returns
        -------
        Subset
            The items and cells that take part.
        """
        m = len(frame.cells)
        items = representatives(X, m, first=list(pins)) if len(X) > m else np.arange(len(X))
        blank, wanted = frame.blanks(len(items)), list(pins.values())
        # A pin on a blank cell makes the last free cell blank instead.
        free = remaining(m, np.concatenate([blank, wanted]))
        taken = np.intersect1d(blank, wanted)
        blank = np.concatenate([blank, free[::-1][: len(taken)]]).astype(np.intp)
        blank = blank[~np.isin(blank, taken)]
        return cls(items, remaining(m, blank))

    def number_pins(self, pins: Mapping[int, int]) -> dict[int, int]:
        """Number pinned items and cells among those that take part.

        Parameters
        ----------
        pins : mapping of int to int
            Cell of each pinned item.

        Returns
        -------
        dict of int to int
            The same with positions in `items` and `cells`.
        """
        return {
            int(np.searchsorted(self.items, item)): int(np.searchsorted(self.cells, cell))
            for item, cell in sorted(pins.items())
        }

    def find(self, order: Indices, pins: Mapping[int, int]) -> Indices:
        """Return an order of all cells as one of those that take part: the inverse of `place`.

        Parameters
        ----------
        order : ndarray of shape (m,)
            The item on each of all cells.
        pins : mapping of int to int
            Cell of each pinned item.

        Returns
        -------
        ndarray of shape (k,)
            For each cell that takes part, the position of its item in `items`.

        Raises
        ------
        ValueError
            If other items or cells take part in it, or pinned items lie elsewhere.
        """
        fits = len(order) > int(self.cells.max()) and np.array_equal(np.sort(order[self.cells]), self.items)
        if not fits or any(order[cell] != item for item, cell in pins.items()):
            raise ValueError("the start holds other items or cells than the album; leave it out, or arrange a draft")
        return np.searchsorted(self.items, order[self.cells])

    def place(self, order: Indices, m: int) -> Indices:
        """Return the item on each of all m cells.

        Parameters
        ----------
        order : ndarray of shape (k,)
            For each cell that takes part, the position of its item in `items`.
        m : int
            Number of all cells.

        Returns
        -------
        ndarray of shape (m,)
            The item on each cell, −1 for a blank.
        """
        if len(self.cells) == m and self.items[-1] == m - 1:  # all of both, as ever in a large rectangle
            return order
        whole = np.full(m, -1, dtype=np.intp)
        whole[self.cells] = self.items[order]
        return whole


def _match_steps(X: Array, coordinates: Array, method: str, n_jobs: int | None) -> Iterator[SortStep]:
    """Arrange by one of the paper's methods: match the items with the coordinates of the cells."""
    from pairup.matchers import KSHSIC, KSNOCCO, LSOM

    if len(X) < 3:
        yield SortStep(1.0, np.arange(len(X)))
        return
    matcher = {"lsom": LSOM, "ks-hsic": KSHSIC, "ks-nocco": KSNOCCO}[method](n_jobs=n_jobs)
    for step in matcher.steps(X, coordinates):
        yield SortStep(step.start / matcher.n_searches_, np.argsort(step.indices))
    yield SortStep(1.0, np.argsort(matcher.assignment_))


def check_pins(pins: Mapping[Any, Cell], frame: Frame, photos: Photos | None, n: int) -> dict[int, int]:
    """Check pins, and return them as numbers.

    Parameters
    ----------
    pins : mapping of int or str to (row, column)
        Cell of each pinned item; an item is given by its number or, for photos, by its name.
    frame : Frame
        The frame, with its cells.
    photos : Photos or None
        The photos, if the items are photos.
    n : int
        Number of items.

    Returns
    -------
    dict of int to int
        Number of the cell of each pinned item.

    Raises
    ------
    ValueError
        If there is no such item or cell, or two pins contradict each other.

    Examples
    --------
    >>> check_pins({2: (1, 0)}, Frame.grid(2, 3), None, 6)
    {2: 3}
    """
    found: dict[int, int] = {}
    for item, cell in pins.items():
        number, target = find_item(item, photos, n), find_cell(frame, cell)
        if target in found.values():
            raise ValueError(f"two items are pinned to the cell {format_cell(cell)}; give each its own")
        if number in found:
            raise ValueError(f"the item {item} is pinned twice; pin it to one cell")
        found[number] = target
    return found
