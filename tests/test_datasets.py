import numpy as np
import pytest

from pairup.datasets import half_images, load_flickr, load_tiles, make_cubic, shuffle_pair, to_lab


def test_the_truth_undoes_the_shuffle(rng):
    X = rng.normal(size=(30, 2))
    pair = shuffle_pair(X, X + 1, random_state=4)
    np.testing.assert_array_equal(pair.Y[pair.truth], X + 1)
    assert (pair.Y != X + 1).any()


def test_the_toy_is_cubic_and_seeded():
    X, Y, truth = make_cubic(50, random_state=3)
    np.testing.assert_allclose(Y[truth], X**3)
    np.testing.assert_array_equal(X, make_cubic(50, random_state=3).X)
    assert (np.abs(X) < 1).all()


def test_halves_are_left_and_right(rng):
    images = rng.normal(size=(5, 4, 6, 3))
    X, Y, truth = half_images(images)
    np.testing.assert_array_equal(X[2], images[2, :, :3].ravel())
    np.testing.assert_array_equal(Y[truth][2], images[2, :, 3:].ravel())


def test_tiles_are_distinct():
    pytest.importorskip("skimage")
    tiles = load_tiles(40)
    assert tiles.dtype == np.uint8
    colours = tiles.mean(axis=(1, 2))
    gaps = np.linalg.norm(colours[:, None] - colours, axis=2) + np.eye(40) * 1e9
    assert gaps.min() > 5
    with pytest.raises(ValueError, match="n must lie between 1 and"):
        load_tiles(10**6)


def test_flickr_is_read_from_the_data_folder(data_folder):
    images = load_flickr()
    assert images.shape == (320, 40, 40, 3)
    np.testing.assert_array_equal(images[52], images[55])  # img53 and img56 are one photo
    assert to_lab(images[:1])[..., 0].max() <= 100


def test_missing_data_are_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"img1\.png is missing"):
        load_flickr(tmp_path)
    monkeypatch.delenv("PAIRUP_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set PAIRUP_DATA"):
        load_flickr()
