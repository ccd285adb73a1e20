"""The default method: one search without the known pairs, one with them, and the answer."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pairup.auto.answer import Answer, keep_likeliest, restore_answer, undecided_answer
from pairup.auto.calibration import assess, pair_probabilities
from pairup.auto.canonical import Canonical
from pairup.auto.consensus import Consensus, median_scores, settle
from pairup.auto.dropout import average_plans
from pairup.auto.geometry import GeometryPair, JointGeometry
from pairup.auto.many_objects import solve_many, undecided_many
from pairup.auto.nearness import expected_nearness
from pairup.auto.prior_calibration import calibrate_both, held_out_ratios, tell_prior
from pairup.auto.problem import Context, Problem
from pairup.auto.schedule import CONSENSUS, DROPOUT, GEOMETRY, OVERLAP, PROBLEM, SEARCH, KernelName
from pairup.auto.search import is_clear, pool_solutions, select_geometries, select_isometric, soften
from pairup.auto.significance import compare_with_unrelated
from pairup.auto.stages import Geometries, score_matchings, search
from pairup.climb import Step
from pairup.constraints import NO_ANCHORS, Constraints, weigh_prior
from pairup.correlated_plans import RANK, RANKS, count_functions, eigenfunctions, expected_plan
from pairup.types import Float32Array


def solve(problem: Problem, *, seed: int = 0, n_jobs: int | None = None) -> Iterator[Step | Answer]:
    """Match two sets.

    Where not every object has a partner, the sets are matched as if all had one, and the likeliest pairs are kept.

    Parameters
    ----------
    problem : Problem
        The two sets, and what the matching keeps to.
    seed : int, default 0
        Draws whatever is random.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib; results do not depend on it.

    Yields
    ------
    Step or Answer
        A step for each candidate, and the answer last.
    """
    if reason := problem.explain_undecidable():
        undecided = undecided_answer if problem.is_dense else undecided_many
        yield undecided(problem.constraints, reason)
        return
    canonical = Canonical.of(problem)
    solve_form = solve_canonical if problem.is_dense else solve_many
    for step in solve_form(canonical.problem, seed=seed, n_jobs=n_jobs):
        yield canonical.restore_step(step) if isinstance(step, Step) else restore_answer(step, canonical)


def solve_canonical(problem: Problem, *, seed: int, n_jobs: int | None) -> Iterator[Step | Answer]:
    """Match two sets that are in canonical form, as `solve` does.

    Parameters
    ----------
    problem : Problem
        The two sets, and what the matching keeps to.
    seed : int
        Draws whatever is random.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Yields
    ------
    Step or Answer
        A step for each candidate, and the answer last.
    """
    constraints = problem.constraints
    most = max(constraints.count_possible(), constraints.n_pairs)
    context = Context(replace(constraints, n_pairs=most), seed, n_jobs)
    sources = problem.geometries(), problem.further_geometries()
    answer, geometries = yield from find_answer(*sources, problem.prior_weight, context)
    wanted = estimate_pairs(answer, geometries) if problem.estimates_overlap else constraints.n_pairs
    yield keep_likeliest(answer, max(wanted, len(constraints.anchors[0])), constraints)


def find_answer(
    sources: Iterable[GeometryPair], further: Iterable[GeometryPair], prior_weight: float | None, context: Context
) -> Generator[Step, None, tuple[Answer, Geometries]]:
    """Search without the known pairs and, where there are any, with them.

    A few known pairs can mislead as much as they help, so the result with them counts only if it is clearly better:
    if the known pairs, forgotten for the purpose, are much likelier around it. Otherwise they are put into the result
    without them, which makes no other pair worse.

    Parameters
    ----------
    sources : iterable of GeometryPair
        Geometries of the two sets.
    further : iterable of GeometryPair
        More of them, for sets that match well in none of the first.
    prior_weight : float or None
        Weight of a prior; None tries several.
    context : Context
        What the matching keeps to, and how to run.

    Returns
    -------
    tuple of Answer and list of GeometryPair
        The answer, and the geometries that were explored.

    Yields
    ------
    Step
        A step for each candidate.
    """
    constraints = context.constraints
    weighted = [replace(context, constraints=each) for each in weight_prior(constraints, prior_weight)]
    without_anchors = [replace(c, constraints=replace(c.constraints, anchors=NO_ANCHORS)) for c in weighted]
    history: list[Step] = []
    consensus, geometries = yield from search(sources, further, without_anchors, history)
    free = without_anchors[0]
    plan: Float32Array | None = None
    few = constraints.largest < GEOMETRY.many_objects_from
    if constraints.prior is None and few and not is_found_alone(consensus, constraints):
        plan = plan_around(consensus, geometries, free)
        consensus = settle_unless_worse(consensus, plan, geometries, free)
    if len(constraints.anchors[0]):
        with_anchors, _ = yield from search(
            geometries,
            (),
            weighted,
            history,
            pool=pool_solutions(consensus.coarse),
            breeds=not is_clear(consensus.coarse, constraints),
        )
        consensus = replace(consensus, indices=constraints.impose_anchors(consensus.indices))
        if plan is None:
            if is_clearly_better(with_anchors, consensus, geometries, context):
                consensus = with_anchors
        else:
            untold = plan_around(with_anchors, geometries, free)
            if prefer_by_anchors(untold, plan, constraints):
                told = plan_around(with_anchors, geometries, context)
                consensus = settle_unless_worse(with_anchors, 0.5 * (untold + told), geometries, context)
    return conclude(consensus, geometries, weighted[0], history), geometries


def is_found_alone(consensus: Consensus, constraints: Constraints) -> bool:
    """Tell whether the best candidate comes from a metric that no other part of the search takes for a good one.

    Such are distances along curves, whose neighbours are told apart by all pairs together: 300 points of a spiral are
    .99 right there, and .84 where halves of the pairs predict the others.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    constraints : Constraints
        The sizes of the sets.

    Returns
    -------
    bool
        Whether.
    """
    coarse, found_in = consensus.coarse, consensus.candidates[0].metric
    selected = select_geometries(coarse, constraints)
    return found_in in {coarse[k].metric for k in select_isometric(coarse, constraints) if k not in selected}


def plan_around(consensus: Consensus, geometries: Sequence[GeometryPair], context: Context) -> Float32Array:
    """Return the mean plan of short annealings from a matching, in the geometries that it was found in.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    geometries : sequence of GeometryPair
        The geometries that were explored.
    context : Context
        What plans keep to, and how to run.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan.
    """
    selected = [geometries[k] for k in select_geometries(consensus.coarse, context.constraints)]
    return average_plans(selected, consensus.indices, context)


def prefer_by_anchors(one: Float32Array, other: Float32Array, constraints: Constraints) -> bool:
    """Tell whether known pairs speak clearly for one plan against another, neither of which was told them.

    By the logarithm of the ratio of their likelihoods, where no pair is less likely than by chance. Few known pairs
    cannot reach much, so a share of the most that they can is enough.

    Parameters
    ----------
    one, other : ndarray of float32, shape (n, m)
        Plans.
    constraints : Constraints
        The known pairs.

    Returns
    -------
    bool
        Whether they do.

    Examples
    --------
    >>> known = Constraints(2, 2, 2, anchors=(np.array([0]), np.array([1])))
    >>> prefer_by_anchors(np.array([[0.1, 0.9], [0.9, 0.1]]), np.eye(2), known)
    True
    """
    chance = 1.0 / constraints.largest
    nats = np.log((one[constraints.anchors] + chance) / (other[constraints.anchors] + chance)).sum()
    most = len(constraints.anchors[0]) * np.log(constraints.largest)
    return bool(nats > min(CONSENSUS.nats_of_anchors, CONSENSUS.share_of_nats * most))


def weight_prior(constraints: Constraints, weight: float | None) -> list[Constraints]:
    """Return the constraints with one or several weights of the prior.

    Parameters
    ----------
    constraints : Constraints
        What a matching keeps to.
    weight : float or None
        Weight of the prior; None tries several.

    Returns
    -------
    list of Constraints
        One for each weight; the same constraints where there is no prior.
    """
    if constraints.prior is None:
        return [constraints]
    usual = PROBLEM.log_ratio_weights if constraints.prior_unit else PROBLEM.prior_weights
    return [weigh_prior(constraints, each) for each in (usual if weight is None else (weight,))]


def settle_unless_worse(
    consensus: Consensus, plan: Float32Array, geometries: Sequence[GeometryPair], context: Context
) -> Consensus:
    """Take the matching of largest mean plan, unless its held-out score falls far behind.

    Where dependence is spread over many dimensions, halves of the pairs may predict too little: what a genetic search
    has found is lost then.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    plan : ndarray of float32, shape (n, m)
        The mean plan around its matching.
    geometries : sequence of GeometryPair
        The geometries that were explored.
    context : Context
        What the matching keeps to, and how to run.

    Returns
    -------
    Consensus
        The result with the matching of the plan, or the same as before.
    """
    settled = settle(consensus, plan, context.constraints)
    of_settled, of_consensus = compare_scores(settled, consensus, geometries, context)
    return settled if of_settled >= DROPOUT.least_score * of_consensus else replace(consensus, plan=plan)


def is_clearly_better(one: Consensus, other: Consensus, geometries: Sequence[GeometryPair], context: Context) -> bool:
    """Tell whether the score of one consensus is well above that of the other, in the geometries of either.

    Parameters
    ----------
    one, other : Consensus
        Two results for the same sets.
    geometries : sequence of GeometryPair
        The geometries that both explored.
    context : Context
        The sizes of the sets, and how to run.

    Returns
    -------
    bool
        Whether `one` is clearly better.
    """
    of_one, of_other = compare_scores(one, other, geometries, context)
    return of_one > of_other + CONSENSUS.clearly_better


def compare_scores(
    one: Consensus, other: Consensus, geometries: Sequence[GeometryPair], context: Context
) -> tuple[float, float]:
    """Return the held-out scores of two results beside each other, in the geometries of either.

    Parameters
    ----------
    one, other : Consensus
        Two results for the same sets.
    geometries : sequence of GeometryPair
        The geometries that both explored.
    context : Context
        The sizes of the sets, and how to run.

    Returns
    -------
    tuple of two float
        The scores, larger is better, 1 at the most.
    """
    both = {k for c in (one, other) for k in select_geometries(c.coarse, context.constraints)}
    selected = sorted(both)
    J = score_matchings([geometries[k] for k in selected], [one.indices, other.indices], context.n_jobs)
    excess = [one.coarse[k].excess + other.coarse[k].excess for k in selected]
    of_one, of_other = median_scores(J, np.repeat(excess, len(GEOMETRY.scoring_kernels)))
    return float(of_one), float(of_other)


def conclude(consensus: Consensus, geometries: Sequence[GeometryPair], context: Context, history: list[Step]) -> Answer:
    """Return what was found, with how likely it is.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    geometries : sequence of GeometryPair
        The geometries that were explored.
    context : Context
        What the matching keeps to, and how to run.
    history : list of Step
        One step per candidate.

    Returns
    -------
    Answer
        The matching, its probabilities and the verdict.
    """
    constraints = context.constraints
    selected = [geometries[k] for k in select_geometries(consensus.coarse, constraints)]
    significance = compare_with_unrelated(selected, consensus.indices, context)
    consensus = replace(consensus, significance=significance, nearness=expected_nearness(consensus, geometries[0]))
    told = ""
    if constraints.prior_unit:
        likely = calibrate_both(consensus, constraints, next(g for g in selected if g.metric == significance.metric))
        told = tell_prior(constraints)
    else:
        likely = pair_probabilities(consensus, expect_partners(consensus, geometries, constraints), constraints)
    matched = np.flatnonzero(consensus.indices >= 0)
    confidence = np.zeros(constraints.n)
    confidence[matched] = likely[matched, consensus.indices[matched]]
    reliable, reliability, report = assess(confidence[matched], consensus)
    report = f"{told}\n{report}" if told else report
    return Answer(consensus.indices, confidence, likely, reliable, reliability, report, consensus, history)


def expect_partners(consensus: Consensus, geometries: Sequence[GeometryPair], constraints: Constraints) -> Float32Array:
    """Return a soft plan around a matching: the mean of such by all kernels and of such by leading eigenfunctions.

    The former know what no single eigenfunction tells, the latter do not fit what is accidental in the pairs. Plans err
    in different ways, so the mean of five errs less than any of them: annealed at coarse and at finer dependence, by
    eigenfunctions of two numbers, the mean over all kernels, and by principal coordinates. Of few objects the first
    alone; of many, that and the eigenfunctions of one kernel.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates.
    geometries : sequence of GeometryPair
        The geometries that were explored.
    constraints : Constraints
        What plans keep to.

    Returns
    -------
    ndarray of float32, shape (n, m)
        The plan; its rows sum to 1.
    """
    indices = consensus.indices
    joint = JointGeometry([geometries[k] for k in select_geometries(consensus.coarse, constraints)])
    if constraints.smallest < SEARCH.correlated_from:
        return soften(joint, constraints, indices)
    if constraints.largest >= GEOMETRY.many_objects_from:
        most, kernel = count_functions(constraints.smallest, RANK), GEOMETRY.scoring_kernels[0]
        leading = expected_plan((eigenfunction_pair(each, kernel, most) for each in geometries), indices)
        return np.float32(0.5) * (soften(joint, constraints, indices) + leading)
    most = count_functions(constraints.smallest, max(RANKS))
    plan = soften(joint, constraints, indices)
    plan += soften(joint, constraints, indices, epsilon=SEARCH.finer_epsilon, betas=SEARCH.finer_cooling)
    plan += expected_plan((eigenfunction_pair(each, None, most) for each in geometries), indices)
    for kernel in GEOMETRY.kernels:
        functions = (eigenfunction_pair(each, kernel, most) for each in geometries)
        plan += np.float32(2 / len(GEOMETRY.kernels)) * expected_plan(functions, indices, RANKS)
    return plan / np.float32(5)


def eigenfunction_pair(
    geometry: GeometryPair, kernel: KernelName | None, most: int
) -> tuple[Float32Array, Float32Array]:
    """Return leading eigenfunctions of a kernel of both sets, of variance 1.

    Parameters
    ----------
    geometry : GeometryPair
        The two sets.
    kernel : KernelName or None
        A kernel and its width; None is the linear one, whose eigenfunctions are principal coordinates.
    most : int
        How many at most.

    Returns
    -------
    two ndarray of float32, shape (n, r) and (m, s)
        Eigenfunctions as columns, the leading one first.
    """
    if kernel is not None:
        return eigenfunctions(geometry.x.kernel(*kernel), most), eigenfunctions(geometry.y.kernel(*kernel), most)
    x, y = (side.coordinates[0][:, :most] * np.float32(np.sqrt(len(side))) for side in (geometry.x, geometry.y))
    return x, y


def estimate_pairs(answer: Answer, geometries: Sequence[GeometryPair]) -> int:
    """Return how many objects seem to have a partner, by the share of pairs that is expected to be right.

    Of the pairs of the whole matching fewer come out right, since an object without a partner takes that of another,
    which takes that of a third, and so on. But claims are fitted to sets in which every object has a partner, and are
    too high here by about as much; so the share that is expected to be right is the overlap. Where too few are expected
    to be right for that, the pairs are counted that the fitted density ratio favours over chance: those with
    r(x_i, y_i) > 1, left one out.

    Parameters
    ----------
    answer : Answer
        A matching of as many pairs as there can be.
    geometries : sequence of GeometryPair
        Geometries of the two sets.

    Returns
    -------
    int
        The number of pairs, at least 1.
    """
    assert answer.consensus is not None
    matched = np.flatnonzero(answer.indices >= 0)
    if answer.reliability >= OVERLAP.least_share:
        return max(1, round(answer.reliability * len(matched)))
    named = {geometry.metric: geometry for geometry in geometries}
    best = next(c.metric for c in answer.consensus.candidates if c.metric in named)  # not the joint one
    r = held_out_ratios(named[best], answer.indices)
    return max(1, int((r[matched, answer.indices[matched]] > 1.0).sum()))
