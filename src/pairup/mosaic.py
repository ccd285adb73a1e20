"""Many small pictures on one sheet."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.datasets import Images

PAPER = (255, 255, 255)
MARK = (230, 0, 126)  # magenta is rare in photographs


def join_halves(images: Images, partners: ArrayLike) -> Images:
    """Return the left halves of images, each with the right half of its partner; −1 leaves that half blank.

    Parameters
    ----------
    images : n pictures of one even width, as an array (n, height, width, channels).
    partners : for each, the number of the picture whose right half it gets.

    >>> join_halves(np.arange(8, dtype=np.uint8).reshape(2, 1, 4, 1), [1, 0])[:, 0, :, 0]
    array([[0, 1, 6, 7],
           [4, 5, 2, 3]], dtype=uint8)
    """
    partners = np.asarray(partners)
    middle = images.shape[2] // 2
    joined: Images = images[partners]
    joined[partners < 0] = PAPER[0]
    joined[:, :, :middle] = images[:, :, :middle]
    return joined


def mosaic(
    tiles: Images, *, marked: ArrayLike | None = None, columns: int | None = None, gap: int = 6, frame: int = 2
) -> Images:
    """Lay tiles out in rows on a white sheet.

    Parameters
    ----------
    tiles : n pictures of one size, RGB or gray, as an array (n, height, width[, 3]).
    marked : which of them get a magenta frame, one boolean each.
    columns : tiles per row; by default as many as make the sheet a quarter wider than high.
    gap : pixels between tiles and around them.
    frame : pixels that a frame takes of the gap.

    >>> mosaic(np.zeros((6, 8, 8, 3), dtype=np.uint8), columns=3, gap=2).shape
    (22, 32, 3)
    """
    if tiles.ndim == 3:
        tiles = np.repeat(tiles[..., None], 3, axis=3)
    n, height, width, _ = tiles.shape
    if columns is None:
        columns = max(1, round((1.25 * n * height / width) ** 0.5))
    rows = -(-n // columns)
    flags: NDArray[np.bool_] = np.zeros(n, dtype=bool) if marked is None else np.asarray(marked, dtype=bool)
    sheet = np.empty((rows * (height + gap) + gap, columns * (width + gap) + gap, 3), dtype=np.uint8)
    sheet[:] = PAPER
    for i, (tile, flag) in enumerate(zip(tiles, flags, strict=True)):
        row, column = divmod(i, columns)
        top, left = gap + row * (height + gap), gap + column * (width + gap)
        if flag:
            sheet[top - frame : top + height + frame, left - frame : left + width + frame] = MARK
        sheet[top : top + height, left : left + width] = tile
    return sheet
