"""Rendering: an album as a picture, a page to print, or a web page in one file."""

import base64
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, Literal, Protocol

import numpy as np

from pairup.album.captions import LEGIBLE, LETTERS, LINE, Captions, check_captions, choose_face, describe_photo, shorten
from pairup.album.decoding import LOSSLESS, ignore_warnings
from pairup.album.frames import Frame
from pairup.album.photos import Photos
from pairup.album.printing import INCH, measure_paper, write_pages
from pairup.extras import require
from pairup.parallel import run
from pairup.types import Array, Indices

LONGEST = 4096  # pixels of an album's longer side unless the cell size is given
CELL_SIZES = (8, 256)  # smallest and largest cell in pixels, unless given
LARGEST = 400_000_000  # pixels that a picture may have
PAGE_BYTES = 24_000_000  # of pictures in a web page, about
PAGE_SIDES = (1280, 800, 480, 320, 160, 96)  # pixels of the longer side, the first that keeps the page small
JPEG_BYTES = 0.12  # per pixel, about
SWATCH = 16  # pixels a side of a vector's colour in a web page
SMOOTHING = 4  # pixels per pixel, each way, in which round corners are drawn
AT_ONCE = 32  # tiles drawn in one task
FOOTER = 8  # mm below the photos of each of several pages, for title and number


class Arrangement(Protocol):
    """What is drawn of an album: the items on the cells of a frame."""

    @property
    def frame(self) -> Frame:
        """The frame."""

    @property
    def order(self) -> Indices:
        """The item on each cell, −1 for a blank."""

    @property
    def photos(self) -> Photos | None:
        """The photos; None where the items are vectors."""

    @property
    def colours(self) -> Any:
        """A colour for each item that is a vector."""

    def name(self, item: int) -> str:
        """Return the name of an item."""


@dataclass(frozen=True)
class Style:
    """How an album looks.

    Parameters
    ----------
    cell : int, optional
        Pixels a side of a cell; by default so many that the longer side of the album has 4096, but at most 256.
    gap : float, default 0.04
        Space between cells, as a share of the cell.
    background : str, default "white"
        A colour such as "white" or "#202020", or "transparent" (PNG, SVG, web page).
    radius : float, default 0
        Radius of the corners as a share of the cell, from 0 to 0.5 (a disc).
    fit : {"crop", "whole"}, default "crop"
        "crop" fills the cell with the middle of the photo, "whole" shows all of it.
    paper : str, optional
        Size of a PDF page: a0 … a6, letter, legal, tabloid, or width × height in mm such as "210x210"; by default the
        page has the size of the picture.
    dpi : int, default 300
        Pixels per inch of a PDF.
    title : str, default "Album"
        Title of the web page and the PDF.
    captions : {"none", "name", "date"} or mapping of str to str, default "none"
        A line under each photo: its name, when it was taken, or a text of your own by its name.
    margin : float, default 10
        Millimetres of paper around the album; 0 lets it reach the edge, into the bleed.
    bleed : float, default 0
        Millimetres by which a page is larger than the paper on each side, to be cut off after printing; the background
        covers them, and the PDF says where to cut.
    page_rows : int, optional
        Rows of the album on each page of a PDF, for a contact sheet of many pages; by default all are on one page.

    Examples
    --------
    >>> Style(background="#202020").colour
    (32, 32, 32, 255)
    """

    cell: int | None = None
    gap: float = 0.04
    background: str = "white"
    radius: float = 0.0
    fit: Literal["crop", "whole"] = "crop"
    paper: str | None = None
    dpi: int = 300
    title: str = "Album"
    captions: Captions = "none"
    margin: float = 10.0
    bleed: float = 0.0
    page_rows: int | None = None

    def __post_init__(self) -> None:
        if self.cell is not None and not 1 <= self.cell <= 10_000:
            raise ValueError(f"a cell must have from 1 to 10000 pixels, got {self.cell}")
        if not 0 <= self.gap <= 10:
            raise ValueError(f"the gap must lie between 0 and 10 cells, got {self.gap}")
        if not 0 <= self.radius <= 0.5:
            raise ValueError(f"the radius must lie between 0 and 0.5, got {self.radius}")
        if self.fit not in ("crop", "whole"):
            raise ValueError(f"fit must be 'crop' or 'whole', got {self.fit!r}")
        check_captions(self.captions)
        self._check_paper()
        if not 10 <= self.dpi <= 2400:
            raise ValueError(f"dpi must lie between 10 and 2400, got {self.dpi}")
        try:
            self.title.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"the title {self.title!r} is not text that UTF-8 can hold ({error.reason})") from None
        self.colour  # noqa: B018  an unknown colour is an error before the work, not after

    def _check_paper(self) -> None:
        """Refuse what cannot be printed."""
        if self.page_rows is not None and self.page_rows < 1:
            raise ValueError(f"a page must have at least one row, got {self.page_rows}")
        if not (0 <= self.margin <= 1000 and 0 <= self.bleed <= 100):
            raise ValueError(
                f"expected a margin of 0 to 1000 mm and a bleed of 0 to 100 mm, got {self.margin} and {self.bleed}"
            )
        if self.paper is None and self.bleed > 0:
            raise ValueError("a bleed needs a paper that is cut; name its size, such as a4 or 210x210")
        if self.paper is not None and 2 * self.margin >= (short := min(measure_paper(self.paper))) - 5:
            raise ValueError(f"margins of {self.margin:g} mm leave nothing of a paper of {short:g} mm")

    @property
    def caption(self) -> float:
        """Height of a caption as a share of the cell; 0 without captions."""
        return 0.0 if self.captions == "none" else LINE

    @property
    def ink(self) -> str:
        """Colour of letters on the background."""
        red, green, blue, opacity = self.colour
        return "#f2f2f3" if opacity > 0 and 0.299 * red + 0.587 * green + 0.114 * blue < 128 else "#2a2a2c"

    @property
    def colour(self) -> tuple[int, int, int, int]:
        """The background as red, green, blue and opacity, 0–255 each."""
        if self.background == "transparent":
            return (255, 255, 255, 0)
        colours = require("PIL.ImageColor", extra="album")
        try:
            rgb = colours.getrgb(self.background)
        except ValueError:
            raise ValueError(
                f"unknown colour {self.background!r}; write a name such as white, #rrggbb, or transparent"
            ) from None
        return (*rgb[:3], 255)


def draw_picture(album: Arrangement, style: Style) -> Any:
    """Draw the album as a picture.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    PIL.Image.Image
        The picture in RGBA.
    """
    places, extent = _place_cells(album, style)
    return _draw_items(album, style, album.order, places, extent, style.cell or _choose_cell_size(extent, style))


def _draw_items(
    album: Arrangement, style: Style, order: Indices, places: Array, extent: Array, cell: int
) -> Any:  # a picture of Pillow
    """Draw items at their places, in cells, on a canvas of this extent."""
    image = require("PIL.Image", extra="album")
    # Each edge is rounded separately, so that gaps differ by a pixel at most.
    width, height = (max(round(float(side) * cell), 1) for side in extent[::-1])
    if width * height > LARGEST:
        raise ValueError(f"the picture would have {width} × {height} pixels; choose cells smaller than {cell} pixels")
    canvas = image.new("RGBA", (width, height), style.colour)
    mask = _draw_corner_mask(cell, style.radius)
    items = [(int(item), place) for item, place in zip(order, places, strict=True) if item >= 0]
    tiles = _map_items(lambda item: _draw_tile(album, item, cell, style.fit), [item for item, _ in items])
    for (_, place), tile in zip(items, tiles, strict=True):
        top, left = (round(float(value) * cell) for value in place)
        if style.fit == "whole":
            left, top = left + (cell - tile.width) // 2, top + (cell - tile.height) // 2
            canvas.paste(tile, (left, top), _draw_corner_mask(min(tile.size), style.radius, tile.size))
        else:
            canvas.paste(tile, (left, top), mask)
    if style.captions != "none":
        _write_captions(canvas, album, style, items, cell)
    return canvas


def _write_captions(canvas: Any, album: Arrangement, style: Style, items: list[tuple[int, Any]], cell: int) -> None:
    """Write the caption of each item below it."""
    size = round(LETTERS * cell)
    if size < LEGIBLE:
        raise ValueError(
            f"captions under cells of {cell} pixels could not be read; choose cells of {round(LEGIBLE / LETTERS)} "
            "pixels or more, fewer photos per page, or no captions"
        )
    pen = require("PIL.ImageDraw", extra="album").Draw(canvas)
    texts = [_describe_item(album, item, style) for item, _ in items]
    face = choose_face(texts, size)
    for text, (_, (top, left)) in zip(texts, items, strict=True):
        middle = (float(left) + 0.5) * cell, (float(top) + 1 + LINE / 2) * cell
        pen.text(middle, shorten(text, face, cell), font=face, fill=style.ink, anchor="mm")


def _describe_item(album: Arrangement, item: int, style: Style) -> str:
    """Return the caption of an item."""
    taken = album.photos[item].taken if album.photos is not None else None
    return describe_photo(album.name(item), taken, style.captions)


def _map_items(function: Callable[[int], Any], items: list[int]) -> Iterator[Any]:
    """Yield function(item) for each item, computed on all cores."""
    tasks = [partial(_apply, function, items[start : start + AT_ONCE]) for start in range(0, len(items), AT_ONCE)]
    with ignore_warnings():
        for results in run(tasks, n_jobs=-1):
            yield from results


def _apply(function: Callable[[int], Any], items: list[int]) -> list[Any]:
    """Call a function for some items: one task."""
    return [function(item) for item in items]


def _place_cells(album: Arrangement, style: Style) -> tuple[Any, Any]:
    """Return the top left corner of each cell and the extent of the whole, (vertical, horizontal), in cells."""
    steps = (album.frame.cells - album.frame.cells.min(axis=0)) / album.frame.pitch
    sides = np.array([1 + style.caption, 1.0])
    places = style.gap + steps * (sides + style.gap)
    return places, places.max(axis=0) + sides + style.gap


def _choose_cell_size(extent: Any, style: Style) -> int:
    """Return the pixels of a cell where the style does not say."""
    if style.paper is not None:
        edge = style.margin + style.bleed if style.margin > 0 else 0.0
        room = _measure_page(extent, style) - 2 * edge * style.dpi / INCH
        if style.page_rows is not None:
            room[0] -= FOOTER * style.dpi / INCH
        return int(max(min(room / extent), 1))
    return int(np.clip(LONGEST / extent.max(), *CELL_SIZES))


def _measure_page(extent: Any, style: Style) -> Any:
    """Return height and width of a page in pixels, with its bleed; a named paper lies as the album does."""
    assert style.paper is not None
    sides = measure_paper(style.paper, across=bool(extent[0] < extent[1]))
    return (np.array(sides[::-1]) + 2 * style.bleed) * style.dpi / INCH


def _draw_corner_mask(cell: int, radius: float, size: tuple[int, int] | None = None) -> Any:
    """Draw a mask with round corners and smooth edges."""
    image, image_draw = require("PIL.Image", extra="album"), require("PIL.ImageDraw", extra="album")
    width, height = size or (cell, cell)
    if radius == 0:
        return image.new("L", (width, height), 255)
    wide, high = SMOOTHING * width, SMOOTHING * height
    large = image.new("L", (wide, high), 0)
    image_draw.Draw(large).rounded_rectangle((0, 0, wide - 1, high - 1), SMOOTHING * radius * cell, fill=255)
    return large.resize((width, height), image.Resampling.BOX)


def _draw_tile(album: Arrangement, item: int, cell: int, fit: str) -> Any:
    """Draw one item for a cell."""
    image, image_ops = require("PIL.Image", extra="album"), require("PIL.ImageOps", extra="album")
    if album.photos is None:
        return image.new("RGB", (cell, cell), tuple(album.colours[item].tolist()))
    photo = album.photos[item].image(2 * cell).convert("RGB")
    if fit == "whole":
        return image_ops.contain(photo, (cell, cell), image.Resampling.LANCZOS)
    return image_ops.fit(photo, (cell, cell), image.Resampling.LANCZOS)


def choose_colours(features: Any) -> Any:
    """Choose a colour for each vector: itself if it is RGB from 0 to 1, else from its first three principal components.

    Parameters
    ----------
    features : array_like of shape (n, d)
        Vectors as rows.

    Returns
    -------
    ndarray of uint8, shape (n, 3)
        Colours in RGB.

    Examples
    --------
    >>> choose_colours([[0, 0, 0], [1, 0.2, 0]]).tolist()
    [[0, 0, 0], [255, 51, 0]]
    """
    X = np.asarray(features, dtype=np.float64)
    if X.shape[1] != 3 or X.min() < 0 or X.max() > 1:
        from pairup.album.layout import rotate

        X = np.pad(rotate(X)[:, :3].astype(np.float64), ((0, 0), (0, 3)))[:, :3]
        X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-12)
    return np.round(255 * X).astype(np.uint8)


def render_png(album: Arrangement, style: Style) -> bytes:
    """Render the album as PNG.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    bytes
        The file.
    """
    drawn = draw_picture(album, style)
    return _encode(drawn if style.background == "transparent" else drawn.convert("RGB"), "PNG")


def render_jpeg(album: Arrangement, style: Style) -> bytes:
    """Render the album as JPEG; transparent parts become white.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    bytes
        The file.
    """
    return _encode(_flatten(draw_picture(album, style)), "JPEG", quality=92, dpi=(style.dpi, style.dpi))


def render_pdf(album: Arrangement, style: Style) -> bytes:
    """Render the album as a PDF, of one page or with `Style.page_rows` of many.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    bytes
        The file.
    """
    return write_pages(_draw_pages(album, style), dpi=style.dpi, title=style.title, bleed=style.bleed)


def _draw_pages(album: Arrangement, style: Style) -> Iterator[Any]:
    """Draw the pages of a PDF, one after another."""
    places, extent = _place_cells(album, style)
    if style.page_rows is None:
        cell = style.cell or _choose_cell_size(extent, style)
        yield _put_on_page(_draw_items(album, style, album.order, places, extent, cell), extent, style)
        return
    pitch = 1 + style.caption + style.gap
    numbers = np.floor((places[:, 0] - style.gap) / (pitch * style.page_rows) + 1e-6).astype(int)
    extent = np.array([style.page_rows * pitch + style.gap, extent[1]])
    cell = style.cell or _choose_cell_size(extent, style)
    last = int(numbers[album.order >= 0].max())
    for number in range(last + 1):
        here = numbers == number
        shifted = places[here] - [number * pitch * style.page_rows, 0]
        drawn = _draw_items(album, style, album.order[here], shifted, extent, cell)
        page = _put_on_page(drawn, extent, style)
        _write_footer(page, style, f"{number + 1} / {last + 1}")
        yield page


def _put_on_page(drawn: Any, extent: Any, style: Style) -> Any:
    """Put a picture in the middle of its paper, if there is one."""
    flat = _flatten(drawn)
    if style.paper is None:
        return flat
    image = require("PIL.Image", extra="album")
    height, width = (round(float(side)) for side in _measure_page(extent, style))
    # Without a bleed the paper around the album stays white, as printers at home leave it.
    page = image.new("RGB", (width, height), style.colour[:3] if style.bleed else "white")
    footer = 0 if style.page_rows is None else round(FOOTER * style.dpi / INCH)
    page.paste(flat, ((width - flat.width) // 2, (height - footer - flat.height) // 2))
    return page


def _write_footer(page: Any, style: Style, number: str) -> None:
    """Write the title and the number of a page below the photos."""
    if style.paper is None:
        return
    millimetre = style.dpi / INCH
    face = choose_face([style.title], max(round(3.2 * millimetre), LEGIBLE))
    pen = require("PIL.ImageDraw", extra="album").Draw(page)
    edge = (max(style.margin, 4) + style.bleed) * millimetre
    line = page.height - edge
    ink = style.ink if style.bleed else "#2a2a2c"
    pen.text((edge, line), shorten(style.title, face, 0.7 * page.width), font=face, fill=ink, anchor="ls")
    pen.text((page.width - edge, line), number, font=face, fill=ink, anchor="rs")


def _flatten(drawn: Any) -> Any:
    """Put a picture with transparency on white."""
    image = require("PIL.Image", extra="album")
    return image.alpha_composite(image.new("RGBA", drawn.size, "white"), drawn).convert("RGB")


def _encode(drawn: Any, kind: str, **options: Any) -> bytes:
    """Encode a picture as Pillow does."""
    buffer = io.BytesIO()
    drawn.save(buffer, kind, **options)
    return buffer.getvalue()


def _embed_pictures(album: Arrangement) -> dict[int, tuple[str, int, int]]:
    """Return each item as a data URL with its width and height, large enough to be enlarged."""
    shown = [int(item) for item in album.order if item >= 0]
    side = next((s for s in PAGE_SIDES if len(shown) * s * s * JPEG_BYTES <= PAGE_BYTES), PAGE_SIDES[-1])
    return dict(zip(shown, _map_items(lambda item: _embed_picture(album, item, side), shown), strict=True))


def _embed_picture(album: Arrangement, item: int, side: int) -> tuple[str, int, int]:
    """Return one item as a data URL, with width and height."""
    image = require("PIL.Image", extra="album")
    if album.photos is None:
        drawn = _draw_tile(album, item, SWATCH, "crop")
    else:
        drawn = album.photos[item].image(side)
        drawn.thumbnail((side, side), image.Resampling.LANCZOS)
    small = max(drawn.size) <= LOSSLESS
    data = _encode(drawn, "PNG") if small else _encode(drawn.convert("RGB"), "JPEG", quality=85, optimize=True)
    kind = "png" if small else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}", drawn.width, drawn.height


def render_svg(album: Arrangement, style: Style) -> bytes:
    """Render the album as SVG, with the pictures inside.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    bytes
        The file.
    """
    places, extent = _place_cells(album, style)
    cell = style.cell or _choose_cell_size(extent, style)
    width, height = float(extent[1]) * cell, float(extent[0]) * cell
    pictures = _embed_pictures(album)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" role="img">',
        f"<title>{_escape_xml(style.title)}</title>",
        f'<clipPath id="cell" clipPathUnits="objectBoundingBox"><rect width="1" height="1" rx="{style.radius:g}"/>'
        "</clipPath>",
    ]
    if style.background != "transparent":
        parts.append('<rect width="100%" height="100%" fill="rgb({},{},{})"/>'.format(*style.colour[:3]))
    aspect = "xMidYMid slice" if style.fit == "crop" else "xMidYMid meet"
    texts = {item: _describe_item(album, item, style) for item in pictures}
    face = choose_face(list(texts.values()), 100) if style.captions != "none" else None
    for item, (top, left) in zip(album.order, places, strict=True):
        if item >= 0:
            x, y = float(left) * cell, float(top) * cell
            parts.append(
                f'<svg x="{x:g}" y="{y:g}" width="{cell}" height="{cell}">'
                f"<title>{_escape_xml(album.name(item))}</title>"
                f'<image width="{cell}" height="{cell}" preserveAspectRatio="{aspect}" clip-path="url(#cell)" '
                f'href="{pictures[item][0]}"/></svg>'
            )
            if face is not None and texts[item]:
                line = _escape_xml(shorten(texts[item], face, 100 / LETTERS))
                parts.append(
                    f'<text x="{x + cell / 2:g}" y="{y + (1 + LINE / 2) * cell:g}" font-size="{LETTERS * cell:g}" '
                    'font-family="sans-serif" text-anchor="middle" dominant-baseline="middle" '
                    f'fill="{style.ink}">{line}</text>'
                )
    return "\n".join([*parts, "</svg>\n"]).encode()


def _escape_xml(text: str) -> str:
    """Escape a text, control characters replaced, which XML cannot hold."""
    return html.escape("".join(c if c.isprintable() else " " for c in text))


def render_page(album: Arrangement, style: Style) -> bytes:
    """Render the album as a web page in one file: zoom, pan, enlarge, keyboard, animation.

    Parameters
    ----------
    album : Arrangement
        An album.
    style : Style
        Its look.

    Returns
    -------
    bytes
        The file.
    """
    places, extent = _place_cells(album, style)
    pictures = _embed_pictures(album)
    tiles = []
    for item, cell, (top, left) in zip(album.order, album.frame.cells.tolist(), places, strict=True):
        if item >= 0:
            source, width, height = pictures[item]
            taken = album.photos[item].taken if album.photos is not None else None
            tiles.append(
                {
                    "name": album.name(item),
                    "caption": _describe_item(album, item, style),
                    "date": f"{taken.day} {taken:%B %Y, %H:%M}" if taken else "",
                    "row": cell[0],
                    "column": cell[1],
                    "x": round(float(left), 4),
                    "y": round(float(top), 4),
                    "size": [width, height],
                    "src": source,
                }
            )
    data = {
        "tiles": tiles,
        "width": round(float(extent[1]), 4),
        "height": round(float(extent[0]), 4),
        "radius": style.radius,
        "fit": style.fit,
        "captions": style.captions != "none",
    }
    # In a script element only "<" could end the element or begin a comment.
    inside = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    red, green, blue, _ = style.colour
    text = files("pairup.album").joinpath("page.html").read_text(encoding="utf-8")
    fill = {
        "TITLE": html.escape(style.title),
        "COUNT": f"{len(tiles)} {'photo' if len(tiles) == 1 else 'photos'}",
        "PAPER": f"rgb({red} {green} {blue})",
        "SCHEME": "dark" if style.ink.startswith("#f") else "light",
        "DATA": inside,
    }
    # In one pass: a title may itself be "%DATA%".
    return re.sub(f"%({'|'.join(fill)})%", lambda found: fill[found[1]], text).encode()


WRITERS: dict[str, Callable[[Arrangement, Style], bytes]] = {
    ".html": render_page,
    ".png": render_png,
    ".jpg": render_jpeg,
    ".jpeg": render_jpeg,
    ".pdf": render_pdf,
    ".svg": render_svg,
}
