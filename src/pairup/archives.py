"""Archives: the .npz files of saved results, which anyone may have written, checked before anything is unpacked."""

import io
import json
import math
import os
import re
import stat
import struct
import tokenize
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from pairup.memory import check_memory, free_memory

MOST_TEXT = 2**24  # characters of a member of text: more would take hundreds of megabytes as JSON
MOST_PACKED = 2**27  # bytes that an archive may unpack to whatever its own size; beyond, what we save is hardly packed
MOST_RATIO = 10  # bytes unpacked for each byte of a larger archive
DIRECTORY = 2**16  # bytes of the list of members, of which we write about ten
MOST_ROWS = 2**40  # of an array, so that sizes can be computed
ZIP64 = 2**31 - 1  # bytes from which on an archive has a second list, of other form
BLOCK = 2**24  # bytes read at once
MAPPED_FROM = 2**26  # bytes of a .npy file from which on its numbers are read where they are used
MOST_JSON = 400_000_000  # bytes of memory that JSON may take
# Bytes that an object of Python takes at most, for the sign that is there once for each of them (twice for a text).
JSON_BYTES = {"{": 200, "[": 100, ",": 40, '"': 30}
SHOWN = 40  # characters of a wrong value in a message
# What NumPy writes before the numbers of an array, and nothing else: no expression is evaluated.
HEADER = re.compile(
    r"\{'descr': '([<>|=]?)([biufU])(\d{1,9})', 'fortran_order': (False|True), 'shape': \(((?:\d+, ?)*\d*)\), \} *\n"
)
KINDS = {"b": "truth values", "i": "whole numbers", "u": "whole numbers", "f": "numbers", "U": "text"}
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
DAMAGE = (
    ValueError,  # with it DamagedError, UnicodeDecodeError and JSONDecodeError
    OverflowError,
    EOFError,
    OSError,
    BadZipFile,
    RuntimeError,  # of zipfile: encrypted, or of a compression it does not know; of JSON: nested too deeply
    struct.error,
    zlib.error,
)
"""What readers of archives and of JSON raise on damaged, encrypted and unusual files."""
NUMPY_DAMAGE = (
    *DAMAGE, ArithmeticError, AttributeError, LookupError, LZMAError, SyntaxError, TypeError, tokenize.TokenError,
)  # fmt: skip
"""What `numpy.load` raises on them."""


class DamagedError(ValueError):
    """What is wrong with a saved file; `refuse_damage` says which file it is."""


class NewerFormatError(ValueError):
    """A file of a later version, which is not damaged."""


def expect(condition: bool, wrong: str) -> None:
    """Raise a `DamagedError` unless a condition holds.

    Parameters
    ----------
    condition : bool
        What a good file meets.
    wrong : str
        What to say otherwise.

    Examples
    --------
    >>> expect(2 > 1, "arithmetic is broken")
    """
    if not condition:
        raise DamagedError(wrong)


def is_number(value: Any, *bounds: float) -> bool:
    """Tell whether a value is a number, not a truth value, that floating point holds, between two bounds.

    Parameters
    ----------
    value : object
        Any value, as read from JSON.
    *bounds : float
        The smallest and the largest; without them it may also be infinite or NaN.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> is_number(0.5, 0, 1), is_number(True), is_number(10**400), is_number(float("nan"), 0, 1)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return not bounds or bounds[0] <= number <= bounds[1]


def is_count(value: Any, low: int = 0, high: float = np.inf) -> bool:
    """Tell whether a value is a whole number, not a truth value, between two bounds.

    Parameters
    ----------
    value : object
        Any value, as read from JSON.
    low : int, default 0
        The smallest.
    high : float, default inf
        The largest.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> is_count(3), is_count(3.0), is_count(-1), is_count(-1, low=-1)
    (True, False, False, True)
    """
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def check_format(path: str | os.PathLike[str], found: Any, known: int) -> None:
    """Check the number of a file's format.

    Parameters
    ----------
    path : str or path
        The file.
    found : object
        The number that the file holds.
    known : int
        The newest format that this version reads.

    Raises
    ------
    DamagedError
        If it is no whole number from 1 on.
    NewerFormatError
        If it is a later one.
    """
    expect(is_count(found, 1), f"its format should be a whole number from 1 on, got {_shorten(found)}")
    if found > known:
        raise NewerFormatError(
            f"{os.fspath(path)} has format {_shorten(found)}, and this pairup reads formats up to {known}; "
            "upgrade it: pip install --upgrade pairup"
        )


def _shorten(value: Any) -> str:
    """Write a value of JSON, or its beginning."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def read_json(file: IO[bytes]) -> Any:
    """Read a file of JSON, unless it would take too much memory.

    Parameters
    ----------
    file : file
        The file, open in binary.

    Returns
    -------
    object
        What it holds.

    Raises
    ------
    DamagedError
        If it would take more than 400 MB, or is nested too deeply.
    ValueError
        If it is not JSON.

    Examples
    --------
    >>> read_json(io.BytesIO(b'{"a": [1, 2]}'))
    {'a': [1, 2]}
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    _check_json(size)
    data = file.read()
    if not data.isascii():  # a text takes up to four bytes for each of its characters
        _check_json(4 * size)
    text = data.decode("utf-8")
    del data
    return parse_json(text)


def parse_json(text: str) -> Any:
    """Parse JSON, unless that would take too much memory.

    Parameters
    ----------
    text : str
        The JSON.

    Returns
    -------
    object
        What it holds.

    Raises
    ------
    DamagedError
        If it would take more than 400 MB, or is nested too deeply.
    ValueError
        If it is not JSON.

    Examples
    --------
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    pairup.archives.DamagedError: its brackets are nested too deeply
    """
    size = len(text) if text.isascii() else 4 * len(text)
    _check_json(size, sum(cost * text.count(sign) for sign, cost in JSON_BYTES.items()))
    try:
        return json.loads(text)
    except RecursionError:
        raise DamagedError("its brackets are nested too deeply") from None


def _check_json(size: int, objects: int = 0) -> None:
    """Refuse JSON whose text, with the texts in it, and whose objects would take too much memory."""
    needed = 2 * size + objects
    expect(
        needed <= MOST_JSON,
        f"its JSON would take up to {needed / 1e6:.0f} MB of memory, at most {MOST_JSON / 1e6:.0f} MB are plausible",
    )


@contextmanager
def refuse_damage(path: str | os.PathLike[str], what: str, expected: str) -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one ValueError that names the file.

    Parameters
    ----------
    path : str or path
        The file.
    what : str
        What it should be, such as "a saved matching".
    expected : str
        Which file to give instead.

    Yields
    ------
    None

    Raises
    ------
    ValueError
        If the block raises because of the file's content.
    """
    try:
        yield
    except NewerFormatError:
        raise
    except DAMAGE as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{os.fspath(path)} is not {what} ({reason}); expected {expected}") from error


@contextmanager
def open_file(path: str | os.PathLike[str], what: str) -> Iterator[IO[bytes]]:
    """Open a file for reading; a pipe or a device, at which reading could wait for ever, is refused.

    Parameters
    ----------
    path : str or path
        The file.
    what : str
        What it should be, such as "a saved matching".

    Yields
    ------
    file
        The file, open in binary.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {os.fspath(path)}; expected {what}") from None
    except ValueError as error:  # a null character in the name
        raise FileNotFoundError(f"there is no file {os.fspath(path)!r} ({error}); expected {what}") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise OSError(f"{os.fspath(path)} is {kind}; expected a file with {what}")
    with open(path, "rb") as file:
        yield file


@contextmanager
def open_archive(path: str | os.PathLike[str], what: str, expected: str) -> Iterator["Archive"]:
    """Open an .npz file that anyone may have written.

    Parameters
    ----------
    path : str or path
        The file.
    what : str
        What it should be, such as "a saved matching".
    expected : str
        Which file to give instead, for the message.

    Yields
    ------
    Archive
        The archive, of which nothing is unpacked yet.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    ValueError
        If anything in it is wrong, also what the block finds by `expect`.
    """
    with open_file(path, what) as file, refuse_damage(path, what, expected):
        size = _check_directory(file)
        with ZipFile(file) as archive:
            yield Archive(archive, max(MOST_PACKED, MOST_RATIO * size))


def _check_directory(file: IO[bytes]) -> int:
    """Check the size of the list of members, which zipfile reads as a whole; return that of the archive."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 42, 0))
    tail = file.read(42)
    expect(tail[-22:-18] == b"PK\5\6", "it is no zip archive, or cut off")
    (listed,) = struct.unpack("<I", tail[-10:-6])
    expect(listed <= DIRECTORY, f"its list of members has {listed} bytes, at most {DIRECTORY} are plausible")
    expect(size > ZIP64 or tail[:4] != b"PK\6\7", "its list of members has the form for huge archives")
    file.seek(0)
    return size


class _Header(NamedTuple):
    """What an array in an archive says of itself."""

    member: ZipInfo
    length: int  # bytes before the data
    byteorder: str
    kind: str
    size: int  # bytes of a number, or characters of a text
    is_fortran: bool
    shape: tuple[int, ...]


class Archive:
    """The members of an .npz file; each is checked by its header before its numbers are read.

    Members that nobody asks for are never unpacked.

    Parameters
    ----------
    archive : ZipFile
        The open file.
    limit : int
        Bytes that may be unpacked in all.
    """

    def __init__(self, archive: ZipFile, limit: int) -> None:
        self._archive = archive
        self._limit = limit
        self._members: dict[str, ZipInfo] = {}
        for member in archive.infolist():
            expect(member.filename not in self._members, f"it has {member.filename} twice")
            self._members[member.filename] = member

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._members

    def read(self, name: str, kinds: str, *shapes: tuple[int | None, ...]) -> NDArray[Any]:
        """Read an array if it has one of the given kinds and shapes.

        Parameters
        ----------
        name : str
            Its name.
        kinds : str
            The kinds of NumPy it may have: "i" and "u" for whole numbers, "f" for others, "b" for truth values.
        *shapes : tuple of int or None
            The shapes it may have; None stands for any length, as far as memory goes.

        Returns
        -------
        ndarray
            Whole numbers as intp, others as float64.

        Raises
        ------
        DamagedError
            If there is no such array; it is then not unpacked.
        """
        header = self._read_header(name)
        expect(header.kind in kinds, f"{name} should hold {KINDS[kinds[0]]}, got {KINDS[header.kind]}")
        expect(header.size in SIZES[header.kind], f"{name} holds numbers of {header.size} bytes")
        wanted = " or ".join(_format_shape(shape) for shape in shapes)
        expect(
            any(_fits(header.shape, shape) for shape in shapes),
            f"{name} should have the shape {wanted}, got {_format_shape(header.shape)}",
        )
        count = math.prod(header.shape)
        try:
            check_memory(1, count, matrices=2)  # as stored, and in the type that is returned
        except MemoryError:
            raise DamagedError(f"{name} would take {count / 2**27:.1f} GiB, more memory than is free") from None
        data = self._read_data(name, header, count * header.size)
        stored = data.view(np.dtype(f"{header.byteorder}{header.kind}{header.size}"))
        array = stored.reshape(header.shape, order="F" if header.is_fortran else "C")
        if header.kind == "u":
            expect(int(array.max(initial=0)) < 2**63, f"{name} holds numbers that are too large")
        return array.astype({"f": np.float64, "b": np.bool_}.get(header.kind, np.intp), copy=False)

    def read_finite(self, name: str, low: float, high: float, *shapes: tuple[int | None, ...]) -> NDArray[np.float64]:
        """Read an array of numbers that all lie between two bounds.

        Parameters
        ----------
        name : str
            Its name.
        low, high : float
            The bounds.
        *shapes : tuple of int or None
            The shapes it may have, as in `read`.

        Returns
        -------
        ndarray of float
            The array.
        """
        array = self.read(name, "fiu", *shapes).astype(np.float64, copy=False)
        if array.size:
            smallest, largest = float(array.min()), float(array.max())  # NaN where there is one
            expect(
                low <= smallest and largest <= high,
                f"{name} should lie between {low:g} and {high:g}, got values from {smallest:g} to {largest:g}",
            )
        return array

    def read_text(self, name: str) -> str:
        """Read a text.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        str
            The text, of at most 2²⁴ characters.

        Raises
        ------
        DamagedError
            If there is no such text, or it is longer; it is then not unpacked.
        """
        header = self._read_header(name)
        expect(header.kind == "U" and header.shape == (), f"{name} should hold one text, got {KINDS[header.kind]}")
        expect(header.size <= MOST_TEXT, f"{name} has {header.size} characters, at most {MOST_TEXT} are plausible")
        data = self._read_data(name, header, 4 * header.size).tobytes()
        return data.decode("utf-32-be" if header.byteorder == ">" else "utf-32-le").rstrip("\0")

    def _read_header(self, name: str) -> _Header:
        """Read what an array says of itself."""
        expect(name in self, f"it lacks {name}")
        member = self._members[f"{name}.npy"]
        expect(not member.flag_bits & 1, f"{name} is encrypted")
        expect(member.compress_type in (ZIP_STORED, ZIP_DEFLATED), f"{name} is compressed in an unusual way")
        with self._archive.open(member) as file:
            start = file.read(10)
            expect(len(start) == 10 and start[:8] == b"\x93NUMPY\1\0", f"{name} is not an array of NumPy")
            (length,) = struct.unpack("<H", start[8:])
            found = HEADER.fullmatch(file.read(length).decode("latin-1"))
        if found is None:
            raise DamagedError(f"the header of {name} is not one that NumPy writes for numbers or text")
        byteorder, kind, size, order, sides = found.groups()
        shape = tuple(int(side) for side in sides.split(",") if side.strip())
        expect(all(side < MOST_ROWS for side in shape), f"{name} has the shape ({sides[:SHOWN]})")
        return _Header(member, 10 + length, byteorder, kind, int(size), order == "True", shape)

    def _read_data(self, name: str, header: _Header, size: int) -> NDArray[np.uint8]:
        """Read the bytes of an array, if the archive declares as many; zipfile compares the checksum at their end."""
        declared = header.member.file_size - header.length
        expect(declared == size, f"{name} should have {size} bytes by its shape, got {declared}")
        self._limit -= 8 * math.prod(header.shape) if header.kind != "U" else size  # in the type that is returned
        expect(self._limit >= 0, f"with {name} it would unpack to more than {MOST_RATIO} times its size")
        data = np.empty(size, dtype=np.uint8)
        with self._archive.open(header.member) as file:
            file.read(header.length)
            for start in range(0, size, BLOCK):
                block = file.read(min(BLOCK, size - start))
                expect(len(block) == min(BLOCK, size - start), f"{name} ends too early")
                data[start : start + len(block)] = np.frombuffer(block, dtype=np.uint8)
            expect(file.read(1) == b"", f"{name} goes on after its end")
        return data


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    """Tell whether a shape is the wanted one, in which None stands for any length."""
    return len(shape) == len(wanted) and all(w in (None, side) for side, w in zip(shape, wanted, strict=True))


def _format_shape(shape: tuple[int | None, ...]) -> str:
    """Write a shape, any length as a star."""
    return "(" + ", ".join("*" if side is None else str(side) for side in shape) + ")"


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Read a .npy file, or the only array of an .npz file, of any kind and shape, but no pickled objects.

    Parameters
    ----------
    path : str or path
        The file; its suffix says which of both it is.

    Returns
    -------
    ndarray
        The array; that of a large .npy file stays in the file (memory-mapped) and cannot be written to.

    Raises
    ------
    DamagedError
        If the file is smaller than its header says, or has not one array. Other damage raises one of `NUMPY_DAMAGE`.
    MemoryError
        If the array does not fit into free memory.
    """
    is_archive = os.fspath(path).lower().endswith(".npz")
    with open(path, "rb") as file:  # NumPy leaves a broken archive open
        if not is_archive:
            _check_size(file, os.fstat(file.fileno()).st_size)
            if os.fstat(file.fileno()).st_size >= MAPPED_FROM:
                mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
                return mapped
            file.seek(0)
        loaded = np.load(file, allow_pickle=False)
        return _only_array(loaded) if is_archive else loaded


def _check_size(file: IO[bytes], size: int) -> None:
    """Refuse a .npy file of a size that is smaller than its header says, before memory is taken for it."""
    if file.read(6) == np.lib.format.MAGIC_PREFIX:
        file.seek(0)
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        told, there = math.prod(shape) * dtype.itemsize, size - file.tell()
        expect(all(side >= 0 for side in shape), f"damaged: its header says the shape {shape}")
        expect(
            dtype.hasobject or told <= there, f"damaged or truncated: {told} bytes of numbers expected, {there} found"
        )


def _only_array(archive: Any) -> NDArray[Any]:
    """Return the only array of an archive of NumPy, or refuse it."""
    names = archive.files
    expect(
        not {"format", "shape", "data"} <= set(names),
        "a sparse matrix; load it by scipy.sparse.load_npz and pass it to pairup.match as a graph, or write its edges "
        "to a .edges file",
    )
    expect(len(names) == 1, f"expected one array, found {len(names)} ({', '.join(names)}); save one per file")
    declared = archive.zip.infolist()[0].file_size
    if declared > free_memory()[0]:
        raise MemoryError(f"{names[0]} unpacks to {declared} bytes")
    with archive.zip.open(archive.zip.infolist()[0]) as member:
        _check_size(member, declared)
    array: NDArray[Any] = archive[names[0]]
    expect(isinstance(array, np.ndarray), f"expected an array, got the file {names[0]!r}")
    return array
