"""The strong default: candidates from many views, kernels and starts, chosen and combined without labels."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pairup.annealing import NO_ANCHORS, Terms
from pairup.climb import Step
from pairup.confidence import Reliability, probabilities, reliability
from pairup.consensus import FAINT, Consensus, consensus, scores
from pairup.density_ratio import EPSILONS, held_out, ratios
from pairup.evolution import evolve
from pairup.parallel import run
from pairup.problem import Problem
from pairup.search import (
    Basin,
    Candidate,
    Effort,
    Outlook,
    agreement,
    follow,
    hear,
    look,
    look_longer,
    pooled,
    softened,
    stands_out,
    worth_following,
)
from pairup.types import Array, Float32Array, Indices
from pairup.views import JUDGES, LOW_RANK_FROM, Joint, View

PRIOR_WEIGHTS = (0.2, 1.0)  # of a prior, beside the data, unless given
EVENLY = 0.1  # the part of what no vote claims that all pairs share: a soft plan may lie in the wrong place
HEARD = 0.25  # views whose excess is this share of the best one's judge populations
BRED_FROM = 30  # objects: of fewer, all populations come by the same few solutions
AGREEING = 0.2  # the share of pairs that populations apart have in common, if they found more than accidents
CLEARLY = 0.05  # how far the score of an answer with known pairs must go beyond that without them


@dataclass(frozen=True)
class Answer:
    """A matching and what is known about it.

    Parameters
    ----------
    indices : the matching; −1 where x has no partner.
    confidence : probability that each x has its right partner.
    probabilities : the same for every pair.
    reliability : the verdict on the whole.
    consensus : what the candidates say together.
    views : ways of seeing the two sets.
    outlooks : what the coarse look at each view promised.
    history : one step per candidate.
    """

    indices: Indices
    confidence: Array
    probabilities: Array
    reliability: Reliability
    consensus: Consensus
    views: list[View]
    outlooks: list[Outlook]
    history: list[Step]


@dataclass(frozen=True)
class Finding:
    """What one search came by.

    Parameters
    ----------
    consensus : what its candidates say together.
    views : ways of seeing the two sets.
    outlooks : what the coarse look at each view promised.
    followed : the numbers of the views that were followed.
    """

    consensus: Consensus
    views: list[View]
    outlooks: list[Outlook]
    followed: list[int]

    def excess(self, followed: Sequence[int]) -> Array:
        """Return how far some views go beyond unrelated sets."""
        return np.array([self.outlooks[k].excess for k in followed])


def solve(
    problem: Problem, *, ways: Sequence[View] | None = None, seed: int, n_jobs: int | None
) -> Iterator[Step | Answer]:
    """Yield a step for each candidate, and the `Answer` last.

    Where pairs are known, the data are also heard without them: a few known pairs can mislead as much as they help, so
    their answer counts only if it is clearly the better one.

    Parameters
    ----------
    problem : the two sets, and what the matching keeps to.
    ways : of seeing the sets, if they have been looked at before; the problem's own unless given.
    seed : draws the unrelated sets.
    n_jobs : how many views are searched at the same time.
    """
    terms, given = problem.terms, problem.prior_weight
    weights = (0.0,) if terms.prior is None else PRIOR_WEIGHTS if given is None else (given,)
    variants = [
        terms if terms.prior is None else replace(terms, prior=np.float32(weight) * terms.prior) for weight in weights
    ]
    history: list[Step] = []
    blind = [replace(variant, anchors=NO_ANCHORS) for variant in variants]
    further = problem.further_views() if ways is None else iter(())
    ways = list(problem.views()) if ways is None else ways
    finding = yield from search(ways, further, blind, history, pool=[], seed=seed, n_jobs=n_jobs)
    if len(terms.anchors[0]):
        pool = pooled(finding.outlooks)
        breeds = not stands_out(finding.outlooks, terms)
        informed = yield from search(
            finding.views, (), variants, history, pool=pool, seed=seed, n_jobs=n_jobs, breeds=breeds
        )
        decided = replace(finding.consensus, indices=terms.impose(finding.consensus.indices))
        finding = replace(finding, consensus=decided)
        if clearly_better(informed, finding, n_jobs):
            finding = informed
    yield answer(finding, variants[0], history)


def search(
    views: Sequence[View],
    further: Iterable[View],
    variants: Sequence[Terms],
    history: list[Step],
    *,
    pool: Sequence[Indices],
    seed: int,
    n_jobs: int | None,
    breeds: bool = True,
) -> Generator[Step, None, Finding]:
    """Yield a step for each candidate, which are added to `history`; return what they say together.

    Parameters
    ----------
    views : ways of seeing the two sets.
    further : more of them, for sets that do not match clearly in any of the first.
    variants : what matchings keep to, with one or several weights of a prior.
    history : the steps so far.
    pool : solutions to try beside those that the search comes by.
    seed, n_jobs : as in `solve`.
    breeds : whether populations may be bred. Scores of those that are, and of those that are not, do not compare.
    """
    views, outlooks = survey(views, further, variants[0], seed, n_jobs)
    pool = [*pool, *pooled(outlooks)]
    tasks = [partial(hear, view, variants[0], outlook, pool) for view, outlook in zip(views, outlooks, strict=True)]
    outlooks = list(run(tasks, n_jobs=n_jobs))
    followed = worth_following(outlooks, variants[0])
    for k in set(range(len(views))).difference(followed):
        views[k].forget()
    ways: list[tuple[View | Joint, list[Basin], list[Indices]]] = [(views[k], outlooks[k].basins, []) for k in followed]
    if len(followed) > 1:
        ways.append((Joint([views[k] for k in followed]), [], pooled(outlooks)))
    bred = breed(views, outlooks, variants[0], seed, n_jobs) if breeds else []
    candidates: list[Candidate] = []
    following = [
        partial(follow, view, variant, basins, heard, bred) for variant in variants for view, basins, heard in ways
    ]
    for of_view in run(following, n_jobs=n_jobs):
        start = history[-1].start + 1 if history else 0
        for number, candidate in enumerate(of_view):
            history.append(Step(start, number, candidate.indices, candidate.value))
            yield history[-1]
        candidates += of_view
    J = judge([views[k] for k in followed], [candidate.indices for candidate in candidates], n_jobs)
    first = views[0].y
    similarity = np.exp(-first / max(float(np.median(first)), 1e-30))
    weights = np.repeat([outlooks[k].excess for k in followed], len(JUDGES))
    return Finding(consensus(candidates, J, weights, similarity, variants[0], outlooks), views, outlooks, followed)


def survey(
    views: Sequence[View], further: Iterable[View], terms: Terms, seed: int, n_jobs: int | None
) -> tuple[list[View], list[Outlook]]:
    """Look coarsely at every view; at further ones, of which the best is kept, where none matches well; then longer."""
    views = list(views)
    outlooks = list(run([partial(look, view, terms, seed) for view in views], n_jobs=n_jobs))
    if max(outlook.excess for outlook in outlooks) < Effort.of(terms).enough:
        more = list(further)
        of_more = list(run([partial(look, view, terms, seed) for view in more], n_jobs=n_jobs))
        if more:
            best = int(np.argmax([outlook.excess for outlook in of_more]))
            views.append(more[best])
            outlooks.append(of_more[best])
    if not stands_out(outlooks, terms):
        again = [
            partial(look_longer, view, terms, outlook, seed) for view, outlook in zip(views, outlooks, strict=True)
        ]
        outlooks = list(run(again, n_jobs=n_jobs))
    return views, outlooks


def breed(
    views: Sequence[View], outlooks: Sequence[Outlook], terms: Terms, seed: int, n_jobs: int | None
) -> list[Indices]:
    """Return what populations came by, where no view stands out and the objects are neither too few nor too many.

    Two have the same parents and grow up apart, each with a kernel of its own. Where they come by some of the same
    pairs, a third descends from both, and the best of each are returned; where they do not, what they found is an
    accident of their own.
    """
    if stands_out(outlooks, terms) or min(terms.n, terms.m) < BRED_FROM or max(terms.n, terms.m) >= LOW_RANK_FROM:
        return []
    weights = np.maximum([outlook.excess for outlook in outlooks], FAINT)
    heard = np.flatnonzero(weights >= HEARD * weights.max()).tolist()
    weights = weights[heard] / weights[heard].sum()
    seen = [views[k] for k in heard]
    solutions = [p for outlook in outlooks for p in (*(b.indices for b in outlook.basins), *outlook.solutions)]
    apart = [partial(evolve, seen, weights, terms, solutions, [kernel], seed + k) for k, kernel in enumerate(JUDGES)]
    populations = list(run(apart, n_jobs=n_jobs))
    one, other = (population[0] for population in populations)
    if agreement(one, other, terms.anchors[0]) < AGREEING:
        return []
    together = [p for population in populations for p in population]
    populations += run([partial(evolve, seen, weights, terms, together, JUDGES, seed + len(JUDGES))], n_jobs=n_jobs)
    return [population[0] for population in populations]


def judge(views: Sequence[View], matchings: list[Indices], n_jobs: int | None) -> Array:
    """Return the held-out scores J of matchings (rows) under the density-ratio models of all views (columns)."""
    return np.hstack(list(run([partial(view.judge, matchings) for view in views], n_jobs=n_jobs)))


def clearly_better(one: Finding, other: Finding, n_jobs: int | None) -> bool:
    """Return whether the score of one finding is well above that of the other, by the views that either followed."""
    followed = sorted({*one.followed, *other.followed})
    J = judge([one.views[k] for k in followed], [one.consensus.indices, other.consensus.indices], n_jobs)
    of_one, of_other = scores(J, np.repeat(one.excess(followed) + other.excess(followed), len(JUDGES)))
    return bool(of_one > of_other + CLEARLY)


def answer(finding: Finding, terms: Terms, history: list[Step]) -> Answer:
    """Return what was found, with how likely it is."""
    decided, outlooks = finding.consensus, finding.outlooks
    soft = softened(Joint([finding.views[k] for k in finding.followed]), terms, decided.indices)
    likely = pair_probabilities(decided, soft, outlooks, terms)
    matched = np.flatnonzero(decided.indices >= 0)
    sure = np.zeros(terms.n)
    sure[matched] = likely[matched, decided.indices[matched]]
    verdict = reliability(sure[matched], decided, outlooks)
    return Answer(decided.indices, sure, likely, verdict, decided, finding.views, outlooks, history)


def pair_probabilities(decided: Consensus, soft: Float32Array, outlooks: Sequence[Outlook], terms: Terms) -> Array:
    """Return how likely every pair is; each row sums to 1 at the most, and known pairs have 1.

    The pair with most votes in its row is as likely as votes have been right before, the others less in proportion;
    what they leave is shared as the soft plan says, but for a part that all get alike.
    """
    most = np.maximum(decided.votes.max(axis=1, keepdims=True), 1e-30)
    likely: Array = probabilities(decided.votes, decided, outlooks) * (decided.votes / most)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1.0)
    left = (1.0 - likely.sum(axis=1, keepdims=True)) * terms.pairs / terms.n
    shares = soft / np.maximum(soft.sum(axis=1, keepdims=True), 1e-30)
    likely += left * ((1.0 - EVENLY) * shares + EVENLY / terms.m)
    rows, columns = terms.anchors
    likely[rows, :] = 0.0
    likely[:, columns] = 0.0
    likely[rows, columns] = 1.0
    return likely


def estimate_pairs(answer: Answer) -> int:
    """Return how many pairs the fitted density ratio favours over chance: those with r(x_i, y_i) > 1, left one out."""
    named = {view.name: view for view in answer.views}
    best = next(candidate.view for candidate in answer.consensus.candidates if candidate.view in named)  # not joint
    x, y = named[best].spectra(JUDGES[0])
    J = held_out(x, y, [answer.indices])[0]
    r = ratios(x, y, answer.indices, EPSILONS[int(J.argmin())])
    matched = np.flatnonzero(answer.indices >= 0)
    return max(1, int((r[matched, answer.indices[matched]] > 1.0).sum()))
