import numpy as np
import pytest

from pairup.colours import to_lab


def test_greys_have_no_hue_and_white_is_lightest():
    greys = np.repeat(np.linspace(0, 1, 6)[:, None], 3, axis=1)
    lab = to_lab(greys)
    np.testing.assert_allclose(lab[:, 1:], 0, atol=0.01)
    assert (np.diff(lab[:, 0]) > 0).all()
    assert lab[[0, -1], 0] == pytest.approx([0, 100], abs=0.01)


def test_integers_and_floats_are_the_same_colours(rng):
    pixels = rng.integers(0, 256, size=(4, 5, 5, 3)).astype(np.uint8)
    np.testing.assert_allclose(to_lab(pixels), to_lab(pixels / 255))


def test_red_lies_on_the_side_of_red_and_blue_on_that_of_blue():
    red, blue = to_lab(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    assert red[1] > 50
    assert blue[2] < -50
