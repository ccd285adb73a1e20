"""Write files whole or not at all."""

import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_unfinished: set[Path] = set()  # temporary files of this process
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)  # no space, limit of a file, quota, a broken disk


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return `path`, or raise an OSError that says why no file can be written there.

    Call it before long work starts.

    Parameters
    ----------
    path : str or path
        The file to be written.

    Returns
    -------
    Path
        The same path.

    Examples
    --------
    >>> check_writable("none/pairs.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: cannot write none/pairs.csv: the folder none does not exist; create it or choose another output
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give a file name")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the folder {path.parent} does not exist; create it or choose another output"
        )
    try:  # permission bits do not tell (root, network drives, read-only mounts): try it
        with _temporary_beside(path):
            pass
    except OSError as error:
        raise PermissionError(f"cannot write {path}: {error.strerror or error}; choose another output") from error
    return path


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder `path`, created with its parents where it was missing, or raise an OSError that says why not.

    Parameters
    ----------
    path : str or path
        The folder.

    Returns
    -------
    Path
        The folder, which exists.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"cannot make the folder {path}: {error.strerror}; choose another output") from error
    return path


@contextmanager
def name_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let a full disk inside the block be reported with the path that was being written.

    Parameters
    ----------
    path : str or path
        The file that is written in the block.

    Yields
    ------
    None
        A full disk raises an OSError that names the path.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise OSError(f"cannot write {path}: {error.strerror}; make room or choose another output") from error


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path` that replaces it only if the block succeeds.

    The temporary path keeps the suffix, so that writers who choose a format by suffix work on it.

    Parameters
    ----------
    path : str or path
        The file to be written or replaced.

    Yields
    ------
    Path
        The temporary file to write to.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(Path(folder, "pairs.csv")) as temporary:
    ...         _ = temporary.write_text("x,y")
    ...     os.listdir(folder)
    ['pairs.csv']
    """
    path = check_writable(path)
    with name_path(path), _temporary_beside(path) as temporary:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        temporary.replace(path)


@contextmanager
def _temporary_beside(path: Path) -> Iterator[Path]:
    """Yield an empty file in the same folder, which is removed in the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}.", suffix=path.suffix)
    temporary = Path(name)
    _unfinished.add(temporary)
    try:
        os.close(handle)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        _unfinished.discard(temporary)


def remove_unfinished() -> None:
    """Remove the temporary files that other threads are still writing, for a process that exits at once."""
    for temporary in tuple(_unfinished):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def claim(path: str | os.PathLike[str]) -> sqlite3.Connection | None:
    """Claim something for this process by a file; a lock of SQLite ends with the process, however that ends.

    Parameters
    ----------
    path : str or path
        A file that stands for it, which is made where it is missing.

    Returns
    -------
    sqlite3.Connection or None
        The claim, which `close` ends; None where another process has it, or nothing can be locked there.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, second = claim(Path(folder, "lock")), claim(Path(folder, "lock"))
    ...     first.close()
    ...     second is None
    True
    """
    for _ in range(2):
        try:
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error:
            return None
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            return connection
        except sqlite3.OperationalError:
            connection.close()
            return None
        except sqlite3.DatabaseError:  # something else is in the file, which nobody can have locked
            connection.close()
            with suppress(OSError):
                os.unlink(path)
    return None
