from datetime import datetime

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from pairup.album import features
from pairup.album.features import capture_dates, colour_layout, combine, compress, edge_layout, photo_features
from pairup.album.photos import Photo, Photos
from pairup.album.reading import read_photos


@pytest.fixture
def photos(rng):
    images = rng.integers(0, 255, (6, 40, 40, 3), dtype=np.uint8)
    return Photos.from_arrays(images, [f"dir/{i}.jpg" for i in range(6)])


def test_colour_layout_sees_where_a_colour_is():
    image = np.zeros((2, 40, 40, 3), dtype=np.uint8)
    image[0, :20], image[1, 20:] = 255, 255
    top, bottom = colour_layout(image).reshape(2, 8, 8, 3)[..., 0]
    np.testing.assert_allclose(top[:4], 100, atol=0.1)
    np.testing.assert_allclose(top, bottom[::-1], atol=0.1)


def test_edges_tell_upright_from_level():
    x = np.tile(np.arange(40) // 4 % 2 * 255, (40, 1)).astype(np.uint8)
    images = np.repeat(np.stack([x, x.T])[..., None], 3, axis=3)
    stripes, bars = edge_layout(images).reshape(2, 16, 8).mean(axis=1)
    assert stripes.argmax() == 0  # the gradient points to the side
    assert bars.argmax() == 4
    np.testing.assert_allclose(edge_layout(np.full((1, 40, 40, 3), 90, dtype=np.uint8)), 0, atol=1e-6)


def test_weights_are_standard_deviations(rng):
    joined = combine([(rng.random((50, 3)) * 9, 2.0), (np.ones((50, 2)), 1.0), (rng.random((50, 1)), 0.5)])
    variances = joined.var(axis=0)
    np.testing.assert_allclose([variances[:3].sum(), variances[3:5].sum(), variances[5]], [4, 0, 0.25])


def test_dates_are_ranks(photos):
    days = [datetime(2020, 1, 3), None, datetime(2020, 1, 1), datetime(2021, 1, 1), datetime(2020, 1, 1)]
    dated = Photos(tuple(Photo(p.name, p.miniature, p.thumbnail, None, d) for p, d in zip(photos, days, strict=False)))
    assert capture_dates(dated).ravel().tolist() == [0.5, 0.5, 0, 1, 0]
    with pytest.raises(ValueError, match="no photo carries its capture date"):
        photo_features(photos, {"date": 1})


def test_own_vectors_replace_the_default(photos, rng):
    vectors = rng.random((6, 2))
    np.testing.assert_array_equal(photo_features(photos, vectors=vectors), vectors)
    assert photo_features(photos, {"colour": 0.2}, vectors).shape == (6, 2 + 192)
    assert photo_features(photos, {"pixels": 1}).shape == (6, 4800)
    assert photo_features(photos).shape == (6, 192 + 128)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"smell": 1}, "named colour, edges"),
        ({"colour": -1}, "≥ 0"),
        ({"colour": 0, "edges": 0}, "all weights are 0"),
        ({"vectors": 1}, "no vectors are given"),
    ],
)
def test_wrong_weights(photos, weights, message):
    with pytest.raises(ValueError, match=message):
        photo_features(photos, weights)


def test_many_photos_are_compared_by_principal_components(rng, monkeypatch):
    """The distances that matter stay; where there are no more dimensions, all do."""
    X = rng.normal(size=(300, 90)) * np.geomspace(10, 0.01, 90)
    small = compress(X)
    assert small.shape == (300, 64)
    np.testing.assert_allclose(pdist(small), pdist(X), rtol=0.02)
    np.testing.assert_allclose(pdist(compress(X[:, :20])), pdist(X[:, :20]))
    images = rng.integers(0, 255, (70, 40, 40, 3), dtype=np.uint8)
    photos = Photos.from_arrays(images)
    whole = photo_features(photos)
    monkeypatch.setattr(features, "MANY", 50)
    reduced = photo_features(photos)
    assert (whole.shape, reduced.shape) == ((70, 320), (70, 64))
    assert np.corrcoef(pdist(whole), pdist(reduced))[0, 1] > 0.99


def test_features_do_not_depend_on_where_the_miniatures_are(folder):
    stored = read_photos(folder)
    held = Photos(tuple(stored))
    np.testing.assert_array_equal(photo_features(stored), photo_features(held))
