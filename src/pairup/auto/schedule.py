"""Every constant of the default method, with its reason.

Where a reason counts sets, both values were compared on that many of them, with the true pairing in sight. "73 sets"
are 60 generated relations and 13 sets of pictures and cells. ``python3 dev.py bench matching study`` measures what a
change does over 67 others. A constant without a count says what it is for; no comparison of it is on record.
"""

from dataclasses import dataclass

import numpy as np

from pairup.annealing import COARSE_COOLING, COARSE_UPDATES, RECOOLING
from pairup.constraints import Constraints
from pairup.density_ratio import EPSILONS

KernelName = tuple[str, float]
"""A kernel and its width in multiples of the median width."""


@dataclass(frozen=True)
class ProblemLimits:
    """What cannot be matched, and what it costs."""

    fewest: int = 4  # objects; fewer get any matching, and a verdict that says so
    rows: int = 2**14  # that are looked at at once
    matrices: int = 40  # dense matrices in use at once, in units of n × m numbers of 8 bytes
    prior_weights: tuple[float, ...] = (0.2, 1.0)  # of a prior beside the data, unless given; held-out scores choose
    # The same of a prior in nats, where the candidates' likelihood by the prior counts too. Chosen on one draw of six
    # pairs of tables: 1 and 5 find .07 to 1.0 of the pairs (0.2: hardly more than without), 25 fewer.
    log_ratio_weights: tuple[float, ...] = (1.0, 5.0)


@dataclass(frozen=True)
class CanonicalConstants:
    """How the values of a problem are rounded and hashed, so that no order and no unit is felt."""

    # Bits of the spread of a column that a value keeps, less log2 of the number of values. Adding 1,000 spreads to a
    # table carries one of its values over a mark of rounding in 4 of 156 sets with 37 bits, in 1 with 33.
    table_bits: int = 33
    distance_bits: int = 46  # distances have no origin, so their rounding errors are smaller
    chunk: int = 2**20  # values that are computed at once, so that tables of many objects are not copied whole
    fewest_bits: int = 18  # 4e-6 of the spread
    most_bits: int = 28  # 4e-9 of it
    tie: float = 1e-3  # gaps between fractions that differ by less are equally wide: those of whole numbers often are
    digits: int = 32  # binary ones that a huge value keeps
    origin_digits: int = 42  # those of an origin that matters: objects may differ by a small part of it
    least_power: int = -1040  # of two that the grid of a column has: less would underflow
    quantiles: tuple[float, ...] = (0.9, 0.75, 0.5)  # of moduli: the last that is no rounding error is the spread
    rounding: float = 1e-13  # of the largest modulus: a quantile below consists of rounding errors …
    least_spread: float = 0.01  # … and so does one below this share of the quantile above
    rounds: int = 3  # of telling equal columns apart by their rows, and equal rows by their columns


@dataclass(frozen=True)
class GeometryConstants:
    """Which metrics and kernels compare the objects of a set."""

    kernels: tuple[KernelName, ...] = (("gaussian", 1.0), ("gaussian", 2.2), ("laplacian", 1.0), ("laplacian", 2.0))
    # of the coarse search and of held-out scores
    scoring_kernels: tuple[KernelName, ...] = (("gaussian", 1.0), ("laplacian", 1.0))
    many_objects_from: int = 600  # objects from which cost decides: leading directions only, a shorter schedule
    leading_from: int = 1000  # objects from which held-out scores take leading directions only
    # Time of a multiplication with leading directions, in units of one with whole kernels. Of 60 cases (100 to 225
    # objects; 2, 4 and 10 kernels; every ε) the quicker way was taken in 56; in the others it took up to 1.22 times as
    # long.
    low_rank_overhead: float = 1.75
    finest: float = EPSILONS[-1]  # the smallest ε, for which leading directions are kept
    coordinates: int = 100  # leading principal coordinates of many objects …
    least_coordinate: float = 1e-3  # … and their least width, in units of the first: others are rounding
    neighbours: int = 5  # of the graph whose shortest paths are geodesic distances
    objects_per_neighbour: int = 3  # fewer objects than this for each neighbour: the graph is nearly complete
    duplicate_distance: float = 1e-9  # of the largest: duplicates get an edge, and 0 would mean none
    length_bits: int = 20  # of the largest length of an edge: those of duplicates are well above 1e-8 then
    rank_columns_up_to: int = 100  # columns; wider tables are compared by the other metrics
    cosine_from: int = 3  # columns; two leave one angle only
    whitened_components: range = range(2, 9)  # how many principal components are whitened
    objects_per_component: int = 5  # fewer do not show a component
    explained_variance: float = 0.7  # the least share of variance that whitened components hold
    different_spreads: float = 2.0  # ratio of the spreads of columns from which components of unscaled ones differ
    rounding: float = 1e-10  # directions closer than this may differ by rounding alone
    least_width: float = 1e-12  # of a kernel, in units of the largest distance: equal objects have median 0


@dataclass(frozen=True)
class InitializerConstants:
    """Where the search of a metric starts."""

    components: int = 3  # leading kernel principal components that are matched in every combination of their signs
    kernel_scale: float = 10.0  # squared widths of their kernel in units of the median squared distance: nearly linear
    quantiles: int = 200  # that describe the distances of an object to all others …
    quantiles_of_many: int = 64  # … among many objects, where to compare them takes a third of a start
    rotated_components: tuple[int, ...] = (3, 5, 8)  # how many leading components random rotations mix
    rotations: int = 14  # of each of these
    rotations_up_to: int = 160  # objects; beyond, fewer rotations, for each costs more …
    fewest_rotations: int = 2  # … but no fewer than these


@dataclass(frozen=True)
class NullModelConstants:
    """How unrelated sets are drawn."""

    # Below so many objects, so many sets: of few objects, some match by chance.
    draws: tuple[tuple[int, int], ...] = ((30, 10), (200, 3))
    starts: int = 7  # of an unrelated set, whose solutions are all alike …
    starts_of_many: int = 3  # … the more so among many objects
    least_eigenvalue: float = 1e-6  # of the largest; coordinates below are rounding


@dataclass(frozen=True)
class SignificanceConstants:
    """How the held-out score of a matching is compared with that of unrelated sets."""

    continued: int = 2  # solutions of the coarse search in an unrelated set that are continued to fine dependence …
    continued_of_many: int = 1  # … and among many objects
    least: float = -1.0  # logarithm of the ratio of both scores, below which all are alike …
    most: float = 1.5  # … and above which


@dataclass(frozen=True)
class SearchConstants:
    """What the coarse search keeps, and what is continued."""

    kept: int = 2  # solutions of a coarse search that are continued …
    kept_after_rotations: int = 3  # … and after random rotations, which find more
    scored: int = 8  # solutions of a coarse search, the best by value, whose held-out scores are computed too
    pooled: int = 6  # solutions that metrics exchange
    parents: int = 8  # solutions of a coarse search that may join a population
    same: float = 0.5  # matchings that agree on this share of pairs are one solution
    rival: float = 0.93  # a second solution is continued if its coarse value comes this close to the first
    isometric: float = 0.95  # alignment of a metric whose solutions are continued though unrelated sets have it too
    isometric_from: int = 30  # objects; fewer align nearly perfectly by accident
    near_best: float = 0.5  # metrics whose excess is this share of the best one's are continued
    fine: float = EPSILONS[1]  # the ε from which matchings are continued that come from no coarse search
    foreign_cooling: tuple[float, ...] = COARSE_COOLING[3:]  # solutions of other metrics start less hot
    soft_cooling: tuple[float, ...] = (5.0, 7.0, 10.0)  # β up to which a plan does not yet fit what is accidental
    soft_updates: int = 4  # of the plan at each of these: it is computed once
    # Objects from which leading eigenfunctions give a plan beside it: of 20 to 80 they are no better, and too sure.
    correlated_from: int = 100
    soft_epsilon: float = EPSILONS[0]  # coarse dependence: likely partners, not the one that happens to fit
    # Finer dependence, and a little cooler: fits more that is accidental, which other plans beside it mend.
    finer_epsilon: float = EPSILONS[1]
    finer_cooling: tuple[float, ...] = (7.0, 10.0, 14.0, 20.0)


@dataclass(frozen=True)
class GeneticConstants:
    """The genetic search, for sets whose coarse structure does not lead to the pairing.

    Where a line says nothing else, the values were compared on eight sets, mostly by held-out score.
    """

    population: int = 16  # individuals that are kept
    # Matchings that agree on this share of the pairs are one individual. At 0.4 scores are better, but populations
    # agree on noise as much as on the truth.
    same: float = 0.7
    fewest_objects: int = 30  # with 20 unrelated objects, populations agree and raise the confidence
    metric_share: float = 0.25  # metrics whose excess is this share of the best one's take part
    agreement: float = 0.2  # share of pairs that separate populations must have in common (38 sets)
    children_per_object: int = 2  # few objects differ less
    most_children: int = 200  # reached at 100 objects
    most_children_up_to: int = 300  # objects; beyond, fewer children, for each costs more
    scored_epsilons: tuple[float, ...] = EPSILONS[2:4]  # coarser ones never are the best of a good matching
    least_unit: float = 0.1  # unit of a score that is good for no matching, in units of the best of all scores
    epsilons: tuple[float, ...] = EPSILONS[:4]  # of which one is drawn for every child
    single_metric: float = 0.6  # the share of children improved by one metric before all polish them
    polish_epsilon: float = EPSILONS[2]  # of the last short annealing of a child
    improve_cooling: tuple[float, ...] = tuple(np.geomspace(5, 40, 6).tolist())  # β, to a plan that is still soft
    latest_start: int = 4  # a child starts at one of the first temperatures, this many to choose from
    polish_cooling: tuple[float, ...] = tuple(np.geomspace(40, 200, 4).tolist())  # β, on to a hard one
    updates: int = 2  # of the plan at each temperature
    inherited_trust: float = 0.9  # in pairs that a child inherits …
    other_trust: float = 0.3  # … and in the others
    kept_rank: tuple[float, float] = (0.2, 0.7)  # the rank of ratio from which pairs are inherited is drawn from here
    mixed: float = 0.3  # the share of children that are a convex combination of both parents
    mixed_trust: tuple[float, float] = (0.3, 0.8)  # the trust in both is drawn from here …
    mixed_share: tuple[float, float] = (0.3, 0.7)  # … and the share of the first parent from here


@dataclass(frozen=True)
class SignatureConstants:
    """How objects are described by what no isometry changes."""

    components: tuple[int, ...] = (10, 20, 30, 60, 100)  # leading principal coordinates, one space for each number …
    component_share: float = 0.5  # … up to this share of the objects
    powers: tuple[float, ...] = (1.0, 0.5, 0.0)  # of the widths of the coordinates: as they are, evened, all alike
    quantiles: int = 64  # of the cosines with all others
    nearest: int = 20  # largest cosines, which are compared one by one


@dataclass(frozen=True)
class ClusterPlanConstants:
    """Populations of plans between clusters, for sets of few dimensions that no start leads to the pairing of.

    Compared on draws of 1,000 objects with six positive factors. Of four clusterings of one, 12 generations found the
    pairing in none without turned children, in two with half of them turned, in three with all.
    """

    clusters: int = 100  # of each set …
    objects_per_cluster: int = 3  # … but no fewer objects than this for each
    clustering_steps: int = 10
    clusterings: int = 4  # rounds of populations, each with clusters of its own, until some metric is clear
    agreement: float = 0.2  # share of its pairs that another whitened metric has in common, from which both are kept
    metrics: int = 3  # whitened ones that are searched at once, those of the largest excess first
    fewest_objects: int = 200  # of the smaller set; fewer have too few clusters
    components: int = 8  # leading ones, which children turn …
    least_spread: float = 0.15  # … without those that vary less than this share of the first
    epsilon: float = EPSILONS[0]  # clusters show no finer dependence
    # Of 15 clusterings of three draws, 60 plans and 12 generations found the pairing in 3 where plans of cosine .95
    # were one, in 5 at .6; 24 generations at .8 in 8; 120 plans, .7 and 24 generations in 9.
    population: int = 120  # plans that are kept
    same: float = 0.7  # cosine of the maps of two plans from which they are one
    starts: int = 200  # random ones, half of them rotations
    generations: int = 30
    stands_out: float = 0.03  # lead of the best value over the second from which no further generation is bred
    # Of some eight populations that found the pairing one waited 12 generations for a gain; others waited up to 22.
    patience: int = 12  # generations without gain that are waited for
    least_gain: float = 1e-4  # of the best value
    children: int = 100  # of each generation
    turned: float = 0.7  # share of the children that keep what one parent matches well, and turn the rest
    map_beta: float = 20.0  # inverse temperature of the plan of a map: at 12 found in 6 of 12 populations, at 20 in 8
    hot: tuple[float, float] = (5.0, 60.0)  # β of starts, first and last: to plans that are still soft
    steps: int = 8  # temperatures of starts …
    child_steps: int = 6  # … and of children
    child_betas: tuple[float, ...] = (5.0, 8.0, 12.0)  # of which one generation starts at one
    updates: int = 2  # of the plans at each temperature
    sweeps: int = 8  # of Sinkhorn's iteration
    least: float = 1e-12  # what is added to exponentials: no row or column vanishes
    region_share: tuple[float, float] = (0.3, 0.7)  # of the clusters in a region, or of one parent in a mixture
    trust: tuple[float, float] = (0.5, 0.9)  # in what a child inherits
    continued: int = 3  # plans of each population that are continued between all objects


@dataclass(frozen=True)
class LeadConstants:
    """The quick look at many objects of many dimensions, before all metrics are searched."""

    betas: tuple[float, ...] = (15.0, 25.0, 40.0, 60.0)  # inverse temperatures at each ε: a led plan is not forgotten
    last_betas: tuple[float, ...] = (20.0, 50.0, 100.0)  # the same at the last ε
    epsilons: tuple[float, ...] = EPSILONS[:3]
    updates: int = 2  # of the plan at each temperature
    signature_beta: float = 40.0  # inverse temperature of the plan of signatures
    quantiles: int = 32  # of the cosines of many objects
    dominant: int = 8  # leading components …
    explained_variance: float = 0.7  # … that hold no more than this share of the variance of either set
    # Ratio of the shares of pairs that half of the others find again, in the sets and in unrelated ones. Of 123
    # generated sets of 600 and 1,000 objects (``bench leads``) 1.99 and more in the 39 where signatures lead to the
    # pairing, 1.18 and less in the 84 where they lead astray; 1.53 lies in the middle.
    clear: float = 1.5
    metrics: tuple[str, ...] = ("directions", "partially-whitened")  # that are searched then


@dataclass(frozen=True)
class IslandConstants:
    """Populations in one geometry each, for sets whose coarse structure does not lead to the pairing."""

    # Metrics that get an island, the first of them if there are more than `count`. Directions from the mean lead to the
    # pairing of text embeddings, partially whitened components to that of positive factors.
    metrics: tuple[str, ...] = ("precomputed", "directions", "partially-whitened", "euclidean", "whitened", "cosine")
    count: int = 4  # islands
    population: int = 32  # matchings on an island
    same: float = 0.7  # matchings that agree on this share of pairs are one
    starts: int = 40  # random ones, and …
    children: int = 120  # … this many children
    all_up_to: int = 300  # objects; beyond, fewer of both, for each costs more …
    fewest: int = 20  # … but no fewer than these
    epsilons: tuple[float, ...] = EPSILONS[:3]  # of which one is drawn for every child
    start_epsilons: tuple[float, ...] = EPSILONS[:2]  # of starts, in turn
    fitness_epsilon: float = EPSILONS[2]  # where the alignment of a right pairing stands out most
    signature_weight: tuple[float, float] = (0.0, 0.4)  # of signatures beside the data is drawn from here
    hot: tuple[float, ...] = tuple(np.geomspace(3, 30, 6).tolist())  # β of starts, led by signatures
    cold: tuple[float, ...] = tuple(np.geomspace(20, 200, 5).tolist())  # β of starts after that
    child_betas: tuple[float, ...] = (5.0, 8.0, 12.0, 18.0)  # from which a child starts
    child_steps: int = 6  # temperatures of a child
    updates: int = 2  # of the plan at each temperature
    region_trust: tuple[float, float] = (0.5, 0.9)  # the trust in what a child inherits is drawn from here
    region_share: tuple[float, float] = (0.3, 0.7)  # of the objects that lie in a region
    region_in_y: float = 0.5  # share of the regions that are drawn in Y
    mixed_trust: tuple[float, float] = (0.4, 0.9)  # the trust in both parents of a mixture …
    mixed_share: tuple[float, float] = (0.3, 0.7)  # … and the share of the first
    kept_rank: tuple[float, float] = (0.2, 0.75)  # the rank of profit from which pairs are inherited
    inherited_trust: float = 0.9  # in pairs that a child inherits by their profit …
    other_trust: float = 0.3  # … and in the others, if they come from two parents
    scored: int = 4  # matchings of an island whose held-out scores are computed, and that join the genetic search
    # Gain of held-out score by breeding: 1.05 to 1.18 where it finds nothing, 1.23 and more where it finds the pairing.
    clear_gain: float = 1.2
    found: int = 2  # solutions that are continued, if several islands found one


@dataclass(frozen=True)
class DropoutConstants:
    """The last stage: short annealings that see random halves of the pairs and of the kernels.

    Chosen with the truth in sight, on 24 sets of 40 to 100 photos (4 of them lack partners), 7 sets of other pictures
    and 3 of generated relations: .865 of their pairs are right without this stage, .887 with it. Weights of metrics
    that are logarithms of odds, not their squares, reach .893 there, but on 320 photos .916 where the squares reach
    .924 (four seeds).
    """

    annealings: int = 8
    # Share of the pairs that an update sees. At 0.35 faces and digits lose a tenth of their pairs.
    seen_pairs: float = 0.5
    seen_kernels: float = 0.5  # share of the kernels that an annealing sees
    epsilons: tuple[float, ...] = EPSILONS[3:]  # at 0.01 and 0.003, two points fewer right on 100 photos
    cooling: tuple[float, ...] = RECOOLING
    updates: int = 2  # of the plan at each temperature
    weighing_epsilon: float = EPSILONS[2]  # at which models of metrics find pairs again, by which these are weighed
    least_weight: float = 0.1  # of a metric beside the best; others are left out
    # Of the held-out score before, below which the matching of the last stage does not count. Of 14 sets, in sight, it
    # kept .95 and more of the score where it was better or about as right, .55 to .89 where it lost a fifth and more.
    least_score: float = 0.93


@dataclass(frozen=True)
class ConsensusConstants:
    """How candidates are ranked, and how they vote."""

    voters: int = 6  # candidates whose votes decide …
    voter: float = (
        0.25  # … and whose partners are at least this similar to those of the best: others mean a mirror image
    )
    tie_break: float = 0.01  # weight of the votes of all others
    plan_votes: float = 0.5  # share of the mean plan of the last stage that pairs have as votes at least
    joint_penalty: float = 0.02  # scores of the joint metric are too good by this, as it is fitted to all (73 sets)
    sharpness: float = 0.1  # candidates this far behind the best count 1/e as much in the votes
    least_weight: float = 0.02  # of a metric whose alignment is no better than that of unrelated data
    least_score: float = 0.01  # of a candidate, where its logarithm is taken
    same: float = 0.6  # matchings whose partners are this similar are one solution
    # How far a score with known pairs must exceed the one without them, where a prior is given or objects are many: 5
    # of 146 draws then came out worse, not 11.
    clearly_better: float = 0.05
    # By so many nats known pairs must be likelier around what a search with them found, or by this share of what so few
    # can reach. Of 42 draws of 5 % known pairs (14 sets of pictures and generated relations) none lost a right pair
    # then: 7.9 nats and more in eight draws that were at chance without them, 3.6 at the most elsewhere.
    nats_of_anchors: float = 4.0
    share_of_nats: float = 0.75


@dataclass(frozen=True)
class CalibrationConstants:
    """From votes to probabilities, and to the verdict.

    Intercept and coefficients are a logistic regression of "the pair is right" on the features of
    `pairup.auto.calibration.features`, fitted on generated relations only: ``benchmarks/calibration.py`` prints them.
    That significance is weighed by the number of objects was decided with the sets of the study in sight.
    """

    intercept: float = -2.64
    coefficients: tuple[float, ...] = (2.86, 3.11, 0.81, 0.37, 0.6)
    votes_intercept: float = -2.59  # the same where the last stage did not run
    votes_coefficients: tuple[float, ...] = (3.56, 2.17, 0.78)
    most_objects: int = 300  # whose number weighs the significance: the fit has seen 150
    least_share: float = 0.01  # of votes, in log odds: none is surer
    tie: float = 0.005  # a solution whose score is this share behind the best is 1/e as likely: only exact ties count
    # Few objects match by accident: of claims about this many objects these shares are kept, and the rest is chance.
    few_objects: tuple[int, ...] = (4, 12, 30)
    trust_without_evidence: tuple[float, ...] = (0.2, 0.3, 1.0)
    trust_with_evidence: tuple[float, ...] = (0.4, 0.8, 1.0)
    # Of many objects: a logistic regression of the same on `pairup.auto.multilevel.evidence`, the mean probability of
    # all pairs by the map of the other half, and the product of that mean and the log odds of the pair: ``bench many``.
    # Fitted on 31 generated sets of 800 to 10,000 objects, most of them with fewer clusters, landmarks and updates.
    # Each kind by a fit to the others: claims are off by .06 on average, by .1 at most where they are too high.
    intercept_of_many: float = -6.89
    evidence_of_many: tuple[float, float] = (17.61, 3.12)
    mean_of_many: float = 5.25
    log_odds_of_many: float = 0.75
    most_gain_of_many: float = (
        2.0  # of log odds; without, two of the sets with less than .4 right are claimed .1 higher
    )
    most_of_many: float = 0.2  # of the logarithm of the ratio of held-out scores; it falls with the number of objects
    least_of_many: float = 1e-4  # a probability before that
    # Share of partners that do not stand out (`pairup.auto.distinctness`) from which nothing claimed is kept, and up to
    # which all is. Of the wrong pairs among 10,000 and 100,000 objects in two noisy views .73 to .79 do not. Where .62,
    # .64 and .73 of all do not, .77, .76 and .66 are claimed and .57, .44 and .01 right. Of a mixture in three
    # dimensions and of a rolled sheet, whose maps are coarse beside the distances of objects, .53 and .59 do not, and
    # nearly all are right.
    unclear: tuple[float, float] = (0.74, 0.58)
    least_kept: float = 0.01  # or all probabilities would be 0, and expected partners unknown
    distinct_from: int = 4  # candidates after which the others tell how densely objects lie
    distinct_sample: int = 8000  # pairs that are looked at
    nearly_exact: float = 0.001  # share of the objects nearer to the true partner, up to which pairs are nearly exact
    uniform_share: float = 0.05  # of what no vote claims, shared by all pairs: a soft plan may lie in the wrong place
    sweeps: int = 100  # of the rows and columns of probabilities, at the most
    balanced: float = 1e-7  # how far the sum of a column may be from what it should be
    reliable_from: float = 0.5  # the expected share of right pairs of a reliable matching
    excess_from: float = 0.25  # an alignment that exceeds that of unrelated data by less may be an accident …
    significant: float = 0.15  # … unless the logarithm of the ratio of held-out scores is this large
    near_tie: float = 0.97  # another solution whose score comes this close explains the data as well


@dataclass(frozen=True)
class NearnessConstants:
    """How near partners are to the true ones, by how far candidates disagree.

    Intercept and slope are a logistic regression of twice the share of objects nearer to the true partner on the sum of
    `pairup.auto.nearness.disagreements`, fitted on generated relations and unrelated sets that are not called reliable:
    ``bench nearness``.
    """

    intercept: float = -2.19
    slope: float = 5.37
    compared: int = 300  # objects whose partners are compared
    told_up_to: float = 0.2  # partners are of the right kind; one of eight unrelated sets of clusters has .24
    # Objects of the smaller set. A few clusters of fewer objects fit by accident in sets that have nothing to do with
    # each other, and all candidates agree on how: 7 of 20 draws of 20 to 80 objects came out near.
    fewest: int = 100


@dataclass(frozen=True)
class PriorCalibrationConstants:
    """From votes and a prior in nats to probabilities.

    Intercepts and coefficients are logistic regressions of "the pair is right" on the features of
    `pairup.auto.prior_calibration`, fitted on generated tables with common columns only:
    ``benchmarks/common_columns.py`` prints them.
    """

    sharpness: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # of the prior; the matching found chooses
    least_ratio: float = 0.02  # of densities: estimates below, negative ones too, mean unlikely
    least_probability: float = 1e-3  # in log odds: nothing is surer
    uniform_share: float = 0.1  # of what the pairs of a matching leave, shared by all others
    most_objects: int = 100  # as many as the fit has seen: what speaks for the whole counts no more beyond
    alone_intercept: float = -0.31  # of a matching that the prior alone prefers
    alone: tuple[float, ...] = (0.42, 0.36)
    intercept: float = -1.28  # of what a search found that knew the prior
    coefficients: tuple[float, ...] = (2.27, 0.78, 0.48, 0.52)


@dataclass(frozen=True)
class OverlapConstants:
    """How many objects have a partner, where that is to be estimated."""

    # The share of pairs expected to be right from which it is the overlap: on embeddings, rotations and fields of
    # overlap 1, .8 and .6 it is off by .03 on average, by .09 at the most. Chosen on these, with photos in sight.
    least_share: float = 0.2


@dataclass(frozen=True)
class Level:
    """One level of a descent among many objects.

    Parameters
    ----------
    epsilon : float
        The regulariser ε.
    sample : int
        Objects of each set that an update of the plan sees.
    betas : tuple of float
        The inverse temperatures.
    """

    epsilon: float
    sample: int
    betas: tuple[float, ...]


@dataclass(frozen=True)
class MultilevelConstants:
    """The coarse-to-fine search for many objects."""

    dense_up_to: int = 2000  # objects that the dense search takes; beyond, coarse to fine is as right and much quicker
    fewest: int = 300  # objects of the smaller set; fewer have too few clusters
    # Memory, by what a million objects of 15 columns take (5.1 GB), with a third to spare: eigenfunctions, their images
    # and candidates of each object; where the sets lie in files, the former do too
    bytes_per_object: int = 2600
    bytes_in_memory: int = 1300
    bytes_on_disk: int = 1600
    bytes_of_samples: int = 3 * 2**27
    bytes_of_task: int = 5 * 2**25  # profits of 1,000 rows and all columns that they are compared with
    sample: int = 20_000  # objects of each set by which maps are found
    block: int = 4096  # rows that are computed at once
    epsilons: tuple[float, ...] = EPSILONS
    # Coordinates
    components: int = 100  # principal components that are kept, of any metric
    noise: float = 1e-10  # variances below this share of the largest are rounding
    quantiles: int = 1001  # by which the ranks of a column are interpolated
    ranks_up_to: int = 100  # columns; wider tables are compared by the other metrics
    directions_from: int = 3  # columns; two leave one angle only
    # Further metrics, where the others lead to no pairing that predicts its own held-out pairs
    geodesic_up_to: int = 30  # columns; of more, neighbours are hardly nearer than others
    whitened_up_to: int = 8  # components
    unscaled: int = 2  # metrics of fewer components of unscaled columns, those of most components
    geodesic_landmarks: int = 400  # from which paths are measured
    geodesic_neighbours: int = 5  # of each object, along which paths lead
    geodesic_components: int = 10
    geodesic_noise: float = 1e-3  # components whose variance is below this share of the largest are crooked paths
    # Kernel by landmarks
    landmarks: int = 800
    landmark_noise: float = 1e-6  # eigenvalues below this share of the largest are rounding
    gaussian_widths: tuple[float, ...] = (1.0, 0.5)  # in multiples of the median width
    laplacian_widths: tuple[float, ...] = (1.0,)
    # Starts
    clusters: int = 300  # of each set; 150 lead 12,000 captions to a FOSCTTM of .006 to .03
    clustered: int = 8000  # objects that are clustered
    clustering_steps: int = 15
    clusterings: int = 2  # per metric
    starts_per_clustering: int = 3  # solutions for the centres that are continued
    # Objects of each set, in whitened coordinates, between whose clusters plans are bred. On one other draw of 3,000
    # with six factors, one of two populations found the region of each partner; of samples of 1,000, none of two.
    bred: int = 3000
    populations: int = 4  # of such plans …
    followed: int = 5  # … of each of which so many descend, and …
    continued: int = (
        6  # … of all these the best to the finest level. Before, wrong ones are aligned as well as right ones
    )
    fewest_anchors: int = 3  # known pairs from which they are a start of their own
    # Descents on samples
    levels: tuple[Level, ...] = (
        Level(EPSILONS[0], 1000, (5, 8, 13, 21, 35, 60)),
        Level(EPSILONS[1], 1000, (13, 21, 35, 60)),
        Level(EPSILONS[2], 2000, (20, 35, 60, 100)),
        Level(EPSILONS[3], 3000, (30, 60, 100, 150)),
    )
    updates: int = 2  # of the plan at each temperature
    sweeps: int = 10  # of Sinkhorn's iteration
    # Partners among all objects
    candidates: int = 30  # of each object
    rounds: int = 10  # of matching what is left among itself, each with twice as many candidates …
    leftover_candidates: int = 200_000  # … but no more than this many times `candidates` in all
    dense_leftovers: int = 1000  # objects that are matched at once in the end …
    hopeless: int = 500  # … or in several parts of so many, where very many are left: each costs the cube of its size
    few_left: float = 0.02  # share of the objects up to which those that are left are not hopeless, and …
    part_of_few: int = 4000  # … parts are larger: of a million, .4 % were left, and in small parts had distant partners
    apart: float = 1e-4  # of the spread of all objects: how far equal ones are moved apart
    compared: int = 30_000  # columns up to which every row is compared with all
    rows: int = 1000  # that are compared at once
    cell: int = 100  # columns of a cell, at most: of .1 million objects .96 find theirs with 100, .93 with 200
    cell_sample: int = 400  # columns by which the axis is found across which a node is cut
    cell_steps: int = 8  # of the power iteration that finds it
    compared_in_cells: int = 6000  # columns that are compared with a row
    rows_of_task: int = 20_000  # rows, …
    columns_of_task: int = 50_000  # … and columns that are sent to one task
    prior_sample: tuple[int, int] = (500, 2000)  # rows and columns that show how far profits spread
    # Soft updates of the map on samples, which average out what single samples and pairs get wrong
    polished: int = 1500  # objects of each set that an update sees
    polished_maps: int = 4  # of the best alignment
    polishings: int = 100  # updates
    polished_ranks: tuple[int, int] = (32, 64)  # eigenfunctions that take part, first and last
    perplexities: tuple[float, float] = (8.0, 3.0)  # partners that share the plan of an object, first and last
    memory: float = 0.7  # share of the map that an update keeps
    sharper: float = 1.15  # factor of the inverse temperature, towards the perplexity that is wanted
    first_sharpness: float = 0.3
    comparisons: int = 5  # samples on which maps are compared
    soft_correlation: float = 0.99  # correlations above make no plan sharper
    # Soft plans among all objects, each with a few candidates, where the map of one half does not find the other half.
    # Chosen on one draw of 3,000 objects of a mixture in three dimensions: .09 get their partner without, .65 after
    # three rounds.
    settled_up_to: int = 12_000  # objects of each set: a step compares all with all; beyond `raced`, only the best map
    settlings: int = 3  # rounds, each from soft to nearly hard
    settling_steps: int = 24
    settled_ranks: tuple[int, int] = (64, 192)  # eigenfunctions that take part, first and last
    settled_perplexities: tuple[float, float] = (6.0, 1.5)
    momentum: float = 0.7  # of the last step that is added to the next: .75 right after two rounds
    sharpenings: int = 12  # trials for the sharpness …
    sharpening: float = 0.7  # … each by this power of what it is off by
    sharp_enough: float = 0.05
    least_column: float = 1e-3  # of what a column should sum to; one with less is nobody's candidate
    # Hard matchings, first of samples, then of all objects by the best maps
    raced: int = 4000  # objects of each set by which maps are compared; no more are matched before one is chosen
    raced_ranks: tuple[int, ...] = (32, 48, 64)
    finalists: int = 3  # maps by which all objects are matched …
    finalists_up_to: int = 20_000  # … up to this many; beyond, those of the best map alone
    carried: int = 5  # maps that are renewed in all metrics, where no search is decided …
    carryings: int = 6  # … the best of them so many times
    least_correlation: float = 0.02  # held out; variates below tell nothing
    largest_correlation: float = 0.999  # held out; a sharper one would leave all others no say
    ranks: tuple[int, ...] = (32, 48, 64, 96, 144, 192, 192, 192)
    least_gain: float = 0.001  # of the held-out score
    patience: int = 2  # matchings without gain after which no other is made
    # Verdict
    judged: int = 8000  # pairs by which held-out scores are computed
    decided: float = 0.5  # share of held-out pairs found again from which a solution that comes twice is taken
    near: float = 0.01  # share of the y nearer to a partner than another is, up to which both are about the same
    same: float = 0.2  # share of such partners from which two solutions are one
    compared_pairs: int = 300  # by which solutions are compared
    unrelated_sample: int = 4000  # objects of the unrelated sets
    posterior: int = 20  # candidates of each object that get a probability
    sharpnesses: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)  # of which the data choose
    least_share: float = 1e-3  # of 1/m: a partner is never less likely where sharpnesses are compared
    balancings: int = 20  # of rows and columns of the probabilities
    posterior_sample: int = 200  # y by which the weight of those that are no candidates is estimated


PROBLEM = ProblemLimits()
CANONICAL = CanonicalConstants()
GEOMETRY = GeometryConstants()
INITIALIZERS = InitializerConstants()
NULL_MODEL = NullModelConstants()
SIGNIFICANCE = SignificanceConstants()
SEARCH = SearchConstants()
GENETIC = GeneticConstants()
SIGNATURES = SignatureConstants()
CLUSTER_PLANS = ClusterPlanConstants()
LEADS = LeadConstants()
ISLANDS = IslandConstants()
DROPOUT = DropoutConstants()
CONSENSUS = ConsensusConstants()
CALIBRATION = CalibrationConstants()
NEARNESS = NearnessConstants()
PRIOR_CALIBRATION = PriorCalibrationConstants()
OVERLAP = OverlapConstants()
MULTILEVEL = MultilevelConstants()


@dataclass(frozen=True)
class Schedule:
    """The search schedule by problem size.

    Parameters
    ----------
    continuation : tuple of float
        The regularisers ε, coarse dependence first.
    updates : int
        Updates of the plan at each temperature.
    coarse_updates : int
        The same in the coarse search.
    coarse_epsilon : float
        Its ε. Many objects show finer dependence at once, where there are fewer false maxima.
    halves : bool
        Whether only the better half of the starts is annealed to the end.
    clear : float
        An excess from which a metric stands out: it leads to the pairing. Finer dependence exceeds unrelated data less.
    enough : float
        An excess from which no further metric is tried.
    """

    continuation: tuple[float, ...]
    updates: int
    coarse_updates: int
    coarse_epsilon: float
    halves: bool
    clear: float
    enough: float

    @classmethod
    def for_size(cls, constraints: Constraints) -> "Schedule":
        """Return the schedule for sets of this size: many objects leave less freedom, and cost more."""
        return MANY_OBJECTS if constraints.largest >= GEOMETRY.many_objects_from else FEW_OBJECTS


FEW_OBJECTS = Schedule(
    continuation=EPSILONS,
    updates=2,  # a third one changes nothing on average: what follows sees halves (15 sets of photos)
    coarse_updates=COARSE_UPDATES,
    coarse_epsilon=EPSILONS[0],  # two points more right than at 0.03 (73 sets)
    halves=False,  # halving the starts cost four points on halves of photos
    clear=0.3,
    enough=0.5,
)
MANY_OBJECTS = Schedule(
    continuation=EPSILONS[::2],
    updates=2,
    coarse_updates=COARSE_UPDATES,
    coarse_epsilon=EPSILONS[1],  # as right as at 0.1 (nine sets), in 27 CPU s instead of 44 at n = 1000
    halves=True,  # the better half held the best start in all of 160 geometries
    clear=0.25,
    enough=0.25,
)
