"""Walls: an album of any size as a folder or zip of tiles, with a page that zooms into it."""

import hashlib
import html
import io
import json
import os
import re
import shutil
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Literal
from urllib.parse import quote

import numpy as np

from pairup.album.decoding import THUMBNAIL, ignore_warnings
from pairup.album.layout import find_similar, rotate
from pairup.album.photos import Photo, Photos, StoredPhotos
from pairup.album.pyramid import Pyramid, TileWriter, encode_jpeg, write_whole
from pairup.album.render import Arrangement, Style
from pairup.extras import require
from pairup.files import FULL, check_writable, claim, name_path, replace_file
from pairup.parallel import run
from pairup.types import Array, Indices

VERSION = 1
GENERATOR = "pairup wall"
ASSETS = ("wall.css", "wall.js")
PITCHES = (128, 64)  # pixels of a cell in the finest tiles; the page shows the photos themselves when it is nearer
MANY = 250_000  # photos from which on the smaller pitch is taken
PHOTO_SIDES = (1280, 960, 640, 480, THUMBNAIL)  # pixels of a photo's longer side, the first that keeps the wall small
PHOTO_BYTES = 1_500_000_000  # of all photos of a wall, about
JPEG_BYTES = 0.12  # per pixel, about
QUALITY = 85  # of a photo as JPEG
LIKE = 8  # photos listed as similar to each
EXACT = 16384  # photos up to which the most similar ones are found among all; of more photos nearly all are found
BLOCK = 1000  # photos of a folder, and of a file of similar photos
AT_ONCE = 64  # photos written in one task

Originals = Literal["none", "link", "copy"]


@dataclass(frozen=True)
class WallStep:
    """A state of the writing of a wall.

    Parameters
    ----------
    text : str
        What is being done.
    done : int
        How much of it is done.
    total : int
        How much there is to do.
    """

    text: str
    done: int
    total: int


@dataclass(frozen=True)
class Wall:
    """What a wall shows.

    Parameters
    ----------
    album : Arrangement
        An album of photos.
    features : ndarray of shape (n, d)
        Features of all its items, by which similar photos are found.
    style : Style
        Its look: gap, background, fit, cell and title.
    originals : {"none", "link", "copy"}, default "none"
        Whether the page leads to the photos' own files, where they are or as copies.
    """

    album: Arrangement
    features: Array
    style: Style
    originals: Originals = "none"

    @cached_property
    def items(self) -> Indices:
        """The photos shown, in the order of their cells: number k of the wall is this item."""
        return self.album.order[self.album.order >= 0]

    @cached_property
    def photos(self) -> Photos:
        """The photos of the album."""
        if self.album.photos is None:
            raise ValueError("a wall shows photos, and this album is one of vectors; write .html, .png or .csv instead")
        return self.album.photos

    @cached_property
    def pyramid(self) -> Pyramid:
        """Where the cells lie, in pixels."""
        pitch = PITCHES[len(self.items) > MANY]
        if self.style.cell is not None:
            pitch = 2 ** int(np.clip(round(np.log2(self.style.cell)), 5, 9))
        return Pyramid.of(self.album.frame, self.album.order >= 0, pitch)

    @cached_property
    def side(self) -> int:
        """Pixels of the longer side of a photo at most."""
        sides = (side for side in PHOTO_SIDES if len(self.items) * side**2 * JPEG_BYTES <= PHOTO_BYTES)
        return next(sides, PHOTO_SIDES[-1])

    @property
    def scheme(self) -> str:
        """ "auto" where the page may be light or dark, else which of them fits the background."""
        plain = self.style.background in ("white", "transparent") and self.style.fit == "crop"
        if plain and self.pyramid.lattice:
            return "auto"
        red, green, blue, _ = self.style.colour
        return "dark" if 0.299 * red + 0.587 * green + 0.114 * blue < 128 else "light"

    def fingerprint(self) -> str:
        """Compute what tells this wall from any other, so that only the same one is continued.

        Returns
        -------
        str
            Hexadecimal digits.
        """
        sums = hashlib.blake2b(digest_size=16)
        names = [self.photos.names[item] for item in self.items]
        told = (VERSION, self.side, self.pyramid.pitch, self.originals, repr(self.style), self.photos.quarters)
        sums.update(json.dumps([told, names]).encode())
        for part in (self.pyramid.corners, self.items, self._sums(), self.features):
            sums.update(np.ascontiguousarray(part).tobytes())
        return sums.hexdigest()

    def _sums(self) -> Any:
        """Return a number for the content of each photo."""
        if isinstance(self.photos.items, StoredPhotos):
            return self.photos.items.table.sums(self.photos.items.places)
        return np.array([hashlib.blake2b(photo.thumbnail, digest_size=8).digest() for photo in self.photos])

    def find_similar(self) -> Indices:
        """Find the photos most similar to each.

        Returns
        -------
        ndarray of shape (k, at most 8)
            Their numbers on the wall, the nearest first.
        """
        X = rotate(self.features[self.items])
        if len(X) < 2 or not X.any():
            return np.empty((len(X), 0), dtype=np.intp)
        found = find_similar(X, n_jobs=-1, k=LIKE, few=EXACT)
        nearest = np.empty(found.shape, dtype=np.intp)
        for start in range(0, len(X), BLOCK):
            part = found[start : start + BLOCK]
            distances = ((X[part] - X[start : start + BLOCK, None]) ** 2).sum(axis=2)
            order = np.argsort(distances, axis=1, kind="stable")
            nearest[start : start + BLOCK] = np.take_along_axis(part, order, axis=1)
        return nearest


def is_wall_path(path: str | os.PathLike[str]) -> bool:
    """Tell whether an output is a wall: a folder, a name without suffix, or a .zip.

    Parameters
    ----------
    path : path
        The output.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_wall_path("wall/"), is_wall_path("wall.zip"), is_wall_path("album.html")
    (True, True, False)
    """
    path = Path(path)
    return path.suffix.lower() in ("", ".zip") or path.is_dir()


def check_wall_path(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Check that a wall can be written somewhere.

    Parameters
    ----------
    path : path
        A folder, or a file that ends in .zip.
    force : bool, default False
        Whether a wall that is there may be replaced.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    OSError
        If nothing can be written there.
    FileExistsError
        If a wall is there and may not be replaced, or anything else.
    """
    path = Path(path)
    if path.suffix.lower() == ".zip":
        if path.exists() and not force:
            raise FileExistsError(f"{path} exists; choose another output or pass --force")
        return check_writable(path)
    check_writable(path.parent / f".{path.name}.try")
    if path.is_dir():
        _check_folder(path, force)
    elif path.exists() or path.is_symlink():
        raise FileExistsError(f"{path} is a file; choose another output, or delete it")
    return path


def _check_folder(path: Path, force: bool) -> None:
    """Refuse a folder that holds anything but a wall that may be replaced."""
    if not any(path.iterdir()):
        return
    if not is_wall(path):
        raise FileExistsError(
            f"{path} is a folder that holds other things, which a wall would replace; choose a new folder, such as "
            f"{path / 'wall'}"
        )
    if not force:
        raise FileExistsError(f"{path} exists; choose another output or pass --force")


def is_wall(folder: Path) -> bool:
    """Tell whether a folder holds a wall, and nothing else.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    bool
        Whether it does.
    """
    ours = {"index.html", "data", "tiles", "photos", "originals", *ASSETS}
    try:
        page = (folder / "index.html").read_text(encoding="utf-8")
        return GENERATOR in page and {entry.name for entry in folder.iterdir()} <= ours
    except (OSError, ValueError):
        return False


def write_wall(wall: Wall, path: str | os.PathLike[str], *, force: bool = False) -> Iterator[WallStep]:
    """Write a wall, step by step: whole, or not at all.

    It grows in a hidden folder beside its place and is moved there in the end. If the process is killed or interrupted,
    the same wall is continued from there the next time.

    Parameters
    ----------
    wall : Wall
        The wall.
    path : path
        A folder, or a file that ends in .zip.
    force : bool, default False
        Whether a wall that is there is replaced.

    Yields
    ------
    WallStep
        What is done.

    Raises
    ------
    OSError
        If it cannot be written, or another process is writing it.
    """
    path = check_wall_path(path, force=force)
    if wall.originals == "link" and path.suffix.lower() == ".zip":
        raise ValueError("a zip cannot link to originals; copy them, or write the wall into a folder")
    unfinished = path.absolute().parent / f".{path.name}.unfinished"
    _check_room(wall, unfinished)
    claimed = _begin(wall, unfinished)
    try:
        with name_path(path):
            yield from _fill(wall, unfinished, path)
            claimed.close()
            for left in ("plan.json", "lock", "lock-journal"):
                (unfinished / left).unlink(missing_ok=True)
            yield from _put_in_place(unfinished, path)
    except OSError as error:
        claimed.close()
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in FULL:
            shutil.rmtree(unfinished, ignore_errors=True)  # gives the room back
        raise
    finally:
        claimed.close()


def _check_room(wall: Wall, unfinished: Path) -> None:
    """Refuse a wall for which the disk has too little room, before anything is written."""
    pixels = len(wall.items) * (wall.side**2 / 2 + wall.pyramid.pitch**2)
    needed = int(pixels * JPEG_BYTES / 2)  # photos differ: refuse only what cannot fit
    if wall.originals == "copy":
        needed += sum(os.path.getsize(path) for path in _shown_paths(wall) if path and os.path.exists(path))
    free = shutil.disk_usage(unfinished.parent).free
    if needed > free and not unfinished.exists():
        raise OSError(
            f"the wall needs about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free in {unfinished.parent}; "
            "make room or choose another output"
        )


def _shown_paths(wall: Wall) -> list[Path | None]:
    """Return the files of the photos shown."""
    return [wall.photos.paths[item] for item in wall.items]


def _begin(wall: Wall, unfinished: Path) -> Connection:
    """Make the folder in which a wall grows, or take the one that is there if it is the same wall."""
    plan = json.dumps({"generator": GENERATOR, "wall": wall.fingerprint()})
    unfinished.mkdir(exist_ok=True)
    claimed = claim(unfinished / "lock")
    if claimed is None:
        raise OSError(f"another process is writing {unfinished}; wait for it, or choose another output")
    try:
        same = (unfinished / "plan.json").read_text(encoding="utf-8") == plan
    except (OSError, ValueError):
        same = False
    if not same:
        for entry in unfinished.iterdir():
            if entry.name != "lock":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        write_whole(unfinished / "plan.json", plan.encode())
    return claimed


def _fill(wall: Wall, folder: Path, path: Path) -> Iterator[WallStep]:
    """Write all parts of a wall: photos, tiles, data, the page last."""
    yield from _write_photos(wall, folder)
    red, green, blue = wall.style.colour[:3]
    tiles = TileWriter(wall.pyramid, folder / "tiles", partial(_photo_path, folder), (red, green, blue), wall.style.fit)
    total = wall.pyramid.count
    yield WallStep("drawing tiles", 0, total)
    for done in tiles.write():
        yield WallStep("drawing tiles", done, total)
    yield WallStep("finding similar photos", 0, 1)
    _write_data(wall, folder)
    if wall.originals != "none":
        yield from _write_originals(wall, folder, path)
    for name in ASSETS:
        write_whole(folder / name, files("pairup.album").joinpath("wall_page", name).read_bytes())
    write_whole(folder / "index.html", _render_page(wall).encode())


def _photo_path(folder: Path, number: int) -> Path:
    """Return the file of a photo of the wall."""
    return folder / "photos" / f"{number // BLOCK:03}" / f"{number:06}.jpg"


def _write_photos(wall: Wall, folder: Path) -> Iterator[WallStep]:
    """Write the larger versions of all photos."""
    total, done = len(wall.items), 0
    for block in range(-(-total // BLOCK)):
        _photo_path(folder, block * BLOCK).parent.mkdir(parents=True, exist_ok=True)
    tasks = [
        partial(_write_some, wall, folder, range(start, min(start + AT_ONCE, total)))
        for start in range(0, total, AT_ONCE)
    ]
    yield WallStep("writing photos", 0, total)
    with ignore_warnings():
        for count in run(tasks, n_jobs=-1):
            done += count
            yield WallStep("writing photos", done, total)


def _write_some(wall: Wall, folder: Path, numbers: range) -> int:
    """Write some photos, those that are not there: one task. Return their number."""
    for number in numbers:
        path = _photo_path(folder, number)
        if not path.exists():
            write_whole(path, _encode_photo(wall.photos[int(wall.items[number])], wall.side))
    return len(numbers)


def _encode_photo(photo: Photo, side: int) -> bytes:
    """Return the larger version of a photo as JPEG; a full thumbnail is one already, and has no metadata."""
    image = require("PIL.Image", extra="album")
    if side <= THUMBNAIL and photo.quarters == 0:
        with image.open(io.BytesIO(photo.thumbnail), formats=("JPEG", "PNG")) as small:
            if small.format == "JPEG" and max(small.size) == THUMBNAIL:  # others may be previews of cameras
                return photo.thumbnail
    picture = photo.image(side)
    picture.thumbnail((side, side), image.Resampling.LANCZOS)
    return encode_jpeg(picture.convert("RGB"), QUALITY)


def _write_data(wall: Wall, folder: Path) -> None:
    """Write what the page reads, as scripts: pages opened from a disk may load nothing else."""
    (folder / "data" / "similar").mkdir(parents=True, exist_ok=True)
    names = [wall.photos.names[item] for item in wall.items]
    height, width = wall.pyramid.size
    told = {
        "version": VERSION,
        "count": len(names),
        "pitch": wall.pyramid.pitch,
        "levels": wall.pyramid.levels,
        "width": width,
        "height": height,
        "lattice": wall.pyramid.lattice,
        "gap": min(wall.style.gap, 0.5),
        "fit": wall.style.fit,
        "block": BLOCK,
        "side": wall.side,
        "originals": wall.originals != "none",
        "corners": b64encode(wall.pyramid.corners.astype("<u4").tobytes()).decode(),
    }
    _write_script(folder / "data" / "wall.js", "wall", told)
    _write_script(folder / "data" / "names.js", "names", names)
    similar = wall.find_similar()
    for block in range(-(-len(names) // BLOCK)):
        part = similar[block * BLOCK : (block + 1) * BLOCK].tolist()
        _write_script(folder / "data" / "similar" / f"{block:03}.js", f"similar{block}", part)


def _write_script(path: Path, name: str, value: Any) -> None:
    """Write a value as a script that gives it a name."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    write_whole(path, f"pairup.{name} = {text};\n".encode())


def _write_originals(wall: Wall, folder: Path, path: Path) -> Iterator[WallStep]:
    """Write links to the photos' own files, or copies of them."""
    links: list[str] = []
    place = path.absolute()
    for number, file in enumerate(_shown_paths(wall)):
        if file is None or not file.exists():
            links.append("")
        elif wall.originals == "link":
            links.append(quote(Path(os.path.relpath(file.absolute(), place)).as_posix()))
        else:
            copy = folder / "originals" / f"{number // BLOCK:03}" / f"{number:06}{file.suffix.lower()}"
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                part = copy.with_name(copy.name + ".part")
                shutil.copyfile(file, part)
                os.replace(part, copy)
            links.append(quote(copy.relative_to(folder).as_posix()))
        if number % AT_ONCE == 0:
            yield WallStep(
                "copying originals" if wall.originals == "copy" else "linking originals", number, len(wall.items)
            )
    _write_script(folder / "data" / "originals.js", "originals", links)


def _render_page(wall: Wall) -> str:
    """Return the page."""
    text = files("pairup.album").joinpath("wall_page", "index.html").read_text(encoding="utf-8")
    count = f"{len(wall.items):,} {'photo' if len(wall.items) == 1 else 'photos'}"
    red, green, blue = wall.style.colour[:3]
    fill = {
        "TITLE": html.escape(wall.style.title),
        "COUNT": count,
        "SCHEME": wall.scheme,
        "PAPER": "" if wall.scheme == "auto" else f"#{red:02x}{green:02x}{blue:02x}",
        "GENERATOR": GENERATOR,
    }
    return re.sub(f"%({'|'.join(fill)})%", lambda found: fill[found[1]], text)  # in one pass: a title may hold a mark


def _put_in_place(unfinished: Path, path: Path) -> Iterator[WallStep]:
    """Move the finished folder to its place, or pack it."""
    if path.suffix.lower() == ".zip":
        yield from _pack(unfinished, path)
        shutil.rmtree(unfinished, ignore_errors=True)
        return
    old = path.absolute().parent / f".{path.name}.old"
    if path.exists():
        path.rename(old)
    try:
        unfinished.rename(path)
    except OSError:
        with suppress(OSError):
            old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _pack(folder: Path, path: Path) -> Iterator[WallStep]:
    """Pack a wall; its pictures are compressed already."""
    members = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(".part"))
    with replace_file(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as packed:
        for number, file in enumerate(members):
            packed.write(file, f"{path.stem}/{file.relative_to(folder).as_posix()}")
            if number % AT_ONCE == 0:
                yield WallStep("packing", number, len(members))
