import io

import numpy as np
import pytest
from PIL import Image

from pairup.album import Album, Frame, Photos, Style, arrange
from pairup.album.render import choose_colours, draw_picture

COLOURS = np.array([[200, 0, 0], [0, 200, 0], [0, 0, 200], [200, 200, 0]], dtype=np.uint8)


@pytest.fixture
def album():
    """Four tiles of one colour each, on three columns of two rows with a gap and a blank."""
    images = np.broadcast_to(COLOURS[:, None, None], (4, 20, 30, 3))
    photos = Photos.from_arrays(images, list("abcd"))
    frame = Frame.ascii("##.\n.##\n#..")
    return Album(frame, np.array([3, 1, 0, 2, -1]), np.eye(4), photos)


def test_every_tile_is_in_its_cell(album):
    drawn = np.asarray(draw_picture(album, Style(cell=10, gap=0.2)))
    assert drawn.shape == (2 + 3 * 12, 2 + 3 * 12, 4)
    for item, (row, column) in zip(album.order, album.frame.cells, strict=True):
        inside = drawn[2 + 12 * row : 12 + 12 * row, 2 + 12 * column : 12 + 12 * column, :3]
        expected = (255, 255, 255) if item < 0 else COLOURS[item]
        np.testing.assert_allclose(inside.mean(axis=(0, 1)), expected, atol=4)
    assert (drawn[:2] == 255).all()


def test_background_corners_and_fit(album):
    drawn = np.asarray(draw_picture(album, Style(cell=40, gap=0, background="transparent", radius=0.5)))
    assert drawn[0, 0, 3] == 0
    assert drawn[20, 20, 3] == 255
    assert drawn[60, 20, 3] == 0  # no cell there
    whole = np.asarray(draw_picture(album, Style(cell=30, gap=0, fit="whole", background="#010203")))
    assert whole[1, 15, :3].tolist() == [1, 2, 3]  # above a picture of 30 × 20
    np.testing.assert_allclose(whole[15, 15, :3], COLOURS[3], atol=4)


def test_files_open_as_what_they_are(album, tmp_path):
    for suffix, kind in (("png", "PNG"), ("jpg", "JPEG"), ("jpeg", "JPEG")):
        with Image.open(album.save(tmp_path / f"a.{suffix}", Style(cell=12))) as opened:
            assert opened.format == kind
            assert not opened.getexif()
    with Image.open(album.save(tmp_path / "t.png", Style(cell=9, background="transparent"))) as opened:
        assert opened.mode == "RGBA"
    svg = album.save(tmp_path / "a.svg").read_text()
    import xml.etree.ElementTree as tree

    root = tree.fromstring(svg)
    assert len(root.findall(".//{http://www.w3.org/2000/svg}image")) == 4


def test_pdf_pages_have_the_size_of_the_paper(album, tmp_path):
    import re

    data = album.save(tmp_path / "a.pdf", Style(paper="A4", dpi=72)).read_bytes()
    assert data.startswith(b"%PDF")
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", data)
    np.testing.assert_allclose([float(v) for v in box.groups()], [595, 842], atol=1)


def count_pages(data):
    return data.count(b"/Subtype /Image")


def test_a_contact_sheet_has_as_many_pages_as_it_needs(tmp_path):
    photos = Photos.from_arrays(np.random.default_rng(0).integers(0, 255, (11, 20, 20, 3), dtype=np.uint8))
    album = arrange(photos, Frame.grid(6, 2), draft=True)
    for rows, pages in ((1, 6), (2, 3), (4, 2), (6, 1), (9, 1)):
        style = Style(page_rows=rows, paper="a6", dpi=120, captions="name", title="Eleven")
        assert count_pages(album.save(tmp_path / "a.pdf", style).read_bytes()) == pages


def test_captions_lie_below_their_photos(album):
    style = Style(cell=100, gap=0.1, captions="name", background="#000000")
    drawn = np.asarray(draw_picture(album, style))
    assert drawn.shape[:2] == (10 + 3 * 127, 10 + 3 * 110)
    assert drawn[110:127, 10:110, :3].max() > 200  # light letters on a dark background
    assert drawn[0:10].max() == 255 == drawn[0:10, :, 3].min()
    assert (drawn[0:10, :, :3] == 0).all()
    with pytest.raises(ValueError, match="choose cells of 52 pixels or more"):
        draw_picture(album, Style(cell=30, captions="date"))


def test_captions_are_in_pages_and_drawings(album, tmp_path):
    style = Style(captions={"a": "Ann <3", "d": "Dan"})
    svg, page = (album.save(tmp_path / f"a.{suffix}", style).read_text() for suffix in ("svg", "html"))
    assert "Ann &lt;3</text>" in svg
    assert svg.count("</text>") == 2
    assert '"caption": "Dan"' in page


def test_the_background_covers_the_bleed(album, tmp_path):
    style = Style(paper="100x80", bleed=5, margin=8, dpi=51, background="#204060", cell=10)
    data = album.save(tmp_path / "a.pdf", style).read_bytes()
    assert b"/TrimBox" in data
    from pairup.album.render import _draw_pages

    (page,) = _draw_pages(album, style)
    assert page.size == (round(110 * 51 / 25.4), round(90 * 51 / 25.4))
    assert page.getpixel((0, 0)) == page.getpixel((page.width - 1, page.height - 1)) == (0x20, 0x40, 0x60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"captions": "titles"}, "captions must be"),
        ({"bleed": 3}, "a bleed needs a paper"),
        ({"paper": "a6", "margin": 52}, "leave nothing of a paper of 105 mm"),
        ({"margin": -1}, "margin of 0 to 1000 mm"),
        ({"page_rows": 0}, "at least one row"),
        ({"background": "blurple"}, "unknown colour 'blurple'"),
        ({"radius": 0.7}, "between 0 and 0.5"),
        ({"cell": 0}, "from 1 to 10000 pixels"),
        ({"paper": "B9"}, "a0, a1"),
        ({"gap": -1}, "gap must lie"),
        ({"fit": "stretch"}, "'crop' or 'whole'"),
        ({"dpi": 0}, "dpi must lie"),
        ({"title": "\udcff"}, "not text that UTF-8 can hold"),
    ],
)
def test_wrong_styles(options, message):
    with pytest.raises(ValueError, match=message):
        Style(**options)


def test_pictures_too_large_are_refused():
    album = arrange(np.random.default_rng(0).random((4, 3)), "2x2", draft=True)
    with pytest.raises(ValueError, match="choose cells smaller than 10000 pixels"):
        draw_picture(album, Style(cell=10_000, gap=1))


def test_vectors_are_shown_as_colours(rng):
    X = rng.random((5, 3))
    np.testing.assert_array_equal(choose_colours(X), np.round(255 * X))
    assert choose_colours(rng.standard_normal((5, 7))).shape == (5, 3)
    assert choose_colours(rng.standard_normal((5, 1))).shape == (5, 3)
    album = arrange(X, "1x5")
    drawn = np.asarray(draw_picture(album, Style(cell=4, gap=0)))
    np.testing.assert_array_equal(drawn[2, 2::4, :3], choose_colours(X)[album.order])


def test_scattered_cells_do_not_overlap():
    images = np.broadcast_to(COLOURS[:, None, None], (4, 20, 20, 3))
    frame = Frame.points([[0, 0], [0.3, 0.7], [1.1, 0.2], [1.4, 1.6]])
    album = arrange(Photos.from_arrays(images), frame)
    drawn = np.asarray(draw_picture(album, Style(cell=20, gap=0.1)))[..., :3].reshape(-1, 3)
    for colour in COLOURS:
        assert (np.abs(drawn.astype(int) - colour).max(axis=1) < 8).sum() == 400


def test_thumbnails_are_enough_for_small_cells(album):
    buffer = io.BytesIO(album.photos[0].thumbnail)
    assert Image.open(buffer).size == (30, 20)


@pytest.mark.parametrize("title", ["%DATA%", "%TITLE%", "%COUNT% %SCHEME% %PAPER%", r"\1 \0"])
def test_a_title_is_never_a_placeholder(title, album, tmp_path):
    text = album.save(tmp_path / "album.html", Style(title=title)).read_text(encoding="utf-8")
    assert text.count(f"<title>{title}</title>") == text.count(f"<h1>{title}</h1>") == 1
    assert text.count("data:image/") == 4
