"""Candidates for a matching: many starts, a coarse look at each, continuation of the best."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from pairup.annealing import NO_ANCHORS, RECOOLING, Form, Single, Terms, annealed
from pairup.kernels import Array, center, squared_distances
from pairup.measures import Indices
from pairup.views import LOW_RANK_FROM, View

CONTINUATION = (0.1, 0.03, 0.01, 0.003, 0.001)  # ε: coarse dependence first, fine detail later
COARSE_COOLING = tuple(np.geomspace(5, 200, 10))
KEPT_BASINS = 2
NULL_STARTS = 7  # of an unrelated set, whose solutions are all alike
STANDS_OUT = 0.25  # an excess from which a view has something to say
NEAR_THE_BEST = 0.6  # views whose excess is this share of the best one's are followed
RIVAL = 0.93  # a second solution is followed if its coarse value comes this close to the first


@dataclass(frozen=True)
class Effort:
    """How long the search takes its time.

    Parameters
    ----------
    continuation : the regularisers ε, coarse dependence first.
    updates : of the plan at each temperature.
    coarse_updates : the same in the coarse look.
    """

    continuation: tuple[float, ...]
    updates: int
    coarse_updates: int

    @classmethod
    def of(cls, terms: Terms) -> "Effort":
        """Return the effort for sets of this size: many objects leave less freedom, and cost more."""
        many = max(terms.n, terms.m) >= LOW_RANK_FROM
        return cls(CONTINUATION[::2], 2, 1) if many else cls(CONTINUATION, 3, 2)


@dataclass(frozen=True)
class Candidate:
    """One matching the search came by.

    Parameters
    ----------
    view : the name of the way of seeing the sets.
    basin : which of the solutions found by the coarse look it was continued from.
    epsilon : the regulariser at which it was found.
    indices : the matching.
    value : mean cosine between the whitened kernels, in [−1, 1].
    """

    view: str
    basin: int
    epsilon: float
    indices: Indices
    value: float


def alignment(forms: Sequence[Form], indices: Indices, terms: Terms) -> float:
    """Return the mean of Σ K∘L[p, p] over forms of norm 1: a cosine."""
    return float(np.mean([form.value(indices) for form in forms]))


def quantiles(Z: Array, count: int) -> Array:
    """Return each row of Z as `count` quantiles."""
    place = (np.arange(count) + 0.5) / count * Z.shape[1] - 0.5
    low = np.clip(np.floor(place).astype(int), 0, Z.shape[1] - 1)
    high = np.minimum(low + 1, Z.shape[1] - 1)
    Z = np.sort(Z, axis=1)
    between: Array = Z[:, low] + (place - low) * (Z[:, high] - Z[:, low])
    return between


def profile_start(view: View, terms: Terms) -> Indices:
    """Match objects whose distances to all others are distributed alike; no isometry changes those."""
    from scipy.spatial.distance import cdist

    count = min(terms.n, terms.m, 200)
    x, y = (np.sqrt(D / max(float(np.median(D)), 1e-30)) for D in (view.x, view.y))
    return terms.round(-cdist(quantiles(x, count), quantiles(y, count), "cityblock"))


def eigen_starts(view: View, terms: Terms, k: int = 3) -> Iterator[Indices]:
    """Match the leading kernel principal components in every combination of their signs: one alone, then k at once."""
    from scipy.spatial.distance import cdist

    from pairup.starts import leading_eigenvectors

    components = []
    for D in (view.x, view.y):
        K = center(np.exp(D.astype(np.float64) / (-10 * max(float(np.median(D)), 1e-30))))
        V = leading_eigenvectors(K, min(k, len(K)))
        scale = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, K @ V), 0.0))
        components.append(V * scale / (scale[0] / len(K) ** 0.5 + 1e-300))
    A, B = components
    f, g = (_normal_places(C[:, 0]) for C in components)
    k = min(A.shape[1], B.shape[1])
    for sign in (1.0, -1.0):
        yield terms.round(-((f[:, None] - sign * g) ** 2))
    for signs in product((1.0, -1.0), repeat=k):
        yield terms.round(-cdist(A[:, :k], B[:, :k] * signs, "sqeuclidean"))


def _normal_places(f: Array) -> Array:
    places: Array = (np.argsort(np.argsort(f, kind="stable")) + 0.5) / len(f) - 0.5
    return places


@dataclass(frozen=True)
class Basin:
    """A solution of the coarse look."""

    plan: Single
    indices: Indices
    value: float


def last(plans: Iterator[Single]) -> Single:
    """Drain an annealing."""
    return deque(plans, maxlen=1).pop()


def coarse(view: View, terms: Terms, starts: Sequence[Single]) -> list[Basin]:
    """Anneal at the coarsest ε from every start; return the distinct solutions, the best first."""
    forms = view.coarse_forms(CONTINUATION[0])
    updates = Effort.of(terms).coarse_updates
    found = []
    for plan in starts:
        plan = last(annealed(forms, plan, terms, betas=COARSE_COOLING, updates=updates))
        indices = terms.round(plan)
        found.append(Basin(plan, indices, alignment(forms, indices, terms)))
    distinct: list[Basin] = []
    for basin in sorted(found, key=lambda b: -b.value):
        if all(agreement(basin.indices, other.indices) < 0.5 for other in distinct):
            distinct.append(basin)
    return distinct


def agreement(p: Indices, q: Indices) -> float:
    """Return the share of objects to which two matchings give the same partner."""
    return float((p == q).mean())


def starts(view: View, terms: Terms) -> list[Single]:
    """Return the plans from which the coarse look sets out."""
    matchings = [profile_start(view, terms), *eigen_starts(view, terms)]
    plans = [terms.start(indices) for indices in {p.tobytes(): p for p in matchings}.values()]
    if terms.prior is not None:
        plans.append(terms.start(terms.round(terms.prior)))
    if len(terms.anchors[0]):
        plans.append(terms.uniform())
    return plans


def unrelated(D: Array | Single, seed: int) -> Array:
    """Return squared distances of a set like the one of D, but without its structure.

    Its principal coordinates keep their distributions and lose their relations: each is shuffled on its own.
    """
    from scipy.linalg import eigh

    w, V = eigh(-0.5 * center(D), driver="evd")
    coordinates = np.random.default_rng(seed).permuted(V * np.sqrt(np.maximum(w, 0.0)), axis=0)
    return squared_distances(coordinates)


@dataclass(frozen=True)
class Outlook:
    """What the coarse look at one view promises.

    Parameters
    ----------
    view : its name.
    basins : the solutions to follow, the best first.
    null : the value that a set like Y reaches which has nothing to do with X.
    """

    view: str
    basins: list[Basin]
    null: float

    @property
    def value(self) -> float:
        """The best value found."""
        return self.basins[0].value

    @property
    def excess(self) -> float:
        """How far the match goes beyond what unrelated sets reach, 1 at the most."""
        return (self.value - self.null) / max(1.0 - self.null, 1e-9)


def look(view: View, terms: Terms, seed: int) -> Outlook:
    """Look coarsely at all starts, and at an unrelated set for comparison.

    Parameters
    ----------
    view : the two sets as one kind of distance shows them.
    terms : what every matching keeps to.
    seed : draws the unrelated set.
    """
    basins = coarse(view, terms, starts(view, terms))
    followed = [basin for basin in basins[:KEPT_BASINS] if basin.value > RIVAL * basins[0].value]
    stranger = view.with_y(unrelated(view.y, seed))
    free = Terms(terms.n, terms.m, terms.pairs, NO_ANCHORS)
    null = coarse(stranger, free, starts(stranger, free)[:NULL_STARTS])[0].value
    return Outlook(view.name, followed, null)


def worth_following(outlooks: Sequence[Outlook]) -> list[int]:
    """Return the numbers of the views whose excess comes near the best; all, where none stands out."""
    excess = np.array([outlook.excess for outlook in outlooks])
    if excess.max() < STANDS_OUT:
        return list(range(len(outlooks)))
    return [int(k) for k in np.flatnonzero(excess >= NEAR_THE_BEST * excess.max())]


def follow(view: View, terms: Terms, outlook: Outlook) -> list[Candidate]:
    """Continue the solutions of the coarse look to finer and finer dependence; every stage gives candidates."""
    plans = [basin.plan for basin in outlook.basins]
    effort = Effort.of(terms)
    candidates = []
    for epsilon in effort.continuation:
        forms = view.forms(epsilon)
        for number, plan in enumerate(plans):
            plans[number] = last(annealed(forms, plan, terms, betas=RECOOLING, updates=effort.updates))
            indices = terms.round(plans[number])
            candidates.append(Candidate(view.name, number, epsilon, indices, alignment(forms, indices, terms)))
    return candidates
