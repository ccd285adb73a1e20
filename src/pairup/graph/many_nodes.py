"""Two graphs of many nodes: candidates grow, with an unrelated graph too, and the answer follows from both.

Nothing is a matrix of all pairs: memory is linear in the numbers of nodes and edges.
"""

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.graph.answer import GraphAnswer, assess, describe_kept
from pairup.graph.candidates import Candidates, Limits, limit
from pairup.graph.growth import Hints, grow, weigh_evidence
from pairup.graph.links import list_links
from pairup.graph.problem import GraphProblem, scale_weights
from pairup.graph.rewiring import rewire_sparsely
from pairup.graph.schedule import MANY, MANY_CALIBRATION
from pairup.sparse_assignment import assign_sparse
from pairup.types import Array, Indices, SparseArray

NOBODY: Indices = np.empty(0, dtype=np.intp)


def solve_many(problem: GraphProblem, *, seed: int = 0) -> Iterator[Step | GraphAnswer]:
    """Match two graphs of many nodes.

    Parameters
    ----------
    problem : GraphProblem
        The graphs, and what the matching keeps to.
    seed : int, default 0
        Draws the unrelated graph.

    Yields
    ------
    Step or GraphAnswer
        A step for each renewal of the candidates, also with the unrelated graph, and the answer last.
    """
    c = problem.constraints
    limits = limit(c.n, c.m, c.anchors, c.forbidden)
    if reason := problem.explain_undecidable():
        yield conclude_undecided(problem, limits, reason)
        return
    A, B = (scale_weights(graph.pad(len(graph))) for graph in (problem.g, problem.h))
    directed = problem.g.is_directed or problem.h.is_directed
    weighted = problem.g.is_weighted or problem.h.is_weighted
    hints = list_hints(problem)
    left_out = 1.0 - c.n_pairs / c.smallest
    history: list[Step] = []
    a = list_links(A, directed=directed, weighted=weighted)
    b = list_links(B, directed=directed, weighted=weighted)
    evidence = weigh_evidence(a, b, MANY.shared, weighted=weighted)
    found = yield from grow(a, b, evidence, limits, hints, left_out, history)
    # With the unrelated graph nothing is known of the pairs: what is said of them is about the other graph.
    other = rewire_sparsely(B, directed=directed, seed=seed + 1)
    b = list_links(other, directed=directed, weighted=weighted)
    nobody = limit(c.n, c.m, (NOBODY, NOBODY), (NOBODY, NOBODY))
    evidence = weigh_evidence(a, b, MANY.shared, weighted=weighted)
    steps = grow(a, b, evidence, nobody, Hints(NOBODY, NOBODY, np.empty(0)), left_out, [], len(history))
    null = yield from show_instead(history[-1], steps)
    unrelated = weigh_kept(A, other, assign_candidates(null, c.m), directed=directed)
    yield conclude_many(problem, A, B, found, limits, unrelated, history, directed=directed, weighted=weighted)


def show_instead(shown: Step, steps: Generator[Step, None, Candidates]) -> Generator[Step, None, Candidates]:
    """Yield one and the same matching in place of others, and return what these lead to.

    Parameters
    ----------
    shown : Step
        The step that is shown.
    steps : generator of Step
        A search with an unrelated graph, whose matchings say nothing of these graphs.

    Returns
    -------
    Candidates
        What the search ends with.

    Yields
    ------
    Step
        One for each of the search.
    """
    while True:
        try:
            step = next(steps)
        except StopIteration as last:
            found: Candidates = last.value
            return found
        yield Step(1, step.iteration, shown.indices, shown.value)


def assign_candidates(found: Candidates, m: int) -> Indices:
    """Return the matching with most pairs expected right.

    Parameters
    ----------
    found : Candidates
        Possible partners and their probabilities.
    m : int
        How many nodes the second graph has.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching, −1 for none.
    """
    clear = (found.partners >= 0) & (found.likely >= MANY.stored)
    profit = np.where(clear, found.likely, 0.0).astype(np.float32)
    return assign_sparse(np.where(clear, found.partners, -1).astype(np.int32), profit, m)


def list_hints(problem: GraphProblem) -> Hints:
    """Return what a prior says of pairs, in edges.

    Parameters
    ----------
    problem : GraphProblem
        The graphs, with or without a prior.

    Returns
    -------
    Hints
        The pairs it names.
    """
    prior = problem.constraints.sparse_prior
    if prior is None:
        return Hints(NOBODY, NOBODY, np.empty(0))
    entries = prior.tocoo()
    rows, columns = (np.asarray(each, dtype=np.intp) for each in entries.coords)
    return Hints(rows, columns, problem.prior_weight * entries.data.astype(np.float64))


def weigh_kept(A: Any, B: Any, p: Indices, *, directed: bool) -> float:
    """Return the weight of the edges that both graphs have, an undirected one counted once.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (n, n) and (m, m)
        The graphs.
    p : ndarray of int, shape (n,)
        The matching, −1 for none.
    directed : bool
        Whether edges have directions.

    Returns
    -------
    float
        The weight.

    Examples
    --------
    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> weigh_kept(path, path, np.array([2, 1, -1]), directed=False)
    1.0
    """
    rows = np.flatnonzero(p >= 0)
    both = A[rows][:, rows].multiply(B[p[rows]][:, p[rows]])
    total = float(both.sum())
    return total if directed else 0.5 * (total + float(both.diagonal().sum()))


def complete(indices: Indices, n_pairs: int, limits: Limits, degrees: tuple[Indices, Indices]) -> Indices:
    """Return a matching with more pairs: nodes that are left over are paired by their degrees.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching, −1 for none.
    n_pairs : int
        How many pairs there are to be.
    limits : Limits
        What the matching keeps to.
    degrees : tuple of two ndarray of int
        Degrees of all nodes.

    Returns
    -------
    ndarray of int, shape (n,)
        The larger matching.

    Examples
    --------
    >>> free = limit(3, 3, (NOBODY, NOBODY), (NOBODY, NOBODY))
    >>> complete(np.array([-1, 1, -1]), 3, free, (np.array([1, 2, 5]), np.array([4, 2, 1]))).tolist()
    [2, 1, 0]
    """
    indices, m = indices.copy(), len(limits.taken)
    missing = n_pairs - int((indices >= 0).sum())
    rows = np.flatnonzero(indices < 0)
    columns = np.setdiff1d(np.arange(m), indices)
    rows = rows[np.argsort(-degrees[0][rows], kind="stable")]
    columns = columns[np.argsort(-degrees[1][columns], kind="stable")]
    if missing <= 0:
        return indices
    starts, forbidden = limits.forbidden_starts, limits.forbidden
    strict = rows[np.diff(starts)[rows] > 0]  # first those that may not take any
    rows = np.concatenate(
        [strict[np.argsort(-np.diff(starts)[strict], kind="stable")], np.setdiff1d(rows, strict, True)]
    )
    taken = np.zeros(m, dtype=bool)
    for i in rows[: len(strict)]:
        own = columns[~np.isin(columns, forbidden[starts[i] : starts[i + 1]]) & ~taken[columns]]
        if len(own) and missing:
            indices[i], taken[own[0]], missing = own[0], True, missing - 1
    rows, columns = rows[len(strict) :], columns[~taken[columns]]
    rows = rows[np.argsort(-degrees[0][rows], kind="stable")]
    pairs = min(missing, len(rows), len(columns))
    indices[rows[:pairs]] = columns[:pairs]
    return indices


def conclude_undecided(problem: GraphProblem, limits: Limits, reason: str) -> GraphAnswer:
    """Return the answer for graphs about which nothing can be told: any matching, or the one that a prior prefers.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    limits : Limits
        What the matching keeps to.
    reason : str
        Why nothing can be told.

    Returns
    -------
    GraphAnswer
        A matching that is not reliable.
    """
    c = problem.constraints
    hints = list_hints(problem)
    indices = limits.known.astype(np.intp)
    taken = limits.taken.copy()
    for t in np.argsort(-hints.edges, kind="stable"):
        i, j = hints.rows[t], hints.columns[t]
        banned = limits.forbidden[limits.forbidden_starts[i] : limits.forbidden_starts[i + 1]]
        if hints.edges[t] > 0 and indices[i] < 0 and not taken[j] and j not in banned:
            indices[i], taken[j] = j, True
    nothing = np.zeros(c.n, dtype=np.intp), np.zeros(c.m, dtype=np.intp)
    indices = complete(indices, c.n_pairs, limits, nothing)
    surplus = np.flatnonzero((indices >= 0) & (limits.known < 0))[::-1][: max(int((indices >= 0).sum()) - c.n_pairs, 0)]
    indices[surplus] = -1
    confidence: Array = np.where(indices >= 0, 1.0 / c.largest, 0.0)
    confidence[limits.known >= 0] = 1.0
    likely = store(indices, confidence, c)
    report = f"{DOUBT}{reason}."
    return GraphAnswer(indices, confidence, likely, False, 1.0 / c.largest, report, 0, 0, 0.0, confidence, [])


def store(indices: Indices, confidence: Array, c: Constraints) -> SparseArray:
    """Return a matching as sparse probabilities.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching, −1 for none.
    confidence : ndarray of shape (n,)
        How likely its pairs are.
    c : Constraints
        The sizes.

    Returns
    -------
    csr_array of shape (n, m)
        The probabilities.
    """
    rows = np.flatnonzero(indices >= 0)
    stored: SparseArray = sparse.csr_array((confidence[rows], (rows, indices[rows])), shape=(c.n, c.m))
    return stored


def conclude_many(
    problem: GraphProblem, A: Any, B: Any, found: Candidates, limits: Limits, unrelated: float, history: list[Step],
    *, directed: bool, weighted: bool,
) -> GraphAnswer:  # fmt: skip
    """Return the matching with most pairs expected right, and how likely it is.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    A, B : scipy.sparse.csr_array of shape (n, n) and (m, m)
        The same, with weights about 1.
    found : Candidates
        Possible partners and their probabilities.
    limits : Limits
        What the matching keeps to.
    unrelated : float
        Weight of the edges kept with an unrelated graph.
    history : list of Step
        The steps of the search.
    directed, weighted : bool
        Whether edges differ in direction, and in weight.

    Returns
    -------
    GraphAnswer
        The matching, its probabilities and the verdict.
    """
    c = problem.constraints
    chosen = assign_candidates(found, c.m)
    kept = weigh_kept(A, B, chosen, directed=directed)
    most = min(weigh_kept(Z, Z, np.arange(Z.shape[0]), directed=directed) for Z in (A, B))
    excess = (kept - unrelated) / max(most - unrelated, 1.0)
    calibration = MANY_CALIBRATION
    sure = np.where(found.partners[:, 0] >= 0, found.likely[:, 0], 0.0)
    mean = float(sure.sum()) / min(c.n, c.n_pairs)
    trust = float(expit(calibration.intercept + calibration.excess * excess + calibration.sampled * mean))
    trust *= min(max(excess / calibration.excess_from, 1e-3), 1.0)
    clear = (found.partners >= 0) & (found.likely >= MANY.stored)
    rows, places = np.nonzero(clear)
    columns = found.partners[rows, places]
    likely: SparseArray = sparse.csr_array(
        (trust * found.likely[rows, places] + (1.0 - trust) / c.largest, (rows, columns)), shape=(c.n, c.m)
    )
    n_pairs = c.n_pairs
    if problem.estimates_overlap:
        n_pairs = min(max(round(float(likely.sum())), len(c.anchors[0]), 1), c.n_pairs)
    chosen[limits.known >= 0] = limits.known[limits.known >= 0]
    degrees = tuple(np.diff(Z.indptr) + np.bincount(Z.indices, minlength=Z.shape[0]) for Z in (A, B))
    chosen = complete(chosen, n_pairs, limits, (degrees[0], degrees[1]))
    matched = np.flatnonzero(chosen >= 0)
    own = np.zeros(c.n)
    own[matched] = np.asarray(likely[matched, chosen[matched]]).ravel()
    confidence: Array = np.where(chosen >= 0, np.maximum(own, (1.0 - trust) / c.largest), 0.0)
    confidence[limits.known >= 0] = 1.0
    surplus = np.argsort(confidence + 2.0 * (chosen < 0), kind="stable")[: max(len(matched) - n_pairs, 0)]
    chosen[surplus], confidence[surplus] = -1, 0.0
    sampled = confidence / max(trust, 1e-3)
    raised = store(chosen, np.maximum(confidence, 1e-12), c)
    likely = likely.maximum(raised).tocsr()
    likely = settle_known(likely, limits)
    expected = float(confidence[chosen >= 0].mean())
    smaller = min(problem.g.n_edges, problem.h.n_edges)
    count = round(weigh_kept(abs(A).sign(), abs(B).sign(), chosen, directed=directed))
    kept = weigh_kept(A, B, chosen, directed=directed)
    told = describe_kept(count, smaller, kept, unrelated, most if weighted else 0.0)
    reliable, report = assess(trust, expected, told, calibration)
    return GraphAnswer(
        chosen, confidence, likely, reliable, expected, report, kept, unrelated, excess,
        np.minimum(sampled, 1.0), history,
    )  # fmt: skip


def settle_known(likely: SparseArray, limits: Limits) -> SparseArray:
    """Return probabilities in which known pairs are certain, and nothing competes with them.

    Parameters
    ----------
    likely : csr_array of shape (n, m)
        Probabilities.
    limits : Limits
        The known pairs.

    Returns
    -------
    csr_array of shape (n, m)
        The same, known pairs having 1.
    """
    entries = likely.tocoo()
    rows, columns = entries.coords
    free = (limits.known[rows] < 0) & ~limits.taken[columns]
    known = np.flatnonzero(limits.known >= 0)
    data = np.concatenate([entries.data[free], np.ones(len(known))])
    places = np.concatenate([rows[free], known]), np.concatenate([columns[free], limits.known[known]])
    settled: SparseArray = sparse.csr_array((data, places), shape=likely.shape)
    settled.sort_indices()
    return settled
