"""Two graphs and what is known of their matching, checked; the same as two graphs of one size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairup.constraints import (
    Constraints,
    check_anchors,
    check_forbidden,
    check_possible,
    check_prior,
    count_given,
    count_pairs,
)
from pairup.graph.adjacency import Graph, check_graphs
from pairup.graph.schedule import SCHEDULE
from pairup.graph.swaps import Terms, list_neighbours
from pairup.memory import check_memory
from pairup.types import Float32Array, Indices
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
            None if prior is None else check_prior(prior, n, m),
            check_forbidden(forbidden, n, m, known),
        )
        if overlap == "auto":  # starts from as many pairs as there can be
            constraints = replace(constraints, n_pairs=max(constraints.count_possible(), 1))
        check_possible(constraints)
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
    A, B = problem.g.pad(size), problem.h.pad(size)
    for Z in (A, B):
        Z.data /= np.abs(Z.data).max()  # or the squares of huge and tiny weights are out of range
        Z.data /= np.sqrt(np.mean(Z.data**2))
    return Padded(A, B, problem.g.is_directed, Constraints(size, size, size, c.anchors, prior, c.forbidden))
