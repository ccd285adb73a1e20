"""Files of a project under the names that people gave them, for readers that go by the ending."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_named(path: str | Path, name: str) -> Iterator[Path]:
    """Give a file the ending of its name for the duration of the block.

    Parameters
    ----------
    path : str or Path
        The file, whose own name says nothing.
    name : str
        What a person calls it.

    Yields
    ------
    Path
        The file, with the ending by which it is read.

    Raises
    ------
    ValueError, MemoryError, OSError or ImportError
        As inside the block, with the name in place of the path.
    """
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder) / f"file{Path(name).suffix.lower()}"
        try:
            named.symlink_to(path)
        except OSError:  # where links are not allowed
            shutil.copyfile(path, named)
        try:
            yield named
        except (ValueError, MemoryError, OSError, ImportError) as error:
            raise type(error)(str(error).replace(str(named), name)) from error
