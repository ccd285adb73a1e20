"""Sheets: many small tiles in one picture, for whoever draws thousands of them at once."""

from collections.abc import Iterable
from typing import Any, Literal

from pairup.extras import require

SHEET = 2048  # pixels of a sheet's width, about


def columns_of(side: int) -> int:
    """Return how many tiles a row of a sheet has, and how many rows a full sheet.

    Parameters
    ----------
    side : int
        Pixels of a tile.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> columns_of(128)
    16
    """
    return max(SHEET // side, 1)


def draw_tile(picture: Any, side: int, fit: Literal["crop", "whole"] = "crop") -> Any:
    """Draw a picture as a square tile.

    Parameters
    ----------
    picture : PIL.Image.Image
        The picture in RGB.
    side : int
        Pixels of the tile.
    fit : {"crop", "whole"}, default "crop"
        "crop" fills the tile with the middle of the picture, "whole" shows all of it, in the middle on white.

    Returns
    -------
    PIL.Image.Image
        The tile.
    """
    image, image_ops = require("PIL.Image", extra="album"), require("PIL.ImageOps", extra="album")
    if fit == "crop":
        return image_ops.fit(picture, (side, side), image.Resampling.LANCZOS)
    return image_ops.pad(picture, (side, side), image.Resampling.LANCZOS, color="white")


def draw_sheet(tiles: Iterable[Any], side: int) -> Any:
    """Put tiles on a sheet, row by row.

    Parameters
    ----------
    tiles : iterable of PIL.Image.Image
        Square tiles, at most the square of `columns_of`.
    side : int
        Pixels of a tile.

    Returns
    -------
    PIL.Image.Image
        The sheet in RGB; its last row may not be full.
    """
    image = require("PIL.Image", extra="album")
    placed, columns = list(tiles), columns_of(side)
    if not 1 <= len(placed) <= columns**2:
        raise ValueError(f"a sheet of tiles of {side} pixels holds 1 to {columns**2}, got {len(placed)}")
    sheet = image.new("RGB", (min(len(placed), columns) * side, -(-len(placed) // columns) * side), "white")
    for number, tile in enumerate(placed):
        sheet.paste(tile, (number % columns * side, number // columns * side))
    return sheet
