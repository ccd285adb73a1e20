"""The matching of two graphs: edges kept, from a convex relaxation or by message passing, and sampled.

One way in: `GraphProblem.check` takes two graphs, `solve` yields steps, and the `GraphAnswer` last.
"""

from pairup.graph.adjacency import is_graph as is_graph
from pairup.graph.answer import GraphAnswer as GraphAnswer
from pairup.graph.problem import GraphProblem as GraphProblem
from pairup.graph.solver import solve as solve

__all__ = ["GraphAnswer", "GraphProblem", "is_graph", "solve"]
