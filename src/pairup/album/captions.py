"""Captions: a line of text under each picture of an album."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import PurePath
from typing import Any, Literal

from pairup.album.outlines import find_missing_glyphs, list_fonts
from pairup.extras import require

Captions = Literal["none", "name", "date"] | Mapping[str, str]

LINE = 0.17  # height of a caption, as a share of the cell
LETTERS = 0.115  # size of its letters, likewise
LEGIBLE = 6  # pixels of the smallest letters that can be read
CHECKED = 200  # captions whose characters a font must have; more are drawn with the same font


def describe_photo(name: str, taken: datetime | None, captions: Captions) -> str:
    """Return the caption of a photo.

    Parameters
    ----------
    name : str
        Name of the photo.
    taken : datetime or None
        When it was taken.
    captions : {"none", "name", "date"} or mapping of str to str
        What captions say; a mapping gives a text for each name.

    Returns
    -------
    str
        The caption; empty for none.

    Examples
    --------
    >>> describe_photo("italy/rome.jpg", datetime(2024, 5, 3), "name")
    'rome'
    >>> describe_photo("italy/rome.jpg", datetime(2024, 5, 3), "date")
    '3 May 2024'
    """
    if isinstance(captions, Mapping):
        return captions.get(name, "")
    if captions == "name":
        return PurePath(name).stem
    return f"{taken.day} {taken:%B %Y}" if captions == "date" and taken else ""


def check_captions(captions: Captions) -> None:
    """Refuse captions that are none.

    Parameters
    ----------
    captions : object
        What was given.

    Raises
    ------
    ValueError
        If they are neither "none", "name", "date" nor texts by name.
    """
    if isinstance(captions, Mapping):
        if not all(isinstance(text, str) for pair in captions.items() for text in pair):
            raise ValueError("captions must be a text for each name of a photo")
    elif captions not in ("none", "name", "date"):
        raise ValueError(f"captions must be 'none', 'name', 'date' or texts by name of photo, got {captions!r}")


def choose_face(texts: list[str], size: int) -> Any:
    """Choose a font for texts: Pillow's own, or the first of this computer that has more of their characters.

    Parameters
    ----------
    texts : list of str
        The texts.
    size : int
        Height of the letters in pixels.

    Returns
    -------
    PIL.ImageFont.FreeTypeFont
        The font.
    """
    return _load_face("".join(sorted(set("".join(texts[:CHECKED])))), size)


@cache
def _load_face(characters: str, size: int) -> Any:
    image_font = require("PIL.ImageFont", extra="album")
    face = image_font.load_default(size)
    best, least = face, len(find_missing_glyphs(face, characters))
    for path in list_fonts(bold=False) if least else ():
        try:
            face = image_font.truetype(str(path), size)
        except OSError:
            continue
        if (missing := len(find_missing_glyphs(face, characters))) < least:
            best, least = face, missing
        if not least:
            break
    return best


def shorten(text: str, face: Any, width: float) -> str:
    """Shorten a text in its middle until it is no wider than a line: names often differ at their end.

    Parameters
    ----------
    text : str
        The text.
    face : PIL.ImageFont.FreeTypeFont
        Its font.
    width : float
        Pixels of the line.

    Returns
    -------
    str
        The text, with … in its middle if it was too wide.
    """
    line = " ".join(text.split())
    kept = len(line)
    short = line
    while kept > 1 and face.getlength(short) > width:
        kept -= 1
        short = f"{line[: (kept + 1) // 2].rstrip()}…{line[len(line) - kept // 2 :].lstrip()}"
    return short
