"""Photos for tests of albums: small, of colours that sort well, each with a lighter corner."""

import numpy as np
from PIL import Image


def write_photos(folder, n=12, size=(60, 40)):
    """Write n photos into a folder, and return it."""
    folder.mkdir(exist_ok=True)
    for number in range(n):
        pixels = np.full((size[1], size[0], 3), (200 * number // n, 80, 200 - 200 * number // n), dtype=np.uint8)
        pixels[: size[1] // 3, : size[0] // 3] = 255
        Image.fromarray(pixels).save(folder / f"img{number + 1}.png")
    return folder


def last(steps):
    """Return the result of a task."""
    *_, end = steps
    return end["result"]


def read_folder(read, project, photos):
    """Read a folder into a project's folder; return what is known of its files."""
    (project / "files").mkdir(parents=True, exist_ok=True)
    return last(read(project, [{"id": "f" * 16, "role": "folder", "name": "x", "path": str(photos)}], 0))["files"]
