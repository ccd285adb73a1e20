"""A population of matchings that breed, for sets whose coarse structure does not lead to the pairing.

What is coarse may fit a mirrored pairing better than the right one, which only fine detail prefers; annealing from
afar then ends elsewhere. Solutions of all views are parents here: a child takes from two of them the pairs that each
one's own density-ratio model finds likely, melts the others, and is judged by its held-out score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.annealing import NO_ANCHORS, Terms, annealed, last
from pairup.compiled import compiled
from pairup.density_ratio import left_out
from pairup.search import agreement
from pairup.starts import unique
from pairup.types import Array, Float32Array, Indices
from pairup.views import JUDGES, KernelName, View, compressed, low_rank

POPULATION = 16
SAME = 0.7  # matchings that agree on this share of the pairs are one member
LEAST_UNIT = 0.1  # the unit of a judge that finds nothing good, in units of the most that any judge finds
JUDGING = (0.01, 0.003)  # the ε of held-out scores: coarser ones never are the best of a good matching
BREEDING = (0.1, 0.03, 0.01, 0.003)  # ε of which one is drawn for every child
ALONE = 0.6  # the share of children that grow by one view before all finish them
FINISH = 0.01  # the ε of finishing
GROWING = tuple(np.geomspace(5, 40, 6).tolist())  # β; a child melts more or less
MELTED = 4  # how many of these temperatures a child may be spared
FINISHING = tuple(np.geomspace(40, 200, 4).tolist())
KEPT, MOLTEN = 0.9, 0.3  # how far the pairs are trusted that a child takes over, and the others
MIXED = 0.3  # the share of children that take after both parents in all pairs alike


class Critic:
    """The held-out scores of matchings, one at a time and quickly: the smoothers of all judges are made once.

    Parameters
    ----------
    views : ways of seeing the two sets.
    weights : of the views; they sum to 1.
    """

    def __init__(self, views: Sequence[View], weights: Array) -> None:
        self.weights = np.repeat(weights, len(JUDGES)) / len(JUDGES)
        sides = [
            [np.stack([left_out(side.spectrum(judge), epsilon) for epsilon in JUDGING]) for side in view.sides]
            for view in views
            for judge in JUDGES
        ]
        self._x = np.stack([x for x, _ in sides])
        self._y = np.stack([y for _, y in sides])
        self._xx, self._yy = (np.ascontiguousarray(Z.swapaxes(2, 3) @ Z) for Z in (self._x, self._y))
        self._unit = np.full(len(sides), -1.0)

    def judge(self, indices: Indices) -> tuple[Array, Array]:
        """Return J of a matching by each judge, and the density ratio of each pair, the pair left out of its fit."""
        matched = np.flatnonzero(indices >= 0)
        J, ratios = _held_out(self._x, self._y, self._xx, self._yy, matched, indices[matched])
        of_pairs = np.full(len(indices), -np.inf)
        of_pairs[matched] = self.weights @ ratios * len(matched)
        return J, of_pairs

    def compare_with(self, J: Array) -> None:
        """Take the best J of matchings (rows) by each judge (columns) as its unit; faint judges share a floor."""
        best = J.min(axis=0)
        self._unit = np.minimum(best, min(LEAST_UNIT * float(best.min()), -1e-12))

    def score(self, J: Array) -> float:
        """Return the mean of J in the units of `compare_with`."""
        return float(J / self._unit @ self.weights)


@compiled
def _held_out(
    x: Float32Array, y: Float32Array, xx: Float32Array, yy: Float32Array, i: Indices, p: Indices
) -> tuple[Array, Array]:
    judges, epsilons = x.shape[:2]
    J, ratios, rows = np.zeros(judges), np.zeros((judges, len(i))), np.empty(len(i))
    for k in range(judges):
        for e in range(epsilons):
            total = 0.0
            for a in range(len(i)):
                u, v, s, t = x[k, e, i[a]], y[k, e, p[a]], xx[k, e, i[a]], yy[k, e, p[a]]
                own, square = np.float32(0), np.float32(0)
                for b in range(len(i)):
                    own += u[i[b]] * v[p[b]]
                    square += s[i[b]] * t[p[b]]
                rows[a] = own
                total += 0.5 * float(square) - float(own)
            if e == 0 or total < J[k]:
                J[k] = total
                ratios[k] = rows
    return J, ratios


class Nursery:
    """Where children grow: some whitened kernels of all views, alone and together, within their leading directions.

    Parameters
    ----------
    views : ways of seeing the two sets.
    weights : of the views; they sum to 1.
    terms : what every matching keeps to.
    kernels : by which they see.
    """

    def __init__(self, views: Sequence[View], weights: Array, terms: Terms, kernels: Sequence[KernelName]) -> None:
        self.terms = terms
        self.weights = weights
        x, y = compressed(views, kernels)
        each = np.repeat(weights, len(kernels)).astype(np.float32)
        self._joint, self._single = {}, {}
        for epsilon in BREEDING:
            whole = low_rank(x, y, epsilon, range(len(each)))
            self._joint[epsilon] = replace(whole, S=whole.S * each[:, None, None])
            for k in range(len(views)):
                of_view = slice(len(kernels) * k, len(kernels) * (k + 1))
                self._single[k, epsilon] = replace(whole, S=whole.S[of_view], T=whole.T[of_view])

    def finished(self, plan: Float32Array) -> Indices:
        """Return the matching of a plan after a short annealing by all views together."""
        form = self._joint[FINISH]
        return self.terms.round(last(annealed([form], plan, self.terms, betas=FINISHING, updates=2)))

    def grown(self, plan: Float32Array, rng: np.random.Generator) -> Indices:
        """Return a matching from a plan: annealed by a view or by all, at some ε, from some temperature; finished."""
        epsilon = float(rng.choice(BREEDING))
        form = self._joint[epsilon]
        if rng.random() < ALONE:
            form = self._single[int(rng.choice(len(self.weights), p=self.weights)), epsilon]
        betas = GROWING[int(rng.integers(MELTED)) :]
        return self.finished(last(annealed([form], plan, self.terms, betas=betas, updates=2)))


@dataclass(frozen=True)
class Member:
    """One of the population.

    Parameters
    ----------
    indices : a matching.
    score : its held-out score, larger is better.
    ratios : how much likelier each of its pairs is than chance, by the other pairs.
    """

    indices: Indices
    score: float
    ratios: Array


def evolve(
    views: Sequence[View],
    weights: Array,
    terms: Terms,
    solutions: Sequence[Indices],
    kernels: Sequence[KernelName],
    seed: int,
) -> list[Indices]:
    """Return the members of a population after some children, the best first.

    Parameters
    ----------
    views : ways of seeing the two sets.
    weights : of the views; they sum to 1.
    terms : what every matching keeps to.
    solutions : the first parents are the best of these.
    kernels : by which children grow; all judges judge them.
    seed : draws parents and how their children grow.
    """
    rng, known = np.random.default_rng(seed), terms.anchors[0]
    critic, nursery = Critic(views, weights), Nursery(views, weights, terms, kernels)
    first = [nursery.finished(terms.start(p)) for p in unique(solutions)]
    judged = [(p, *critic.judge(p)) for p in unique(first)]
    critic.compare_with(np.array([J for _, J, _ in judged]))
    population: list[Member] = []
    for p, J, ratios in judged:
        admit(population, Member(p, critic.score(J), ratios), known)
    for _ in range(children(terms)):
        a, b = pair_of(len(population), rng)
        plan = child(population[a], population[b], terms, rng)
        indices = nursery.grown(plan, rng)
        J, ratios = critic.judge(indices)
        admit(population, Member(indices, critic.score(J), ratios), known)
    return [member.indices for member in population]


def children(terms: Terms) -> int:
    """Return how many children a population has: fewer among few objects, which differ less, and many, which cost."""
    return int(min(2 * min(terms.n, terms.m), 200, 200 * (300 / max(terms.n, terms.m)) ** 2))


def pair_of(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw two parents of a population that is ordered by score: the better of two, and any other."""
    a = int(rng.integers(size, size=2).min())
    b = int(rng.integers(max(size - 1, 1)))
    return a, (b + (b >= a)) % size


def child(one: Member, other: Member, terms: Terms, rng: np.random.Generator) -> Float32Array:
    """Return a plan after two matchings: the likelier pair of each x, kept where it is among the likeliest of all."""
    if rng.random() < MIXED:
        trust, share = rng.uniform(0.3, 0.8), rng.uniform(0.3, 0.7)
        both = share * terms.hard(one.indices) + (1 - share) * terms.hard(other.indices)
        return np.asarray((1 - trust) * terms.uniform() + trust * both, dtype=np.float32)
    first = one.ratios >= other.ratios
    likeliest = np.where(first, one.ratios, other.ratios)
    alone = int((likeliest == -np.inf).sum())
    rank = (np.argsort(np.argsort(likeliest)) - alone) / max(len(likeliest) - alone, 1)
    trusted = np.where(rank > rng.uniform(0.2, 0.7), KEPT, MOLTEN)[:, None]
    taken = terms.hard(np.where(first, one.indices, other.indices))
    return np.asarray(trusted * taken + (1 - trusted) * terms.uniform(), dtype=np.float32)


def admit(population: list[Member], newcomer: Member, known: Indices = NO_ANCHORS[0]) -> None:
    """Let a matching into a population ordered by score: in the place of one that it agrees with, or of the worst."""
    alike = [agreement(newcomer.indices, member.indices, known) for member in population]
    nearest = int(np.argmax(alike)) if alike else 0
    if alike and alike[nearest] >= SAME:
        if newcomer.score <= population[nearest].score:
            return
        del population[nearest]
    elif len(population) == POPULATION:
        if newcomer.score <= population[-1].score:
            return
        del population[-1]
    population.append(newcomer)
    population.sort(key=lambda member: -member.score)
