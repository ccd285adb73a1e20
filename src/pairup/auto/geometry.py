"""Geometries: sets by the distances and kernels of their objects, one alone, two beside each other, several at once."""

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pairup.auto.schedule import GEOMETRY, KernelName
from pairup.density_ratio import (
    EPSILONS,
    Spectrum,
    Subspace,
    count_directions,
    eigendecompose,
    held_out_scores,
    leading_directions,
    whiten,
)
from pairup.forms import LowRankForm, QuadraticForm, combine_dense
from pairup.kernels import center, median_width
from pairup.types import Array, Float32Array, Indices


class Geometry:
    """One set by the distances of its objects; its eigendecompositions are made when they are asked for, once.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Squared distances within the set; they are kept in units of the largest.
    """

    def __init__(self, distances: Array | Float32Array) -> None:
        self.unit = max(float(distances.max()), 1e-300)
        self.distances = (distances / self.unit).astype(np.float32)
        self._spectra: dict[KernelName, Spectrum] = {}

    def __len__(self) -> int:
        return len(self.distances)

    def kernel(self, name: str, c: float) -> Float32Array:
        """Return a kernel matrix.

        Parameters
        ----------
        name : {"gaussian", "laplacian"}
            Which kernel.
        c : float
            Its width in multiples of the median width.

        Returns
        -------
        ndarray of float32, shape (n, n)
            The matrix.
        """
        width = c * self._width
        power = self.distances / (-2 * width**2) if name == "gaussian" else np.sqrt(self.distances) / -width
        return np.exp(power, out=power)

    @cached_property
    def _width(self) -> float:
        return max(median_width((), distances=self.distances), GEOMETRY.least_width)

    def spectrum(self, kernel: KernelName) -> Spectrum:
        """Return the eigendecomposition of a kernel, of its leading directions alone among many objects."""
        if kernel not in self._spectra:
            many = len(self) >= GEOMETRY.leading_from
            which = GEOMETRY.kernels.index(kernel)
            self._spectra[kernel] = self.subspace.spectrum(which) if many else eigendecompose(self.kernel(*kernel))
        return self._spectra[kernel]

    @cached_property
    def subspace(self) -> Subspace:
        """All kernels within their leading directions, as many as the finest ε asks for."""
        kernels = [self.kernel(*kernel) for kernel in GEOMETRY.kernels]
        return Subspace.from_kernels(kernels, count_directions(GEOMETRY.finest))

    @cached_property
    def coordinates(self) -> tuple[Float32Array, Array]:
        """Leading principal coordinates by classical scaling, columns of length 1, and their widths."""
        gram = (-0.5 * center(self.distances.astype(np.float64))).astype(np.float32)
        V = leading_directions(gram.copy(), GEOMETRY.coordinates)
        widths = np.sqrt(np.maximum(np.einsum("ij,ij->j", V, gram @ V).astype(np.float64), 0.0))
        kept = widths > GEOMETRY.least_coordinate * widths[0]
        kept[0] = True
        return V[:, kept], widths[kept]

    @property
    def total_variance(self) -> float:
        """The sum of the squared widths of all principal coordinates."""
        return float(self.distances.sum(dtype=np.float64)) / (2 * len(self))

    def whiten(self, kernel: KernelName, epsilon: float) -> Float32Array:
        """Return a whitened kernel.

        Parameters
        ----------
        kernel : KernelName
            A kernel and its width.
        epsilon : float
            The regulariser ε.

        Returns
        -------
        ndarray of float32, shape (n, n)
            The whitened kernel, centred, without its diagonal, of norm 1.
        """
        return whiten(self.spectrum(kernel), epsilon)

    def leverages(self) -> Array:
        """Return K̃_ii of every object (row) for several kernels and ε (columns): how much it stands out."""
        columns = []
        many = len(self) >= GEOMETRY.many_objects_from
        for kernel in GEOMETRY.scoring_kernels:
            w, V = self.subspace.spectrum(GEOMETRY.kernels.index(kernel)) if many else self.spectrum(kernel)
            shrunk = [w / (w + len(V) * epsilon) for epsilon in EPSILONS]
            columns.append(np.square(V) @ np.transpose(shrunk).astype(np.float32))
        return np.hstack(columns).astype(np.float64)

    def drop_cache(self) -> None:
        """Drop the eigendecompositions: they are most of the memory."""
        self._spectra.clear()
        self.__dict__.pop("subspace", None)
        self.__dict__.pop("coordinates", None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the eigendecompositions out of a pickle; they are made anew where it is read."""
        return {"unit": self.unit, "distances": self.distances, "_spectra": {}}


class GeometryPair:
    """Two sets compared within by the same kind of distance.

    Parameters
    ----------
    metric : str
        The short name of that kind.
    x, y : ndarray of shape (n, n) and (m, m)
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
        self.kept: dict[Hashable, Any] = {}  # what parts of the search computed of this pair, and ask for again

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what is computed again where it is read."""
        return {**self.__dict__, "kept": {}}

    def spectra(self, kernel: KernelName) -> tuple[Spectrum, Spectrum]:
        """Return the eigendecompositions of a kernel of both sets."""
        return self.x.spectrum(kernel), self.y.spectrum(kernel)

    @property
    def has_variation(self) -> bool:
        """Whether some objects of either set differ, by more than rounding where they are directions."""
        return min(self.x.unit, self.y.unit) > (GEOMETRY.rounding**2 if self.on_sphere else 1e-300)

    def drop_cache(self) -> None:
        """Drop the eigendecompositions, which are most of the memory, and what else is kept."""
        self.kept.clear()
        self.x.drop_cache()
        self.y.drop_cache()

    def with_y(self, y: Array | Float32Array) -> "GeometryPair":
        """Return the same X beside another set."""
        other = copy(self)
        other.y, other.kept = Geometry(y), {}
        return other

    def prefers_low_rank(self, epsilon: float, n_kernels: int) -> bool:
        """Tell whether the profits of some kernels cost less by leading directions than by whole kernels at ε.

        By multiplications: 8·n²·r + 4·k·r³ for k kernels within r directions, 4·k·n³ for k whole kernels.

        Parameters
        ----------
        epsilon : float
            The regulariser ε.
        n_kernels : int
            How many kernels there are.

        Returns
        -------
        bool
            Whether they do.
        """
        objects, directions = min(len(self.x), len(self.y)), count_directions(epsilon)
        low_rank = 8 * objects**2 * directions + 4 * n_kernels * directions**3
        return GEOMETRY.low_rank_overhead * low_rank <= 4 * n_kernels * objects**3

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
        if not self.prefers_low_rank(epsilon, len(kernels)):
            return combine_dense(*([side.whiten(kernel, epsilon) for kernel in kernels] for side in (self.x, self.y)))
        which = [GEOMETRY.kernels.index(kernel) for kernel in kernels]
        return [mean_low_rank_form(self.x.subspace, self.y.subspace, epsilon, which)]

    def coarse_forms(self, epsilon: float) -> list[QuadraticForm]:
        """Return fewer kernels, and the quickest form of them among many objects."""
        forms = self.forms(epsilon, GEOMETRY.scoring_kernels)
        if min(len(self.x), len(self.y)) < GEOMETRY.many_objects_from:
            return forms
        return [replace(form, excludes_self=False) if isinstance(form, LowRankForm) else form for form in forms]

    def held_out_scores(self, matchings: Sequence[Indices]) -> Array:
        """Return the least held-out J of matchings (rows) under the density-ratio model of each kernel (columns)."""
        kernels = GEOMETRY.scoring_kernels
        J: Array = np.stack([held_out_scores(*self.spectra(k), matchings).min(axis=1) for k in kernels], axis=1)
        return J


class JointGeometry:
    """Several geometries at once: metrics that agree are seldom wrong together.

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
        n_kernels = len(self.geometries) * len(GEOMETRY.scoring_kernels)
        if not self.geometries[0].prefers_low_rank(epsilon, n_kernels):
            pairs = [(geometry, kernel) for geometry in self.geometries for kernel in GEOMETRY.scoring_kernels]
            return combine_dense(
                [geometry.x.whiten(kernel, epsilon) for geometry, kernel in pairs],
                [geometry.y.whiten(kernel, epsilon) for geometry, kernel in pairs],
            )
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
