"""Where a search starts: by what no isometry changes, and by leading components with all signs or rotated."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from pairup.auto.geometry import GeometryPair
from pairup.auto.metrics import rank_columns
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY, INITIALIZERS
from pairup.constraints import Constraints
from pairup.kernels import center
from pairup.starts import leading_eigenvectors, unique
from pairup.types import Array, Float32Array, Indices


def quantiles_of(Z: Array | Float32Array, count: int) -> Array:
    """Return quantiles of each row.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        A table whose rows rise.
    count : int
        How many quantiles.

    Returns
    -------
    ndarray of shape (n, count)
        The quantiles of each row, rising.

    Examples
    --------
    >>> quantiles_of(np.array([[0.0, 1.0, 2.0, 3.0]]), 2)
    array([[0.5, 2.5]])
    """
    place = (np.arange(count) + 0.5) / count * Z.shape[1] - 0.5
    low = np.clip(np.floor(place).astype(int), 0, Z.shape[1] - 1)
    high = np.minimum(low + 1, Z.shape[1] - 1)
    between: Array = Z[:, low] + (place - low) * (Z[:, high] - Z[:, low])
    return between


def match_distance_profiles(geometry: GeometryPair, constraints: Constraints) -> Indices:
    """Match objects whose distances to all others are distributed alike; no isometry changes those.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching.
    """
    from scipy.spatial.distance import cdist

    many = constraints.smallest >= GEOMETRY.many_objects_from
    count = min(constraints.smallest, INITIALIZERS.quantiles_of_many if many else INITIALIZERS.quantiles)
    x, y = (
        np.sort(np.sqrt(Z.distances / max(float(np.median(Z.distances)), 1e-30)), axis=1)
        for Z in (geometry.x, geometry.y)
    )
    return constraints.round(-cdist(quantiles_of(x, count), quantiles_of(y, count), "cityblock"))


def match_leverages(geometry: GeometryPair, constraints: Constraints) -> Indices:
    """Match objects that stand out alike: by the ranks of their leverages, which no isometry changes.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching.
    """
    from scipy.spatial.distance import cdist

    x, y = (rank_columns(Z.leverages()) for Z in (geometry.x, geometry.y))
    return constraints.round(-cdist(x, y, "cityblock"))


def kernel_components(D: Array | Float32Array, k: int) -> Array:
    """Return the k leading kernel principal components, the first of variance 1.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Squared distances.
    k : int
        How many components; no more than n are returned.

    Returns
    -------
    ndarray of shape (n, k)
        The components as columns.
    """
    K = center(np.exp(D.astype(np.float64) / (-INITIALIZERS.kernel_scale * max(float(np.median(D)), 1e-30))))
    V = leading_eigenvectors(K, min(k, len(K)))
    scale = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, K @ V), 0.0))
    leading: Array = V * scale / (scale[0] / len(K) ** 0.5 + 1e-300)
    return leading


def component_starts(geometry: GeometryPair, constraints: Constraints) -> Iterator[Indices]:
    """Match the leading kernel principal components in every combination of their signs: one alone, then k at once.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.

    Yields
    ------
    ndarray of int, shape (n,)
        A matching.
    """
    from scipy.spatial.distance import cdist

    A, B = (kernel_components(Z.distances, INITIALIZERS.components) for Z in (geometry.x, geometry.y))
    f, g = (_centered_ranks(C[:, 0]) for C in (A, B))
    k = min(A.shape[1], B.shape[1])
    for sign in (1.0, -1.0):
        yield constraints.round(-((f[:, None] - sign * g) ** 2))
    for signs in product((1.0, -1.0), repeat=k):
        yield constraints.round(-cdist(A[:, :k], B[:, :k] * signs, "sqeuclidean"))


def rotated_starts(geometry: GeometryPair, context: Context) -> Iterator[Indices]:
    """Match the leading kernel principal components after random rotations, fewer for many objects, which cost more.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    context : Context
        What every matching keeps to; the seed draws the rotations.

    Yields
    ------
    ndarray of int, shape (n,)
        A matching.
    """
    from scipy.spatial.distance import cdist

    rng, constraints = np.random.default_rng(context.seed), context.constraints
    most = INITIALIZERS.rotations
    count = int(np.clip(most * INITIALIZERS.rotations_up_to / constraints.largest, INITIALIZERS.fewest_rotations, most))
    for k in INITIALIZERS.rotated_components:
        A, B = kernel_components(geometry.x.distances, k), kernel_components(geometry.y.distances, k)
        k = min(A.shape[1], B.shape[1])
        A, B = (C[:, :k] / np.sqrt(C[:, :k].std(axis=0) + 1e-12) for C in (A, B))
        for _ in range(count):
            # Not all rotations are equally likely in this way: LAPACK's signs favour those that keep the components
            # apart. That helps: with equally likely ones, .02 to .43 of the halves of 225 faces are paired right in
            # four runs instead of .61 to .89.
            rotation = np.linalg.qr(rng.normal(size=(k, k)))[0]
            yield constraints.round(-cdist(A, B @ rotation, "sqeuclidean"))


def _centered_ranks(f: Array) -> Array:
    ranks: Array = (np.argsort(np.argsort(f, kind="stable")) + 0.5) / len(f) - 0.5
    return ranks


def initial_plans(geometry: GeometryPair, constraints: Constraints) -> Iterator[Float32Array]:
    """Yield the plans from which the coarse search starts.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every plan keeps to.

    Yields
    ------
    ndarray of float32, shape (n, m)
        A plan: around each matching, around that of a prior, and the uniform one where pairs are known.
    """
    for indices in unique(initial_matchings(geometry, constraints)):
        yield constraints.warm_start(indices)
    if constraints.prior is not None:
        yield constraints.warm_start(constraints.round(constraints.prior))
    if len(constraints.anchors[0]):
        yield constraints.uniform()


def initial_matchings(geometry: GeometryPair, constraints: Constraints) -> Iterator[Indices]:
    """Yield matchings by what no isometry changes, then by leading components.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    constraints : Constraints
        What every matching keeps to.

    Yields
    ------
    ndarray of int, shape (n,)
        A matching.
    """
    yield match_leverages(geometry, constraints)
    yield match_distance_profiles(geometry, constraints)
    yield from component_starts(geometry, constraints)
