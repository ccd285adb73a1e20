"""Evidence for a matching: how dependent its pairs are, beside shuffled pairs and unrelated sets.

Every search makes its pairs dependent, also those of sets that have nothing to do with each other. So what has been
found is compared with what a search finds in sets like Y that are unrelated to X.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pairup.components import decorrelate, principal_components
from pairup.density_ratio import EPSILONS, eigendecompose, held_out_scores
from pairup.kernels import KernelFamily
from pairup.matchers import KSNOCCO
from pairup.types import Array, Indices

MARGIN = 1.15  # how far a score must exceed that of unrelated sets to be called more than chance
WIDTHS = (1.0, 0.5, 0.25)  # of the kernels: the narrow ones see how finely pairs agree, in sets of few dimensions
SHUFFLES = 20  # random pairings
DRAWS = 3  # unrelated sets
FEW_OBJECTS, MANY_DRAWS = 30, 10  # below so many objects, which may match by accident, so many unrelated sets


@dataclass(frozen=True)
class Evidence:
    """Held-out scores of a matching and of what chance makes.

    A score is the least-squares mutual information of pairs that are left out of the fit one at a time, with the best
    of three Gaussian kernels: 0 or less for independent pairs.

    Parameters
    ----------
    found : float
        Of the matching.
    shuffled : float
        Of random pairs of the same sets, on average.
    unrelated : float
        The largest of what KS-NOCCO, the quickest good search, finds in unrelated sets.

    Examples
    --------
    >>> print(Evidence(6.1, -0.09, 4.13))
    Held-out score 6.10 (shuffled pairs: -0.09; unrelated sets, matched by KS-NOCCO: 4.13).
    """

    found: float
    shuffled: float
    unrelated: float

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the pairs are clearly more dependent than unrelated sets can be made.

        Examples
        --------
        >>> Evidence(6.1, -0.09, 4.13).is_beyond_chance, Evidence(4.2, -0.09, 4.13).is_beyond_chance
        (True, False)
        """
        return self.found - self.shuffled > MARGIN * (self.unrelated - self.shuffled)

    def __str__(self) -> str:
        return (
            f"Held-out score {self.found:.2f} (shuffled pairs: {self.shuffled:.2f}; "
            f"unrelated sets, matched by KS-NOCCO: {self.unrelated:.2f})."
        )


def gather_steps(X: Array, Y: Array, indices: Indices, *, seed: int) -> Iterator[Evidence | None]:
    """Gather evidence for a matching; to stop iterating is to cancel.

    The unrelated sets are like Y, or like X if Y has one dimension: to shuffle its values is to reorder it.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (n, e)
        The two sets.
    indices : ndarray of int, shape (n,)
        The matching: Y[indices] is aligned with X.
    seed : int
        Draws the shuffles and the unrelated sets.

    Yields
    ------
    Evidence or None
        None while the searches on unrelated sets go on, and the evidence last.
    """
    n = len(X)
    x, y = KernelFamily(X), KernelFamily(Y)
    rng = np.random.default_rng(seed)
    scores = held_out_dependence(x, y, [indices, *(rng.permutation(n) for _ in range(SHUFFLES))])
    turned = is_one_dimensional(Y)
    reached = []
    for _ in range(MANY_DRAWS if n < FEW_OBJECTS else DRAWS):
        unrelated = draw_unrelated(X if turned else Y, rng)
        sets = (unrelated, Y) if turned else (X, unrelated)
        matcher = KSNOCCO()
        for _ in matcher.steps(*sets):
            yield None
        x, y = (KernelFamily(Z) for Z in sets)
        reached.append(float(held_out_dependence(x, y, [matcher.assignment_])[0]))
    yield Evidence(float(scores[0]), float(scores[1:].mean()), max(reached))


def held_out_dependence(x: KernelFamily, y: KernelFamily, matchings: Sequence[Indices]) -> Array:
    """Return −J − ½ of matchings, each pair scored by a fit without it, at the best width and ε.

    Parameters
    ----------
    x, y : KernelFamily
        The kernels of the two sets.
    matchings : sequence of ndarray of int, shape (n,)
        Matchings.

    Returns
    -------
    ndarray of shape (n_matchings,)
        Least-squares mutual information of held-out pairs; larger is more dependent.
    """
    best = np.full(len(matchings), np.inf)
    for width in WIDTHS:
        K, L = (eigendecompose(family.matrix(width).copy()) for family in (x, y))
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
    """Return a set like Y without its structure.

    Its principal components keep their variances and nearly their distributions, and lose their relations: each is
    shuffled on its own, and they are made uncorrelated again.

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
    U, variances = principal_components(Y - Y.mean(axis=0))
    shuffled = rng.permuted(U, axis=0)
    return decorrelate(shuffled - shuffled.mean(axis=0)) * np.sqrt(variances)
