import io
import subprocess
import sys
import warnings
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from pairup.album import decoding
from pairup.album.decoding import UnreadableError, decode, ignore_warnings, reduce_picture
from pairup.album.reading import read_photos


def test_formats_and_modes(tmp_path):
    blue = np.zeros((30, 40, 3), dtype=np.uint8)
    blue[..., 2] = 200
    picture = Image.fromarray(blue)
    picture.save(tmp_path / "a.jpg", quality=95)
    picture.save(tmp_path / "b.webp", lossless=True)
    picture.save(tmp_path / "c.tiff")
    picture.convert("P").save(tmp_path / "d.gif", save_all=True, append_images=[Image.new("P", (40, 30))])
    picture.convert("CMYK").save(tmp_path / "e.jpg", quality=95)
    alpha = picture.convert("RGBA")
    alpha.putalpha(128)
    alpha.save(tmp_path / "f.png")
    picture.quantize(4).save(tmp_path / "g.png")
    Image.fromarray(np.full((30, 40), 40000, dtype=np.uint16)).save(tmp_path / "h.png")
    Image.fromarray(np.full((30, 40), 156, dtype=np.uint8)).save(tmp_path / "i.tiff")
    picture.convert("1").save(tmp_path / "j.png")
    found = read_photos(tmp_path)
    assert not found.skipped
    means = dict(zip(found.names, found.miniatures.mean(axis=(1, 2)), strict=True))
    for name in ("a.jpg", "b.webp", "c.tiff", "d.gif", "g.png"):
        np.testing.assert_allclose(means[name], [0, 0, 200], atol=6, err_msg=name)
    np.testing.assert_allclose(means["f.png"], [127, 127, 227], atol=3)  # half of it is the white below
    np.testing.assert_allclose(means["h.png"], 40000 / 257, atol=1)
    np.testing.assert_allclose(means["i.tiff"], 156, atol=1)
    assert means["e.jpg"][2] > 150


def test_a_fake_heic_is_skipped(tmp_path):
    pi_heif = pytest.importorskip("pi_heif", reason="needs pi-heif")
    del pi_heif  # it only decodes, so the file is a fake that its decoder refuses
    (tmp_path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    Image.new("RGB", (8, 8)).save(tmp_path / "b.png")
    found = read_photos(tmp_path)
    assert [name for name, _ in found.skipped] == ["a.heic"]


def test_orientation_and_date(tmp_path):
    pixels = np.zeros((40, 80, 3), dtype=np.uint8)
    pixels[:, :40] = 255  # white on the left
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    exif[0x8769] = {0x9003: "2019:07:04 12:30:00"}  # assigned: Pillow 10 does not write what is put into get_ifd
    exif[0x8825] = {2: (52.0, 31.0, 12.0)}
    Image.fromarray(pixels).save(tmp_path / "a.jpg", exif=exif, quality=95)
    (photo,) = read_photos(tmp_path)
    assert photo.taken == datetime(2019, 7, 4, 12, 30)
    small = photo.image()
    assert small.size == (40, 80)
    upper, lower = np.asarray(small)[:30].mean(), np.asarray(small)[-30:].mean()
    assert upper > 200 > 60 > lower
    assert not Image.open(io.BytesIO(photo.thumbnail)).getexif()


def test_colour_profiles_become_srgb(tmp_path):
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("RGB", (9, 9), (10, 200, 30)).save(tmp_path / "a.png", icc_profile=lab)
    Image.new("RGB", (9, 9), (10, 200, 30)).save(tmp_path / "b.png", icc_profile=b"nonsense")
    found = read_photos(tmp_path)
    np.testing.assert_allclose(found.miniatures.mean(axis=(1, 2)), [[10, 200, 30]] * 2, atol=2)
    assert "icc_profile" not in found[0].image().info


def test_damaged_files_are_skipped_with_the_reason(folder):
    whole = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(whole, "JPEG")
    data = whole.getvalue()
    start = data.index(b"\xff\xc0") + 5
    exif = b"Exif\0\0II*\0\xff\xff\xff\xff nonsense"
    (folder / "truncated.jpg").write_bytes(data[: len(data) // 3])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "letter.jpg").write_text("This is a letter.")
    (folder / "huge.jpg").write_bytes(data[:start] + (30_000).to_bytes(2, "big") * 2 + data[start + 4 :])
    (folder / "raw.NEF").write_bytes(data)
    (folder / "suffix.jpg").write_bytes((folder / "img1.png").read_bytes())
    (folder / "exif.jpg").write_bytes(data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + data[2:])
    found = read_photos(folder)
    reasons = dict(found.skipped)
    assert {"suffix.jpg", "exif.jpg"} <= set(found.names)
    assert set(reasons) == {"truncated.jpg", "empty.jpg", "letter.jpg", "huge.jpg", "raw.NEF"}
    assert reasons["empty.jpg"] == "empty"
    assert "too large" in reasons["huge.jpg"]
    assert "RAW" in reasons["raw.NEF"]
    assert "not a picture" in reasons["letter.jpg"]
    assert "truncated" in reasons["truncated.jpg"]


def test_large_png_is_not_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "MAX_PIXELS", 1000)
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    Image.new("RGB", (20, 20)).save(tmp_path / "b.png")
    assert dict(read_photos(tmp_path).skipped)["a.png"].startswith("too large (40 × 40 pixels)")


def test_heic_is_read_and_turned():
    """A green picture of 80 × 60 pixels with a white corner at the top left, to be turned a quarter clockwise."""
    pytest.importorskip("pi_heif")
    photos = read_photos(Path(__file__).parent / "turned.heic", cache=False)
    image = photos[0].image(80)
    assert image.size == (60, 80)
    assert min(image.getpixel((57, 3))) > 240
    assert np.abs(np.subtract(image.getpixel((10, 60)), (0, 128, 0))).max() < 12


def test_decoding_says_why_not(tmp_path):
    for name, content, reason in (("a.jpg", b"", "empty"), ("b.jpg", b"text", "not a picture of a known format")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableError, match=reason):
            decode(tmp_path / name, 100)


def test_small_pictures_keep_every_pixel_and_large_ones_are_scaled():
    tile = Image.effect_noise((40, 40), 60).convert("RGB")
    miniature, thumbnail = reduce_picture(tile)
    np.testing.assert_array_equal(miniature, np.asarray(tile))
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(thumbnail))), np.asarray(tile))
    miniature, thumbnail = reduce_picture(Image.new("RGB", (1000, 500), "teal"))
    assert miniature.shape == (40, 40, 3)
    assert Image.open(io.BytesIO(thumbnail)).size == (320, 160)


def write_jpeg_of_single_colours(path, side):
    """Write a JPEG whose header announces its colours one after another."""
    Image.new("RGB", (side, side)).save(path)
    data = bytearray(path.read_bytes())
    data[data.index(b"\xff\xda") + 4] = 1
    path.write_bytes(data)


def test_what_takes_too_much_memory_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    side = 1200
    whole = Image.new("RGB", (side, side), "teal")
    whole.save(tmp_path / "plain.jpg")
    whole.save(tmp_path / "plain.png")
    whole.save(tmp_path / "strips.tiff", compression="tiff_lzw")
    whole.save(tmp_path / "a.webp")
    whole.save(tmp_path / "b.jpg", progressive=True, subsampling=0)
    write_jpeg_of_single_colours(tmp_path / "c.jpg", side)
    whole.save(tmp_path / "d.tiff", compression="tiff_lzw", tiffinfo={278: side})
    whole.save(tmp_path / "e.tiff", compression="tiff_lzw", tiffinfo={274: 6})
    monkeypatch.setattr(decoding, "MAX_BYTES", 5 * side**2)
    found = read_photos(tmp_path)
    assert set(found.names) == {"plain.jpg", "plain.png", "strips.tiff"}
    assert len(found.skipped) == 5
    for _, why in found.skipped:
        assert why.startswith("too large (1200 × 1200 pixels, which take 0.0 GB to decode from")


@pytest.mark.parametrize("size", [(1500, 900), (5000, 3), (3, 5000), (997, 1009)])
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_large_transparent_pictures_are_reduced_in_blocks(mode, size, tmp_path, monkeypatch, rng):
    pixels = np.clip(rng.normal(128, 20, (size[1], size[0], 4)) + np.linspace(0, 60, size[0])[:, None], 0, 255)
    picture = Image.fromarray(pixels.astype(np.uint8))
    picture = picture.quantize(64) if mode == "P" else picture.convert(mode)
    picture.save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as stored:
        assert stored.mode == mode
    exact = np.asarray(decode(tmp_path / "a.png", 100)[0], dtype=float)
    monkeypatch.setattr(decoding, "MAX_BYTES", size[0] * size[1] * 5)
    monkeypatch.setattr(decoding, "BLOCK", 10_000)
    reduced = decode(tmp_path / "a.png", 100)[0]
    assert reduced.size == exact.shape[1::-1]
    assert np.abs(np.asarray(reduced, dtype=float) - exact).mean() < 2


@pytest.mark.parametrize("white", [1.0, 255.0, 65535.0])
def test_numbers_are_scaled_in_blocks_as_in_one(white, tmp_path, monkeypatch, rng):
    values = (white * rng.random((70, 90))).astype(np.float32)
    values[0, 0], values[3, 4], values[5, 6] = white, np.nan, np.inf
    Image.fromarray(values).save(tmp_path / "a.tiff")
    monkeypatch.setattr(decoding, "BLOCK", 500)
    gray = np.asarray(decode(tmp_path / "a.tiff", 90)[0])[..., 0]
    finite = np.where(np.isfinite(values), values, 0).astype(np.float64)
    np.testing.assert_array_equal(gray, (finite / white * 255).astype(np.uint8))


MEASURE = """
import resource, sys
from pathlib import Path
from PIL import Image
from pairup.album.decoding import decode, ignore_warnings
Image.new("RGB", (900, 900)).save(sys.argv[2])
with ignore_warnings():
    for path in (sys.argv[2], sys.argv[1]):
        decode(Path(path), 320)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss differs")
@pytest.mark.parametrize(("mode", "side", "megabytes"), [("I;16", 6000, 200), ("RGBA", 8000, 350), ("RGB", 8000, 350)])
def test_decoding_takes_little_more_than_the_picture(mode, side, megabytes, tmp_path):
    """Copies of the picture took 900, 770 and 510 MB."""
    Image.new(mode, (side, side)).save(tmp_path / "a.png", compress_level=1)
    command = [sys.executable, "-c", MEASURE, tmp_path / "a.png", tmp_path / "small.png"]
    base, peak = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert (peak - base) / 1024 < megabytes


def test_warnings_of_pillow_and_no_others_are_ignored():
    with ignore_warnings():
        warnings.warn_explicit("Tag data larger than file", UserWarning, "a.py", 1, module="PIL.TiffImagePlugin")
        with pytest.raises(UserWarning, match="something else"):  # warnings are errors here
            warnings.warn_explicit("something else", UserWarning, "a.py", 1, module="numpy")


LARGE_ON_THREADS = """
import re, sys
from pathlib import Path
from threading import Thread
from PIL import Image
from pairup.album.decoding import decode

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

folder = Path(sys.argv[1])
Image.new("RGB", (6000, 6000)).save(folder / "large.png", compress_level=1)
del (block := [bytes(30_000_000)])[0]  # from now on the C library keeps what is freed up to this size
Path("/proc/self/clear_refs").write_text("5")
before = peak()
for together in (1, 1, 2):
    threads = [Thread(target=decode, args=(folder / "large.png", 320)) for _ in range(together)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory as Linux tells it")
def test_large_pictures_take_memory_one_at_a_time_and_give_it_back(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LARGE_ON_THREADS, tmp_path], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1.5 * 6000**2 * 4 / 2**20, "more than one picture was in memory"


def test_heic_is_known_without_its_suffix(tmp_path):
    pytest.importorskip("pi_heif")
    (tmp_path / "4f1c").write_bytes((Path(__file__).parent / "turned.heic").read_bytes())
    assert decode(tmp_path / "4f1c", 64)[0].size == decode(Path(__file__).parent / "turned.heic", 64)[0].size
