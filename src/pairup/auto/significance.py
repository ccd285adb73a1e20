"""Significance: how far the held-out score of a matching exceeds that of what a search finds in unrelated sets.

Coarse dependence says little about sets of many dimensions, none of which dominates: unrelated ones align nearly as
well. Fine dependence does, since a wrong pairing of such sets is no better than another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pairup.auto.geometry import GeometryPair
from pairup.auto.null_model import count_draws, draw_unrelated
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, SIGNIFICANCE
from pairup.auto.search import refine, search_unrelated
from pairup.constraints import NO_ANCHORS, Constraints
from pairup.parallel import run
from pairup.types import Array, Indices


@dataclass(frozen=True)
class Significance:
    """Held-out scores of a matching and of unrelated sets, in the metric where those of the matching are best.

    Parameters
    ----------
    metric : str
        That metric.
    found : float
        The score −J of the matching, the mean over kernels.
    unrelated : float
        The largest of what the same search finds in unrelated sets.
    """

    metric: str
    found: float
    unrelated: float

    @property
    def log_ratio(self) -> float:
        """The logarithm of their ratio: 0 where the matching is no better than those of unrelated sets.

        Examples
        --------
        >>> round(Significance("cosine", 5.8, 3.4).log_ratio, 2)
        0.53
        >>> Significance("cosine", -0.1, 3.4).log_ratio
        -1.0
        """
        ratio = max(self.found, 1e-30) / max(self.unrelated, 1e-30)
        return float(np.clip(np.log(ratio), SIGNIFICANCE.least, SIGNIFICANCE.most))


def compare_with_unrelated(geometries: Sequence[GeometryPair], indices: Indices, context: Context) -> Significance:
    """Compare the held-out score of a matching with what the same search finds in unrelated sets.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    indices : ndarray of int, shape (n,)
        The matching.
    context : Context
        The sizes of the sets, the seed that draws the unrelated ones, and how to run.

    Returns
    -------
    Significance
        The scores.
    """
    scores = [float(-geometry.held_out_scores([indices]).mean()) for geometry in geometries]
    best = int(np.argmax(scores))
    constraints = context.constraints
    free = replace(constraints, anchors=NO_ANCHORS, prior=None)
    draws = range(context.seed, context.seed + count_draws(constraints))
    tasks = [partial(score_unrelated, geometries[best], free, seed) for seed in draws]
    unrelated = np.mean(list(run(tasks, n_jobs=context.n_jobs)), axis=1)
    return Significance(geometries[best].metric, scores[best], float(unrelated.max()))


def score_unrelated(geometry: GeometryPair, constraints: Constraints, seed: int) -> Array:
    """Search a set like Y that has nothing to do with X, coarsely and then finely.

    Parameters
    ----------
    geometry : GeometryPair
        The two sets.
    constraints : Constraints
        Their sizes.
    seed : int
        Draws the unrelated set.

    Returns
    -------
    ndarray of shape (n_kernels,)
        The best held-out score −J of what is found, under the density-ratio model of each kernel.
    """
    unrelated = draw_unrelated(geometry, seed)
    many = constraints.largest >= GEOMETRY.many_objects_from
    continued = SIGNIFICANCE.continued_of_many if many else SIGNIFICANCE.continued
    found = search_unrelated(geometry, constraints, seed)[:continued]
    candidates = refine(unrelated, constraints, found, [])
    J: Array = unrelated.held_out_scores([candidate.indices for candidate in candidates])
    best: Array = -J.min(axis=0)
    return best
