"""LSOM with the product basis: the same model as KS-NOCCO, searched by annealing, its settings by held-out J."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairup.annealing import NO_ANCHORS, Dense, Terms, annealed, last
from pairup.climb import Step
from pairup.density_ratio import held_out, spectrum, whitened
from pairup.kernels import KernelFamily
from pairup.search import COARSE_COOLING, CONTINUATION, alignment
from pairup.types import Indices


@dataclass(frozen=True)
class Continuations:
    """Annealings of LSMI with the product basis, one task per kernel width; all eigenvalue-based starts in each.

    The value of a step is −J − ½, the LSMI of pairs that are left out of the fit one at a time: comparable over
    widths and ε, so the largest wins.

    Parameters
    ----------
    families : the kernels of X and of Y.
    widths : multiples of the median widths.
    eigen : the matchings from which every width sets out.
    """

    families: tuple[KernelFamily, KernelFamily]
    widths: tuple[float, ...]
    eigen: list[Indices]

    @property
    def starts(self) -> tuple[float, ...]:
        """The tasks: the widths."""
        return self.widths

    def rank(self, step: Step) -> float:
        """Return what ranks the best steps of different widths: the value, a held-out score."""
        return step.value

    def steps(self, number: int) -> Iterator[Step]:
        """Anneal coarsely from every start, and continue the best to finer and finer dependence."""
        x, y = (spectrum(family.matrix(self.widths[number]).copy()) for family in self.families)
        n = len(self.eigen[0])
        terms = Terms(n, n, n, NO_ANCHORS)
        plan, best = terms.uniform(), -np.inf
        for iteration, epsilon in enumerate(CONTINUATION):
            forms = [Dense(whitened(x, epsilon), whitened(y, epsilon))]
            if iteration == 0:
                for start in self.eigen:
                    coarse = last(annealed(forms, terms.start(start), terms, betas=COARSE_COOLING, updates=2))
                    value = alignment(forms, terms.round(coarse))
                    if value > best:
                        plan, best = coarse, value
            plan = last(annealed(forms, plan, terms))
            indices = terms.round(plan)
            yield Step(number, iteration, indices, -0.5 - float(held_out(x, y, [indices]).min()))

    def table(self, indices: Indices, epsilons: Sequence[float]) -> dict[str, Any]:
        """Return the held-out scores −J of every (width, ε) for a matching, as `cv_results_`."""
        from scipy.stats import rankdata

        scores = []
        for width in self.widths:
            x, y = (spectrum(family.matrix(width).copy()) for family in self.families)
            scores.append(-held_out(x, y, [indices], epsilons)[0])
        mean = np.concatenate(scores)
        grid = [(width, epsilon) for width in self.widths for epsilon in epsilons]
        return {
            "params": [{"width": width, "epsilon": epsilon} for width, epsilon in grid],
            "param_width": np.array([width for width, _ in grid]),
            "param_epsilon": np.array([epsilon for _, epsilon in grid]),
            "mean_test_score": mean,
            "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
        }
