import re

import numpy as np
import pytest
from PIL import Image

from pairup.album.printing import measure_paper, write_pages


def boxes(data, name):
    """Return the boxes of this name in a PDF, the last definitions of its pages last."""
    found = re.findall(rb"/%s \[ ([\d. ]+) \]" % name.encode(), data)
    return [[float(side) for side in box.split()] for box in found]


def test_every_picture_is_a_page_of_its_size():
    pages = [Image.new("RGB", (200, 100), colour) for colour in ("red", "green", "blue")]
    data = write_pages(iter(pages), dpi=100, title="Three")
    assert data.count(b"/Subtype /Image") == 3
    assert set(map(tuple, boxes(data, "MediaBox"))) == {(0, 0, 144, 72)}
    assert data.count(b"/Title") == 3  # the same dictionary, as each page was appended
    assert b"TrimBox" not in data


def test_the_bleed_is_cut_off_on_every_side():
    data = write_pages([Image.new("RGB", (100, 100))] * 2, dpi=72, title="", bleed=25.4 / 72 * 10)
    np.testing.assert_allclose(boxes(data, "TrimBox"), [[10, 10, 90, 90]] * 2, atol=1e-6)
    assert boxes(data, "BleedBox") == [[0, 0, 100, 100]] * 2


@pytest.mark.parametrize("paper", ["b9", "210", "210x", "x", "210x-3"])
def test_unknown_papers_are_refused(paper):
    with pytest.raises(ValueError, match="as 210x210"):
        measure_paper(paper)


def test_papers_have_sides_that_a_printer_may_have():
    assert measure_paper("210.5X100mm") == (210.5, 100)
    with pytest.raises(ValueError, match="20 to 5000 mm"):
        measure_paper("3x9000")
