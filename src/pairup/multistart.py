"""Searches from several starts, of which the best end wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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

    def winner(self, histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
        """Return the steps of the task that won, and the one of them that is the answer."""


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

    def winner(self, histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
        """Return the climb that went highest, and its highest step."""
        return highest(histories)


@dataclass(frozen=True, eq=False)
class CrossValidatedClimbs:
    """Climbs of LSMI whose width and λ are chosen by cross-validation.

    Of a climb with non-negative coefficients the last step counts, for its LSMI may fall on the way to a better
    matching; of a literal one, which wanders off, the step of the largest LSMI.

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

    def winner(self, histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
        """Return the climb whose end has the best held-out score, and that end."""
        return best_end(histories, self.grid, keep_last=self.grid.nonnegative)


@dataclass(frozen=True, eq=False)
class NarrowingClimbs:
    """Climbs of LSMI at one width after another, from the widest to the narrowest; a task per λ and start.

    Each climb begins where the one before it ended: wide kernels have few wrong maxima, narrow ones tell neighbours
    apart. Of each task, the last step counts.

    Parameters
    ----------
    grid : RatioGrid
        Widths to go through and λ to choose from.
    starts : list of ndarray of int, shape (n,)
        First matchings.
    max_iter : int
        The largest number of assignments per width.
    eta : float
        Step size η in (0, 1].
    """

    grid: RatioGrid
    starts: list[Indices]
    max_iter: int
    eta: float

    @property
    def n_tasks(self) -> int:
        """The number of λ times the number of starts."""
        return len(self.grid.lambdas) * len(self.starts)

    @property
    def _narrowing(self) -> list[int]:
        """The numbers of the widths, the widest first."""
        return sorted(range(len(self.grid.widths)), key=lambda number: -self.grid.widths[number])

    def steps(self, number: int) -> Iterator[Step]:
        """Climb at every width with one λ from one start; the end of one width is the first step of the next."""
        lam, start = divmod(number, len(self.starts))
        indices, made = self.starts[start], 0
        for width in self._narrowing:
            measure = self.grid.measure(width, lam)
            for step in climb(measure, indices, number=number, max_iter=self.max_iter, eta=self.eta):
                yield replace(step, iteration=made + step.iteration)
            indices, made = step.indices, made + step.iteration

    def winner(self, histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
        """Return the task of the best held-out score, and its last step.

        Only one task of each λ is scored, that of the largest LSMI at the narrowest width (of the non-negative ratio,
        if the search is non-negative): at one setting LSMI is comparable.
        """
        best_of_lambdas = []
        for lam in range(len(self.grid.lambdas)):
            measure = self.grid.measure(self._narrowing[-1], lam)
            value = measure.nonnegative_value if self.grid.nonnegative else measure.value
            of_lambda = histories[lam * len(self.starts) : (lam + 1) * len(self.starts)]
            best_of_lambdas.append(best_history(of_lambda, [value(history[-1].indices) for history in of_lambda]))
        return best_end(best_of_lambdas, self.grid, keep_last=True)


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

    def winner(self, histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
        """Return the annealing of the best held-out score, and its best step."""
        return highest(histories)

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


def highest(histories: Sequence[list[Step]]) -> tuple[list[Step], Step]:
    """Return the steps of the task that reached the largest value, and the step where it did.

    Parameters
    ----------
    histories : sequence of lists of Step
        The steps of each task.

    Returns
    -------
    history : list of Step
        The steps of the winner.
    best : Step
        Its step of largest value.
    """
    tops = [max(history, key=lambda step: step.value) for history in histories]
    history = best_history(histories, [step.value for step in tops])
    return history, max(history, key=lambda step: step.value)


def best_end(histories: Sequence[list[Step]], grid: RatioGrid, *, keep_last: bool) -> tuple[list[Step], Step]:
    """Return the steps of the task whose end has the best held-out score, and that end.

    Parameters
    ----------
    histories : sequence of lists of Step
        The steps of each task.
    grid : RatioGrid
        What scores a matching.
    keep_last : bool
        Whether the end of a task is its last step, or its step of largest value.

    Returns
    -------
    history : list of Step
        The steps of the winner.
    end : Step
        Its end.
    """

    def end(history: list[Step]) -> Step:
        return history[-1] if keep_last else max(history, key=lambda step: step.value)

    history = best_history(histories, [grid.best_score(end(history).indices) for history in histories])
    return history, end(history)


def best_history(histories: Sequence[list[Step]], scores: Sequence[float]) -> list[Step]:
    """Return the steps of the task that won.

    Parameters
    ----------
    histories : sequence of lists of Step
        The steps of each task.
    scores : sequence of float
        What compares the tasks; larger is better.

    Returns
    -------
    list of Step
        The task of the highest score; of several, the one that took the fewest steps.
    """
    best = max(scores)
    level = [history for history, score in zip(histories, scores, strict=True) if score >= best - 1e-10 * abs(best)]
    return min(level, key=len)
