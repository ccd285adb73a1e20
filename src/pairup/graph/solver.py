"""The matching of two graphs: starts, annealing by swaps, sampling, and the verdict."""

from collections.abc import Iterator
from dataclasses import replace

from pairup.climb import Step
from pairup.graph.answer import GraphAnswer, conclude, measure_excess, undecided_answer
from pairup.graph.initializers import message_starts, relaxed_starts
from pairup.graph.many_nodes import solve_many
from pairup.graph.null_model import rewire
from pairup.graph.problem import GraphProblem, pad
from pairup.graph.schedule import SCHEDULE
from pairup.graph.search import count_swaps, refine, search
from pairup.graph.swaps import sample_swaps
from pairup.parallel import pinned_blas


def solve(problem: GraphProblem, *, seed: int = 0) -> Iterator[Step | GraphAnswer]:
    """Match two graphs.

    Parameters
    ----------
    problem : GraphProblem
        The graphs, and what the matching keeps to.
    seed : int, default 0
        Draws whatever is random.

    Yields
    ------
    Step or GraphAnswer
        A step for each start, and the answer last.
    """
    if problem.is_many:
        with pinned_blas():
            yield from solve_many(problem, seed=seed)
        return
    if reason := problem.explain_undecidable():
        yield undecided_answer(problem, reason)
        return
    padded = pad(problem)
    unrelated = replace(padded, B=rewire(padded.B, directed=padded.directed, seed=seed + 1))
    history: list[Step] = []
    with pinned_blas():
        p = yield from search(padded, relaxed_starts(padded), seed, history)
        null = yield from search(unrelated, relaxed_starts(unrelated), seed, [])
        if measure_excess(padded, padded.weigh_kept(p), unrelated.weigh_kept(null)) < SCHEDULE.clear_from:
            # Not with the unrelated graph: where messages find nothing, annealing from them is no better than from the
            # relaxation, and they take most of the time.
            p = yield from search(padded, [p, *message_starts(padded)], seed, history)
        terms, p = refine(padded, p, seed)
        history.append(Step(len(history), 0, p, padded.value(p)))
        yield history[-1]
        steps = count_swaps(padded.constraints.n)
        marginals = sample_swaps(terms, p, padded.fixed, steps=steps, samples=SCHEDULE.samples, seed=seed)
        yield conclude(problem, padded, marginals, unrelated.weigh_kept(null), history)
