"""`Matching`, the result of every matcher, and its renderings."""

import csv
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pairup.climb import Step
from pairup.evidence import DOUBT, Evidence
from pairup.tables import plain_name
from pairup.types import Array, Indices
from pairup.validation import check_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairup.plots import MatchingDisplay

FORMAT = 1  # of saved files
SHOWN = 10  # pairs in the HTML of a matching
PROBABILITY = (-1e-6, 1 + 1e-6)  # bounds of saved probabilities, which are rounded


def _empty() -> Array:
    return np.empty(0)


def _stack(matchings: Sequence[Indices], n: int) -> Indices:
    return np.reshape(matchings, (len(matchings), n)).astype(np.intp)


def _equal_names(names: Any, others: Any) -> bool:
    """Tell whether row names are equal; names that cannot be compared, such as pandas.NA, are not."""
    try:
        return bool(names == others)
    except (TypeError, ValueError):
        return False


def plain_names(names: Iterable[Any]) -> list[Any]:
    """Return row names as a list, NumPy's numbers as Python's.

    Parameters
    ----------
    names : iterable
        Names of rows.

    Returns
    -------
    list
        The names.
    """
    return [name.item() if isinstance(name, np.generic) else name for name in names]


def _format_cell(value: Any) -> str:
    """Return a name or a confidence as HTML; a dash stands for no partner."""
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else escape(str(value))


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another solution that the data nearly allow, such as a mirror image.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        Its matching.
    score : float
        Its score in units of the best one's.
    agreement : float
        The share of objects whose partner is the same in both.
    """

    indices: Indices
    score: float
    agreement: float


@dataclass(frozen=True, eq=False, repr=False)
class Matching:
    """The result of every matcher.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        ``Y[indices]`` is aligned with ``X``; −1 where an x has no partner.
    method : str
        The method that found it.
    dependence : float
        The measure of that method at the matching.
    model : object
        The fitted estimator of the paper's methods; the consensus of all candidates for ``method="auto"``.
    history : list of Step
        The steps of the search that won.
    names : tuple of two lists
        Row names of X and of Y; row numbers where they have none.
    confidence : ndarray of shape (n,), default empty
        The probability of each pair; by ``method="auto"`` only.
    probabilities : ndarray of shape (n, m), default empty
        The same for all pairs.
    reliable : bool, optional
        Whether the data identify the pairing. Of the paper's methods False where the pairs are hardly more dependent
        than those of unrelated sets, and None otherwise: they cannot say that a matching is right.
    reliability : float, optional
        The expected share of right pairs; by ``method="auto"`` only.
    report : str, default ''
        The reasons, in words.
    alternatives : list of Alternative, default empty
        Other solutions that the data nearly allow.
    evidence : Evidence, optional
        How dependent the pairs are, beside what a search finds in unrelated sets; of the paper's methods.
    sets : tuple of two ndarray of shape (n, d) and (m, e), optional
        The two tables, where they were given as tables.
    """

    indices: Indices
    method: str
    dependence: float
    model: Any
    history: list[Step]
    names: tuple[list[Any], list[Any]]
    confidence: Array = field(default_factory=_empty)
    probabilities: Array = field(default_factory=_empty)
    reliable: bool | None = None
    reliability: float | None = None
    report: str = ""
    alternatives: list[Alternative] = field(default_factory=list)
    evidence: Evidence | None = None
    sets: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.indices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matching):
            return NotImplemented
        if self is other:
            return True
        if (self.method, self.reliable, self.report) != (other.method, other.reliable, other.report):
            return False
        arrays = ("indices", "confidence", "probabilities")
        return _equal_names(self.names, other.names) and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in arrays
        )

    def __hash__(self) -> int:
        return hash((self.method, self.indices.astype(np.int64).tobytes()))

    def __repr__(self) -> str:
        n, m = len(self.names[0]), len(self.names[1])
        sizes = f"{n} and {m} objects" if n != m else f"{n} object{'s' if n > 1 else ''} each"
        return f"<Matching: {self._count()} of {sizes} by {self.method!r}, {self.verdict}>"

    def _count(self) -> str:
        return f"{self.n_pairs} pair{'' if self.n_pairs == 1 else 's'}"

    @property
    def n_pairs(self) -> int:
        """How many x have a partner."""
        return int((self.indices >= 0).sum())

    @property
    def verdict(self) -> str:
        """The expected share of right pairs, and whether the matching is reliable or why not, in one line.

        Of the paper's methods, which cannot say that a matching is right: whether its pairs are more dependent than
        those found in unrelated sets.

        Examples
        --------
        >>> Matching(np.array([1, 0]), "ks-hsic", 0.25, None, [], ([0, 1], [0, 1])).verdict
        'dependence 0.25'
        """
        before, _, reason = self.report.rpartition(DOUBT)
        expected = "" if self.reliability is None else f"about {self.reliability:.0%} expected right, "
        if self.reliable:
            return f"{expected}reliable"
        if self.reliable is False:
            told = f"{expected}not reliable" if before else "not reliable"  # nothing is known of sets without a search
            return f"{told}: {reason.rstrip('.')}" if reason else told
        if self.evidence is not None:
            return self.evidence.verdict
        return f"dependence {self.dependence:.3g}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, a histogram of the confidences, and the first pairs."""
        head = f"<p><b>{self._count()}</b> by {escape(self.method)}: {escape(self.verdict)}</p>"
        rows = list(islice(self.rows(), SHOWN))
        columns = "".join(f"<th>{name}</th>" for name in (rows[0] if rows else ()))
        cells = "".join(
            "<tr>" + "".join(f"<td>{_format_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows
        )
        rest = f"<p>… and {len(self) - SHOWN} more rows</p>" if len(self) > SHOWN else ""
        lines = "".join(f"<p>{escape(line)}</p>" for line in self.report.splitlines())
        report = f"<details><summary>report</summary>{lines}</details>" if lines else ""
        return f"<div>{head}{self._histogram()}<table><tr>{columns}</tr>{cells}</table>{rest}{report}</div>"

    def _histogram(self) -> str:
        """Return the confidences as a small picture in SVG."""
        if not self.confidence.size:
            return ""
        counts = np.histogram(self.confidence[self.indices >= 0], bins=np.linspace(0, 1, 21))[0]
        heights = 40.0 * counts / max(int(counts.max()), 1)
        bars = "".join(
            f'<rect x="{8 * k + 1}" y="{41 - height:.1f}" width="7" height="{height:.1f}" fill="#1f77b4"/>'
            for k, height in enumerate(heights)
        )
        axis = '<line x1="0" y1="41.5" x2="162" y2="41.5" stroke="currentColor" stroke-opacity="0.5"/>'
        labels = "".join(
            f'<text x="{x}" y="54" font-size="10" text-anchor="{anchor}" fill="currentColor">{text}</text>'
            for x, anchor, text in ((0, "start", "0"), (81, "middle", "confidence"), (162, "end", "1"))
        )
        return (
            '<svg width="243" height="84" viewBox="0 0 162 56" role="img" aria-label="histogram of the confidences">'
            f"{bars}{axis}{labels}</svg>"
        )

    def candidates(self, k: int = 5) -> tuple[Indices, Array]:
        """Return the k likeliest partners of each x.

        Parameters
        ----------
        k : int, default 5
            How many.

        Returns
        -------
        partners : ndarray of int, shape (n, k)
            Rows of Y, the likeliest first.
        probabilities : ndarray of shape (n, k)
            Their probabilities.
        """
        if not self.probabilities.size:
            raise ValueError(
                f"candidates needs the probabilities of all pairs, and {self._by()} has none; match by method='auto'"
            )
        order = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(self.probabilities, order, axis=1)

    def expected_partner(self, of: Literal["x", "y"] = "x") -> Array:
        """Return the mean partner of each object, weighted by the probabilities: Σ_j p_ij y_j / Σ_j p_ij.

        Parameters
        ----------
        of : {"x", "y"}, default "x"
            Whose partners: those of x lie in the space of Y, those of y in the space of X.

        Returns
        -------
        ndarray of shape (n, e) or (m, d)
            One row per x, or per y; NaN where an object has no probable partner at all.
        """
        if of not in ("x", "y"):
            raise ValueError(f"of must be 'x' or 'y', got {of!r:.80}; pass the set whose partners are wanted")
        X, Y = self._tables("expected_partner")
        P, partners = (self.probabilities, Y) if of == "x" else (self.probabilities.T, X)
        total = P.sum(axis=1, keepdims=True)
        expected: Array = np.full((len(P), partners.shape[1]), np.nan)
        probable = total[:, 0] > 0
        expected[probable] = (P[probable] / total[probable]) @ partners
        return expected

    def translate(self, X_new: ArrayLike, *, spread: bool = True) -> Array:
        """Carry new x into the space of Y by kernel regression on the matched pairs, cross-validated.

        Parameters
        ----------
        X_new : array_like of shape (k, d)
            New objects like those of X.
        spread : bool, default True
            Whether images spread along the principal components of Y as its objects do, so that the objects nearest
            to an image are its likely partners. False returns expected partners, of least squared error, which lie
            nearer to the middle.

        Returns
        -------
        ndarray of shape (k, e)
            Their images.
        """
        from pairup.regression import MatchedRegressor, predict_held_out, restore_spread

        X, Y = self._tables("translate")
        matched = np.flatnonzero(self.indices >= 0)
        points, partners = X[matched], Y[self.indices[matched]]
        model = MatchedRegressor().fit(points, partners)
        images: Array = model.predict(check_set(X_new, "X_new", at_least=1))
        return restore_spread(images, predict_held_out(model, points, partners), Y) if spread else images

    def assign(self, X_new: ArrayLike, Y_new: ArrayLike) -> Indices:
        """Pair new objects by the density ratio r(x, y) that is fitted to the matched pairs.

        Parameters
        ----------
        X_new : array_like of shape (k, d)
            New objects like those of X.
        Y_new : array_like of shape (l, e)
            New objects like those of Y.

        Returns
        -------
        ndarray of int, shape (k,)
            ``Y_new[indices]`` is aligned with ``X_new``; −1 where an x has no partner.
        """
        from pairup.assignment import assign
        from pairup.density_ratio import SCORED_EPSILONS, eigendecompose, held_out_scores
        from pairup.kernels import gaussian, median_width

        X, Y = self._tables("assign")
        used = np.flatnonzero(self.indices >= 0)
        X, Y = X[used], Y[self.indices[used]]
        width_x, width_y = median_width(X), median_width(Y)
        K, L = gaussian(X, width=width_x), gaussian(Y, width=width_y)
        J = held_out_scores(eigendecompose(K.copy()), eigendecompose(L.copy()), [np.arange(len(used))])[0]
        ridge = len(used) * SCORED_EPSILONS[int(J.argmin())] * np.eye(len(used))
        k = gaussian(check_set(X_new, "X_new", at_least=1), X, width=width_x)
        l = gaussian(check_set(Y_new, "Y_new", at_least=1), Y, width=width_y)  # noqa: E741
        return assign(np.linalg.solve(K + ridge, k.T).T @ np.linalg.solve(L + ridge, l.T))

    def _by(self) -> str:
        return f"a matching by method={self.method!r}"

    def _tables(self, verb: str) -> tuple[Array, Array]:
        if self.sets is not None:
            return self.sets
        if self.method == "auto":
            raise ValueError(
                f"{verb} needs the two tables, and this matching was made from precomputed distances or kernels, or "
                "from graphs; match the tables themselves"
            )
        raise ValueError(f"{verb} needs the two tables, and {self._by()} does not keep them; match by method='auto'")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one pair after another.

        Yields
        ------
        dict
            ``{"x": name, "y": name or None}``, with ``"confidence"`` where that is known.
        """
        x_names, y_names = self.names
        for i, j in enumerate(self.indices):
            row = {"x": x_names[i], "y": y_names[j] if j >= 0 else None}
            if self.confidence.size:
                row["confidence"] = round(float(self.confidence[i]), 4)
            yield row

    def _plain_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the pairs as they are written, names as numbers or text."""
        for row in self.rows():
            yield row | {"x": plain_name(row["x"]), "y": plain_name(row["y"])}

    def with_names(self, x_names: Sequence[Any], y_names: Sequence[Any]) -> "Matching":
        """Return the same matching with other names for the rows.

        Parameters
        ----------
        x_names, y_names : sequence
            Names of the rows of X and of Y.

        Returns
        -------
        Matching
            A copy with these names.
        """
        names = plain_names(x_names), plain_names(y_names)
        for new, old, name in zip(names, self.names, ("X", "Y"), strict=True):
            if len(new) != len(old):
                raise ValueError(f"{name} has {len(old)} rows, got {len(new)} names; give one name per row")
        return replace(self, names=names)

    def renamed(self, x_names: Sequence[Any], y_names: Sequence[Any]) -> "Matching":
        """Do what `with_names` does; this is its old name.

        Parameters
        ----------
        x_names, y_names : sequence
            As in `with_names`.

        Returns
        -------
        Matching
            A copy with these names.
        """
        warnings.warn("Matching.renamed is now called with_names", FutureWarning, stacklevel=2)
        return self.with_names(x_names, y_names)

    def to_dict(self) -> dict[str, Any]:
        """Return the matching as plain numbers, strings and lists.

        Returns
        -------
        dict
            Method, dependence, indices, pairs and, where there is one, the verdict.
        """
        answer: dict[str, Any] = {
            "method": self.method,
            "dependence": self.dependence,
            "indices": self.indices.tolist(),
            "pairs": list(self._plain_rows()),
        }
        if self.report:
            answer |= {"reliable": self.reliable, "reliability": self.reliability, "report": self.report}
        if self.evidence is not None:
            answer["evidence"] = asdict(self.evidence)
        return answer

    def to_csv(self) -> str:
        """Return the pairs as csv text.

        Returns
        -------
        str
            A table with the columns x and y, and confidence where that is known.
        """
        text = io.StringIO()
        fields = ["x", "y", "confidence"] if self.confidence.size else ["x", "y"]
        writer = csv.DictWriter(text, fieldnames=fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._plain_rows())
        return text.getvalue()

    def to_frame(self) -> Any:
        """Return the pairs as a pandas DataFrame, by row name.

        Returns
        -------
        pandas.DataFrame
            A table with the columns of `to_csv`.
        """
        from pairup.extras import require

        return require("pandas", extra="parquet").DataFrame(list(self.rows()))

    def plot(self, ax: "Sequence[Axes] | None" = None) -> "MatchingDisplay":
        """Draw matched pairs, confidences, and what the candidates agree on.

        Parameters
        ----------
        ax : sequence of three matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        pairup.plots.MatchingDisplay
            The drawn display.
        """
        from pairup.plots import MatchingDisplay

        return MatchingDisplay.from_matching(self, ax=ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matching to a .npz file that opens without pickle.

        The fitted `model` is not saved. Row names that are neither numbers nor text are saved as text.

        Parameters
        ----------
        path : path
            Where to write.
        """
        from pairup.archives import MOST_PACKED, MOST_TEXT
        from pairup.files import replace_file

        header = {
            "format": FORMAT,
            "method": self.method,
            "dependence": self.dependence,
            "names": [[plain_name(name) for name in of] for of in self.names],
            "reliable": self.reliable,
            "reliability": self.reliability,
            "report": self.report,
            "alternatives": [[a.score, a.agreement] for a in self.alternatives],
            "evidence": None if self.evidence is None else asdict(self.evidence),
            "history": [[s.start, s.iteration, s.value] for s in self.history],
        }
        text = json.dumps(header)
        if len(text) > MOST_TEXT:
            raise ValueError(
                f"cannot save {path}: names, report and history have {len(text)} characters, at most {MOST_TEXT} can "
                "be read again; give shorter names by with_names"
            )
        arrays: dict[str, Any] = {
            "header": np.array(text),
            "indices": self.indices,
            "alternatives": _stack([a.indices for a in self.alternatives], len(self)),
            "history": _stack([s.indices for s in self.history], len(self)),
            "confidence": self.confidence,
            "probabilities": self.probabilities,
        }
        if self.sets is not None:
            arrays["X"], arrays["Y"] = self.sets
        with replace_file(path) as temporary, open(temporary, "wb") as file:
            if sum(np.asarray(array).nbytes for array in arrays.values()) < MOST_PACKED:
                np.savez_compressed(file, **arrays)
            else:  # `load` refuses what is packed so tightly that a small file takes all memory
                np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Matching":
        """Read a matching that `save` wrote.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Matching
            The matching, without its `model`.
        """
        from pairup.archives import check_format, expect, open_archive, parse_json

        with open_archive(path, "a saved matching", "a file of Matching.save") as archive:
            header = parse_json(archive.read_text("header"))
            expect(isinstance(header, dict), "its header should be a dictionary")
            check_format(path, header.get("format"), FORMAT)
            _check_header(header)
            n, m = (len(of) for of in header["names"])
            past, others = len(header["history"]), len(header["alternatives"])
            indices = archive.read("indices", "iu", (n,))
            history = archive.read("history", "iu", (past, n))
            alternatives = archive.read("alternatives", "iu", (others, n))
            for name, matchings in (("indices", indices), ("history", history), ("alternatives", alternatives)):
                _check_matchings(name, np.atleast_2d(matchings), m)
            confidence = archive.read_finite("confidence", *PROBABILITY, (n,), (0,))
            probabilities = archive.read_finite("probabilities", *PROBABILITY, (n, m), (0,))
            expect(("X" in archive) == ("Y" in archive), "it has only one of X and Y")
            sets = None
            if "X" in archive:
                largest = float(np.finfo(np.float64).max)
                X = archive.read_finite("X", -largest, largest, (n, None))
                sets = X, archive.read_finite("Y", -largest, largest, (m, None))
        return cls(
            indices=indices,
            method=header["method"],
            dependence=header["dependence"],
            model=None,
            history=[
                Step(start, iteration, p, value)
                for p, (start, iteration, value) in zip(history, header["history"], strict=True)
            ],
            names=(header["names"][0], header["names"][1]),
            confidence=confidence,
            probabilities=probabilities,
            reliable=header["reliable"],
            reliability=header["reliability"],
            report=header["report"],
            alternatives=[
                Alternative(p, score, agreement)
                for p, (score, agreement) in zip(alternatives, header["alternatives"], strict=True)
            ],
            evidence=Evidence(**header["evidence"]) if header.get("evidence") else None,
            sets=sets,
        )


def _check_header(header: dict[str, Any]) -> None:
    """Check every field of a saved matching but the arrays."""
    from pairup.archives import expect, is_count, is_number

    def field_is(name: str, good: bool, wanted: str) -> None:
        expect(good, f"its header should hold {name}: {wanted}")

    largest = float(np.finfo(np.float64).max)
    names, evidence = header.get("names"), header.get("evidence")
    field_is("method", isinstance(header.get("method"), str), "a text")
    field_is("dependence", is_number(header.get("dependence"), -largest, largest), "a finite number")
    field_is("reliable", header.get("reliable", 0) in (None, True, False), "true, false or null")
    reliability = header.get("reliability", "")
    field_is("reliability", reliability is None or is_number(reliability, *PROBABILITY), "a probability or null")
    field_is("report", isinstance(header.get("report"), str), "a text")
    field_is(
        "names",
        isinstance(names, list)
        and len(names) == 2
        and all(
            isinstance(of, list) and all(isinstance(name, int | float | str | None) for name in of) for of in names
        ),
        "two lists of texts and numbers",
    )
    field_is("alternatives", _are_rows(header.get("alternatives"), is_number, is_number), "two numbers each")
    field_is("history", _are_rows(header.get("history"), is_count, is_count, is_number), "three numbers each")
    if evidence is not None:
        scores = ("found", "shuffled", "unrelated")
        field_is(
            "evidence",
            isinstance(evidence, dict)
            and {*scores, "draws"} <= evidence.keys() <= {*scores, "draws", "sortable"}
            and all(is_number(evidence[name], -largest, largest) for name in scores)
            and is_count(evidence["draws"])
            and isinstance(evidence.get("sortable", False), bool),
            "the scores found, shuffled and unrelated, a number of draws, and sortable",
        )


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
    from pairup.archives import expect

    if matchings.size:
        low, high = int(matchings.min()), int(matchings.max())
        expect(-1 <= low and high < m, f"{name} should lie between -1 and {m - 1}, got {low} to {high}")
        partners = np.sort(matchings, axis=1)
        twice = (partners[:, 1:] == partners[:, :-1]) & (partners[:, 1:] >= 0)
        expect(not twice.any(), f"{name} gives a row of Y to two rows of X")
