"""Where the search of a view sets out: what no isometry changes, and leading components, with all signs or turned."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from pairup.annealing import Terms
from pairup.kernels import center
from pairup.starts import leading_eigenvectors, unique
from pairup.types import Array, Float32Array, Indices
from pairup.views import View, ranked

TURNED = (3, 5, 8)  # how many leading components random rotations turn, where no view stands out
TURNS = 14  # of each of these


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


def leverage_start(view: View, terms: Terms) -> Indices:
    """Match objects that stand out alike: by the ranks of their leverages, which no isometry changes."""
    from scipy.spatial.distance import cdist

    x, y = (ranked(table) for table in view.leverages())
    return terms.round(-cdist(x, y, "cityblock"))


def components(D: Array | Float32Array, k: int) -> Array:
    """Return the k leading kernel principal components, the first of variance 1."""
    K = center(np.exp(D.astype(np.float64) / (-10 * max(float(np.median(D)), 1e-30))))
    V = leading_eigenvectors(K, min(k, len(K)))
    scale = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, K @ V), 0.0))
    leading: Array = V * scale / (scale[0] / len(K) ** 0.5 + 1e-300)
    return leading


def component_starts(view: View, terms: Terms, k: int = 3) -> Iterator[Indices]:
    """Match the leading kernel principal components in every combination of their signs: one alone, then k at once."""
    from scipy.spatial.distance import cdist

    A, B = components(view.x, k), components(view.y, k)
    f, g = (_normal_places(C[:, 0]) for C in (A, B))
    k = min(A.shape[1], B.shape[1])
    for sign in (1.0, -1.0):
        yield terms.round(-((f[:, None] - sign * g) ** 2))
    for signs in product((1.0, -1.0), repeat=k):
        yield terms.round(-cdist(A[:, :k], B[:, :k] * signs, "sqeuclidean"))


def turned_starts(view: View, terms: Terms, seed: int) -> Iterator[Indices]:
    """Match the leading kernel principal components after random rotations, fewer for many objects, which cost more."""
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(seed)
    count = int(np.clip(TURNS * 160 / max(terms.n, terms.m), 2, TURNS))
    for k in TURNED:
        A, B = components(view.x, k), components(view.y, k)
        k = min(A.shape[1], B.shape[1])
        A, B = (C[:, :k] / np.sqrt(C[:, :k].std(axis=0) + 1e-12) for C in (A, B))
        for _ in range(count):
            rotation = np.linalg.qr(rng.normal(size=(k, k)))[0]
            yield terms.round(-cdist(A, B @ rotation, "sqeuclidean"))


def _normal_places(f: Array) -> Array:
    places: Array = (np.argsort(np.argsort(f, kind="stable")) + 0.5) / len(f) - 0.5
    return places


def starting_plans(view: View, terms: Terms) -> Iterator[Float32Array]:
    """Yield the plans from which the coarse look sets out."""
    for indices in unique(starting_matchings(view, terms)):
        yield terms.start(indices)
    if terms.prior is not None:
        yield terms.start(terms.round(terms.prior))
    if len(terms.anchors[0]):
        yield terms.uniform()


def starting_matchings(view: View, terms: Terms) -> Iterator[Indices]:
    """Yield matchings by what no isometry changes, then by leading components."""
    yield leverage_start(view, terms)
    yield profile_start(view, terms)
    yield from component_starts(view, terms)
