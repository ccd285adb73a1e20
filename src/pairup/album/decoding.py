"""Decoding: a picture file as a small, upright sRGB picture."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from pairup.extras import require
from pairup.types import Images

FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "HEIF")
# fmt: off
RAW = {
    "3fr", "arw", "cr2", "cr3", "crw", "dng", "erf", "iiq", "kdc", "mef", "mos", "mrw",
    "nef", "nrw", "orf", "pef", "raf", "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
}  # suffixes
# fmt: on
MINIATURE = 40  # pixels a side of the picture that features are computed from, as in the paper
THUMBNAIL = 320  # pixels of the longer side of the picture that is shown
LOSSLESS = 64  # pixels of the longer side up to which a PNG is no larger than a JPEG
MAX_PIXELS = 100_000_000  # of formats that cannot be decoded at a reduced size, as JPEG can


class UnreadableError(Exception):
    """A file that cannot be used as a photo; the message says why."""


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore Pillow's warnings about large pictures and broken EXIF; `decode` has its own limits.

    Warning filters belong to the process, so this goes around the threads that decode, not inside them.

    Yields
    ------
    None
    """
    image = require("PIL.Image", extra="album")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", image.DecompressionBombWarning)
        warnings.filterwarnings("ignore", message=".*EXIF.*")
        yield


def decode(path: Path, side: int) -> tuple[Any, datetime | None]:
    """Decode a picture file to a small, upright sRGB picture.

    Parameters
    ----------
    path : Path
        The file.
    side : int
        Pixels of the longer side; smaller originals keep their size.

    Returns
    -------
    picture : PIL.Image.Image
        The picture in RGB, without metadata.
    taken : datetime or None
        When it was taken, if the file says so.

    Raises
    ------
    UnreadableError
        If the file is empty, too large, or of an unknown format. Damaged files raise what Pillow raises.
    """
    image, image_ops = require("PIL.Image", extra="album"), require("PIL.ImageOps", extra="album")
    if path.stat().st_size == 0:
        raise UnreadableError("empty")
    if path.suffix.lower() in (".heic", ".heif", ".hif"):
        require("pi_heif", extra="album").register_heif_opener()
    image.init()  # Pillow knows only the commonest formats before
    try:
        picture = image.open(path, formats=[name for name in FORMATS if name in image.OPEN])
    except image.DecompressionBombError as error:
        raise UnreadableError(f"too large ({str(error).partition(',')[0]}); make a smaller copy") from error
    except image.UnidentifiedImageError as error:
        raise UnreadableError("not a picture of a known format") from error
    with picture:
        if picture.width * picture.height > MAX_PIXELS and picture.format not in ("JPEG", "MPO"):
            raise UnreadableError(f"too large ({picture.width} × {picture.height} pixels); make a smaller copy")
        if min(picture.size) < 1:
            raise UnreadableError("without pixels")
        taken = _read_date(picture)
        picture.draft("RGB", (2 * side, 2 * side))
        picture.load()
        profile = picture.info.get("icc_profile")
        upright = _to_8_bits(picture)
        upright.thumbnail((side, side), image.Resampling.LANCZOS, reducing_gap=3.0)
        try:
            upright.info["exif"] = picture.info.get("exif", b"")
            upright = image_ops.exif_transpose(upright) or upright
        except Exception:  # broken EXIF: as stored
            pass
        return _to_srgb(upright, profile), taken


def _to_8_bits(picture: Any) -> Any:
    """Return a copy in a mode that can be scaled."""
    image = require("PIL.Image", extra="album")
    if picture.mode in ("I", "F") or picture.mode.startswith("I;16"):
        values = np.asarray(picture).astype(np.float64)
        top = 65535.0 if values.max(initial=0) > 255 else 255.0 if values.max(initial=0) > 1 else 1.0
        return image.fromarray((np.clip(values / top, 0, 1) * 255).astype(np.uint8))
    if picture.mode in ("P", "PA", "1", "LA", "La", "RGBa"):
        transparent = picture.mode in ("PA", "LA", "La", "RGBa") or "transparency" in picture.info
        return picture.convert("RGBA" if transparent else "RGB")
    return picture.copy()


def _to_srgb(picture: Any, profile: bytes | None) -> Any:
    """Return the picture in sRGB on white, without metadata."""
    image = require("PIL.Image", extra="album")
    alpha = picture.getchannel("A") if "A" in picture.getbands() and picture.mode != "LAB" else None
    if profile and picture.mode in ("RGB", "RGBA", "L", "CMYK"):
        cms = require("PIL.ImageCms", extra="album")
        base = picture.convert("RGB") if picture.mode == "RGBA" else picture
        try:
            source = cms.ImageCmsProfile(io.BytesIO(profile))
            picture = cms.profileToProfile(base, source, cms.createProfile("sRGB"), outputMode="RGB")
        except (cms.PyCMSError, OSError, ValueError):
            pass  # a profile that does not fit its picture: take the numbers as they are
    picture = picture.convert("RGB")
    if alpha is not None:
        white = image.new("RGB", picture.size, (255, 255, 255))
        white.paste(picture, mask=alpha)
        picture = white
    return image.fromarray(np.array(picture))


def _read_date(picture: Any) -> datetime | None:
    """Read when a picture was taken."""
    try:
        exif = picture.getexif()
        text = exif.get_ifd(0x8769).get(0x9003) or exif.get(0x0132)  # DateTimeOriginal, or DateTime
        return datetime.strptime(str(text).strip("\0 ")[:19], "%Y:%m:%d %H:%M:%S") if text else None
    except Exception:  # broken EXIF
        return None


def reduce_picture(picture: Any) -> tuple[Images, bytes]:
    """Make the two small versions of a picture.

    Parameters
    ----------
    picture : PIL.Image.Image
        A picture in RGB.

    Returns
    -------
    miniature : ndarray of uint8, shape (40, 40, 3)
        The square middle of the picture.
    thumbnail : bytes
        The whole picture, at most 320 pixels high and wide, as JPEG or PNG.
    """
    image_ops = require("PIL.ImageOps", extra="album")
    image = require("PIL.Image", extra="album")
    if max(picture.size) > THUMBNAIL:
        picture = picture.copy()
        picture.thumbnail((THUMBNAIL, THUMBNAIL), image.Resampling.LANCZOS)
    square = image_ops.fit(picture, (MINIATURE, MINIATURE), image.Resampling.LANCZOS)
    encoded = io.BytesIO()
    if max(picture.size) <= LOSSLESS:
        picture.save(encoded, "PNG")
    else:
        picture.save(encoded, "JPEG", quality=88)
    return np.asarray(square, dtype=np.uint8), encoded.getvalue()
