"""Coordinates of many objects in one metric: fitted to a sample, computed for any block of rows."""

from dataclasses import dataclass

import numpy as np

from pairup.auto.metrics import count_unscaled, is_unscaled
from pairup.auto.schedule import MULTILEVEL
from pairup.types import Array, Float32Array


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Leading principal components of a table in one metric, as a function of its rows.

    Parameters
    ----------
    metric : str
        The short name of the metric.
    origin : ndarray of shape (d,)
        What is subtracted from every row.
    scale : ndarray of shape (d,)
        What every column is divided by after that.
    quantiles : ndarray of shape (q, d) or None
        Values of the columns at equal steps of rank, where ranks take the place of values.
    centre : ndarray of shape (d,)
        The mean of the rows after all that.
    axes : ndarray of shape (d, r)
        Principal axes, each times the factor of its component.
    """

    metric: str
    origin: Array
    scale: Array
    quantiles: Array | None
    centre: Array
    axes: Array

    @classmethod
    def fit(cls, metric: str, Z: Array) -> "Coordinates":
        """Fit coordinates to a sample.

        Parameters
        ----------
        metric : {"euclidean", "directions", "partially-whitened", "ranks", "whitened-k", "whitened-unscaled-k"}
            The metric; k leading components in the last cases.
        Z : ndarray of shape (n, d)
            Rows of the table.

        Returns
        -------
        Coordinates
            The coordinates.
        """
        d = Z.shape[1]
        origin, scale, quantiles = Z.mean(axis=0), np.ones(d), None
        spread = Z.std(axis=0)
        kind = metric.partition("-")[0]
        if kind in ("partially", "whitened") and not is_unscaled(metric):
            constant = spread <= 1e-12 * np.abs(Z).max(axis=0, initial=1e-300)
            scale = np.where(constant, np.inf, spread)
        elif metric == "ranks":
            quantiles = np.quantile(Z, np.linspace(0, 1, min(len(Z), MULTILEVEL.quantiles)), axis=0)
        else:
            scale = np.full(d, max(float(np.sqrt(np.mean(spread**2))), 1e-300))
        start = cls(metric, origin, scale, quantiles, np.zeros(d), np.eye(d))
        changed = start._change(Z)
        centre = changed.mean(axis=0)
        variances, axes = np.linalg.eigh((changed - centre).T @ (changed - centre) / len(Z))
        order = np.argsort(-variances)[: MULTILEVEL.components]
        order = order[variances[order] > MULTILEVEL.noise * max(float(variances.max()), 1e-300)]
        variances, axes = variances[order], axes[:, order]
        axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)
        if kind == "partially" and len(variances):
            axes = axes / (variances + np.median(variances)) ** 0.25
        elif kind == "whitened":
            axes = (axes / np.sqrt(variances))[:, : int(metric.rpartition("-")[2])]
        return cls(metric, origin, scale, quantiles, centre, axes)

    def _change(self, Z: Array) -> Array:
        """Return rows as the metric sees them, before their components are taken."""
        Z = np.asarray(Z, dtype=np.float64)
        if self.quantiles is not None:
            steps = np.linspace(0, 1, len(self.quantiles))
            columns = zip(Z.T, self.quantiles.T, strict=True)
            ranks = np.stack([np.interp(z, *_without_ties(q, steps)) for z, q in columns], axis=1)
            return np.asarray(ranks, dtype=np.float64)
        Z = (Z - self.origin) / self.scale
        if self.metric == "directions":
            Z = Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)
        return Z

    def __call__(self, Z: Array) -> Float32Array:
        """Return the coordinates of some rows, as float32 of shape (n, r)."""
        components = (self._change(Z) - self.centre) @ self.axes
        if self.metric == "directions":  # what the left out components held is missing from the lengths
            components /= np.maximum(np.linalg.norm(components, axis=1, keepdims=True), 1e-300)
        return components.astype(np.float32)


def _without_ties(quantiles: Array, steps: Array) -> tuple[Array, Array]:
    """Return distinct quantiles and the mean rank of each: equal values have one rank."""
    values, first, counts = np.unique(quantiles, return_index=True, return_counts=True)
    return values, (steps[first] + steps[first + counts - 1]) / 2


def suitable_metrics(X: Array, Y: Array, metric: str) -> list[str]:
    """Return the metrics in which many objects of two tables are compared.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        The tables.
    metric : {"auto", "euclidean", "cosine"}
        What was asked for.

    Returns
    -------
    list of str
        Short names.

    Examples
    --------
    >>> suitable_metrics(np.zeros((5, 2)), np.zeros((5, 2)), "auto")
    ['euclidean', 'partially-whitened', 'ranks']
    """
    if metric != "auto":
        return ["directions" if metric == "cosine" else "euclidean"]
    narrowest, widest = sorted((X.shape[1], Y.shape[1]))
    chosen = ["directions"] if narrowest >= MULTILEVEL.directions_from else []
    chosen.append("euclidean")
    if widest > 1:
        chosen.append("partially-whitened")
    if widest <= MULTILEVEL.ranks_up_to:
        chosen.append("ranks")
    return chosen


def further_metrics(X: Array, Y: Array, metric: str) -> list[str]:
    """Return metrics for sets that are matched in none of the others: narrow tables may be curved, or lack a unit.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, e)
        The tables.
    metric : {"auto", "euclidean", "cosine"}
        What was asked for.

    Returns
    -------
    list of str
        Short names.

    Examples
    --------
    >>> further_metrics(np.zeros((5, 2)), np.zeros((5, 3)), "auto")
    ['geodesic', 'whitened-2']
    >>> Z = np.random.default_rng(0).normal(size=(500, 4)) * [8, 4, 2, 1]
    >>> further_metrics(Z, Z, "auto")
    ['geodesic', 'whitened-4', 'whitened-unscaled-2', 'whitened-unscaled-3']
    """
    narrowest, widest = sorted((X.shape[1], Y.shape[1]))
    if metric == "cosine" or widest > MULTILEVEL.geodesic_up_to:
        return []
    if metric != "auto" or narrowest == 1:
        return ["geodesic"]
    most = min(narrowest, MULTILEVEL.whitened_up_to)
    unscaled = [k for k in count_unscaled(X, Y) if k < most][-MULTILEVEL.unscaled :]
    return ["geodesic", f"whitened-{most}", *(f"whitened-unscaled-{k}" for k in unscaled)]
