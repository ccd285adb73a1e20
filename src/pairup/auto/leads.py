"""A quick look at many objects of many dimensions: one annealing led by signatures, beside one of an unrelated set.

Where no few dimensions dominate, as in embeddings of text, wrong pairings are all alike, and a right one stands out by
its alignment at a fine ε. Signatures of many objects often lead to it at once, and little else need be searched then.
"""

import numpy as np

from pairup.annealing import anneal, last_plan, sinkhorn
from pairup.auto.geometry import Geometry, GeometryPair
from pairup.auto.null_model import draw_unrelated
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, LEADS
from pairup.auto.signatures import score_signatures
from pairup.constraints import NO_ANCHORS, Constraints
from pairup.forms import alignment
from pairup.kernels import center
from pairup.starts import leading_eigenvectors
from pairup.types import Indices


def has_dominant_components(geometry: Geometry) -> bool:
    """Tell whether a few leading components hold most of the variance of a set."""
    gram = -0.5 * center(geometry.distances.astype(np.float64))
    V = leading_eigenvectors(gram, min(LEADS.dominant, len(gram)))
    return bool(np.vdot(V, gram @ V) > LEADS.explained_variance * np.trace(gram))


def anneal_led(geometry: GeometryPair, constraints: Constraints) -> tuple[Indices, float]:
    """Anneal from the plan of the signatures to a fine ε.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What the matching keeps to.

    Returns
    -------
    indices : ndarray of int, shape (n,)
        The matching.
    value : float
        Its alignment at the last ε.
    """
    scores = np.float32(LEADS.signature_beta) * score_signatures(geometry, LEADS.quantiles)
    constraints.mask(scores)
    plan, _ = sinkhorn(scores, np.zeros(constraints.m, dtype=np.float32), constraints)
    for epsilon in LEADS.epsilons:
        forms = geometry.coarse_forms(epsilon)
        betas = LEADS.last_betas if epsilon == LEADS.epsilons[-1] else LEADS.betas
        plan = last_plan(anneal(forms, plan, constraints, betas=betas, updates=LEADS.updates))
    indices = constraints.round(plan)
    return indices, alignment(forms, indices)


def find_lead(geometry: GeometryPair, context: Context) -> Indices | None:
    """Return the matching to which signatures lead, if it is much better than what they lead to in an unrelated set.

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
    constraints = context.constraints
    few = constraints.smallest < GEOMETRY.many_objects_from
    if few or has_dominant_components(geometry.x) or has_dominant_components(geometry.y):
        return None
    indices, value = anneal_led(geometry, constraints)
    free = Constraints(constraints.n, constraints.m, constraints.n_pairs, NO_ANCHORS)
    unrelated = anneal_led(draw_unrelated(geometry, context.seed), free)[1]
    return indices if value > np.exp(LEADS.clear) * max(unrelated, 1e-30) else None
