"""Two graphs and what is known of their matching, checked; the same as two graphs of one size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pairup.constraints import (
    Constraints,
    check_anchors,
    check_forbidden,
    check_possible,
    check_prior,
    check_sparse_prior,
    count_given,
    count_pairs,
)
from pairup.graph.adjacency import Graph, check_graphs
from pairup.graph.links import list_links, measure_clustering
from pairup.graph.schedule import MANY, SCHEDULE, count_candidates
from pairup.graph.swaps import Terms, list_neighbours
from pairup.memory import check_linear_memory, check_memory
from pairup.probabilities import is_sparse
from pairup.types import Float32Array, Indices, SparseArray
from pairup.validation import check_positive

MATRICES = 8  # dense ones that are needed at once
NEVER = -1e6  # what a forbidden pair brings: more than all edges of a node can outweigh
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
        forbidden: Sequence[tuple[int, int]] = (),
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
        forbidden : sequence of (int, int), default ()
            Pairs (i, j) of node numbers known to be wrong, in any order.
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
        many = max(n, m) > MANY.above
        if many:
            predict_memory(g, h)
        else:
            check_memory(max(n, m), max(n, m), MATRICES)
        if prior_weight is not None:
            check_positive(prior_weight, "prior_weight", "leave it out for the weight of one edge")
            if prior is None:
                raise ValueError(f"prior_weight must come with a prior, got {prior_weight} alone; pass both or neither")
        known = check_anchors(anchors, n, m)
        constraints = Constraints(
            n,
            m,
            count_pairs(overlap, n, m, count_given(anchors, "anchors")),
            known,
            None if prior is None or many else check_prior(prior, n, m),
            check_forbidden(forbidden, n, m, known),
            sparse_prior=list_prior(prior, n, m) if prior is not None and many else None,
        )
        if many:
            possible = count_possible(constraints)
            if overlap == "auto":
                constraints = replace(constraints, n_pairs=max(possible, 1))
            if possible < constraints.n_pairs:
                check_possible(constraints)  # says which nodes are left over; rare, so the matrix it needs may be taken
            return cls(g, h, constraints, prior_weight or SCHEDULE.prior_weight, overlap == "auto")
        if overlap == "auto":  # starts from as many pairs as there can be
            constraints = replace(constraints, n_pairs=max(constraints.count_possible(), 1))
        check_possible(constraints)
        return cls(g, h, constraints, prior_weight or SCHEDULE.prior_weight, overlap == "auto")

    @property
    def is_many(self) -> bool:
        """Whether there are too many nodes for matrices of all pairs."""
        return self.constraints.largest > MANY.above

    def explain_undecidable(self) -> str:
        """Say why nothing can be told about these graphs; empty if something can."""
        for graph, name in ((self.g, "X"), (self.h, "Y")):
            if len(graph) < SCHEDULE.fewest:
                nodes = f"{len(graph)} node{'s' if len(graph) > 1 else ''}"
                return f"{name} has {nodes}, and at least {SCHEDULE.fewest} are needed"
            if not graph.n_edges:
                return f"{name} has no edges, so nothing tells its nodes apart"
        return ""


def predict_memory(g: Graph, h: Graph) -> None:
    """Raise a MemoryError if two graphs of many nodes do not fit into free memory.

    Parameters
    ----------
    g, h : Graph
        The graphs.
    """
    n = max(len(g), len(h))
    links = [list_links(graph.adjacency, directed=graph.is_directed, weighted=False) for graph in (g, h)]
    clustered = min(measure_clustering(each) for each in links)
    most = max(len(each.nodes) for each in links)
    of_link = MANY.bytes_per_entry * count_candidates(most / n) * (1.0 + MANY.entries_if_clustered * clustered)
    check_linear_memory(n, int(MANY.bytes_per_node + of_link * most / n))


def list_prior(prior: Any, n: int, m: int) -> SparseArray:
    """Return a prior as scores of a few pairs of each node.

    Parameters
    ----------
    prior : array_like or sparse array of shape (n, m)
        Scores of pairs; of a dense one, the best of each row are taken.
    n, m : int
        Numbers of nodes.

    Returns
    -------
    csr_array of float32, shape (n, m)
        The scores, at most 1 in modulus.

    Examples
    --------
    >>> list_prior(np.eye(3), 3, 3).toarray().round(1)[0]
    array([ 1. , -0.5, -0.5], dtype=float32)
    """
    if is_sparse(prior):
        return check_sparse_prior(prior, n, m)
    scores = check_prior(prior, n, m)
    few = min(MANY.prior_partners, m)
    columns = np.argpartition(-scores, few - 1, axis=1)[:, :few]
    starts = np.arange(n + 1) * few
    listed: SparseArray = sparse.csr_array(
        (np.take_along_axis(scores, columns, 1).ravel(), columns.ravel(), starts), shape=(n, m)
    )
    listed.sort_indices()
    return listed


def count_possible(constraints: Constraints) -> int:
    """Return the largest number of pairs that no forbidden one is needed for, without a matrix of all pairs.

    Where no node has most partners forbidden, all of the smaller graph can be matched (Hall's theorem); otherwise nodes
    for which all are forbidden stay alone.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> count_possible(Constraints(4, 4, 4, forbidden=(np.zeros(4, dtype=int), np.arange(4))))
    3
    """
    c = constraints
    rows, columns = (np.bincount(f, minlength=size) for f, size in zip(c.forbidden, (c.n, c.m), strict=True))
    if rows.max() + columns.max() + len(c.anchors[0]) <= c.largest:
        return c.smallest
    alone = (int((rows >= c.m).sum()), int((columns >= c.n).sum()))
    return min(c.n - alone[0], c.m - alone[1])


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
        Known and forbidden pairs, and the prior, in edges.
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

    @property
    def weighted(self) -> bool:
        """Whether edges differ in weight, or weigh less than nothing."""
        return any(bool(np.ptp(Z.data) > 1e-9 or Z.data.min() < 0) for Z in (self.A, self.B))

    def terms(self) -> Terms:
        """Return the weight of edges kept, and the prior, as energy."""
        a, b = (list_neighbours(Z, directed=self.directed) for Z in (self.A, self.B))
        return Terms(a, b, self.B.toarray().astype(np.float32), NOTHING, self.score_pairs())

    def score_pairs(self, weight: float = 1.0) -> Float32Array:
        """Return what single pairs bring: the prior, times a weight, and what keeps forbidden pairs out.

        Parameters
        ----------
        weight : float, default 1.0
            What an edge counts.

        Returns
        -------
        ndarray of float32, shape (size, size), or (0, 0)
            The scores; empty where all pairs are alike.
        """
        c = self.constraints
        if c.prior is None and not len(c.forbidden[0]):
            return NOTHING
        scores = np.zeros((c.n, c.m), dtype=np.float32) if c.prior is None else np.float32(weight) * c.prior
        scores[c.forbidden] = NEVER
        return scores

    def value(self, p: Indices) -> float:
        """Return the weight of edges kept and the prior at a matching; larger is better."""
        weight = float(self.A.multiply(self.B[p][:, p]).sum()) / (1 if self.directed else 2)
        prior = self.constraints.prior
        return weight + (0.0 if prior is None else float(prior[np.arange(len(p)), p].sum()))

    def weigh_kept(self, p: Indices) -> float:
        """Return the weight of the edges that both graphs have, an undirected one counted once."""
        both = self.A.multiply(self.B[p][:, p])
        total = float(both.sum())
        return total if self.directed else 0.5 * (total + float(both.diagonal().sum()))

    def count_kept(self, p: Indices) -> int:
        """Return how many edges both graphs have, an undirected one counted once."""
        both = self.A.multiply(self.B[p][:, p]).tocsr()
        both.eliminate_zeros()
        loops = int((both.diagonal() != 0).sum())
        return int(both.nnz) if self.directed else (int(both.nnz) - loops) // 2 + loops


def scale_weights(Z: Any) -> Any:
    """Return a graph with weights about 1, in place.

    Parameters
    ----------
    Z : scipy.sparse.csr_array of shape (n, n)
        A graph with edges.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        The same, divided by the root mean square of its weights.
    """
    Z.data /= np.abs(Z.data).max()  # or the squares of huge and tiny weights are out of range
    Z.data /= np.sqrt(np.mean(Z.data**2))
    return Z


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
    c = problem.constraints
    size = c.n + c.m - c.count_possible()  # the larger, unless nodes of both have forbidden partners only
    prior = None
    if c.prior is not None:
        prior = np.zeros((size, size), dtype=np.float32)
        prior[: c.n, : c.m] = np.float32(problem.prior_weight) * c.prior
    A, B = (scale_weights(graph.pad(size)) for graph in (problem.g, problem.h))
    return Padded(A, B, problem.g.is_directed, Constraints(size, size, size, c.anchors, prior, c.forbidden))
