"""Where the search of a matching of two graphs starts: the convex relaxation, message passing."""

from collections.abc import Iterator

import numpy as np

from pairup.graph.adjacency import link_both_ways
from pairup.graph.messages import cost, pass_messages
from pairup.graph.problem import Padded
from pairup.graph.relaxation import follow_path
from pairup.graph.schedule import SCHEDULE
from pairup.types import Indices


def relaxed_starts(padded: Padded) -> Iterator[Indices]:
    """Yield the best matching on the path of the relaxation; of many nodes, that by degrees.

    Parameters
    ----------
    padded : Padded
        The graphs.

    Yields
    ------
    ndarray of int, shape (size,)
        A matching.
    """
    constraints = padded.constraints
    if constraints.n <= SCHEDULE.path_up_to:
        yield max(follow_path(padded.A, padded.B, constraints), key=padded.value)
        return
    order = [np.argsort(-np.diff(link_both_ways(Z).indptr), kind="stable") for Z in (padded.A, padded.B)]
    by_degree: Indices = np.empty(constraints.n, dtype=np.intp)
    by_degree[order[0]] = order[1]
    yield constraints.impose_anchors(by_degree)


def message_starts(padded: Padded) -> Iterator[Indices]:
    """Yield the best matching of message passing, where the graphs are sparse enough for it.

    Parameters
    ----------
    padded : Padded
        The graphs.

    Yields
    ------
    ndarray of int, shape (size,)
        A matching.
    """
    constraints = padded.constraints
    a, b = (link_both_ways(Z) for Z in (padded.A, padded.B))
    if not 0 < a.nnz * b.nnz <= SCHEDULE.most_messages or cost(a, b) > SCHEDULE.messages_up_to:
        return
    for shared in SCHEDULE.shared:
        rounded: list[Indices] = []
        for ratios in pass_messages(a, b, shared=shared, rounds=SCHEDULE.rounds):
            scores = ratios if constraints.prior is None else ratios + constraints.prior
            rounded.append(constraints.round(scores - scores.min()))
            if len(rounded) > 1 and padded.value(rounded[-1]) <= padded.value(rounded[-2]):
                break  # the messages have converged, or loops have taken over
        yield max(rounded, key=padded.value)
