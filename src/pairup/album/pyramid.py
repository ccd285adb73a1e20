"""Pyramids: an arrangement as tiles of several scales, of which a page loads only those in view."""

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairup.album.frames import Frame
from pairup.extras import require
from pairup.parallel import run

TILE = 512  # pixels a side of a tile: large enough for few requests, small enough for a phone to decode
SUBTREE = 3  # levels drawn by one task: 64 of the finest tiles
QUALITY = 82  # of a tile as JPEG
SPARSE, ROOM = 50, 10_000  # cells that the frame's rectangle may have, for each photo and beyond

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Pyramid:
    """Where the cells of a frame lie in pixels, and the tiles that show them; level 0 is one tile.

    Parameters
    ----------
    corners : ndarray of int, shape (n, 2)
        Top and left of each cell, in pixels of the finest level.
    pitch : int
        Pixels of a cell at the finest level, a power of two up to 512.
    lattice : bool
        Whether all corners are multiples of the pitch.
    """

    corners: NDArray[np.int64]
    pitch: int
    lattice: bool

    @classmethod
    def of(cls, frame: Frame, used: NDArray[np.bool_], pitch: int) -> "Pyramid":
        """Place the cells of a frame.

        Parameters
        ----------
        frame : Frame
            The frame, with its cells.
        used : ndarray of bool, shape (m,)
            Which cells have a photo.
        pitch : int
            Pixels of a cell at the finest level.

        Returns
        -------
        Pyramid
            The cells that have a photo.

        Raises
        ------
        ValueError
            If the cells lie so far apart that nearly all tiles would be empty.
        """
        cells = frame.cells[used]
        steps = (cells - cells.min(axis=0)) / frame.pitch
        extent = steps.max(axis=0) + 1
        if extent[0] * extent[1] > SPARSE * len(cells) + ROOM:
            raise ValueError(
                f"the {len(cells)} cells of {frame.name} are spread over {extent[0]:.0f} × {extent[1]:.0f}, too sparse "
                "for a wall; choose another frame, or write .csv and .svg"
            )
        corners = np.round(steps * pitch).astype(np.int64)
        return cls(corners, pitch, bool((corners % pitch == 0).all()))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels of the finest level."""
        height, width = (self.corners.max(axis=0) + self.pitch).tolist()
        return height, width

    @cached_property
    def levels(self) -> int:
        """The number of levels."""
        return 1 + max(int(np.ceil(np.log2(max(self.size) / TILE))), 0)

    def grid(self, level: int) -> tuple[int, int]:
        """Return how many tiles a level has, down and across.

        Parameters
        ----------
        level : int
            The level.

        Returns
        -------
        tuple of int
            Rows and columns.

        Examples
        --------
        >>> Pyramid(np.array([[0, 0], [0, 1024]]), 128, True).grid(2)
        (1, 3)
        """
        span = TILE << (self.levels - 1 - level)
        return -(-self.size[0] // span), -(-self.size[1] // span)

    @property
    def count(self) -> int:
        """The number of tiles of all levels."""
        return sum(rows * columns for rows, columns in map(self.grid, range(self.levels)))

    @cached_property
    def members(self) -> dict[tuple[int, int], list[int]]:
        """The cells that each of the finest tiles shows, by its row and column."""
        found: dict[tuple[int, int], list[int]] = {}
        first, last = self.corners // TILE, (self.corners + self.pitch - 1) // TILE
        for number, (top, left, bottom, right) in enumerate(np.hstack([first, last]).tolist()):
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    found.setdefault((row, column), []).append(number)
        return found


@dataclass(frozen=True)
class TileWriter:
    """Draws the tiles of a pyramid into a folder; what is there already is not drawn again.

    Parameters
    ----------
    pyramid : Pyramid
        The pyramid.
    folder : Path
        Where tiles go, as ``level/column/row.jpg``.
    picture : callable
        From the number of a cell to the path of its picture, a JPEG.
    background : tuple of int
        Red, green and blue of what no photo covers.
    fit : {"crop", "whole"}, default "crop"
        "crop" fills a cell with the middle of its picture, "whole" shows all of it.
    """

    pyramid: Pyramid
    folder: Path
    picture: Callable[[int], Path]
    background: Colour
    fit: Literal["crop", "whole"] = "crop"

    def write(self) -> Iterator[int]:
        """Draw all tiles, on all cores.

        Yields
        ------
        int
            How many are done.
        """
        top = max(self.pyramid.levels - SUBTREE, 0)
        rows, columns = self.pyramid.grid(top)
        for level in range(self.pyramid.levels):
            for column in range(self.pyramid.grid(level)[1]):
                (self.folder / str(level) / str(column)).mkdir(parents=True, exist_ok=True)
        done = 0
        tasks = [partial(self._write_subtree, top, row, column) for row in range(rows) for column in range(columns)]
        for count in run(tasks, n_jobs=-1):
            done += count
            yield done
        self.draw(0, 0, 0)  # the levels above, of which there are few
        yield self.pyramid.count

    def _write_subtree(self, level: int, row: int, column: int) -> int:
        """Draw a tile and all below it: one task. Return their number."""
        self.draw(level, row, column)
        return sum(
            len(range(row << deep, min((row + 1) << deep, rows)))
            * len(range(column << deep, min((column + 1) << deep, columns)))
            for deep in range(self.pyramid.levels - level)
            for rows, columns in [self.pyramid.grid(level + deep)]
        )

    def draw(self, level: int, row: int, column: int) -> Any:
        """Draw one tile, after those it consists of.

        A tile is written after the tiles below it: one that is there needs nothing more.

        Parameters
        ----------
        level, row, column : int
            The tile.

        Returns
        -------
        PIL.Image.Image
            The tile.
        """
        image = require("PIL.Image", extra="album")
        path = self.folder / str(level) / str(column) / f"{row}.jpg"
        if path.exists():
            with image.open(path, formats=("JPEG",)) as drawn:
                return drawn.convert("RGB")
        deepest = level == self.pyramid.levels - 1
        drawn = self._draw_cells(row, column) if deepest else self._join(level, row, column)
        write_whole(path, encode_jpeg(drawn, QUALITY))
        return drawn

    def _join(self, level: int, row: int, column: int) -> Any:
        """Draw a tile from the four below it."""
        image = require("PIL.Image", extra="album")
        drawn = image.new("RGB", (TILE, TILE), self.background)
        rows, columns = self.pyramid.grid(level + 1)
        for down in range(2 * row, min(2 * row + 2, rows)):
            for across in range(2 * column, min(2 * column + 2, columns)):
                quarter = self.draw(level + 1, down, across).reduce(2)
                drawn.paste(quarter, (across % 2 * TILE // 2, down % 2 * TILE // 2))
        return drawn

    def _draw_cells(self, row: int, column: int) -> Any:
        """Draw one of the finest tiles from the pictures of its cells."""
        image = require("PIL.Image", extra="album")
        drawn = image.new("RGB", (TILE, TILE), self.background)
        for number in self.pyramid.members.get((row, column), ()):
            top, left = self.pyramid.corners[number].tolist()
            drawn.paste(self._draw_cell(number), (left - column * TILE, top - row * TILE))
        return drawn

    def _draw_cell(self, number: int) -> Any:
        """Draw the picture of a cell."""
        image, image_ops = require("PIL.Image", extra="album"), require("PIL.ImageOps", extra="album")
        pitch = self.pyramid.pitch
        with image.open(self.picture(number), formats=("JPEG",)) as picture:
            # The decoder halves a picture more quickly than anything after it.
            shorter = pitch * max(picture.size) / min(picture.size)
            picture.draft("RGB", (round(shorter), round(shorter)))
            picture = picture.convert("RGB")
        if self.fit == "crop":
            return image_ops.fit(picture, (pitch, pitch), image.Resampling.HAMMING)
        return image_ops.pad(picture, (pitch, pitch), image.Resampling.HAMMING, color=self.background)


def encode_jpeg(picture: Any, quality: int) -> bytes:
    """Encode a picture as JPEG, without metadata.

    Parameters
    ----------
    picture : PIL.Image.Image
        A picture in RGB.
    quality : int
        Quality, 1 to 95.

    Returns
    -------
    bytes
        The file.
    """
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never there in part; what is left of one that was not finished is overwritten.

    Parameters
    ----------
    path : Path
        The file.
    content : bytes
        What it holds.
    """
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)
