"""Shredded pictures: cut into pieces, dealt onto two piles, and put together again."""

import base64
import io
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.colours import to_lab
from pairup.datasets import Pair, shuffle_pair
from pairup.extras import require
from pairup.methods import CUTS
from pairup.metrics import right_pairs
from pairup.mosaic import MARK, PAPER
from pairup.result import Matching
from pairup.types import BoolArray, Images, Indices

SURE = 0.9  # probability from which on a pair is called sure
INK = (34, 34, 34)
FAINT = (110, 110, 110)
WORDS = {  # how each picture was cut, what is on the first pile, and on the second
    "strips": ("cut into ten strips", "every other strip of {n} pictures", "the other strips, shuffled"),
    "checkerboard": ("cut into 25 squares", "every other square of {n} pictures", "the other squares, shuffled"),
    "four-strips": ("cut into four strips", "two of four strips of {n} pictures", "the other strips, shuffled"),
    "halves": ("cut in two", "left halves of {n} pictures", "the right halves, shuffled"),
}

# The picture of the result, in pixels.
MARGIN, HEADING, CAPTION = 40, 46, 118
PILE = (6, 4)  # columns and rows of the pieces shown of each pile
PIECE, PIECE_GAP = 80, 6
BOARD = (920, 736)  # width and height of the pictures put together, at most
ARROW = 90


def cut_mask(cut: str, height: int, width: int) -> BoolArray:
    """Return which pixels of a picture go onto the first pile.

    Parameters
    ----------
    cut : {"strips", "checkerboard", "four-strips", "halves"}
        Ten upright strips dealt alternately, 25 squares dealt like those of a chessboard, four strips, or two halves.
    height, width : int
        Size of the picture.

    Returns
    -------
    ndarray of bool, shape (height, width)
        The pixels of the first pile; the others belong to the second.

    Examples
    --------
    >>> cut_mask("four-strips", 1, 8).astype(int).tolist()
    [[1, 1, 0, 0, 1, 1, 0, 0]]
    """
    if cut not in CUTS:
        raise ValueError(f"unknown cut {cut!r}; choose one of: {', '.join(CUTS)}")
    row, column = np.mgrid[:height, :width]
    if cut == "checkerboard":
        number = 5 * row // height + 5 * column // width
    else:
        number = {"strips": 10, "four-strips": 4, "halves": 2}[cut] * column // width
    first: BoolArray = number % 2 == 0
    return first


@dataclass(frozen=True, eq=False)
class Shreds:
    """Pictures cut into pieces, those of each picture dealt onto two piles, and the second pile shuffled.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (n, height, width, 3)
        The pictures in RGB.
    mask : ndarray of bool, shape (height, width)
        The pixels that go onto the first pile.
    truth : ndarray of int, shape (n,)
        The true pairing: the pieces of picture i are number ``truth[i]`` of the second pile.
    """

    pictures: Images
    mask: BoolArray
    truth: Indices

    @classmethod
    def cut(cls, pictures: Images, cut: str = "strips", *, random_state: int = 0) -> "Shreds":
        """Cut pictures into pieces.

        Parameters
        ----------
        pictures : ndarray of uint8, shape (n, height, width, 3)
            The pictures in RGB.
        cut : {"strips", "checkerboard", "four-strips", "halves"}, default "strips"
            How they are cut, see `cut_mask`.
        random_state : int, default 0
            Seed of the shuffle.

        Returns
        -------
        Shreds
            The two piles.

        Examples
        --------
        >>> Shreds.cut(np.zeros((3, 40, 40, 3), dtype=np.uint8)).sets.X.shape
        (3, 2400)
        """
        numbers = np.arange(len(pictures), dtype=np.float64)[:, None]
        truth = shuffle_pair(numbers, numbers, random_state).truth
        return cls(pictures, cut_mask(cut, *pictures.shape[1:3]), truth)

    @property
    def order(self) -> Indices:
        """The picture of each piece of the second pile."""
        return self.truth.argsort()

    @cached_property
    def sets(self) -> Pair:
        """The two piles as rows of Lab colours, and the true pairing."""
        lab = to_lab(self.pictures)
        n = len(lab)
        return Pair(lab[:, self.mask].reshape(n, -1), lab[self.order][:, ~self.mask].reshape(n, -1), self.truth)

    def pieces(self, pile: int) -> Images:
        """Return the pieces of a pile in their places, transparent where the other pieces were.

        Parameters
        ----------
        pile : {0, 1}
            The first pile, in the order of the pictures, or the second, shuffled.

        Returns
        -------
        ndarray of uint8, shape (n, height, width, 4)
            The pieces in RGBA.
        """
        shown, mask = (self.pictures[self.order], ~self.mask) if pile else (self.pictures, self.mask)
        alpha = np.where(mask, np.uint8(255), np.uint8(0))
        opaque: Images = np.concatenate([shown, np.broadcast_to(alpha[..., None], (*shown.shape[:3], 1))], axis=3)
        return np.where(alpha[..., None] > 0, opaque, np.uint8(0))

    def join(self, indices: Indices) -> Images:
        """Put pieces of the second pile to those of the first; −1 leaves their place blank.

        Parameters
        ----------
        indices : ndarray of int, shape (n,)
            For each picture of the first pile, the number of its pieces in the second.

        Returns
        -------
        ndarray of uint8, shape (n, height, width, 3)
            The joined pictures in RGB.

        Examples
        --------
        >>> shreds = Shreds.cut(np.arange(72, dtype=np.uint8).reshape(3, 2, 4, 3), "halves")
        >>> bool((shreds.join(shreds.truth) == shreds.pictures).all())
        True
        """
        joined = self.pictures.copy()
        partners = self.pictures[self.order][indices]
        partners[indices < 0] = PAPER
        joined[:, ~self.mask] = partners[:, ~self.mask]
        return joined


@dataclass(frozen=True, eq=False)
class Reunion:
    """What a matching makes of two piles of pieces.

    Parameters
    ----------
    shreds : Shreds
        The two piles.
    matching : Matching
        For each picture of the first pile, its pieces in the second.
    cut : str, default "strips"
        How the pictures were cut, for the words.
    """

    shreds: Shreds
    matching: Matching
    cut: str = "strips"

    @cached_property
    def right(self) -> BoolArray:
        """Which pictures are put together correctly."""
        _, Y, truth = self.shreds.sets
        return right_pairs(self.matching.indices, truth, Y)

    @cached_property
    def sure(self) -> BoolArray:
        """Which pairs have a probability of at least 0.9; none by a method that gives no probabilities."""
        if not self.matching.confidence.size:
            return np.zeros(len(self.right), dtype=bool)
        sure: BoolArray = self.matching.confidence >= SURE
        return sure

    @property
    def words(self) -> str:
        """The result in two sentences."""
        n, sure = len(self.right), int(self.sure.sum())
        known = f"Of the {sure} it is sure of, {int((self.right & self.sure).sum())} are right."
        return (
            f"{int(self.right.sum())} of {n} pictures put together correctly, without labels (at random: 1). "
            f"{known if sure else 'It is sure of none.'}"
        )

    @property
    def verdict(self) -> str:
        """What the matching says of itself, before the truth is looked at; its reasons are in the report."""
        return f"Its own verdict: {self.matching.verdict.partition(':')[0]}."

    def draw(self) -> Any:
        """Draw some pieces of each pile, and all pictures put together, wrong ones framed.

        Returns
        -------
        PIL.Image.Image
            The picture.
        """
        image, image_draw = (require(f"PIL.{name}", extra="album") for name in ("Image", "ImageDraw"))
        n = len(self.right)
        pile_width = PILE[0] * (PIECE + PIECE_GAP) - PIECE_GAP
        pile_height = HEADING + PILE[1] * (PIECE + PIECE_GAP) - PIECE_GAP
        board = _lay_out(_to_images(self.shreds.join(self.matching.indices)), BOARD, ~self.right)
        left = MARGIN + pile_width + ARROW
        height = 2 * pile_height + HEADING // 2
        sheet = image.new("RGB", (left + BOARD[0] + MARGIN, MARGIN + height + CAPTION), PAPER)
        pen = image_draw.Draw(sheet)
        middle = MARGIN + HEADING + (height - HEADING) // 2
        for pile, name in enumerate(WORDS[self.cut][1:]):
            top = MARGIN + pile * (pile_height + HEADING // 2)
            pen.text((MARGIN, top), f"Pile {pile + 1}: {name.format(n=n)}", font=_font(25), fill=INK)
            shown = _spread(n, PILE[0] * PILE[1])
            pieces = [
                piece.resize((PIECE, PIECE), image.Resampling.NEAREST)
                for piece in _to_images(self.shreds.pieces(pile)[shown])
            ]
            for k, piece in enumerate(pieces):
                row, column = divmod(k, PILE[0])
                place = MARGIN + column * (PIECE + PIECE_GAP), top + HEADING + row * (PIECE + PIECE_GAP)
                pen.rectangle((*place, place[0] + PIECE - 1, place[1] + PIECE - 1), fill=(238, 238, 238))
                sheet.paste(piece, place, piece)
        tip = left - ARROW // 4
        pen.line((left - ARROW * 3 // 4, middle, tip - 8, middle), fill=INK, width=5)
        pen.polygon(((tip, middle), (tip - 20, middle - 13), (tip - 20, middle + 13)), fill=INK)
        wrong = "" if self.right.all() else ", wrong ones framed"
        pen.text((left, MARGIN), f"Put together by pairup{wrong}", font=_font(25), fill=INK)
        sheet.paste(board, (left - 3, MARGIN + HEADING - 3))  # the gap around the first picture
        first, second = self.words.split(". ", 1)
        for line, (told, fill) in enumerate(((f"{first}.", INK), (f"{self.verdict} {second}", FAINT))):
            pen.text((MARGIN, MARGIN + height + 22 + 38 * line), told, font=_font(25), fill=fill)
        return sheet

    def page(self, album: Any = None, link: str = "album.html") -> str:
        """Return a web page on which the pieces move to their partners.

        Parameters
        ----------
        album : PIL.Image.Image, optional
            The pictures in an album, shown below.
        link : str, default "album.html"
            Address of the album's own page.

        Returns
        -------
        str
            The page, in one file that needs no network.
        """
        n = len(self.right)
        columns = max(1, round((1.25 * n) ** 0.5))
        sheets = [_sheet(_to_images(self.shreds.pieces(pile)), columns) for pile in (0, 1)]
        joined = _sheet(_to_images(self.shreds.join(self.matching.indices)), columns)
        report = "".join(f"<li>{escape(line)}</li>" for line in self.matching.report.splitlines())
        shown = "" if album is None else f'<a href="{escape(link)}"><img alt="The album" src="{_encode(album)}"></a>'
        fill = {
            "%WORDS%": escape(self.words),
            "%VERDICT%": escape(self.verdict),
            "%CUT%": escape(WORDS[self.cut][0]),
            "%REPORT%": report,
            "%COLUMNS%": str(columns),
            "%PARTNERS%": str(self.matching.indices.tolist()),
            "%WRONG%": str(np.flatnonzero(~self.right).tolist()),
            "%FIRST%": _encode(sheets[0]),
            "%SECOND%": _encode(sheets[1]),
            "%JOINED%": _encode(joined.convert("RGB"), "JPEG"),
            "%ALBUM%": shown,
        }
        text = files("pairup").joinpath("shreds.html").read_text(encoding="utf-8")
        for name, value in fill.items():
            text = text.replace(name, value)
        return text


def _spread(n: int, k: int) -> Indices:
    """Return k numbers below n at equal distances, or all n."""
    return np.arange(n) if n <= k else np.linspace(0, n - 1, k).round().astype(np.intp)


def _font(size: int) -> Any:
    return require("PIL.ImageFont", extra="album").load_default(size)


def _to_images(tiles: NDArray[np.uint8]) -> list[Any]:
    image = require("PIL.Image", extra="album")
    return [image.fromarray(tile) for tile in tiles]


def _sheet(pieces: list[Any], columns: int) -> Any:
    """Paste pieces of one size side by side, without gaps."""
    image = require("PIL.Image", extra="album")
    width, height = pieces[0].size
    sheet = image.new("RGBA", (columns * width, -(-len(pieces) // columns) * height))
    for k, piece in enumerate(pieces):
        sheet.paste(piece, (k % columns * width, k // columns * height))
    return sheet


def _lay_out(pictures: list[Any], size: tuple[int, int], marked: BoolArray) -> Any:
    """Lay pictures out in rows that fill a sheet, some of them framed."""
    image, image_draw = (require(f"PIL.{name}", extra="album") for name in ("Image", "ImageDraw"))
    n = len(pictures)
    pitches = [min(size[0] / k, size[1] / -(-n // k)) for k in range(1, n + 1)]
    columns = int(np.argmax(pitches)) + 1
    pitch = int(max(pitches))
    gap = max(2, round(0.13 * pitch))
    tile = pitch - gap
    sheet = image.new("RGB", (columns * pitch, -(-n // columns) * pitch), PAPER)
    pen = image_draw.Draw(sheet)
    for k, picture in enumerate(pictures):
        left, top = k % columns * pitch + gap // 2, k // columns * pitch + gap // 2
        if marked[k]:
            edge = max(1, gap // 3)  # frames of neighbours do not touch
            pen.rectangle((left - edge, top - edge, left + tile + edge - 1, top + tile + edge - 1), fill=MARK)
        scaled = picture if picture.size == (tile, tile) else picture.resize((tile, tile), image.Resampling.LANCZOS)
        sheet.paste(scaled, (left, top))
    return sheet


def _encode(drawn: Any, kind: str = "PNG") -> str:
    """Return a picture as an address that holds its data."""
    buffer = io.BytesIO()
    drawn.save(buffer, kind, optimize=True, **({"quality": 88} if kind == "JPEG" else {}))
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
