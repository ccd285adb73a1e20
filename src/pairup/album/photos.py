"""Photos: files found, decoded small, and cached on disk."""

import glob
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.album.cache import Reduced, cache_folder, digest, load, store
from pairup.album.decoding import RAW, THUMBNAIL, UnreadableError, check_file, decode, ignore_warnings, reduce_picture
from pairup.extras import require
from pairup.parallel import run
from pairup.types import Images

PathLike = str | os.PathLike[str]

AT_ONCE = 8  # files per task


@dataclass(frozen=True)
class Photo:
    """One photo, with two small versions of it.

    Parameters
    ----------
    name : str
        Its name, usually the path below the folder that all photos share.
    miniature : ndarray of uint8, shape (40, 40, 3)
        The square middle of the picture.
    thumbnail : bytes
        The whole picture as JPEG or PNG, without metadata.
    path : Path, optional
        Its file.
    taken : datetime, optional
        When it was taken.
    quarters : int, default 0
        Quarter turns clockwise by which it is shown, 0 to 3; `turn` sets it.
    """

    name: str
    miniature: Images = field(repr=False)
    thumbnail: bytes = field(repr=False)
    path: Path | None = None
    taken: datetime | None = None
    quarters: int = 0

    def turn(self, quarters: int) -> "Photo":
        """Turn the photo clockwise; its file stays as it is.

        Parameters
        ----------
        quarters : int
            Number of quarter turns; negative ones go the other way.

        Returns
        -------
        Photo
            The turned photo: its miniature and what `image` returns are turned.
        """
        miniature = np.ascontiguousarray(np.rot90(self.miniature, -quarters))
        return replace(self, miniature=miniature, quarters=(self.quarters + quarters) % 4)

    def image(self, side: int = THUMBNAIL) -> Any:
        """Return the picture, from its file if the thumbnail is too small.

        Parameters
        ----------
        side : int, default 320
            Pixels of the longer side at least, if the original has them.

        Returns
        -------
        PIL.Image.Image
            The picture.
        """
        image = require("PIL.Image", extra="album")
        picture = image.open(io.BytesIO(self.thumbnail), formats=("JPEG", "PNG"))
        picture.load()
        if self.path is not None and THUMBNAIL <= max(picture.size) < side:
            with suppress(UnreadableError, OSError):  # moved or changed since
                picture = decode(self.path, side)[0]
        if self.quarters == 0:
            return picture
        turns = (image.Transpose.ROTATE_270, image.Transpose.ROTATE_180, image.Transpose.ROTATE_90)  # anticlockwise
        return picture.transpose(turns[self.quarters - 1])


@dataclass(frozen=True)
class Photos(Sequence[Photo]):
    """Photos in listing order.

    Parameters
    ----------
    items : tuple of Photo
        The photos.
    skipped : tuple of (str, str), default ()
        Name of each file that was skipped, and the reason.
    """

    items: tuple[Photo, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_arrays(cls, images: Iterable[NDArray[Any]], names: Iterable[str] | None = None) -> "Photos":
        """Make photos from arrays.

        Parameters
        ----------
        images : iterable of ndarray
            Pictures of shape (height, width) or (height, width, 3), integers from 0 to 255.
        names : iterable of str, optional
            A name for each; by default "tile 1", "tile 2" and so on.

        Returns
        -------
        Photos
            The photos, without files.

        Examples
        --------
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
        return cls(tuple(Photo(n, *reduce_picture(p)) for n, p in zip(labels, pictures, strict=True)))

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    @property
    def names(self) -> list[str]:
        """The names, in listing order, as paths below the folder that all photos share."""
        return [photo.name for photo in self.items]

    @property
    def miniatures(self) -> Images:
        """The square miniatures, as an array of shape (n, 40, 40, 3)."""
        return np.stack([photo.miniature for photo in self.items])

    def find(self, name: str) -> int:
        """Find a photo by its name.

        Parameters
        ----------
        name : str
            Its name or path; the file name alone is enough where it is unique.

        Returns
        -------
        int
            The number of the photo.

        Raises
        ------
        ValueError
            If no photo, or more than one, has this name.
        """
        exact = [i for i, photo in enumerate(self.items) if photo.name == name or str(photo.path) == name]
        loose = [i for i, photo in enumerate(self.items) if Path(photo.name).name == name]
        found = exact or loose
        if len(found) == 1:
            return found[0]
        if not found:
            raise ValueError(f"no photo is named {name!r}; names are relative to the folder, such as {self.names[0]!r}")
        several = ", ".join(repr(self.names[i]) for i in found[:3])
        raise ValueError(f"{len(found)} photos are named {name!r}; write one of {several}")


def read_photos(
    source: PathLike | Iterable[PathLike],
    *,
    cache: bool = True,
    n_jobs: int | None = -1,
    progress: Callable[[int, int], None] | None = None,
) -> Photos:
    """Read photos from folders, globs or files.

    Files that cannot be used are skipped, and listed in ``.skipped`` with the reason.

    Parameters
    ----------
    source : path, or iterable of paths
        Folders (with the folders in them), globs such as ``*.jpg``, or files.
    cache : bool, default True
        Whether to keep the small versions on disk, so that the next reading is quick.
    n_jobs : int, default -1
        Files decoded at the same time, as in joblib; inside `pairup.cluster.on_cluster` on the cluster, which must
        see the same files.
    progress : callable, optional
        Called with the number of files done and the number of all files.

    Returns
    -------
    Photos
        At least one photo, in natural order of the paths.

    Raises
    ------
    ValueError
        If there is no file, or none that can be used.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = list(find_files(sources))
    if not paths:
        listed = ", ".join(str(s) for s in sources) or "an empty list"
        raise ValueError(f"no photos in {listed}; give a folder, files or a glob such as 'photos/*.jpg'")
    names = _name_files(paths)
    photos, skipped, done = [], [], 0
    for results in read_files(paths, cache=cache, n_jobs=n_jobs):
        for result in results:
            if isinstance(result, str):
                skipped.append((names[done], result))
            else:
                photos.append(Photo(names[done], result.miniature, result.thumbnail, paths[done], result.taken))
            done += 1
        if progress is not None:
            progress(done, len(paths))
    if not photos:
        reasons = "; ".join(f"{name}: {why}" for name, why in skipped[:3])
        raise ValueError(f"none of {len(paths)} files is a photo that can be read ({reasons})")
    return Photos(tuple(photos), tuple(skipped))


def read_files(paths: Sequence[Path], *, cache: bool = True, n_jobs: int | None = -1) -> Iterator[list[Reduced | str]]:
    """Read the small versions of files, some at a time: `read_photos` for whoever shows them as they come.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    cache : bool, default True
        Whether to keep the small versions on disk.
    n_jobs : int, default -1
        Files decoded at the same time, as in joblib.

    Yields
    ------
    list of Reduced or str
        For the next few files, in their order: the small versions, or why there are none.
    """
    folder = cache_folder() if cache else None
    tasks = [partial(_read_files, paths[start : start + AT_ONCE], folder) for start in range(0, len(paths), AT_ONCE)]
    with ignore_warnings():
        yield from run(tasks, n_jobs=n_jobs)


def find_files(sources: Iterable[PathLike]) -> Iterator[Path]:
    """Find the files of folders, globs and single paths.

    Hidden files are left out, and loops of links end. What is no file after all (a pipe, a dangling link, a folder that
    cannot be read) is among them, so that the report names it.

    Parameters
    ----------
    sources : iterable of paths
        Folders, globs or files.

    Yields
    ------
    Path
        Each file once, in natural order within each source.

    Raises
    ------
    FileNotFoundError
        If a path that is no glob does not exist.
    """
    seen: set[str] = set()
    for source in sources:
        path = Path(source)
        if path.is_dir():
            found = list(_walk(path, set()))
        elif path.exists() or path.is_symlink():
            found = [path]
        elif glob.has_magic(str(source)):
            hits = [Path(hit) for hit in glob.glob(str(source), recursive=True)]
            found = [hit for hit in hits if not hit.is_dir()]
        else:
            raise FileNotFoundError(f"{source} does not exist; give a folder, files or a glob such as 'photos/*.jpg'")
        for file in sorted(found, key=_split_numbers):
            real = os.path.realpath(file) if file.exists() else os.path.abspath(file)
            if real not in seen:
                seen.add(real)
                yield file


def _walk(folder: Path, visited: set[str]) -> Iterator[Path]:
    """Yield whatever lies below a folder, and folders that cannot be read: reading them says why not."""
    real = os.path.realpath(folder)
    if real in visited:
        return
    visited.add(real)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        yield folder
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            is_folder = entry.is_dir()
        except OSError:  # a link that points at itself
            is_folder = False
        if is_folder:
            yield from _walk(Path(entry.path), visited)
        else:
            yield Path(entry.path)


def _split_numbers(path: Path) -> list[tuple[int, int, str]]:
    """Return a sort key for natural order: img2 before img10."""
    parts = re.split(r"(\d+)", str(path))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.casefold()) for part in parts]


def _name_files(paths: Sequence[Path]) -> list[str]:
    """Name files by their path below the folder that all share."""
    parents = [path.absolute().parent for path in paths]
    try:
        root = os.path.commonpath(parents)
    except ValueError:  # several drives
        return [str(path) for path in paths]
    return [Path(os.path.relpath(path.absolute(), root)).as_posix() for path in paths]


def _read_files(paths: Sequence[Path], folder: Path | None) -> list[Reduced | str]:
    """Read some files: one task."""
    return [_read_file(path, folder) for path in paths]


def _read_file(path: Path, folder: Path | None) -> Reduced | str:
    """Return the small versions of a file, from the cache where it has them; or why there are none."""
    try:
        check_file(path)
        if path.suffix[1:].lower() in RAW:
            raise UnreadableError("a RAW file; export it as JPEG")
        cached = folder and folder / f"{digest(path)}.photo"
        if cached and (known := load(cached)) is not None:
            return known
        picture, taken = decode(path, THUMBNAIL)
        reduced = Reduced(*reduce_picture(picture), taken)
        if cached:
            store(cached, reduced)
        return reduced
    except UnreadableError as reason:
        return str(reason)
    except Exception as error:  # whatever a damaged file makes a decoder raise, the other files go on
        return f"cannot be decoded ({type(error).__name__}: {str(error)[:120]})"
