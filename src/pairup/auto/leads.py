"""A quick look at many objects of many dimensions: one annealing led by signatures, beside one of an unrelated set.

Where no few dimensions dominate, as in embeddings of text, half of the pairs of a right matching find the other half
again, and those of a wrong one do not, however well it is aligned. Signatures of many objects often lead to the right
one at once, and little else need be searched then.
"""

from collections.abc import Sequence

import numpy as np

from pairup.annealing import anneal, last_plan, sinkhorn
from pairup.auto.geometry import Geometry, GeometryPair
from pairup.auto.null_model import draw_unrelated
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, LEADS
from pairup.auto.signatures import score_signatures
from pairup.constraints import NO_ANCHORS, Constraints
from pairup.forms import QuadraticForm
from pairup.types import Float32Array, Indices


def has_dominant_components(geometry: Geometry) -> bool:
    """Tell whether a few leading components hold most of the variance of a set."""
    widths = geometry.coordinates[1][: LEADS.dominant]
    return float((widths**2).sum()) > LEADS.explained_variance * geometry.total_variance


def anneal_led(
    geometry: GeometryPair, constraints: Constraints, scores: Float32Array, seed: int = 0
) -> tuple[Indices, float]:
    """Anneal from the plan of some scores to a fine ε.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What the matching keeps to.
    scores : ndarray of float32, shape (n, m)
        Scores of all pairs, 1 at the most.
    seed : int, default 0
        Draws the halves of the pairs.

    Returns
    -------
    indices : ndarray of int, shape (n,)
        The matching.
    again : float
        The share of its pairs that half of the others find again.
    """
    scores = np.float32(LEADS.signature_beta) * scores
    constraints.mask(scores)
    plan, _ = sinkhorn(scores, np.zeros(constraints.m, dtype=np.float32), constraints)
    for epsilon in LEADS.epsilons:
        forms = geometry.coarse_forms(epsilon)
        betas = LEADS.last_betas if epsilon == LEADS.epsilons[-1] else LEADS.betas
        plan = last_plan(anneal(forms, plan, constraints, betas=betas, updates=LEADS.updates))
    indices = constraints.round(plan)
    return indices, share_found_again(forms, indices, constraints, np.random.default_rng(seed))


def share_found_again(
    forms: Sequence[QuadraticForm], indices: Indices, constraints: Constraints, rng: np.random.Generator
) -> float:
    """Return the share of pairs that the other half of the pairs finds again: each x its partner, among those left out.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        Whitened kernels of both sets.
    indices : ndarray of int, shape (n,)
        The matching, −1 where x has no partner.
    constraints : Constraints
        The sizes of the sets.
    rng : numpy.random.Generator
        Draws the halves.

    Returns
    -------
    float
        The share.
    """
    matched = rng.permutation(np.flatnonzero(indices >= 0))
    halves = matched[: len(matched) // 2], matched[len(matched) // 2 :]
    found = 0
    for kept, left in (halves, halves[::-1]):
        plan = np.zeros((constraints.n, constraints.m), dtype=np.float32)
        plan[kept, indices[kept]] = 1.0
        profit = np.sum([form.profit(plan) for form in forms], axis=0)[np.ix_(left, indices[left])]
        profit -= profit.mean(axis=0)  # what all prefer is no one's partner
        found += int((profit.argmax(axis=1) == np.arange(len(left))).sum())
    return found / max(len(matched), 1)


def find_lead(geometry: GeometryPair, context: Context) -> Indices | None:
    """Return the matching to which signatures lead, if far more of its pairs are found again than of an unrelated set.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    context : Context
        What the matching keeps to; the seed draws the unrelated set.

    Returns
    -------
    ndarray of int, shape (n,), or None
        The matching; none where objects are few or have few dimensions, or where nothing stands out.
    """
    few = context.constraints.smallest < GEOMETRY.many_objects_from
    if few or has_dominant_components(geometry.x) or has_dominant_components(geometry.y):
        return None
    indices, ratio = look(geometry, context)
    return indices if ratio > LEADS.clear else None


def look(geometry: GeometryPair, context: Context) -> tuple[Indices, float]:
    """Follow signatures to a matching, and compare how much of it is found again with the same of an unrelated set.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    context : Context
        What the matching keeps to; the seed draws the unrelated set.

    Returns
    -------
    indices : ndarray of int, shape (n,)
        The matching.
    ratio : float
        The ratio of the shares of pairs that half of the others find again.
    """
    constraints = context.constraints
    scores = score_signatures(geometry, LEADS.quantiles, np.float32)
    indices, again = anneal_led(geometry, constraints, scores, context.seed)
    free = Constraints(constraints.n, constraints.m, constraints.n_pairs, NO_ANCHORS)
    unrelated = draw_unrelated(geometry, context.seed)  # of which these scores know nothing: a start like any other
    by_chance = anneal_led(unrelated, free, scores, context.seed)[1]
    return indices, again / max(by_chance, 1.0 / constraints.smallest)
