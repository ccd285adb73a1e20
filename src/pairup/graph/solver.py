"""The matching of two graphs: starts, annealing by swaps, sampling, and the verdict."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pairup.climb import Step
from pairup.constraints import Constraints, check_anchors, check_prior, count_given, count_pairs
from pairup.evidence import DOUBT
from pairup.graph.adjacency import Graph, check_graphs
from pairup.graph.edge_model import classify_pairs, fit_log_odds
from pairup.graph.messages import cost, pass_messages
from pairup.graph.null_model import rewire
from pairup.graph.relaxation import follow_path
from pairup.graph.schedule import CALIBRATION, SCHEDULE
from pairup.graph.swaps import Terms, anneal_swaps, list_neighbours, sample_swaps
from pairup.memory import check_memory
from pairup.parallel import pinned_blas
from pairup.types import Array, Indices
from pairup.validation import check_positive

MATRICES = 8  # dense ones that are needed at once
NOTHING = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class GraphProblem:
    """Two graphs, and what is known of their matching.

    Parameters
    ----------
    g, h : Graph
        The graphs.
    constraints : Constraints
        What the matching keeps to.
    prior_weight : float
        What the full span of the prior counts, in edges.
    estimates_overlap : bool
        Whether the number of pairs is to be estimated.
    """

    g: Graph
    h: Graph
    constraints: Constraints
    prior_weight: float
    estimates_overlap: bool

    @classmethod
    def check(
        cls,
        G: Any,
        H: Any,
        *,
        metric: str = "auto",
        kernel: str | None = None,
        anchors: Sequence[tuple[int, int]] = (),
        prior: ArrayLike | None = None,
        prior_weight: float | None = None,
        overlap: Any = 1.0,
    ) -> "GraphProblem":
        """Return the problem, or raise an error that says what is wrong with it.

        Parameters
        ----------
        G, H : networkx graph or square sparse matrix
            The two graphs.
        metric : str, default "auto"
            For tables only.
        kernel : str, optional
            For tables only.
        anchors : sequence of (int, int), default ()
            Known pairs (i, j) of node numbers, in any order.
        prior : array_like of shape (n, m), optional
            Scores of all pairs, larger where a pair is likelier.
        prior_weight : float, optional
            What the full span of the prior counts, in edges.
        overlap : float or "auto", default 1.0
            The share of the smaller graph that has a partner, in (0, 1]; "auto" estimates it.

        Returns
        -------
        GraphProblem
            The problem.
        """
        g, h = check_graphs(G, H)
        for name, value, default in (("metric", metric, "auto"), ("kernel", kernel, None)):
            if value != default:
                raise ValueError(f"{name}={value!r} is for tables, got two graphs; leave it out")
        n, m = len(g), len(h)
        check_memory(max(n, m), max(n, m), MATRICES)
        if prior_weight is not None:
            check_positive(prior_weight, "prior_weight", "leave it out for the weight of one edge")
            if prior is None:
                raise ValueError(f"prior_weight must come with a prior, got {prior_weight} alone; pass both or neither")
        constraints = Constraints(
            n,
            m,
            count_pairs(overlap, n, m, count_given(anchors, "anchors")),
            check_anchors(anchors, n, m),
            None if prior is None else check_prior(prior, n, m),
        )
        return cls(g, h, constraints, prior_weight or SCHEDULE.prior_weight, overlap == "auto")

    def explain_undecidable(self) -> str:
        """Say why nothing can be told about these graphs; empty if something can."""
        for graph, name in ((self.g, "X"), (self.h, "Y")):
            if len(graph) < SCHEDULE.fewest:
                nodes = f"{len(graph)} node{'s' if len(graph) > 1 else ''}"
                return f"{name} has {nodes}, and at least {SCHEDULE.fewest} are needed"
            if not graph.n_edges:
                return f"{name} has no edges, so nothing tells its nodes apart"
        return ""


@dataclass(frozen=True, eq=False)
class GraphAnswer:
    """A matching of two graphs and what is known about it.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching; −1 where a node of the first graph has no partner.
    confidence : ndarray of shape (n,)
        Probability that each node has its right partner.
    probabilities : ndarray of shape (n, m)
        The same for every pair.
    reliable : bool
        Whether the graphs identify the matching.
    reliability : float
        The expected share of right pairs.
    report : str
        The reasons, in words.
    kept : int
        Edges that both graphs have.
    unrelated : int
        The same of an unrelated graph of the same degrees.
    excess : float
        How far the first exceeds the second; 1 where all edges are kept.
    sampled : ndarray of shape (n,)
        Share of the sampled matchings that hold each pair.
    history : list of Step
        One step per start.
    """

    indices: Indices
    confidence: Array
    probabilities: Array
    reliable: bool
    reliability: float
    report: str
    kept: int
    unrelated: int
    excess: float
    sampled: Array
    history: list[Step]


@dataclass(frozen=True, eq=False)
class Padded:
    """Two graphs of one size, the smaller filled up with isolated nodes, weights about 1.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (size, size)
        The graphs.
    directed : bool
        Whether edges have directions.
    constraints : Constraints
        Known pairs and the prior, in edges.
    """

    A: Any
    B: Any
    directed: bool
    constraints: Constraints

    @property
    def fixed(self) -> Any:
        """Which nodes have known partners."""
        fixed = np.zeros(self.constraints.n, dtype=np.bool_)
        fixed[self.constraints.anchors[0]] = True
        return fixed

    def terms(self) -> Terms:
        """Return the weight of edges kept, and the prior, as energy."""
        a, b = (list_neighbours(Z, directed=self.directed) for Z in (self.A, self.B))
        prior = self.constraints.prior
        return Terms(a, b, self.B.toarray().astype(np.float32), NOTHING, NOTHING if prior is None else prior)

    def value(self, p: Indices) -> float:
        """Return the weight of edges kept and the prior at a matching; larger is better."""
        weight = float(self.A.multiply(self.B[p][:, p]).sum()) / (1 if self.directed else 2)
        prior = self.constraints.prior
        return weight + (0.0 if prior is None else float(prior[np.arange(len(p)), p].sum()))

    def count_kept(self, p: Indices) -> int:
        """Return how many edges both graphs have, an undirected one counted once."""
        both = self.A.multiply(self.B[p][:, p]).tocsr()
        both.eliminate_zeros()
        loops = int((both.diagonal() != 0).sum())
        return int(both.nnz) if self.directed else (int(both.nnz) - loops) // 2 + loops


def pad(problem: GraphProblem) -> Padded:
    """Return the two graphs with equally many nodes.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.

    Returns
    -------
    Padded
        The same, the smaller filled up with isolated nodes.
    """
    c, size = problem.constraints, problem.constraints.largest
    prior = None
    if c.prior is not None:
        prior = np.zeros((size, size), dtype=np.float32)
        prior[: c.n, : c.m] = np.float32(problem.prior_weight) * c.prior
    A, B = problem.g.pad(size), problem.h.pad(size)
    for Z in (A, B):
        Z.data /= np.sqrt(np.mean(Z.data**2))
    return Padded(A, B, problem.g.is_directed, Constraints(size, size, size, c.anchors, prior))


def solve(problem: GraphProblem, *, seed: int = 0) -> Iterator[Step | GraphAnswer]:
    """Match two graphs.

    Parameters
    ----------
    problem : GraphProblem
        The graphs, and what the matching keeps to.
    seed : int, default 0
        Draws whatever is random.

    Yields
    ------
    Step or GraphAnswer
        A step for each start, and the answer last.
    """
    if reason := problem.explain_undecidable():
        yield undecided_answer(problem, reason)
        return
    padded = pad(problem)
    unrelated = replace(padded, B=rewire(padded.B, directed=padded.directed, seed=seed + 1))
    history: list[Step] = []
    with pinned_blas():
        p = yield from search(padded, relaxed_starts(padded), seed, history)
        null = yield from search(unrelated, relaxed_starts(unrelated), seed, [])
        if measure_excess(padded, padded.count_kept(p), unrelated.count_kept(null)) < SCHEDULE.clear_from:
            p = yield from search(padded, [p, *message_starts(padded)], seed, history)
            null = yield from search(unrelated, [null, *message_starts(unrelated)], seed, [])
        terms, p = refine(padded, p, seed)
        history.append(Step(len(history), 0, p, padded.value(p)))
        yield history[-1]
        steps = count_swaps(padded.constraints.n)
        marginals = sample_swaps(terms, p, padded.fixed, steps=steps, samples=SCHEDULE.samples, seed=seed)
        yield conclude(problem, padded, marginals, unrelated.count_kept(null), history)


def measure_excess(padded: Padded, kept: int, unrelated: int) -> float:
    """Return how far more edges are kept than with an unrelated graph: 0 no more, 1 all that can be.

    Parameters
    ----------
    padded : Padded
        The graphs.
    kept, unrelated : int
        Edges kept, and edges kept with an unrelated graph.

    Returns
    -------
    float
        The excess; it may be negative.
    """
    most = min(replace(padded, B=Z, A=Z).count_kept(np.arange(padded.constraints.n)) for Z in (padded.A, padded.B))
    return (kept - unrelated) / max(most - unrelated, 1)


def count_swaps(n: int) -> int:
    """Return how many swaps an annealing of n nodes proposes."""
    return min(SCHEDULE.swaps_per_node * n, SCHEDULE.most_swaps)


def search(padded: Padded, starts: Iterable[Indices], seed: int, history: list[Step]) -> Generator[Step, None, Indices]:
    """Anneal from every start, and return the matching that keeps most.

    Parameters
    ----------
    padded : Padded
        The graphs.
    starts : iterable of ndarray of int, shape (size,)
        Matchings.
    seed : int
        Draws the swaps.
    history : list of Step
        Gets one step per start.

    Returns
    -------
    ndarray of int, shape (size,)
        The best matching.

    Yields
    ------
    Step
        A step for each start.
    """
    terms, fixed, best, top = padded.terms(), padded.fixed, np.arange(padded.constraints.n), -np.inf
    schedule = SCHEDULE
    for number, start in enumerate(starts):
        p = anneal_swaps(
            terms, start, fixed, hot=schedule.hot, cold=schedule.cold, steps=count_swaps(len(start)), seed=seed + number
        )
        p = max(p, start, key=padded.value)
        step = Step(len(history), 0, p, padded.value(p))
        history.append(step)
        yield step
        if step.value > top:
            best, top = p, step.value
    return best


def relaxed_starts(padded: Padded) -> Iterator[Indices]:
    """Yield the best matching on the path of the relaxation; of many nodes, that by degrees.

    Parameters
    ----------
    padded : Padded
        The graphs.

    Yields
    ------
    ndarray of int, shape (size,)
        A matching.
    """
    constraints = padded.constraints
    if constraints.n <= SCHEDULE.path_up_to:
        yield max(follow_path(padded.A, padded.B, constraints), key=padded.value)
        return
    order = [np.argsort(-np.diff(link_both_ways(Z).indptr), kind="stable") for Z in (padded.A, padded.B)]
    by_degree = np.empty(constraints.n, dtype=np.intp)
    by_degree[order[0]] = order[1]
    yield constraints.impose_anchors(by_degree)


def message_starts(padded: Padded) -> Iterator[Indices]:
    """Yield the best matching of message passing, where the graphs are sparse enough for it.

    Parameters
    ----------
    padded : Padded
        The graphs.

    Yields
    ------
    ndarray of int, shape (size,)
        A matching.
    """
    constraints = padded.constraints
    a, b = (link_both_ways(Z) for Z in (padded.A, padded.B))
    if a.nnz * b.nnz > SCHEDULE.most_messages or cost(a, b) > SCHEDULE.messages_up_to:
        return
    for shared in SCHEDULE.shared:
        rounded: list[Indices] = []
        for ratios in pass_messages(a, b, shared=shared, rounds=SCHEDULE.rounds):
            scores = ratios if constraints.prior is None else ratios + constraints.prior
            rounded.append(constraints.round(scores - scores.min()))
            if len(rounded) > 1 and padded.value(rounded[-1]) <= padded.value(rounded[-2]):
                break  # the messages have converged, or loops have taken over
        yield max(rounded, key=padded.value)


def link_both_ways(Z: Any) -> Any:
    """Return the undirected, unweighted graph of the same links, without self-loops.

    Parameters
    ----------
    Z : scipy.sparse.csr_array of shape (n, n)
        A graph.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        The other graph.
    """
    linked = (Z != 0).astype(np.float64)
    linked = (linked + linked.T).tolil()
    linked.setdiag(0)
    linked = linked.tocsr()
    linked.eliminate_zeros()
    linked.data[:] = 1.0
    linked.sort_indices()
    return linked


def refine(padded: Padded, p: Indices, seed: int) -> tuple[Terms, Indices]:
    """Fit the edge model to a matching and anneal its log-likelihood, a few times.

    Directed and weighted graphs have the log-odds of an edge that is kept as the only parameter.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.
    seed : int
        Draws the swaps.

    Returns
    -------
    terms : Terms
        The log-likelihood.
    p : ndarray of int, shape (size,)
        The annealed matching.
    """
    terms, classes = padded.terms(), [classify_pairs(Z) for Z in (padded.A, padded.B)]
    weighted = any(np.ptp(Z.data) > 1e-9 for Z in (padded.A, padded.B))
    binary = [(Z != 0).toarray().astype(np.float64) for Z in (padded.A, padded.B)]
    for number in range(SCHEDULE.refits):
        if weighted or padded.directed:
            terms = terms._replace(M=np.float32(edge_log_odds(padded, p)) * padded.B.toarray().astype(np.float32))
        else:
            M, _ = fit_log_odds(classes[1], binary[0], np.argsort(p))
            K, _ = fit_log_odds(classes[0], binary[1], p)
            terms = terms._replace(M=np.float32(0.5) * M, K=np.float32(0.5) * K)
        if padded.constraints.prior is not None:
            terms = terms._replace(S=padded.constraints.prior * np.float32(edge_log_odds(padded, p)))
        p = anneal_swaps(
            terms,
            p,
            padded.fixed,
            hot=SCHEDULE.model_hot,
            cold=SCHEDULE.model_cold,
            steps=count_swaps(len(p)) // 2,
            seed=seed + number,
        )
    return terms, p


def edge_log_odds(padded: Padded, p: Indices) -> float:
    """Return log(n₁₁n₀₀ / n₁₀n₀₁) of the pairs of nodes by whether they are linked in either graph.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.

    Returns
    -------
    float
        What one edge that is kept adds to the log-likelihood.
    """
    kept, n = padded.count_kept(p), len(p)
    a, b = ((Z.nnz if padded.directed else Z.nnz // 2) for Z in (padded.A, padded.B))
    pairs = n * (n - 1) // (1 if padded.directed else 2)
    counts = np.array([kept, pairs - a - b + kept, a - kept, b - kept], dtype=np.float64) + 0.5
    return float(np.log(counts[0] * counts[1] / (counts[2] * counts[3])))


def undecided_answer(problem: GraphProblem, reason: str) -> GraphAnswer:
    """Return the answer for graphs about which nothing can be told: any matching, or the one that a prior prefers.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    reason : str
        Why nothing can be told.

    Returns
    -------
    GraphAnswer
        A matching that is not reliable; all free pairs are equally likely.
    """
    constraints = problem.constraints
    likely = constraints.uniform().astype(np.float64)
    indices = constraints.round(likely if constraints.prior is None else constraints.prior)
    confidence = np.where(indices >= 0, likely[np.arange(len(indices)), indices], 0.0)
    report = f"{DOUBT}{reason}."
    return GraphAnswer(indices, confidence, likely, False, 1.0 / constraints.largest, report, 0, 0, 0.0, confidence, [])


def conclude(
    problem: GraphProblem, padded: Padded, marginals: Array, unrelated: int, history: list[Step]
) -> GraphAnswer:
    """Return the matching with most pairs expected right, and how likely it is.

    Parameters
    ----------
    problem : GraphProblem
        The graphs.
    padded : Padded
        The same, of one size.
    marginals : ndarray of shape (size, size)
        How often each pair was sampled.
    unrelated : int
        Edges kept with an unrelated graph.
    history : list of Step
        One step per start.

    Returns
    -------
    GraphAnswer
        The matching, its probabilities and the verdict.
    """
    c = problem.constraints
    p = padded.constraints.round(marginals)
    kept, smaller = padded.count_kept(p), min(problem.g.n_edges, problem.h.n_edges)
    excess = measure_excess(padded, kept, unrelated)
    mean = float(marginals[np.arange(len(p)), p][: c.n].mean())
    trust = float(expit(CALIBRATION.intercept + CALIBRATION.excess * excess + CALIBRATION.sampled * mean))
    likely: Array = trust * marginals[: c.n, : c.m] + (1.0 - trust) / c.largest
    rows, columns = c.anchors
    likely[rows, :], likely[:, columns] = 0.0, 0.0
    likely[rows, columns] = 1.0
    indices = np.where(p[: c.n] < c.m, p[: c.n], -1)
    confidence, sampled = (np.where(indices >= 0, Z[np.arange(c.n), indices], 0.0) for Z in (likely, marginals))
    n_pairs = max(round(float(confidence.sum())), len(rows), 1) if problem.estimates_overlap else c.n_pairs
    order = np.argsort(-confidence - np.isin(np.arange(c.n), rows) - (indices >= 0), kind="stable")
    indices[order[n_pairs:]] = -1
    confidence[order[n_pairs:]] = 0.0
    matched = indices >= 0
    expected = float(confidence[matched].mean())
    doubts = []
    if trust < CALIBRATION.trusted_from:
        doubts.append("hardly more edges are kept than with an unrelated graph of the same degrees")
    elif expected < CALIBRATION.reliable_from:
        doubts.append("too many nodes can be exchanged without losing edges; a few known pairs would help")
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"The matching keeps {kept:,} of {smaller:,} edges (unrelated graph of the same degrees: {unrelated:,}).",
        DOUBT + "; ".join(doubts) + "."
        if doubts
        else "The graphs identify the matching; see `confidence` for single pairs.",
    ]
    return GraphAnswer(
        indices, confidence, likely, not doubts, expected, "\n".join(lines), kept, unrelated, excess, sampled,
        [replace(step, indices=np.where(step.indices[: c.n] < c.m, step.indices[: c.n], -1)) for step in history],
    )  # fmt: skip
