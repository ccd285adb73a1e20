"""Samples of many objects, among which maps are found and compared."""

from dataclasses import dataclass, replace

import numpy as np

from pairup.auto.partners import among
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.solution import Solution
from pairup.constraints import Constraints
from pairup.types import Indices


def draw_rows(n: int, rng: np.random.Generator, most: int = MULTILEVEL.sample) -> Indices:
    """Return the numbers of all objects, or of a sample of them if they are many, in their order.

    Parameters
    ----------
    n : int
        How many objects there are.
    rng : numpy.random.Generator
        Draws the sample.
    most : int, default 20000
        How many numbers at most.

    Returns
    -------
    ndarray of int, shape (s,)
        The numbers.

    Examples
    --------
    >>> draw_rows(4, np.random.default_rng(0), most=10)
    array([0, 1, 2, 3])
    """
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


@dataclass(frozen=True, eq=False)
class Race:
    """Objects of both sets that are matched to compare maps: all, or a sample of them if they are many.

    Parameters
    ----------
    x, y : ndarray of int, shape (s,) and (t,)
        Their places in the samples that views are fitted to.
    rows, columns : ndarray of int, shape (s,) and (t,)
        Their numbers.
    constraints : Constraints
        What a matching of them keeps to.
    shape : tuple of two int
        The number of all x and of all y.
    """

    x: Indices
    y: Indices
    rows: Indices
    columns: Indices
    constraints: Constraints
    shape: tuple[int, int]

    @classmethod
    def draw(cls, constraints: Constraints, rows: Indices, columns: Indices, rng: np.random.Generator) -> "Race":
        """Draw objects from samples of both sets.

        Parameters
        ----------
        constraints : Constraints
            What a matching of all objects keeps to.
        rows, columns : ndarray of int
            Numbers of the objects of X and of Y in the samples.
        rng : numpy.random.Generator
            Draws them.

        Returns
        -------
        Race
            No more objects of a set than race.
        """
        x, y = (draw_rows(len(chosen), rng, MULTILEVEL.raced) for chosen in (rows, columns))
        rows, columns = rows[x], columns[y]
        n, m = constraints.n, constraints.m
        prior = constraints.sparse_prior
        inside = replace(
            constraints,
            n=len(rows),
            m=len(columns),
            n_pairs=min(len(rows), len(columns)),
            anchors=among(constraints.anchors, rows, columns, n, m),
            forbidden=among(constraints.forbidden, rows, columns, n, m),
            sparse_prior=None if prior is None else prior[rows][:, columns].tocsr(),
        )
        return cls(x, y, rows, columns, inside, (n, m))

    @property
    def share(self) -> float:
        """How many of the objects that race can have their partner among the others."""
        return min(1.0, len(self.columns) / self.shape[1])

    def restrict(self, indices: Indices) -> Indices:
        """Return a matching of all objects as one of these, −1 where the partner is none of them."""
        place = np.full(self.shape[1] + 1, -1, dtype=np.intp)  # the last one is that of −1
        place[self.columns] = np.arange(len(self.columns))
        return np.asarray(place[indices[self.rows]], dtype=np.intp)

    def expand(self, solution: Solution) -> Solution:
        """Return a solution for these objects as one for all, of which the others have no partner."""
        found = solution.indices
        indices = np.full(self.shape[0], -1, dtype=np.intp)
        indices[self.rows[found >= 0]] = self.columns[found[found >= 0]]
        return replace(solution, indices=indices, found_again=min(1.0, solution.found_again / self.share))
