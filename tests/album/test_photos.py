import io
import os
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from pairup.album import photos as module
from pairup.album.photos import Photos, find_files, read_photos


def test_folders_globs_and_lists_in_natural_order(folder):
    (folder / "more").mkdir()
    Image.new("RGB", (8, 8), "red").save(folder / "more" / "img1.png")
    found = read_photos(folder)
    assert found.names[:3] == ["img1.png", "img2.png", "img3.png"]
    assert found.names[-1] == "more/img1.png"
    assert len(read_photos(str(folder / "img1*.png"))) == 4
    assert read_photos([folder / "img9.png", folder / "img2.png"]).names == ["img9.png", "img2.png"]


def test_same_name_in_two_folders(folder):
    (folder / "more").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "more" / "img1.png")
    found = read_photos(folder)
    assert found.find("more/img1.png") == 12
    assert found.find("img1.png") == 0
    assert found.find("img7.png") == 6
    with pytest.raises(ValueError, match=r"no photo is named 'x\.png'"):
        found.find("x.png")
    (folder / "img1.png").rename(folder / "img1.jpg")
    (folder / "other").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "other" / "img1.png")
    with pytest.raises(ValueError, match=r"2 photos are named 'img1\.png'"):
        read_photos(folder).find("img1.png")


def test_link_loops_end_and_links_count_once(folder):
    try:
        (folder / "loop").symlink_to(folder, target_is_directory=True)
        (folder / "twice.png").symlink_to(folder / "img1.png")
        (folder / "self").symlink_to(folder / "self")
    except OSError:
        pytest.skip("this system makes no symbolic links")
    assert len(list(find_files([folder]))) == 12


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_photos(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no photos in"):
        read_photos(tmp_path)
    with pytest.raises(ValueError, match="no photos in"):
        read_photos(str(tmp_path / "*.jpg"))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"none of 1 files is a photo.*notes.txt: not a picture"):
        read_photos(tmp_path)


def test_odd_names(folder):
    names = ["two words.png", "quo\"te's.png", "émoji 🎞️.png", "<b>&amp;.png"] + (["new\nline.png"] * (os.name != "nt"))
    for name in names:
        if os.name == "nt" and set('<>"') & set(name):
            continue
        Image.new("RGB", (9, 9)).save(folder / name)
    assert set(names) <= set(read_photos(folder).names)


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


def test_heic(tmp_path):
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
    exif.get_ifd(0x8769)[0x9003] = "2019:07:04 12:30:00"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
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
    assert "enormous" in reasons["huge.jpg"]
    assert "RAW" in reasons["raw.NEF"]
    assert "not a picture" in reasons["letter.jpg"]
    assert "truncated" in reasons["truncated.jpg"]


def test_large_png_is_not_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PIXELS", 1000)
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    Image.new("RGB", (20, 20)).save(tmp_path / "b.png")
    assert dict(read_photos(tmp_path).skipped)["a.png"].startswith("enormous (40 × 40 pixels)")


def test_the_second_reading_comes_from_the_cache(folder, own_cache, monkeypatch):
    first = read_photos(folder)
    assert len(list(own_cache.iterdir())) == 12

    def refuse(*_):
        raise AssertionError("decoded again")

    monkeypatch.setattr(module, "_open", refuse)
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)
    assert [p.thumbnail for p in first] == [p.thumbnail for p in again]
    assert not again.skipped


def test_a_broken_cache_is_passed_over(folder, own_cache):
    first = read_photos(folder)
    for file in own_cache.iterdir():
        file.write_bytes(file.read_bytes()[:99])
    again = read_photos(folder)
    np.testing.assert_array_equal(first.miniatures, again.miniatures)


def test_changed_content_is_read_anew(folder):
    before = read_photos(folder).miniatures
    Image.new("RGB", (120, 90), "magenta").save(folder / "img1.png")
    after = read_photos(folder).miniatures
    assert (before[0] != after[0]).any()
    np.testing.assert_array_equal(before[1:], after[1:])


def test_larger_versions_come_from_the_original(tmp_path):
    Image.new("RGB", (2000, 1000), "teal").save(tmp_path / "a.jpg")
    (photo,) = read_photos(tmp_path)
    assert photo.image(100).size == (320, 160)
    assert photo.image(900).size == (900, 450)
    (tmp_path / "a.jpg").unlink()
    assert photo.image(900).size == (320, 160)


def test_from_arrays():
    found = Photos.from_arrays(np.zeros((2, 6, 5), dtype=np.uint8), ["a", "b"])
    assert found.names == ["a", "b"]
    assert found[1].image().size == (5, 6)
    with pytest.raises(ValueError, match="1 names for 2 photos"):
        Photos.from_arrays(np.zeros((2, 6, 5), dtype=np.uint8), ["a"])
    with pytest.raises(ValueError, match="no photos"):
        Photos.from_arrays([])


def test_heic_is_read_and_turned():
    """A green picture of 80 × 60 pixels with a white corner at the top left, to be turned a quarter clockwise."""
    pytest.importorskip("pi_heif")
    photos = read_photos(Path(__file__).parent / "turned.heic", cache=False)
    image = photos[0].image(80)
    assert image.size == (60, 80)
    assert min(image.getpixel((57, 3))) > 240
    assert np.abs(np.subtract(image.getpixel((10, 60)), (0, 128, 0))).max() < 12
