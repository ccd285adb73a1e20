"""The default method: candidates from many metrics, kernels and starts, chosen and combined without labels.

One way in: `solve` takes a `Problem` and yields steps, and the `Answer` last.
"""

from pairup.auto.answer import Answer as Answer
from pairup.auto.problem import Problem as Problem
from pairup.auto.solver import solve as solve

__all__ = ["Answer", "Problem", "solve"]
