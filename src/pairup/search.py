"""Candidates for a matching: many starts, a coarse look at each, continuation of the best."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from pairup.annealing import NO_ANCHORS, RECOOLING, Form, Terms, annealed, finished, last, raced
from pairup.density_ratio import relative
from pairup.kernels import center, squared_distances
from pairup.openings import starting_plans, turned_starts
from pairup.types import Array, Float32Array, Indices
from pairup.views import LOW_RANK_FROM, Joint, View, unit_rows

CONTINUATION = (0.1, 0.03, 0.01, 0.003, 0.001)  # ε: coarse dependence first, fine detail later
FINE = 0.03  # the ε from which on matchings are continued that do not come from a coarse look
COARSE_COOLING = tuple(np.geomspace(5, 200, 10))
KEPT_BASINS = 2
JUDGED = 8  # solutions of a coarse look, the best by their values, that are judged by their held-out scores too
POOLED = 6  # solutions that views tell each other
PARENTS = 8  # solutions of a coarse look that a population may begin with
NULL_DRAWS = ((30, 10), (200, 3))  # below so many objects, so many unrelated sets: of few, some match by accident
NULL_STARTS = 7  # of an unrelated set, whose solutions are all alike
LEAST_SQUARE = 1e-3  # directions that shuffled columns have nearly lost are not blown up beyond this
NEAR_THE_BEST = 0.5  # views whose excess is this share of the best one's are followed
SOFT_COOLING = (5.0, 7.0, 10.0)  # β up to which a plan says which partners are likely, and not which happen to fit
RIVAL = 0.93  # a second solution is followed if its coarse value comes this close to the first


@dataclass(frozen=True)
class Effort:
    """How long the search takes its time.

    Parameters
    ----------
    continuation : the regularisers ε, coarse dependence first.
    updates : of the plan at each temperature.
    coarse_updates : the same in the coarse look.
    coarse_epsilon : its regulariser. Many objects show finer dependence at once, where there are fewer false summits.
    races : whether only the better half of the starts is cooled to the end.
    clear : an excess from which a view stands out: it leads to the pairing. Finer dependence goes less far beyond
        unrelated sets.
    enough : an excess from which no further view is looked for.
    """

    continuation: tuple[float, ...]
    updates: int
    coarse_updates: int
    coarse_epsilon: float
    races: bool
    clear: float
    enough: float

    @classmethod
    def of(cls, terms: Terms) -> "Effort":
        """Return the effort for sets of this size: many objects leave less freedom, and cost more."""
        many = max(terms.n, terms.m) >= LOW_RANK_FROM
        if many:
            return cls(
                CONTINUATION[::2],
                updates=2,
                coarse_updates=2,
                coarse_epsilon=0.03,
                races=True,
                clear=0.25,
                enough=0.25,
            )
        return cls(CONTINUATION, updates=3, coarse_updates=2, coarse_epsilon=0.1, races=False, clear=0.3, enough=0.5)


@dataclass(frozen=True)
class Candidate:
    """One matching the search came by.

    Parameters
    ----------
    view : the name of the way of seeing the sets.
    basin : which of the solutions of the coarse look, or of those bred, it was continued from.
    epsilon : the regulariser at which it was found.
    indices : the matching.
    value : mean cosine between the whitened kernels, in [−1, 1].
    """

    view: str
    basin: int
    epsilon: float
    indices: Indices
    value: float


def alignment(forms: Sequence[Form], indices: Indices) -> float:
    """Return the mean of Σ K∘L[p, p] over forms of norm 1: a cosine."""
    return float(np.mean([form.value(indices) for form in forms]))


@dataclass(frozen=True)
class Basin:
    """A solution of the coarse look."""

    plan: Float32Array
    indices: Indices
    value: float


def coarse(
    view: View | Joint, terms: Terms, starts: Sequence[Float32Array], *, betas: Sequence[float] = COARSE_COOLING
) -> list[Basin]:
    """Anneal at a coarse ε from every start; return the distinct solutions, the best first."""
    effort = Effort.of(terms)
    forms = view.coarse_forms(effort.coarse_epsilon)
    cooled = raced if effort.races else finished
    found = []
    for plan in cooled(forms, starts, terms, betas=betas, updates=effort.coarse_updates):
        indices = terms.round(plan)
        found.append(Basin(plan, indices, alignment(forms, indices)))
    return distinct(found)


def distinct(basins: Sequence[Basin]) -> list[Basin]:
    """Return basins no two of which agree on half of the pairs, the best first."""
    apart: list[Basin] = []
    for basin in sorted(basins, key=lambda b: -b.value):
        if all(agreement(basin.indices, other.indices) < 0.5 for other in apart):
            apart.append(basin)
    return apart


def keep(view: View | Joint, basins: Sequence[Basin], count: int = KEPT_BASINS) -> list[Basin]:
    """Return the basin of the best value, that of the best held-out score, and the next by value; the best first.

    A mirror image may have the better value at a coarse ε. Among many objects one solution stands out by its value.
    """
    chosen = list(basins[:count])
    if len(basins) > count and max(basins[0].plan.shape) < LOW_RANK_FROM:
        J = view.judge([basin.indices for basin in basins[:JUDGED]])
        best = basins[int(relative(J).mean(axis=1).argmax())]
        if all(best is not basin for basin in chosen):
            chosen[-1] = best
    return chosen


def agreement(p: Indices, q: Indices, known: Indices = NO_ANCHORS[0]) -> float:
    """Return the share of pairs that two matchings have in common, known ones aside.

    >>> agreement(np.array([0, 1, -1, 2]), np.array([0, 2, -1, 1]))
    0.3333333333333333
    >>> agreement(np.array([0, 1, -1, 2]), np.array([0, 2, -1, 1]), known=np.array([0]))
    0.0
    """
    same = (p == q) & (p >= 0)
    pairs = max(int((p >= 0).sum()), int((q >= 0).sum())) - len(known)
    return float(same.sum() - same[known].sum()) / max(pairs, 1)


def unrelated(view: View, seed: int) -> View:
    """Return the same X beside a set like Y, but without its structure.

    The principal coordinates of Y nearly keep their distributions and lose their relations: each is shuffled on its
    own, and they are made uncorrelated again, as principal coordinates are. Directions, which lie on a sphere, are put
    back on it.
    """
    from scipy.linalg import eigh

    gram = 1.0 - 0.5 * view.unscaled_y if view.on_sphere else -0.5 * center(view.y)
    w, V = eigh(gram, driver="evd")
    kept = w > 1e-6 * w[-1]
    kept[-1] = True
    shuffled = np.random.default_rng(seed).permuted(V[:, kept], axis=0)
    if not view.on_sphere:
        shuffled -= shuffled.mean(axis=0)  # rounding
    coordinates = uncorrelated(shuffled) * np.sqrt(np.maximum(w[kept], 0.0))
    return view.with_y(squared_distances(unit_rows(coordinates) if view.on_sphere else coordinates))


def uncorrelated(Z: Array) -> Array:
    """Return the columns nearest to those of Z that have length 1 and are orthogonal, Z(ZᵀZ)^(−½)."""
    from scipy.linalg import eigh

    w, V = eigh(Z.T @ Z, driver="evd")
    apart: Array = Z @ (V / np.sqrt(np.maximum(w, LEAST_SQUARE * w[-1]))) @ V.T
    return apart


@dataclass(frozen=True)
class Outlook:
    """What the coarse look at one view promises.

    Parameters
    ----------
    view : its name.
    basins : the solutions to follow, the best first.
    null : the most that sets like Y reach which have nothing to do with X, and which hear of no other view.
    solutions : what the coarse looks came by, the best first in each.
    """

    view: str
    basins: list[Basin]
    null: float
    solutions: list[Indices] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The best value found."""
        return self.basins[0].value

    @property
    def excess(self) -> float:
        """How far the match goes beyond what unrelated sets reach, 1 at the most."""
        return (self.value - self.null) / max(1.0 - self.null, 1e-9)


def look(view: View, terms: Terms, seed: int) -> Outlook:
    """Look coarsely at all starts, and at unrelated sets for comparison.

    Parameters
    ----------
    view : the two sets as one kind of distance shows them.
    terms : what every matching keeps to.
    seed : draws the unrelated sets.
    """
    basins = coarse(view, terms, list(starting_plans(view, terms)))
    free = Terms(terms.n, terms.m, terms.pairs, NO_ANCHORS)
    null = 0.0
    for draw in range(next((draws for below, draws in NULL_DRAWS if max(terms.n, terms.m) < below), 1)):
        stranger = unrelated(view, seed + draw)
        starts = list(islice(starting_plans(stranger, free), NULL_STARTS))
        null = max(null, coarse(stranger, free, starts)[0].value)
    return Outlook(view.name, keep(view, basins), null, [basin.indices for basin in basins[:PARENTS]])


def look_longer(view: View, terms: Terms, outlook: Outlook, seed: int) -> Outlook:
    """Return the outlook after more starts, for views of which none stands out."""
    found = coarse(view, terms, [terms.start(indices) for indices in turned_starts(view, terms, seed)])
    return replace(
        outlook,
        basins=keep(view, distinct([*outlook.basins, *found]), KEPT_BASINS + 1),
        solutions=[*outlook.solutions, *(basin.indices for basin in found[:PARENTS])],
    )


def hear(view: View, terms: Terms, outlook: Outlook, pool: Sequence[Indices]) -> Outlook:
    """Return the outlook after the solutions of other views were tried as well."""
    return replace(outlook, basins=exchange(view, terms, outlook.basins, pool))


def stands_out(outlooks: Sequence[Outlook], terms: Terms) -> bool:
    """Return whether some view goes clearly beyond unrelated sets."""
    return max(outlook.excess for outlook in outlooks) >= Effort.of(terms).clear


def worth_following(outlooks: Sequence[Outlook], terms: Terms) -> list[int]:
    """Return the numbers of the views whose excess comes near the best; all, where none stands out."""
    if not stands_out(outlooks, terms):
        return list(range(len(outlooks)))
    excess = np.array([outlook.excess for outlook in outlooks])
    return [int(k) for k in np.flatnonzero(excess >= NEAR_THE_BEST * excess.max())]


def pooled(outlooks: Sequence[Outlook]) -> list[Indices]:
    """Return the distinct solutions of several views, those that come closest to the best of their view first."""
    behind = [replace(basin, value=basin.value - of.value) for of in outlooks for basin in of.basins]
    return [basin.indices for basin in distinct(behind)[:POOLED]]


def exchange(view: View | Joint, terms: Terms, own: Sequence[Basin], pool: Sequence[Indices]) -> list[Basin]:
    """Let a view try the solutions of the others beside its own; return those worth following, the best first."""
    foreign = [p for p in pool if all(agreement(p, basin.indices) < 0.5 for basin in own)]
    found = coarse(view, terms, [terms.start(p) for p in foreign], betas=COARSE_COOLING[3:]) if foreign else []
    basins = distinct([*own, *found])
    least = basins[0].value - (1.0 - RIVAL) * abs(basins[0].value)
    return keep(view, [basin for basin in basins if basin.value >= least])


def follow(
    view: View | Joint, terms: Terms, own: Sequence[Basin], pool: Sequence[Indices], bred: Sequence[Indices] = ()
) -> list[Candidate]:
    """Continue solutions of the coarse look to finer and finer dependence; every stage gives candidates.

    Parameters
    ----------
    view : the two sets as one kind of distance shows them, or several at once.
    terms : what every matching keeps to.
    own : what the coarse look at this view came by.
    pool : solutions to try beside them.
    bred : matchings that populations came by, which fine dependence decided; they are continued in it only.
    """
    plans = [basin.plan for basin in exchange(view, terms, own, pool)]
    effort = Effort.of(terms)
    candidates = []
    for epsilon in effort.continuation:
        if epsilon <= FINE and bred:
            plans += [terms.start(indices) for indices in bred]
            bred = ()
        forms = view.forms(epsilon)
        for number, plan in enumerate(plans):
            plans[number] = last(annealed(forms, plan, terms, betas=RECOOLING, updates=effort.updates))
            indices = terms.round(plans[number])
            candidates.append(Candidate(view.name, number, epsilon, indices, alignment(forms, indices)))
    return candidates


def softened(view: View | Joint, terms: Terms, indices: Indices) -> Float32Array:
    """Return the plan around a matching at a moderate temperature, where it does not yet fit what is accidental.

    Parameters
    ----------
    view : the two sets as one kind of distance shows them, or several at once.
    terms : what the plan keeps to.
    indices : the matching.
    """
    forms = view.coarse_forms(CONTINUATION[0])
    return last(annealed(forms, terms.start(indices), terms, betas=SOFT_COOLING, updates=4))
