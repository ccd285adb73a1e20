"""`Matching`, the result of every matcher, and its renderings."""

import csv
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pairup.climb import Step
from pairup.evidence import DOUBT, Evidence
from pairup.probabilities import are_equal, are_known, average_partners, is_sparse, rank_partners
from pairup.tables import plain_name
from pairup.types import Array, Indices, Probabilities
from pairup.validation import check_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pairup.plots import MatchingDisplay

SHOWN = 10  # pairs in the HTML of a matching
ASSIGN_MATRICES = 3  # dense ones of new objects that `assign` needs at once


def _empty() -> Array:
    return np.empty(0)


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
    probabilities : ndarray or scipy.sparse.csr_array of shape (n, m), default empty
        The same for all pairs; sparse where a dense matrix would not fit, a pair that is not stored having 0.
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
    nearness : float, optional
        The share of objects that are expected nearer to the true partner than the found one, ½ by chance; where the
        matching is not reliable, by ``method="auto"`` of 100 to 2,000 objects only.
    """

    indices: Indices
    method: str
    dependence: float
    model: Any
    history: list[Step]
    names: tuple[list[Any], list[Any]]
    confidence: Array = field(default_factory=_empty)
    probabilities: Probabilities = field(default_factory=_empty)
    reliable: bool | None = None
    reliability: float | None = None
    report: str = ""
    alternatives: list[Alternative] = field(default_factory=list)
    evidence: Evidence | None = None
    sets: tuple[Array, Array] | None = None
    nearness: float | None = None

    def __len__(self) -> int:
        return len(self.indices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matching):
            return NotImplemented
        if self is other:
            return True
        if (self.method, self.reliable, self.report) != (other.method, other.reliable, other.report):
            return False
        return (
            np.array_equal(self.indices, other.indices)
            and np.array_equal(self.confidence, other.confidence, equal_nan=True)
            and _equal_names(self.names, other.names)
            and are_equal(self.probabilities, other.probabilities)
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
            Rows of Y, the likeliest first; −1 where sparse probabilities know fewer.
        probabilities : ndarray of shape (n, k)
            Their probabilities.
        """
        if not are_known(self.probabilities):
            raise ValueError(
                f"candidates needs the probabilities of all pairs, and {self._by()} has none; match by method='auto'"
            )
        return rank_partners(self.probabilities, k)

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
        P = self.probabilities
        return average_partners(P, Y) if of == "x" else average_partners(P.T.tocsr() if is_sparse(P) else P.T, X)

    def translate(self, X_new: ArrayLike, *, spread: bool = True) -> Array:
        """Carry new x into the space of Y by kernel regression on the matched pairs, cross-validated.

        Where the matching is not reliable, partners are mostly means over several likely ones. Of more than 3,000 pairs
        the kernels are taken at 1,000 landmarks, with memory linear in the number of pairs.

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
        from pairup.correlated_plans import soften_partners
        from pairup.landmarks import FULL_UP_TO, SPREAD_ROWS, LandmarkRegressor
        from pairup.regression import MatchedRegressor, predict_held_out, restore_spread
        from pairup.sampling import draw_rows

        X, Y = self._tables("translate")
        new = check_set(X_new, "X_new", at_least=1)
        matched = np.flatnonzero(self.indices >= 0)
        if len(matched) > FULL_UP_TO:
            by_landmarks = LandmarkRegressor().fit(X, Y, matched, self.indices[matched])
            images = by_landmarks.predict(new)
            like = Y[draw_rows(len(Y), SPREAD_ROWS)]
            return restore_spread(images, by_landmarks.predict_held_out(), like) if spread else images
        points, partners = X[matched], Y[self.indices[matched]]
        if self.reliable is False:
            partners = soften_partners(points, partners)
        model = MatchedRegressor().fit(points, partners)
        images = model.predict(new)
        return restore_spread(images, predict_held_out(model, points, partners), Y) if spread else images

    def assign(self, X_new: ArrayLike, Y_new: ArrayLike) -> Indices:
        """Pair new objects by the density ratio r(x, y) that is fitted to the matched pairs.

        Of more than 3,000 pairs the kernels are taken at 1,000 landmarks, as by `translate`.

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
        from pairup.landmarks import FULL_UP_TO, LandmarkRatio
        from pairup.memory import check_memory

        X, Y = self._tables("assign")
        x_new, y_new = check_set(X_new, "X_new", at_least=1), check_set(Y_new, "Y_new", at_least=1)
        check_memory(len(x_new), len(y_new), ASSIGN_MATRICES)
        used = np.flatnonzero(self.indices >= 0)
        if len(used) > FULL_UP_TO:
            return assign(LandmarkRatio().fit(X, Y, used, self.indices[used]).ratios(x_new, y_new))
        X, Y = X[used], Y[self.indices[used]]
        width_x, width_y = median_width(X), median_width(Y)
        K, L = gaussian(X, width=width_x), gaussian(Y, width=width_y)
        J = held_out_scores(eigendecompose(K.copy()), eigendecompose(L.copy()), [np.arange(len(used))])[0]
        ridge = len(used) * SCORED_EPSILONS[int(J.argmin())] * np.eye(len(used))
        k, l = gaussian(x_new, X, width=width_x), gaussian(y_new, Y, width=width_y)  # noqa: E741
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
        if self.nearness is not None:
            answer["nearness"] = self.nearness
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
        from pairup.saved_matching import save_fields

        fields = {each.name: getattr(self, each.name) for each in dataclass_fields(self) if each.name != "model"}
        save_fields(path, fields | {"alternatives": [(a.indices, a.score, a.agreement) for a in self.alternatives]})

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
        from pairup.saved_matching import load_fields

        saved = load_fields(path)
        return cls(model=None, **saved | {"alternatives": [Alternative(*each) for each in saved["alternatives"]]})
