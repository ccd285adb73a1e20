"""libvips: large pictures shrunk while they are decoded, where the extra `pyramid` is installed."""

from functools import cache
from pathlib import Path
from typing import Any

from pairup.extras import require

LARGE = 4_000_000  # pixels from which on libvips is quicker than Pillow; below, starting its pipeline takes longer
FORMATS = ("JPEG", "PNG")
MODES = ("L", "RGB", "RGBA")  # of which both make the same; of the others Pillow's meaning counts


@cache
def load() -> Any:
    """Import libvips, where it is installed.

    Returns
    -------
    module or None
        `pyvips`; None without it.
    """
    try:
        import pyvips
    except (ImportError, OSError):  # OSError: the package without the library
        return None
    pyvips.cache_set_max(0)  # no photo is read twice
    if hasattr(pyvips, "concurrency_set"):
        pyvips.concurrency_set(1)  # photos are decoded side by side already
    if hasattr(pyvips, "block_untrusted_set"):
        pyvips.block_untrusted_set(True)
    return pyvips


def can_shrink(picture: Any) -> bool:
    """Tell whether libvips is there, and quicker than Pillow at this picture.

    Parameters
    ----------
    picture : PIL.Image.Image
        The picture, of which only the header was read.

    Returns
    -------
    bool
        Whether it is.
    """
    known = picture.format in FORMATS and picture.mode in MODES
    several = picture.info.get("interlace") or picture.info.get("progressive")  # of which both hold the whole picture
    return bool(known and not several and picture.width * picture.height >= LARGE and load() is not None)


def shrink(path: Path, mode: str, side: int) -> Any | None:
    """Shrink a picture as it is stored: not turned, colours as they are.

    Parameters
    ----------
    path : Path
        Its file, of a picture that `can_shrink`.
    mode : str
        Its mode in Pillow.
    side : int
        Pixels of the longer side at most.

    Returns
    -------
    PIL.Image.Image or None
        The small picture; None if libvips cannot do it.
    """
    image, vips = require("PIL.Image", extra="album"), load()
    try:
        small = vips.Image.thumbnail(str(path), side, height=side, size="down", no_rotate=True, fail_on="truncated")
        small = small.colourspace("b-w" if mode == "L" else "srgb")
        if small.bands != len(mode):
            return None
        return image.frombytes(mode, (small.width, small.height), small.write_to_memory())
    except vips.Error:  # Pillow says what is wrong with it
        return None
