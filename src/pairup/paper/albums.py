"""Figures 6 and 7: six albums, by two readings of LSOM and by the default method."""

from pathlib import Path

import numpy as np

from pairup.album import Album, Frame, arrange
from pairup.datasets import to_lab
from pairup.matchers import LSOM
from pairup.paper.document import encode_jpeg
from pairup.paper.images import load_photos
from pairup.paper.protocol import ALBUMS, IMAGE_METHODS, Task
from pairup.paper.runner import Row
from pairup.types import Array, Images

SIDE = 40  # pixels of a cell


def load_pictures(kind: str, n: int, data: str | None) -> tuple[Array, Images]:
    """Load n pictures, as vectors to sort by and as images to show.

    The paper does not say which pictures it used. Here faces are evenly spaced over the video; photos and sevens are
    the first ones.

    Parameters
    ----------
    kind : {"flickr", "frey", "usps"}
        Flickr photos, Frey faces or USPS sevens.
    n : int
        How many.
    data : str or None
        Folder of the original data. If None, tiles replace the photos, and digits of scikit-learn replace the faces
        and sevens.

    Returns
    -------
    vectors : ndarray of shape (n, d)
        Lab colours of photos, gray values of the others.
    images : ndarray of uint8 of shape (n, height, width, 3)
        The same pictures in RGB.
    """
    if kind == "flickr":
        images = load_photos(data)[:n]
        return to_lab(images).reshape(n, -1), images
    gray = _load_gray(kind, n, data)
    return gray.reshape(n, -1), _enlarge(gray)


def _load_gray(kind: str, n: int, data: str | None) -> Array:
    """Return n gray images with values in [0, 1]."""
    if data is None:
        from sklearn.datasets import load_digits

        digits = load_digits()
        chosen = digits.images if kind == "frey" else digits.images[np.isin(digits.target, (1, 7))]
        return np.asarray(chosen[:n], dtype=np.float64) / 16
    if kind == "frey":
        with np.load(Path(data) / "frey" / "freyfaces.npz") as archive:
            faces = archive["X"]
        chosen = faces[np.linspace(0, len(faces) - 1, n).astype(int)].reshape(n, 28, 20)
        return np.asarray(chosen, dtype=np.float64) / 255
    with np.load(Path(data) / "usps_zip" / "zip_train.npz") as archive:
        sevens = archive["X"][archive["y"] == 7]
    return (np.asarray(sevens[:n], dtype=np.float64).reshape(n, 16, 16) + 1) / 2


def _enlarge(gray: Array) -> Images:
    """Enlarge gray images to whole multiples of their pixels, as RGB."""
    factor = max(1, SIDE // max(gray.shape[1:]))
    large = np.repeat(np.repeat((255 * gray).astype(np.uint8), factor, axis=1), factor, axis=2)
    return np.repeat(large[..., None], 3, axis=3)


def make_frame(name: str) -> Frame:
    """Return one of the paper's frames.

    Parameters
    ----------
    name : str
        A grid such as "16x20", or one of the paper's drawings: "mountain", "smiley" or "777".

    Returns
    -------
    frame : Frame
        The cells to fill.

    Examples
    --------
    >>> len(make_frame("15x15").cells), len(make_frame("smiley").cells)
    (225, 153)
    """
    return Frame.parse(name) if "x" in name else Frame.drawing(name)


def run(task: Task, data: str | None) -> Row:
    """Arrange one album, measure it and draw it.

    Parameters
    ----------
    task : Task
        Its variant is a key of ALBUMS, its method one of ALBUM_METHODS.
    data : str or None
        Folder of the original data, or None for data that ship with dependencies.

    Returns
    -------
    result : dict
        Order of the pictures, quality of the layout, and the album as JPEG in base64.
    """
    kind, n, shape = ALBUMS[task.variant]
    vectors, images = load_pictures(kind, n, data)
    frame = make_frame(shape)
    if task.method == "pairup":
        album = arrange(vectors, frame, random_state=task.seed)
    else:
        matcher = LSOM(**IMAGE_METHODS[task.method][1]).fit(vectors, frame.cells)
        album = Album(frame, np.argsort(matcher.assignment_), vectors, None, (), {})
    cells = album.frame.cells.astype(int)
    height, width = images.shape[1:3]
    rows, columns = cells.max(axis=0) + 1
    sheet = np.full((rows, columns, height, width, 3), 255, dtype=np.uint8)
    sheet[cells[:, 0], cells[:, 1]] = images[album.order]
    quality = album.quality
    return {
        "order": album.order.tolist(),
        "dpq": quality.dpq,
        "dpq_random": quality.random,
        "dpq_tie_free": quality.tie_free,
        "knn": quality.kept,
        "picture": encode_jpeg(sheet.swapaxes(1, 2).reshape(rows * height, columns * width, 3)),
    }
