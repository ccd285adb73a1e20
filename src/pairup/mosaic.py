"""Many small pictures on one sheet."""

import numpy as np
from numpy.typing import ArrayLike

from pairup.types import BoolArray, Images

PAPER = (255, 255, 255)
MARK = (230, 0, 126)  # magenta is rare in photographs


def side_by_side(left: Images, right: Images, indices: ArrayLike) -> Images:
    """Join each left picture with its partner; −1 leaves the partner's place blank.

    Parameters
    ----------
    left : ndarray of shape (n, height, width[, 3])
        The left pictures.
    right : ndarray of shape (m, height, width[, 3])
        The right pictures, of the same height.
    indices : array_like of shape (n,)
        For each left picture, the number of its right one, or −1.

    Returns
    -------
    ndarray of shape (n, height, width[, 3])
        The joined pictures.

    Examples
    --------
    >>> side_by_side(np.array([[[1]], [[2]]]), np.array([[[7]], [[8]]]), [1, 0])[:, 0]
    array([[1, 8],
           [2, 7]])
    """
    indices = np.asarray(indices)
    partners = right[indices]
    partners[indices < 0] = PAPER[0]
    joined: Images = np.concatenate([left, partners], axis=2)
    return joined


def mosaic(
    tiles: Images, *, marked: ArrayLike | None = None, columns: int | None = None, gap: int = 6, frame: int = 2
) -> Images:
    """Lay tiles out in rows on a white sheet.

    Parameters
    ----------
    tiles : ndarray of shape (n, height, width[, 3])
        Pictures of one size, RGB or gray.
    marked : array_like of bool, shape (n,), optional
        Which of them get a magenta frame; None frames none.
    columns : int, optional
        Tiles per row; None makes the sheet a quarter wider than high.
    gap : int, default 6
        Pixels between tiles and around them.
    frame : int, default 2
        Width of a frame in pixels; it lies in the gap.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        The sheet in RGB.

    Examples
    --------
    >>> mosaic(np.zeros((6, 8, 8, 3), dtype=np.uint8), columns=3, gap=2).shape
    (22, 32, 3)
    """
    if tiles.ndim == 3:
        tiles = np.repeat(tiles[..., None], 3, axis=3)
    n, height, width, _ = tiles.shape
    if columns is None:
        columns = max(1, round((1.25 * n * height / width) ** 0.5))
    rows = -(-n // columns)
    flags: BoolArray = np.zeros(n, dtype=bool) if marked is None else np.asarray(marked, dtype=bool)
    sheet = np.empty((rows * (height + gap) + gap, columns * (width + gap) + gap, 3), dtype=np.uint8)
    sheet[:] = PAPER
    for i, (tile, flag) in enumerate(zip(tiles, flags, strict=True)):
        row, column = divmod(i, columns)
        top, left = gap + row * (height + gap), gap + column * (width + gap)
        if flag:
            sheet[top - frame : top + height + frame, left - frame : left + width + frame] = MARK
        sheet[top : top + height, left : left + width] = tile
    return sheet
