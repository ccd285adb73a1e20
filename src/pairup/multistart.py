"""Searches from several starts, of which the best end wins."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pairup.annealing import COARSE_COOLING, COARSE_UPDATES, anneal, anneal_measure, last_plan
from pairup.climb import Step, climb
from pairup.constraints import Constraints
from pairup.density_ratio import EPSILONS, SCORED_EPSILONS, eigendecompose, held_out_scores, whiten
from pairup.forms import DenseForm, alignment
from pairup.kernels import KernelFamily
from pairup.measures import Measure, Quadratic
from pairup.selection import RatioGrid, best_setting
from pairup.types import Indices


class MultiStart(Protocol):
    """A search from several starts; each is a task of its own."""

    @property
    def n_tasks(self) -> int:
        """How many tasks there are."""

    def steps(self, number: int) -> Iterator[Step]:
        """Yield the steps of one task."""

    def rank(self, step: Step) -> float:
        """Return what compares the best steps of different tasks; larger is better."""


@dataclass(frozen=True, eq=False)
class Climbs:
    """Climbs of one measure from several starts.

    Parameters
    ----------
    measure : Measure
        What is maximised.
    starts : list of ndarray of int, shape (n,)
        First matchings.
    max_iter : int
        The largest number of assignments per start.
    eta : float
        Step size η in (0, 1].
    solver : {"climb", "anneal"}, default "climb"
        Whether to climb or to anneal.
    """

    measure: Measure
    starts: list[Indices]
    max_iter: int
    eta: float
    solver: str = "climb"

    @property
    def n_tasks(self) -> int:
        """The number of starts."""
        return len(self.starts)

    def steps(self, number: int) -> Iterator[Step]:
        """Climb or anneal from one of the starts."""
        if self.solver == "climb":
            return climb(self.measure, self.starts[number], number=number, max_iter=self.max_iter, eta=self.eta)
        if not isinstance(self.measure, Quadratic):
            raise TypeError(f"only quadratic measures can be annealed, got {type(self.measure).__name__}")
        return anneal_measure(self.measure, self.starts[number], number=number, max_iter=self.max_iter, eta=self.eta)

    def rank(self, step: Step) -> float:
        """Return the measure itself."""
        return step.value


@dataclass(frozen=True, eq=False)
class CrossValidatedClimbs:
    """Climbs of LSMI whose width and λ are chosen by cross-validation.

    Parameters
    ----------
    grid : RatioGrid
        Widths and λ to choose from.
    starts : list of ndarray of int, shape (n,)
        First matchings.
    max_iter : int
        The largest number of assignments per start.
    eta : float
        Step size η in (0, 1].
    each_iteration : bool
        Whether width and λ are chosen at each iteration, or once per start.
    """

    grid: RatioGrid
    starts: list[Indices]
    max_iter: int
    eta: float
    each_iteration: bool

    @property
    def n_tasks(self) -> int:
        """The number of starts."""
        return len(self.starts)

    def steps(self, number: int) -> Iterator[Step]:
        """Climb from one of the starts."""
        start = self.starts[number]
        measure = self.select_measure if self.each_iteration else self.select_measure(start)
        return climb(measure, start, number=number, max_iter=self.max_iter, eta=self.eta)

    def select_measure(self, indices: Indices) -> Measure:
        """Return LSMI at the setting whose held-out score −J is best for a matching."""
        return self.grid.measure(*best_setting(self.grid.scores(indices)))

    def rank(self, step: Step) -> float:
        """Return −J: LSMI at different settings is not comparable."""
        return float(self.grid.scores(step.indices).mean(axis=2).max())


@dataclass(frozen=True, eq=False)
class Continuations:
    """Annealings of LSMI with the product basis, one task per kernel width; all eigenvalue-based starts in each.

    The value of a step is −J − ½, the LSMI of pairs that are left out of the fit one at a time: comparable over
    widths and ε, so the largest wins.

    Parameters
    ----------
    families : tuple of two KernelFamily
        The kernels of X and of Y.
    widths : tuple of float
        Multiples of the median widths.
    starts : list of ndarray of int, shape (n,)
        First matchings, the same for every width.
    """

    families: tuple[KernelFamily, KernelFamily]
    widths: tuple[float, ...]
    starts: list[Indices]

    @property
    def n_tasks(self) -> int:
        """The number of widths."""
        return len(self.widths)

    def rank(self, step: Step) -> float:
        """Return the value, a held-out score."""
        return step.value

    def steps(self, number: int) -> Iterator[Step]:
        """Anneal coarsely from every start, and continue the best to finer and finer dependence."""
        x, y = (eigendecompose(family.matrix(self.widths[number]).copy()) for family in self.families)
        n = len(self.starts[0])
        constraints = Constraints(n, n, n)
        plan, best = constraints.uniform(), -np.inf
        for iteration, epsilon in enumerate(EPSILONS):
            forms = [DenseForm(whiten(x, epsilon), whiten(y, epsilon))]
            if iteration == 0:
                for start in self.starts:
                    warm = constraints.warm_start(start)
                    coarse = last_plan(anneal(forms, warm, constraints, betas=COARSE_COOLING, updates=COARSE_UPDATES))
                    value = alignment(forms, constraints.round(coarse))
                    if value > best:
                        plan, best = coarse, value
            plan = last_plan(anneal(forms, plan, constraints))
            indices = constraints.round(plan)
            yield Step(number, iteration, indices, -0.5 - float(held_out_scores(x, y, [indices]).min()))

    def table(self, indices: Indices) -> dict[str, Any]:
        """Return the held-out scores −J of every (width, ε) for a matching, as `cv_results_`."""
        from scipy.stats import rankdata

        scores = []
        for width in self.widths:
            x, y = (eigendecompose(family.matrix(width).copy()) for family in self.families)
            scores.append(-held_out_scores(x, y, [indices])[0])
        mean = np.concatenate(scores)
        grid = [(width, epsilon) for width in self.widths for epsilon in SCORED_EPSILONS]
        return {
            "params": [{"width": width, "epsilon": epsilon} for width, epsilon in grid],
            "param_width": np.array([width for width, _ in grid]),
            "param_epsilon": np.array([epsilon for _, epsilon in grid]),
            "mean_test_score": mean,
            "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
        }


def best_step(history: Sequence[Step]) -> Step:
    """Return the step of largest value."""
    return max(history, key=lambda step: step.value)


def best_history(histories: Sequence[list[Step]], rank: Callable[[Step], float]) -> list[Step]:
    """Return the steps of the task that won.

    Parameters
    ----------
    histories : sequence of lists of Step
        The steps of each task.
    rank : callable
        What compares the best steps of different tasks.

    Returns
    -------
    list of Step
        The task whose best step ranks highest; of several, the one that took the fewest steps.
    """
    reached = [rank(best_step(history)) for history in histories]
    best = max(reached)
    level = [history for history, value in zip(histories, reached, strict=True) if value >= best - 1e-10 * abs(best)]
    return min(level, key=len)
