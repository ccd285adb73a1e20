"""Results of a match as the page lists them: filtered, in order, page by page."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pairup.studio.models import Record

Show = Literal["all", "uncertain", "changed", "confirmed", "rejected", "alone"]
Order = Literal["uncertain", "sure", "row", "name"]
Download = Literal[
    "pairs.csv",
    "pairs.json",
    "pairs.parquet",
    "pairs.xlsx",
    "pairs-with-rows.csv",
    "anchors.csv",
    "forbidden.csv",
    "matching.npz",
]
UNCERTAIN = 0.8  # pairs of a smaller probability are worth a look


class Candidate(Record):
    """A row of Y that may belong to a row of X."""

    row: int
    name: str
    probability: float
    cells: list[str]
    judged: Literal["confirmed", "rejected", "open"]


class PairRow(Record):
    """A row of X and its partner."""

    row: int
    name: str
    cells: list[str]
    partner: Candidate | None
    confidence: float | None
    before: str | None
    chosen: Candidate | None
    candidates: list[Candidate]


class PairPage(Record):
    """Some of the pairs, and how many there are."""

    total: int
    counts: dict[str, int]
    columns: tuple[list[str], list[str]]
    rows: list[PairRow]


@dataclass(frozen=True)
class Choice:
    """Which pairs are listed, and in which order.

    Parameters
    ----------
    show : str, default "all"
        Which.
    order : str, default "uncertain"
        The least probable first, the most probable first, as in the file, or by name.
    search : str, default ""
        Words that the names of a pair hold.
    only : int, optional
        One row of X.
    offset : int, default 0
        Pairs before the page.
    limit : int, default 50
        Pairs of a page.
    """

    show: Show = "all"
    order: Order = "uncertain"
    search: str = ""
    only: int | None = None
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True)
class Judgements:
    """Pairs that a person confirmed or rejected.

    Parameters
    ----------
    anchors, forbidden : list of (int, int), default empty
        The pairs.
    """

    anchors: list[tuple[int, int]] = field(default_factory=list)
    forbidden: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Result:
    """A result as a worker wrote it for the page.

    Parameters
    ----------
    names : list of two lists of str
        Names of the rows of X and of Y.
    partners : list of int
        Row of Y of each row of X, −1 for none.
    confidence : list of float or None
        Probability of each pair.
    candidates : list of lists of (int, float) or None
        The likeliest partners of each row of X.
    columns : list of two lists of str
        Columns whose cells are shown.
    cells : list of two lists of lists of str
        Their cells, row by row.
    before : list of int or None
        The partners of the answer before.
    """

    names: list[list[str]]
    partners: list[int]
    confidence: list[float] | None
    candidates: list[list[tuple[int, float]]] | None
    columns: list[list[str]]
    cells: list[list[list[str]]]
    before: list[int] | None
    _folded: list[str] = field(default_factory=list, init=False)

    def page(self, choice: Choice, judged: Judgements) -> PairPage:
        """Return some of the pairs.

        Parameters
        ----------
        choice : Choice
            Which.
        judged : Judgements
            What was confirmed and rejected since.

        Returns
        -------
        PairPage
            The page.
        """
        sets = self._sets(judged)
        rows = sets[choice.show]
        if choice.only is not None:
            rows = [i for i in rows if i == choice.only]
        if words := choice.search.casefold().split():
            folded = self._fold()
            rows = [i for i in rows if all(word in folded[i] for word in words)]
        rows = self._sort(rows, choice.order)
        known, wrong = dict(judged.anchors), set(judged.forbidden)
        shown = [self._row(i, known, wrong) for i in rows[choice.offset : choice.offset + choice.limit]]
        counts = {name: len(found) for name, found in sets.items()}
        return PairPage(total=len(rows), counts=counts, columns=(self.columns[0], self.columns[1]), rows=shown)

    def _sets(self, judged: Judgements) -> dict[str, list[int]]:
        """Return the rows that each filter shows."""
        n = len(self.partners)
        known = {i for i, _ in judged.anchors}
        wrong = {i for i, _ in judged.forbidden}
        sure = self.confidence
        return {
            "all": list(range(n)),
            "uncertain": [] if sure is None else [i for i in range(n) if sure[i] < UNCERTAIN and i not in known],
            "changed": [] if self.before is None else [i for i in range(n) if self.partners[i] != self.before[i]],
            "confirmed": [i for i in range(n) if i in known],
            "rejected": [i for i in range(n) if i in wrong],
            "alone": [i for i in range(n) if self.partners[i] < 0],
        }

    def _fold(self) -> list[str]:
        """Return both names of each pair as the search compares them."""
        if not self._folded:
            x, y = self.names
            both = (f"{x[i]} {y[j] if j >= 0 else ''}".casefold() for i, j in enumerate(self.partners))
            self._folded.extend(both)
        return self._folded

    def _sort(self, rows: list[int], order: Order) -> list[int]:
        """Return rows in the order that was asked for."""
        sure = self.confidence
        if order == "name":
            return sorted(rows, key=lambda i: self.names[0][i].casefold())
        if order == "row" or sure is None:
            return rows
        return sorted(rows, key=lambda i: sure[i], reverse=order == "sure")

    def _row(self, i: int, known: dict[int, int], wrong: set[tuple[int, int]]) -> PairRow:
        """Return one row of the list."""
        likely = dict(self.candidates[i]) if self.candidates is not None else {}

        def tell(j: int, probability: float | None = None) -> Candidate:
            judged: Any = "confirmed" if known.get(i) == j else "rejected" if (i, j) in wrong else "open"
            share = likely.get(j, 0.0) if probability is None else probability
            cells = self.cells[1][j] if self.cells[1] else []
            return Candidate(row=j, name=self.names[1][j], probability=share, cells=cells, judged=judged)

        j = self.partners[i]
        sure = None if self.confidence is None else self.confidence[i]
        chosen = known.get(i)
        before = None
        if self.before is not None and self.before[i] != j:
            before = self.names[1][self.before[i]] if self.before[i] >= 0 else ""
        return PairRow(
            row=i,
            name=self.names[0][i],
            cells=self.cells[0][i] if self.cells[0] else [],
            partner=tell(j, sure) if j >= 0 else None,
            confidence=sure,
            before=before,
            chosen=tell(chosen) if chosen is not None and chosen != j and chosen < len(self.names[1]) else None,
            candidates=[tell(k, p) for k, p in likely.items()],
        )


@lru_cache(maxsize=4)
def read_result(path: Path) -> Result:
    """Read a result that a worker wrote; it never changes afterwards.

    Parameters
    ----------
    path : Path
        Its file.

    Returns
    -------
    Result
        The result.
    """
    return Result(**json.loads(path.read_text(encoding="utf-8")))
