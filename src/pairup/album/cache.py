"""Cache: the small versions of photos, kept on disk under a digest of the file."""

import hashlib
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairup.album.decoding import MINIATURE, THUMBNAIL
from pairup.files import replace_file
from pairup.types import Images

VERSION = 1
CHECKSUM = 20  # bytes of the sum at the end of an entry
SAMPLE = 2**16  # bytes of a file, from each of three places, that its digest covers


class Reduced(NamedTuple):
    """The small versions of a photo.

    Parameters
    ----------
    miniature : ndarray of uint8, shape (40, 40, 3)
        The square middle of the picture.
    thumbnail : bytes
        The whole picture, encoded.
    taken : datetime or None
        When it was taken.
    """

    miniature: Images
    thumbnail: bytes
    taken: datetime | None


def cache_folder() -> Path:
    """Return the folder of the cache: below ``$PAIRUP_CACHE``, or below the user's cache folder.

    Returns
    -------
    Path
        The folder; it may not exist yet.
    """
    if "PAIRUP_CACHE" in os.environ:
        return Path(os.environ["PAIRUP_CACHE"]) / "thumbnails"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "pairup" / "thumbnails"


def digest(path: Path) -> str:
    """Compute a digest of a file's size and of 64 KiB from its beginning, middle and end.

    An edited picture differs there, and large files need not be read in full.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        40 hexadecimal digits.
    """
    size = path.stat().st_size
    sums = hashlib.blake2b(f"{VERSION} {THUMBNAIL} {size}".encode(), digest_size=20)
    with path.open("rb") as file:
        for start in (0, size // 2, max(size - SAMPLE, 0)):
            file.seek(start)
            sums.update(file.read(SAMPLE))
    return sums.hexdigest()


def store(path: Path, reduced: Reduced) -> None:
    """Write the small versions of a photo; do nothing where the cache cannot be written.

    Parameters
    ----------
    path : Path
        The file of the cache.
    reduced : Reduced
        What to write.
    """
    header = json.dumps({"taken": reduced.taken and reduced.taken.isoformat()}).encode()
    content = header + b"\n" + reduced.miniature.tobytes() + reduced.thumbnail
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as temporary:
            temporary.write_bytes(content + _checksum(content))
    except OSError:
        pass


def load(path: Path) -> Reduced | None:
    """Read the small versions of a photo.

    Parameters
    ----------
    path : Path
        The file of the cache.

    Returns
    -------
    Reduced or None
        What `store` wrote; None if the file is missing or damaged: the caller computes and stores it again.
    """
    size = MINIATURE * MINIATURE * 3
    try:
        entry = path.read_bytes()
        content = entry[:-CHECKSUM]
        if _checksum(content) != entry[-CHECKSUM:]:
            return None
        header, _, body = content.partition(b"\n")
        taken = json.loads(header)["taken"]
        miniature = np.frombuffer(body[:size], dtype=np.uint8).reshape(MINIATURE, MINIATURE, 3)
        return Reduced(miniature, body[size:], taken and datetime.fromisoformat(taken))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checksum(content: bytes) -> bytes:
    """Return the sum by which a damaged entry is told from a whole one."""
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()
