"""The front door: two sets in, a `Matching` out."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup.matchers import KSHSIC, KSMI, KSNOCCO, LSOM, Matcher
from pairup.measures import Indices
from pairup.solvers import Step

MATCHERS: dict[str, type[Matcher]] = {"lsom": LSOM, "ks-hsic": KSHSIC, "ks-nocco": KSNOCCO, "ks-mi": KSMI}


@dataclass(frozen=True)
class Matching:
    """The result of every matcher.

    `indices` pairs the sets: ``Y[indices]`` is aligned with ``X``. `dependence` is the measure of `method` at that
    matching, `model` the fitted estimator, `history` the steps of the search that won, and `names` are the row
    names of X and Y where they had any.
    """

    indices: Indices
    method: str
    dependence: float
    model: Any = field(repr=False)
    history: list[Step] = field(repr=False)
    names: tuple[list[Any], list[Any]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one pair after another as {"x": name, "y": name}."""
        x_names, y_names = self.names
        for i, j in enumerate(self.indices):
            yield {"x": x_names[i], "y": y_names[j]}

    def renamed(self, x_names: Sequence[Any], y_names: Sequence[Any]) -> "Matching":
        """Return the same matching with other names for the rows."""
        return replace(self, names=(list(x_names), list(y_names)))

    def to_dict(self) -> dict[str, Any]:
        """Return the matching as plain numbers, strings and lists."""
        return {
            "method": self.method,
            "dependence": self.dependence,
            "indices": self.indices.tolist(),
            "pairs": list(self.rows()),
        }

    def to_csv(self) -> str:
        """Return the pairs as csv text with the columns x and y."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=["x", "y"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()

    def to_frame(self) -> Any:
        """Return the pairs as a pandas DataFrame with the columns x and y, by row name."""
        from pairup.extras import require

        return require("pandas", extra="parquet").DataFrame(list(self.rows()))


def _row_names(Z: ArrayLike) -> list[Any]:
    index = getattr(Z, "index", None)  # a DataFrame or Series
    if index is None or callable(index):
        return list(range(len(np.asarray(Z))))
    return list(index)


def match(
    X: ArrayLike, Y: ArrayLike, *, method: str = "lsom", n_jobs: int | None = None, random_state: int = 0
) -> Matching:
    """Pair up two unpaired sets.

    Parameters
    ----------
    X, Y : one object per row, in any order and of any number of columns each; DataFrames keep their row names.
    method : "lsom", "ks-hsic", "ks-nocco" or "ks-mi", with the paper's parameters; the estimators of the same
        names take others.
    n_jobs : how much runs at the same time, as in joblib; results do not depend on it.
    random_state : seed of whatever is random.

    >>> x = np.array([[0.0], [1.0], [3.0], [7.0], [8.5]])
    >>> m = match(x, np.exp(-x[::-1]))
    >>> len(m), m.method
    (5, 'lsom')
    """
    matching: Matching | None = None
    for step in match_steps(X, Y, method=method, n_jobs=n_jobs, random_state=random_state):
        if isinstance(step, Matching):
            matching = step
    assert matching is not None
    return matching


def match_steps(
    X: ArrayLike, Y: ArrayLike, *, method: str = "lsom", n_jobs: int | None = None, random_state: int = 0
) -> Iterator[Step | Matching]:
    """Yield the steps of `match`, and the `Matching` last."""
    if method not in MATCHERS:
        raise ValueError(f"method must be one of {', '.join(MATCHERS)}, got {method!r}")
    model = MATCHERS[method](n_jobs=n_jobs)
    if "random_state" in model.get_params():
        model.set_params(random_state=random_state)
    yield from model.steps(X, Y)
    yield Matching(
        indices=model.assignment_,
        method=method,
        dependence=model.dependence_,
        model=model,
        history=model.history_,
        names=(_row_names(X), _row_names(Y)),
    )
