"""From the convex relaxation of graph matching to a matching, by graduated non-convexity.

min ‖AP − PB‖² over doubly stochastic P is convex. −λ‖P‖² with rising λ pulls its solution towards a permutation (the
path following of Zaslavskiy, Bach and Vert); each problem is solved by Frank and Wolfe with exact line search.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pairup.constraints import Constraints
from pairup.types import Float32Array, Indices

PULLS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # λ; weights of edges are about 1
STEPS = (120, 25)  # of Frank and Wolfe at λ = 0, and at each of the others


def follow_path(
    A: Any, B: Any, constraints: Constraints, *, pulls: Sequence[float] = PULLS, steps: tuple[int, int] = STEPS
) -> Iterator[Indices]:
    """Yield the matching nearest to the solution at each λ.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (n, n)
        The two graphs.
    constraints : Constraints
        Known pairs and prior; the sizes are equal.
    pulls : sequence of float, default PULLS
        The values of λ, rising.
    steps : tuple of two int, default STEPS
        Steps at the first λ, and at each of the others.

    Yields
    ------
    ndarray of int, shape (n,)
        A matching.
    """
    for plan in follow_plans(A, B, constraints, pulls=pulls, steps=steps):
        yield constraints.round(plan)


def follow_plans(
    A: Any, B: Any, constraints: Constraints, *, pulls: Sequence[float] = PULLS, steps: tuple[int, int] = STEPS
) -> Iterator[Float32Array]:
    """Yield the solution at each λ; the next step alters it in place.

    Parameters
    ----------
    A, B : scipy.sparse.csr_array of shape (n, n)
        The two graphs.
    constraints : Constraints
        Known pairs and prior; the sizes are equal.
    pulls : sequence of float, default PULLS
        The values of λ, rising.
    steps : tuple of two int, default STEPS
        Steps at the first λ, and at each of the others.

    Yields
    ------
    ndarray of float32, shape (n, n)
        A doubly stochastic plan.
    """
    A, B = A.astype(np.float32), B.astype(np.float32)
    At, Bt = A.T.tocsr(), B.T.tocsr()
    rows = np.arange(constraints.n)
    plan = constraints.uniform()
    for pull in pulls:
        for _ in range(steps[0] if pull == pulls[0] else steps[1]):
            R = residual(A, Bt, plan)
            G = 2 * (At @ R - (B @ R.T).T) - np.float32(2 * pull) * plan
            if constraints.prior is not None:
                G -= constraints.prior
            D = -plan
            D[rows, constraints.round(-G)] += 1
            slope = float(np.vdot(G, D))
            if slope > -1e-5:
                break
            RD = residual(A, Bt, D)
            curvature = float(np.vdot(RD, RD)) - pull * float(np.vdot(D, D))
            plan += np.float32(1.0 if curvature <= 0 else min(1.0, -slope / (2 * curvature))) * D
        yield plan
        if float(plan.max(axis=1).min()) > 0.999:
            return


def residual(A: Any, Bt: Any, plan: Float32Array) -> Float32Array:
    """Return AP − PB, given A and the transpose of B.

    Parameters
    ----------
    A, Bt : scipy.sparse.csr_array of shape (n, n)
        One graph, and the other transposed.
    plan : ndarray of float32, shape (n, n)
        P.

    Returns
    -------
    ndarray of float32, shape (n, n)
        The residual.
    """
    R: Float32Array = A @ plan - (Bt @ plan.T).T
    return R
