"""Listing: the files of folders, globs and single paths, a million of them too."""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PathLike = str | os.PathLike[str]

DIGITS = re.compile(r"\d+")


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
    yield from map(Path, list_files(sources))


def list_files(sources: Iterable[PathLike]) -> list[str]:
    """List what `find_files` finds, as text: a million paths take little memory and few seconds.

    Parameters
    ----------
    sources : iterable of paths
        Folders, globs or files.

    Returns
    -------
    list of str
        Each file once, in natural order within each source.
    """
    found: list[str] = []
    places: list[list[tuple[str, str]]] = [sorted(_look_up(source), key=_natural) for source in sources]
    if len(places) == 1 and not any(path != real for path, real in places[0]):
        return [path for path, _ in places[0]]  # nothing can be there twice
    seen: set[str] = set()
    for pairs in places:
        for path, real in pairs:
            if real not in seen:
                seen.add(real)
                found.append(path)
    return found


def _look_up(source: PathLike) -> Iterator[tuple[str, str]]:
    """Yield the files of one source, each with the path that it has without links."""
    path = Path(source)
    if path.is_dir():
        yield from _walk(str(path), set())
    elif path.exists() or path.is_symlink():
        yield str(path), _resolve(str(path))
    elif glob.has_magic(str(source)):
        for hit in glob.iglob(str(source), recursive=True):
            if not os.path.isdir(hit):
                yield str(Path(hit)), _resolve(hit)
    else:
        raise FileNotFoundError(f"{source} does not exist; give a folder, files or a glob such as 'photos/*.jpg'")


def _walk(folder: str, visited: set[str]) -> Iterator[tuple[str, str]]:
    """Yield whatever lies below a folder, and folders that cannot be read: reading them says why not.

    A folder is resolved once. Its files need not be, unless they are links: a million of them would take minutes.
    """
    real = os.path.realpath(folder)
    if real in visited:
        return
    visited.add(real)
    same = real == folder
    try:
        entries = os.scandir(folder)
    except OSError:
        yield folder, folder
        return
    inner: list[str] = []
    with entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                inner.append(entry.path)
            elif entry.is_symlink():
                yield entry.path, _resolve(entry.path)
            else:
                yield entry.path, entry.path if same else os.path.join(real, entry.name)
    for path in inner:  # after the folder is closed: not one open file for each level
        yield from _walk(path, visited)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that points at itself
        return False


def _resolve(path: str) -> str:
    """Return a path without links; that of a dangling link as it is."""
    return os.path.realpath(path) if os.path.exists(path) else os.path.abspath(path)


def _natural(found: tuple[str, str]) -> str:
    """Return a sort key for natural order: img2 before img10.

    A number is led by how many digits it has; it comes before any letter, and the end of a name before both. The path
    itself decides where only zeros differ.
    """
    return f"{DIGITS.sub(_lead, found[0].casefold())}\0{found[0]}"


def _lead(number: re.Match[str]) -> str:
    digits = str(int(number[0]))
    return f"\1{len(digits):03}{digits}"


def name_files(paths: Sequence[str]) -> list[str]:
    """Name files by their path below the folder that all share.

    Parameters
    ----------
    paths : sequence of str
        The files.

    Returns
    -------
    list of str
        Their names, with slashes.

    Examples
    --------
    >>> name_files(["photos/a/1.jpg", "photos/b/2.jpg"])
    ['a/1.jpg', 'b/2.jpg']
    """
    folders = {os.path.dirname(path) for path in paths}
    whole = {folder: os.path.abspath(folder or ".") for folder in folders}
    try:
        root = os.path.commonpath(list(whole.values()))
    except ValueError:  # several drives
        return list(paths)
    below = {folder: Path(os.path.relpath(place, root)).as_posix() for folder, place in whole.items()}
    return [
        os.path.basename(path)
        if (inner := below[os.path.dirname(path)]) == "."
        else f"{inner}/{os.path.basename(path)}"
        for path in paths
    ]
