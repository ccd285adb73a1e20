"""Example data: generated, or cut from pictures that ship with dependencies."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairup.colours import to_lab as to_lab
from pairup.extras import require
from pairup.sampling import farthest_first
from pairup.types import Array, Images, Indices

if TYPE_CHECKING:
    from pairup.voice.synthetic import make_voices as make_voices


class Pair(NamedTuple):
    """Two unpaired sets whose true pairing is known.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects of the first set as rows.
    Y : ndarray of shape (n, e)
        Objects of the second set as rows.
    truth : ndarray of shape (n,)
        The true pairing: ``Y[truth]`` is aligned with ``X``.
    """

    X: Array
    Y: Array
    truth: Indices


def shuffle_pair(X: Array, Y: Array, random_state: int = 0) -> Pair:
    """Shuffle the rows of Y and record the true pairing.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Objects as rows.
    Y : ndarray of shape (n, e)
        Their partners, in the same order.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Pair
        X, the shuffled Y, and the true pairing.

    Examples
    --------
    >>> X, Y, truth = shuffle_pair(np.arange(3.0)[:, None], np.arange(3.0)[:, None])
    >>> bool((Y[truth] == X).all())
    True
    """
    order = np.random.default_rng(random_state).permutation(len(Y))
    return Pair(X, Y[order], np.argsort(order))


def make_cubic(n: int = 100, random_state: int = 0) -> Pair:
    """Return the paper's toy (section 5.1): X uniform on (−1, 1), Y = X³, shuffled.

    Parameters
    ----------
    n : int, default 100
        Number of points.
    random_state : int, default 0
        Seed of the points and of the shuffle.

    Returns
    -------
    Pair
        X, the shuffled Y, and the true pairing.

    Examples
    --------
    >>> X, Y, truth = make_cubic(5)
    >>> bool(np.allclose(Y[truth], X**3))
    True
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1, 1, size=(n, 1))
    return shuffle_pair(X, X**3, random_state + 1)


def half_images(images: NDArray[Any], random_state: int = 0) -> Pair:
    """Cut images in the middle (section 5.2): X are the left halves, Y the right halves, shuffled.

    Parameters
    ----------
    images : ndarray of shape (n, height, width, 3)
        Pictures of one size.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Pair
        The left halves, the shuffled right halves, each as one row of numbers, and the true pairing.

    Examples
    --------
    >>> half_images(np.zeros((4, 6, 6, 3))).X.shape
    (4, 54)
    """
    middle = images.shape[2] // 2
    n = len(images)
    left, right = images[:, :, :middle].reshape(n, -1), images[:, :, -middle:].reshape(n, -1)
    return shuffle_pair(left.astype(np.float64), right.astype(np.float64), random_state)


PHOTOS = ("astronaut", "chelsea", "coffee", "hubble_deep_field", "motorcycle_left", "retina", "rocket")
TILE = 40


def load_tiles(n: int = 320) -> Images:
    """Return n tiles of 40 × 40 pixels from the photographs inside scikit-image and scikit-learn.

    The photographs are cut into a grid, and the n tiles are taken whose mean colours differ most (each in turn lies
    farthest from those before it, in Lab): twenty tiles of one sky would make any pairing of them arbitrary.

    Parameters
    ----------
    n : int, default 320
        Number of tiles.

    Returns
    -------
    ndarray of uint8, shape (n, 40, 40, 3)
        The tiles in RGB.

    Examples
    --------
    >>> load_tiles(12).shape
    (12, 40, 40, 3)
    """
    tiles = np.concatenate([_cut(photo) for photo in _photographs()])
    if not 1 <= n <= len(tiles):
        raise ValueError(
            f"n must lie between 1 and {len(tiles)}, the number of tiles, got {n}; choose a smaller number"
        )
    colours = to_lab(tiles.mean(axis=(1, 2)) / 255)
    distinct: Images = tiles[np.sort(farthest_first(colours, n))]
    return distinct


def _photographs() -> Iterator[Images]:
    """Yield the photographs in RGB, those of scikit-image first."""
    data = require("skimage.data", extra="album")
    image = require("PIL.Image", extra="album")
    for name in PHOTOS:
        place = Path(data.__file__).parent
        path = next(place / f"{name}{suffix}" for suffix in (".png", ".jpg") if (place / f"{name}{suffix}").exists())
        yield np.asarray(image.open(path).convert("RGB"))
    from sklearn.datasets import load_sample_images

    yield from load_sample_images().images


def _cut(photo: Images) -> Images:
    """Cut a photo into square tiles, fourteen along its shorter side."""
    image = require("PIL.Image", extra="album")
    rows, columns = (14 * side // min(photo.shape[:2]) for side in photo.shape[:2])
    scaled = image.fromarray(photo).resize((columns * TILE, rows * TILE), image.Resampling.BICUBIC)
    grid = np.asarray(scaled).reshape(rows, TILE, columns, TILE, 3)
    return grid.swapaxes(1, 2).reshape(rows * columns, TILE, TILE, 3)


def load_flickr(folder: str | os.PathLike[str] | None = None) -> Images:
    """Return the paper's 320 Flickr photos at 40 × 40 pixels.

    They are not part of the package (their licences are not clear).

    Parameters
    ----------
    folder : str or path, optional
        Folder that holds img1.png to img320.png; None takes ``flickr320/png40`` in the folder that the environment
        variable PAIRUP_DATA names.

    Returns
    -------
    ndarray of uint8, shape (320, 40, 40, 3)
        The photos in RGB.
    """
    image = require("PIL.Image", extra="album")
    place = Path(folder) if folder is not None else data_folder() / "flickr320" / "png40"
    names = [place / f"img{i}.png" for i in range(1, 321)]
    if missing := [name for name in names if not name.is_file()]:
        raise FileNotFoundError(
            f"{place} must hold img1.png to img320.png, but {missing[0].name} is missing; "
            "pass the folder of the photos, or use load_tiles()"
        )
    return np.stack([np.asarray(image.open(name, formats=["PNG"]).convert("RGB")) for name in names])


def data_folder() -> Path:
    """Return the folder of measured data that the environment variable PAIRUP_DATA names.

    Returns
    -------
    Path
        The folder.
    """
    if not (name := os.environ.get("PAIRUP_DATA")):
        raise FileNotFoundError(
            "this needs measured data, which are not part of the package; set PAIRUP_DATA to their folder"
        )
    return Path(name)


def __getattr__(name: str) -> Any:
    if name == "make_voices":  # defined in pairup.voice; imported on first use
        from pairup.voice.synthetic import make_voices

        return make_voices
    raise AttributeError(f"module 'pairup.datasets' has no attribute {name!r}")
