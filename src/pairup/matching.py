"""The front door: two sets in, a `Matching` out."""

import csv
import io
import json
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pairup.climb import Step
from pairup.matchers import KSHSIC, KSMI, KSNOCCO, LSOM, Matcher
from pairup.types import Array, Indices
from pairup.validation import check_set

if TYPE_CHECKING:
    from pairup.auto import Answer
    from pairup.problem import Problem

MATCHERS: dict[str, type[Matcher]] = {"lsom": LSOM, "ks-hsic": KSHSIC, "ks-nocco": KSNOCCO, "ks-mi": KSMI}
METHODS = ("auto", *MATCHERS)
FORMAT = 1  # of saved files


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True)
class Alternative:
    """Another solution that the data nearly allow, such as a mirror image.

    Parameters
    ----------
    indices : its matching.
    score : its score in units of the best one's.
    agreement : the share of objects whose partner is the same in both.
    """

    indices: Indices
    score: float
    agreement: float


@dataclass(frozen=True)
class Matching:
    """The result of every matcher.

    `indices` pairs the sets: ``Y[indices]`` is aligned with ``X``, −1 where an x has no partner. `dependence` is the
    measure of `method` at that matching, `model` the fitted estimator (of the paper's methods) or what the
    candidates said (``method="auto"``), `history` the steps of the search that won, and `names` are the row names
    of X and Y where they had any.

    With ``method="auto"`` there are, besides: `confidence`, the probability of each pair, and `probabilities`, of all
    pairs; `reliable` and `reliability`, the expected share of right pairs; `report`, which says why; and
    `alternatives`. The paper's methods leave them empty.
    """

    indices: Indices
    method: str
    dependence: float
    model: Any = field(repr=False)
    history: list[Step] = field(repr=False)
    names: tuple[list[Any], list[Any]] = field(repr=False)
    confidence: Array = field(repr=False, default_factory=_nothing)
    probabilities: Array = field(repr=False, default_factory=_nothing)
    reliable: bool | None = None
    reliability: float | None = None
    report: str = field(repr=False, default="")
    alternatives: list[Alternative] = field(repr=False, default_factory=list)
    sets: tuple[Array, Array] | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return len(self.indices)

    def candidates(self, k: int = 5) -> tuple[Indices, Array]:
        """Return the k likeliest partners of each x, the likeliest first, and their probabilities."""
        likely = self.probabilities
        self._check(likely.size, "candidates")
        order = np.argsort(-likely, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(likely, order, axis=1)

    def suggest(self, k: int = 5) -> list[tuple[int, int]]:
        """Return k pairs (i, j) whose confirmation would help most: those that tell most about the objects in doubt."""
        from pairup.suggestion import telling

        X, _ = self._tables("suggest")
        return [(i, int(self.indices[i])) for i in telling(X, self.indices, self.confidence, k)]

    def translate(self, X_new: ArrayLike) -> Array:
        """Carry new x into the space of Y by kernel regression on the matched pairs, cross-validated."""
        from pairup.regression import MatchedRegressor

        X, Y = self._tables("translate")
        matched = np.flatnonzero(self.indices >= 0)
        model = MatchedRegressor().fit(X[matched], Y[self.indices[matched]])
        images: Array = model.predict(check_set(X_new, "X_new", at_least=1))
        return images

    def assign(self, X_new: ArrayLike, Y_new: ArrayLike) -> Indices:
        """Pair new objects by the density ratio r(x, y) that the matched pairs have taught."""
        from pairup.assignment import assign
        from pairup.density_ratio import EPSILONS, held_out, spectrum
        from pairup.kernels import gaussian, median_width

        X, Y = self._tables("assign")
        used = np.flatnonzero(self.indices >= 0)
        X, Y = X[used], Y[self.indices[used]]
        width_x, width_y = median_width(X), median_width(Y)
        K, L = gaussian(X, width=width_x), gaussian(Y, width=width_y)
        J = held_out(spectrum(K.copy()), spectrum(L.copy()), [np.arange(len(used))])[0]
        ridge = len(used) * EPSILONS[int(J.argmin())] * np.eye(len(used))
        k = gaussian(check_set(X_new, "X_new", at_least=1), X, width=width_x)
        l = gaussian(check_set(Y_new, "Y_new", at_least=1), Y, width=width_y)  # noqa: E741
        return assign(np.linalg.solve(K + ridge, k.T).T @ np.linalg.solve(L + ridge, l.T))

    def _tables(self, verb: str) -> tuple[Array, Array]:
        self._check(self.sets is not None, verb)
        assert self.sets is not None
        return self.sets

    def _check(self, there: Any, verb: str) -> None:
        if not there:
            raise ValueError(f"{verb} needs a matching of two tables by method='auto', this one is by {self.method!r}")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one pair after another as {"x": name, "y": name or None}, with its confidence where that is known."""
        x_names, y_names = self.names
        for i, j in enumerate(self.indices):
            row = {"x": x_names[i], "y": y_names[j] if j >= 0 else None}
            if self.confidence.size:
                row["confidence"] = round(float(self.confidence[i]), 4)
            yield row

    def renamed(self, x_names: Sequence[Any], y_names: Sequence[Any]) -> "Matching":
        """Return the same matching with other names for the rows."""
        return replace(self, names=(list(x_names), list(y_names)))

    def to_dict(self) -> dict[str, Any]:
        """Return the matching as plain numbers, strings and lists."""
        answer: dict[str, Any] = {
            "method": self.method,
            "dependence": self.dependence,
            "indices": self.indices.tolist(),
            "pairs": list(self.rows()),
        }
        if self.reliable is not None:
            answer |= {"reliable": self.reliable, "reliability": self.reliability, "report": self.report}
        return answer

    def to_csv(self) -> str:
        """Return the pairs as csv text with the columns x and y, and confidence where that is known."""
        text = io.StringIO()
        fields = ["x", "y", "confidence"] if self.confidence.size else ["x", "y"]
        writer = csv.DictWriter(text, fieldnames=fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()

    def to_frame(self) -> Any:
        """Return the pairs as a pandas DataFrame with the columns of `to_csv`, by row name."""
        from pairup.extras import require

        return require("pandas", extra="parquet").DataFrame(list(self.rows()))

    def plot(self, ax: Any = None) -> Any:
        """Draw matched pairs, confidences and what the candidates agree on; see `pairup.plots.MatchingDisplay`."""
        from pairup.plots import MatchingDisplay

        return MatchingDisplay.from_matching(self, ax=ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matching to a .npz file that opens without pickle; the fitted `model` is not kept."""
        from pairup.files import replacing

        header = {
            "format": FORMAT,
            "method": self.method,
            "dependence": self.dependence,
            "names": [[name if isinstance(name, int | float | str) else str(name) for name in of] for of in self.names],
            "reliable": self.reliable,
            "reliability": self.reliability,
            "report": self.report,
            "alternatives": [[a.score, a.agreement] for a in self.alternatives],
            "history": [[s.start, s.iteration, s.value] for s in self.history],
        }
        shape = (-1, len(self.indices))
        arrays: dict[str, Any] = {
            "header": np.array(json.dumps(header)),
            "indices": self.indices,
            "alternatives": np.reshape([a.indices for a in self.alternatives], shape).astype(np.intp),
            "history": np.reshape([s.indices for s in self.history], shape).astype(np.intp),
            "confidence": self.confidence,
            "probabilities": self.probabilities,
        }
        if self.sets is not None:
            arrays["X"], arrays["Y"] = self.sets
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Matching":
        """Read a matching that `save` wrote."""
        from zipfile import BadZipFile

        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(str(arrays["header"]))
            newer = header["format"] > FORMAT
        except FileNotFoundError:
            raise
        except (BadZipFile, EOFError, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a saved matching ({error}); expected a file of Matching.save") from error
        if newer:
            raise ValueError(
                f"{path} has format {header['format']}, and this pairup reads formats up to {FORMAT}; "
                "upgrade it: pip install --upgrade pairup"
            )
        return cls(
            indices=arrays["indices"],
            method=header["method"],
            dependence=header["dependence"],
            model=None,
            history=[
                Step(start, iteration, p, value)
                for p, (start, iteration, value) in zip(arrays["history"], header["history"], strict=True)
            ],
            names=(header["names"][0], header["names"][1]),
            confidence=arrays["confidence"],
            probabilities=arrays["probabilities"],
            reliable=header["reliable"],
            reliability=header["reliability"],
            report=header["report"],
            alternatives=[
                Alternative(p, score, agreement)
                for p, (score, agreement) in zip(arrays["alternatives"], header["alternatives"], strict=True)
            ],
            sets=(arrays["X"], arrays["Y"]) if "X" in arrays else None,
        )


def _row_names(Z: ArrayLike) -> list[Any]:
    index = getattr(Z, "index", None)  # a DataFrame or Series
    if index is None or callable(index):
        return list(range(len(np.asarray(Z))))
    return list(index)


def match(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    method: str = "auto",
    metric: str = "auto",
    kernel: str | None = None,
    anchors: Sequence[tuple[int, int]] = (),
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
    overlap: float | Literal["auto"] = 1.0,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Matching:
    """Pair up two unpaired sets.

    Parameters
    ----------
    X, Y : one object per row, in any order and of any number of columns each; DataFrames keep their row names.
    method : "auto" forms candidates from many kernels, scalings and starts, and chooses and combines them without
        labels; "lsom", "ks-hsic", "ks-nocco" or "ks-mi" are the paper's, with its parameters (the estimators of
        the same names take others), and take none of the following but `n_jobs` and `random_state`.
    metric : "auto" looks at tables in several ways (as they are, columns scaled or ranked, components evened, by angle,
        along the shape of the data, and where none of these matches well by whitened principal components);
        "euclidean" or "cosine" in one; "precomputed" takes X and Y as distance matrices.
    kernel : "precomputed" takes X and Y as kernel matrices.
    anchors : known pairs (i, j), in any order.
    prior : an n × m table of scores, larger where x_i and y_j are likelier to belong together.
    prior_weight : of the prior beside the data; by default two weights are tried, and the data choose.
    overlap : which share of the smaller set has a partner at all, in (0, 1], or "auto" to estimate it.
    n_jobs : how much runs at the same time, as in joblib; results do not depend on it.
    random_state : seed of whatever is random.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.gamma(2.0, size=(60, 3)) * [3, 2, 1]
    >>> m = match(X, X[::-1] @ rng.normal(size=(3, 3)))
    >>> len(m), m.method
    (60, 'auto')
    """
    matching: Matching | None = None
    for step in match_steps(
        X,
        Y,
        method=method,
        metric=metric,
        kernel=kernel,
        anchors=anchors,
        prior=prior,
        prior_weight=prior_weight,
        overlap=overlap,
        n_jobs=n_jobs,
        random_state=random_state,
    ):
        if isinstance(step, Matching):
            matching = step
    assert matching is not None
    return matching


def match_steps(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    method: str = "auto",
    metric: str = "auto",
    kernel: str | None = None,
    anchors: Sequence[tuple[int, int]] = (),
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
    overlap: float | Literal["auto"] = 1.0,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Iterator[Step | Matching]:
    """Yield the steps of `match`, and the `Matching` last."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    names = (_row_names(X), _row_names(Y))
    if method == "auto":
        from pairup.problem import Problem

        problem = Problem.checked(
            X, Y, metric=metric, kernel=kernel, anchors=anchors, prior=prior, prior_weight=prior_weight, overlap=overlap
        )
        yield from _auto(problem, names, n_jobs, random_state)
        return
    given = {"metric": metric != "auto", "kernel": kernel is not None, "anchors": len(anchors) > 0}
    given |= {"prior": prior is not None, "prior_weight": prior_weight is not None, "overlap": overlap != 1.0}
    if any(given.values()):
        extra = ", ".join(name for name, is_given in given.items() if is_given)
        raise ValueError(f"{extra} can be used with method='auto' only, got method={method!r}")
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
        names=names,
    )


def _drain(steps: "Iterator[Step | Answer]") -> "Generator[Step, None, Answer]":
    """Pass the steps on, and return the answer that comes last."""
    for step in steps:
        if not isinstance(step, Step):
            return step
        yield step
    raise AssertionError("a search ends with its answer")


def _auto(
    problem: "Problem", names: tuple[list[Any], list[Any]], n_jobs: int | None, seed: int
) -> Iterator[Step | Matching]:
    from pairup.auto import estimate_pairs, solve

    undecided = problem.undecided()
    if undecided:
        indices = problem.terms.round(problem.terms.uniform() if problem.terms.prior is None else problem.terms.prior)
        likely = problem.terms.uniform().astype(np.float64)
        yield Matching(
            indices,
            "auto",
            0.0,
            None,
            [],
            names,
            confidence=np.where(indices >= 0, likely[np.arange(len(indices)), indices], 0.0),
            probabilities=likely,
            reliable=False,
            reliability=1.0 / max(problem.terms.n, problem.terms.m),
            report=f"Do not rely on this matching: {undecided}.",
            sets=problem.sets,
        )
        return
    answer = yield from _drain(solve(problem, seed=seed, n_jobs=n_jobs))
    if problem.estimates_overlap:
        pairs = max(estimate_pairs(answer), len(problem.terms.anchors[0]))
        problem = replace(problem, terms=replace(problem.terms, pairs=pairs))
        answer = yield from _drain(solve(problem, ways=answer.views, seed=seed, n_jobs=n_jobs))
    decided = answer.consensus
    yield Matching(
        answer.indices,
        "auto",
        decided.candidates[0].value,
        decided,
        answer.history,
        names,
        confidence=answer.confidence,
        probabilities=answer.probabilities,
        reliable=answer.reliability.reliable,
        reliability=answer.reliability.score,
        report=answer.reliability.report,
        alternatives=[
            Alternative(c.indices, score / decided.scores[0], float((c.indices == answer.indices).mean()))
            for c, score in decided.rivals[:3]
        ],
        sets=problem.sets,
    )
