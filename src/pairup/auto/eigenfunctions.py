"""Leading eigenfunctions of a kernel by landmarks (Nyström), for sets too large for a kernel matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairup.auto.schedule import MULTILEVEL
from pairup.density_ratio import count_directions
from pairup.types import Array, Float32Array


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """Functions u_1, u_2, … of mean 0 and variance 1 with k(x, x') ≈ Σ_a λ_a u_a(x) u_a(x'), centred.

    The kernel is the mean of Gaussian, Laplacian and linear kernels.

    Parameters
    ----------
    landmarks : ndarray of float32, shape (l, d)
        Objects by which all others are known, in coordinates.
    width : float
        The median width of the Gaussian kernels.
    unit : float
        What the linear kernel is divided by.
    projection : ndarray of float32, shape (l, r)
        From kernel values with the landmarks to eigenfunctions.
    offset : ndarray of float32, shape (r,)
        What is subtracted, so that their means are 0.
    eigenvalues : ndarray of shape (r,)
        Eigenvalues λ, falling.
    """

    landmarks: Float32Array
    width: float
    unit: float
    projection: Float32Array
    offset: Float32Array
    eigenvalues: Array

    @classmethod
    def fit(cls, Z: Float32Array, rng: np.random.Generator) -> "Eigenfunctions":
        """Fit eigenfunctions to a sample.

        Parameters
        ----------
        Z : ndarray of float32, shape (n, d)
            Objects in coordinates.
        rng : numpy.random.Generator
            Chooses the landmarks.

        Returns
        -------
        Eigenfunctions
            The functions.
        """
        landmarks = Z[np.sort(rng.permutation(len(Z))[: MULTILEVEL.landmarks])]
        squares = _squared_distances(landmarks, landmarks)
        width = max(float(np.sqrt(np.median(squares) / 2)), 1e-12)
        unit = max(float((landmarks.astype(np.float64) ** 2).sum(axis=1).mean()), 1e-30)
        identity, nothing = np.eye(len(landmarks), dtype=np.float32), np.zeros(1, dtype=np.float32)
        start = cls(landmarks, width, unit, identity, nothing, np.ones(1))
        w, V = np.linalg.eigh(start._kernel(landmarks).astype(np.float64))
        kept = w > MULTILEVEL.landmark_noise * w.max()
        root = V[:, kept] / np.sqrt(w[kept])
        F = np.concatenate([start._kernel(block) @ root.astype(np.float32) for block in _blocks(Z)])
        mean = F.mean(axis=0, dtype=np.float64)
        w, V = np.linalg.eigh((F.T @ F).astype(np.float64) / len(Z) - np.outer(mean, mean))
        order = np.argsort(-w)[: count_directions(MULTILEVEL.epsilons[-1])]
        order = order[w[order] > MULTILEVEL.landmark_noise * w.max()]
        axes = V[:, order] / np.sqrt(w[order])
        projection = (root @ axes).astype(np.float32)
        return cls(landmarks, width, unit, projection, (mean @ axes).astype(np.float32), w[order])

    def _kernel(self, Z: Float32Array) -> Float32Array:
        """Return the kernel of some objects and the landmarks."""
        inner = Z @ self.landmarks.T
        squares = _squared_distances(Z, self.landmarks, inner)
        total = inner / np.float32(self.unit)
        for c in MULTILEVEL.gaussian_widths:
            total += np.exp(squares * np.float32(-0.5 / (c * self.width) ** 2))
        np.sqrt(squares, out=squares)
        for c in MULTILEVEL.laplacian_widths:
            total += np.exp(squares * np.float32(-1.0 / (c * self.width)))
        return np.asarray(total, dtype=np.float32)

    def __call__(self, Z: Float32Array) -> Float32Array:
        """Return the values of all functions for objects in coordinates, as float32 of shape (n, r)."""
        values = [self._kernel(block) @ self.projection - self.offset for block in _blocks(Z)]
        return np.concatenate(values) if values else np.zeros((0, len(self.offset)), dtype=np.float32)

    def shrinkage(self, epsilon: float) -> Float32Array:
        """Return √(λ/(λ + ε)) of as many functions as tell as much as all at ε."""
        w = self.eigenvalues[: count_directions(epsilon)]
        shrunk: Float32Array = np.sqrt(w / (w + epsilon)).astype(np.float32)
        return shrunk


def _blocks(Z: Float32Array) -> Sequence[Float32Array]:
    size = MULTILEVEL.block
    return [Z[first : first + size] for first in range(0, len(Z), size)]


def _squared_distances(A: Float32Array, B: Float32Array, inner: Float32Array | None = None) -> Float32Array:
    inner = A @ B.T if inner is None else inner
    D = (A**2).sum(axis=1)[:, None] - 2 * inner + (B**2).sum(axis=1)
    D = np.maximum(D, 0, out=D)
    return np.asarray(D, dtype=np.float32)
