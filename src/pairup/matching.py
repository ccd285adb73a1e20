"""The public call: two sets in, a `Matching` out, by the method that is asked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from pairup.baseline import compare_steps
from pairup.climb import Step
from pairup.constraints import count_given
from pairup.evidence import Evidence
from pairup.linkage import ONLY_COMMON, TablePair, pair_tables
from pairup.matcher import Matcher
from pairup.matchers import KSHSIC, KSMI, KSNOCCO, LSOM
from pairup.methods import METHODS, check_method
from pairup.probabilities import is_sparse
from pairup.progress import describe_step, show_progress, warn_if_long
from pairup.result import Alternative, Matching, plain_names
from pairup.storage import gather
from pairup.tables import Table, as_table, is_table
from pairup.types import Array
from pairup.validation import check_jobs, check_seed, check_set, looks_like_graph

if TYPE_CHECKING:
    from pairup.auto import Answer
    from pairup.graph import GraphAnswer, GraphProblem

MATCHERS: dict[str, type[Matcher]] = {"lsom": LSOM, "ks-hsic": KSHSIC, "ks-nocco": KSNOCCO, "ks-mi": KSMI}
ALTERNATIVES = 3  # other solutions that a matching lists
SURE = 0.8  # expected share of right pairs from which common columns need not be compared directly


def match(
    X: "ArrayLike | Table",
    Y: "ArrayLike | Table",
    *,
    method: str = "auto",
    metric: str = "auto",
    kernel: str | None = None,
    anchors: Sequence[tuple[int, int]] = (),
    forbidden: Sequence[tuple[int, int]] = (),
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
    overlap: float | Literal["auto"] = 1.0,
    solver: str = "auto",
    on: str | Sequence[str] = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: int = 0,
    callback: Callable[[Step], object] | None = None,
) -> Matching:
    """Pair up two unpaired sets.

    Parameters
    ----------
    X : array_like of shape (n, d), or graph
        One object per row, in any order. A DataFrame (pandas or polars) or a `pairup.tables.Table` keeps its row names,
        and its columns may hold text, categories, dates, truth values and gaps; the report says what was done. A square
        sparse matrix (scipy.sparse) is the adjacency matrix of a graph, as is a graph of networkx, whose nodes keep
        their names. Of many objects, memory-mapped arrays and Dask arrays are never in memory whole.
    Y : array_like of shape (m, e), or graph
        The other set, in any order and with columns of its own; a graph if X is one.
    method : {"auto", "lsom", "ks-hsic", "ks-nocco", "ks-mi"}, default "auto"
        "auto" forms candidates from many metrics, kernels and starts, and chooses and combines them without labels.
        The others are the paper's, with its parameters (the estimators of the same names take others); they take
        none of the following but `n_jobs` and `random_state`.
    metric : {"auto", "euclidean", "cosine", "precomputed"}, default "auto"
        How the objects of one set are compared. "auto" tries several metrics: Euclidean, L1 on standardized columns,
        partially whitened principal components, column ranks, cosine, geodesic and, where the sets match well in none
        of these, whitened principal components. "precomputed" takes X and Y as distance matrices.
    kernel : {"precomputed"}, optional
        Takes X and Y as kernel matrices.
    anchors : sequence of (int, int), default ()
        Known pairs (i, j), in any order.
    forbidden : sequence of (int, int), default ()
        Pairs (i, j) known to be wrong, in any order: they are in no answer, and their probability is 0.
    prior : array_like or scipy.sparse array of shape (n, m), optional
        Scores, larger where x_i and y_j are likelier to belong together; pairs that a sparse array does not store are
        neutral, of score 0.
    prior_weight : float, optional
        Weight of the prior beside the data; by default two weights are tried, and the data choose.
    overlap : float or "auto", default 1.0
        Which share of the smaller set has a partner at all, in (0, 1]; "auto" estimates it.
    solver : {"auto", "dense", "multilevel"}, default "auto"
        "dense" compares all objects with all others; "multilevel" goes from clusters to samples to all objects, with
        memory linear in their number, and stores the probabilities of likely pairs only (scipy.sparse). "auto" takes
        the first up to 2,000 objects.
    on : "auto", "none" or sequence of str, default "auto"
        Columns that both tables have, by name: they are compared directly and become the prior. "auto" takes those of
        the same name and kind whose values overlap, "none" or () none.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib; results do not depend on it.
    random_state : int, default 0
        Seed of whatever is random.
    verbose : int, default 0
        1 shows the progress in the terminal or the notebook and, where it will take more than a minute, how long.
    callback : callable, optional
        Called with every `Step` of the search; what it raises ends the search.

    Returns
    -------
    Matching
        ``Y[matching.indices]`` is aligned with ``X``.

    See Also
    --------
    match_steps : The same, step by step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.gamma(2.0, size=(60, 3)) * [3, 2, 1]
    >>> m = match(X, X[::-1] @ rng.normal(size=(3, 3)))
    >>> len(m), m.method
    (60, 'auto')
    """
    X, Y = gather(X, "X"), gather(Y, "Y")
    steps = match_steps(
        X,
        Y,
        method=method,
        metric=metric,
        kernel=kernel,
        anchors=anchors,
        forbidden=forbidden,
        prior=prior,
        prior_weight=prior_weight,
        overlap=overlap,
        solver=solver,
        on=on,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    if not verbose:
        return _last(steps, callback)
    n, m = (_count_objects(Z) for Z in (X, Y))
    text = warn_if_long(n, m, method) or f"Matching {n} with {m} objects."
    with show_progress(text) as display:

        def show(step: Step) -> None:
            display.show(describe_step(step))
            if callback is not None:
                callback(step)

        return _last(steps, show)


def _count_objects(Z: Any) -> int:
    """Return how many objects a set or a graph has; 0 where it is neither, which is refused later."""
    if hasattr(Z, "shape") and len(Z.shape):
        return int(Z.shape[0])
    return len(Z) if hasattr(Z, "__len__") else 0


def _last(steps: Iterable[Step | Matching], callback: Callable[[Step], object] | None) -> Matching:
    """Return the matching at the end of the steps, each of them handed to a function."""
    matching: Matching | None = None
    for step in steps:
        if isinstance(step, Matching):
            matching = step
        elif callback is not None:
            callback(step)
    assert matching is not None
    return matching


def match_steps(
    X: "ArrayLike | Table",
    Y: "ArrayLike | Table",
    *,
    method: str = "auto",
    metric: str = "auto",
    kernel: str | None = None,
    anchors: Sequence[tuple[int, int]] = (),
    forbidden: Sequence[tuple[int, int]] = (),
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
    overlap: float | Literal["auto"] = 1.0,
    solver: str = "auto",
    on: str | Sequence[str] = "auto",
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Iterator[Step | Matching]:
    """Pair up two unpaired sets step by step; to stop iterating is to cancel.

    Parameters
    ----------
    X, Y : array_like
        The two sets, as in `match`.
    method, metric : str, default "auto"
        As in `match`.
    kernel : str, optional
        As in `match`.
    anchors, forbidden : sequence of (int, int), default ()
        As in `match`.
    prior : array_like, optional
        As in `match`.
    prior_weight : float, optional
        As in `match`.
    overlap : float or "auto", default 1.0
        As in `match`.
    solver : str, default "auto"
        As in `match`.
    on : "auto", "none" or sequence of str, default "auto"
        As in `match`.
    n_jobs : int, optional
        As in `match`.
    random_state : int, default 0
        As in `match`.

    Yields
    ------
    Step or Matching
        The steps of the search, and the matching last. The paper's methods search unrelated sets too, for comparison;
        meanwhile the steps hold the matching that was found.
    """
    check_method(method, METHODS)
    seed = check_seed(random_state)
    check_jobs(n_jobs)
    X, Y = gather(X, "X"), gather(Y, "Y")
    if looks_like_graph(X) or looks_like_graph(Y):
        from pairup.graph import is_graph

        if is_graph(X) or is_graph(Y):
            if method != "auto":
                raise ValueError(f"graphs are matched by method='auto' only, got method={method!r}; leave it out")
            from pairup.graph import GraphProblem

            graphs = GraphProblem.check(
                X,
                Y,
                metric=metric,
                kernel=kernel,
                anchors=anchors,
                forbidden=forbidden,
                prior=prior,
                prior_weight=prior_weight,
                overlap=overlap,
            )
            yield from _match_graphs(graphs, seed)
            return
    told, in_nats = "", False
    names: tuple[list[Any], list[Any]] | None = None
    if metric != "precomputed" and kernel is None and (is_table(X) or is_table(Y)):
        pair = pair_tables(
            as_table(X, "X"), as_table(Y, "Y"), on="none" if prior is not None and on == "auto" else on,
            compares=method == "auto",
        )  # fmt: skip
        if pair.common and prior is not None:
            raise ValueError("on and prior both say which pairs are likely; pass one of them")
        if pair.common and on == "auto" and prior_weight is None:
            search = partial(
                match_steps,
                as_table(X, "X"),
                as_table(Y, "Y"),
                anchors=anchors,
                forbidden=forbidden,
                overlap=overlap,
                solver=solver,
                metric=metric,
                n_jobs=n_jobs,
                random_state=random_state,
            )
            yield from _weigh_common(search, pair)
            return
        X, Y, names, told = pair.X, pair.Y, pair.names, pair.summary
        prior, in_nats = (pair.prior, True) if pair.common else (prior, False)
    elif on not in ("auto", "none") and len(on):
        raise ValueError(f"on={on!r:.80} names columns, and X and Y have none; pass DataFrames, or leave it out")
    else:
        X, Y = (Z.values if isinstance(Z, Table) else Z for Z in (X, Y))  # distances or kernels that were read
    if method == "auto":
        from pairup.auto import Answer, Problem, solve

        has_full_prior = prior is not None and not is_sparse(prior)
        problem = Problem.check(
            X,
            Y,
            dense=Problem.prefers_dense(
                *(_count_objects(Z) for Z in (X, Y)),
                metric=metric,
                kernel=kernel,
                solver="dense" if solver == "auto" and has_full_prior else solver,
            ),
            metric=metric,
            kernel=kernel,
            anchors=anchors,
            forbidden=forbidden,
            prior=prior,
            prior_weight=prior_weight,
            prior_in_nats=in_nats,
            overlap=overlap,
            n_jobs=n_jobs,
        )
        if names is None:
            names = _row_names(X, problem.constraints.n), _row_names(Y, problem.constraints.m)
        for step in solve(problem, seed=seed, n_jobs=n_jobs):
            yield _add_report(_from_answer(step, names, problem.sets), told) if isinstance(step, Answer) else step
        return
    given = {"metric": metric != "auto", "kernel": kernel is not None}
    given |= {name: count_given(pairs, name) > 0 for name, pairs in (("anchors", anchors), ("forbidden", forbidden))}
    given |= {"prior": prior is not None, "prior_weight": prior_weight is not None, "overlap": overlap != 1.0}
    given |= {"solver": solver != "auto"}
    if any(given.values()):
        extra = ", ".join(name for name, is_given in given.items() if is_given)
        raise ValueError(f"{extra} can be used with method='auto' only, got method={method!r}")
    model = MATCHERS[method](n_jobs=n_jobs)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    x, y = check_set(X, "X"), check_set(Y, "Y")
    if names is None:
        names = _row_names(X, len(x)), _row_names(Y, len(y))
    yield from model.steps(x, y)
    indices, value = model.assignment_, model.dependence_
    for compared in compare_steps(x, y, indices, model, seed=seed):
        if isinstance(compared, Step):
            yield Step(model.n_searches_ + compared.start, compared.iteration, indices, value)
        else:
            yield _add_report(_from_model(model, method, names, compared), told)


def _weigh_common(search: Callable[..., Iterator[Step | Matching]], pair: TablePair) -> Iterator[Step | Matching]:
    """Compare the common columns directly only where dependence alone does not identify the pairing.

    Columns of one name need not mean the same in both tables.
    """
    matching: Matching | None = None
    for step in search(on="none"):
        if isinstance(step, Matching):
            matching = step
        else:
            yield step
    assert matching is not None
    if matching.reliable and (matching.reliability or 0.0) >= SURE:
        yield _add_report(matching, f"In both tables: {', '.join(pair.common)}; the pairing is found without them.")
        return
    told = "\n".join(f"Not compared directly: {note}." for note in pair.notes if note != ONLY_COMMON)
    for step in search(on=list(pair.common)):
        yield _add_report(step, told) if isinstance(step, Matching) else step


def _add_report(matching: Matching, told: str) -> Matching:
    """Return a matching whose report also says what was done with the columns."""
    if not told:
        return matching
    return replace(matching, report=f"{told}\n{matching.report}" if matching.report else told)


def _match_graphs(problem: "GraphProblem", seed: int) -> Iterator[Step | Matching]:
    """Match two graphs."""
    from pairup.graph import GraphAnswer, solve

    for step in solve(problem, seed=seed):
        yield _from_graphs(step, (problem.g.names, problem.h.names)) if isinstance(step, GraphAnswer) else step


def _from_graphs(answer: "GraphAnswer", names: tuple[list[Any], list[Any]]) -> Matching:
    """Return the answer for two graphs as a `Matching`; its dependence is the number of edges kept."""
    return Matching(
        answer.indices,
        "auto",
        float(answer.kept),
        answer,
        answer.history,
        names,
        confidence=answer.confidence,
        probabilities=answer.probabilities,
        reliable=answer.reliable,
        reliability=answer.reliability,
        report=answer.report,
    )


def _from_model(model: Matcher, method: str, names: tuple[list[Any], list[Any]], evidence: Evidence) -> Matching:
    """Return what one of the paper's methods found as a `Matching`."""
    return Matching(
        model.assignment_,
        method,
        model.dependence_,
        model,
        model.history_,
        names,
        reliable=None if evidence.is_beyond_chance else False,
        report=str(evidence),
        evidence=evidence,
    )


def _row_names(Z: ArrayLike, n: int) -> list[Any]:
    index = getattr(Z, "index", None)  # a DataFrame or Series
    return list(range(n)) if index is None or callable(index) else plain_names(index)


def _from_answer(answer: "Answer", names: tuple[list[Any], list[Any]], sets: tuple[Array, Array] | None) -> Matching:
    """Return the answer of the default method as a `Matching`."""
    consensus = answer.consensus
    alternatives = []
    if consensus is not None:
        for rival, score in consensus.rivals[:ALTERNATIVES]:
            agreement = float((rival.indices == answer.indices).mean())
            alternatives.append(Alternative(rival.indices, score / consensus.scores[0], agreement))
    return Matching(
        answer.indices,
        "auto",
        0.0 if consensus is None else consensus.candidates[0].value,
        consensus,
        answer.history,
        names,
        confidence=answer.confidence,
        probabilities=answer.probabilities,
        reliable=answer.reliable,
        reliability=answer.reliability,
        report=answer.report,
        nearness=None if consensus is None or answer.reliable else consensus.nearness,
        alternatives=alternatives,
        sets=sets,
    )
