import numpy as np
import pytest
from PIL import Image, ImageCms

from pairup.album import vips
from pairup.album.decoding import UnreadableError, decode
from pairup.album.vips import can_shrink, shrink

pytest.importorskip("pyvips", reason="needs the extra: pip install 'pairup[pyramid]'")


@pytest.fixture
def large():
    """A picture of four megapixels: smooth colours, and an edge."""
    y, x = np.mgrid[:1600, :2600]
    pixels = np.stack([x / 2600, y / 1600, (x > 1300) & (y > 400)], axis=-1)
    return Image.fromarray((255 * pixels).astype(np.uint8))


def test_the_same_as_pillow_makes(large, tmp_path, monkeypatch):
    turned = Image.Exif()
    turned[0x0112] = 6
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    large.save(tmp_path / "turned.jpg", exif=turned, icc_profile=profile)
    large.save(tmp_path / "turned.png", exif=turned)
    large.convert("L").save(tmp_path / "gray.jpg")
    clear = large.copy()
    clear.putalpha(Image.linear_gradient("L").resize(large.size))
    clear.save(tmp_path / "clear.png")
    for path in sorted(tmp_path.iterdir()):
        monkeypatch.setattr(vips, "LARGE", 10**12)
        expected = np.asarray(decode(path, 320)[0]).astype(int)
        monkeypatch.setattr(vips, "LARGE", 4_000_000)
        with Image.open(path) as opened:
            assert can_shrink(opened)
            assert max(shrink(path, opened.mode, 320).size) == 320
        found = np.asarray(decode(path, 320)[0]).astype(int)
        assert found.shape == expected.shape == ((197, 320, 3) if "turned" not in path.name else (320, 197, 3))
        assert np.abs(found - expected).mean() < 2


def test_small_pictures_and_other_kinds_are_left_to_pillow(large, tmp_path):
    large.resize((1000, 800)).save(tmp_path / "small.jpg")
    large.convert("CMYK").save(tmp_path / "cmyk.jpg")
    large.save(tmp_path / "progressive.jpg", progressive=True)
    large.quantize(8).save(tmp_path / "palette.png")
    large.save(tmp_path / "a.tif")
    for path in tmp_path.iterdir():
        with Image.open(path) as opened:
            assert not can_shrink(opened)


def test_a_damaged_picture_is_refused_as_ever(large, tmp_path):
    path = tmp_path / "a.jpg"
    large.save(path)
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises((OSError, UnreadableError), match="truncated"):
        decode(path, 320)


def test_without_libvips_pillow_does_it_all(large, tmp_path, monkeypatch):
    large.save(tmp_path / "a.jpg")
    monkeypatch.setattr(vips, "load", lambda: None)
    assert decode(tmp_path / "a.jpg", 320)[0].size == (320, 197)
