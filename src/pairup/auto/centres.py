"""Starts for many objects: cluster centres of both sets, or samples of them, matched by the dense search."""

from collections.abc import Iterator

import numpy as np

from pairup.auto.cluster_plans import breed_populations
from pairup.auto.geometry import GeometryPair
from pairup.auto.initializers import initial_plans
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.search import coarse_search
from pairup.auto.view import Side, View
from pairup.constraints import Constraints
from pairup.kernels import squared_distances
from pairup.types import Array, Float32Array


def match_centres(view: View, k: int, rng: np.random.Generator) -> Iterator[Float32Array]:
    """Cluster both sets apart, match the centres by annealing, and yield covariances of the eigenfunctions of partners.

    Partitions of two views of the same objects differ, but their centres lie alike: the alignment of a few hundred
    centres tells the region of each partner.

    Parameters
    ----------
    view : View
        The two sets.
    k : int
        The number of clusters.
    rng : numpy.random.Generator
        Draws samples and first centres.

    Yields
    ------
    ndarray of float32, shape (r, s)
        A start for `descend`, the one of best alignment first.
    """
    if 0 in (view.x.points.shape[1], view.y.points.shape[1]):  # all objects of a set are equal
        return
    k = min(k, len(view.x.points), len(view.y.points))
    (C, f, of_x), (D, g, of_y) = (cluster(side, k, rng) for side in (view.x, view.y))
    geometry = GeometryPair(view.metric, squared_distances(C), squared_distances(D))
    if not geometry.has_variation:
        return
    constraints = Constraints(k, k, k)
    found = coarse_search(geometry, constraints, list(initial_plans(geometry, constraints)))
    for candidate in found[: MULTILEVEL.starts_per_clustering]:
        weights = np.sqrt(of_x * of_y[candidate.indices])
        weights /= weights.sum()
        yield ((f * weights[:, None]).T @ g[candidate.indices]).astype(np.float32)


def breed_starts(view: View, rng: np.random.Generator) -> Iterator[Float32Array]:
    """Breed plans between clusters of two samples, and yield covariances of the eigenfunctions of partners.

    Where no component stands out, as in whitened coordinates, centres alone lead astray, and so do small samples.

    Parameters
    ----------
    view : View
        The two sets.
    rng : numpy.random.Generator
        Draws samples, clusters and plans.

    Yields
    ------
    ndarray of float32, shape (r, s)
        Starts for `descend`, the best few of each population.
    """
    if 0 in (view.x.points.shape[1], view.y.points.shape[1]):  # all objects of a set are equal
        return
    size = min(MULTILEVEL.bred, len(view.x.points), len(view.y.points))
    x, y = (rng.permutation(len(side.points))[:size] for side in (view.x, view.y))
    points = view.x.points[x].astype(np.float64), view.y.points[y].astype(np.float64)
    geometry = GeometryPair(view.metric, *(squared_distances(Z) for Z in points))
    if not geometry.has_variation:
        return
    seeds = [int(seed) for seed in rng.integers(2**31, size=MULTILEVEL.populations)]
    for population in breed_populations(geometry, seeds):
        f, g = population.x.averaging @ view.x.values[x], population.y.averaging @ view.y.values[y]
        for plan in population.plans[: MULTILEVEL.followed]:
            yield f.T @ plan @ g


def cluster(side: Side, k: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Cluster a sample of a set by k-means.

    Parameters
    ----------
    side : Side
        The set.
    k : int
        The number of clusters.
    rng : numpy.random.Generator
        Draws the sample and the first centres.

    Returns
    -------
    centres : ndarray of shape (k, d)
        Centres, in coordinates.
    means : ndarray of shape (k, r)
        The mean of every eigenfunction in each cluster.
    counts : ndarray of shape (k,)
        How many objects of the sample each cluster has.
    """
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    rows = rng.permutation(len(side.points))[: MULTILEVEL.clustered]
    means = KMeans(k, n_init=1, max_iter=MULTILEVEL.clustering_steps, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct objects than clusters: some stay empty
        labels = means.fit_predict(side.points[rows])
    counts = np.bincount(labels, minlength=k).astype(np.float64)
    totals = np.zeros((k, side.values.shape[1]))
    np.add.at(totals, labels, side.values[rows])
    return means.cluster_centers_.astype(np.float64), totals / np.maximum(counts, 1.0)[:, None], counts
