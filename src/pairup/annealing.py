"""Deterministic annealing of quadratic forms: a soft plan that hardens as the temperature falls."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairup.climb import Step, climb
from pairup.constraints import FORBIDDEN, Constraints
from pairup.forms import DenseForm, QuadraticForm, exclude_self
from pairup.measures import Quadratic
from pairup.types import Float32Array, Indices

# Inverse temperatures β. At 5 a plan is nearly uniform, at 200 nearly hard.
COOLING = tuple(np.geomspace(5, 200, 15))
COARSE_COOLING = tuple(np.geomspace(5, 200, 10))  # for many starts
RECOOLING = tuple(np.geomspace(20, 200, 6))  # for a plan that has been cooled before

UPDATES = 3  # of the plan at each temperature
COARSE_UPDATES = 2  # the same for many starts
SIDE_BY_SIDE = 2**14  # entries of plans that are annealed together: beyond, they leave the cache and gain nothing
FEWEST_CONTINUED = 4  # starts that are annealed to the end, where others stop halfway


def sinkhorn(
    scores: Float32Array, potential: Float32Array, constraints: Constraints, *, sweeps: int = 10
) -> tuple[Float32Array, Float32Array]:
    """Return the plan exp(scores + a + b) that has the sums the constraints ask for.

    Before exponentiation the largest entry of every row and column is moved to 0, so nothing overflows, and no row or
    column vanishes. Where not every object has a partner, all have one to the same degree: a slack row and column would
    take the objects in the middle of a set, which bring the least profit, whether they have a partner or not.

    Parameters
    ----------
    scores : ndarray of float32, shape (…, n, m)
        Scores of all pairs, of one plan or of several; they are overwritten.
    potential : ndarray of float32, shape (…, m)
        The potential b of the call before, 0 at first.
    constraints : Constraints
        What the plan keeps to.
    sweeps : int, default 10
        How often rows and columns are scaled.

    Returns
    -------
    plan : ndarray of float32, shape (…, n, m)
        The plan.
    potential : ndarray of float32, shape (…, m)
        The potential b, from which the next call starts.
    """
    row_sums, column_sums = constraints.marginals
    scores += potential[..., None, :]
    scores -= scores.max(axis=-1, keepdims=True)
    top = scores.max(axis=-2)
    scores -= top[..., None, :]
    np.maximum(scores, FORBIDDEN, out=scores)
    E = np.exp(scores, out=scores)
    E[..., *constraints.forbidden] = 0.0
    v = np.exp(np.maximum(top, FORBIDDEN))  # undoes the move of the columns: `potential` is where the last call ended
    u, v = scale_to_marginals(E, row_sums, column_sums, v, sweeps=sweeps)
    E *= u[..., None]
    E *= v[..., None, :]
    potential = potential - top + np.log(np.maximum(v, 1e-30))
    return E, potential


def scale_to_marginals(
    E: NDArray[Any],
    row_sums: NDArray[Any],
    column_sums: NDArray[Any],
    v: NDArray[Any],
    *,
    sweeps: int,
    balance: float = 1.0,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return u and v such that diag(u)·E·diag(v) has the given sums: Sinkhorn's iteration.

    Each sweep costs two products of a matrix and a vector: u = row_sums / Ev, v = (column_sums / Eᵀu)^balance.

    Parameters
    ----------
    E : ndarray of shape (…, n, m)
        A positive matrix, or several; with balance 1 no column may vanish.
    row_sums : ndarray of shape (n,)
        Sums of the rows.
    column_sums : ndarray of shape (m,)
        Sums of the columns.
    v : ndarray of shape (…, m)
        Where to start.
    sweeps : int
        How many iterations.
    balance : float, default 1
        How far the columns are held to their sums, from 0 (not at all) to 1; unbalanced transport in between.

    Returns
    -------
    u : ndarray of shape (…, n)
        Factors of the rows.
    v : ndarray of shape (…, m)
        Factors of the columns.

    Examples
    --------
    >>> E = np.array([[1.0, 2.0], [3.0, 1.0]])
    >>> u, v = scale_to_marginals(E, np.ones(2), np.ones(2), np.ones(2), sweeps=50)
    >>> (u[:, None] * E * v).sum(axis=1).round(6)
    array([1., 1.])
    """
    least = np.finfo(E.dtype).tiny
    u = row_sums
    for _ in range(sweeps):
        u = row_sums / (E @ v[..., None])[..., 0]
        used = (u[..., None, :] @ E)[..., 0, :]
        v = column_sums / used if balance == 1.0 else (column_sums / np.maximum(used, least)) ** balance
    return u, v


def anneal(
    forms: Sequence[QuadraticForm],
    plan: Float32Array,
    constraints: Constraints,
    *,
    betas: Sequence[float] = RECOOLING,
    updates: int = UPDATES,
    seen: Callable[[Float32Array], Float32Array] | None = None,
) -> Iterator[Float32Array]:
    """Yield the plan after each inverse temperature β: P ← Sinkhorn(exp(β·G / max|G|)), G = Σ_k K_k P L_k.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        One or more quadratic forms, all of one norm, their diagonals zero.
    plan : ndarray of float32, shape (…, n, m)
        Where to start; several plans are annealed side by side, if all forms are dense.
    constraints : Constraints
        What every plan keeps to.
    betas : sequence of float, default RECOOLING
        The inverse temperatures, rising.
    updates : int, default UPDATES
        How often the plan is renewed at each of them.
    seen : callable, optional
        What the profits see of a plan; all of it by default.

    Yields
    ------
    ndarray of float32, shape (…, n, m)
        The plan at the end of each temperature.
    """
    potential = np.zeros((*plan.shape[:-2], constraints.m), dtype=np.float32)
    before = betas[0]
    for beta in betas:
        potential *= np.float32(beta / before)
        before = beta
        for _ in range(updates):
            visible = plan if seen is None else seen(plan)
            G = forms[0].profit(visible)
            for form in forms[1:]:
                G += form.profit(visible)
            largest = np.maximum(G.max(axis=(-2, -1), keepdims=True), -G.min(axis=(-2, -1), keepdims=True))
            G /= np.maximum(largest, np.float32(1e-30))
            if constraints.prior is not None:
                G += constraints.prior
            G *= np.float32(beta)
            constraints.mask(G)
            plan, potential = sinkhorn(G, potential, constraints)
        yield plan


def last_plan(plans: Iterator[Float32Array]) -> Float32Array:
    """Return the last plan of an annealing."""
    return deque(plans, maxlen=1).pop()


def anneal_all(
    forms: Sequence[QuadraticForm],
    plans: Sequence[Float32Array],
    constraints: Constraints,
    *,
    betas: Sequence[float],
    updates: int,
) -> list[Float32Array]:
    """Anneal several plans to the end, small ones side by side.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        One or more quadratic forms, all of one norm, their diagonals zero.
    plans : sequence of ndarray of float32, shape (n, m)
        Where to start.
    constraints : Constraints
        What every plan keeps to.
    betas : sequence of float
        The inverse temperatures, rising.
    updates : int
        How often a plan is renewed at each of them.

    Returns
    -------
    list of ndarray of float32, shape (n, m)
        The annealed plan of each start.
    """
    together = max(1, SIDE_BY_SIDE // (constraints.n * constraints.m))
    if together == 1 or not all(isinstance(form, DenseForm) for form in forms):
        return [last_plan(anneal(forms, plan, constraints, betas=betas, updates=updates)) for plan in plans]
    parts = [np.stack(plans[k : k + together]) for k in range(0, len(plans), together)]
    annealed = [last_plan(anneal(forms, part, constraints, betas=betas, updates=updates)) for part in parts]
    return [plan for part in annealed for plan in part]


def anneal_halving(
    forms: Sequence[QuadraticForm],
    plans: Sequence[Float32Array],
    constraints: Constraints,
    *,
    betas: Sequence[float],
    updates: int,
) -> list[Float32Array]:
    """Anneal several plans, and after half of the cooling only the better half of them, but no fewer than four.

    By then the best plan of the end is among those of largest tr(K P L Pᵀ); earlier it need not be.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        One or more quadratic forms, all of one norm, their diagonals zero.
    plans : sequence of ndarray of float32, shape (n, m)
        Where to start.
    constraints : Constraints
        What every plan keeps to.
    betas : sequence of float
        The inverse temperatures, rising.
    updates : int
        How often a plan is renewed at each of them.

    Returns
    -------
    list of ndarray of float32, shape (n, m)
        The plans that were annealed to the end.
    """
    runs = [anneal(forms, plan, constraints, betas=betas, updates=updates) for plan in plans]
    halfway = [last_plan(islice(run, (len(betas) + 1) // 2)) for run in runs]
    values = [sum(float(np.vdot(form.profit(plan), plan)) for form in forms) for plan in halfway]
    better = np.argsort(values)[::-1][: max(FEWEST_CONTINUED, (len(plans) + 1) // 2)]
    return [last_plan(runs[k]) for k in better]


def anneal_measure(
    measure: Quadratic, start: Indices, *, number: int = 0, max_iter: int = 20, eta: float = 1.0
) -> Iterator[Step]:
    """Anneal a quadratic measure from a matching, and climb from the best matching found.

    The diagonals of the prepared matrices are left out of the search (`exclude_self`) and kept in the values. The
    last steps climb the measure itself, so that what is returned is a local maximum.

    Parameters
    ----------
    measure : Quadratic
        HSIC, NOCCO or any other Σ K∘L[p, p].
    start : ndarray of int, shape (n,)
        The first matching.
    number : int, default 0
        Which of several starts this is; it is copied into the steps.
    max_iter : int, default 20
        The largest number of assignments of the climb.
    eta : float, default 1.0
        The step size η of the climb.

    Yields
    ------
    Step
        The start, one rounded plan per temperature, and the steps of the climb.

    Examples
    --------
    >>> from pairup.measures import HSIC
    >>> K = np.diag([1.0, 2.0, 3.0]) + 0.1; L = K[::-1, ::-1]
    >>> max(anneal_measure(HSIC(K, L), np.array([0, 1, 2])), key=lambda step: step.value).indices
    array([2, 1, 0])
    """
    n = len(start)
    constraints = Constraints(n, n, n)
    form = DenseForm(exclude_self(measure.K).astype(np.float32), exclude_self(measure.L).astype(np.float32))
    value = measure.value(start)
    best = Step(number, 0, start, value)
    yield best
    plans = anneal([form], constraints.warm_start(start), constraints, betas=COOLING)
    for iteration, plan in enumerate(plans, start=1):
        indices = constraints.round(plan)
        value = measure.value(indices)
        step = Step(number, iteration, indices, value)
        best = max(best, step, key=lambda s: s.value)
        yield step
    for step in climb(measure, best.indices, number=number, max_iter=max_iter, eta=eta):
        if step.iteration:
            yield Step(number, len(COOLING) + step.iteration, step.indices, step.value)
