import numpy as np
import pytest
from PIL import Image

from pairup.album.frames import Frame
from pairup.album.pyramid import TILE, Pyramid, TileWriter, encode_jpeg, write_whole

WHITE = (255, 255, 255)


def make(rows, columns, pitch=128):
    return Pyramid.of(Frame.grid(rows, columns), np.ones(rows * columns, dtype=bool), pitch)


def test_each_level_halves_the_one_below():
    pyramid = make(30, 50)
    assert pyramid.size == (3840, 6400)
    assert pyramid.levels == 5
    grids = [pyramid.grid(level) for level in range(5)]
    assert grids == [(1, 1), (1, 2), (2, 4), (4, 7), (8, 13)]
    assert pyramid.count == sum(rows * columns for rows, columns in grids)
    assert make(1, 1).levels == 1


def test_every_cell_is_on_the_tiles_that_it_covers():
    pyramid = make(9, 9)
    assert sorted(pyramid.members[0, 0]) == [0, 1, 2, 3, 9, 10, 11, 12, 18, 19, 20, 21, 27, 28, 29, 30]
    assert sum(map(len, pyramid.members.values())) == 81
    scattered = Pyramid.of(Frame.points([[0, 0], [0.5, 3.4], [2.1, 1.7]]), np.ones(3, dtype=bool), 256)
    assert not scattered.lattice
    assert {number for members in scattered.members.values() for number in members} == {0, 1, 2}


def test_a_frame_that_is_nearly_all_empty_is_refused():
    far = Frame.points([[0, 0], [0, 1], [1e6, 1e6]])
    with pytest.raises(ValueError, match="too sparse for a wall; choose another frame"):
        Pyramid.of(far, np.ones(3, dtype=bool), 128)


@pytest.fixture
def pictures(tmp_path):
    """Colours of 15 photos, and their files."""
    colours = np.random.default_rng(3).integers(0, 255, (15, 3))
    for number, colour in enumerate(colours.tolist()):
        Image.new("RGB", (90, 60), tuple(colour)).save(tmp_path / f"{number}.jpg", quality=95)
    return colours, tmp_path


def read(folder, level, column, row):
    with Image.open(folder / str(level) / str(column) / f"{row}.jpg") as opened:
        return np.asarray(opened).astype(int)


def test_all_levels_show_the_same(pictures):
    colours, folder = pictures
    pyramid = make(3, 5, 256)
    writer = TileWriter(pyramid, folder / "tiles", lambda number: folder / f"{number}.jpg", WHITE)
    counts = list(writer.write())
    assert counts == sorted(counts)
    assert counts[-1] == pyramid.count == len(list((folder / "tiles").rglob("*.jpg")))
    for level in range(pyramid.levels):
        shrink = 2 ** (pyramid.levels - 1 - level)
        for number, (top, left) in enumerate((pyramid.corners + 128).tolist()):
            y, x = top // shrink, left // shrink
            seen = read(folder / "tiles", level, x // TILE, y // TILE)[y % TILE, x % TILE]
            np.testing.assert_allclose(seen, colours[number], atol=6)
    assert read(folder / "tiles", 0, 0, 0)[-1, -1].tolist() == [255, 255, 255]


def test_what_is_there_is_not_drawn_again(pictures):
    _, folder = pictures
    drawn = []

    def picture(number):
        drawn.append(number)
        return folder / f"{number}.jpg"

    writer = TileWriter(make(3, 5, 256), folder / "tiles", picture, WHITE)
    list(writer.write())
    assert sorted(drawn) == list(range(15))
    drawn.clear()
    whole = {path: path.read_bytes() for path in (folder / "tiles").rglob("*.jpg")}
    for name in ("0/0/0.jpg", "1/1/0.jpg", "2/2/0.jpg"):  # killed while these were drawn, from the finest upwards
        (folder / "tiles" / name).unlink()
    list(writer.write())
    assert sorted(drawn) == [4, 9]
    again = {path: path.read_bytes() for path in (folder / "tiles").rglob("*.jpg")}
    assert again.keys() == whole.keys()
    assert again[folder / "tiles" / "2" / "2" / "0.jpg"] == whole[folder / "tiles" / "2" / "2" / "0.jpg"]


def test_whole_photos_are_padded(pictures):
    colours, folder = pictures
    writer = TileWriter(
        make(3, 5, 128), folder / "tiles", lambda number: folder / f"{number}.jpg", (10, 20, 30), "whole"
    )
    list(writer.write())
    tile = read(folder / "tiles", 1, 0, 0)
    np.testing.assert_allclose(tile[64, 64], colours[0], atol=6)
    np.testing.assert_allclose(tile[4, 64], (10, 20, 30), atol=6)


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    write_whole(tmp_path / "a.jpg", b"first")
    write_whole(tmp_path / "a.jpg", encode_jpeg(Image.new("RGB", (9, 9)), 80))
    assert [path.name for path in tmp_path.iterdir()] == ["a.jpg"]
    assert b"Exif" not in (tmp_path / "a.jpg").read_bytes()
