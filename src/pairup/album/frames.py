"""Frames: the cells that an album fills."""

import csv
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairup.extras import require
from pairup.types import Array, BoolArray

Mask = BoolArray

SHAPES = ("circle", "heart", "ring", "smiley", "star")
DRAWINGS = ("mountain", "smiley", "777")  # the paper's complex frames, of 120, 153 and 199 cells
SIDE = 480  # pixels of the longer side at which outlines are drawn


@dataclass(frozen=True)
class Frame:
    """Cells as rows (row, column), or an outline that gets as many cells as there are items.

    Make one with `grid`, `auto`, `text`, `shape`, `mask`, `ascii`, `drawing`, `points` or `parse`; `fit(n)` gives it
    its cells, and `arrange` calls that.

    >>> Frame.grid(2, 3).cells.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    >>> len(Frame.shape("heart").fit(100).cells)
    100
    """

    name: str
    cells: NDArray[Any]
    outline: Mask | None = None
    aspect: float | None = None

    @classmethod
    def grid(cls, rows: int, columns: int) -> "Frame":
        """Take a full rectangle."""
        if rows < 1 or columns < 1:
            raise ValueError(f"a grid needs at least one row and one column, got {rows}x{columns}")
        return cls(f"{rows}x{columns}", np.argwhere(np.ones((rows, columns))))

    @classmethod
    def auto(cls, aspect: float = 1.5) -> "Frame":
        """Take the rectangle that suits the number of items, about `aspect` times as wide as high."""
        if not 0.01 <= aspect <= 100:
            raise ValueError(f"the aspect of a frame must lie between 0.01 and 100, got {aspect}")
        return cls("auto", np.empty((0, 2), dtype=int), aspect=aspect)

    @classmethod
    def shape(cls, name: str) -> "Frame":
        """Take one of the shapes in `SHAPES`."""
        if name not in SHAPES:
            raise ValueError(f"unknown shape {name!r}; choose one of: {', '.join(SHAPES)}")
        return cls._drawn(f"shape:{name}", draw_shape(name))

    @classmethod
    def text(cls, text: str, font: str | os.PathLike[str] | None = None) -> "Frame":
        """Write a text, in the given font file or in the first found that has all its characters."""
        return cls._drawn(f"text:{text}", draw_text(text, font))

    @classmethod
    def mask(cls, path: str | os.PathLike[str]) -> "Frame":
        """Take the dark part of a picture; where it has transparency, the opaque part."""
        return cls._drawn(f"mask:{path}", read_mask(path))

    @classmethod
    def ascii(cls, drawing: str, name: str = "ascii") -> "Frame":
        """Take a drawing in characters: each that is not a space or a dot is a cell.

        >>> Frame.ascii("#.#\\n.#.").cells.tolist()
        [[0, 0], [0, 2], [1, 1]]
        """
        lines = drawing.splitlines()
        cells = [(r, c) for r, line in enumerate(lines) for c, mark in enumerate(line) if mark not in " .\t\ufeff"]
        return cls._counted(name, np.array(cells, dtype=int).reshape(-1, 2))

    @classmethod
    def drawing(cls, name: str) -> "Frame":
        """Take one of the paper's complex frames: "mountain" (山, 120 cells), "smiley" (153) or "777" (199)."""
        if name not in DRAWINGS:
            raise ValueError(f"unknown drawing {name!r}; choose one of: {', '.join(DRAWINGS)}")
        text = files("pairup.album").joinpath("drawings", f"{name}.txt").read_text(encoding="utf-8")
        return cls.ascii(text, f"paper:{name}")

    @classmethod
    def points(cls, coordinates: ArrayLike, name: str = "points") -> "Frame":
        """Take cells at given places: rows of (vertical, horizontal), downwards and to the right."""
        cells = np.asarray(coordinates, dtype=np.float64)
        if cells.ndim != 2 or cells.shape[1] != 2 or not np.isfinite(cells).all():
            raise ValueError(f"expected finite coordinates in two columns, got an array of shape {cells.shape}")
        if len(np.unique(cells, axis=0)) < len(cells):
            raise ValueError("two cells lie at the same place; give each cell its own coordinates")
        whole = cells.astype(int)
        return cls._counted(name, whole if (whole == cells).all() else cells)

    @classmethod
    def parse(cls, description: str, font: str | os.PathLike[str] | None = None) -> "Frame":
        """Read a frame as it is written on the command line.

        ``16x20``, ``auto``, ``auto:1.5``, ``text:777``, ``shape:heart``, ``mask:logo.png``, ``ascii:drawing.txt``,
        ``points:cells.csv`` or ``paper:mountain``.

        >>> Frame.parse("4x5").name
        '4x5'
        """
        kind, _, rest = description.partition(":")
        if kind == "auto":
            return cls.auto(_number(rest, description) if rest else 1.5)
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
    def _counted(cls, name: str, cells: NDArray[Any]) -> "Frame":
        if not len(cells):
            raise ValueError(f"the frame {name} has no cells; mark at least one")
        return cls(name, cells)

    @classmethod
    def _drawn(cls, name: str, outline: Mask) -> "Frame":
        if not outline.any():
            raise ValueError(f"the frame {name} has no cells; it is empty")
        rows, columns = np.flatnonzero(outline.any(axis=1)), np.flatnonzero(outline.any(axis=0))
        trimmed = outline[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(name, np.empty((0, 2), dtype=int), outline=trimmed)

    def fit(self, n: int) -> "Frame":
        """Return the frame with its cells: exactly n for an outline, at least n for `auto`, its own otherwise."""
        if n < 1:
            raise ValueError("a frame needs at least one item")
        if self.outline is not None:
            return replace(self, cells=fit_outline(self.outline, n), outline=None)
        if self.aspect is not None:
            return replace(self, cells=np.argwhere(np.ones(auto_grid(n, self.aspect))), aspect=None)
        return self

    def blanks(self, n: int) -> NDArray[np.intp]:
        """Return the cells that stay blank when only n items come: the last rows' outer cells, so that it looks meant.

        >>> Frame.grid(2, 3).blanks(4).tolist()
        [3, 5]
        """
        spare = max(len(self.cells) - n, 0)
        row, column = self.cells.T.astype(float)
        off_centre = np.abs(column - (column.min() + column.max()) / 2)
        return np.sort(np.lexsort((column, -off_centre, -row))[:spare])

    def preview(self) -> str:
        """Return the cells as characters; outlines and `auto` need `fit` first.

        >>> print(Frame.ascii("#.#\\n.#.").preview())
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
        """The distance of neighbouring cells: 1 unless the cells came as coordinates."""
        if np.issubdtype(self.cells.dtype, np.integer) or len(self.cells) < 2:
            return 1.0
        from scipy.spatial import cKDTree

        # The square tiles of two cells overlap unless they are this far apart along one axis.
        distances = np.asarray(cKDTree(self.cells).query(self.cells, 2, p=np.inf)[0])
        return float(distances[:, 1].min())


def auto_grid(n: int, aspect: float) -> tuple[int, int]:
    """Return rows and columns of a rectangle for n items: near the aspect, with few blanks.

    >>> auto_grid(320, 1.25)
    (16, 20)
    """
    rows = np.arange(1, n + 1)
    columns = -(-n // rows)
    cost = np.abs(np.log(columns / rows / aspect)) + 3 * (rows * columns - n) / n
    best = int(np.argmin(cost))
    return int(rows[best]), int(columns[best])


def fit_outline(outline: Mask, n: int) -> NDArray[np.intp]:
    """Return the n cells of a square lattice that cover an outline best.

    Over several pitches, offsets and thicknesses, the cells of largest coverage are taken; those win that have as
    many parts and holes as the outline (strokes stay connected, rings stay open), then those nearest to its form.
    """
    from scipy.ndimage import binary_dilation

    if max(outline.shape) < SIDE // 2:  # small masks are pixel art: blow them up
        factor = -(-SIDE // max(outline.shape))
        outline = outline.repeat(factor, axis=0).repeat(factor, axis=1)
    target = _topology(np.pad(outline, 1))
    best: tuple[tuple[float, float], NDArray[np.intp]] | None = None
    for thickness in (0, 1, 2, 4, 8, 16):
        grown = np.pad(outline, thickness)
        if thickness:
            grown = binary_dilation(grown, iterations=thickness)
        if grown.sum() < n:  # fewer pixels than cells
            factor = int(np.ceil(np.sqrt(2 * n / grown.sum())))
            grown = grown.repeat(factor, axis=0).repeat(factor, axis=1)
        for cost, cells in _fits(grown, n, target):
            cost = (cost[0], cost[1] + 0.02 * thickness)
            if best is None or cost < best[0]:
                best = cost, cells
        if best is not None and best[0][0] == 0:
            break  # thicker is only for strokes that broke
    assert best is not None
    corner: NDArray[np.intp] = best[1].min(axis=0)
    return best[1] - corner


def _fits(outline: Mask, n: int, target: tuple[int, int]) -> Iterator[tuple[tuple[float, float], NDArray[np.intp]]]:
    """Yield ways to cover an outline by n cells: (topological faults, misfit) and the cells."""
    sums = np.pad(np.cumsum(np.cumsum(outline, axis=0), axis=1), ((1, 0), (1, 0)))
    height, width = outline.shape
    for pitch in np.sqrt(outline.sum() / n) * np.geomspace(0.8, 1.15, 15):
        for shift in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)):
            # The lattice is centred on the outline, on a cell or on an edge: symmetry stays.
            edges = []
            for side, offset in zip((height, width), shift, strict=True):
                half = int(np.ceil(side / 2 / pitch)) + 1
                lines = side / 2 + (np.arange(-half, half + 1) + offset) * pitch
                edges.append(np.clip(np.rint(lines).astype(int), 0, side))
            corner = sums[np.ix_(edges[0], edges[1])]
            covered = corner[1:, 1:] - corner[:-1, 1:] - corner[1:, :-1] + corner[:-1, :-1]
            share = covered / pitch**2
            if (share > 0).sum() < n:
                continue
            # Where shares tie, cells are taken from the top and the middle outwards.
            rows, columns = np.indices(share.shape)
            middle = np.abs(columns - (share.shape[1] - 1) / 2)
            chosen = np.lexsort((columns.ravel(), middle.ravel(), rows.ravel(), -np.round(share.ravel(), 2)))[:n]
            cells = np.zeros(share.shape, dtype=bool)
            cells.ravel()[chosen] = True
            faults = sum(abs(a - b) for a, b in zip(_topology(np.pad(cells, 1)), target, strict=True))
            misfit = float((np.minimum(share, 1) * ~cells).sum() + ((1 - np.minimum(share, 1)) * cells).sum())
            yield (float(faults), misfit / n), np.argwhere(cells)


def _topology(mask: Mask) -> tuple[int, int]:
    """Count the parts (joined also by corners) and the holes."""
    from scipy.ndimage import label

    return int(label(mask, np.ones((3, 3)))[1]), int(label(~mask)[1]) - 1


def draw_shape(name: str) -> Mask:
    """Draw a shape of `SHAPES`."""
    y, x = np.mgrid[1 : -1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    r, angle = np.hypot(x, y), np.arctan2(x, y)
    shape: Mask = r <= 1
    if name == "ring":
        shape &= r >= 0.55
    elif name == "heart":
        u, v = 1.25 * x, 1.2 * y + 0.12
        shape = (u**2 + v**2 - 1) ** 3 - u**2 * v**3 <= 0
    elif name == "star":
        # The distance of the edge between a tip (radius 1) and a notch, by the angle from the nearest tip.
        turn, notch = np.abs((angle + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5), 0.42
        shape = r <= notch * np.sin(np.pi / 5) / (notch * np.sin(np.pi / 5 - turn) + np.sin(turn))
    elif name == "smiley":
        eyes = (np.abs(np.abs(x) - 0.36) < 0.13) & (np.abs(y - 0.32) < 0.2)
        mouth = (r < 0.66) & (np.hypot(x, y - 0.22) > 0.62) & (y < -0.08)
        shape &= ~eyes & ~mouth
    return shape


def draw_text(text: str, font: str | os.PathLike[str] | None = None) -> Mask:
    """Write a text in black."""
    image, image_draw, image_font = (require(f"PIL.{m}", extra="album") for m in ("Image", "ImageDraw", "ImageFont"))
    if not text.strip():
        raise ValueError("the text of a frame has no visible character; write for example text:777")
    size = SIDE
    if font is not None:
        try:
            face = image_font.truetype(str(font), size)
        except OSError as error:
            raise ValueError(f"cannot read the font {font}: {error}; give a .ttf, .otf or .ttc file") from error
        lacking = missing_glyphs(face, text)
        if lacking:
            raise ValueError(f"the font {font} has no {' '.join(lacking)}; choose a font that has")
    else:
        face, lacking = None, list(text)
        for path in (*_font_files(), None):
            try:
                candidate = image_font.load_default(size) if path is None else image_font.truetype(str(path), size)
            except OSError:
                continue
            still = missing_glyphs(candidate, text)
            if len(still) < len(lacking):
                face, lacking = candidate, still
            if not lacking:
                break
        if face is None or lacking:
            raise ValueError(f"no font found here has {' '.join(lacking)}; give one with --font FILE (font=…)")
    # A wide setting: neighbouring letters must stay apart by a cell.
    left, top, right, bottom = face.getbbox(text)
    canvas = image.new("L", (right - left + size, bottom - top + size), 0)
    pen = image_draw.Draw(canvas)
    x = size // 2
    for character in text:
        pen.text((x, size // 2 - top), character, font=face, fill=255, stroke_width=size // 40)
        x += face.getlength(character) + size // 8
        if x + size > canvas.width:
            wider = image.new("L", (canvas.width * 2, canvas.height), 0)
            wider.paste(canvas, (0, 0))
            canvas, pen = wider, image_draw.Draw(wider)
    mask: Mask = np.asarray(canvas) > 127
    return mask


def missing_glyphs(face: Any, text: str) -> list[str]:
    """Return the characters that a font draws as it draws a code point nobody has."""

    def drawn(character: str) -> bytes:
        glyph = face.getmask(character)
        return bytes(glyph) + str(glyph.size).encode()

    nobody = {drawn("\U0010fffe"), drawn("\ue5ff")}
    return [c for c in dict.fromkeys(text) if not c.isspace() and (drawn(c) in nobody or not any(drawn(c)[:-8]))]


def _font_files() -> Iterator[Path]:
    """Yield the fonts of this computer, bold sans-serif first."""
    folders = {
        "win32": [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"],
        "darwin": [Path("/System/Library/Fonts"), Path("/Library/Fonts"), Path.home() / "Library/Fonts"],
    }.get(sys.platform, [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts"])
    found = [path for folder in folders for suffix in ("ttf", "otf", "ttc") for path in folder.rglob(f"*.{suffix}")]

    def preference(path: Path) -> tuple[bool, bool, bool, str]:
        name = path.stem.lower()
        slanted = any(word in name for word in ("italic", "oblique", "condensed", "narrow", "mono", "light"))
        return slanted, "bold" not in name, "sans" not in name and "arial" not in name, str(path)

    yield from sorted(found, key=preference)


def read_mask(path: str | os.PathLike[str]) -> Mask:
    """Return the dark (or, with transparency, the opaque) part of a picture, at most 1024 pixels wide or high."""
    image = require("PIL.Image", extra="album")
    try:
        with image.open(path) as picture:
            picture.thumbnail((1024, 1024))
            alpha = np.asarray(picture.convert("RGBA"))[..., 3]
            gray = np.asarray(picture.convert("L"))
    except (OSError, image.DecompressionBombError) as error:
        raise ValueError(f"cannot read the mask {path}: {error}; give a black-and-white PNG or JPEG") from error
    mask: Mask = alpha > 127 if (alpha < 128).any() else gray < 128
    if not mask.any():
        raise ValueError(f"the mask {path} has no dark pixel; the dark part becomes the frame")
    return mask


def _read_points(path: Path) -> Array:
    rows = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        for number, line in enumerate(csv.reader(file), start=1):
            try:
                rows.append([float(value) for value in line[:2]])
            except ValueError:
                if number > 1:  # the first line may hold names
                    raise ValueError(f"{path}, line {number}: expected two numbers, got {','.join(line)}") from None
    return np.array([row for row in rows if row], dtype=np.float64).reshape(-1, 2)


def _number(text: str, description: str) -> float:
    width, colon, height = text.partition(":")
    try:
        return float(width) / float(height) if colon else float(width)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{description}: expected a number after auto:, such as auto:1.5 or auto:3:2") from None
