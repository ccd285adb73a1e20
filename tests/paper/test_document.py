import base64
import io
from html.parser import HTMLParser

import numpy as np
import pytest

from pairup.paper.document import Figure, Section, Table, encode_jpeg, to_html, to_markdown

SECTIONS = [
    Section("Numbers", ["Text with <angle> & ampersand.", Table(["n", "value"], [["40", "0.5"], ["80", "<0.1"]])]),
    Section("Pictures", [Figure("curve.png", 'A "curve"')]),
]


class Reader(HTMLParser):
    """Collects what a browser would show, and checks that tags nest."""

    def __init__(self):
        super().__init__()
        self.text, self.open, self.images = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs))
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip() and "style" not in self.open:
            self.text.append(data)


def test_the_page_shows_all_text_escaped():
    reader = Reader()
    reader.feed(to_html("A < B", SECTIONS))
    assert reader.open == []
    assert reader.text[:2] == ["A < B", "A < B"]  # title and heading
    assert reader.text[2:] == [
        "Numbers", "Text with <angle> & ampersand.", "n", "value", "40", "0.5", "80", "<0.1", "Pictures",
    ]  # fmt: skip
    assert reader.images == [{"src": "curve.png", "alt": 'A "curve"'}]


def test_markdown_has_the_same_parts_in_the_same_order():
    blocks = to_markdown("Title", SECTIONS).strip().split("\n\n")
    assert blocks == [
        "# Title",
        "## Numbers",
        "Text with <angle> & ampersand.",
        "| n | value |\n|---|---|\n| 40 | 0.5 |\n| 80 | <0.1 |",
        "## Pictures",
        '![A "curve"](curve.png)',
    ]


def test_a_picture_comes_back_from_its_jpeg():
    image = pytest.importorskip("PIL.Image")
    x, y = np.meshgrid(np.arange(60), np.arange(40))
    picture = np.stack([4 * x, 6 * y, 100 + x], axis=2).astype(np.uint8)
    back = np.asarray(image.open(io.BytesIO(base64.b64decode(encode_jpeg(picture)))))
    assert np.abs(back.astype(int) - picture).mean() < 4
