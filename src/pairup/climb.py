"""The search for the matching by successive linear assignments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pairup.assignment import assign
from pairup.measures import Measure
from pairup.types import Array, Indices, Plan

Selector = Callable[[Indices], Measure]
"""Chooses the measure for the matching it is given."""


@dataclass(frozen=True)
class Step:
    """One iterate of a search: the matching, and the value of the measure there.

    Parameters
    ----------
    start : int
        Number of the search: one from each start; of LSOM from each start with each λ, of ProductLSOM at each width.
    iteration : int
        Number of assignments made so far; 0 is the start itself.
    indices : ndarray of shape (n,)
        The matching: Y[indices] is aligned with X.
    value : float
        The measure at that matching.
    """

    start: int
    iteration: int
    indices: Indices
    value: float


def climb(
    measure: Measure | Selector,
    start: Indices,
    *,
    number: int = 0,
    max_iter: int = 20,
    eta: float = 1.0,
) -> Iterator[Step]:
    """Climb a measure by successive linear assignments, P ← (1 − η)P + η·argmax⟨P, G⟩ (Eqs. 5, 7, 10).

    With η < 1 the iterate is a soft plan, and the steps carry its rounding. HSIC and NOCCO never decrease while the
    prepared matrices are positive semidefinite; other measures may, and the caller decides which step it keeps.

    Parameters
    ----------
    measure : Measure or callable
        What is maximised, or a function that chooses it for each iterate.
    start : ndarray of shape (n,)
        Indices of the first matching.
    number : int, default 0
        Number of this start among several; it is copied into the steps.
    max_iter : int, default 20
        The largest number of assignments.
    eta : float, default 1.0
        The step size η in (0, 1].

    Yields
    ------
    Step
        The start as iteration 0, then every iterate until a fixed point, a cycle or `max_iter`.

    Examples
    --------
    >>> from pairup.measures import HSIC
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> K, L = np.outer(x, x), np.outer(x[::-1], x[::-1])
    >>> [step.indices.tolist() for step in climb(HSIC(K, L), np.array([1, 2, 0]))]
    [[1, 2, 0], [2, 1, 0]]
    """
    n = len(start)
    soft = eta < 1
    plan: Plan = np.eye(n)[start] if soft else start
    indices = start
    seen: set[bytes] = set()
    before: tuple[Measure, Plan, Array] | None = None
    for iteration in range(max_iter + 1):
        chosen = measure if isinstance(measure, Measure) else measure(indices)
        if before is not None and before[0] is chosen:
            value, profit = chosen.reevaluate(plan, *before[1:])
        else:
            value, profit = chosen.evaluate(plan)
        before = chosen, plan, profit
        if soft:  # the measure of what the caller gets, not of the plan behind it
            value = chosen.value(indices)
        yield Step(number, iteration, indices, value)
        seen.add(plan.tobytes())
        if iteration == max_iter:
            return
        target = assign(profit)
        if soft:
            plan = (1 - eta) * plan
            plan[np.arange(n), target] += eta
            indices = assign(plan)
            if plan[np.arange(n), target].min() > 1 - 1e-6:  # the plan has reached its own target
                return
        else:
            plan = indices = target
        if plan.tobytes() in seen:  # a fixed point or a cycle
            return
