import base64
import io

import numpy as np
import pytest

from pairup.paper import albums
from pairup.paper.protocol import ALBUMS, Task

image = pytest.importorskip("PIL.Image")
pytest.importorskip("skimage")


@pytest.mark.parametrize("name", ALBUMS)
def test_each_frame_has_a_cell_per_picture(name):
    _, n, shape = ALBUMS[name]
    assert len(albums.make_frame(shape).cells) == n


@pytest.mark.parametrize(("kind", "n"), [("flickr", 30), ("frey", 20), ("usps", 10)])
def test_vectors_and_images_show_the_same_pictures(kind, n):
    """Where two vectors are far from each other, so are the two images."""
    vectors, images = albums.load_pictures(kind, n, None)
    assert len(vectors) == len(images) == n
    assert images.dtype == np.uint8
    pixels = images.reshape(n, -1).astype(float)
    i, j = np.triu_indices(n, 1)
    distances = [np.linalg.norm(each[i] - each[j], axis=1) for each in (vectors, pixels)]
    assert np.corrcoef(*distances)[0, 1] > (0.8 if kind == "flickr" else 0.99)


@pytest.mark.parametrize("kind", ["flickr", "frey", "usps"])
def test_the_original_pictures_are_read(kind, data_folder):
    vectors, images = albums.load_pictures(kind, 30, str(data_folder))
    assert np.isfinite(vectors).all()
    assert len(np.unique(vectors, axis=0)) == 30
    assert images.shape[0] == 30


def test_an_album_keeps_neighbours_together_and_shows_every_picture():
    task = Task("albums", "pairup", 153, 0, variant="frey-smiley")
    result = albums.run(task, None)
    assert sorted(result["order"]) == list(range(153))
    assert result["dpq"] > 0.5 > result["dpq_random"] + 0.2
    cells = albums.make_frame("smiley").cells.astype(int)
    rows, columns = cells.max(axis=0) + 1
    _, images = albums.load_pictures("frey", 153, None)
    height, width = images.shape[1:3]
    sheet = np.asarray(image.open(io.BytesIO(base64.b64decode(result["picture"])))).astype(float)
    assert sheet.shape == (rows * height, columns * width, 3)
    for (row, column), item in zip(cells, result["order"], strict=True):
        part = sheet[row * height : (row + 1) * height, column * width : (column + 1) * width]
        assert np.abs(part - images[item]).mean() < 10
