"""Populations of plans between clusters: many cheap searches for the region of each partner.

Where the sets have a few dimensions of equal weight, nearly all starts end in a false maximum: some directions of X
meet the right ones of Y, and the others are swapped or mirrored. A plan between a hundred clusters tells as much about
that as one between all objects, and costs next to nothing. So hundreds of them are annealed at once. Children keep the
directions that a parent matches well and turn the others at random, or inherit a region from each of two parents.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pairup.annealing import sinkhorn
from pairup.auto.geometry import Geometry, GeometryPair, mean_low_rank_form
from pairup.auto.schedule import CLUSTER_PLANS, GEOMETRY
from pairup.constraints import Constraints
from pairup.forms import LowRankForm
from pairup.kernels import center
from pairup.starts import leading_eigenvectors
from pairup.types import Array, Float32Array


@dataclass(frozen=True, eq=False)
class Clusters:
    """One set by its clusters.

    Parameters
    ----------
    weights : ndarray of float32, shape (k,)
        The share of the objects in each cluster.
    averaging : ndarray of float32, shape (k, n)
        What takes values of all objects to their mean in each cluster.
    directions : ndarray of float32, shape (k, r)
        Leading directions of the kernels, the mean of each cluster.
    coordinates : ndarray of float32, shape (k, d)
        Leading components, the mean of each cluster.
    """

    weights: Float32Array
    averaging: Float32Array
    directions: Float32Array
    coordinates: Float32Array

    @classmethod
    def of(cls, A: Float32Array, S: Float32Array, coordinates: Array, k: int, seed: int) -> "Clusters":
        """Cluster a set in the space of its whitened kernel by k-means.

        Parameters
        ----------
        A : ndarray of float32, shape (n, r)
            Leading directions of the kernels.
        S : ndarray of float32, shape (r, r)
            The whitened kernel is A S Aᵀ.
        coordinates : ndarray of shape (n, d)
            Leading components.
        k : int
            The number of clusters.
        seed : int
            Draws the first centres.

        Returns
        -------
        Clusters
            The clusters; fewer than k where objects are equal.
        """
        import warnings

        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        w, V = np.linalg.eigh(S)
        points = A @ (V * np.sqrt(np.maximum(w, 0.0)))
        means = KMeans(k, n_init=1, max_iter=CLUSTER_PLANS.clustering_steps, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct objects than clusters
            labels = means.fit_predict(points)
        labels = np.unique(labels, return_inverse=True)[1]
        counts = np.bincount(labels)
        averaging = np.zeros((len(counts), len(A)), dtype=np.float32)
        averaging[labels, np.arange(len(A))] = 1.0 / counts[labels]
        weights, components = counts / len(A), averaging @ coordinates
        return cls(weights.astype(np.float32), averaging, averaging @ A, components.astype(np.float32))


def leading_components(geometry: Geometry) -> Array:
    """Return the few leading principal coordinates of a set, those left out that hardly vary."""
    gram = -0.5 * center(geometry.distances.astype(np.float64))
    V = leading_eigenvectors(gram, min(CLUSTER_PLANS.components, len(gram)))
    spread = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, gram @ V), 0.0))
    components: Array = (V * spread)[:, spread >= CLUSTER_PLANS.least_spread * spread[0]]
    return components / max(float(components.std()), 1e-300)


class ClusterPopulation:
    """A population of plans between the clusters of two sets.

    Parameters
    ----------
    form : LowRankForm
        Whitened kernels of both sets.
    x, y : Clusters
        The sets.
    rng : numpy.random.Generator
        Draws starts, parents and how children are made.
    """

    def __init__(self, form: LowRankForm, x: Clusters, y: Clusters, rng: np.random.Generator) -> None:
        self.form, self.x, self.y, self.rng = form, x, y, rng
        self._independent = x.weights[:, None] * y.weights
        self.plans = np.empty((0, *self._independent.shape), dtype=np.float32)
        self.values = np.empty(0)
        self._maps = np.empty((0, x.directions.shape[1] * y.directions.shape[1]), dtype=np.float32)
        of_x, of_y = (np.sqrt(np.abs(np.einsum("kii->i", M))) for M in (form.S, form.T))
        self._scale = (of_x[:, None] * of_y).astype(np.float32)

    @property
    def stands_out(self) -> bool:
        """Whether the best plan is well ahead of all others."""
        return len(self.values) > 1 and bool(self.values[0] > (1.0 + CLUSTER_PLANS.stands_out) * self.values[1])

    def covariances(self, plans: Float32Array) -> Float32Array:
        """Return N = AᵀPB of several plans: the covariances of the directions of partners."""
        N: Float32Array = self.x.directions.T @ (plans @ self.y.directions)
        return N

    def map(self, N: Float32Array) -> Float32Array:
        """Return Σ_k S_k N T_k: the profit of a pair is aᵀ(Σ_k S_k N T_k)b."""
        M: Float32Array = (self.form.S @ N[:, None] @ self.form.T).sum(axis=1)
        return M

    def soften(self, profit: Float32Array, beta: float) -> Float32Array:
        """Return the plans of profits at an inverse temperature.

        Parameters
        ----------
        profit : ndarray of float32, shape (b, k, l)
            Profits of all pairs of clusters, for several plans; they are overwritten.
        beta : float
            The inverse temperature.

        Returns
        -------
        ndarray of float32, shape (b, k, l)
            Plans, whose sums are the weights of the clusters.
        """
        profit *= (np.float32(beta) / np.maximum(np.abs(profit).max(axis=(1, 2)), 1e-30))[:, None, None]
        profit -= profit.max(axis=2, keepdims=True)
        E = np.exp(profit, out=profit)
        E += np.float32(CLUSTER_PLANS.least)
        u, v = np.ones(E.shape[:2], dtype=np.float32), np.ones((len(E), E.shape[2]), dtype=np.float32)
        for _ in range(CLUSTER_PLANS.sweeps):
            u = self.x.weights / np.matmul(E, v[:, :, None])[:, :, 0]
            v = self.y.weights / np.matmul(u[:, None, :], E)[:, 0]
        E *= u[:, :, None]
        E *= v[:, None, :]
        return E

    def admit(self, plans: Float32Array, betas: Array) -> None:
        """Anneal plans, and keep the best of all that differ.

        Parameters
        ----------
        plans : ndarray of float32, shape (b, k, l)
            Where to start.
        betas : ndarray of float
            The inverse temperatures, rising.
        """
        for beta in np.repeat(betas, CLUSTER_PLANS.updates):
            M = self.map(self.covariances(plans))
            profit = np.asarray(self.x.directions @ M @ self.y.directions.T, dtype=np.float32)
            plans = self.soften(profit, float(beta))
        N = self.covariances(plans)
        values = np.einsum("bij,bij->b", self.map(N), N)
        maps = (N * self._scale).reshape(len(N), -1)
        maps /= np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-30)
        plans, maps = np.concatenate([self.plans, plans]), np.concatenate([self._maps, maps])
        values = np.concatenate([self.values, values])
        alike = maps @ maps.T
        kept: list[int] = []
        for k in np.argsort(-values, kind="stable").tolist():
            if not kept or alike[k, kept].max() < CLUSTER_PLANS.same:
                kept.append(k)
            if len(kept) == CLUSTER_PLANS.population:
                break
        self.plans, self.values, self._maps = plans[kept], values[kept], maps[kept]

    def settle(self, count: int) -> None:
        """Anneal random plans: half of them by random maps of the directions, half by rotations of the components."""
        rng, c, d = self.rng, self.x.coordinates, self.y.coordinates
        maps = rng.normal(size=(count - count // 2, *self._scale.shape)).astype(np.float32) * self._scale
        profits = [self.x.directions @ maps @ self.y.directions.T]
        k = max(c.shape[1], d.shape[1])
        turned = np.linalg.qr(rng.normal(size=(count // 2, k, k)))[0][:, : c.shape[1], : d.shape[1]]
        profits.append(c @ turned.astype(np.float32) @ d.T)
        plans = self.soften(np.concatenate(profits), CLUSTER_PLANS.hot[0])
        self.admit(plans, np.geomspace(*CLUSTER_PLANS.hot, CLUSTER_PLANS.steps))

    def breed(self, count: int) -> None:
        """Make children and anneal them from a random temperature."""
        rng, size = self.rng, len(self.plans)
        turned = int((rng.random(count) < CLUSTER_PLANS.turned).sum())
        better = rng.integers(size, size=(count, 2)).min(axis=1)
        profits = np.stack([self.turn(self.plans[k]) for k in better[:turned]]) if turned else None
        children = [] if profits is None else [self.soften(profits, CLUSTER_PLANS.map_beta)]
        if count > turned:
            others = rng.integers(size, size=count - turned)
            pairs = zip(better[turned:], others, strict=True)
            children.append(np.stack([self.cross_over(self.plans[a], self.plans[b]) for a, b in pairs]))
        hottest = float(rng.choice(CLUSTER_PLANS.child_betas))
        self.admit(np.concatenate(children), np.geomspace(hottest, CLUSTER_PLANS.hot[1], CLUSTER_PLANS.child_steps))

    def turn(self, plan: Float32Array) -> Float32Array:
        """Return the profits of a map that keeps what a plan matches well, and turns the other directions at random."""
        rng, c, d = self.rng, self.x.coordinates, self.y.coordinates
        U, s, Vt = np.linalg.svd(c.T @ plan @ d, full_matrices=False)
        r = len(s)
        count = int(rng.integers(1, r + 1, size=2).min())
        rotation = np.linalg.qr(rng.normal(size=(count, count)))[0] if count > 1 else -np.ones((1, 1))
        inner = np.diag(s.astype(np.float64))
        inner[r - count :, r - count :] = rotation * s[max(r - count - 1, 0)]
        profits: Float32Array = (c @ (U @ inner @ Vt) @ d.T).astype(np.float32)
        return profits

    def cross_over(self, p: Float32Array, q: Float32Array) -> Float32Array:
        """Return a region of p and the rest of q, or a mixture of both, softened.

        Parameters
        ----------
        p, q : ndarray of float32, shape (k, l)
            Two plans.

        Returns
        -------
        ndarray of float32, shape (k, l)
            The plan of a child.
        """
        rng = self.rng
        kind, share = int(rng.integers(3)), np.float32(rng.uniform(*CLUSTER_PLANS.region_share))
        if kind == 2:
            child = share * p + (1 - share) * q
        else:
            side = (self.x, self.y)[kind]
            centre = side.directions[int(rng.integers(len(side.directions)))]
            distances = ((side.directions - centre) ** 2).sum(axis=1)
            inside = distances <= np.quantile(distances, share)
            child = np.where(inside[:, None] if kind == 0 else inside, p, q)
        trust = np.float32(rng.uniform(*CLUSTER_PLANS.trust))
        return np.asarray(trust * child + (1 - trust) * self._independent, dtype=np.float32)


def breed_populations(geometry: GeometryPair, seeds: Iterable[int]) -> Iterator[ClusterPopulation]:
    """Breed populations of plans between clusters, until they stand still.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    seeds : iterable of int
        Each draws the clusters, starts and children of a population.

    Yields
    ------
    ClusterPopulation
        The best plan first.
    """
    which = [GEOMETRY.kernels.index(kernel) for kernel in GEOMETRY.scoring_kernels]
    form = mean_low_rank_form(geometry.x.subspace, geometry.y.subspace, CLUSTER_PLANS.epsilon, which)
    k = min(CLUSTER_PLANS.clusters, min(len(form.A), len(form.B)) // CLUSTER_PLANS.objects_per_cluster)
    sides = [
        (A, S.sum(axis=0), leading_components(side))
        for A, S, side in ((form.A, form.S, geometry.x), (form.B, form.T, geometry.y))
    ]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        x, y = (Clusters.of(*side, k, int(rng.integers(2**31))) for side in sides)
        population = ClusterPopulation(form, x, y, rng)
        population.settle(CLUSTER_PLANS.starts)
        best, without_gain = float(population.values[0]), 0
        for _ in range(CLUSTER_PLANS.generations):
            population.breed(CLUSTER_PLANS.children)
            gains = population.values[0] > (1.0 + CLUSTER_PLANS.least_gain) * best
            best, without_gain = max(best, float(population.values[0])), 0 if gains else without_gain + 1
            if population.stands_out or without_gain > CLUSTER_PLANS.patience:
                break
        yield population


def breed_plans(geometry: GeometryPair, constraints: Constraints, seed: int) -> list[Float32Array]:
    """Return plans between all objects by the best plans between clusters.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every plan keeps to.
    seed : int
        Draws clusters, starts and children.

    Returns
    -------
    list of ndarray of float32, shape (n, m)
        Where to start, the best first.
    """
    population = next(breed_populations(geometry, [seed]))
    form, plans = population.form, []
    for M in population.map(population.covariances(population.plans[: CLUSTER_PLANS.continued])):
        G = form.A @ M @ form.B.T
        G *= np.float32(CLUSTER_PLANS.map_beta / max(float(np.abs(G).max()), 1e-30))
        constraints.mask(G)
        plans.append(sinkhorn(G, np.zeros(constraints.m, dtype=np.float32), constraints)[0])
    return plans
