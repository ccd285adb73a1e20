"""The answer for many objects: their coarse-to-fine search, and what its matching rests on."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from pairup.auto import multilevel, posterior
from pairup.auto.answer import Answer
from pairup.auto.distinctness import share_to_keep
from pairup.auto.metrics import metric_in_words
from pairup.auto.partners import mask_pairs
from pairup.auto.problem import Problem
from pairup.auto.refinement import impose_anchors
from pairup.auto.schedule import CALIBRATION
from pairup.auto.significance import Significance
from pairup.auto.solution import score_sample
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.evidence import DOUBT
from pairup.parallel import alongside, pinned_blas


def solve_many(problem: Problem, *, seed: int, n_jobs: int | None) -> Iterator[Step | Answer]:
    """Match two sets of many objects coarse to fine, as `solve` does.

    Parameters
    ----------
    problem : Problem
        The two sets in canonical form, and what the matching keeps to.
    seed : int
        Draws whatever is random.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Yields
    ------
    Step or Answer
        A step for each matching of all objects, and the answer last.
    """
    history: list[Step] = []
    steps = multilevel.search(problem, seed=seed, n_jobs=n_jobs)
    while True:
        try:
            with pinned_blas():
                history.append(next(steps))
        except StopIteration as end:
            search_result: multilevel.Found | None = end.value
            break
        yield history[-1]
    if search_result is None:
        yield undecided_many(problem.constraints, "nothing tells the objects of a set apart")
        return
    best, view, constraints = search_result.best, search_result.view, problem.constraints
    with pinned_blas(), alongside(partial(multilevel.score_unrelated, view, problem, seed), n_jobs) as unrelated:
        found = score_sample(view, problem, best.indices)
        U, V = (multilevel.all_values(side, Z, n_jobs) for side, Z in ((view.x, problem.x), (view.y, problem.y)))
        candidates, profit, others, reach = posterior.predict_pairs(U, V, best.indices, best.rank, n_jobs=n_jobs)
        del U, V
        kept = share_to_keep(candidates, profit, reach)
        mask_pairs(candidates, constraints.forbidden)
        likely = posterior.pair_probabilities(candidates, profit, others, constraints.m, n_jobs=n_jobs)
        significance = Significance(best.metric, found, unrelated())
    evidence = multilevel.evidence(search_result, significance.log_ratio)
    likely = posterior.calibrate_pairs(candidates, likely, evidence, constraints.m, kept)
    near = posterior.expected_nearness(problem.y, candidates, likely)
    likely = posterior.impose_anchors(candidates, likely, constraints.anchors)
    indices, confidence = best.indices, np.where(best.indices >= 0, likely[:, 0], 0.0)
    wanted = constraints.n_pairs
    if problem.estimates_overlap:
        wanted = max(1, round(float(np.sqrt(confidence[indices >= 0].mean())) * int((indices >= 0).sum())))
    chances = confidence + np.isin(np.arange(len(indices)), constraints.anchors[0]) - 2.0 * (indices < 0)
    dropped = np.argsort(-chances, kind="stable")[max(wanted, len(constraints.anchors[0])) :]
    indices, confidence = indices.copy(), confidence.copy()
    indices[dropped], confidence[dropped] = -1, 0.0
    matched = indices >= 0
    reliability = float(confidence[matched].mean()) if matched.any() else 0.0
    reliable, report = assess_many(reliability, near, significance, search_result)
    probabilities = posterior.as_sparse(candidates, likely, constraints.m)
    yield Answer(indices, confidence, probabilities, reliable, reliability, report, None, history)


def assess_many(expected: float, near: float, significance: Significance, found: multilevel.Found) -> tuple[bool, str]:
    """Assess a matching of many objects by its expected share of right pairs, and say what it rests on.

    Parameters
    ----------
    expected : float
        The expected share of right pairs.
    near : float
        The share of objects that are expected to lie nearer to the true partner than the found one, the median of x.
    significance : Significance
        Its held-out score beside that of unrelated sets.
    found : Found
        What all searches found.

    Returns
    -------
    reliable : bool
        Whether the data identify the pairing.
    report : str
        The reasons in words.
    """
    best, agree, searches = found.best, sum(found.agree), len(found.searches)
    reliable = expected >= CALIBRATION.reliable_from
    lines = [
        f"About {expected:.0%} of the pairs are expected to be right.",
        f"Half of the partners are expected among the {max(near, 1e-5):.3%} nearest to the true ones (chance: 50%).",
        f"{agree} of {searches} searches found this pairing, from different starts and in different metrics.",
        f"Best metric: {metric_in_words(best.metric)}. The map of one half of the pairs finds {best.found_again:.0%} "
        "of the others.",
        f"Held-out score {significance.found:.2f} (unrelated data: {significance.unrelated:.2f}).",
    ]
    if reliable:
        return True, "\n".join([*lines, "The data identify the pairing; see `confidence` for single pairs."])
    doubts = []
    if significance.log_ratio < CALIBRATION.significant:
        doubts.append("the pairs are hardly more dependent than those found in unrelated data of the same shape")
    if agree == 1 and searches > 1:
        doubts.append("no other search found the same pairing")
    if not doubts and near <= CALIBRATION.nearly_exact:
        nearly = "its single pairs are not identified, but each partner is nearly the true one"
        return False, "\n".join([*lines, f"{DOUBT}{nearly} (`expected_partner` is good)."])
    if not doubts:
        doubts.append("too few pairs are found again by the map of the others")
    return False, "\n".join([*lines, DOUBT + "; ".join(doubts) + "."])


def undecided_many(constraints: Constraints, reason: str) -> Answer:
    """Return the answer for many objects that no metric tells apart: any matching, and no probability.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to.
    reason : str
        Why nothing can be told.

    Returns
    -------
    Answer
        A matching that is not reliable.
    """
    from scipy.sparse import csr_array

    indices = np.full(constraints.n, -1, dtype=np.intp)
    indices[: constraints.smallest] = np.arange(constraints.smallest)
    indices = impose_anchors(indices, constraints)
    nothing = csr_array((constraints.n, constraints.m), dtype=np.float64)
    report = f"{DOUBT}{reason}."
    return Answer(indices, np.zeros(constraints.n), nothing, False, 1.0 / constraints.largest, report, None, [])
