"""Printing: sizes of paper, and pictures as the pages of a PDF."""

import io
import re
from collections.abc import Iterable
from typing import Any

from pairup.extras import require

PAPERS = {  # width and height in mm
    "a0": (841.0, 1189.0),
    "a1": (594.0, 841.0),
    "a2": (420.0, 594.0),
    "a3": (297.0, 420.0),
    "a4": (210.0, 297.0),
    "a5": (148.0, 210.0),
    "a6": (105.0, 148.0),
    "letter": (215.9, 279.4),
    "legal": (215.9, 355.6),
    "tabloid": (279.4, 431.8),
}
SIDES = (20, 5000)  # mm of the shortest and longest side of a paper
INCH = 25.4  # mm
POINT = INCH / 72  # mm; PDF counts in points


def measure_paper(paper: str, *, across: bool = False) -> tuple[float, float]:
    """Return width and height of a paper in mm.

    Parameters
    ----------
    paper : str
        A name such as "a4" or "letter", turned as `across` says; or width × height in mm such as "210x210", as it is.
    across : bool, default False
        Whether a named paper lies on its side.

    Returns
    -------
    tuple of two float
        Width and height.

    Raises
    ------
    ValueError
        If there is no such paper.

    Examples
    --------
    >>> measure_paper("A4", across=True), measure_paper("210x200")
    ((297.0, 210.0), (210.0, 200.0))
    """
    if named := PAPERS.get(paper.lower()):
        return (named[1], named[0]) if across else named
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)[x×](\d+(?:\.\d+)?)(?:mm)?", paper.lower()):
        width, height = float(found[1]), float(found[2])
        if SIDES[0] <= min(width, height) and max(width, height) <= SIDES[1]:
            return width, height
        raise ValueError(f"a paper may have sides of {SIDES[0]} to {SIDES[1]} mm, got {paper}")
    raise ValueError(
        f"unknown paper {paper!r}; choose one of: {', '.join(PAPERS)}, or write its width and height in mm, as 210x210"
    )


def write_pages(pages: Iterable[Any], *, dpi: int, title: str, bleed: float = 0.0) -> bytes:
    """Write pictures as the pages of one PDF.

    The pages are compressed one by one, so that hundreds of them need the memory of one.

    Parameters
    ----------
    pages : iterable of PIL.Image.Image
        Pictures in RGB, the bleed included.
    dpi : int
        Pixels per inch.
    title : str
        Title of the PDF.
    bleed : float, default 0.0
        Millimetres on each side that are cut off after printing; the PDF says so (TrimBox).

    Returns
    -------
    bytes
        The file.
    """
    buffer = io.BytesIO()
    for number, page in enumerate(pages):
        named = {"append": True} if number else {"title": title}  # Pillow would write the title once more
        page.save(buffer, "PDF", resolution=float(dpi), quality=92, **named)
    if bleed > 0:
        _set_trim(buffer, bleed)
    return buffer.getvalue()


def _set_trim(buffer: io.BytesIO, bleed: float) -> None:
    """Say on every page of a PDF where it is cut."""
    parser = require("PIL.PdfParser", extra="album")
    with parser.PdfParser(f=buffer, mode="r+b") as pdf:
        pages = {reference: pdf.read_indirect(reference) for reference in pdf.pages}
        pdf.start_writing()
        for reference, page in pages.items():
            left, low, right, high = (float(side) for side in page[b"MediaBox"])
            cut = bleed / POINT
            page[b"BleedBox"] = [left, low, right, high]
            page[b"TrimBox"] = [left + cut, low + cut, right - cut, high - cut]
            pdf.xref_table[reference.object_id] = (pdf.f.tell(), 0)
            pdf.f.write(b"%d 0 obj\n%s\nendobj\n" % (reference.object_id, bytes(page)))
        pdf.write_xref_and_trailer()
