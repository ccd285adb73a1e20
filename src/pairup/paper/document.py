"""A document of sections with text, tables and figures, as Markdown and as HTML."""

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require


@dataclass
class Table:
    """A table of text.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : list of sequence of str
        Cells of every line.
    """

    header: Sequence[str]
    rows: list[Sequence[str]]


@dataclass
class Figure:
    """A picture file next to the document.

    Parameters
    ----------
    file : str
        Name of the file.
    alt : str
        What the picture shows.
    """

    file: str
    alt: str


@dataclass
class Section:
    """A heading, and below it paragraphs, tables and figures in the order they were added.

    Parameters
    ----------
    title : str
        The heading.
    parts : list of str, Table or Figure, default empty
        What is below it.
    """

    title: str
    parts: list[str | Table | Figure] = field(default_factory=list)


def encode_jpeg(picture: NDArray[np.uint8]) -> str:
    """Encode a picture as JPEG in base64, so that it can be saved in a row of JSON.

    Parameters
    ----------
    picture : ndarray of uint8 of shape (height, width, 3)
        RGB picture.

    Returns
    -------
    text : str
        The JPEG file in base64.
    """
    image = require("PIL.Image", extra="album")
    buffer = io.BytesIO()
    image.fromarray(picture).save(buffer, format="JPEG", quality=85)
    return base64.b64encode(buffer.getvalue()).decode()


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    """Render a document as Markdown.

    Parameters
    ----------
    title : str
        Title of the document.
    sections : sequence of Section
        Its sections.

    Returns
    -------
    text : str
        The Markdown.

    Examples
    --------
    >>> print(to_markdown("Title", [Section("Numbers", [Table(["n"], [["40"]])])]))
    # Title
    <BLANKLINE>
    ## Numbers
    <BLANKLINE>
    | n |
    |---|
    | 40 |
    <BLANKLINE>
    """
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for part in section.parts:
            if isinstance(part, Table):
                lines.append("| " + " | ".join(part.header) + " |")
                lines.append("|" + "---|" * len(part.header))
                lines += ["| " + " | ".join(row) + " |" for row in part.rows]
            elif isinstance(part, Figure):
                lines.append(f"![{part.alt}]({part.file})")
            else:
                lines.append(part)
            lines.append("")
    return "\n".join(lines)


def to_html(title: str, sections: Sequence[Section]) -> str:
    """Render a document as an HTML page.

    Parameters
    ----------
    title : str
        Title of the document.
    sections : sequence of Section
        Its sections.

    Returns
    -------
    text : str
        The page; its pictures are separate files.
    """
    body = [f"<h1>{html.escape(title)}</h1>"]
    for section in sections:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        for part in section.parts:
            if isinstance(part, Table):
                head = "".join(f"<th>{html.escape(cell)}</th>" for cell in part.header)
                rows = "".join(
                    "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in part.rows
                )
                body.append(f"<div class=wide><table><tr>{head}</tr>{rows}</table></div>")
            elif isinstance(part, Figure):
                body.append(f'<img src="{part.file}" alt="{html.escape(part.alt)}">')
            else:
                body.append(f"<p>{html.escape(part)}</p>")
    return PAGE.format(title=html.escape(title), body="\n".join(body))


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1, h2 {{ line-height: 1.2; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: .85rem; }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap; }}
th {{ border-bottom: 2px solid #888; }}
img {{ max-width: 100%; margin: .5rem 0; }}
</style>
{body}
</html>
"""
