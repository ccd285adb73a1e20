"""Photos: found, decoded small, remembered on disk."""

import glob
import hashlib
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.extras import require
from pairup.files import replacing
from pairup.parallel import run
from pairup.types import Images

PathLike = str | os.PathLike[str]
Read = tuple[Images, bytes, datetime | None]  # miniature, thumbnail, date

FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "GIF", "HEIF")
RAW = {  # suffixes
    "3fr",
    "arw",
    "cr2",
    "cr3",
    "crw",
    "dng",
    "erf",
    "iiq",
    "kdc",
    "mef",
    "mos",
    "mrw",
    "nef",
    "nrw",
    "orf",
    "pef",
    "raf",
    "raw",
    "rw2",
    "rwl",
    "sr2",
    "srf",
    "srw",
    "x3f",
}
MINIATURE = 40  # pixels a side of what features are taken from, as in the paper
THUMBNAIL = 320  # pixels of the longer side of what is shown
MAX_PIXELS = 100_000_000  # of files that cannot be decoded small; a JPEG can
CACHE_VERSION = 1
AT_ONCE = 8  # files per task


@dataclass(frozen=True)
class Photo:
    """One picture: its name, where it came from, when it was taken, and two small versions of it."""

    name: str
    miniature: Images = field(repr=False)  # square, the middle of the picture
    thumbnail: bytes = field(repr=False)  # an encoded picture of its full extent, without any metadata
    path: Path | None = None
    taken: datetime | None = None

    def image(self, side: int = THUMBNAIL) -> Any:
        """Return the picture with a longer side of at least `side` pixels where the original has them."""
        image = require("PIL.Image", extra="album")
        small = image.open(io.BytesIO(self.thumbnail), formats=("JPEG", "PNG"))
        small.load()
        if self.path is None or max(small.size) >= side or max(small.size) < THUMBNAIL:
            return small
        try:
            return _open(self.path, side)[0]
        except (Unreadable, OSError):  # moved or changed since
            return small


@dataclass(frozen=True)
class Photos(Sequence[Photo]):
    """Photos in listing order, and the files that were skipped with the reason."""

    items: tuple[Photo, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_arrays(cls, images: Iterable[NDArray[Any]], names: Iterable[str] | None = None) -> "Photos":
        """Take pictures from arrays: (height, width) or (height, width, 3), of integers 0–255.

        >>> len(Photos.from_arrays(np.zeros((3, 8, 8, 3), dtype=np.uint8)))
        3
        """
        image = require("PIL.Image", extra="album")
        pictures = [image.fromarray(np.asarray(array, dtype=np.uint8)).convert("RGB") for array in images]
        if not pictures:
            raise ValueError("no photos; give at least one array")
        labels = [f"tile {i + 1}" for i in range(len(pictures))] if names is None else list(names)
        if len(labels) != len(pictures):
            raise ValueError(f"expected one name per photo, got {len(labels)} names for {len(pictures)} photos")
        return cls(tuple(Photo(n, *_small(p)) for n, p in zip(labels, pictures, strict=True)))

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    @property
    def names(self) -> list[str]:
        """The names, in listing order: paths relative to the folder all photos share."""
        return [photo.name for photo in self.items]

    @property
    def miniatures(self) -> Images:
        """The square miniatures, as an array (n, 40, 40, 3)."""
        return np.stack([photo.miniature for photo in self.items])

    def find(self, name: str) -> int:
        """Return the number of the photo with this name; the file name alone is enough where it is unique."""
        exact = [i for i, photo in enumerate(self.items) if photo.name == name or str(photo.path) == name]
        loose = [i for i, photo in enumerate(self.items) if Path(photo.name).name == name]
        found = exact or loose
        if len(found) == 1:
            return found[0]
        if not found:
            raise ValueError(f"no photo is named {name!r}; names are relative to the folder, such as {self.names[0]!r}")
        several = ", ".join(repr(self.names[i]) for i in found[:3])
        raise ValueError(f"{len(found)} photos are named {name!r}; write one of {several}")


class Unreadable(Exception):
    """Why a file is not a photo that can be used."""


def read_photos(
    source: PathLike | Iterable[PathLike],
    *,
    cache: bool = True,
    n_jobs: int | None = -1,
    progress: Callable[[int, int], None] | None = None,
) -> Photos:
    """Read the photos of folders (and the folders in them), of globs such as ``*.jpg``, or of a list of files.

    Files that cannot be used are skipped and listed in ``.skipped``; it is an error only if nothing is left.

    Parameters
    ----------
    cache : remember the small versions on disk, so that the next reading is quick.
    n_jobs : files decoded at the same time, as in joblib; inside `pairup.parallel.on_cluster` on the cluster, which
        must see the same files.
    progress : called with the number of files done and the number of all.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = list(find_files(sources))
    if not paths:
        listed = ", ".join(str(s) for s in sources) or "an empty list"
        raise ValueError(f"no photos in {listed}; give a folder, files or a glob such as 'photos/*.jpg'")
    names = _names(paths)
    folder = cache_folder() if cache else None
    tasks = [partial(_read_some, paths[start : start + AT_ONCE], folder) for start in range(0, len(paths), AT_ONCE)]
    photos, skipped, done = [], [], 0
    with quiet():
        for results in run(tasks, n_jobs=n_jobs):
            for result in results:
                if isinstance(result, str):
                    skipped.append((names[done], result))
                else:
                    miniature, thumbnail, taken = result
                    photos.append(Photo(names[done], miniature, thumbnail, paths[done], taken))
                done += 1
            if progress is not None:
                progress(done, len(paths))
    if not photos:
        reasons = "; ".join(f"{name}: {why}" for name, why in skipped[:3])
        raise ValueError(f"none of {len(paths)} files is a photo that can be read ({reasons})")
    return Photos(tuple(photos), tuple(skipped))


@contextmanager
def quiet() -> Iterator[None]:
    """Decode without warnings: what is too large is refused by its size, and broken EXIF is no reason to talk.

    Warnings belong to the process, so this stands round the threads that decode, and not in them.
    """
    image = require("PIL.Image", extra="album")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", image.DecompressionBombWarning)
        warnings.filterwarnings("ignore", message=".*EXIF.*")
        yield


def find_files(sources: Iterable[PathLike]) -> Iterator[Path]:
    """Yield the files of folders, globs and single paths, each once, in natural order, round no link loop."""
    seen: set[str] = set()
    for source in sources:
        path = Path(source)
        if path.is_dir():
            found = list(_walk(path, set()))
        elif path.exists() or path.is_symlink():
            found = [path]
        elif glob.has_magic(str(source)):
            hits = [Path(hit) for hit in glob.glob(str(source), recursive=True)]
            found = [hit for hit in hits if hit.is_file()]
        else:
            raise FileNotFoundError(f"{source} does not exist; give a folder, files or a glob such as 'photos/*.jpg'")
        for file in sorted(found, key=_natural):
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file


def _walk(folder: Path, visited: set[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in visited:
        return
    visited.add(real)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir():
                yield from _walk(Path(entry.path), visited)
            elif entry.is_file():
                yield Path(entry.path)
        except OSError:  # a link that points at itself
            continue


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Sort img2 before img10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.casefold()) for part in parts]


def _names(paths: Sequence[Path]) -> list[str]:
    parents = [path.absolute().parent for path in paths]
    try:
        root = os.path.commonpath(parents)
    except ValueError:  # several drives
        return [str(path) for path in paths]
    return [Path(os.path.relpath(path.absolute(), root)).as_posix() for path in paths]


def _read_some(paths: list[Path], folder: Path | None) -> list[Read | str]:
    return [_read(path, folder) for path in paths]


def _read(path: Path, folder: Path | None) -> Read | str:
    """Return miniature, thumbnail and date of a file, from the cache where it is known; or why there are none."""
    try:
        if path.suffix[1:].lower() in RAW:
            raise Unreadable("a RAW file; export it as JPEG")
        remembered = folder and folder / f"{_fingerprint(path)}.photo"
        if remembered:
            known = _recall(remembered)
            if known is not None:
                return known
        picture, taken = _open(path, THUMBNAIL)
        result = (*_small(picture), taken)
        if remembered:
            _remember(remembered, *result)
        return result
    except Unreadable as reason:
        return str(reason)
    except Exception as error:  # whatever a damaged file makes a decoder do, the album goes on
        return f"cannot be decoded ({type(error).__name__}: {str(error)[:120]})"


def _open(path: Path, side: int) -> tuple[Any, datetime | None]:
    """Decode a picture to sRGB, upright, its longer side near `side` pixels; and tell when it was taken."""
    image, image_ops = require("PIL.Image", extra="album"), require("PIL.ImageOps", extra="album")
    if path.stat().st_size == 0:
        raise Unreadable("empty")
    if path.suffix.lower() in (".heic", ".heif", ".hif"):
        require("pi_heif", extra="album").register_heif_opener()
    image.init()  # Pillow knows only the commonest formats before
    try:
        picture = image.open(path, formats=[name for name in FORMATS if name in image.OPEN])
    except image.DecompressionBombError as error:
        raise Unreadable(f"enormous ({str(error).partition(',')[0]}); make a smaller copy") from error
    except image.UnidentifiedImageError as error:
        raise Unreadable("not a picture of a known format") from error
    with picture:
        if picture.width * picture.height > MAX_PIXELS and picture.format not in ("JPEG", "MPO"):
            raise Unreadable(f"enormous ({picture.width} × {picture.height} pixels); make a smaller copy")
        if min(picture.size) < 1:
            raise Unreadable("without pixels")
        taken = _taken(picture)
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
    """Return the picture in sRGB on white, with nothing attached."""
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


def _taken(picture: Any) -> datetime | None:
    try:
        exif = picture.getexif()
        text = exif.get_ifd(0x8769).get(0x9003) or exif.get(0x0132)
        return datetime.strptime(str(text).strip("\0 ")[:19], "%Y:%m:%d %H:%M:%S") if text else None
    except Exception:  # broken EXIF
        return None


def _small(picture: Any) -> tuple[Images, bytes]:
    """Return the miniature and the encoded thumbnail of an RGB picture."""
    image_ops = require("PIL.ImageOps", extra="album")
    image = require("PIL.Image", extra="album")
    if max(picture.size) > THUMBNAIL:
        picture = picture.copy()
        picture.thumbnail((THUMBNAIL, THUMBNAIL), image.Resampling.LANCZOS)
    square = image_ops.fit(picture, (MINIATURE, MINIATURE), image.Resampling.LANCZOS)
    encoded = io.BytesIO()
    if max(picture.size) <= 64:  # a JPEG would not be smaller
        picture.save(encoded, "PNG")
    else:
        picture.save(encoded, "JPEG", quality=88)
    return np.asarray(square, dtype=np.uint8), encoded.getvalue()


def cache_folder() -> Path:
    """Return the folder of remembered thumbnails: ``$PAIRUP_CACHE``, or the user's cache folder."""
    if "PAIRUP_CACHE" in os.environ:
        return Path(os.environ["PAIRUP_CACHE"]) / "thumbnails"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "pairup" / "thumbnails"


def _fingerprint(path: Path) -> str:
    """Return a digest of a file's size and of 64 KiB from its beginning, middle and end.

    A picture edited in any way differs there, and a folder of large photos is known again in no time.
    """
    size = path.stat().st_size
    digest = hashlib.blake2b(f"{CACHE_VERSION} {THUMBNAIL} {size}".encode(), digest_size=20)
    with path.open("rb") as file:
        for start in (0, size // 2, max(size - 2**16, 0)):
            file.seek(start)
            digest.update(file.read(2**16))
    return digest.hexdigest()


def _remember(path: Path, miniature: Images, thumbnail: bytes, taken: datetime | None) -> None:
    header = json.dumps({"taken": taken and taken.isoformat()}).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_bytes(header + b"\n" + miniature.tobytes() + thumbnail)
    except OSError:  # a cache that cannot be written is no cache
        pass


def _recall(path: Path) -> Read | None:
    size = MINIATURE * MINIATURE * 3
    try:
        header, _, body = path.read_bytes().partition(b"\n")
        taken = json.loads(header)["taken"]
        if len(body) <= size:
            return None
        miniature = np.frombuffer(body[:size], dtype=np.uint8).reshape(MINIATURE, MINIATURE, 3)
        return miniature, body[size:], taken and datetime.fromisoformat(taken)
    except (OSError, ValueError, KeyError, TypeError):
        return None
