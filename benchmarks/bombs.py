"""Bombs: small files that claim, or unpack to, far more than they hold."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

MEGABYTE = bytes(10**6)
PNG = b"\x89PNG\r\n\x1a\n"


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png(width: int, height: int, bits: int, colours: int, rows: int, before: bytes = b"") -> bytes:
    """A PNG of zeros that has only so many of its rows; colours 0 is gray, 2 RGB, 6 RGBA."""
    row = bytes(1 + -(-width * bits * {0: 1, 2: 3, 6: 4}[colours] // 8))
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(row) for _ in range(rows)) + packer.flush()
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0))
    return PNG + header + before + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _png_of_texts() -> bytes:
    """A small PNG, and with it two hundred texts and a colour profile that unpack to a hundred megabytes each."""
    packed = zlib.compress(bytes(10**8), 9)
    texts = b"".join(_chunk(b"zTXt", b"k%d\0\0" % k + packed) for k in range(200))
    return _png(9, 9, 8, 2, 9, before=_chunk(b"iCCP", b"p\0\0" + packed) + texts)


def _tiff(tags: dict[int, tuple[int, int, int]], data: bytes = b"", next_directory: int = 0) -> bytes:
    """A TIFF with the given tags (type, count, value) and data from byte 8 on."""
    where = 8 + len(data) + len(data) % 2
    entries = b"".join(struct.pack("<HHII", tag, *tags[tag]) for tag in sorted(tags))
    directory = struct.pack("<H", len(tags)) + entries + struct.pack("<I", next_directory)
    return struct.pack("<2sHI", b"II", 42, where) + data.ljust(where - 8, b"\0") + directory


def _tiff_of_floats(side: int, rows: int) -> bytes:
    """A float TIFF of side² zeros, whose strips are all the same few bytes of deflate."""
    strip = zlib.compress(bytes(4 * side * rows), 9)
    strip += bytes(len(strip) % 2)
    count = -(-side // rows)
    offsets = struct.pack("<I", 8) * count
    lengths = struct.pack("<I", len(strip)) * count
    lists = (4, count, 8 + len(strip)), (4, count, 8 + len(strip) + len(offsets))
    if count == 1:
        lists = (4, 1, 8), (4, 1, len(strip))
    return _tiff(
        {256: (4, 1, side), 257: (4, 1, side), 258: (3, 1, 32), 259: (3, 1, 8), 262: (3, 1, 1), 273: lists[0],
         277: (3, 1, 1), 278: (4, 1, rows), 279: lists[1], 339: (3, 1, 3)},
        strip + offsets + lengths,
    )  # fmt: skip


def _tiff_of_odd_tags(value: int) -> bytes:
    """A small TIFF in which every list claims 2³¹ − 1 members, and most numbers are absurd."""
    many = 2**31 - 1
    tags = dict.fromkeys((270, 273, 279, 320, 324, 325, 347, 700, 34665, 34675, 34853), (4, many, 8))
    tags |= dict.fromkeys((258, 259, 277, 278, 282, 322, 323, 338, 530), (4, 1, value))
    return _tiff(tags | {256: (4, 1, 100), 257: (4, 1, 100), 262: (3, 1, 1)}, next_directory=8)


def _gif(side: int, frames: int) -> bytes:
    """A GIF of side² pixels with frames of one pixel."""
    frame = b",\0\0\0\0\1\0\1\0\0\2\2D\1\0"
    return b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6) + frame * frames + b";"


def _webp(side: int, frames: int) -> bytes:
    """An animated WebP of side² pixels with frames of 16² pixels."""
    from PIL import Image

    pictures = [Image.new("RGB", (16, 16), (k % 256, k // 256, 7)) for k in range(frames)]
    pictures[0].save(buffer := io.BytesIO(), "WEBP", save_all=True, append_images=pictures[1:], lossless=True)
    data = bytearray(buffer.getvalue())
    if (place := data.find(b"VP8X")) >= 0:
        data[place + 12 : place + 18] = (side - 1).to_bytes(3, "little") * 2
    return bytes(data)


def _jpeg(side: int, *, progressive: bool) -> bytes:
    """A JPEG that claims side² pixels and holds sixteen of them."""
    from PIL import Image

    Image.new("RGB", (4, 4), (9, 99, 199)).save(buffer := io.BytesIO(), "JPEG", progressive=progressive)
    data = bytearray(buffer.getvalue())
    place = data.find(b"\xff\xc2" if progressive else b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">HH", side, side)
    return bytes(data)


PICTURES: dict[str, Callable[[], bytes]] = {
    "header.png": lambda: _png(60_000, 60_000, 8, 2, 3),
    "sixteen.png": lambda: _png(9_900, 9_900, 16, 0, 9_900),
    "rgba.png": lambda: _png(9_900, 9_900, 8, 6, 9_900),
    "rgb16.png": lambda: _png(9_900, 9_900, 16, 2, 9_900),
    "long.png": lambda: _png(90_000_000, 1, 8, 0, 1),
    "texts.png": _png_of_texts,
    "strips.tiff": lambda: _tiff_of_floats(9_000, 16),
    "strip.tiff": lambda: _tiff_of_floats(9_000, 9_000),
    "tags.tiff": lambda: _tiff_of_odd_tags(2**31 - 1),
    "zeros.tiff": lambda: _tiff_of_odd_tags(0),
    "frames.gif": lambda: _gif(9_900, 100_000),
    "screen.gif": lambda: _gif(65_535, 3),
    "frames.webp": lambda: _webp(16, 400),
    "canvas.webp": lambda: _webp(16_000, 20),
    "large.webp": lambda: _webp(5_500, 20),
    "baseline.jpg": lambda: _jpeg(65_500, progressive=False),
    "progressive.jpg": lambda: _jpeg(65_500, progressive=True),
}


def _header(descr: str, shape: tuple[int, ...]) -> bytes:
    """What stands before the numbers of a .npy file."""
    text = str({"descr": descr, "fortran_order": False, "shape": shape})[:-1] + ", }"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()


def _replace(archive: bytes, name: str, header: bytes, blocks: list[bytes]) -> bytes:
    """An archive in which a member consists of a header and of blocks."""
    buffer = io.BytesIO()
    options = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w", **options) as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        with new.open(name, "w") as file:
            file.write(header)
            for block in blocks:
                file.write(block)
    return buffer.getvalue()


def _members(archive: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an archive."""
    with np.load(io.BytesIO(archive)) as arrays:
        return {f"{name}.npy": arrays[name] for name in arrays.files}


def _deep(opening: str) -> Callable[[], bytes]:
    return lambda: f'{{"format": "pairup album", "version": 1, "order": {opening * 100_000}'.encode()


def _many(part: str, size: int) -> Callable[[], bytes]:
    start = '{"format": "pairup album", "version": 1, "order": ['
    return lambda: (start + part * (size // len(part)) + "0]}").encode()


ALBUMS: dict[str, Callable[[], bytes]] = {
    "lists": _deep("["),
    "dictionaries": _deep('{"a":'),
    "brackets only": lambda: b"[" * 100_000,
    "many lists": _many("[],", 24_000_000),
    "many dictionaries": _many("{},", 24_000_000),
    "many pairs": _many('{"a":1.5},', 40_000_000),
    "many numbers": _many("1.5,", 60_000_000),
    "many texts": _many('"ab",', 60_000_000),
    "long text": lambda: b'{"format": "pairup album", "frame": "' + b"x" * 150_000_000 + b'"}',
    "long wide text": lambda: b'{"format": "pairup album", "frame": "' + "\U0001f600".encode() + b"x" * 99_000_000,
    "long number": lambda: b'{"format": "pairup album", "version": ' + b"9" * 3_000_000 + b"}",
}


@cache
def archive_bombs(archive: bytes) -> tuple[Callable[[], bytes], ...]:
    """Return makers of archives like the given one of which one member claims, or unpacks to, far too much."""
    return tuple(_make_bombs(archive))


def _make_bombs(archive: bytes) -> Iterator[Callable[[], bytes]]:
    replace = partial(partial, _replace, archive)
    members = _members(archive)
    numbers = [name for name, array in members.items() if array.dtype.kind != "U"]
    texts = [name for name, array in members.items() if array.dtype.kind == "U"]
    first = max(numbers, key=lambda name: members[name].ndim)
    yield replace(first, _header("<f8", (10**8,)), [MEGABYTE] * 800)
    yield replace(first, _header("<f8", (10**4, 10**4)), [MEGABYTE] * 800)
    for name in texts:
        yield replace(name, _header("<U200000000", ()), [MEGABYTE] * 800)
        for part in ("[],", "{},", '{"a":1.5},', "["):
            count = 2**14 - 1
            middle = part * (2**10 // len(part))
            header = _header(f"<U{3 + count * len(middle)}", ())
            yield replace(name, header, [_encode("["), *[_encode(middle)] * count, _encode("0]")])
        for text in _with_huge_numbers(archive, name):
            yield replace(name, _header(f"<U{len(text)}", ()), [_encode(text)])
    for name in (name for name in numbers if members[name].size == 1):
        for huge in (10**9, 10**12):
            array = np.full(members[name].shape, huge, dtype=members[name].dtype)
            yield replace(name, _header(array.dtype.str, array.shape), [array.tobytes()])
    for name in numbers:
        yield replace(name, _header("<f8", (10**12,)), [MEGABYTE])
        yield replace(name, _header("<f8", (10**6, 10**6)), [MEGABYTE])


def _encode(text: str) -> bytes:
    return text.encode("utf-32-le")


def _with_huge_numbers(archive: bytes, name: str) -> Iterator[str]:
    """Yield the JSON of a member with each of its numbers in turn far too large."""
    with np.load(io.BytesIO(archive)) as arrays:
        value = json.loads(str(arrays[name.removesuffix(".npy")]))
    yield from map(json.dumps, _enlarge(value))


def _enlarge(value: Any) -> Iterator[Any]:
    """Yield a value of JSON with each of its numbers in turn far too large; of the items of a list, the first."""
    if isinstance(value, int | float):
        yield from (10**9, 10**12, 1e300)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from (value | {key: huge} for huge in _enlarge(part))
    elif isinstance(value, list) and value:
        yield from ([huge, *value[1:]] for huge in _enlarge(value[0]))
