"""Colours as the eye compares them."""

from typing import Any

from numpy.typing import NDArray

from pairup.extras import require
from pairup.types import Array


def to_lab(images: NDArray[Any]) -> Array:
    """Convert RGB images, or any array whose last axis is RGB, to Lab colours, as the paper does.

    Parameters
    ----------
    images : ndarray of shape (…, 3)
        RGB colours: integers from 0 to 255, or floats from 0 to 1.

    Returns
    -------
    ndarray of shape (…, 3)
        The colours in Lab: L from 0 to 100.

    Examples
    --------
    >>> import numpy as np
    >>> to_lab(np.array([[255, 255, 255]], dtype=np.uint8)).round()[:, 0]
    array([100.])
    """
    color = require("skimage.color", extra="album")
    lab: Array = color.rgb2lab(images)
    return lab
