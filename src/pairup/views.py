"""Ways of seeing two sets: which distances say what is alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from pairup.annealing import Dense, Form, LowRank
from pairup.kernels import Array, median_width, squared_distances
from pairup.measures import Indices
from pairup.ratio import Spectrum, held_out, spectrum, whitened, whitened_factor

KernelName: TypeAlias = tuple[str, float]
KERNELS: tuple[KernelName, ...] = (("gaussian", 1.0), ("gaussian", 2.2), ("laplacian", 1.0), ("laplacian", 2.0))
JUDGES: tuple[KernelName, ...] = (("gaussian", 1.0), ("laplacian", 1.0))
NEIGHBOURS = 5
LOW_RANK_FROM = 600


@dataclass(frozen=True)
class View:
    """Two sets as one kind of distance shows them.

    Parameters
    ----------
    name : of the kind of distance.
    x, y : squared distances within X and within Y.
    """

    name: str
    x: Array
    y: Array
    _of_x: dict[KernelName, Spectrum] = field(default_factory=dict, repr=False)
    _of_y: dict[KernelName, Spectrum] = field(default_factory=dict, repr=False)

    def spectra(self, kernel: KernelName) -> tuple[Spectrum, Spectrum]:
        """Return the eigendecompositions of a kernel of both sets; each is computed once."""
        if kernel not in self._of_x:
            self._of_x[kernel] = _spectrum(self.x, *kernel)
        if kernel not in self._of_y:
            self._of_y[kernel] = _spectrum(self.y, *kernel)
        return self._of_x[kernel], self._of_y[kernel]

    def __getstate__(self) -> dict[str, Any]:
        """Travel light: the eigendecompositions are made anew where the view is unpickled."""
        return {"name": self.name, "x": self.x, "y": self.y, "_of_x": {}, "_of_y": {}}

    def forget(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        self._of_x.clear()
        self._of_y.clear()

    def with_y(self, y: Array) -> "View":
        """Return the same X beside another set."""
        return replace(self, y=y, _of_y={})

    def forms(self, epsilon: float) -> list[Form]:
        """Return the whitened kernels of both sets at ε."""
        return [Dense(whitened(x, epsilon), whitened(y, epsilon)) for x, y in map(self.spectra, KERNELS)]

    def coarse_forms(self, epsilon: float) -> list[Form]:
        """Return fewer kernels, by their leading directions alone where that is quicker."""
        spectra = [self.spectra(kernel) for kernel in JUDGES]
        if len(self.x) + len(self.y) < 2 * LOW_RANK_FROM:
            return [Dense(whitened(x, epsilon), whitened(y, epsilon)) for x, y in spectra]
        return [LowRank(whitened_factor(x, epsilon), whitened_factor(y, epsilon)) for x, y in spectra]

    def judge(self, matchings: Sequence[Indices]) -> Array:
        """Return the least held-out J of matchings (rows) under each of two kernels (columns)."""
        J: Array = np.stack([held_out(*self.spectra(kernel), matchings).min(axis=1) for kernel in JUDGES], axis=1)
        return J


def _spectrum(D: Array, kernel: str, c: float) -> Spectrum:
    width = c * median_width((), distances=D)
    return spectrum(np.exp(D * (-0.5 / width**2)) if kernel == "gaussian" else np.exp(np.sqrt(D) / -width))


def standardized(Z: Array) -> Array:
    """Return Z with columns of mean 0 and variance 1; constant columns become 0.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    deviation = Z.std(axis=0)
    deviation[deviation <= 1e-12 * np.abs(Z).max(axis=0, initial=1e-300)] = np.inf
    scaled: Array = (Z - Z.mean(axis=0)) / deviation
    return scaled


def ranked(Z: Array) -> Array:
    """Return Z with each column replaced by its ranks, in (0, 1).

    >>> ranked(np.array([[10.0], [1000.0]])).T
    array([[0.25, 0.75]])
    """
    from scipy.stats import rankdata

    ranks: Array = (rankdata(Z, axis=0) - 0.5) / len(Z)
    return ranks


def unit_rows(Z: Array) -> Array:
    """Return Z with rows of length 1: their distances are those of angles.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(length > 0, length, 1.0)


def geodesic(D: Array, neighbours: int = NEIGHBOURS) -> Array:
    """Return squared lengths of the shortest ways along edges between nearest neighbours.

    The minimum spanning tree keeps the graph connected.

    >>> D = squared_distances(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> geodesic(D, neighbours=1)[0].round(6)
    array([0., 1., 4., 9.])
    """
    from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

    n = len(D)
    lengths = np.sqrt(D)
    lengths += 1e-9 * lengths.max()  # duplicates are neighbours, not strangers: 0 would mean no edge
    np.fill_diagonal(lengths, 0.0)
    k = min(neighbours, n - 1)
    nearest = np.argpartition(lengths, k, axis=1)[:, : k + 1]
    tree = minimum_spanning_tree(lengths).toarray()
    edges = np.maximum(tree, tree.T)
    rows = np.arange(n)[:, None]
    edges[rows, nearest] = lengths[rows, nearest]
    edges = np.maximum(edges, edges.T)
    ways: Array = shortest_path(edges, method="D", directed=False)
    return ways**2


def views(X: Array, Y: Array) -> Iterator[View]:
    """Yield the ways of seeing two tables: raw, with columns scaled or ranked, by angle, along the data's own shape."""
    raw = View("raw", squared_distances(X), squared_distances(Y))
    yield raw
    widths = X.shape[1], Y.shape[1]
    if max(widths) > 1:
        yield View("standardized", squared_distances(standardized(X)), squared_distances(standardized(Y)))
    if max(widths) <= 100:
        yield View("ranked", squared_distances(ranked(X)), squared_distances(ranked(Y)))
    if min(widths) > 2:
        yield View("angular", squared_distances(unit_rows(X)), squared_distances(unit_rows(Y)))
    if min(len(X), len(Y)) > 3 * NEIGHBOURS:
        yield View("geodesic", geodesic(raw.x), geodesic(raw.y))
