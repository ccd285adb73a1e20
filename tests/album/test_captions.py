from datetime import datetime

import pytest
from PIL import ImageFont

from pairup.album.captions import check_captions, choose_face, describe_photo, shorten


def test_what_captions_say():
    taken = datetime(2023, 11, 5, 8, 30)
    said = [describe_photo("a/b c.JPG", when, kind) for when in (taken, None) for kind in ("none", "name", "date")]
    assert said == ["", "b c", "5 November 2023", "", "b c", ""]
    assert describe_photo("a/b.jpg", None, {"a/b.jpg": "Ann at the sea"}) == "Ann at the sea"
    assert describe_photo("c.jpg", None, {"a/b.jpg": "Ann at the sea"}) == ""


def test_long_texts_keep_both_ends():
    face = ImageFont.load_default(20)
    text = "a long name of a photo number 123"
    short = shorten(text, face, 150)
    assert face.getlength(short) <= 150 < face.getlength(text)
    assert short.startswith("a lo")
    assert short.endswith("123")
    assert "…" in short
    assert shorten("two\nlines", face, 500) == "two lines"
    assert len(shorten("wide", face, 1)) <= 2


def test_a_font_is_found_for_any_text():
    assert choose_face(["plain"], 12).getname() == ImageFont.load_default(12).getname()
    assert choose_face(["Ωμέγα 山 \U0010fffe"], 12) is not None


@pytest.mark.parametrize("captions", ["names", 3, {"a": 1}])
def test_what_are_no_captions(captions):
    with pytest.raises(ValueError, match="captions must be"):
        check_captions(captions)
