"""Ways of seeing two sets: which distances say what is alike."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from pairup.annealing import Dense, Form, LowRank
from pairup.density_ratio import Compressed, Spectrum, directions, held_out, spectrum, whitened
from pairup.kernels import median_width, squared_distances
from pairup.types import Array, Float32Array, Indices

KernelName: TypeAlias = tuple[str, float]
KERNELS: tuple[KernelName, ...] = (("gaussian", 1.0), ("gaussian", 2.2), ("laplacian", 1.0), ("laplacian", 2.0))
JUDGES: tuple[KernelName, ...] = (("gaussian", 1.0), ("laplacian", 1.0))
LEVERAGE_EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001)
NEIGHBOURS = 5
COMPONENTS = range(2, 9)  # how many principal components of each set are seen whitened
EXPLAINED = 0.7  # the share of variance that these have at least
LOW_RANK_FROM = 600
ROUNDING = 1e-10  # directions closer than this may differ by rounding alone
FINEST = 0.001  # the smallest ε that kernels are whitened with
LOW_RANK = 0.4  # the share of n up to which directions cost less than whole kernels


class Side:
    """One set as one kind of distance shows it; its eigendecompositions are made when they are asked for, once.

    Parameters
    ----------
    distances : squared distances within the set; they are kept in units of the largest.
    """

    def __init__(self, distances: Array | Float32Array) -> None:
        self.unit = max(float(distances.max()), 1e-300)
        self.distances = (distances / self.unit).astype(np.float32)
        self._spectra: dict[KernelName, Spectrum] = {}

    def kernel(self, name: str, c: float) -> Float32Array:
        """Return a kernel matrix, its width c times the median width."""
        width = c * self._width
        power = self.distances / (-2 * width**2) if name == "gaussian" else np.sqrt(self.distances) / -width
        return np.exp(power, out=power)

    @cached_property
    def _width(self) -> float:
        return max(median_width((), distances=self.distances), 1e-12)  # of objects that are all equal, it would be 0

    def spectrum(self, kernel: KernelName) -> Spectrum:
        """Return the eigendecomposition of a kernel."""
        if kernel not in self._spectra:
            self._spectra[kernel] = spectrum(self.kernel(*kernel))
        return self._spectra[kernel]

    @cached_property
    def compressed(self) -> Compressed:
        """All kernels within their leading directions, as many as the finest ε asks for."""
        return Compressed.of([self.kernel(*kernel) for kernel in KERNELS], directions(FINEST))

    def whitened(self, kernel: KernelName, epsilon: float) -> Float32Array:
        """Return a kernel as the search wants it."""
        return whitened(self.spectrum(kernel), epsilon)

    def leverages(self) -> Array:
        """Return K̃_ii of every object (row) for several kernels and ε (columns): how much it stands out."""
        columns = []
        many = len(self.distances) >= LOW_RANK_FROM
        for kernel in JUDGES:
            w, V = self.compressed.spectrum(KERNELS.index(kernel)) if many else self.spectrum(kernel)
            shrunk = [w / (w + len(V) * epsilon) for epsilon in LEVERAGE_EPSILONS]
            columns.append(np.square(V) @ np.transpose(shrunk).astype(np.float32))
        return np.hstack(columns).astype(np.float64)

    def forget(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        self._spectra.clear()
        self.__dict__.pop("compressed", None)

    def __getstate__(self) -> dict[str, Any]:
        """Travel light: the eigendecompositions are made anew where the set is unpickled."""
        return {"unit": self.unit, "distances": self.distances, "_spectra": {}}


class View:
    """Two sets as one kind of distance shows them.

    Parameters
    ----------
    name : of the kind of distance.
    x, y : squared distances within X and within Y.
    on_sphere : whether these are chords of the unit sphere.
    """

    def __init__(self, name: str, x: Array | Float32Array, y: Array | Float32Array, *, on_sphere: bool = False) -> None:
        self.name = name
        self.on_sphere = on_sphere
        self.sides = Side(x), Side(y)

    @property
    def x(self) -> Float32Array:
        """Squared distances within X."""
        return self.sides[0].distances

    @property
    def y(self) -> Float32Array:
        """Squared distances within Y."""
        return self.sides[1].distances

    @property
    def unscaled_y(self) -> Float32Array:
        """Squared distances within Y as they came."""
        return self.y * np.float32(self.sides[1].unit)

    def spectra(self, kernel: KernelName) -> tuple[Spectrum, Spectrum]:
        """Return the eigendecompositions of a kernel of both sets."""
        x, y = self.sides
        return x.spectrum(kernel), y.spectrum(kernel)

    @property
    def tells_apart(self) -> bool:
        """Whether some objects of either set differ, by more than rounding where they are directions."""
        return min(side.unit for side in self.sides) > (ROUNDING**2 if self.on_sphere else 1e-300)

    def forget(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        for side in self.sides:
            side.forget()

    def with_y(self, y: Array | Float32Array) -> "View":
        """Return the same X beside another set."""
        other = copy(self)
        other.sides = self.sides[0], Side(y)
        return other

    def has_directions(self, epsilon: float) -> bool:
        """Tell whether leading directions cost less than whole kernels at ε."""
        return directions(epsilon) <= LOW_RANK * min(len(self.x), len(self.y))

    def forms(self, epsilon: float, kernels: Sequence[KernelName] = KERNELS) -> list[Form]:
        """Return the whitened kernels of both sets at ε, by their leading directions alone where that is quicker.

        The mean of their values is a mean cosine either way.
        """
        x, y = self.sides
        if not self.has_directions(epsilon):
            return [Dense(x.whitened(kernel, epsilon), y.whitened(kernel, epsilon)) for kernel in kernels]
        return [low_rank(x.compressed, y.compressed, epsilon, [KERNELS.index(kernel) for kernel in kernels])]

    def coarse_forms(self, epsilon: float) -> list[Form]:
        """Return fewer kernels, and the quickest form of them among many objects."""
        forms = self.forms(epsilon, JUDGES)
        if min(len(self.x), len(self.y)) < LOW_RANK_FROM:
            return forms
        return [replace(form, excludes_self=False) if isinstance(form, LowRank) else form for form in forms]

    def leverages(self) -> tuple[Array, Array]:
        """Return how much the objects of both sets stand out at several scales."""
        x, y = self.sides
        return x.leverages(), y.leverages()

    def judge(self, matchings: Sequence[Indices]) -> Array:
        """Return the least held-out J of matchings (rows) under each of two kernels (columns)."""
        J: Array = np.stack([held_out(*self.spectra(kernel), matchings).min(axis=1) for kernel in JUDGES], axis=1)
        return J


class Joint:
    """Several views at once: what they all say is less often an accident.

    Parameters
    ----------
    views : of the same two sets.
    """

    name = "joint"

    def __init__(self, views: Sequence[View]) -> None:
        self.views = views

    @cached_property
    def _compressed(self) -> tuple[Compressed, Compressed]:
        return compressed(self.views, JUDGES)

    def forms(self, epsilon: float) -> list[Form]:
        """Return some whitened kernels of all views at ε."""
        if not self.views[0].has_directions(epsilon):
            return [form for view in self.views for form in view.coarse_forms(epsilon)]
        x, y = self._compressed
        return [low_rank(x, y, epsilon, range(len(x.inner)))]

    coarse_forms = forms

    def judge(self, matchings: Sequence[Indices]) -> Array:
        """Return the held-out scores of matchings (rows) by the judges of all views (columns)."""
        return np.hstack([view.judge(matchings) for view in self.views])


def compressed(views: Sequence[View], kernels: Sequence[KernelName]) -> tuple[Compressed, Compressed]:
    """Return some kernels of all views of X, and of Y, within leading directions; those of a view stand together."""
    x, y = (
        Compressed.of([side.kernel(*kernel) for side in sides for kernel in kernels], directions(FINEST))
        for sides in zip(*(view.sides for view in views), strict=True)
    )
    return x, y


def low_rank(x: Compressed, y: Compressed, epsilon: float, which: Sequence[int]) -> LowRank:
    """Return the mean of some whitened kernels by their leading directions."""
    (A, S), (B, T) = x.whitened(epsilon, which), y.whitened(epsilon, which)
    return LowRank(A, S / np.float32(len(which)), B, T)


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


def geodesic(D: Array | Float32Array, neighbours: int = NEIGHBOURS) -> Array:
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


def cityblock(Z: Array) -> Array:
    """Return squared sums of absolute differences, (Σ_k |z_ik − z_jk|)²: a few odd columns weigh less in them.

    >>> cityblock(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 49.],
           [49.,  0.]])
    """
    from scipy.spatial.distance import pdist, squareform

    D: Array = squareform(pdist(Z, "cityblock"))
    return np.square(D, out=D)


def evened(Z: Array) -> Array:
    """Return the principal components of a centred table, the large ones drawn towards the others.

    A component of variance v gets v/√(v + u), where u is the median: √v if it is large, halfway towards the others;
    v/√u, as small beside them as it is, if it is below the median. So what many small components say is heard beside
    the few that hold most of the variance.

    >>> np.ptp(evened(np.array([[8.0, 0.0], [-8.0, 0.0], [0.0, 1.0], [0.0, -1.0]])), axis=0).round(1)
    array([4.3, 0.7])
    """
    U, variances = principal_components(Z)
    even: Array = U * (np.sqrt(variances) / np.maximum(variances + np.median(variances), 1e-300) ** 0.25)
    return even


def views(X: Array, Y: Array) -> Iterator[View]:
    """Yield the ways of seeing two tables.

    Raw, with columns scaled and compared one by one, with components evened, by ranks, by angle, along the data's own
    shape.
    """
    raw = View("raw", squared_distances(X), squared_distances(Y))
    yield raw
    widths = X.shape[1], Y.shape[1]
    if max(widths) > 1:
        x, y = standardized(X), standardized(Y)
        yield View("cityblock", cityblock(x), cityblock(y))
        yield View("evened", squared_distances(evened(x)), squared_distances(evened(y)))
    if max(widths) <= 100:
        yield View("ranked", squared_distances(ranked(X)), squared_distances(ranked(Y)))
    if min(widths) > 2:
        yield View("angular", squared_distances(unit_rows(X)), squared_distances(unit_rows(Y)), on_sphere=True)
    if min(len(X), len(Y)) > 3 * NEIGHBOURS:
        yield View("geodesic", geodesic(raw.x), geodesic(raw.y))


def whitened_views(X: Array, Y: Array) -> Iterator[View]:
    """Yield two tables by their k leading principal components, each scaled to variance 1, for several k.

    If both tables are linear maps of the same k factors, their components differ by a rotation only, whatever the
    columns' units. Which k that comes closest to shows in the match.
    """
    (x, of_x), (y, of_y) = (principal_components(standardized(Z)) for Z in (X, Y))
    explained = [np.cumsum(variances) / max(float(variances.sum()), 1e-300) for variances in (of_x, of_y)]
    most = min(x.shape[1], y.shape[1], min(len(X), len(Y)) // 5)
    for k in COMPONENTS:
        if k <= most and min(share[k - 1] for share in explained) >= EXPLAINED:
            yield View(f"whitened in {k}", squared_distances(x[:, :k]), squared_distances(y[:, :k]))


def principal_components(Z: Array) -> tuple[Array, Array]:
    """Return the principal components of a centred table, each of length 1, and their variances times n.

    Those that are nothing but rounding are left out, but for the first.

    >>> principal_components(np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))[1]
    array([8., 2.])
    """
    from scipy.linalg import eigh, svd

    if Z.shape[1] > len(Z):  # the right-hand vectors of a wide table would cost most, and are not asked for
        w, U = eigh(Z @ Z.T, driver="evd")
        U, variances = U[:, ::-1], np.maximum(w[::-1], 0.0)
    else:
        U, s, _ = svd(Z, full_matrices=False)
        variances = s**2
    kept = variances > 1e-12 * variances[0]
    kept[0] = True
    return U[:, kept], variances[kept]
