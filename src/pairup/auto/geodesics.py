"""Geodesic coordinates of many objects: paths along nearest neighbours of a sample, seen from landmarks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairup.auto.coordinates import Coordinates
from pairup.auto.schedule import MULTILEVEL
from pairup.kernels import squared_distances
from pairup.types import Array, Float32Array, Indices, SparseArray

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


@dataclass(frozen=True, eq=False)
class GeodesicCoordinates:
    """Coordinates whose Euclidean distances come near to lengths of paths along a set (Isomap with landmarks).

    Parameters
    ----------
    base : Coordinates
        From rows of the table to the space in which neighbours are sought.
    tree : scipy.spatial.cKDTree
        The sample there.
    lengths : ndarray of float32, shape (s, l)
        Lengths of the shortest paths from the sample to the landmarks.
    mean : ndarray of shape (l,)
        The mean of the squared lengths between landmarks.
    axes : ndarray of shape (l, r)
        From squared lengths, less their mean, to coordinates.
    """

    base: Coordinates
    tree: "cKDTree"
    lengths: Float32Array
    mean: Array
    axes: Array

    @classmethod
    def fit(cls, Z: Array) -> "GeodesicCoordinates":
        """Fit coordinates to a sample.

        Parameters
        ----------
        Z : ndarray of shape (s, d)
            Rows of the table, in an order that means nothing: landmarks are taken at equal steps.

        Returns
        -------
        GeodesicCoordinates
            The coordinates.
        """
        from scipy.sparse.csgraph import dijkstra
        from scipy.spatial import cKDTree

        base = Coordinates.fit("euclidean", Z)
        points = base(Z).astype(np.float64)
        tree = cKDTree(points)
        landmarks = np.linspace(0, len(Z) - 1, min(len(Z), MULTILEVEL.geodesic_landmarks)).astype(np.intp)
        graph = join_neighbours(tree, points, landmarks)
        lengths = dijkstra(graph, directed=False, indices=landmarks).T
        squares = lengths[landmarks] ** 2
        mean = squares.mean(axis=0)
        w, V = np.linalg.eigh(-0.5 * (squares - mean - mean[:, None] + mean.mean()))
        order = np.argsort(-w)[: MULTILEVEL.geodesic_components]
        order = order[w[order] > MULTILEVEL.geodesic_noise * max(float(w.max()), 1e-300)]
        V = V[:, order] * np.where(V[np.abs(V[:, order]).argmax(axis=0), order] < 0, -1.0, 1.0)
        return cls(base, tree, lengths.astype(np.float32), mean, -0.5 * V / np.sqrt(w[order]))

    def __call__(self, Z: Array) -> Float32Array:
        """Return the coordinates of some rows, as float32 of shape (n, r): they set out from their neighbours."""
        points = self.base(Z).astype(np.float64)
        apart, nearest = self.tree.query(points, k=min(MULTILEVEL.geodesic_neighbours, len(self.lengths)))
        apart, nearest = np.reshape(apart, (len(Z), -1)), np.reshape(nearest, (len(Z), -1))
        lengths = np.full((len(Z), self.lengths.shape[1]), np.inf)
        for away, there in zip(apart.T, nearest.T, strict=True):
            np.minimum(lengths, away[:, None] + self.lengths[there], out=lengths)
        return np.asarray((lengths**2 - self.mean) @ self.axes, dtype=np.float32)


def join_neighbours(tree: "cKDTree", points: Array, landmarks: Indices) -> SparseArray:
    """Return the graph of nearest neighbours, its parts joined where landmarks of one come nearest to another.

    Parameters
    ----------
    tree : scipy.spatial.cKDTree
        The points.
    points : ndarray of shape (s, d)
        The same.
    landmarks : ndarray of int, shape (l,)
        Numbers of some points.

    Returns
    -------
    csr_array of shape (s, s)
        Lengths of edges, each in one direction at least.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    s = len(points)
    apart, nearest = tree.query(points, k=min(MULTILEVEL.geodesic_neighbours + 1, s))
    apart, nearest = np.reshape(apart, (s, -1)), np.reshape(nearest, (s, -1))
    apart = apart + 1e-9 * max(float(apart.max()), 1e-300)  # duplicates are neighbours, and 0 would mean none
    rows = np.repeat(np.arange(s), nearest.shape[1])
    graph = csr_array((apart.ravel(), (rows, nearest.ravel())), shape=(s, s))
    count, part = connected_components(graph, directed=False)
    if count == 1:
        return graph
    squares = squared_distances(points[landmarks], points)
    key = part[landmarks][:, None] * np.int64(count) + part
    order = np.lexsort((squares.ravel(), key.ravel()))
    keys, first = np.unique(key.ravel()[order], return_index=True)
    closest = order[first]  # the nearest point of each part, from the landmarks of each part
    here, there = keys // count, keys % count
    length = np.sqrt(squares.ravel()[closest]) + 1e-300
    between = csr_array((length[here != there], (here[here != there], there[here != there])), shape=(count, count))
    bridges = minimum_spanning_tree(between).tocoo()
    where = np.searchsorted(keys, bridges.row.astype(np.int64) * count + bridges.col)
    first_end, second_end = np.unravel_index(closest[where], squares.shape)
    joined = csr_array((bridges.data, (landmarks[first_end], second_end)), shape=(s, s))
    whole: SparseArray = graph + joined
    return whole
