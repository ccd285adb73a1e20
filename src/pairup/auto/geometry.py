"""Geometries of two sets: which distances say what is alike."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pairup.auto.schedule import GEOMETRY, KernelName
from pairup.components import principal_components
from pairup.density_ratio import (
    EPSILONS,
    Spectrum,
    Subspace,
    count_directions,
    eigendecompose,
    held_out_scores,
    whiten,
)
from pairup.forms import DenseForm, LowRankForm, QuadraticForm
from pairup.kernels import median_width, squared_distances
from pairup.types import Array, Float32Array, Indices

IN_WORDS = {
    "euclidean": "Euclidean distance",
    "cityblock": "L1 on standardized columns",
    "partially-whitened": "Euclidean distance of partially whitened principal components",
    "ranks": "Euclidean distance of column ranks",
    "cosine": "cosine",
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
    kind, _, k = metric.partition("-")
    return f"Euclidean distance of {k} whitened principal components" if kind == "whitened" else IN_WORDS[metric]


class Geometry:
    """One set by the distances of its objects; its eigendecompositions are made when they are asked for, once.

    Parameters
    ----------
    distances : array of shape (n, n)
        Squared distances within the set; they are kept in units of the largest.
    """

    def __init__(self, distances: Array | Float32Array) -> None:
        self.unit = max(float(distances.max()), 1e-300)
        self.distances = (distances / self.unit).astype(np.float32)
        self._spectra: dict[KernelName, Spectrum] = {}

    def __len__(self) -> int:
        return len(self.distances)

    def kernel(self, name: str, c: float) -> Float32Array:
        """Return a kernel matrix, its width c times the median width."""
        width = c * self._width
        power = self.distances / (-2 * width**2) if name == "gaussian" else np.sqrt(self.distances) / -width
        return np.exp(power, out=power)

    @cached_property
    def _width(self) -> float:
        return max(median_width((), distances=self.distances), GEOMETRY.least_width)

    def spectrum(self, kernel: KernelName) -> Spectrum:
        """Return the eigendecomposition of a kernel."""
        if kernel not in self._spectra:
            self._spectra[kernel] = eigendecompose(self.kernel(*kernel))
        return self._spectra[kernel]

    @cached_property
    def subspace(self) -> Subspace:
        """All kernels within their leading directions, as many as the finest ε asks for."""
        kernels = [self.kernel(*kernel) for kernel in GEOMETRY.kernels]
        return Subspace.from_kernels(kernels, count_directions(GEOMETRY.finest))

    def whiten(self, kernel: KernelName, epsilon: float) -> Float32Array:
        """Return a whitened kernel."""
        return whiten(self.spectrum(kernel), epsilon)

    def leverages(self) -> Array:
        """Return K̃_ii of every object (row) for several kernels and ε (columns): how much it stands out."""
        columns = []
        many = len(self) >= GEOMETRY.low_rank_from
        for kernel in GEOMETRY.scoring_kernels:
            w, V = self.subspace.spectrum(GEOMETRY.kernels.index(kernel)) if many else self.spectrum(kernel)
            shrunk = [w / (w + len(V) * epsilon) for epsilon in EPSILONS]
            columns.append(np.square(V) @ np.transpose(shrunk).astype(np.float32))
        return np.hstack(columns).astype(np.float64)

    def drop_cache(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        self._spectra.clear()
        self.__dict__.pop("subspace", None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the eigendecompositions out of a pickle; they are made anew where it is read."""
        return {"unit": self.unit, "distances": self.distances, "_spectra": {}}


class GeometryPair:
    """Two sets compared within by the same kind of distance.

    Parameters
    ----------
    metric : str
        The short name of that kind.
    x, y : array of shape (n, n) and (m, m)
        Squared distances within X and within Y.
    on_sphere : bool, default False
        Whether these are chords of the unit sphere.
    """

    def __init__(
        self, metric: str, x: Array | Float32Array, y: Array | Float32Array, *, on_sphere: bool = False
    ) -> None:
        self.metric = metric
        self.on_sphere = on_sphere
        self.x, self.y = Geometry(x), Geometry(y)

    def spectra(self, kernel: KernelName) -> tuple[Spectrum, Spectrum]:
        """Return the eigendecompositions of a kernel of both sets."""
        return self.x.spectrum(kernel), self.y.spectrum(kernel)

    @property
    def has_variation(self) -> bool:
        """Whether some objects of either set differ, by more than rounding where they are directions."""
        return min(self.x.unit, self.y.unit) > (GEOMETRY.rounding**2 if self.on_sphere else 1e-300)

    def drop_cache(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        self.x.drop_cache()
        self.y.drop_cache()

    def with_y(self, y: Array | Float32Array) -> "GeometryPair":
        """Return the same X beside another set."""
        other = copy(self)
        other.y = Geometry(y)
        return other

    def prefers_low_rank(self, epsilon: float) -> bool:
        """Tell whether leading directions cost less than whole kernels at ε."""
        return count_directions(epsilon) <= GEOMETRY.low_rank_share * min(len(self.x), len(self.y))

    def forms(self, epsilon: float, kernels: Sequence[KernelName] = GEOMETRY.kernels) -> list[QuadraticForm]:
        """Return the whitened kernels of both sets at ε, by their leading directions alone where that is quicker.

        Parameters
        ----------
        epsilon : float
            The regulariser ε.
        kernels : sequence of KernelName, default all
            Which kernels.

        Returns
        -------
        list of QuadraticForm
            Forms of norm 1: the mean of their values is a mean cosine either way.
        """
        if not self.prefers_low_rank(epsilon):
            return [DenseForm(self.x.whiten(kernel, epsilon), self.y.whiten(kernel, epsilon)) for kernel in kernels]
        which = [GEOMETRY.kernels.index(kernel) for kernel in kernels]
        return [mean_low_rank_form(self.x.subspace, self.y.subspace, epsilon, which)]

    def coarse_forms(self, epsilon: float) -> list[QuadraticForm]:
        """Return fewer kernels, and the quickest form of them among many objects."""
        forms = self.forms(epsilon, GEOMETRY.scoring_kernels)
        if min(len(self.x), len(self.y)) < GEOMETRY.low_rank_from:
            return forms
        return [replace(form, excludes_self=False) if isinstance(form, LowRankForm) else form for form in forms]

    def held_out_scores(self, matchings: Sequence[Indices]) -> Array:
        """Return the least held-out J of matchings (rows) under the density-ratio model of each kernel (columns)."""
        kernels = GEOMETRY.scoring_kernels
        J: Array = np.stack([held_out_scores(*self.spectra(k), matchings).min(axis=1) for k in kernels], axis=1)
        return J


class JointGeometry:
    """Several geometries at once: what they all say is less often an accident.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the same two sets.
    """

    metric = "joint"

    def __init__(self, geometries: Sequence[GeometryPair]) -> None:
        self.geometries = geometries

    @cached_property
    def _subspaces(self) -> tuple[Subspace, Subspace]:
        return joint_subspaces(self.geometries, GEOMETRY.scoring_kernels)

    def forms(self, epsilon: float) -> list[QuadraticForm]:
        """Return some whitened kernels of all geometries at ε."""
        if not self.geometries[0].prefers_low_rank(epsilon):
            return [form for geometry in self.geometries for form in geometry.coarse_forms(epsilon)]
        x, y = self._subspaces
        return [mean_low_rank_form(x, y, epsilon, range(len(x.inner)))]

    coarse_forms = forms

    def held_out_scores(self, matchings: Sequence[Indices]) -> Array:
        """Return the held-out scores of matchings (rows) under the models of all geometries (columns)."""
        return np.hstack([geometry.held_out_scores(matchings) for geometry in self.geometries])


def joint_subspaces(geometries: Sequence[GeometryPair], kernels: Sequence[KernelName]) -> tuple[Subspace, Subspace]:
    """Return some kernels of all geometries within common leading directions.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the same two sets.
    kernels : sequence of KernelName
        Which kernels; those of one geometry stand together.

    Returns
    -------
    tuple of two Subspace
        That of X, and that of Y.
    """
    x, y = (
        Subspace.from_kernels(
            [side.kernel(*kernel) for side in sides for kernel in kernels], count_directions(GEOMETRY.finest)
        )
        for sides in ([pair.x for pair in geometries], [pair.y for pair in geometries])
    )
    return x, y


def mean_low_rank_form(x: Subspace, y: Subspace, epsilon: float, which: Sequence[int]) -> LowRankForm:
    """Return the mean of some whitened kernels by their leading directions.

    Parameters
    ----------
    x, y : Subspace
        Kernels of X and of Y.
    epsilon : float
        The regulariser ε.
    which : sequence of int
        The numbers of the kernels.

    Returns
    -------
    LowRankForm
        The mean.
    """
    (A, S), (B, T) = x.whiten(epsilon, which), y.whiten(epsilon, which)
    return LowRankForm(A, S / np.float32(len(which)), B, T)


def standardize(Z: Array) -> Array:
    """Return Z with columns of mean 0 and variance 1; constant columns become 0.

    Parameters
    ----------
    Z : Array of shape (n, d)
        A table.

    Returns
    -------
    Array of shape (n, d)
        The standardized table.

    Examples
    --------
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    deviation = Z.std(axis=0)
    deviation[deviation <= 1e-12 * np.abs(Z).max(axis=0, initial=1e-300)] = np.inf
    scaled: Array = (Z - Z.mean(axis=0)) / deviation
    return scaled


def rank_columns(Z: Array) -> Array:
    """Return Z with each column replaced by its ranks, in (0, 1).

    Parameters
    ----------
    Z : Array of shape (n, d)
        A table.

    Returns
    -------
    Array of shape (n, d)
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
    Z : Array of shape (n, d)
        A table.

    Returns
    -------
    Array of shape (n, d)
        Directions.

    Examples
    --------
    >>> normalize_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(length > 0, length, 1.0)


def geodesic_distances(D: Array | Float32Array, neighbours: int = GEOMETRY.neighbours) -> Array:
    """Return squared lengths of the shortest paths along edges between nearest neighbours.

    The minimum spanning tree keeps the graph connected.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    neighbours : int, default 5
        How many nearest neighbours each object is joined with.

    Returns
    -------
    Array of shape (n, n)
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
    return paths**2


def cityblock_distances(Z: Array) -> Array:
    """Return squared L1 distances (Σ_k |z_ik − z_jk|)²: a few odd columns weigh less in them.

    Parameters
    ----------
    Z : Array of shape (n, d)
        A table.

    Returns
    -------
    Array of shape (n, n)
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
    Z : Array of shape (n, d)
        A centred table.

    Returns
    -------
    Array of shape (n, r)
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
    X, Y : Array of shape (n, d) and (m, e)
        Two tables.

    Yields
    ------
    GeometryPair
        Euclidean; L1 on standardized columns; partially whitened components; ranks; cosine; geodesic.
    """
    euclidean = GeometryPair("euclidean", squared_distances(X), squared_distances(Y))
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
        x, y = normalize_rows(X), normalize_rows(Y)
        yield GeometryPair("cosine", squared_distances(x), squared_distances(y), on_sphere=True)
    if min(len(X), len(Y)) > GEOMETRY.objects_per_neighbour * GEOMETRY.neighbours:
        yield geodesic_pair(euclidean.x.distances, euclidean.y.distances)


def geodesic_pair(x: Array | Float32Array, y: Array | Float32Array) -> GeometryPair:
    """Return the geodesic distances of two sets that are given by squared distances."""
    return GeometryPair("geodesic", geodesic_distances(x), geodesic_distances(y))


def whitened_geometries(X: Array, Y: Array) -> Iterator[GeometryPair]:
    """Yield two tables by their k leading principal components, each scaled to variance 1, for several k.

    If both tables are linear maps of the same k factors, their components differ by a rotation only, whatever the
    units of the columns. Which k comes closest to that shows in the alignment.

    Parameters
    ----------
    X, Y : Array of shape (n, d) and (m, e)
        Two tables.

    Yields
    ------
    GeometryPair
        The geometry of k components; its metric is called "whitened-k".
    """
    (x, of_x), (y, of_y) = (principal_components(standardize(Z)) for Z in (X, Y))
    explained = [np.cumsum(variances) / max(float(variances.sum()), 1e-300) for variances in (of_x, of_y)]
    most = min(x.shape[1], y.shape[1], min(len(X), len(Y)) // GEOMETRY.objects_per_component)
    for k in GEOMETRY.whitened_components:
        if k <= most and min(share[k - 1] for share in explained) >= GEOMETRY.explained_variance:
            yield GeometryPair(f"whitened-{k}", squared_distances(x[:, :k]), squared_distances(y[:, :k]))
