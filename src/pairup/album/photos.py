"""Photos: pictures with two small versions each, in memory or on disk."""

import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.album.cache import Places, Table
from pairup.album.decoding import THUMBNAIL, UnreadableError, decode, reduce_picture
from pairup.extras import require
from pairup.types import Images


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
        if self.path is not None and max(picture.size) < side:
            with suppress(UnreadableError, OSError):  # moved or changed since; it may be no larger
                picture = decode(self.path, side)[0]
        if self.quarters == 0:
            return picture
        turns = (image.Transpose.ROTATE_270, image.Transpose.ROTATE_180, image.Transpose.ROTATE_90)  # anticlockwise
        return picture.transpose(turns[self.quarters - 1])


@dataclass(frozen=True)
class StoredPhotos(Sequence[Photo]):
    """Photos whose small versions lie in a table on disk and are read when they are asked for.

    Parameters
    ----------
    names : list of str
        Name of each photo.
    paths : list of str
        File of each photo.
    table : Table
        Where the small versions are.
    places : ndarray of int, shape (n, 2)
        The place of each photo in the table.
    quarters : ndarray of int, shape (n,)
        Quarter turns clockwise by which each is shown.
    """

    names: list[str]
    paths: list[str]
    table: Table
    places: Places
    quarters: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            parts = (self.names[index], self.paths[index], self.table, self.places[index], self.quarters[index])
            return StoredPhotos(*parts)
        path = Path(self.paths[index])
        small = self.table.read(self.places[index])
        if small is None:  # damaged since it was read
            picture, taken = decode(path, THUMBNAIL)
            miniature, thumbnail = reduce_picture(picture)
        else:
            miniature, thumbnail, taken = small
        photo = Photo(self.names[index], miniature, thumbnail, path, taken)
        quarters = int(self.quarters[index])
        return photo.turn(quarters) if quarters else photo

    @cached_property
    def taken(self) -> list[datetime | None]:
        """When each photo was taken."""
        return self.table.taken(self.places)

    @property
    def miniatures(self) -> Images:
        """The square miniatures, turned as the photos are."""
        found = self.table.miniatures(self.places)
        for number in np.flatnonzero(self.quarters):
            found[number] = np.rot90(found[number], -int(self.quarters[number]))
        return found


@dataclass(frozen=True)
class Photos(Sequence[Photo]):
    """Photos in listing order.

    Parameters
    ----------
    items : sequence of Photo
        The photos: a tuple, or `StoredPhotos`, which are read when they are asked for.
    skipped : tuple of (str, str), default ()
        Name of each file that was skipped, and the reason.
    """

    items: Sequence[Photo]
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

    @cached_property
    def names(self) -> list[str]:
        """The names, in listing order, as paths below the folder that all photos share."""
        return self.items.names if isinstance(self.items, StoredPhotos) else [photo.name for photo in self.items]

    @cached_property
    def paths(self) -> list[Path | None]:
        """The files, in listing order; None for photos made from arrays."""
        if isinstance(self.items, StoredPhotos):
            return [Path(path) for path in self.items.paths]
        return [photo.path for photo in self.items]

    @property
    def taken(self) -> list[datetime | None]:
        """When each photo was taken."""
        return self.items.taken if isinstance(self.items, StoredPhotos) else [photo.taken for photo in self.items]

    @property
    def quarters(self) -> list[int]:
        """Quarter turns clockwise by which each photo is shown."""
        if isinstance(self.items, StoredPhotos):
            return [int(quarters) for quarters in self.items.quarters]
        return [photo.quarters for photo in self.items]

    @property
    def miniatures(self) -> Images:
        """The square miniatures, as an array of shape (n, 40, 40, 3)."""
        if isinstance(self.items, StoredPhotos):
            return self.items.miniatures
        return np.stack([photo.miniature for photo in self.items])

    def blocks(self, size: int) -> list["Photos"]:
        """Divide the photos, for who needs the miniatures of some at a time.

        Parameters
        ----------
        size : int
            Photos of a block at most.

        Returns
        -------
        list of Photos
            The blocks in listing order.
        """
        return [Photos(self.items[start : start + size]) for start in range(0, len(self), size)]

    @cached_property
    def _by_name(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The numbers of photos by name or path, and by the name of the file alone."""
        exact: dict[str, list[int]] = {}
        loose: dict[str, list[int]] = {}
        for number, (name, path) in enumerate(zip(self.names, self.paths, strict=True)):
            for key in {name, str(path)}:
                exact.setdefault(key, []).append(number)
            loose.setdefault(name.rpartition("/")[2], []).append(number)
        return exact, loose

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
        exact, loose = self._by_name
        found = exact.get(name) or loose.get(name, [])
        if len(found) == 1:
            return found[0]
        if not found:
            raise ValueError(f"no photo is named {name!r}; names are relative to the folder, such as {self.names[0]!r}")
        several = ", ".join(repr(self.names[i]) for i in found[:3])
        raise ValueError(f"{len(found)} photos are named {name!r}; write one of {several}")
