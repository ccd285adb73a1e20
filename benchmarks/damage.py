"""Damaged and odd files and arrays, drawn from a seed: what an attack is made of."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator

CELLS = (
    "", "nan", "inf", "-inf", "NA", "1e400", "-0", "0x10", "1,5", "1_000", "٣", "true", "2024-02-30", "text", "ä",
    "\u2028", "a\nb", '"', "'", ";", "\t", "=1+1", "<b>", "\x00", "x" * 200_000, "9" * 400,
    "1e-320", " 7 ", "½", "\ufeff3", "None",
)  # fmt: skip
"""What people and machines put into cells where a number is expected."""

DTYPES = ("<f8", "<f4", "<f2", ">f8", "<i8", "|u1", "|b1", "<c16", "|S5", "<U4", "<M8[D]", "<m8[s]", "|V8")


def damage_bytes(data: bytes, rng: Rng) -> bytes:
    """Damage bytes in one of ten ways."""
    if not data:
        return data
    a, b = sorted(int(k) for k in rng.integers(len(data) + 1, size=2))
    flips = bytearray(data)
    for place in rng.integers(len(data), size=int(rng.integers(1, 65))):
        flips[place] ^= 1 << int(rng.integers(8))
    ways = (
        lambda: data[:a],
        lambda: bytes(flips),
        lambda: data[:a] + bytes(b - a) + data[b:],
        lambda: data[:a] + rng.bytes(int(rng.integers(1, 5000))) + data[a:],
        lambda: data[:a] + data[b:],
        lambda: data[:b] + data[a:],
        lambda: data[b:] + data[:a],
        lambda: data + rng.bytes(1000),
        lambda: b"",
        lambda: rng.bytes(len(data)),
    )
    return bytes(ways[int(rng.integers(len(ways)))]())


def write_picture(path: Path, rng: Rng) -> Path:
    """Write a picture of an odd mode, size or format, half of them damaged; return its path with a suffix."""
    from PIL import Image

    sizes = ((1, 1), (1, 700), (700, 1), (40, 30), (333, 217), (0, 0))
    width, height = sizes[int(rng.integers(5))]
    mode = str(rng.choice(["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16"]))
    colours = Image.fromarray(rng.integers(0, 256, size=(height, width, 3), dtype=np.uint8))
    try:
        picture = colours.convert("I").convert("I;16") if mode == "I;16" else colours.convert(mode)
    except ValueError:
        picture = colours
    kind = str(rng.choice(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "ICO", "PPM", "JPEG2000"]))
    path = path.with_suffix({"JPEG2000": ".jp2"}.get(kind, f".{kind.lower()}"))
    buffer = io.BytesIO()
    try:
        options: dict[str, Any] = {"save_all": True, "append_images": [picture] * 2} if kind in ("GIF", "TIFF") else {}
        if rng.random() < 0.3:
            options["exif"] = damage_bytes(b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03" * 3, rng)
        picture.save(buffer, kind, **options)
    except (OSError, ValueError, KeyError, TypeError, SystemError, SyntaxError):  # a mode that the format cannot hold
        colours.save(buffer := io.BytesIO(), "PNG")
    data = buffer.getvalue()
    if rng.random() < 0.5:
        data = damage_bytes(data, rng)
    if rng.random() < 0.2:
        path = path.with_suffix(".jpg")  # a wrong name
    path.write_bytes(data)
    return path


def write_table(path: Path, rng: Rng) -> Path:
    """Write a table as csv, tsv, txt, npy or npz; most have one oddity or none, few are damaged. Return its path."""
    suffix = str(rng.choice([".csv", ".csv", ".csv", ".tsv", ".txt", ".npy", ".npz"]))
    path = path.with_suffix(suffix)
    odd = rng.random() < 0.5
    values = rng.normal(size=(12, 3)) * 10.0 ** rng.integers(-5, 6)
    if suffix in (".npy", ".npz"):
        data = _write_numpy(make_plain_array(rng) if odd else values, suffix, rng)
    else:
        data = _write_text(values, suffix, rng, odd=odd)
    if rng.random() < 0.08:
        data = damage_bytes(data, rng)
    path.write_bytes(data)
    return path


def _write_numpy(array: Any, suffix: str, rng: Rng) -> bytes:
    """Return an array as .npy, or as the only array of an .npz, or one of several."""
    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, array)
    else:
        count = 1 if rng.random() < 0.8 else int(rng.integers(0, 3))
        np.savez_compressed(buffer, **{str(k): array for k in range(count)})
    return buffer.getvalue()


def _write_text(values: Any, suffix: str, rng: Rng, *, odd: bool) -> bytes:
    """Return a text table; an odd one has an oddity of its cells, its rows, its separator or its encoding."""
    rows = [[f"{value:.4g}" for value in row] for row in values]
    n, d = values.shape
    delimiter, encoding = {".tsv": "\t", ".txt": " "}.get(suffix, ","), "utf-8"
    oddity = str(rng.choice(["cell", "cell", "short", "separator", "encoding", "size", "constant"])) if odd else ""
    if oddity == "cell":
        rows[int(rng.integers(n))][int(rng.integers(d))] = str(rng.choice(CELLS))
    elif oddity == "short":
        rows[int(rng.integers(n))] = rows[0][: int(rng.integers(d + 1))]
    elif oddity == "separator":
        delimiter = str(rng.choice([";", "\t", "|"]))
    elif oddity == "encoding":
        encoding = str(rng.choice(["utf-8-sig", "utf-16", "latin-1"]))
    elif oddity == "size":
        rows = [row[: int(rng.integers(d + 1))] for row in rows[: int(rng.integers(n))]]
    elif oddity == "constant":
        rows = [rows[0]] * n if rng.random() < 0.5 else rows[:3] * (n // 3)
    if rng.random() < 0.7:
        rows.insert(0, [f"c{k}" for k in range(len(rows[0]) if rows else 0)])
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode(encoding, errors="replace")


def make_plain_array(rng: Rng) -> Any:
    """An array of an odd dtype, shape or scale."""
    shapes = ((0,), (), (7,), (20, 3), (20, 1), (3, 4), (0, 3), (20, 0), (2, 3, 4), (1, 3), (20, 20))
    shape = shapes[int(rng.integers(len(shapes)))]
    dtype = np.dtype(str(rng.choice(DTYPES))) if rng.random() < 0.5 else np.dtype(np.float64)
    if dtype.kind in "fciu":
        values = rng.normal(size=shape) * 10.0 ** float(rng.integers(-320, 300))
        with np.errstate(all="ignore"):
            array = np.asarray(values).astype(dtype)
    else:
        array = np.frombuffer(rng.bytes(max(1, int(np.prod(shape))) * dtype.itemsize), dtype=dtype)
        array = (
            array[: int(np.prod(shape))].reshape(shape) if dtype.kind not in "SU" else np.full(shape, "7", dtype=dtype)
        )
    if array.size and dtype.kind == "f" and rng.random() < 0.4:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = [np.nan, np.inf, -np.inf, 0.0][int(rng.integers(4))]
    return array


def make_object(rng: Rng) -> Any:
    """Anything that a user of the library may pass where a set is expected."""
    import pandas as pd
    from scipy import sparse

    good = rng.normal(size=(12, 3))
    makers: tuple[Callable[[], Any], ...] = (
        lambda: make_plain_array(rng),
        lambda: make_plain_array(rng),
        lambda: make_plain_array(rng),
        lambda: good,
        lambda: good.tolist(),
        lambda: [[1, 2], [3]],
        lambda: None,
        lambda: "table.csv",
        lambda: (row for row in good),
        lambda: iter(good),
        lambda: np.ma.masked_array(good, mask=good > 1),
        lambda: np.array([[10**400, 1], [2, 3], [4, 5], [6, 7]], dtype=object),
        lambda: good.astype(object),
        lambda: sparse.csr_matrix(good),
        lambda: sparse.coo_array(good),
        lambda: pd.DataFrame(good, columns=list("abc")),
        lambda: pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64"), "b": list("wxyz")}),
        lambda: pd.Series(good[:, 0]),
        lambda: pd.DataFrame(good, index=pd.date_range("2024-01-01", periods=12)),
        lambda: np.asfortranarray(good)[::-1],
        lambda: good.astype(np.float16),
        lambda: np.full((12, 3), 5.0),
        lambda: np.repeat(good[:3], 4, axis=0),
        lambda: {"a": 1},
        lambda: 5,
        lambda: np.matrix(good) if hasattr(np, "matrix") else good,
    )
    return makers[int(rng.integers(len(makers)))]()


def damage_archive(data: bytes, rng: Rng) -> bytes:
    """Damage a saved file: its bytes, its members, their arrays, or the fields of a header in JSON."""
    if rng.random() < 0.4:
        return damage_bytes(data, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:  # JSON
        return json.dumps(damage_json(json.loads(data), rng)).encode()
    name = str(rng.choice(sorted(members)))
    way = int(rng.integers(6))
    if way == 0:
        del members[name]
    elif way == 1:
        members[name] = damage_bytes(members[name], rng)
    elif way == 2:
        members["extra.npy"] = bytes(10**6)
    else:
        buffer = io.BytesIO()
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        if array.dtype.kind == "U" and way < 5:
            array = np.array(json.dumps(damage_json(json.loads(str(array)), rng)))
        else:
            array = make_plain_array(rng)
        np.save(buffer, array, allow_pickle=False)
        members[name] = buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def damage_json(value: Any, rng: Rng) -> Any:
    """Replace, drop or nest one part of a JSON value."""
    odd = (None, -1, 0, 10**12, 1e308, float("nan"), "", "x", [], {}, True, [[]], "9" * 400)
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = str(rng.choice(sorted(value)))
        if rng.random() < 0.15:
            return {name: part for name, part in value.items() if name != key}
        return value | {key: damage_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = int(rng.integers(len(value)))
        return [*value[:place], damage_json(value[place], rng), *value[place + int(rng.random() < 0.9) :]]
    return odd[int(rng.integers(len(odd)))]
