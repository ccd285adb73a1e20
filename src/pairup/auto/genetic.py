"""A genetic search, for sets whose coarse structure does not lead to the pairing.

What is coarse may fit a mirrored pairing better than the right one, which only fine detail prefers; annealing from
a coarse start then ends elsewhere. Here the solutions of all geometries are parents: a child inherits from two of them
the pairs that each parent's own density-ratio model finds likely, the others are annealed anew, and its fitness is its
held-out score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.annealing import anneal, last_plan
from pairup.auto.geometry import GeometryPair, joint_subspaces, mean_low_rank_form
from pairup.auto.problem import Context
from pairup.auto.schedule import GENETIC, GEOMETRY, KernelName
from pairup.auto.search import agreement
from pairup.compiled import compiled
from pairup.constraints import NO_ANCHORS, Constraints
from pairup.density_ratio import leave_one_out
from pairup.forms import QuadraticForm, combine_dense
from pairup.starts import unique
from pairup.types import Array, Float32Array, Indices


class Fitness:
    """The held-out scores of matchings, one at a time and quickly: the smoothers of all models are made once.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets; each has a density-ratio model for each scoring kernel.
    weights : ndarray of shape (n_geometries,)
        Weights of the geometries; they sum to 1.
    """

    def __init__(self, geometries: Sequence[GeometryPair], weights: Array) -> None:
        kernels, epsilons = GEOMETRY.scoring_kernels, GENETIC.scored_epsilons
        self.weights = np.repeat(weights, len(kernels)) / len(kernels)
        self._x, self._y = (
            np.stack(
                [
                    np.stack([leave_one_out(side.spectrum(kernel), epsilon) for epsilon in epsilons])
                    for side in sides
                    for kernel in kernels
                ]
            )
            for sides in ([pair.x for pair in geometries], [pair.y for pair in geometries])
        )
        self._xx, self._yy = (np.ascontiguousarray(Z.swapaxes(2, 3) @ Z) for Z in (self._x, self._y))
        self._unit = np.full(len(self.weights), -1.0)

    def evaluate(self, indices: Indices) -> tuple[Array, Array]:
        """Score a matching.

        Parameters
        ----------
        indices : ndarray of int, shape (n,)
            The matching.

        Returns
        -------
        J : ndarray of shape (n_models,)
            Its held-out score under each model.
        ratios : ndarray of shape (n,)
            The density ratio of each pair, the pair left out of its fit; −∞ where x has no partner.
        """
        matched = np.flatnonzero(indices >= 0)
        J, ratios = _held_out(self._x, self._y, self._xx, self._yy, matched, indices[matched])
        of_pairs = np.full(len(indices), -np.inf)
        of_pairs[matched] = self.weights @ ratios * len(matched)
        return J, of_pairs

    def set_units(self, J: Array) -> None:
        """Take the best J of matchings (rows) under each model (columns) as its unit; weak models share a floor."""
        best = J.min(axis=0)
        self._unit = np.minimum(best, min(GENETIC.least_unit * float(best.min()), -1e-12))

    def score(self, J: Array) -> float:
        """Return the mean of J in the units of `set_units`; larger is better."""
        return float(J / self._unit @ self.weights)


@compiled
def _held_out(
    x: Float32Array, y: Float32Array, xx: Float32Array, yy: Float32Array, i: Indices, p: Indices
) -> tuple[Array, Array]:
    models, epsilons = x.shape[:2]
    J, ratios, rows = np.zeros(models), np.zeros((models, len(i))), np.empty(len(i))
    for k in range(models):
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


class KernelForms:
    """Some kernels of several geometries, whole or within their common leading directions, whatever is quicker.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    kernels : sequence of KernelName
        Kernels of each of them.
    """

    def __init__(self, geometries: Sequence[GeometryPair], kernels: Sequence[KernelName]) -> None:
        self._named = [(geometry, kernel) for geometry in geometries for kernel in kernels]
        self._x, self._y = joint_subspaces(geometries, kernels)

    def forms(self, epsilon: float, which: slice, weights: Float32Array) -> list[QuadraticForm]:
        """Return some of the kernels at ε, weighted.

        Parameters
        ----------
        epsilon : float
            The regulariser ε.
        which : slice
            Their numbers; the kernels of one geometry stand together.
        weights : ndarray of float32, shape (n_all,)
            Weights of all kernels.

        Returns
        -------
        list of QuadraticForm
            One form of low rank, or one for each kernel.
        """
        numbers = range(len(self._named))[which]
        if self._named[0][0].prefers_low_rank(epsilon, len(numbers)):
            form = mean_low_rank_form(self._x, self._y, epsilon, numbers)
            return [replace(form, S=form.S * weights[which, None, None])]
        chosen = [(weights[k], *self._named[k]) for k in numbers]
        return combine_dense(
            [weight * geometry.x.whiten(kernel, epsilon) for weight, geometry, kernel in chosen],
            [geometry.y.whiten(kernel, epsilon) for _, geometry, kernel in chosen],
        )


class LocalSearch:
    """Short annealings of children, in one geometry or in all.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    weights : ndarray of shape (n_geometries,)
        Weights of the geometries; they sum to 1.
    constraints : Constraints
        What every matching keeps to.
    kernels : sequence of KernelName
        Kernels of each geometry.
    """

    def __init__(
        self,
        geometries: Sequence[GeometryPair],
        weights: Array,
        constraints: Constraints,
        kernels: Sequence[KernelName],
    ) -> None:
        self.constraints = constraints
        self.weights = weights
        each = np.repeat(weights, len(kernels)).astype(np.float32)
        named = KernelForms(geometries, kernels)
        self._joint: dict[float, list[QuadraticForm]] = {}
        self._single: dict[tuple[int, float], list[QuadraticForm]] = {}
        for epsilon in GENETIC.epsilons:
            self._joint[epsilon] = named.forms(epsilon, slice(len(each)), each)
            for k in range(len(geometries)):
                own = slice(len(kernels) * k, len(kernels) * (k + 1))
                self._single[k, epsilon] = named.forms(epsilon, own, np.ones_like(each))

    def polish(self, plan: Float32Array) -> Indices:
        """Return the matching of a plan after a short annealing in all geometries together."""
        forms, betas = self._joint[GENETIC.polish_epsilon], GENETIC.polish_cooling
        plans = anneal(forms, plan, self.constraints, betas=betas, updates=GENETIC.updates)
        return self.constraints.round(last_plan(plans))

    def improve(self, plan: Float32Array, rng: np.random.Generator) -> Indices:
        """Anneal a plan in one geometry or in all, at a random ε and from a random temperature; then polish it.

        Parameters
        ----------
        plan : ndarray of float32, shape (n, m)
            Where to start.
        rng : numpy.random.Generator
            Draws the geometry, ε and the first temperature.

        Returns
        -------
        ndarray of int, shape (n,)
            The matching of the polished plan.
        """
        epsilon = float(rng.choice(GENETIC.epsilons))
        forms = self._joint[epsilon]
        if rng.random() < GENETIC.single_metric:
            forms = self._single[int(rng.choice(len(self.weights), p=self.weights)), epsilon]
        betas = GENETIC.improve_cooling[int(rng.integers(GENETIC.latest_start)) :]
        return self.polish(last_plan(anneal(forms, plan, self.constraints, betas=betas, updates=GENETIC.updates)))


@dataclass(frozen=True, eq=False)
class Individual:
    """One matching of a population.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching.
    score : float
        Its held-out score, larger is better.
    ratios : ndarray of shape (n,)
        How much likelier each of its pairs is than chance, by the other pairs.
    """

    indices: Indices
    score: float
    ratios: Array


def evolve(
    geometries: Sequence[GeometryPair],
    weights: Array,
    solutions: Sequence[Indices],
    kernels: Sequence[KernelName],
    context: Context,
) -> list[Indices]:
    """Return a population after some generations of one child each, the best first.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    weights : ndarray of shape (n_geometries,)
        Weights of the geometries; they sum to 1.
    solutions : sequence of ndarray of int, shape (n,)
        The first parents are the best of these.
    kernels : sequence of KernelName
        Kernels of the local search of children; the scoring kernels give their fitness.
    context : Context
        What every matching keeps to; the seed draws parents and how their children are annealed.

    Returns
    -------
    list of ndarray of int, shape (n,)
        Matchings, the best first.
    """
    constraints = context.constraints
    rng, known = np.random.default_rng(context.seed), constraints.anchors[0]
    fitness, local_search = Fitness(geometries, weights), LocalSearch(geometries, weights, constraints, kernels)
    first = [local_search.polish(constraints.warm_start(p)) for p in unique(solutions)]
    evaluated = [(p, *fitness.evaluate(p)) for p in unique(first)]
    fitness.set_units(np.array([J for _, J, _ in evaluated]))
    population: list[Individual] = []
    for p, J, ratios in evaluated:
        insert(population, Individual(p, fitness.score(J), ratios), known)
    for _ in range(count_children(constraints)):
        a, b = select_parents(len(population), rng)
        plan = cross_over(population[a], population[b], constraints, rng)
        indices = local_search.improve(plan, rng)
        J, ratios = fitness.evaluate(indices)
        insert(population, Individual(indices, fitness.score(J), ratios), known)
    return [individual.indices for individual in population]


def count_children(constraints: Constraints) -> int:
    """Return how many children a population has: fewer among few objects, which differ less, and many, which cost."""
    most = GENETIC.most_children
    affordable = most * (GENETIC.most_children_up_to / constraints.largest) ** 2
    return int(min(GENETIC.children_per_object * constraints.smallest, most, affordable))


def select_parents(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw two parents of a population that is ordered by score: the better of two, and any other.

    Parameters
    ----------
    size : int
        How many individuals there are.
    rng : numpy.random.Generator
        Draws the parents.

    Returns
    -------
    tuple of two int
        Their numbers; equal only if there is one individual.
    """
    a = int(rng.integers(size, size=2).min())
    b = int(rng.integers(max(size - 1, 1)))
    return a, (b + (b >= a)) % size


def cross_over(one: Individual, other: Individual, constraints: Constraints, rng: np.random.Generator) -> Float32Array:
    """Return a plan after two matchings: the likelier pair of each x, trusted where it is among the likeliest of all.

    Parameters
    ----------
    one, other : Individual
        The parents.
    constraints : Constraints
        What every plan keeps to.
    rng : numpy.random.Generator
        Draws the kind of crossover, and how much is inherited.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan of the child.
    """
    if rng.random() < GENETIC.mixed:
        trust, share = rng.uniform(*GENETIC.mixed_trust), rng.uniform(*GENETIC.mixed_share)
        both = share * constraints.hard(one.indices) + (1 - share) * constraints.hard(other.indices)
        return np.asarray((1 - trust) * constraints.uniform() + trust * both, dtype=np.float32)
    first = one.ratios >= other.ratios
    likeliest = np.where(first, one.ratios, other.ratios)
    alone = int((likeliest == -np.inf).sum())
    rank = (np.argsort(np.argsort(likeliest)) - alone) / max(len(likeliest) - alone, 1)
    trust_in = np.where(rank > rng.uniform(*GENETIC.kept_rank), GENETIC.inherited_trust, GENETIC.other_trust)[:, None]
    inherited = constraints.hard(np.where(first, one.indices, other.indices))
    return np.asarray(trust_in * inherited + (1 - trust_in) * constraints.uniform(), dtype=np.float32)


def insert(population: list[Individual], newcomer: Individual, known: Indices = NO_ANCHORS[0]) -> None:
    """Put a matching into a population ordered by score, in the place of one that it agrees with, or of the worst.

    Parameters
    ----------
    population : list of Individual
        The population, changed in place.
    newcomer : Individual
        A matching; it stays out if it is no better than the one whose place it would take.
    known : ndarray of int, shape (n_known,), default none
        Objects of X whose pairs are known; they do not count as agreement.
    """
    agreements = [agreement(newcomer.indices, individual.indices, known) for individual in population]
    nearest = int(np.argmax(agreements)) if agreements else 0
    if agreements and agreements[nearest] >= GENETIC.same:
        if newcomer.score <= population[nearest].score:
            return
        del population[nearest]
    elif len(population) == GENETIC.population:
        if newcomer.score <= population[-1].score:
            return
        del population[-1]
    population.append(newcomer)
    population.sort(key=lambda individual: -individual.score)
