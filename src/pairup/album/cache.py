"""Cache: the small versions of photos, kept on disk in one memory-mapped table under a digest of the file."""

import hashlib
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairup.album.decoding import MINIATURE, THUMBNAIL
from pairup.files import claim
from pairup.types import BoolArray, Images

VERSION = 2
SAMPLE = 2**14  # bytes of a file, from each of three places, that its digest covers
KEY = 16  # bytes of a digest
PIXELS = MINIATURE * MINIATURE * 3  # bytes of a miniature
SEGMENTS = 64  # runs that write at the same time at most; more keep what they read in temporary files
ROW = np.dtype(
    [
        ("key", "V16"),  # digest of the photo's file
        ("offset", "<u8"),  # where its thumbnail begins
        ("taken", "<i8"),  # seconds from `EPOCH`
        ("sum", "<u8"),  # of miniature and thumbnail
        ("size", "<u4"),  # bytes of the thumbnail
        ("check", "<u4"),  # of this row
    ]
)
PARTS = ("miniatures", "thumbnails")
UNKNOWN = np.iinfo(np.int64).min  # stands for no date
EPOCH = datetime(1970, 1, 1)
# A sum of words times odd numbers changes with any one word that changes.
ODD = (2 * np.arange(1, ROW.itemsize // 4) * 0x9E3779B1 + 1).astype(np.uint32)

Places = NDArray[np.int64]
"""For each photo its segment and its row there, or −1 and −1: shape (n, 2)."""


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


def digest(path: str | os.PathLike[str], kind: str = "") -> bytes:
    """Compute a digest of a file's size and of 16 KiB from its beginning, middle and end.

    An edited picture differs there, and large files need not be read in full.

    Parameters
    ----------
    path : path
        The file.
    kind : str, default ""
        How its small versions are made, where there is more than one way.

    Returns
    -------
    bytes
        16 bytes.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        sums = hashlib.blake2b(f"{VERSION} {THUMBNAIL} {kind} {size}".encode(), digest_size=KEY)
        for start in (0, size // 2, max(size - SAMPLE, 0)) if size > SAMPLE else (0,):
            file.seek(start)
            sums.update(file.read(SAMPLE))
    return sums.digest()


class Segment:
    """A part of the table that one run at a time writes to, and any number read.

    Three files: rows of fixed length that say what there is, miniatures of fixed length, and thumbnails one after
    another. A row is written after what it tells of, so that a run that is killed leaves no row without content; what
    is damaged otherwise does not fit its sum.

    Parameters
    ----------
    path : Path, optional
        The files without their suffixes; None for temporary files, which go with the process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._files: dict[str, Any] = {}  # open ones, and the claim
        weakref.finalize(self, _close, self._files)
        self._lock = Lock()
        self.rows: NDArray[Any] = np.empty(0, dtype=ROW)
        self._added: list[NDArray[Any]] = []
        if path is None:
            self._files.update({name: tempfile.TemporaryFile(buffering=0) for name in PARTS})  # noqa: SIM115
        else:
            with suppress(OSError):
                self._open("rb")
                self.rows = np.fromfile(self._name("rows"), dtype=ROW)

    def _name(self, part: str) -> Path:
        assert self._path is not None
        return self._path.with_name(f"{self._path.name}.{part}")

    def _open(self, mode: str) -> None:
        """Open the files of miniatures and thumbnails."""
        for name in PARTS:
            opened = open(self._name(name), mode, buffering=0)  # noqa: SIM115
            if name in self._files:
                self._files[name].close()
            self._files[name] = opened

    def claim(self) -> bool:
        """Become the one that writes to this segment, until the process ends or `close` is called.

        Returns
        -------
        bool
            Whether it worked: False where another run is writing to it.
        """
        if self._path is None or "claim" in self._files:
            return True
        claimed = claim(self._name("lock"))
        if claimed is None:
            return False
        self._files["claim"] = claimed
        try:
            for name in ("rows", *PARTS):
                self._name(name).touch()
            self._open("r+b")
            self.rows = np.fromfile(self._name("rows"), dtype=ROW)  # others may have written since
            self._files["rows"] = open(self._name("rows"), "r+b", buffering=0)  # noqa: SIM115
        except BaseException:
            _close(self._files)
            raise
        return True

    def valid(self) -> BoolArray:
        """Tell which rows are as they were written.

        Returns
        -------
        ndarray of bool, shape (n,)
            One value for each row.
        """
        whole: BoolArray = self.rows["check"] == _check_rows(self.rows)
        return whole

    def add(self, keys: Sequence[bytes], reduced: Sequence[Reduced]) -> NDArray[np.int64]:
        """Write the small versions of some photos.

        Parameters
        ----------
        keys : sequence of bytes
            Digests of their files.
        reduced : sequence of Reduced
            Their small versions.

        Returns
        -------
        ndarray of int
            The numbers of their rows.
        """
        first = len(self.rows) + sum(map(len, self._added))
        offset = self._files["thumbnails"].seek(0, os.SEEK_END)
        rows = np.zeros(len(keys), dtype=ROW)
        sizes = [len(item.thumbnail) for item in reduced]
        rows["key"] = np.frombuffer(b"".join(keys), dtype="V16")
        rows["offset"] = offset + np.cumsum([0, *sizes[:-1]])
        rows["size"] = sizes
        rows["taken"] = [_to_seconds(item.taken) for item in reduced]
        rows["sum"] = [_sum(item.miniature.tobytes(), item.thumbnail) for item in reduced]
        rows["check"] = _check_rows(rows)
        _write(self._files["thumbnails"], offset, b"".join(item.thumbnail for item in reduced))
        _write(self._files["miniatures"], first * PIXELS, b"".join(item.miniature.tobytes() for item in reduced))
        if "rows" in self._files:
            _write(self._files["rows"], first * ROW.itemsize, rows.tobytes())
        self._added.append(rows)
        return np.arange(first, first + len(rows))

    def row(self, number: int) -> Any:
        """Return a row.

        Parameters
        ----------
        number : int
            Its number.

        Returns
        -------
        numpy.void
            Its fields.
        """
        if number >= len(self.rows):
            self._join()
        return self.rows[number]

    def _join(self) -> None:
        """Join the rows that were added to the others."""
        self.rows, self._added = np.concatenate([self.rows, *self._added]), []

    def read(self, number: int) -> Reduced | None:
        """Read the small versions of a photo.

        Parameters
        ----------
        number : int
            The number of its row.

        Returns
        -------
        Reduced or None
            What `add` wrote; None where it is damaged.
        """
        try:
            row = self.row(number)
            pixels = self._read("miniatures", number * PIXELS, PIXELS)
            thumbnail = self._read("thumbnails", int(row["offset"]), int(row["size"]))
            if _sum(pixels, thumbnail) != int(row["sum"]):
                return None
            miniature = np.frombuffer(pixels, dtype=np.uint8).reshape(MINIATURE, MINIATURE, 3)
            return Reduced(miniature, thumbnail, _to_date(int(row["taken"])))
        except (OSError, ValueError, OverflowError, IndexError):
            return None

    def _read(self, name: str, offset: int, size: int) -> bytes:
        """Read a part of a file, from any thread."""
        file = self._files[name]
        if hasattr(os, "pread"):
            return os.pread(file.fileno(), size, offset)
        with self._lock:
            file.seek(offset)
            content: bytes = file.read(size)
            return content

    def miniatures(self, numbers: NDArray[np.int64]) -> Images:
        """Return the miniatures of some rows, through a map of the file that ends with this call.

        Parameters
        ----------
        numbers : ndarray of int
            The rows.

        Returns
        -------
        ndarray of uint8, shape (n, 40, 40, 3)
            The miniatures.
        """
        file = self._files["miniatures"]
        whole = os.fstat(file.fileno()).st_size // PIXELS
        table: Images = np.memmap(file, dtype=np.uint8, mode="r", shape=(whole, MINIATURE, MINIATURE, 3))
        return np.array(table[numbers])

    def release(self) -> None:
        """Let others write to the segment; it is still read. Temporary files stay as they are."""
        self._join()
        if self._path is not None:
            _close(self._files)
            self._open("rb")


class Table:
    """The small versions of photos by the digests of their files, safe for several runs at once.

    Each run that writes has a segment to itself, the first that no other run is writing to; all are read. A full disk
    or a folder that cannot be written is no error: temporary files take what is read.

    Parameters
    ----------
    folder : Path, optional
        Folder of the cache; None keeps everything in temporary files.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._segments = [Segment(path) for path in self._list()] if folder is not None else []
        self._writing: int | None = None
        self._index: tuple[NDArray[Any], Places] | None = None

    def _list(self) -> Iterator[Path]:
        """Yield the segments that are there."""
        assert self._folder is not None
        for number in range(SEGMENTS):
            if not (self._folder / f"{number}.rows").is_file():
                return
            yield self._folder / str(number)

    def find(self, keys: Sequence[bytes]) -> Places:
        """Find photos.

        Parameters
        ----------
        keys : sequence of bytes
            Digests of their files.

        Returns
        -------
        ndarray of int, shape (n, 2)
            Segment and row of each; −1 where there is none.
        """
        known, places = self._index or self._sort()
        wanted = np.frombuffer(b"".join(keys), dtype="<u8").reshape(len(keys), 2)
        found = np.full((len(keys), 2), -1)
        if len(known):
            at = np.searchsorted(known[:, 0], wanted[:, 0], side="right") - 1  # the last of equals: the repaired one
            hits = (known[at] == wanted).all(axis=1) & (at >= 0)
            found[hits] = places[at[hits]]
        return found

    def _sort(self) -> tuple[NDArray[Any], Places]:
        """Sort all whole rows by their keys."""
        keys, places = [np.empty((0, 2), dtype="<u8")], [np.empty((0, 2), dtype=np.int64)]
        for number, segment in enumerate(self._segments):
            rows = np.flatnonzero(segment.valid())
            key = np.ascontiguousarray(segment.rows["key"][rows])
            keys.append(key.view("<u8").reshape(-1, 2))
            places.append(np.column_stack([np.full(len(rows), number), rows]))
        joined, where = np.concatenate(keys), np.concatenate(places)
        order = np.argsort(joined[:, 0], kind="stable")
        self._index = joined[order], where[order]
        return self._index

    def add(self, keys: Sequence[bytes], reduced: Sequence[Reduced]) -> Places:
        """Write the small versions of some photos.

        Parameters
        ----------
        keys : sequence of bytes
            Digests of their files.
        reduced : sequence of Reduced
            Their small versions.

        Returns
        -------
        ndarray of int, shape (n, 2)
            Segment and row of each.

        Raises
        ------
        OSError
            If temporary files cannot be written either.
        """
        if self._writing is None:
            self._writing = self._claim_segment()
        try:
            rows = self._segments[self._writing].add(keys, reduced)
        except OSError:
            if self._folder is None:
                raise OSError(
                    f"no room for the small versions of the photos in {tempfile.gettempdir()}; make room, or set "
                    "PAIRUP_CACHE to a folder on another disk"
                ) from None
            self._folder, self._writing = None, None
            return self.add(keys, reduced)
        return np.column_stack([np.full(len(rows), self._writing), rows])

    def _claim_segment(self) -> int:
        """Return the number of a segment that only this run writes to, a new one where all are taken."""
        if self._folder is not None:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                for number in range(SEGMENTS):
                    if number == len(self._segments):
                        self._segments.append(Segment(self._folder / str(number)))
                    if self._segments[number].claim():
                        if number == 0 and not len(self._segments[0].rows):
                            _remove_old(self._folder)
                        return number
        self._segments.append(Segment())
        return len(self._segments) - 1

    def read(self, place: NDArray[np.int64]) -> Reduced | None:
        """Read the small versions of a photo.

        Parameters
        ----------
        place : ndarray of shape (2,)
            Segment and row.

        Returns
        -------
        Reduced or None
            What `add` wrote; None where it is damaged: the caller computes it again.
        """
        return self._segments[int(place[0])].read(int(place[1]))

    def miniatures(self, places: Places) -> Images:
        """Return the miniatures of some photos.

        Parameters
        ----------
        places : ndarray of shape (n, 2)
            Segment and row of each.

        Returns
        -------
        ndarray of uint8, shape (n, 40, 40, 3)
            The miniatures.
        """
        found = np.empty((len(places), MINIATURE, MINIATURE, 3), dtype=np.uint8)
        for number in np.unique(places[:, 0]):
            here = places[:, 0] == number
            found[here] = self._segments[number].miniatures(places[here, 1])
        return found

    def taken(self, places: Places) -> list[datetime | None]:
        """Return when photos were taken.

        Parameters
        ----------
        places : ndarray of shape (n, 2)
            Segment and row of each.

        Returns
        -------
        list of datetime or None
            The dates.
        """
        return [_to_date(int(self._segments[segment].row(row)["taken"])) for segment, row in places]

    def sums(self, places: Places) -> NDArray[np.uint64]:
        """Return the sums of the small versions of photos, by which a change is seen.

        Parameters
        ----------
        places : ndarray of shape (n, 2)
            Segment and row of each.

        Returns
        -------
        ndarray of uint64, shape (n,)
            The sums.
        """
        return np.array([self._segments[segment].row(row)["sum"] for segment, row in places], dtype=np.uint64)

    def finish(self) -> None:
        """Let other runs write where this one did; what was read stays readable."""
        if self._writing is not None:
            self._segments[self._writing].release()
        self._writing = self._index = None


def _close(files: dict[str, Any]) -> None:
    """Close all files."""
    while files:
        files.popitem()[1].close()


def _remove_old(folder: Path) -> None:
    """Remove what version 1 kept: one file per photo."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".photo"):
                os.unlink(entry.path)


def _write(file: Any, offset: int, content: bytes) -> None:
    """Write all of a content: an unbuffered file writes less where the disk is nearly full."""
    file.seek(offset)
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _check_rows(rows: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the checks of rows."""
    words = np.ascontiguousarray(rows).view("<u4").reshape(len(rows), -1)[:, :-1]
    checks: NDArray[np.uint32] = (words * ODD).sum(axis=1, dtype=np.uint32) + np.uint32(VERSION)
    return checks


def _sum(miniature: bytes, thumbnail: bytes) -> int:
    """Return the sum by which a damaged entry is told from a whole one."""
    return int.from_bytes(hashlib.blake2b(miniature + thumbnail, digest_size=8).digest(), "little")


def _to_seconds(taken: datetime | None) -> int:
    """Return a date as a number."""
    return UNKNOWN if taken is None else int((taken.replace(tzinfo=None) - EPOCH).total_seconds())


def _to_date(seconds: int) -> datetime | None:
    """Return the date that `_to_seconds` wrote."""
    return None if seconds == UNKNOWN else EPOCH + timedelta(seconds=seconds)
