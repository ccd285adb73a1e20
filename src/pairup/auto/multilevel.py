"""Coarse to fine, for many objects: matched centres, descents on samples, then partners among all."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pairup.auto.canonical_variates import CanonicalVariates
from pairup.auto.centres import breed_starts, match_centres
from pairup.auto.coordinates import further_metrics, suitable_metrics
from pairup.auto.descent import descend, polish, shared_correlation
from pairup.auto.held_out import held_out_score, share_found_again
from pairup.auto.metrics import is_whitened
from pairup.auto.partners import among, match_all
from pairup.auto.problem import Problem
from pairup.auto.schedule import CALIBRATION, MULTILEVEL
from pairup.auto.soft_partners import settle
from pairup.auto.view import Side, View, covariances
from pairup.climb import Step
from pairup.constraints import Constraints
from pairup.kernels import squared_distances
from pairup.parallel import one_by_one, run, runs_here
from pairup.types import Array, Float32Array, Indices, SparseArray


@dataclass(frozen=True, eq=False)
class Solution:
    """A matching of all objects.

    Parameters
    ----------
    metric : str
        The metric in which it was found.
    indices : ndarray of int, shape (n,)
        The matching.
    score : float
        Its held-out score in that metric.
    found_again : float
        The share of held-out pairs that come first by the map of the others.
    rank : int
        How many eigenfunctions took part.
    """

    metric: str
    indices: Indices
    score: float
    found_again: float
    rank: int


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

    def expand(self, solution: Solution) -> Solution:
        """Return a solution for these objects as one for all, of which the others have no partner."""
        found = solution.indices
        indices = np.full(self.shape[0], -1, dtype=np.intp)
        indices[self.rows[found >= 0]] = self.columns[found[found >= 0]]
        return replace(solution, indices=indices, found_again=min(1.0, solution.found_again / self.share))


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


def fit_view(metric: str, x: Array, y: Array, seed: int) -> View:
    """Return samples of both sets in one metric.

    Parameters
    ----------
    metric : str
        The metric.
    x, y : ndarray of shape (s, d) and (t, e)
        Rows of both tables.
    seed : int
        Chooses landmarks.

    Returns
    -------
    View
        The sets.
    """
    one, other = (Side.fit(metric, Z, np.random.default_rng([seed, number])) for number, Z in enumerate((x, y)))
    return View(metric, one, other)


def all_values(side: Side, Z: Array, n_jobs: int | None = None) -> Float32Array:
    """Return the eigenfunctions of all objects, which are there already if all are in the sample.

    Parameters
    ----------
    side : Side
        The set in one metric.
    Z : ndarray of shape (n, d)
        All its rows.
    n_jobs : int, optional
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    ndarray of float32, shape (n, r)
        The values.
    """
    return side.values if len(Z) == len(side.values) else side.evaluate(Z, n_jobs)


def find_maps(view: View, rng: np.random.Generator, known: Float32Array | None = None) -> Iterator[Float32Array]:
    """Descend from the matched centres of one clustering; yield the map of best alignment, then the best polished one.

    Parameters
    ----------
    view : View
        The two sets.
    rng : numpy.random.Generator
        Draws clusterings and samples.
    known : ndarray of float32, shape (r, s), optional
        Covariances by what is known of the pairing, one more start.

    Yields
    ------
    ndarray of float32, shape (r, s)
        Covariances of the eigenfunctions of partners; none where all objects of a set are alike.
    """
    starts = [] if known is None else [known]
    if is_whitened(view.metric):
        followed = [descend(view, N, rng, MULTILEVEL.levels[:-1]) for N in breed_starts(view, rng)]
        epsilon = MULTILEVEL.levels[-2].epsilon
        best = sorted(followed, key=lambda N: -view.alignment(N, epsilon))[: MULTILEVEL.continued]
        found = [descend(view, N, rng) for N in starts]
        found += [descend(view, N, rng, MULTILEVEL.levels[-1:]) for N in best]
    else:
        starts += match_centres(view, MULTILEVEL.clusters, rng)
        found = [descend(view, N, rng) for N in starts]
    found.sort(key=lambda N: -view.alignment(N, MULTILEVEL.levels[-1].epsilon))
    yield from found[:1]
    if found:
        polished = [polish(view, N, rng) for N in found[: MULTILEVEL.polished_maps]]
        yield max(polished, key=lambda N: shared_correlation(view, N, np.random.default_rng(0)))


def refine_all(
    view: View,
    values: tuple[Float32Array, Float32Array],
    variates: CanonicalVariates,
    constraints: Constraints,
    n_jobs: int | None,
    ranks: Sequence[int],
) -> Iterator[Solution]:
    """Match all objects by a map and renew the map by the matching, with more and more eigenfunctions.

    Parameters
    ----------
    view : View
        The sets in one metric.
    values : tuple of two ndarray of float32
        Eigenfunctions of all objects of X, and of Y.
    variates : CanonicalVariates
        The map by which they are matched first.
    constraints : Constraints
        What the matching keeps to.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.
    ranks : sequence of int
        How many eigenfunctions take part, one matching after another.

    Yields
    ------
    Solution
        Each with a better held-out score than the one before.
    """
    U, V = values
    best, stalled = -np.inf, 0
    matching: Indices | None = None
    for rank in ranks:
        if matching is not None:
            variates = CanonicalVariates.fit(U, V, matching, rank, n_jobs=n_jobs)
        A, B = variates.images(U, V, n_jobs=n_jobs)
        bonus = None if constraints.sparse_prior is None else scale_prior(constraints.sparse_prior, A, B)
        matching = match_all(A, B, forbidden=constraints.forbidden, bonus=bonus, n_jobs=n_jobs)
        del A, B
        matching = impose_anchors(matching, constraints)
        score = held_out_score(view, U, V, matching)
        gains = score > best + MULTILEVEL.least_gain * abs(best) if np.isfinite(best) else True
        stalled = 0 if gains else stalled + 1
        if gains:
            best = score
            again = share_found_again(view, U, V, matching, MULTILEVEL.epsilons[-1])
            yield Solution(view.metric, matching, score, again, rank)
        elif stalled >= MULTILEVEL.patience:
            return


def scale_prior(prior: SparseArray, A: Float32Array, B: Float32Array) -> SparseArray:
    """Return a prior in units of the spread of profits: its largest score outweighs what tells neighbours apart.

    Parameters
    ----------
    prior : csr_array of shape (n, m)
        Scores of at most 1 in modulus.
    A, B : ndarray of float32, shape (n, r) and (m, r)
        Objects, whose profits are A Bᵀ.

    Returns
    -------
    csr_array of shape (n, m)
        What is added to the profits.
    """
    rows, columns = (
        np.linspace(0, len(Z) - 1, min(len(Z), most)).astype(np.intp)
        for Z, most in zip((A, B), MULTILEVEL.prior_sample, strict=True)
    )
    spread = float((A[rows] @ B[columns].T).std())
    scaled: SparseArray = prior * np.float32(spread)
    return scaled


def impose_anchors(indices: Indices, constraints: Constraints) -> Indices:
    """Return a matching with the known pairs in it; whoever had their partners gets those that become free.

    Parameters
    ----------
    indices : ndarray of int, shape (n,)
        A matching.
    constraints : Constraints
        The known pairs.

    Returns
    -------
    ndarray of int, shape (n,)
        The matching with them.
    """
    rows, columns = constraints.anchors
    if not len(rows):
        return indices
    indices = indices.copy()
    owner = np.full(constraints.m, -1, dtype=np.intp)
    matched = np.flatnonzero(indices >= 0)
    owner[indices[matched]] = matched
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        before, other = int(indices[i]), int(owner[j])
        if before == j:
            continue
        indices[i], owner[j] = j, i
        if other >= 0:
            indices[other] = before
        if before >= 0:
            owner[before] = other
    return indices


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found.

    Parameters
    ----------
    best : Solution
        The best matching of all objects.
    view : View
        The metric in which it was found.
    searches : list of Solution
        What each search found among the objects that race, the one that led to the best first.
    agree : list of bool
        Which of them are the same as the first.
    """

    best: Solution
    view: View
    searches: list[Solution]
    agree: list[bool]


def search(problem: Problem, *, seed: int, n_jobs: int | None) -> Generator[Step, None, Found | None]:
    """Search in one metric after another, until one solution is found twice and predicts its own held-out pairs.

    Maps are found and compared on samples. Only the best are then refined by matchings of all objects.

    Parameters
    ----------
    problem : Problem
        The two sets, in canonical form.
    seed : int
        Draws whatever is random.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.

    Returns
    -------
    Found or None
        What was found; None where all objects of a set are alike in every metric.

    Yields
    ------
    Step
        A step for each matching; the first ones of many objects hold pairs of a sample only.
    """
    rng = np.random.default_rng([seed, MULTILEVEL.sample])
    constraints = problem.constraints
    rows, columns = draw_rows(constraints.n, rng), draw_rows(constraints.m, rng)
    x, y = (np.asarray(Z[chosen], dtype=np.float64) for Z, chosen in ((problem.x, rows), (problem.y, columns)))
    race = Race.draw(constraints, rows, columns, rng)
    views: dict[str, View] = {}
    solutions: list[Solution] = []
    metrics = suitable_metrics(x, y, problem.metric)
    turns = [(0, metric) for metric in (*metrics, *further_metrics(x, y, problem.metric))]
    turns += [(clustering, metric) for clustering in range(1, MULTILEVEL.clusterings) for metric in metrics]
    # No single turn decides, so two can run side by side. Of later ones the second may be in vain: nobody looks at it.
    size = 1 if runs_here(n_jobs) else 2
    for first in range(0, len(turns), size):
        wave = turns[first : first + size]
        missing = list(dict.fromkeys(metric for _, metric in wave if metric not in views))
        fitted = run([partial(fit_view, metric, x, y, seed) for metric in missing], n_jobs=n_jobs)
        views |= zip(missing, fitted, strict=True)
        tasks = [
            partial(
                explore, views[metric], race, [seed, first + k, clustering], known_covariances(views[metric], problem)
            )
            for k, (clustering, metric) in enumerate(wave)
        ]
        listed = [] if size == 1 else list(run([partial(_list, task) for task in tasks], n_jobs=n_jobs))
        explored = listed or (task() for task in tasks)
        for number, raced in enumerate(explored, start=first):
            found: list[Solution] = []
            for solution in raced:
                found.append(race.expand(solution))
                yield Step(number, len(found), found[-1].indices, solution.score)
            if found:
                solutions.append(max(found, key=lambda each: each.score))
            if found and is_decided(solutions, problem.y):
                break
        else:
            continue
        break
    if not solutions:
        return None
    searches = rank_solutions(solutions, views, problem)
    finals: list[tuple[Solution, Solution]] = []
    for searched in choose_finalists(searches, problem.y):
        view = views[searched.metric]
        values = all_values(view.x, problem.x, n_jobs), all_values(view.y, problem.y, n_jobs)
        most = MULTILEVEL.raced if finals else MULTILEVEL.settled_up_to
        for solution in refine_finalist(
            view, values, searched, constraints, n_jobs, settles=constraints.largest <= most
        ):
            yield Step(len(turns) + len(finals), solution.rank, solution.indices, solution.score)
        finals.append((solution, searched))
        del values
        if solution.found_again >= MULTILEVEL.decided:
            break
    best = rank_solutions([final for final, _ in finals], views, problem)[0]
    led = next(searched for final, searched in finals if final is best)
    searches = [led, *(other for other in searches if other is not led)]
    return Found(best, views[best.metric], searches, agree_with_best(searches, problem.y))


def explore(view: View, race: Race, seed: Sequence[int], known: Float32Array | None = None) -> Iterator[Solution]:
    """Search in one metric from one clustering, and match the objects that race by the maps that are found.

    Parameters
    ----------
    view : View
        The metric.
    race : Race
        The objects.
    seed : sequence of int
        Draws whatever is random.
    known : ndarray of float32, shape (r, s), optional
        Covariances by what is known of the pairing.

    Yields
    ------
    Solution
        Matchings of these objects, until one predicts its own held-out pairs.
    """
    values, ranks = (view.x.values[race.x], view.y.values[race.y]), MULTILEVEL.raced_ranks
    for N in find_maps(view, np.random.default_rng(seed), known):
        solution = None
        for solution in refine_all(view, values, CanonicalVariates.of(N, ranks[0]), race.constraints, 1, ranks):
            yield solution
        if solution is not None and race.expand(solution).found_again >= MULTILEVEL.decided:
            return


def _list(task: Callable[[], Iterator[Solution]]) -> list[Solution]:
    """Return what a task yields; what it starts runs in its own thread."""
    with one_by_one():
        return list(task())


def refine_finalist(
    view: View,
    values: tuple[Float32Array, Float32Array],
    searched: Solution,
    constraints: Constraints,
    n_jobs: int | None,
    *,
    settles: bool,
) -> Iterator[Solution]:
    """Match all objects by a map that was found on a sample, and renew it as long as it gets better.

    Parameters
    ----------
    view : View
        The sets in one metric.
    values : tuple of two ndarray of float32
        Eigenfunctions of all objects of X, and of Y.
    searched : Solution
        What was found on the sample.
    constraints : Constraints
        What the matching keeps to.
    n_jobs : int or None
        How many tasks run at the same time, as in joblib.
    settles : bool
        Whether soft plans among all objects may follow, where one half of the pairs does not lead to the other.

    Yields
    ------
    Solution
        Each with a better held-out score than the one before.
    """
    ranks = [rank for rank in MULTILEVEL.ranks if rank >= searched.rank]
    variates = CanonicalVariates.fit(*values, searched.indices, searched.rank, n_jobs=n_jobs)
    best = None
    for best in refine_all(view, values, variates, constraints, n_jobs, ranks):
        yield best
    if best is None or best.found_again >= MULTILEVEL.decided or not settles:
        return
    N = settle(*values, covariances(*values, best.indices), n_jobs)
    variates = CanonicalVariates.of(N, MULTILEVEL.ranks[-1])
    for settled in refine_all(view, values, variates, constraints, n_jobs, MULTILEVEL.ranks[-3:]):
        if settled.score > best.score:
            yield settled


def choose_finalists(searches: Sequence[Solution], Y: Array) -> list[Solution]:
    """Return the solutions whose maps are refined on all objects.

    Parameters
    ----------
    searches : sequence of Solution
        What was found among the objects that race, the best first.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    list of Solution
        The best; of fewer objects the best that differ from each other.
    """
    chosen = [searches[0]]
    if max(len(Y), len(searches[0].indices)) <= MULTILEVEL.finalists_up_to:
        for each in searches[1:]:
            if len(chosen) < MULTILEVEL.finalists and not any(is_same(each, other, Y) for other in chosen):
                chosen.append(each)
    return chosen


def known_covariances(view: View, problem: Problem) -> Float32Array | None:
    """Return covariances of the eigenfunctions of partners by known pairs or a prior, None where there is neither.

    Parameters
    ----------
    view : View
        The metric.
    problem : Problem
        The two sets, and what is known.

    Returns
    -------
    ndarray of float32, shape (r, s), or None
        The covariances.
    """
    constraints = problem.constraints
    rows, columns = constraints.anchors
    if len(rows) >= MULTILEVEL.fewest_anchors:
        U, V = view.x.evaluate(problem.x[rows]), view.y.evaluate(problem.y[columns])
        return covariances(U, V, np.arange(len(rows)))
    if constraints.sparse_prior is not None and constraints.sparse_prior.nnz:
        prior = constraints.sparse_prior.tocoo()
        order = np.argsort(-prior.data, kind="stable")[: MULTILEVEL.sample]
        U, V = view.x.evaluate(problem.x[prior.row[order]]), view.y.evaluate(problem.y[prior.col[order]])
        weights = np.maximum(prior.data[order], 0.0)[:, None].astype(np.float32)
        return np.asarray((U * weights).T @ V / max(float(weights.sum()), 1e-30), dtype=np.float32)
    return None


def is_same(one: Solution, other: Solution, Y: Array) -> bool:
    """Tell whether two solutions are one: enough partners lie near to each other, among all that are matched.

    Parameters
    ----------
    one, other : Solution
        Two solutions.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    bool
        Whether.
    """
    rows = np.flatnonzero((one.indices >= 0) & (other.indices >= 0))
    rows = rows[:: max(1, len(rows) // MULTILEVEL.compared_pairs)]
    if not len(rows):
        return False
    columns = np.flatnonzero(np.bincount(one.indices[one.indices >= 0], minlength=len(Y)))
    columns = columns[:: max(1, len(columns) // MULTILEVEL.raced)]
    here, there, others = (
        np.asarray(Y[k], dtype=np.float64) for k in (one.indices[rows], other.indices[rows], columns)
    )
    unit = np.maximum(others.std(axis=0), 1e-300)
    here, there, others = here / unit, there / unit, others / unit
    apart = ((here - there) ** 2).sum(axis=1)
    nearer = (squared_distances(here, others) < apart[:, None] * (1 - 1e-9)).mean(axis=1)
    return bool((nearer <= MULTILEVEL.near).mean() >= MULTILEVEL.same)


def is_decided(solutions: list[Solution], Y: Array) -> bool:
    """Tell whether the last solution was found before, and predicts its own held-out pairs.

    Parameters
    ----------
    solutions : list of Solution
        What was found, in the order of the search.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    bool
        Whether there is no need to go on.
    """
    last = solutions[-1]
    return last.found_again >= MULTILEVEL.decided and any(is_same(last, other, Y) for other in solutions[:-1])


def rank_solutions(solutions: list[Solution], views: dict[str, View], problem: Problem) -> list[Solution]:
    """Return solutions, the best first: by held-out scores in all metrics, each in units of the best there.

    Parameters
    ----------
    solutions : list of Solution
        What was found.
    views : dict of str to View
        The metrics.
    problem : Problem
        The two sets.

    Returns
    -------
    list of Solution
        The same, in order.
    """
    if len(solutions) < 2:
        return list(solutions)
    totals = np.zeros(len(solutions))
    for view in views.values():
        scores = np.array([score_sample(view, problem, solution.indices) for solution in solutions])
        totals += scores / max(float(scores.max()), 1e-30)
    return [solutions[k] for k in np.argsort(-totals, kind="stable")]


def score_sample(view: View, problem: Problem, indices: Indices) -> float:
    """Return the held-out score of a sample of the pairs in one metric.

    Parameters
    ----------
    view : View
        The metric.
    problem : Problem
        The two sets.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    float
        The score.
    """
    matched = np.flatnonzero(indices >= 0)
    rows = matched[:: max(1, -(-len(matched) // MULTILEVEL.unrelated_sample))]
    U, V = view.x.evaluate(problem.x[rows]), view.y.evaluate(problem.y[indices[rows]])
    return held_out_score(view, U, V, np.arange(len(rows)))


def score_unrelated(view: View, problem: Problem, seed: int) -> float:
    """Return the held-out score of what the same search finds in a set like Y that has nothing to do with X.

    Parameters
    ----------
    view : View
        The metric of the best solution.
    problem : Problem
        The two sets.
    seed : int
        Draws the unrelated set.

    Returns
    -------
    float
        The score; 0 where nothing is found.
    """
    rng = np.random.default_rng([seed, MULTILEVEL.unrelated_sample])
    sides = [side.take(rng, MULTILEVEL.unrelated_sample) for side in (view.x, view.y)]
    unrelated = View(view.metric, *sides).unrelated(rng)
    values = unrelated.x.values, unrelated.y.values
    free = Constraints(len(values[0]), len(values[1]), min(map(len, values)))
    for N in find_maps(unrelated, rng):
        variates = CanonicalVariates.of(N, MULTILEVEL.ranks[0])
        return max(each.score for each in refine_all(unrelated, values, variates, free, 1, MULTILEVEL.ranks))
    return 0.0


def agree_with_best(solutions: Sequence[Solution], Y: Array) -> list[bool]:
    """Tell which solutions are the same as the first.

    Parameters
    ----------
    solutions : sequence of Solution
        What was found, the best first.
    Y : ndarray of shape (m, d)
        The second table.

    Returns
    -------
    list of bool
        Whether each has enough pairs in common with it; the first is one of them.
    """
    return [other is solutions[0] or is_same(solutions[0], other, Y) for other in solutions]


def evidence(found: Found, log_ratio: float) -> Array:
    """Return what speaks for a matching as a whole, the features of `posterior.calibrate_pairs`.

    Parameters
    ----------
    found : Found
        What was found.
    log_ratio : float
        How far its held-out score exceeds that of unrelated sets.

    Returns
    -------
    ndarray of shape (2,)
        That logarithm, no more than counts; the share of the searches that led to the same.
    """
    return np.array([np.clip(log_ratio, 0.0, CALIBRATION.most_of_many), np.mean(found.agree)])
