"""Islands: a population of matchings in each of several geometries, bred apart.

Where dependence is spread over many dimensions, nearly all starts lead astray, and which metric shows the pairing is
not known. So each metric gets a population of its own: many short annealings from random starts, led by signatures.
Children inherit a region of one parent and the rest of another, and are judged by their alignment at a fine ε, which
costs next to nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.annealing import anneal, last_plan
from pairup.auto.geometry import GeometryPair
from pairup.auto.problem import Context
from pairup.auto.schedule import ISLANDS
from pairup.auto.search import agreement
from pairup.auto.signatures import score_signatures
from pairup.constraints import Constraints
from pairup.forms import QuadraticForm, alignment
from pairup.types import Array, Float32Array, Indices


@dataclass(frozen=True, eq=False)
class Inhabitant:
    """One matching of an island.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        The matching.
    value : float
        Its alignment at the ε of fitness.
    """

    indices: Indices
    value: float


@dataclass(frozen=True, eq=False)
class IslandResult:
    """What an island found.

    Parameters
    ----------
    metric : str
        The metric of its geometry.
    solutions : list of ndarray of int, shape (n,)
        The best matchings, that of the best held-out score first.
    gain : float
        The held-out score of the first in units of the best that the island began with.
    """

    metric: str
    solutions: list[Indices]
    gain: float

    @property
    def is_found(self) -> bool:
        """Whether breeding gained more than it does in unrelated sets."""
        return self.gain >= ISLANDS.clear_gain


class Island:
    """A population of matchings in one geometry.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.
    rng : numpy.random.Generator
        Draws starts, parents and how children are made.
    """

    def __init__(self, geometry: GeometryPair, constraints: Constraints, rng: np.random.Generator) -> None:
        self.geometry, self.constraints, self.rng = geometry, constraints, rng
        self._forms = {epsilon: geometry.coarse_forms(epsilon) for epsilon in ISLANDS.epsilons}
        self.population: list[Inhabitant] = []

    @property
    def _fitness_forms(self) -> list[QuadraticForm]:
        return self._forms[ISLANDS.fitness_epsilon]

    def settle(self, count: int) -> None:
        """Anneal random matchings, led by signatures while they are hot; the best and different ones stay."""
        signatures = score_signatures(self.geometry)
        for number in range(count):
            weight = np.float32(self.rng.uniform(*ISLANDS.signature_weight))
            prior = weight * signatures if self.constraints.prior is None else self.constraints.prior
            led = replace(self.constraints, prior=prior)
            forms = self._forms[ISLANDS.start_epsilons[number % len(ISLANDS.start_epsilons)]]
            plan = self.constraints.warm_start(draw_matching(self.constraints, self.rng))
            plan = last_plan(anneal(forms, plan, led, betas=ISLANDS.hot, updates=ISLANDS.updates))
            self.admit(last_plan(anneal(forms, plan, self.constraints, betas=ISLANDS.cold, updates=ISLANDS.updates)))

    def breed(self, count: int) -> None:
        """Make children; each takes the place of a worse matching that it agrees with, or of the worst."""
        for _ in range(count):
            size = len(self.population)
            a = int(self.rng.integers(size, size=2).min())
            b = int(self.rng.integers(max(size - 1, 1)))
            plan = self.cross_over(self.population[a].indices, self.population[(b + (b >= a)) % size].indices)
            forms = self._forms[float(self.rng.choice(ISLANDS.epsilons))]
            hottest = float(self.rng.choice(ISLANDS.child_betas))
            betas = np.geomspace(hottest, ISLANDS.cold[-1], ISLANDS.child_steps).tolist()
            self.admit(last_plan(anneal(forms, plan, self.constraints, betas=betas, updates=ISLANDS.updates)))

    def cross_over(self, p: Indices, q: Indices) -> Float32Array:
        """Return the plan of a child: a region of p and the rest of q, a mixture, or the best pairs of p or of both.

        Parameters
        ----------
        p, q : ndarray of int, shape (n,)
            Two matchings.

        Returns
        -------
        ndarray of float32, shape (n, m)
            The plan.
        """
        rng, uniform = self.rng, self.constraints.uniform()
        hard = self.constraints.hard
        kind = int(rng.integers(4))
        if kind == 0:
            trust = rng.uniform(*ISLANDS.region_trust)
            inherited = hard(np.where(self.draw_region(p), p, q))
            return np.asarray(trust * inherited + (1 - trust) * uniform, dtype=np.float32)
        if kind == 1:
            trust, share = rng.uniform(*ISLANDS.mixed_trust), rng.uniform(*ISLANDS.mixed_share)
            both = share * hard(p) + (1 - share) * hard(q)
            return np.asarray(trust * both + (1 - trust) * uniform, dtype=np.float32)
        profit = self.own_profit(p)
        other_trust = 0.0
        if kind == 2:
            of_q = self.own_profit(q)
            p, profit, other_trust = np.where(profit >= of_q, p, q), np.maximum(profit, of_q), ISLANDS.other_trust
        rank = np.argsort(np.argsort(profit)) / len(profit)
        trust_in = np.where(rank > rng.uniform(*ISLANDS.kept_rank), ISLANDS.inherited_trust, other_trust)[:, None]
        return np.asarray(trust_in * hard(p) + (1 - trust_in) * uniform, dtype=np.float32)

    def draw_region(self, p: Indices) -> Array:
        """Return which objects lie nearest to a random one, in X or, by their partners in p, in Y."""
        matched = np.flatnonzero(p >= 0)
        centre = int(self.rng.choice(matched))
        distances = self.geometry.x.distances[centre].copy()
        if self.rng.random() < ISLANDS.region_in_y:
            distances[:] = np.inf
            distances[matched] = self.geometry.y.distances[p[centre]][p[matched]]
        inside = np.zeros(len(p), dtype=bool)
        inside[np.argsort(distances, kind="stable")[: int(self.rng.uniform(*ISLANDS.region_share) * len(p))]] = True
        return inside

    def own_profit(self, p: Indices) -> Array:
        """Return how well each pair fits the others; −∞ where x has no partner."""
        plan = self.constraints.hard(p)
        profit = np.sum([form.profit(plan)[np.arange(len(p)), p] for form in self._fitness_forms], axis=0)
        return np.where(p >= 0, profit, -np.inf)

    def admit(self, plan: Float32Array) -> None:
        """Round a plan and let its matching into the population, if it is good enough."""
        indices = self.constraints.round(plan)
        newcomer = Inhabitant(indices, alignment(self._fitness_forms, indices))
        known = self.constraints.anchors[0]
        agreements = [agreement(indices, other.indices, known) for other in self.population]
        rival = int(np.argmax(agreements)) if agreements else 0
        if not agreements or agreements[rival] < ISLANDS.same:
            if len(self.population) < ISLANDS.population:
                self.population.append(newcomer)
                self.population.sort(key=lambda one: -one.value)
                return
            rival = len(self.population) - 1
        if newcomer.value > self.population[rival].value:
            self.population[rival] = newcomer
            self.population.sort(key=lambda one: -one.value)


def draw_matching(constraints: Constraints, rng: np.random.Generator) -> Indices:
    """Draw a random matching, the known pairs aside.

    Parameters
    ----------
    constraints : Constraints
        How many objects and pairs there are.
    rng : numpy.random.Generator
        Draws the pairs.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching.

    Examples
    --------
    >>> sorted(draw_matching(Constraints(4, 3, 2), np.random.default_rng(0)).tolist())[:2]
    [-1, -1]
    """
    indices = np.full(constraints.n, -1, dtype=np.intp)
    rows = rng.permutation(constraints.n)[: constraints.n_pairs]
    indices[rows] = rng.permutation(constraints.m)[: constraints.n_pairs]
    return indices


def select_island_geometries(geometries: Sequence[GeometryPair]) -> list[GeometryPair]:
    """Return the geometries that get an island: those of linear structure, the most promising first.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.

    Returns
    -------
    list of GeometryPair
        Some of them.
    """
    order = {metric: number for number, metric in enumerate(ISLANDS.metrics)}
    kinds = [
        geometry.metric.partition("-")[0] if "whitened-" in geometry.metric else geometry.metric
        for geometry in geometries
    ]
    chosen = [k for k, kind in enumerate(kinds) if kind in order]
    return [geometries[k] for k in sorted(chosen, key=lambda k: order[kinds[k]])[: ISLANDS.count]]


def evolve_island(geometry: GeometryPair, context: Context, seed: int) -> IslandResult:
    """Breed a population in one geometry.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    context : Context
        What every matching keeps to.
    seed : int
        Draws starts, parents and children.

    Returns
    -------
    IslandResult
        The best matchings.
    """
    constraints = context.constraints
    island = Island(geometry, constraints, np.random.default_rng(seed))
    share = min(1.0, ISLANDS.all_up_to / constraints.largest)
    island.settle(max(ISLANDS.fewest, round(share * ISLANDS.starts)))
    first = [one.indices for one in island.population[: ISLANDS.scored]]
    island.breed(max(ISLANDS.fewest, round(share * ISLANDS.children)))
    last = [one.indices for one in island.population[: ISLANDS.scored]]
    scores = -geometry.held_out_scores([*first, *last]).mean(axis=1)
    before, after = scores[: len(first)], scores[len(first) :]
    solutions = [last[k] for k in np.argsort(-after, kind="stable")]
    return IslandResult(geometry.metric, solutions, float(after.max() / max(before.max(), 1e-30)))
