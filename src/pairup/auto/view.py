"""Two sets of many objects in one metric, by the leading eigenfunctions of their kernels."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pairup.auto.coordinates import Coordinates
from pairup.auto.eigenfunctions import Eigenfunctions
from pairup.auto.geodesics import GeodesicCoordinates
from pairup.auto.schedule import MULTILEVEL
from pairup.parallel import run
from pairup.storage import allocate, lies_in_file
from pairup.types import Array, Float32Array, Indices


@dataclass(frozen=True, eq=False)
class Side:
    """One set in one metric.

    Parameters
    ----------
    coordinates : Coordinates or GeodesicCoordinates
        From rows of the table to coordinates.
    eigenfunctions : Eigenfunctions
        From coordinates to the values of eigenfunctions.
    points : ndarray of float32, shape (s, d)
        A sample in coordinates, or all objects if they are not too many.
    values : ndarray of float32, shape (s, r)
        The eigenfunctions of these.
    """

    coordinates: Coordinates | GeodesicCoordinates
    eigenfunctions: Eigenfunctions
    points: Float32Array
    values: Float32Array

    @classmethod
    def fit(cls, metric: str, Z: Array, rng: np.random.Generator) -> "Side":
        """Fit coordinates and eigenfunctions to a sample.

        Parameters
        ----------
        metric : str
            The metric.
        Z : ndarray of shape (s, d)
            Rows of the table.
        rng : numpy.random.Generator
            Chooses the landmarks.

        Returns
        -------
        Side
            The set by its sample.
        """
        coordinates = GeodesicCoordinates.fit(Z) if metric == "geodesic" else Coordinates.fit(metric, Z)
        points = coordinates(Z)
        eigenfunctions = Eigenfunctions.fit(points, rng)
        return cls(coordinates, eigenfunctions, points, eigenfunctions(points))

    def evaluate(self, Z: Array, n_jobs: int | None = None) -> Float32Array:
        """Return the eigenfunctions of all rows of a table, block by block.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            The table.
        n_jobs : int, optional
            How many blocks are computed at the same time, as in joblib.

        Returns
        -------
        ndarray of float32, shape (n, r)
            The values, in a file where the table lies in one.
        """
        values = allocate((len(Z), self.values.shape[1]), np.float32, in_file=lies_in_file(Z))
        blocks = [slice(first, first + MULTILEVEL.block) for first in range(0, len(Z), MULTILEVEL.block)]
        task = partial(_evaluate, self.coordinates, self.eigenfunctions)
        if len(blocks) == 1:  # not worth sending
            values[:] = task(Z)
            return values
        tasks = (partial(task, np.array(Z[block])) for block in blocks)
        for block, found in zip(blocks, run(tasks, n_jobs=n_jobs), strict=True):
            values[block] = found
        return values

    def take(self, rng: np.random.Generator, most: int) -> "Side":
        """Return the same set by a smaller sample.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the sample.
        most : int
            How many objects at most.

        Returns
        -------
        Side
            The set.
        """
        rows = np.sort(rng.permutation(len(self.points))[:most])
        return replace(self, points=self.points[rows], values=self.values[rows])


@dataclass(frozen=True, eq=False)
class View:
    """Both sets in one metric.

    Parameters
    ----------
    metric : str
        The metric.
    x, y : Side
        The sets.
    """

    metric: str
    x: Side
    y: Side

    @classmethod
    def fit(cls, metric: str, x: Array, y: Array, seed: int) -> "View":
        """Fit coordinates and eigenfunctions to samples of both sets.

        Parameters
        ----------
        metric : str
            The metric.
        x, y : ndarray of shape (s, d) and (t, e)
            Rows of both tables.
        seed : int
            Chooses landmarks.

        Returns
        -------
        View
            The sets.
        """
        one, other = (Side.fit(metric, Z, np.random.default_rng([seed, number])) for number, Z in enumerate((x, y)))
        return cls(metric, one, other)

    def shrink(self, N: Float32Array, epsilon: float) -> tuple[Float32Array, Float32Array, Float32Array]:
        """Return the map M = diag(w) N diag(w') at ε, and w and w'.

        Parameters
        ----------
        N : ndarray of float32, shape (p, q)
            Covariances of the eigenfunctions of partners; those that are missing count as 0.
        epsilon : float
            The regulariser ε.

        Returns
        -------
        tuple of three ndarray
            M, w and w': the profit of a pair is (w∘u)ᵀ M (w'∘v).
        """
        w, z = self.x.eigenfunctions.shrinkage(epsilon), self.y.eigenfunctions.shrinkage(epsilon)
        M = np.zeros((len(w), len(z)), dtype=np.float32)
        p, q = min(len(w), N.shape[0]), min(len(z), N.shape[1])
        M[:p, :q] = N[:p, :q]
        M *= w[:, None]
        M *= z
        return M, w, z

    def alignment(self, N: Float32Array, epsilon: float) -> float:
        """Return the kernel alignment of a plan with these covariances: tr(K̃PL̃Pᵀ) over the norms of K̃ and L̃.

        Parameters
        ----------
        N : ndarray of float32, shape (p, q)
            Covariances of the eigenfunctions of partners.
        epsilon : float
            The regulariser ε.

        Returns
        -------
        float
            The alignment.
        """
        M, w, z = self.shrink(N, epsilon)
        return float(np.vdot(M, M)) / max(float(np.linalg.norm(w**2) * np.linalg.norm(z**2)), 1e-30)

    def unrelated(self, rng: np.random.Generator) -> "View":
        """Return X beside a set like Y that has nothing to do with it: its coordinates are shuffled one by one."""
        points = rng.permuted(self.y.points, axis=0)
        eigenfunctions = Eigenfunctions.fit(points, rng)
        values = eigenfunctions(points)
        return replace(self, y=replace(self.y, points=points, eigenfunctions=eigenfunctions, values=values))


def _evaluate(coordinates: Coordinates | GeodesicCoordinates, eigenfunctions: Eigenfunctions, Z: Array) -> Float32Array:
    """Return the eigenfunctions of a block of rows."""
    return eigenfunctions(coordinates(np.asarray(Z, dtype=np.float64)))


def covariances(U: Float32Array, V: Float32Array, indices: Indices) -> Float32Array:
    """Return N = UᵀPV over the number of pairs, for a matching.

    Parameters
    ----------
    U : ndarray of float32, shape (n, r)
        Eigenfunctions of X.
    V : ndarray of float32, shape (m, s)
        Eigenfunctions of Y.
    indices : ndarray of int, shape (n,)
        The matching, −1 where x has no partner.

    Returns
    -------
    ndarray of float32, shape (r, s)
        Covariances of partners.
    """
    total = np.zeros((U.shape[1], V.shape[1]))
    matched = np.flatnonzero(indices >= 0)
    for first in range(0, len(matched), MULTILEVEL.block):
        rows = matched[first : first + MULTILEVEL.block]
        total += U[rows].T @ V[indices[rows]]
    return (total / max(len(matched), 1)).astype(np.float32)
