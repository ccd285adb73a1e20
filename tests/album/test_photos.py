import numpy as np
import pytest
from PIL import Image

from pairup.album.photos import Photos, StoredPhotos
from pairup.album.reading import read_photos


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


def test_a_turned_photo_is_turned_everywhere(folder):
    pixels = np.zeros((400, 600, 3), dtype=np.uint8)
    pixels[:100, :150] = (250, 0, 0)  # red in the upper left corner
    Image.fromarray(pixels).save(folder / "corner.png")
    photo = read_photos(folder / "corner.png")[0]
    turned = photo.turn(1)
    assert (turned.quarters, photo.quarters, turned.turn(-1).quarters) == (1, 0, 0)
    assert turned.image().size == photo.image().size[::-1]
    for side in (320, 600):  # from the thumbnail, and from the file
        seen = np.asarray(turned.image(side).convert("RGB"))
        assert seen[10, -10, 0] > 200  # clockwise: now in the upper right corner
        assert seen[10, 10, 0] < 50
    assert turned.miniature[2, -3, 0] > photo.miniature[2, -3, 0] + 150
    np.testing.assert_array_equal(turned.turn(3).miniature, photo.miniature)


def test_small_versions_stay_on_disk_and_come_when_they_are_asked_for(folder):
    found = read_photos(folder)
    assert isinstance(found.items, StoredPhotos)
    assert len(found.items[3:7]) == 4
    np.testing.assert_array_equal(found.items[3:7].miniatures, found.miniatures[3:7])
    np.testing.assert_array_equal(found[5].miniature, found.miniatures[5])
    assert [len(block) for block in found.blocks(5)] == [5, 5, 2]
    assert found.taken == [None] * 12
    assert found.paths[0] == folder / "img1.png"


def test_what_is_damaged_after_reading_is_decoded_again(folder, own_cache):
    found = read_photos(folder)
    before = found[4]
    with open(own_cache / "0.thumbnails", "r+b") as file:
        file.write(bytes(4000))
    after = found[0], found[4]
    assert after[1].thumbnail == before.thumbnail
    assert after[0].image().size == (120, 90)
