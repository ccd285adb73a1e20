"""Data to try things on: made on the spot, or cut from pictures that ship inside dependencies."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require
from pairup.types import Array, Images, Indices

if TYPE_CHECKING:
    from pairup.voice.synthetic import make_voices as make_voices


class Pair(NamedTuple):
    """Two unpaired sets whose true pairing is known: ``Y[truth]`` is aligned with ``X``."""

    X: Array
    Y: Array
    truth: Indices


def shuffle_pair(X: Array, Y: Array, random_state: int = 0) -> Pair:
    """Shuffle the rows of Y and remember where they went.

    >>> X, Y, truth = shuffle_pair(np.arange(3.0)[:, None], np.arange(3.0)[:, None])
    >>> bool((Y[truth] == X).all())
    True
    """
    order = np.random.default_rng(random_state).permutation(len(Y))
    return Pair(X, Y[order], np.argsort(order))


def make_cubic(n: int = 100, random_state: int = 0) -> Pair:
    """Return the paper's toy (section 5.1): X uniform on (−1, 1), Y = X³, shuffled.

    >>> X, Y, truth = make_cubic(5)
    >>> bool(np.allclose(Y[truth], X**3))
    True
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1, 1, size=(n, 1))
    return shuffle_pair(X, X**3, random_state + 1)


def to_lab(images: NDArray[Any]) -> Array:
    """Convert RGB images, or any array whose last axis is RGB, to Lab colours, as the paper does."""
    color = require("skimage.color", extra="album")
    lab: Array = color.rgb2lab(images)
    return lab


def half_images(images: NDArray[Any], random_state: int = 0) -> Pair:
    """Cut images in the middle (section 5.2): X are the left halves, Y the right halves, shuffled.

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

    >>> load_tiles(12).shape
    (12, 40, 40, 3)
    """
    tiles = np.concatenate([_cut(photo) for photo in _photographs()])
    if not 1 <= n <= len(tiles):
        raise ValueError(f"n must lie between 1 and {len(tiles)}, the number of tiles there are, got {n}")
    colours = to_lab(tiles.mean(axis=(1, 2)) / 255)
    chosen = [int(np.linalg.norm(colours - colours.mean(axis=0), axis=1).argmin())]
    nearest = np.full(len(tiles), np.inf)
    while len(chosen) < n:
        nearest = np.minimum(nearest, np.linalg.norm(colours - colours[chosen[-1]], axis=1))
        chosen.append(int(nearest.argmax()))
    distinct: Images = tiles[np.sort(chosen)]
    return distinct


def _photographs() -> Iterator[Images]:
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

    They are not part of the package (their licences are not clear): `folder` holds img1.png … img320.png, and
    defaults to ``flickr320/png40`` below the folder that the variable PAIRUP_DATA names.
    """
    image = require("PIL.Image", extra="album")
    place = Path(folder) if folder is not None else data_folder() / "flickr320" / "png40"
    names = [place / f"img{i}.png" for i in range(1, 321)]
    if missing := [name for name in names if not name.is_file()]:
        raise FileNotFoundError(f"{place} should hold img1.png to img320.png, but {missing[0].name} is missing")
    return np.stack([np.asarray(image.open(name, formats=["PNG"]).convert("RGB")) for name in names])


def data_folder() -> Path:
    """Return the folder of measured data that the variable PAIRUP_DATA names."""
    if not (name := os.environ.get("PAIRUP_DATA")):
        raise FileNotFoundError("this needs data that do not ship: set PAIRUP_DATA to the folder that holds them")
    return Path(name)


def __getattr__(name: str) -> Any:
    if name == "make_voices":  # lives with the voices; not imported before it is needed
        from pairup.voice.synthetic import make_voices

        return make_voices
    raise AttributeError(f"module 'pairup.datasets' has no attribute {name!r}")
