"""The metrics by which the objects of a table are compared, and their names in words."""

from collections.abc import Iterator, Sequence

import numpy as np

from pairup.auto.geometry import GeometryPair
from pairup.auto.schedule import GEOMETRY
from pairup.components import principal_components, standardize
from pairup.kernels import rescale, squared_distances
from pairup.types import Array, Float32Array

IN_WORDS = {
    "euclidean": "Euclidean distance",
    "cityblock": "L1 on standardized columns",
    "partially-whitened": "Euclidean distance of partially whitened principal components",
    "ranks": "Euclidean distance of column ranks",
    "cosine": "cosine of columns counted from their smallest value",
    "directions": "cosine of columns counted from their mean",
    "geodesic": "geodesic distance along nearest neighbours",
    "precomputed": "precomputed distances",
    "joint": "several metrics at once",
}


def metric_in_words(metric: str) -> str:
    """Return what a metric is called in a report.

    Parameters
    ----------
    metric : str
        The short name of a metric.

    Returns
    -------
    str
        Its name in words.

    Examples
    --------
    >>> metric_in_words("cityblock")
    'L1 on standardized columns'
    >>> metric_in_words("whitened-4")
    'Euclidean distance of 4 whitened principal components'
    """
    if not metric.startswith("whitened-"):
        return IN_WORDS[metric]
    k = metric.rpartition("-")[2]
    of_columns = " of unscaled columns" if is_unscaled(metric) else ""
    return f"Euclidean distance of {k} whitened principal components{of_columns}"


def is_whitened(metric: str) -> bool:
    """Tell whether a metric is one of a number of whitened components.

    Parameters
    ----------
    metric : str
        The short name of a metric.

    Returns
    -------
    bool
        Whether.

    Examples
    --------
    >>> is_whitened("whitened-4"), is_whitened("partially-whitened")
    (True, False)
    """
    return metric.startswith("whitened-")


def is_unscaled(metric: str) -> bool:
    """Tell whether a metric is one of whitened components of columns in their own units.

    Parameters
    ----------
    metric : str
        The short name of a metric.

    Returns
    -------
    bool
        Whether.

    Examples
    --------
    >>> is_unscaled("whitened-unscaled-4"), is_unscaled("whitened-4")
    (True, False)
    """
    return metric.startswith("whitened-unscaled-")


def rank_columns(Z: Array) -> Array:
    """Return Z with each column replaced by its ranks, in (0, 1).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.

    Returns
    -------
    ndarray of shape (n, d)
        Ranks.

    Examples
    --------
    >>> rank_columns(np.array([[10.0], [1000.0]])).T
    array([[0.25, 0.75]])
    """
    from scipy.stats import rankdata

    ranks: Array = (rankdata(Z, axis=0) - 0.5) / len(Z)
    return ranks


def normalize_rows(Z: Array) -> Array:
    """Return Z with rows of length 1, whose distances are those of angles; rows of zeros stay.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.

    Returns
    -------
    ndarray of shape (n, d)
        Directions.

    Examples
    --------
    >>> normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    Z = rescale(Z, axis=1)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(length > 0, length, 1.0)


def geodesic_distances(D: Array | Float32Array, neighbours: int = GEOMETRY.neighbours) -> Array:
    """Return squared lengths of the shortest paths along edges between nearest neighbours.

    The minimum spanning tree keeps the graph connected.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Squared distances.
    neighbours : int, default 5
        How many nearest neighbours each object is joined with.

    Returns
    -------
    ndarray of shape (n, n)
        Squared geodesic distances.

    Examples
    --------
    >>> D = squared_distances(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> geodesic_distances(D, neighbours=1)[0].round(6)
    array([0., 1., 4., 9.])
    """
    from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

    n = len(D)
    lengths = np.sqrt(D)
    # SciPy takes lengths up to 1e-8 for no edge, so all are multiplied by a power of two, and at last divided by it.
    unit = -int(np.frexp(lengths.max())[1]) + GEOMETRY.length_bits
    lengths = np.ldexp(lengths, unit)
    lengths += GEOMETRY.duplicate_distance * lengths.max()
    np.fill_diagonal(lengths, 0.0)
    k = min(neighbours, n - 1)
    nearest = np.argpartition(lengths, k, axis=1)[:, : k + 1]
    tree = minimum_spanning_tree(lengths).toarray()
    edges = np.maximum(tree, tree.T)
    rows = np.arange(n)[:, None]
    edges[rows, nearest] = lengths[rows, nearest]
    edges = np.maximum(edges, edges.T)
    paths: Array = shortest_path(edges, method="D", directed=False)
    return np.ldexp(paths, -unit) ** 2


def cityblock_distances(Z: Array) -> Array:
    """Return squared L1 distances (Σ_k |z_ik − z_jk|)²: a few odd columns weigh less in them.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table.

    Returns
    -------
    ndarray of shape (n, n)
        Squared distances.

    Examples
    --------
    >>> cityblock_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 49.],
           [49.,  0.]])
    """
    from scipy.spatial.distance import pdist, squareform

    D: Array = squareform(pdist(Z, "cityblock"))
    return np.square(D, out=D)


def whiten_partially(Z: Array) -> Array:
    """Return the principal components of a centred table, the large ones shrunk towards the others.

    A component of variance v gets v/√(v + u), where u is the median: √v if it is large, halfway to whitened;
    v/√u, as small beside the others as it is, if it is below the median. So many small components count beside the
    few that hold most of the variance.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A centred table.

    Returns
    -------
    ndarray of shape (n, r)
        Components.

    Examples
    --------
    >>> np.ptp(whiten_partially(np.array([[8.0, 0.0], [-8.0, 0.0], [0.0, 1.0], [0.0, -1.0]])), axis=0).round(1)
    array([4.3, 0.7])
    """
    U, variances = principal_components(Z)
    shrunk: Array = U * (np.sqrt(variances) / np.maximum(variances + np.median(variances), 1e-300) ** 0.25)
    return shrunk


def table_geometries(X: Array, Y: Array) -> Iterator[GeometryPair]:
    """Yield geometries of two tables, one for each metric that suits their shapes.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Yields
    ------
    GeometryPair
        Euclidean; L1 on standardized columns; partially whitened components; ranks; cosine; geodesic.
    """
    euclidean = GeometryPair("euclidean", squared_distances(rescale(X)), squared_distances(rescale(Y)))
    yield euclidean
    widths = X.shape[1], Y.shape[1]
    if max(widths) > 1:
        x, y = standardize(X), standardize(Y)
        yield GeometryPair("cityblock", cityblock_distances(x), cityblock_distances(y))
        x, y = whiten_partially(x), whiten_partially(y)
        yield GeometryPair("partially-whitened", squared_distances(x), squared_distances(y))
    if max(widths) <= GEOMETRY.rank_columns_up_to:
        yield GeometryPair("ranks", squared_distances(rank_columns(X)), squared_distances(rank_columns(Y)))
    if min(widths) >= GEOMETRY.cosine_from:
        # Directions need an origin that moves with the data. From the mean, halves of photos are .937 right (ten sets
        # of 100), from the corner of the smallest values .952, from 0 where the data have a meaningful one .960.
        x, y = (normalize_rows(Z - Z.min(axis=0)) for Z in (rescale(X), rescale(Y)))
        yield GeometryPair("cosine", squared_distances(x), squared_distances(y), on_sphere=True)
    if min(len(X), len(Y)) > GEOMETRY.objects_per_neighbour * GEOMETRY.neighbours:
        yield geodesic_pair(euclidean.x.distances, euclidean.y.distances)


def directions_pair(X: Array, Y: Array) -> GeometryPair:
    """Return the angles of two tables as seen from their means: what text embeddings have in common.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Returns
    -------
    GeometryPair
        The geometry of directions.
    """
    x, y = (normalize_rows(Z - Z.mean(axis=0)) for Z in (rescale(X), rescale(Y)))
    return GeometryPair("directions", squared_distances(x), squared_distances(y), on_sphere=True)


def geodesic_pair(x: Array | Float32Array, y: Array | Float32Array) -> GeometryPair:
    """Return the geodesic distances of two sets that are given by squared distances.

    Parameters
    ----------
    x, y : ndarray of shape (n, n) and (m, m)
        Squared distances within X and within Y.

    Returns
    -------
    GeometryPair
        The geodesic geometry.
    """
    return GeometryPair("geodesic", geodesic_distances(x), geodesic_distances(y))


def whitened_geometries(X: Array, Y: Array) -> Iterator[GeometryPair]:
    """Yield two tables by their k leading principal components, each scaled to variance 1, for several k.

    If both tables are linear maps of the same k factors, their components differ by a rotation only, whatever the
    units of the columns. Which k comes closest to that shows in the alignment.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Yields
    ------
    GeometryPair
        The geometry of k components; its metric is called "whitened-k".
    """
    yield from _whitened_pairs("whitened-", standardize(X), standardize(Y))


def unscaled_geometries(X: Array, Y: Array) -> Iterator[GeometryPair]:
    """Yield the same of columns in their own units, where these differ: their leading components are other ones.

    The sixth component of eight columns may be a mere curvature of the others, and the fifth of standardized ones
    nothing that the other set has among its first five; then only four of the columns as they are compare.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Yields
    ------
    GeometryPair
        The geometry of k components; its metric is called "whitened-unscaled-k".
    """
    x, y = (Z - Z.mean(axis=0) for Z in (rescale(X), rescale(Y)))
    if have_different_spreads(x, y):
        yield from _whitened_pairs("whitened-unscaled-", x, y)


def count_unscaled(X: Array, Y: Array) -> list[int]:
    """Return the numbers of components that `unscaled_geometries` compares.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Returns
    -------
    list of int
        Rising numbers.

    Examples
    --------
    >>> count_unscaled(np.diag([3.0, 2.0, 0.1]), np.diag([2.0, 1.0, 0.1]))
    []
    """
    x, y = (Z - Z.mean(axis=0) for Z in (rescale(X), rescale(Y)))
    if not have_different_spreads(x, y):
        return []
    variances = [principal_components(Z, solver="gram")[1] for Z in (x, y)]
    return _count_components(variances, min(len(x), len(y)))


def have_different_spreads(X: Array, Y: Array) -> bool:
    """Tell whether the columns of either table differ in how far they spread, constant ones aside.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        Two tables.

    Returns
    -------
    bool
        Whether.

    Examples
    --------
    >>> have_different_spreads(np.eye(2), np.eye(3)), have_different_spreads(np.eye(2), np.diag([1.0, 3.0]))
    (False, True)
    """
    return max(_ratio_of_spreads(X), _ratio_of_spreads(Y)) >= GEOMETRY.different_spreads


def _ratio_of_spreads(Z: Array) -> float:
    """Return the ratio of the largest and the least spread of the columns of a table, constant ones aside."""
    spreads = Z.std(axis=0)
    spreads = spreads[spreads > GEOMETRY.rounding * spreads.max(initial=0.0)]
    return float(spreads.max() / spreads.min()) if len(spreads) else 1.0


def _whitened_pairs(name: str, X: Array, Y: Array) -> Iterator[GeometryPair]:
    (x, of_x), (y, of_y) = (principal_components(Z) for Z in (X, Y))
    for k in _count_components([of_x, of_y], min(len(X), len(Y))):
        yield GeometryPair(f"{name}{k}", squared_distances(x[:, :k]), squared_distances(y[:, :k]))


def _count_components(variances: Sequence[Array], objects: int) -> list[int]:
    """Return how many whitened components may compare: those that hold most of the variance of both sets."""
    explained = [np.cumsum(v) / max(float(v.sum()), 1e-300) for v in variances]
    most = min(objects // GEOMETRY.objects_per_component, *(len(v) for v in variances))
    ks = [k for k in GEOMETRY.whitened_components if k <= most]
    return [k for k in ks if min(share[k - 1] for share in explained) >= GEOMETRY.explained_variance]
