"""A document of sections: text, tables and figures, as Markdown and as a page."""

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
    """Rows of text below a header."""

    header: Sequence[str]
    rows: list[Sequence[str]]


@dataclass
class Figure:
    """A picture file beside the document, and what it shows."""

    file: str
    alt: str


@dataclass
class Section:
    """A heading, paragraphs, tables and figures, in the order they were added."""

    title: str
    parts: list[str | Table | Figure] = field(default_factory=list)


def jpeg(picture: NDArray[np.uint8]) -> str:
    """Return an RGB picture as JPEG in base64, to be kept in a row."""
    image = require("PIL.Image", extra="album")
    buffer = io.BytesIO()
    image.fromarray(picture).save(buffer, format="JPEG", quality=85)
    return base64.b64encode(buffer.getvalue()).decode()


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return the document as Markdown."""
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
    """Return the document as a page."""
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
