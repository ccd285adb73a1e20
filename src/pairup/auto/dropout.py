"""The last stage of a search: pairs are predicted from random halves of the others, many times, and averaged.

A matching explains itself: a wrong pair keeps its neighbours wrong, and they keep it. Here the profits of every update
come from a random half of the pairs, and every annealing sees a random half of the kernels. What nearly all of them
find does not hang on a few pairs.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pairup.annealing import anneal, last_plan
from pairup.auto.geometry import GeometryPair, joint_subspaces, mean_low_rank_form
from pairup.auto.problem import Context
from pairup.auto.schedule import DROPOUT, GEOMETRY
from pairup.auto.search import agreement
from pairup.constraints import Constraints
from pairup.density_ratio import density_ratios
from pairup.forms import DenseForm, LowRankForm, QuadraticForm
from pairup.parallel import run
from pairup.types import Array, Float32Array, Indices


def average_plans(geometries: Sequence[GeometryPair], indices: Indices, context: Context) -> Float32Array:
    """Return the mean plan of many short annealings from a matching, each of which sees halves of pairs and kernels.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    indices : ndarray of int, shape (n,)
        The matching.
    context : Context
        What plans keep to, the seed that draws the halves, and how to run.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The mean plan; each row sums to 1 at the most.
    """
    weights = weigh_geometries(geometries, indices, context.constraints)
    chosen = np.flatnonzero(weights >= DROPOUT.least_weight)
    forms = all_forms([geometries[int(k)] for k in chosen], weights[chosen])
    tasks = [
        partial(anneal_halves, forms, indices, context.constraints, (context.seed, number))
        for number in range(DROPOUT.annealings)
    ]
    total = sum(run(tasks, n_jobs=context.n_jobs), start=np.zeros((), dtype=np.float32))
    mean: Float32Array = total / np.float32(DROPOUT.annealings)
    return mean


def weigh_geometries(geometries: Sequence[GeometryPair], indices: Indices, constraints: Constraints) -> Array:
    """Return weights of geometries by how many pairs of a matching their density-ratio models find again.

    Each pair is left out of the fit. A weight is the squared logarithm of the odds that a pair is found again, in units
    of the largest: the logarithm is what votes of independent judges count, and metrics that err do not err alone.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    indices : ndarray of int, shape (n,)
        The matching.
    constraints : Constraints
        What matchings keep to.

    Returns
    -------
    ndarray of shape (n_geometries,)
        Weights, the largest 1.
    """
    kernel, pairs = GEOMETRY.kernels[0], int((indices >= 0).sum())
    models = [density_ratios(*geometry.spectra(kernel), indices, DROPOUT.weighing_epsilon) for geometry in geometries]
    found = pairs * np.array([agreement(constraints.round(r), indices) for r in models])
    log_odds: Array = np.maximum(np.log((found + 1.0) / (pairs - found + 1.0)), 0.0)
    top = float(log_odds.max())
    return (log_odds / top) ** 2 if top > 0.0 else np.ones(len(geometries))


def all_forms(geometries: Sequence[GeometryPair], weights: Array) -> list[list[QuadraticForm]]:
    """Return the whitened kernels of all geometries at every ε: one form each, or all in one of low rank.

    Parameters
    ----------
    geometries : sequence of GeometryPair
        Geometries of the two sets.
    weights : ndarray of shape (n_geometries,)
        Their weights.

    Returns
    -------
    list of list of QuadraticForm
        The forms of each ε.
    """
    of_all = np.repeat(weights, len(GEOMETRY.kernels)).astype(np.float32)
    seen = round(DROPOUT.seen_kernels * len(of_all))
    if geometries[0].prefers_low_rank(DROPOUT.epsilons[-1], seen):
        x, y = joint_subspaces(geometries, GEOMETRY.kernels)
        whole = [mean_low_rank_form(x, y, epsilon, range(len(of_all))) for epsilon in DROPOUT.epsilons]
        return [[replace(form, S=form.S * of_all[:, None, None])] for form in whole]
    kernels = [(geometry, kernel) for geometry in geometries for kernel in GEOMETRY.kernels]
    return [
        [
            DenseForm(weight * geometry.x.whiten(kernel, epsilon), geometry.y.whiten(kernel, epsilon))
            for weight, (geometry, kernel) in zip(of_all, kernels, strict=True)
        ]
        for epsilon in DROPOUT.epsilons
    ]


def anneal_halves(
    forms: Sequence[Sequence[QuadraticForm]], indices: Indices, constraints: Constraints, seed: tuple[int, int]
) -> Float32Array:
    """Anneal from a matching to ever finer dependence, by a random half of the kernels and of the pairs.

    Known pairs are always seen.

    Parameters
    ----------
    forms : sequence of sequence of QuadraticForm
        The kernels for each ε; the same ones at every ε.
    indices : ndarray of int, shape (n,)
        The matching.
    constraints : Constraints
        What plans keep to.
    seed : tuple of two int
        Draws the halves.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The mean of the plans at the end of every ε.
    """
    rng = np.random.default_rng(seed)
    known = constraints.anchors[0]

    def half(plan: Float32Array) -> Float32Array:
        dropped = rng.random(len(plan)) >= DROPOUT.seen_pairs
        dropped[known] = False
        seen = plan.copy()
        seen[dropped] = 0.0
        return seen

    order = rng.permutation(count_kernels(forms[0]))
    kernels = np.sort(order[: max(1, round(DROPOUT.seen_kernels * len(order)))])
    plan = constraints.warm_start(indices)
    total = np.zeros_like(plan)
    for of_epsilon in forms:
        some = select_kernels(of_epsilon, kernels)
        plan = last_plan(anneal(some, plan, constraints, betas=DROPOUT.cooling, updates=DROPOUT.updates, seen=half))
        total += plan
    mean: Float32Array = total / np.float32(len(forms))
    return mean


def count_kernels(forms: Sequence[QuadraticForm]) -> int:
    """Return how many kernels forms consist of."""
    return len(forms[0].S) if isinstance(forms[0], LowRankForm) else len(forms)


def select_kernels(forms: Sequence[QuadraticForm], kernels: Indices) -> list[QuadraticForm]:
    """Return the forms of some of the kernels.

    Parameters
    ----------
    forms : sequence of QuadraticForm
        One form for each kernel, or one of low rank for all.
    kernels : ndarray of int
        The numbers of the kernels.

    Returns
    -------
    list of QuadraticForm
        Forms of these.
    """
    if isinstance(forms[0], LowRankForm):
        return [replace(forms[0], S=forms[0].S[kernels], T=forms[0].T[kernels])]
    return [forms[k] for k in kernels]
