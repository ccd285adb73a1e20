"""Frames: the cells that an album fills."""

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.album.outlines import SHAPES, draw_shape, draw_text, fit_outline, read_mask
from pairup.types import Array, BoolArray, Indices

DRAWINGS = ("mountain", "smiley", "777")  # the paper's complex frames, of 120, 153 and 199 cells
ASPECT = 1.5  # width over height of a rectangle, unless given
LETTER = 5  # rows from which on letters can be told apart
BLANK_COST = 3  # a share b of blank cells costs as much as an aspect wrong by a factor of exp(3 b)


@dataclass(frozen=True)
class Frame:
    """Cells, or an outline that gets as many cells as there are items.

    Make one with `grid`, `auto`, `text`, `shape`, `mask`, `ascii`, `drawing`, `points` or `parse`. `arrange` calls
    `fit`, which gives it its cells.

    Parameters
    ----------
    name : str
        Its description, as in `parse`.
    cells : ndarray of shape (m, 2)
        Cells as rows (row, column); empty before `fit` if the number of items decides.
    outline : ndarray of bool, shape (height, width), optional
        The mask to cover with cells.
    aspect : float, optional
        Width over height of a rectangle whose size the number of items decides.
    legible : bool, default True
        Whether the cells show the outline: False where they are too few for its parts and holes, or for letters.

    Examples
    --------
    >>> Frame.grid(2, 3).cells.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    >>> len(Frame.shape("heart").fit(100).cells)
    100
    """

    name: str
    cells: NDArray[Any]
    outline: BoolArray | None = None
    aspect: float | None = None
    legible: bool = True

    @classmethod
    def grid(cls, rows: int, columns: int) -> "Frame":
        """Make a full rectangle.

        Parameters
        ----------
        rows, columns : int
            Its size in cells.

        Returns
        -------
        Frame
            A frame of rows × columns cells.
        """
        if rows < 1 or columns < 1:
            raise ValueError(f"a grid needs at least one row and one column, got {rows}x{columns}")
        return cls(f"{rows}x{columns}", np.argwhere(np.ones((rows, columns))))

    @classmethod
    def auto(cls, aspect: float = ASPECT) -> "Frame":
        """Make a rectangle whose size depends on the number of items.

        Parameters
        ----------
        aspect : float, default 1.5
            Width over height, approximately.

        Returns
        -------
        Frame
            A frame without cells; `fit` gives it at least as many as there are items.
        """
        if not 0.01 <= aspect <= 100:
            raise ValueError(f"the aspect of a frame must lie between 0.01 and 100, got {aspect}")
        return cls("auto", np.empty((0, 2), dtype=int), aspect=aspect)

    @classmethod
    def shape(cls, name: str) -> "Frame":
        """Make one of the built-in shapes.

        Parameters
        ----------
        name : {"circle", "heart", "ring", "smiley", "star"}
            The shape.

        Returns
        -------
        Frame
            An outline; `fit` gives it exactly as many cells as there are items.
        """
        if name not in SHAPES:
            raise ValueError(f"unknown shape {name!r}; choose one of: {', '.join(SHAPES)}")
        return cls._from_outline(f"shape:{name}", draw_shape(name))

    @classmethod
    def text(cls, text: str, font: str | os.PathLike[str] | None = None) -> "Frame":
        """Make the letters of a text.

        Parameters
        ----------
        text : str
            At least one visible character.
        font : path, optional
            Font file; by default the first font of this computer that has all characters.

        Returns
        -------
        Frame
            An outline; `fit` gives it exactly as many cells as there are items.
        """
        return cls._from_outline(f"text:{text}", draw_text(text, font))

    @classmethod
    def mask(cls, path: str | os.PathLike[str]) -> "Frame":
        """Make the dark part of a picture or, where it has transparency, the opaque part.

        Parameters
        ----------
        path : path
            A picture that Pillow reads.

        Returns
        -------
        Frame
            An outline; `fit` gives it exactly as many cells as there are items.
        """
        return cls._from_outline(f"mask:{path}", read_mask(path))

    @classmethod
    def ascii(cls, drawing: str, name: str = "ascii") -> "Frame":
        r"""Make a frame from a drawing in characters.

        Parameters
        ----------
        drawing : str
            Lines of characters; each that is not a space, a tab or a dot is a cell.
        name : str, default "ascii"
            Name of the frame.

        Returns
        -------
        Frame
            A frame of as many cells as were drawn.

        Examples
        --------
        >>> Frame.ascii("#.#\n.#.").cells.tolist()
        [[0, 0], [0, 2], [1, 1]]
        """
        lines = drawing.splitlines()
        cells = [(r, c) for r, line in enumerate(lines) for c, mark in enumerate(line) if mark not in " .\t\ufeff"]
        return cls._from_cells(name, np.array(cells, dtype=int).reshape(-1, 2))

    @classmethod
    def drawing(cls, name: str) -> "Frame":
        """Make one of the paper's complex frames.

        Parameters
        ----------
        name : {"mountain", "smiley", "777"}
            The frame: 山 (120 cells), a smiley (153) or 777 (199).

        Returns
        -------
        Frame
            The frame.
        """
        if name not in DRAWINGS:
            raise ValueError(f"unknown drawing {name!r}; choose one of: {', '.join(DRAWINGS)}")
        text = files("pairup.album").joinpath("drawings", f"{name}.txt").read_text(encoding="utf-8")
        return cls.ascii(text, f"paper:{name}")

    @classmethod
    def points(cls, coordinates: ArrayLike, name: str = "points") -> "Frame":
        """Make cells at given coordinates.

        Parameters
        ----------
        coordinates : array_like of shape (m, 2)
            Cells as rows (vertical, horizontal), downwards and to the right.
        name : str, default "points"
            Name of the frame.

        Returns
        -------
        Frame
            A frame of m cells.
        """
        cells = np.asarray(coordinates, dtype=np.float64)
        if cells.ndim != 2 or cells.shape[1] != 2 or not np.isfinite(cells).all():
            raise ValueError(f"expected finite coordinates in two columns, got an array of shape {cells.shape}")
        if len(np.unique(cells, axis=0)) < len(cells):
            raise ValueError("two cells have the same coordinates; give each cell its own")
        whole = cells.astype(int)
        return cls._from_cells(name, whole if (whole == cells).all() else cells)

    @classmethod
    def parse(cls, description: str, font: str | os.PathLike[str] | None = None) -> "Frame":
        """Make a frame from its description on the command line.

        Parameters
        ----------
        description : str
            ``16x20``, ``auto``, ``auto:1.5``, ``text:777``, ``shape:heart``, ``mask:logo.png``,
            ``ascii:drawing.txt``, ``points:cells.csv`` or ``paper:mountain``.
        font : path, optional
            Font file for a text.

        Returns
        -------
        Frame
            The frame.

        Examples
        --------
        >>> Frame.parse("4x5").name
        '4x5'
        """
        kind, _, rest = description.partition(":")
        if kind == "auto":
            return cls.auto(_parse_aspect(rest, description) if rest else ASPECT)
        if kind == "points" and rest:
            return cls.points(_read_points(Path(rest)), description)
        if kind == "ascii" and rest:
            return cls.ascii(Path(rest).read_text(encoding="utf-8-sig"), description)
        makers: dict[str, Callable[[str], Frame]] = {
            "text": lambda text: cls.text(text, font),
            "shape": cls.shape,
            "mask": cls.mask,
            "paper": cls.drawing,
        }
        if kind in makers and rest:
            return makers[kind](rest)
        rows, x, columns = description.lower().partition("x")
        if x and rows.isdigit() and columns.isdigit():
            return cls.grid(int(rows), int(columns))
        raise ValueError(
            f"unknown frame {description!r}; write 16x20 (rows x columns), auto, auto:1.5, text:777, shape:heart, "
            f"mask:logo.png, ascii:drawing.txt, points:cells.csv or paper:mountain"
        )

    @classmethod
    def _from_cells(cls, name: str, cells: NDArray[Any]) -> "Frame":
        """Make a frame of at least one cell."""
        if not len(cells):
            raise ValueError(f"the frame {name} has no cells; mark at least one")
        return cls(name, cells)

    @classmethod
    def _from_outline(cls, name: str, outline: BoolArray) -> "Frame":
        """Make a frame from an outline, trimmed to what is inside."""
        if not outline.any():
            raise ValueError(f"the frame {name} has no cells; it is empty")
        rows, columns = np.flatnonzero(outline.any(axis=1)), np.flatnonzero(outline.any(axis=0))
        trimmed = outline[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(name, np.empty((0, 2), dtype=int), outline=trimmed)

    def fit(self, n: int) -> "Frame":
        """Give the frame its cells.

        Parameters
        ----------
        n : int
            Number of items.

        Returns
        -------
        Frame
            A frame with exactly n cells for an outline, at least n for `auto`, its own cells otherwise; a full
            rectangle loses the rows at its end in which no item would lie.

        Examples
        --------
        >>> len(Frame.grid(10, 4).fit(6).cells)
        8
        """
        if n < 1:
            raise ValueError("a frame needs at least one item")
        if self.outline is not None:
            cells, faults = fit_outline(self.outline, n)
            tall = not self.name.startswith("text:") or int(np.ptp(cells[:, 0])) + 1 >= LETTER
            return replace(self, cells=cells, outline=None, legible=not faults and tall)
        if self.aspect is not None:
            return replace(self, cells=np.argwhere(np.ones(fit_grid(n, self.aspect))), aspect=None)
        if self._is_grid and n < len(self.cells):
            columns = int(self.cells[-1, 1]) + 1
            return replace(self, cells=self.cells[: -(-n // columns) * columns])
        return self

    def find_legible(self, n: int) -> int | None:
        """Find how many items the frame needs until its outline can be read.

        Parameters
        ----------
        n : int
            Number of items that are too few.

        Returns
        -------
        int or None
            The first legible number of those tried, each a quarter larger; None where the largest, about nine times n,
            is still too small.
        """
        numbers = (int(n * 1.25**power) + 1 for power in range(1, 11))
        return next((number for number in numbers if self.fit(number).legible), None)

    @property
    def _is_grid(self) -> bool:
        """Whether it is a full rectangle, as `grid` makes it."""
        rows, _, columns = self.name.partition("x")
        return rows.isdigit() and columns.isdigit() and len(self.cells) == int(rows) * int(columns)

    def blanks(self, n: int) -> Indices:
        """Choose the cells that stay blank if there are fewer items than cells: the outer cells of the last rows.

        Parameters
        ----------
        n : int
            Number of items.

        Returns
        -------
        ndarray of int
            Numbers of the blank cells, ascending.

        Examples
        --------
        >>> Frame.grid(2, 3).blanks(4).tolist()
        [3, 5]
        """
        spare = max(len(self.cells) - n, 0)
        if not spare:
            return np.empty(0, dtype=np.intp)
        row, column = self.cells.T.astype(float)
        off_centre = np.abs(column - (column.min() + column.max()) / 2)
        return np.sort(np.lexsort((column, -off_centre, -row))[:spare])

    def preview(self) -> str:
        r"""Draw the cells in characters; outlines and `auto` need `fit` first.

        Returns
        -------
        str
            Lines of # for a cell and . for none.

        Examples
        --------
        >>> print(Frame.ascii("#.#\n.#.").preview())
        #.#
        .#.
        """
        cells = self.cells - self.cells.min(axis=0)
        if not np.issubdtype(cells.dtype, np.integer):
            cells = np.rint(cells / self.pitch).astype(int)
        canvas = np.full(cells.max(axis=0) + 1, ".")
        canvas[tuple(cells.T)] = "#"
        return "\n".join("".join(line) for line in canvas)

    @property
    def pitch(self) -> float:
        """Largest side of square tiles, one per cell, that do not overlap; 1 unless the cells came as coordinates."""
        if np.issubdtype(self.cells.dtype, np.integer) or len(self.cells) < 2:
            return 1.0
        from scipy.spatial import cKDTree

        # Two square tiles overlap unless they are this far apart along one axis.
        distances = np.asarray(cKDTree(self.cells).query(self.cells, 2, p=np.inf)[0])
        return float(distances[:, 1].min())


def fit_grid(n: int, aspect: float) -> tuple[int, int]:
    """Choose rows and columns of a rectangle for n items: near the aspect, with few blanks.

    Parameters
    ----------
    n : int
        Number of items.
    aspect : float
        Width over height.

    Returns
    -------
    rows, columns : int
        The size of the rectangle.

    Examples
    --------
    >>> fit_grid(320, 1.25)
    (16, 20)
    """
    rows = np.arange(1, n + 1)
    columns = -(-n // rows)
    rows = -(-n // columns)  # no row stays blank
    cost = np.abs(np.log(columns / rows / aspect)) + BLANK_COST * (rows * columns - n) / n
    best = int(np.argmin(cost))
    return int(rows[best]), int(columns[best])


def _read_points(path: Path) -> Array:
    """Read coordinates from a csv of two columns; its first line may hold names."""
    rows = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, line in enumerate(csv.reader(file), start=1):
            try:
                rows.append([float(value) for value in line[:2]])
            except ValueError:
                if number > 1:
                    raise ValueError(f"{path}, line {number}: expected two numbers, got {','.join(line)}") from None
    return np.array([row for row in rows if row], dtype=np.float64).reshape(-1, 2)


def _parse_aspect(text: str, description: str) -> float:
    """Read 1.5 or 3:2."""
    width, colon, height = text.partition(":")
    try:
        return float(width) / float(height) if colon else float(width)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{description}: expected a number after auto:, such as auto:1.5 or auto:3:2") from None
