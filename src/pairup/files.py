"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return `path`, or say before any work starts why nothing can be written there.

    >>> check_writable("no/such/folder/pairs.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: cannot write no/such/folder/pairs.csv: the folder no/such/folder does not exist; create it or choose another output
    """  # noqa: E501
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give a file name")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the folder {path.parent} does not exist; create it or choose another output"
        )
    try:  # permissions lie (root, network drives, read-only mounts): try it
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:40]}."):
            pass
    except OSError as error:
        raise PermissionError(f"cannot write {path}: {error.strerror or error}; choose another output") from error
    return path


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder `path`, made with its parents where it was missing, or say why it cannot be made."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"cannot make the folder {path}: {error.strerror}; choose another output") from error
    return path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place only if the block succeeds.

    The temporary path keeps the suffix, so that writers who choose a format by suffix work on it.
    """
    path = check_writable(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
