"""Baseline: what chance makes of two sets, to compare a matching with.

Every search makes its pairs dependent, also those of sets that have nothing to do with each other. So what has been
found is compared with what the same search finds in sets like Y that are unrelated to X.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.base import clone

from pairup.climb import Step
from pairup.components import principal_components, shuffle_components
from pairup.density_ratio import EPSILONS, eigendecompose, held_out_scores
from pairup.evidence import Evidence
from pairup.kernels import KernelFamily, rescale
from pairup.matcher import Matcher
from pairup.matchers import KSNOCCO
from pairup.types import Array, Indices

WIDTHS = (1.0, 0.5, 0.25)  # of the kernels: the narrow ones see how finely pairs agree, in sets of few dimensions
SHUFFLES = 20  # random pairings
DRAWS = ((30, 10), (200, 5))  # below so many objects, so many unrelated sets: few objects may match by accident
STARTS = 3  # of the matcher in an unrelated set, whose solutions are all alike; KS-NOCCO, which is quick, has more


def compare_steps(
    X: Array, Y: Array, indices: Indices, matcher: Matcher, *, seed: int = 0
) -> Iterator[Step | Evidence]:
    """Compare a matching with shuffled pairs and with what searches find in unrelated sets; to stop is to cancel.

    The unrelated sets are like Y, or like X if Y has one dimension: to shuffle its values is to reorder it. KS-NOCCO
    searches them beside the matcher itself, for some searches fail in sets of one shape and not in those of another.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (n, e)
        The two sets.
    indices : ndarray of int, shape (n,)
        The matching: Y[indices] is aligned with X.
    matcher : Matcher
        What found it.
    seed : int, default 0
        Draws the shuffles and the unrelated sets.

    Yields
    ------
    Step or Evidence
        The steps of the searches in unrelated sets, and the evidence last.
    """
    n = len(X)
    X, Y = rescale(X), rescale(Y)
    rng = np.random.default_rng(seed)
    scores = held_out_dependence(X, Y, [indices, *(rng.permutation(n) for _ in range(SHUFFLES))])
    turned = is_one_dimensional(Y)
    draws = next((draws for below, draws in DRAWS if n < below), 1)
    searches = [KSNOCCO(n_jobs=matcher.n_jobs), clone(matcher).set_params(n_starts=min(STARTS, matcher.n_starts))]
    reached = []
    for _ in range(draws):
        unrelated = draw_unrelated(X if turned else Y, rng)
        sets = (unrelated, Y) if turned else (X, unrelated)
        for search in searches:
            yield from search.steps(*sets)
        reached.append(held_out_dependence(*sets, [search.assignment_ for search in searches]).max())
    sortable = turned and is_one_dimensional(X)
    yield Evidence(float(scores[0]), float(scores[1:].mean()), float(max(reached)), draws, sortable)


def held_out_dependence(X: Array, Y: Array, matchings: Sequence[Indices]) -> Array:
    """Return −J − ½ of matchings, each pair scored by a fit without it, at the best width and ε.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (n, e)
        The two sets.
    matchings : sequence of ndarray of int, shape (n,)
        Matchings.

    Returns
    -------
    ndarray of shape (n_matchings,)
        Least-squares mutual information of held-out pairs; larger is more dependent.
    """
    families = KernelFamily(X), KernelFamily(Y)
    best = np.full(len(matchings), np.inf)
    for width in WIDTHS:
        K, L = (eigendecompose(family.matrix(width)) for family in families)
        best = np.minimum(best, held_out_scores(K, L, matchings, EPSILONS).min(axis=1))
    return -0.5 - best


def is_one_dimensional(Z: Array) -> bool:
    """Tell whether the objects of a set lie on a line; any two such sets can be sorted against each other.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A set, objects as rows.

    Returns
    -------
    bool
        Whether the set has one principal component.

    Examples
    --------
    >>> is_one_dimensional(np.array([[1.0, 2.0], [2.0, 4.0], [5.0, 10.0]]))
    True
    """
    return len(principal_components(Z - Z.mean(axis=0))[1]) == 1


def draw_unrelated(Y: Array, rng: np.random.Generator) -> Array:
    """Return a set like Y without its structure: its principal components, each shuffled on its own.

    Parameters
    ----------
    Y : ndarray of shape (n, d)
        A set, objects as rows.
    rng : numpy.random.Generator
        Draws the shuffles.

    Returns
    -------
    ndarray of shape (n, k)
        The unrelated set.
    """
    return shuffle_components(*principal_components(Y - Y.mean(axis=0)), rng)
