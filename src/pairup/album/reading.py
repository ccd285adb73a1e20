"""Reading: files found, decoded small on all cores, and kept in the cache."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pairup.album.cache import Places, Reduced, Table, cache_folder, digest
from pairup.album.decoding import (
    RAW,
    THUMBNAIL,
    UnreadableError,
    check_file,
    decode,
    decode_preview,
    ignore_warnings,
    reduce_picture,
)
from pairup.album.listing import PathLike, list_files, name_files
from pairup.album.photos import Photos, StoredPhotos
from pairup.parallel import run

AT_ONCE = 8  # files per task
BATCH = 2048  # files looked up at once: enough for all cores, few enough that progress is seen


def read_photos(
    source: PathLike | Iterable[PathLike],
    *,
    cache: bool = True,
    previews: bool = False,
    n_jobs: int | None = -1,
    progress: Callable[[int, int], None] | None = None,
) -> Photos:
    """Read photos from folders, globs or files.

    Files that cannot be used are skipped, and listed in ``.skipped`` with the reason. No decoded picture stays in
    memory: the small versions lie in the cache, or in temporary files, and are read from there.

    Parameters
    ----------
    source : path, or iterable of paths
        Folders (with the folders in them), globs such as ``*.jpg``, or files.
    cache : bool, default True
        Whether to keep the small versions on disk, so that the next reading is quick.
    previews : bool, default False
        Whether to read the small previews that cameras put into photos, where they show the same as the photo by
        their proportions and have 160 pixels at least: many times quicker for large photos. A photo that was edited
        may have the preview of before; larger versions come from the photo itself.
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
    paths = list_files(sources)
    if not paths:
        listed = ", ".join(str(s) for s in sources) or "an empty list"
        raise ValueError(f"no photos in {listed}; give a folder, files or a glob such as 'photos/*.jpg'")
    names = name_files(paths)
    table = Table(cache_folder() if cache else None)
    skipped: list[tuple[str, str]] = []
    used: list[int] = []
    places, done = [], 0
    for found, reasons in _fill(table, paths, previews, n_jobs):
        skipped += [(names[done + i], reason) for i, reason in enumerate(reasons) if reason is not None]
        good = [i for i, reason in enumerate(reasons) if reason is None]
        used += [done + i for i in good]
        places.append(found[good])
        done += len(reasons)
        if progress is not None:
            progress(done, len(paths))
    table.finish()
    if not used:
        told = "; ".join(f"{name}: {why}" for name, why in skipped[:3])
        raise ValueError(f"none of {len(paths)} files is a photo that can be read ({told})")
    kept = ([names[number] for number in used], [paths[number] for number in used])
    stored = StoredPhotos(*kept, table, np.concatenate(places), np.zeros(len(used), dtype=np.int64))
    return Photos(stored, tuple(skipped))


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
    table = Table(cache_folder() if cache else None)
    try:
        for places, reasons in _fill(table, [str(path) for path in paths], False, n_jobs):
            results: list[Reduced | str] = []
            for place, reason in zip(places, reasons, strict=True):
                results.append(
                    (table.read(place) or "cannot be read back from the cache") if reason is None else reason
                )
            yield results
    finally:
        table.finish()


def _fill(
    table: Table, paths: Sequence[str], previews: bool, n_jobs: int | None
) -> Iterator[tuple[Places, list[str | None]]]:
    """Bring files into the table; yield for the next few files their places there, or why there are none."""
    with ignore_warnings():
        for start in range(0, len(paths), BATCH):
            yield from _fill_batch(table, paths[start : start + BATCH], previews, n_jobs)


def _fill_batch(
    table: Table, paths: Sequence[str], previews: bool, n_jobs: int | None
) -> Iterator[tuple[Places, list[str | None]]]:
    """Look a batch up in the table, and decode what it lacks.

    Digests and pictures may come from a cluster; the table is this process's alone.
    """
    parts = [paths[start : start + AT_ONCE] for start in range(0, len(paths), AT_ONCE)]
    keys = list(run([partial(_digest_files, part, previews) for part in parts], n_jobs=n_jobs))
    places = [_look_up(table, part) for part in keys]
    lacking = [
        [path for path, key, place in zip(*part, strict=True) if isinstance(key, bytes) and place[0] < 0]
        for part in zip(parts, keys, places, strict=True)
    ]
    tasks = [partial(_decode_files, part, previews) for part in lacking if part]
    decoded = run(tasks, n_jobs=n_jobs) if tasks else iter(())
    for part, found, missing in zip(keys, places, lacking, strict=True):
        results = iter(next(decoded)) if missing else iter(())
        yield _add(table, part, found, results)


def _add(
    table: Table, keys: Sequence[bytes | str], places: Places, decoded: Iterator[Reduced | str]
) -> tuple[Places, list[str | None]]:
    """Put what was decoded into the table; return all places, and the reasons of those without."""
    reasons: list[str | None] = [key if isinstance(key, str) else None for key in keys]
    new: list[tuple[int, bytes, Reduced]] = []
    for number, key in enumerate(keys):
        if isinstance(key, bytes) and places[number, 0] < 0:
            result = next(decoded)
            if isinstance(result, str):
                reasons[number] = result
            else:
                new.append((number, key, result))
    if new:
        numbers, added, reduced = zip(*new, strict=True)
        places[list(numbers)] = table.add(added, reduced)
    return places, reasons


def _look_up(table: Table, keys: Sequence[bytes | str]) -> Places:
    """Return the places of files in the table, −1 for what is not there or damaged."""
    known = [number for number, key in enumerate(keys) if isinstance(key, bytes)]
    places = np.full((len(keys), 2), -1)
    places[known] = table.find([keys[number] for number in known])  # type: ignore[misc]
    for number in known:
        if places[number, 0] >= 0 and table.read(places[number]) is None:
            places[number] = -1
    return places


def _digest_files(paths: Sequence[str], previews: bool) -> list[bytes | str]:
    """Return the digests of some files, or why they cannot be used: one task."""
    return [_digest_file(Path(path), previews) for path in paths]


def _digest_file(path: Path, previews: bool) -> bytes | str:
    try:
        check_file(path)
        if path.suffix[1:].lower() in RAW:
            return "a RAW file; export it as JPEG"
        return digest(path, "preview" if previews else "")
    except UnreadableError as reason:
        return str(reason)
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _decode_files(paths: Sequence[str], previews: bool) -> list[Reduced | str]:
    """Decode some files: one task."""
    return [_decode_file(Path(path), previews) for path in paths]


def _decode_file(path: Path, previews: bool) -> Reduced | str:
    """Return the small versions of a file, or why there are none."""
    try:
        picture, taken = (previews and decode_preview(path)) or decode(path, THUMBNAIL)
        return Reduced(*reduce_picture(picture), taken)
    except UnreadableError as reason:
        return str(reason)
    except Exception as error:  # whatever a damaged file makes a decoder raise, the other files go on
        return f"cannot be decoded ({type(error).__name__}: {str(error)[:120]})"
