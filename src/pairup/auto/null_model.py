"""The null model: sets like Y that have nothing to do with X, for comparison."""

import numpy as np

from pairup.auto.geometry import GeometryPair
from pairup.auto.metrics import normalize_rows
from pairup.auto.schedule import GEOMETRY, NULL_MODEL
from pairup.components import shuffle_components
from pairup.constraints import Constraints
from pairup.kernels import center, squared_distances


def count_draws(constraints: Constraints) -> int:
    """Return how many unrelated sets are drawn: more for few objects, some of which match by accident."""
    return next((draws for below, draws in NULL_MODEL.draws if constraints.largest < below), 1)


def count_starts(constraints: Constraints) -> int:
    """Return from how many starts an unrelated set is searched."""
    many = constraints.largest >= GEOMETRY.many_objects_from
    return NULL_MODEL.starts_of_many if many else NULL_MODEL.starts


def draw_unrelated(geometry: GeometryPair, seed: int) -> GeometryPair:
    """Return the same X beside a set like Y, but without its structure.

    The principal coordinates of Y nearly keep their distributions and lose their relations. Directions, which lie on a
    sphere, are put back on it. Among many objects, where to draw takes long, the set is kept for those who ask again.

    Parameters
    ----------
    geometry : GeometryPair
        The two sets.
    seed : int
        Draws the shuffles.

    Returns
    -------
    GeometryPair
        X beside the unrelated set.
    """
    if len(geometry.y) < GEOMETRY.many_objects_from:
        return _draw(geometry, seed)
    key = ("unrelated", seed)
    if key not in geometry.kept:
        geometry.kept[key] = _draw(geometry, seed)
    unrelated: GeometryPair = geometry.kept[key]
    return unrelated


def _draw(geometry: GeometryPair, seed: int) -> GeometryPair:
    from scipy.linalg import eigh

    y = geometry.y
    gram = 1.0 - 0.5 * (y.distances * np.float32(y.unit)) if geometry.on_sphere else -0.5 * center(y.distances)
    w, V = eigh(gram, driver="evd")
    kept = w > NULL_MODEL.least_eigenvalue * w[-1]
    kept[-1] = True
    rng = np.random.default_rng(seed)
    coordinates = shuffle_components(V[:, kept], w[kept], rng, center=not geometry.on_sphere)
    return geometry.with_y(squared_distances(normalize_rows(coordinates) if geometry.on_sphere else coordinates))
