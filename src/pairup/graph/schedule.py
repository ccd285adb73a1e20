"""Constants of the matching of graphs, with their reasons.

The lengths of annealing and sampling were chosen on two of the five yeast networks and on random graphs of 500 nodes,
with the truth in sight; the rounds of message passing on two random graphs that the benchmark does not use. The
calibration was fitted to generated graphs only, of four kinds and with the null model and the edge model of before; 31
graphs of six kinds (``python3 dev.py bench graphs check``) bear it out, so it was kept.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How long the parts of a search take, and where they are left out."""

    fewest: int = 4  # nodes; fewer get any matching, and a verdict that says so
    path_up_to: int = 3000  # nodes; a step along the relaxation takes an assignment of n × n
    clear_from: float = 0.5  # excess over the unrelated graph from which the relaxation is enough, without messages
    messages_up_to: float = 5e8  # operations of a round; 500 nodes of mean degree 4 take 2.6e8, about 0.4 s
    most_messages: int = 60_000_000  # pairs of directed edges, for their memory
    rounds: int = 30  # of message passing, at most: two copies that share 70 % of their edges take 15, 80 % take 6
    shared: tuple[float, ...] = (0.7,)  # edges in common, as assumed: .55 converges slowly
    swaps_per_node: int = 15_000  # proposals of an annealing
    most_swaps: int = 20_000_000  # about 5 s
    hot: float = 0.6  # temperature in edges; at 1 the right matching of yeast networks has melted
    cold: float = 0.15
    refits: int = 2  # of the edge model
    model_hot: float = 4.0  # in units of the log-likelihood: an edge kept counts about 10
    model_cold: float = 0.5
    samples: int = 1000  # matchings that are counted
    prior_weight: float = 1.0  # what the full span of a prior counts, in edges


@dataclass(frozen=True)
class Calibration:
    """From edges kept to how likely the found solution is the right one."""

    intercept: float = -7.5  # these three by logistic regression over 82 generated graphs
    excess: float = 6.7  # weight of the excess over an unrelated graph
    sampled: float = 7.9  # weight of the mean share of sampled matchings that hold a pair
    excess_from: float = 0.1  # below it trust falls to 0: dense weighted graphs sample sharply what is unrelated, too
    reliable_from: float = 0.5  # least expected share of right pairs of a reliable matching
    trusted_from: float = 0.5  # least probability, of a reliable matching, that the solution is the right one


@dataclass(frozen=True)
class ManySchedule:
    """The same for many nodes, which are compared with a few candidates each."""

    above: int = 3000  # nodes; the relaxation ends there, and the dense way has nothing but degrees to start from
    shared: float = 0.8  # edges in common, as assumed
    hubs: int = 300  # nodes of high degree whose trees are compared, all with all
    hub_partners: int = 8  # of each, that are compared at depth 2
    deep_hubs: int = 80  # of them, at depth 3 with 3 partners each,
    deep_up_to: float = 7.0  # unless nodes have more further neighbours than that at the end of a link, for the time
    hold: int = 6  # renewals in which what the trees said still counts, less and less
    candidates: int = 24  # of each node, at most; nodes whose partner is likely have fewer
    usual_degree: float = 6.0  # mean degree up to which there are so many; neighbours of many nodes say more
    clustered_from: float = 0.1  # share of linked pairs of neighbours from which messages repeat each other
    least: float = 1e-4  # probability of a pair whose neighbours become candidates
    renewals: int = 30  # of the candidates, at most: a start reaches one link further in each
    rounds: int = 3  # of messages for each renewal
    steady: float = 2e-3  # change of the mean probability of the likeliest partners at which renewals end
    bytes_per_node: int = 8_000  # beside what candidates that stand beside each other need: measured, rather too much
    bytes_per_entry: int = 150  # for each link and candidate; 20,000 nodes of mean degree 6 need 450 MB in all
    entries_if_clustered: float = (
        5.0  # how many more candidates stand beside each other where all neighbours are linked
    )
    prior_partners: int = 32  # of each node that a dense prior may name
    stored: float = 1e-3  # least probability of a pair that is stored


SCHEDULE = Schedule()
MANY = ManySchedule()
CALIBRATION = Calibration()
# Of many nodes growth finds nearly all or nearly nothing: right matchings of generated graphs have an excess of .66 or
# more, those of unrelated graphs at most .01, and a wrong one of two geometric graphs, parts of which fit together in
# wrong ways too, .18.
MANY_CALIBRATION = Calibration(intercept=-10.5, excess=20.0, sampled=6.0, excess_from=0.04)


def count_candidates(mean_degree: float) -> int:
    """Return how many candidates each of many nodes has, at most.

    Parameters
    ----------
    mean_degree : float
        How many neighbours a node has on average.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> count_candidates(4.0), count_candidates(30.0)
    (24, 11)
    """
    few: float = MANY.candidates * math.sqrt(MANY.usual_degree / max(mean_degree, 1e-9))
    return round(min(max(few, 8), MANY.candidates))
