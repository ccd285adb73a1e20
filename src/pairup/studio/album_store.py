"""What the worker keeps of an album's photos in the project's folder: miniatures, dates, and sheets of tiles."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pairup.album.photos import Photo, Photos
from pairup.album.reading import read_files
from pairup.album.sheets import columns_of, draw_sheet, draw_tile
from pairup.extras import require
from pairup.files import replace_file
from pairup.studio.album_sheets import SHEETS, Sheet, list_sheets
from pairup.types import Images

QUALITY = 85  # of a sheet as JPEG


@dataclass(frozen=True)
class Store:
    """The small versions of all photos of a project, by their numbers.

    Parameters
    ----------
    miniatures : ndarray of uint8, shape (n, 40, 40, 3)
        The square middles.
    taken : list of str
        When each was taken, in ISO's form, or "".
    """

    miniatures: Images
    taken: list[str]

    @classmethod
    def load(cls, folder: Path) -> "Store":
        """Load what a project has.

        Parameters
        ----------
        folder : Path
            Folder of the project.

        Returns
        -------
        Store
            The photos, none where nothing was read yet.
        """
        path = folder / "photos.npz"
        if not path.is_file():
            return cls(np.empty((0, 40, 40, 3), dtype=np.uint8), [])
        with np.load(path, allow_pickle=False) as saved:
            return cls(saved["miniatures"], saved["taken"].tolist())

    def save(self, folder: Path) -> None:
        """Write all photos to a project.

        Parameters
        ----------
        folder : Path
            Folder of the project.
        """
        with replace_file(folder / "photos.npz") as temporary:
            np.savez(temporary, miniatures=self.miniatures, taken=np.array(self.taken, dtype="U19"))

    def photos(self, numbers: Iterable[int], rotations: dict[int, int]) -> Photos:
        """Return photos for the computation of features: without pictures to show.

        Parameters
        ----------
        numbers : iterable of int
            Numbers of the photos.
        rotations : dict of int to int
            Quarter turns of those that are turned.

        Returns
        -------
        Photos
            The photos.
        """
        made = []
        for number in numbers:
            taken = self.taken[number]
            photo = Photo(
                str(number), self.miniatures[number], b"", None, datetime.fromisoformat(taken) if taken else None
            )
            made.append(photo.turn(rotations.get(number, 0)))
        return Photos(tuple(made))


def write_sheet(folder: Path, tiles: list[Any], sheet: Sheet) -> None:
    """Write a sheet in place of the one that had fewer tiles.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    tiles : list of PIL.Image.Image
        Its tiles.
    sheet : Sheet
        What it is called.
    """
    place = folder / SHEETS
    place.mkdir(exist_ok=True)
    with replace_file(place / sheet.name) as temporary:
        # Tiles of 40 pixels have no whole blocks of halved colours; those of 128 and 256 do.
        subsampling = 0 if sheet.level % 16 else 2
        draw_sheet(tiles, sheet.level).save(temporary, "JPEG", quality=QUALITY, subsampling=subsampling)
    for old in list_sheets(folder):
        if (old.level, old.fit, old.index) == (sheet.level, sheet.fit, sheet.index) and old.count != sheet.count:
            (place / old.name).unlink(missing_ok=True)


def plan_sheets(folder: Path, count: int, level: int, fit: Literal["crop", "whole"]) -> Iterator[Sheet]:
    """Yield the sheets of a level that are missing.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    count : int
        Number of photos.
    level : int
        Pixels of a tile.
    fit : {"crop", "whole"}
        Whether photos fill their tiles.

    Yields
    ------
    Sheet
        The next one.
    """
    full = columns_of(level) ** 2
    for index in range(-(-count // full)):
        sheet = Sheet(level=level, fit=fit, index=index, count=min(count - index * full, full))
        if not (folder / SHEETS / sheet.name).is_file():
            yield sheet


def write_miniatures(folder: Path, miniatures: Images) -> None:
    """Write the sheets of the smallest tiles that are missing.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    miniatures : ndarray of uint8, shape (n, 40, 40, 3)
        The tiles of all photos.
    """
    image = require("PIL.Image", extra="album")
    side = miniatures.shape[1]
    for sheet in plan_sheets(folder, len(miniatures), side, "crop"):
        start = sheet.index * columns_of(side) ** 2
        write_sheet(folder, [image.fromarray(tile) for tile in miniatures[start : start + sheet.count]], sheet)


def write_tiles(folder: Path, paths: list[Path], level: int, fit: Literal["crop", "whole"]) -> Iterator[float]:
    """Write the sheets of a level that are missing, one after another.

    Parameters
    ----------
    folder : Path
        Folder of the project.
    paths : list of Path
        The files of all photos, by their numbers.
    level : int
        Pixels of a tile.
    fit : {"crop", "whole"}
        Whether photos fill their tiles.

    Yields
    ------
    float
        Share done.
    """
    miniatures, image = Store.load(folder).miniatures, require("PIL.Image", extra="album")
    for sheet in plan_sheets(folder, len(paths), level, fit):
        start = sheet.index * columns_of(level) ** 2
        tiles: list[Any] = []
        for results in read_files(paths[start : start + sheet.count]):
            for result in results:
                if isinstance(result, str):  # moved since: its miniature is left
                    picture = image.fromarray(miniatures[start + len(tiles)])
                else:
                    picture = image.open(io.BytesIO(result.thumbnail), formats=("JPEG", "PNG")).convert("RGB")
                tiles.append(draw_tile(picture, level, fit))
            yield (start + len(tiles)) / len(paths)
        write_sheet(folder, tiles, sheet)
        yield (start + len(tiles)) / len(paths)
