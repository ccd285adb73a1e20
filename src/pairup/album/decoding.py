"""Decoding: a picture file as a small, upright sRGB picture."""

import io
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from pairup.album.vips import can_shrink, shrink
from pairup.extras import require
from pairup.types import Array, Images

FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "HEIF")
# fmt: off
RAW = {
    "3fr", "arw", "cr2", "cr3", "crw", "dng", "erf", "iiq", "kdc", "mef", "mos", "mrw",
    "nef", "nrw", "orf", "pef", "raf", "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
}  # suffixes
# fmt: on
HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
MINIATURE = 40  # pixels a side of the picture that features are computed from, as in the paper
THUMBNAIL = 320  # pixels of the longer side of the picture that is shown
PREVIEW = 160  # pixels of the longer side of a camera's preview that is good enough: four times a miniature
SAME = 0.02  # by which the proportions of a preview may differ from the photo's: it has as few as 107 rows
LOSSLESS = 64  # pixels of the longer side up to which a PNG is no larger than a JPEG
MAX_PIXELS = 100_000_000  # of formats that cannot be decoded at a reduced size, as JPEG can
MAX_BYTES = 500_000_000  # that decoding one picture may take
LARGE = 100_000_000  # bytes of a picture that is decoded while no other such picture is
PILLOW_BLOCK = 2**26  # bytes that Pillow allocates at once for such a picture, which the system gets back when freed
BLOCK = 2**20  # pixels that are converted at once
IFD1 = -1  # Pillow's number of the part of EXIF that holds the preview
GAP = 3.0  # a picture is averaged over blocks down to this multiple of its final size, then filtered
NUMBERS = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")  # modes of more than 8 bits
# Bytes that a pixel takes while it is decoded: in Pillow, and in the decoders that hold a picture several times.
# WebP was measured; of HEIF it is the planes, their RGB and Pillow's.
PIXEL_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16L": 2, "I;16B": 2, "I;16N": 2}
FORMAT_BYTES = {"WEBP": 16, "HEIF": 10}

_large = Lock()


class UnreadableError(Exception):
    """A file that cannot be used as a photo; the message says why."""


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore Pillow's warnings about large pictures and broken tags; `decode` has its own limits and reasons.

    Warning filters belong to the process, so this goes around the threads that decode, not inside them.

    Yields
    ------
    None
    """
    image = require("PIL.Image", extra="album")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", image.DecompressionBombWarning)
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


@contextmanager
def _one_large() -> Iterator[None]:
    """Wait until no other large picture is decoded, and let the memory of this one return to the system.

    Of blocks below 32 MiB, Pillow's 16 for instance, the C library may keep what is freed, once for each thread.
    """
    core = require("PIL.Image", extra="album").core
    with _large:
        before = core.get_block_size()
        core.set_block_size(PILLOW_BLOCK)
        try:
            yield
        finally:
            core.set_block_size(before)


def check_file(path: Path) -> None:
    """Check that a path leads to a file with content, without opening it: a pipe would be waited for.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    UnreadableError
        If it is anything else; the message says what.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise UnreadableError("a link to a missing file" if path.is_symlink() else "no such file") from None
    except OSError as error:
        raise UnreadableError(f"cannot be reached ({error.strerror})") from None
    if stat.S_ISDIR(found.st_mode):
        raise UnreadableError("a folder that cannot be read")
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableError("a pipe, socket or device, not a file")
    if found.st_size == 0:
        raise UnreadableError("empty")


def decode(path: Path, side: int) -> tuple[Any, datetime | None]:
    """Decode a picture file to a small, upright sRGB picture, in at most 500 MB.

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
        If the file is empty, no file, too large, or of an unknown format. Damaged files raise what Pillow raises.
    """
    image = require("PIL.Image", extra="album")
    check_file(path)
    if _is_heif(path):
        require("pi_heif", extra="album").register_heif_opener()
    image.init()  # Pillow knows only the commonest formats before
    try:
        picture = image.open(path, formats=[name for name in FORMATS if name in image.OPEN])
    except image.DecompressionBombError as error:
        raise UnreadableError(f"too large ({str(error).partition(',')[0]}); make a smaller copy") from error
    except image.UnidentifiedImageError as error:
        raise UnreadableError("not a picture of a known format") from error
    resampling = image.Resampling.HAMMING if side <= THUMBNAIL else image.Resampling.LANCZOS  # half the time, as sharp
    with picture:
        if picture.width * picture.height > MAX_PIXELS and picture.format not in ("JPEG", "MPO"):
            raise UnreadableError(f"too large ({picture.width} × {picture.height} pixels); make a smaller copy")
        if min(picture.size) < 1:
            raise UnreadableError("without pixels")
        original = picture.size
        by_vips = can_shrink(picture)
        picture.draft("RGB", (2 * side, 2 * side))
        needed = _estimate_bytes(picture, original, path)
        if needed > MAX_BYTES:
            raise UnreadableError(
                f"too large ({original[0]} × {original[1]} pixels, which take {needed / 1e9:.1f} GB to decode from "
                f"{picture.format}); make a smaller copy"
            )
        with _one_large() if needed > LARGE else nullcontext():
            if by_vips and (small := shrink(path, picture.mode, side)) is not None:
                profile, exif = picture.info.get("icc_profile"), picture.info.get("exif", b"")
                small.info["exif"] = exif  # asked itself, a PNG would load all its pixels
                taken = _read_date(small)
                return _to_srgb(_turn_upright(small, exif), profile), taken
            taken = _read_date(picture)  # of a PNG this already loads the pixels
            picture.load()
            profile, exif = (
                picture.info.get("icc_profile"),
                picture.info.get("exif", b""),
            )  # of a PNG they may come last
            upright = _to_8_bits(picture, side)
            if upright is not picture:
                picture.thumbnail((1, 1), image.Resampling.NEAREST)  # its pixels would stay until garbage is collected
            upright.thumbnail((side, side), resampling, reducing_gap=GAP)
            upright = upright.copy()  # a plain picture, where it was the file itself
            return _to_srgb(_turn_upright(upright, exif), profile), taken


def _turn_upright(picture: Any, exif: bytes) -> Any:
    """Turn a picture as its EXIF says."""
    image_ops = require("PIL.ImageOps", extra="album")
    try:
        picture.info["exif"] = exif
        return image_ops.exif_transpose(picture) or picture
    except Exception:  # broken EXIF: as stored
        return picture


def decode_preview(path: Path) -> tuple[Any, datetime | None] | None:
    """Decode the preview that a camera put into a JPEG, if it is good enough.

    It is if it has 160 pixels and the proportions of the photo: one with black bars, or of before the photo was
    cropped, has others.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    tuple of PIL.Image.Image and datetime or None, or None
        As `decode`; None if there is no such preview.
    """
    image = require("PIL.Image", extra="album")
    try:
        with image.open(path, formats=("JPEG", "MPO")) as photo:
            exif, place = photo.info.get("exif", b""), photo.getexif().get_ifd(IFD1)
            start, length = 6 + int(place[0x0201]), int(place[0x0202])  # after "Exif\0\0"
            preview = image.open(io.BytesIO(exif[start : start + length]), formats=("JPEG",))
            ratio = (preview.width * photo.height) / (preview.height * photo.width)
            if max(preview.size) < PREVIEW or abs(ratio - 1) > SAME:
                return None
            profile, taken = photo.info.get("icc_profile"), _read_date(photo)
            preview.draft("RGB", (THUMBNAIL, THUMBNAIL))  # whoever wrote the file may have put a large one in
            preview.thumbnail((THUMBNAIL, THUMBNAIL))
            return _to_srgb(_turn_upright(preview.copy(), exif), profile), taken
    except Exception:  # no preview, or a damaged one: the photo itself tells more
        return None


def _is_heif(path: Path) -> bool:
    """Tell whether a file is HEIF by its first box, whatever its name: uploaded files have none."""
    with path.open("rb") as file:
        start = file.read(12)
    return start[4:8] == b"ftyp" and start[8:12] in HEIF_BRANDS


def _estimate_bytes(picture: Any, original: tuple[int, int], path: Path) -> int:
    """Estimate the bytes that decoding takes, from what the header says; scaling is extra, but done in blocks."""
    pixels = picture.width * picture.height
    needed: int = pixels * FORMAT_BYTES.get(picture.format, PIXEL_BYTES.get(picture.mode, 4))
    if picture.format in ("JPEG", "MPO") and _has_several_scans(picture, path):
        # The coefficients of the whole picture are kept, two bytes each, whatever the size that is decoded.
        shares = [across * down for _, across, down, _ in picture.layer]
        needed += 2 * original[0] * original[1] * sum(shares) // max(*shares, 1)
    if picture.format == "TIFF":
        tags = picture.tag_v2
        if tags.get(274, 1) != 1:  # Pillow turns the whole picture
            needed *= 2
        if tags.get(259, 1) != 1:  # compressed: a strip or tile is unpacked at once
            bits = max(tags.get(258, (1,))) * tags.get(277, 1)
            rows = min(tags.get(323) or tags.get(278) or original[1], original[1])
            needed += rows * min(tags.get(322) or original[0], original[0]) * bits // 8
    return needed


def _has_several_scans(picture: Any, path: Path) -> bool:
    """Tell whether a JPEG is progressive, or has its colours one after another; True where that is not clear."""
    if picture.info.get("progressive"):
        return True
    with path.open("rb") as file:
        file.seek(2)
        while (start := file.read(4))[:1] == b"\xff" and len(start) == 4:
            if start[1] == 0xDA:  # start of scan: the number of its colours follows
                return file.read(1) != bytes([picture.layers])
            file.seek(int.from_bytes(start[2:], "big") - 2, 1)
    return True


def _to_8_bits(picture: Any, side: int) -> Any:
    """Return the picture in a mode that can be scaled, reduced already where a full copy would take too much."""
    if picture.mode in NUMBERS:
        return _scale_numbers(picture)
    transparent = picture.mode in ("PA", "LA", "La", "RGBA", "RGBa") or (
        picture.mode in ("P", "1") and "transparency" in picture.info
    )
    pixels = picture.width * picture.height
    if transparent and pixels * (PIXEL_BYTES.get(picture.mode, 4) + 8) > MAX_BYTES:
        return _reduce(picture, side)
    if picture.mode in ("P", "PA", "1", "LA", "La", "RGBa"):
        return picture.convert("RGBA" if transparent else "RGB")
    return picture


def _blocks(size: tuple[int, int], factors: tuple[int, int] = (1, 1)) -> Iterator[tuple[int, int, int, int]]:
    """Yield boxes that cover a picture, their sides multiples of two factors, of few pixels each."""
    (width, height), (fx, fy) = size, factors
    wide = min(width, max(BLOCK // fx, 1) * fx)
    high = max(BLOCK // wide // fy, 1) * fy
    for top in range(0, height, high):
        for left in range(0, width, wide):
            yield left, top, min(left + wide, width), min(top + high, height)


def _scale_numbers(picture: Any) -> Any:
    """Return a picture of more than 8 bits in gray; its largest value tells whether white is 1, 255 or 65535."""
    image = require("PIL.Image", extra="album")

    def read(box: tuple[int, int, int, int]) -> Array:
        values = np.asarray(picture.crop(box)).astype(np.float64)
        return np.where(np.isfinite(values), values, 0.0)

    peak = max(float(read(box).max()) for box in _blocks(picture.size))
    white = 65535.0 if peak > 255 else 255.0 if peak > 1 else 1.0
    gray = image.new("L", picture.size)
    for box in _blocks(picture.size):
        gray.paste(image.fromarray((np.clip(read(box) / white, 0, 1) * 255).astype(np.uint8)), box[:2])
    return gray


def _reduce(picture: Any, side: int) -> Any:
    """Average a transparent picture over blocks of pixels, down to a few times the size that is wanted."""
    image = require("PIL.Image", extra="album")
    longest = max(picture.size)
    fx, fy = (max(int(length / max(length * side / longest, 1) / GAP), 1) for length in picture.size)
    small = image.new("RGBA", (-(-picture.width // fx), -(-picture.height // fy)))
    for box in _blocks(picture.size, (fx, fy)):
        piece = picture.crop(box).convert("RGBA").reduce((fx, fy))
        small.paste(piece, (box[0] // fx, box[1] // fy))
    return small


def _to_srgb(picture: Any, profile: bytes | None) -> Any:
    """Return the picture in sRGB on white, without metadata."""
    image = require("PIL.Image", extra="album")
    alpha = picture.getchannel("A") if "A" in picture.getbands() and picture.mode != "LAB" else None
    if profile and picture.mode in ("RGB", "RGBA", "L", "CMYK"):
        cms = require("PIL.ImageCms", extra="album")
        base = picture.convert("RGB") if picture.mode == "RGBA" else picture
        with suppress(cms.PyCMSError, OSError, ValueError):  # a profile that does not fit: the numbers as they are
            picture = cms.applyTransform(base, _transform_to_srgb(profile, base.mode))
    picture = picture.convert("RGB")
    if alpha is not None:
        white = image.new("RGB", picture.size, (255, 255, 255))
        white.paste(picture, mask=alpha)
        picture = white
    return image.fromarray(np.array(picture))


@lru_cache(maxsize=16)
def _transform_to_srgb(profile: bytes, mode: str) -> Any:
    """Return the transform of a profile; making it takes longer than using it, and photos of a camera share it."""
    cms = require("PIL.ImageCms", extra="album")
    source = cms.ImageCmsProfile(io.BytesIO(profile))
    return cms.buildTransform(source, cms.createProfile("sRGB"), mode, "RGB")


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
    square = image_ops.fit(picture, (MINIATURE, MINIATURE), image.Resampling.HAMMING)
    encoded = io.BytesIO()
    if max(picture.size) <= LOSSLESS:
        picture.save(encoded, "PNG")
    else:
        picture.save(encoded, "JPEG", quality=88)
    return np.asarray(square, dtype=np.uint8), encoded.getvalue()
