"""Saved matchings: what is in their files, written so that it can be read again, and checked when it is read."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup import archives
from pairup.archives import Archive, check_format, expect, is_count, is_number, open_archive, parse_json
from pairup.climb import Step
from pairup.evidence import Evidence
from pairup.files import replace_file
from pairup.probabilities import canonical, is_sparse
from pairup.tables import plain_name
from pairup.types import Indices, Probabilities, SparseArray

FORMAT = 2  # of saved files; 1 had all names in the header, and dense probabilities only
PART = 50_000  # names in one text, so that no text is too long
PROBABILITY = (-1e-6, 1 + 1e-6)  # bounds of saved probabilities, which are rounded
LARGEST = float(np.finfo(np.float64).max)


def save_fields(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a matching to an .npz file that opens without pickle.

    Parameters
    ----------
    path : path
        Where to write.
    fields : mapping
        The fields of `pairup.Matching` by name, but for its `model`; each alternative as its indices, its score and
        its agreement.
    """
    indices, evidence = fields["indices"], fields["evidence"]
    texts = [_write_names(names) for names in fields["names"]]
    header = {
        "format": FORMAT,
        "method": fields["method"],
        "dependence": fields["dependence"],
        "parts": [len(parts) for parts in texts],
        "reliable": fields["reliable"],
        "reliability": fields["reliability"],
        "nearness": fields["nearness"],
        "report": fields["report"],
        "alternatives": [[score, agreement] for _, score, agreement in fields["alternatives"]],
        "evidence": None if evidence is None else asdict(evidence),
        "history": [[step.start, step.iteration, step.value] for step in fields["history"]],
    }
    arrays: dict[str, Any] = {"header": np.array(json.dumps(header))}
    for side, parts in zip("xy", texts, strict=True):
        arrays |= {f"{side}_names_{k}": np.array(text) for k, text in enumerate(parts)}
    for name, text in arrays.items():
        if (length := text.dtype.itemsize // 4) > archives.MOST_TEXT:
            what = "report and history" if name == "header" else f"{PART} names"
            raise ValueError(
                f"cannot save {path}: {what} have {length} characters, at most {archives.MOST_TEXT} can be read "
                "again; give shorter names by with_names"
            )
    arrays |= {
        "indices": indices,
        "alternatives": _stack([other for other, _, _ in fields["alternatives"]], len(indices)),
        "history": _stack([step.indices for step in fields["history"]], len(indices)),
        "confidence": fields["confidence"],
    }
    if is_sparse(fields["probabilities"]):
        P = canonical(fields["probabilities"])
        arrays |= {f"probabilities_{part}": getattr(P, part) for part in ("data", "indices", "indptr")}
    else:
        arrays["probabilities"] = fields["probabilities"]
    if fields["sets"] is not None:
        arrays["X"], arrays["Y"] = fields["sets"]
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        if sum(_unpacked_bytes(np.asarray(array)) for array in arrays.values()) < archives.MOST_PACKED:
            np.savez_compressed(file, **arrays)
        else:  # `load_fields` refuses what is packed so tightly that a small file takes all memory
            np.savez(file, **arrays)


def _unpacked_bytes(array: NDArray[Any]) -> int:
    """Return what an array counts against the limit of an archive: numbers are read in eight bytes each."""
    return array.nbytes if array.dtype.kind == "U" else 8 * array.size


def _write_names(names: Sequence[Any]) -> list[str]:
    """Return row names as texts of JSON."""
    plain = [plain_name(name) for name in names]
    return [json.dumps(plain[start : start + PART]) for start in range(0, len(plain), PART)]


def _stack(matchings: Sequence[Indices], n: int) -> Indices:
    return np.reshape(matchings, (len(matchings), n)).astype(np.intp)


def load_fields(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of a matching that `save_fields` wrote, of this format or an earlier one.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        The fields, as in `save_fields`.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    ValueError
        If anything in it is wrong.
    """
    with open_archive(path, "a saved matching", "a file of Matching.save") as archive:
        header = parse_json(archive.read_text("header"))
        expect(isinstance(header, dict), "its header should be a dictionary")
        check_format(path, header.get("format"), FORMAT)
        _check_header(header)
        names = header["names"] if header["format"] == 1 else _read_names(archive, header)
        n, m = (len(of) for of in names)
        past, others = len(header["history"]), len(header["alternatives"])
        indices = archive.read("indices", "iu", (n,))
        history = archive.read("history", "iu", (past, n))
        alternatives = archive.read("alternatives", "iu", (others, n))
        for name, matchings in (("indices", indices), ("history", history), ("alternatives", alternatives)):
            _check_matchings(name, np.atleast_2d(matchings), m)
        confidence = archive.read_finite("confidence", *PROBABILITY, (n,), (0,))
        probabilities = _read_probabilities(archive, n, m)
        expect(("X" in archive) == ("Y" in archive), "it has only one of X and Y")
        sets = None
        if "X" in archive:
            X = archive.read_finite("X", -LARGEST, LARGEST, (n, None))
            sets = X, archive.read_finite("Y", -LARGEST, LARGEST, (m, None))
    return {
        "indices": indices,
        "method": header["method"],
        "dependence": header["dependence"],
        "history": [
            Step(start, iteration, p, value)
            for p, (start, iteration, value) in zip(history, header["history"], strict=True)
        ],
        "names": (names[0], names[1]),
        "confidence": confidence,
        "probabilities": probabilities,
        "reliable": header["reliable"],
        "reliability": header["reliability"],
        "nearness": header.get("nearness"),
        "report": header["report"],
        "alternatives": [(p, *scores) for p, scores in zip(alternatives, header["alternatives"], strict=True)],
        "evidence": Evidence(**header["evidence"]) if header.get("evidence") else None,
        "sets": sets,
    }


def _read_names(archive: Archive, header: dict[str, Any]) -> list[list[Any]]:
    """Read the names of both sets."""
    found: list[list[Any]] = []
    for side, parts in zip("xy", header["parts"], strict=True):
        names: list[Any] = []
        for part in range(parts):
            some = parse_json(archive.read_text(f"{side}_names_{part}"))
            expect(_are_names(some), f"{side}_names_{part} should be a list of texts and numbers")
            names += some
        found.append(names)
    return found


def _read_probabilities(archive: Archive, n: int, m: int) -> Probabilities:
    """Read the probabilities, dense or sparse."""
    parts = [f"probabilities_{part}" for part in ("data", "indices", "indptr")]
    if not any(part in archive for part in parts):
        return archive.read_finite("probabilities", *PROBABILITY, (n, m), (0,))
    expect("probabilities" not in archive, "it has dense probabilities and sparse ones")
    indptr = archive.read(parts[2], "iu", (n + 1,))
    entries = int(indptr[-1])
    expect(indptr[0] == 0 and bool((np.diff(indptr) >= 0).all()), f"{parts[2]} should rise from 0")
    columns = archive.read(parts[1], "iu", (entries,))
    data = archive.read_finite(parts[0], *PROBABILITY, (entries,))
    if entries:
        low, high = int(columns.min()), int(columns.max())
        expect(0 <= low and high < m, f"{parts[1]} should lie between 0 and {m - 1}, got {low} to {high}")
        rising = np.diff(columns) > 0
        begins = indptr[1:-1]
        rising[begins[(begins > 0) & (begins < entries)] - 1] = True  # where a row ends, the next begins anywhere
        expect(bool(rising.all()), f"{parts[1]} should rise in every row")
    return _assemble(data, columns, indptr, (n, m))


def _assemble(data: Any, columns: Indices, indptr: Indices, shape: tuple[int, int]) -> SparseArray:
    from scipy.sparse import csr_array

    return csr_array((data, columns, indptr), shape=shape)


def _check_header(header: dict[str, Any]) -> None:
    """Check every field of a saved matching but the arrays."""

    def field_is(name: str, good: bool, wanted: str) -> None:
        expect(good, f"its header should hold {name}: {wanted}")

    field_is("method", isinstance(header.get("method"), str), "a text")
    field_is("dependence", is_number(header.get("dependence"), -LARGEST, LARGEST), "a finite number")
    reliable, reliability = header.get("reliable", ""), header.get("reliability", "")
    field_is("reliable", reliable is None or isinstance(reliable, bool), "true, false or null")
    field_is("reliability", reliability is None or is_number(reliability, *PROBABILITY), "a probability or null")
    nearness = header.get("nearness")
    field_is("nearness", nearness is None or is_number(nearness, *PROBABILITY), "a share or null")
    field_is("report", isinstance(header.get("report"), str), "a text")
    if header["format"] == 1:
        names = header.get("names")
        good = isinstance(names, list) and len(names) == 2 and all(map(_are_names, names))
        field_is("names", good, "two lists of texts and numbers")
    else:
        parts = header.get("parts")
        good = isinstance(parts, list) and len(parts) == 2 and all(is_count(count) for count in parts)
        field_is("parts", good, "how many texts of names each set has")
    field_is("alternatives", _are_rows(header.get("alternatives"), is_number, is_number), "two numbers each")
    field_is("history", _are_rows(header.get("history"), is_count, is_count, is_number), "three numbers each")
    if (evidence := header.get("evidence")) is not None:
        scores = ("found", "shuffled", "unrelated")
        field_is(
            "evidence",
            isinstance(evidence, dict)
            and {*scores, "draws"} <= evidence.keys() <= {*scores, "draws", "sortable"}
            and all(is_number(evidence[name], -LARGEST, LARGEST) for name in scores)
            and is_count(evidence["draws"])
            and isinstance(evidence.get("sortable", False), bool),
            "the scores found, shuffled and unrelated, a number of draws, and sortable",
        )


def _are_names(names: Any) -> bool:
    """Tell whether something is a list of row names."""
    return isinstance(names, list) and all(isinstance(name, int | float | str | None) for name in names)


def _are_rows(rows: Any, *kinds: Callable[[Any], bool]) -> bool:
    """Tell whether something is a list of rows, the values of each of the given kinds."""
    return isinstance(rows, list) and all(
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(kind(value) for kind, value in zip(kinds, row, strict=True))
        for row in rows
    )


def _check_matchings(name: str, matchings: Indices, m: int) -> None:
    """Check that partners are rows of Y, or −1, and no row has two; one matching per row."""
    if matchings.size:
        low, high = int(matchings.min()), int(matchings.max())
        expect(-1 <= low and high < m, f"{name} should lie between -1 and {m - 1}, got {low} to {high}")
        partners = np.sort(matchings, axis=1)
        twice = (partners[:, 1:] == partners[:, :-1]) & (partners[:, 1:] >= 0)
        expect(not twice.any(), f"{name} gives a row of Y to two rows of X")
