"""Uploads: files that a browser sends, taken in pieces, whole or not at all."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pairup.studio.kinds import RefusedError

MOST_FILES = 5000  # of a project
LONGEST_NAME = 200  # characters


class TooLargeUploadError(RefusedError):
    """A file that is larger than its role allows."""


def clean_name(name: str) -> str:
    """Return the last part of a file's name, as it is shown: never used as a path.

    Parameters
    ----------
    name : str
        What the browser calls the file.

    Returns
    -------
    str
        The same without folders and control characters.

    Examples
    --------
    >>> clean_name("../../holiday/IMG 1.jpg"), clean_name("a\\nb.csv"), clean_name("..")
    ('IMG 1.jpg', 'ab.csv', 'file')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in last if character.isprintable()).strip()
    return shown[-LONGEST_NAME:] if shown.strip(".") else "file"


@asynccontextmanager
async def receive_file(pieces: AsyncIterator[bytes], folder: Path, limit: int) -> AsyncIterator[Path]:
    """Write what a browser sends to a temporary file, which is gone after the block unless it was moved.

    Parameters
    ----------
    pieces : async iterator of bytes
        The file in pieces.
    folder : Path
        Where to write.
    limit : int
        Bytes that it may have.

    Yields
    ------
    Path
        The temporary file.

    Raises
    ------
    TooLargeUploadError
        If it is larger.
    """
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".upload-", delete=False) as file:
        temporary = Path(file.name)
        try:
            size = 0
            async for piece in pieces:
                size += len(piece)
                if size > limit:
                    raise TooLargeUploadError(f"a file like this may have {limit // 1_000_000} MB at most")
                file.write(piece)
            file.close()
            if not size:
                raise RefusedError("the file is empty")
            yield temporary
        finally:
            file.close()  # an open file cannot be removed on Windows
            temporary.unlink(missing_ok=True)
