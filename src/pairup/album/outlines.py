"""Outlines: shapes, texts and pictures as masks, and the cells that cover a mask."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairup.extras import require
from pairup.types import Array, BoolArray, Indices

SHAPES = ("circle", "heart", "ring", "smiley", "star")
SIDE = 480  # pixels of the longer side of an outline
MASK_SIDE = 1024  # pixels to which larger pictures are scaled down
MASK_PIXELS = 50_000_000  # that a picture may have before it is scaled down
THICKNESSES = (0, 1, 2, 4, 8, 16)  # pixels by which thin strokes are thickened until they stay connected
THICKNESS_COST = 0.02  # misfit that a pixel of thickness is worth
PITCHES = (0.8, 1.15, 15)  # first and last pitch tried, relative to √(area / n), and how many
SHIFTS = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5))  # a cell or an edge in the middle: symmetry stays
MIRRORED = 0.01  # pixels that differ from their mirror image, as a share of the outline, in what is called symmetric
WEAKEST = 12  # cells tried, those of which the least is covered first, to make a nub wider
NUB_COST = 1.0  # misfit, in cells, that a cell with fewer than two neighbours is worth

Topology = tuple[int, int]  # parts, holes


class Fit(NamedTuple):
    """Cells that cover an outline.

    Parameters
    ----------
    cells : ndarray of shape (n, 2)
        Cells as rows (row, column), from 0.
    faults : int
        How many parts and holes the cells have too many or too few: more than 0 where the cells are too few to show the
        outline.
    """

    cells: Indices
    faults: int


def fit_outline(outline: BoolArray, n: int) -> Fit:
    """Return the n cells of a square lattice that cover an outline best.

    Several pitches, offsets and thicknesses are tried; each takes the n cells of largest coverage. The best has as
    many parts and holes as the outline (strokes stay connected, rings stay open), and then the least misfit. Where the
    outline is its own mirror image, so are the cells, left to right at any number and top to bottom where the number
    allows it: cells are taken in pairs, single ones on the axis.

    Parameters
    ----------
    outline : ndarray of bool, shape (height, width)
        The pixels to cover.
    n : int
        Number of cells.

    Returns
    -------
    Fit
        The cells, and how many faults they have.

    Examples
    --------
    >>> fit_outline(np.array([[True, False], [True, True]]), 3).cells.tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    if max(outline.shape) < SIDE // 2:  # pixel art: enlarge it
        factor = -(-SIDE // max(outline.shape))
        outline = outline.repeat(factor, axis=0).repeat(factor, axis=1)
    mirrors = [axis for axis in (1, 0) if _is_mirrored(outline, axis)]
    for axis in mirrors:
        outline = outline | np.flip(outline, axis)
    found: list[tuple[int, Indices]] = []
    for axes in (mirrors, mirrors[:1]) if len(mirrors) == 2 else (mirrors,):
        best = _fit_thickness(outline, n, tuple(axes), is_round=len(axes) < len(mirrors))
        if best is not None:
            found.append((int(best[0][0]), best[1]))
            if not found[-1][0]:
                break
    if not found:  # so few cells that none lies on the axis
        best = _fit_thickness(outline, n, ())
        assert best is not None
        found.append((int(best[0][0]), best[1]))
    faults, cells = min(found, key=lambda each: each[0])
    corner: Indices = cells.min(axis=0)
    return Fit(cells - corner, faults)


def _is_mirrored(outline: BoolArray, axis: int) -> bool:
    """Tell whether an outline is its own mirror image, but for single pixels."""
    return bool((outline != np.flip(outline, axis)).sum() <= MIRRORED * outline.sum())


def _fit_thickness(
    outline: BoolArray, n: int, mirrors: tuple[int, ...], *, is_round: bool = False
) -> tuple[tuple[float, float], Indices] | None:
    """Return the cost (faults, misfit) and the cells of the best fit; None where none has the symmetry.

    An outline that is round has no tip, and so no single cell on the axis should stick out of it.
    """
    from scipy.ndimage import binary_dilation

    target = _count_parts(np.pad(outline, 1))
    best: tuple[tuple[float, float], Indices] | None = None
    for thickness in THICKNESSES:
        grown = np.pad(outline, thickness)
        if thickness:
            grown = binary_dilation(grown, iterations=thickness)
        if grown.sum() < n:  # fewer pixels than cells
            factor = int(np.ceil(np.sqrt(2 * n / grown.sum())))
            grown = grown.repeat(factor, axis=0).repeat(factor, axis=1)
        for faults, misfit, cells in _try_lattices(grown, n, target, mirrors, is_round):
            cost = faults, misfit + THICKNESS_COST * thickness
            if best is None or cost < best[0]:
                best = cost, cells
        if best is not None and best[0][0] == 0:
            break  # only strokes that broke need to be thicker
    return best


def _try_lattices(
    outline: BoolArray, n: int, target: Topology, mirrors: tuple[int, ...], is_round: bool
) -> Iterator[tuple[float, float, Indices]]:
    """Yield ways to cover an outline by n cells: topological faults, misfit, and the cells."""
    sums = np.pad(np.cumsum(np.cumsum(outline, axis=0), axis=1), ((1, 0), (1, 0)))
    for pitch in np.sqrt(outline.sum() / n) * np.geomspace(*PITCHES):
        for shift in SHIFTS:
            edges = []
            for side, offset in zip(outline.shape, shift, strict=True):
                half = int(np.ceil(side / 2 / pitch)) + 1
                lines = side / 2 + (np.arange(-half - (offset > 0), half + 1) + offset) * pitch
                edges.append(np.clip(np.rint(lines).astype(int), 0, side))
            corner = sums[np.ix_(edges[0], edges[1])]
            covered = corner[1:, 1:] - corner[:-1, 1:] - corner[1:, :-1] + corner[:-1, :-1]
            share = covered / pitch**2
            for axis in mirrors:  # rounding to pixels moves edges by half a pixel
                share = (share + np.flip(share, axis)) / 2
            cells = choose_cells(share, n, mirrors)
            if cells is None:
                continue
            if is_round:
                _widen_nub(cells, share)
            faults = sum(abs(a - b) for a, b in zip(_count_parts(np.pad(cells, 1)), target, strict=True))
            misfit = float((np.minimum(share, 1) * ~cells).sum() + ((1 - np.minimum(share, 1)) * cells).sum())
            yield float(faults), (misfit + NUB_COST * _count_nubs(cells)) / n, np.argwhere(cells)


def choose_cells(share: Array, n: int, mirrors: tuple[int, ...]) -> BoolArray | None:
    """Choose the n cells of largest share, with the mirror images of each.

    Parameters
    ----------
    share : ndarray of shape (rows, columns)
        Share of each cell that is covered, equal for mirror images.
    n : int
        Number of cells.
    mirrors : tuple of int
        Axes along which the choice must be its own mirror image: 0 top to bottom, 1 left to right.

    Returns
    -------
    ndarray of bool, shape (rows, columns), or None
        The cells; None where there is no such choice.

    Examples
    --------
    >>> choose_cells(np.array([[0.2, 0.9, 0.2], [0.6, 0.5, 0.6]]), 3, (1,)).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1]]
    """
    # Where shares tie, cells are taken from the top and the middle outwards.
    rows, columns = np.indices(share.shape)
    middle = np.abs(columns - (share.shape[1] - 1) / 2)
    order = np.lexsort((columns.ravel(), middle.ravel(), rows.ravel(), -np.round(share.ravel(), 2)))
    order = order[share.ravel()[order] > 0]
    numbers = np.arange(share.size).reshape(share.shape)
    images = [numbers.ravel()]
    for axis in mirrors:
        images += [np.flip(image.reshape(share.shape), axis).ravel() for image in tuple(images)]
    orbit = np.min(images, axis=0)  # a cell and its mirror images have one number
    size = np.bincount(orbit, minlength=share.size)
    first = order[orbit[order] == order]  # one cell of each orbit, those of largest share first
    # How many orbits of each size: all ways that give n cells, of which the largest sum of shares wins.
    ranked = [first[size[first] == width] for width in (4, 2, 1)]
    sums = [
        np.concatenate([[0.0], np.cumsum(width * share.ravel()[r])]) for width, r in zip((4, 2, 1), ranked, strict=True)
    ]
    twos, ones = np.meshgrid(np.arange(len(sums[1])), np.arange(len(sums[2])), indexing="ij")
    rest = n - 2 * twos - ones
    possible = (rest >= 0) & (rest % 4 == 0) & (rest // 4 < len(sums[0]))
    if not possible.any():
        return None
    total = sums[0][np.where(possible, rest // 4, 0)] + sums[1][twos] + sums[2][ones]
    best = int(np.argmax(np.where(possible, np.round(total, 2), -np.inf)))
    counts = int(rest.ravel()[best]) // 4, int(twos.ravel()[best]), int(ones.ravel()[best])
    chosen = np.concatenate([r[:count] for r, count in zip(ranked, counts, strict=True)])
    cells: BoolArray = np.isin(orbit, chosen).reshape(share.shape)
    return cells


def _count_nubs(cells: BoolArray) -> int:
    """Count the cells with fewer than two of the four neighbours."""
    return int((cells & (_count_neighbours(cells) < 2)).sum())


def _count_neighbours(cells: BoolArray) -> Indices:
    """Count how many of the four places beside each place are cells."""
    padded = np.pad(cells, 1).astype(np.intp)
    return padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]


def _widen_nub(cells: BoolArray, share: Array) -> None:
    """Give a cell on the upright axis that sticks out a neighbour on both sides, taken where the least is covered."""
    middle = cells.shape[1] // 2
    if cells.shape[1] % 2 == 0:  # no cell lies on the axis
        return
    for row in np.flatnonzero(cells[:, middle] & (_count_neighbours(cells)[:, middle] < 2)):
        beside = [middle - 1, middle + 1]
        if cells[row, beside].any():
            continue
        left = np.where(cells[:, :middle], share[:, :middle], np.inf)
        for place in np.argsort(left, axis=None)[:WEAKEST]:
            r, c = np.unravel_index(place, left.shape)
            moved = cells.copy()
            moved[row, beside], moved[r, [c, cells.shape[1] - 1 - c]] = True, False
            if np.isfinite(left[r, c]) and _count_nubs(moved) < _count_nubs(cells):
                cells[:] = moved
                break


def _count_parts(mask: BoolArray) -> Topology:
    """Count the parts (connected also by corners) and the holes."""
    from scipy.ndimage import label

    return int(label(mask, np.ones((3, 3)))[1]), int(label(~mask)[1]) - 1


def draw_shape(name: str) -> BoolArray:
    """Draw one of the shapes in `SHAPES`.

    Parameters
    ----------
    name : {"circle", "heart", "ring", "smiley", "star"}
        The shape.

    Returns
    -------
    ndarray of bool, shape (480, 480)
        The pixels inside.
    """
    y, x = np.mgrid[1 : -1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    r, angle = np.hypot(x, y), np.arctan2(x, y)
    shape: BoolArray = r <= 1
    if name == "ring":
        shape &= r >= 0.55
    elif name == "heart":
        u, v = 1.25 * x, 1.2 * y + 0.12
        shape = (u**2 + v**2 - 1) ** 3 - u**2 * v**3 <= 0
    elif name == "star":
        # The radius of the edge between a tip (radius 1) and a notch, by the angle from the nearest tip.
        turn, notch = np.abs((angle + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5), 0.42
        shape = r <= notch * np.sin(np.pi / 5) / (notch * np.sin(np.pi / 5 - turn) + np.sin(turn))
    elif name == "smiley":
        eyes = (np.abs(np.abs(x) - 0.36) < 0.13) & (np.abs(y - 0.32) < 0.2)
        mouth = (r < 0.66) & (np.hypot(x, y - 0.22) > 0.62) & (y < -0.08)
        shape &= ~eyes & ~mouth
    return shape


def draw_text(text: str, font: str | os.PathLike[str] | None = None) -> BoolArray:
    """Draw a text in one line, letters set apart.

    Parameters
    ----------
    text : str
        At least one visible character.
    font : path, optional
        Font file; by default the first font of this computer that has all characters.

    Returns
    -------
    ndarray of bool, shape (height, width)
        The pixels of the letters.
    """
    image, image_draw = (require(f"PIL.{module}", extra="album") for module in ("Image", "ImageDraw"))
    if not text.strip():
        raise ValueError("the text of a frame has no visible character; write for example text:777")
    face = _find_font(text) if font is None else _load_font(text, font)
    left, top, right, bottom = face.getbbox(text)
    canvas = image.new("L", (right - left + SIDE, bottom - top + SIDE), 0)
    pen = image_draw.Draw(canvas)
    x = SIDE // 2
    for character in text:
        pen.text((x, SIDE // 2 - top), character, font=face, fill=255, stroke_width=SIDE // 40)
        x += face.getlength(character) + SIDE // 8  # neighbouring letters must stay apart by a cell
        if x + SIDE > canvas.width:
            wider = image.new("L", (canvas.width * 2, canvas.height), 0)
            wider.paste(canvas, (0, 0))
            canvas, pen = wider, image_draw.Draw(wider)
    mask: BoolArray = np.asarray(canvas) > 127
    return mask


def _load_font(text: str, font: str | os.PathLike[str]) -> Any:
    """Load a font file that must have all characters of a text."""
    try:
        face = require("PIL.ImageFont", extra="album").truetype(str(font), SIDE)
    except OSError as error:
        raise ValueError(f"cannot read the font {font}: {error}; give a .ttf, .otf or .ttc file") from error
    missing = find_missing_glyphs(face, text)
    if missing:
        raise ValueError(f"the font {font} has no {' '.join(missing)}; choose a font that has")
    return face


def _find_font(text: str) -> Any:
    """Load the first font of this computer, or Pillow's own, that has all characters of a text."""
    image_font = require("PIL.ImageFont", extra="album")
    least = list(text)
    for path in (*list_fonts(), None):
        try:
            face = image_font.load_default(SIDE) if path is None else image_font.truetype(str(path), SIDE)
        except OSError:
            continue
        missing = find_missing_glyphs(face, text)
        if not missing:
            return face
        least = min(least, missing, key=len)
    raise ValueError(f"no font on this computer has {' '.join(least)}; give one with --font FILE (font=…)")


def find_missing_glyphs(face: Any, text: str) -> list[str]:
    """Return the characters that a font lacks: it draws them like an unassigned code point.

    Parameters
    ----------
    face : PIL.ImageFont.FreeTypeFont
        The font.
    text : str
        The characters to look for.

    Returns
    -------
    list of str
        Those that are missing, each once.
    """

    def draw(character: str) -> bytes:
        glyph = face.getmask(character)
        return bytes(glyph) + str(glyph.size).encode()

    unassigned = {draw("\U0010fffe"), draw("\ue5ff")}
    return [c for c in dict.fromkeys(text) if not c.isspace() and (draw(c) in unassigned or not any(draw(c)[:-8]))]


def list_fonts(*, bold: bool = True) -> Iterator[Path]:
    """Yield the fonts of this computer, sans-serif ones first.

    Parameters
    ----------
    bold : bool, default True
        Whether bold fonts come before the others, or after them.

    Yields
    ------
    Path
        Font files.
    """
    folders = {
        "win32": [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"],
        "darwin": [Path("/System/Library/Fonts"), Path("/Library/Fonts"), Path.home() / "Library/Fonts"],
    }.get(sys.platform, [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts"])
    found = [path for folder in folders for suffix in ("ttf", "otf", "ttc") for path in folder.rglob(f"*.{suffix}")]

    def rank(path: Path) -> tuple[bool, bool, bool, str]:
        name = path.stem.lower()
        slanted = any(word in name for word in ("italic", "oblique", "condensed", "narrow", "mono", "light"))
        return slanted, ("bold" in name) != bold, "sans" not in name and "arial" not in name, str(path)

    yield from sorted(found, key=rank)


def read_mask(path: str | os.PathLike[str]) -> BoolArray:
    """Read the dark part of a picture or, where it has transparency, the opaque part.

    Parameters
    ----------
    path : path
        A picture that Pillow reads.

    Returns
    -------
    ndarray of bool, shape (height, width)
        The mask, at most 1024 pixels high and wide.
    """
    image = require("PIL.Image", extra="album")
    try:
        with image.open(path) as picture:
            if picture.width * picture.height > MASK_PIXELS:
                raise OSError(f"it has {picture.width} × {picture.height} pixels, and may have {MASK_PIXELS:,} at most")
            picture.thumbnail((MASK_SIDE, MASK_SIDE))
            alpha = np.asarray(picture.convert("RGBA"))[..., 3]
            gray = np.asarray(picture.convert("L"))
    except (OSError, image.DecompressionBombError) as error:
        raise ValueError(f"cannot read the mask {path}: {error}; give a black-and-white PNG or JPEG") from error
    mask: BoolArray = alpha > 127 if (alpha < 128).any() else gray < 128
    if not mask.any():
        raise ValueError(f"the mask {path} has no dark pixel; the dark part becomes the frame")
    return mask
