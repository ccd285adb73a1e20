"""The strong default: candidates from many views, kernels and starts, chosen and combined without labels."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.annealing import NO_ANCHORS, Single, Terms
from pairup.confidence import Reliability, probabilities, reliability
from pairup.consensus import Consensus, consensus, scores
from pairup.kernels import Array
from pairup.measures import Indices
from pairup.parallel import run
from pairup.ratio import EPSILONS, held_out, ratios
from pairup.search import (
    STANDS_OUT,
    Basin,
    Candidate,
    Outlook,
    follow,
    look,
    look_longer,
    pooled,
    softened,
    worth_following,
)
from pairup.solvers import Step
from pairup.views import JUDGES, Joint, View

PRIOR_WEIGHTS = (0.2, 1.0)  # of a prior, beside the data, unless given
EVENLY = 0.1  # the part of what no vote claims that all pairs share: a soft plan may lie in the wrong place
CLEARLY = 0.005  # how far the score of an answer with known pairs must go beyond that without them


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
    outlooks : what the coarse look at each view promised.
    history : one step per candidate.
    """

    indices: Indices
    confidence: Array
    probabilities: Array
    reliability: Reliability
    consensus: Consensus
    outlooks: list[Outlook]
    history: list[Step]


@dataclass(frozen=True)
class Finding:
    """What one search came by.

    Parameters
    ----------
    consensus : what its candidates say together.
    outlooks : what the coarse look at each view promised.
    followed : the numbers of the views that were followed.
    """

    consensus: Consensus
    outlooks: list[Outlook]
    followed: list[int]

    def excess(self, followed: Sequence[int]) -> Array:
        """Return how far some views go beyond unrelated sets."""
        return np.array([self.outlooks[k].excess for k in followed])


def solve(
    views: Sequence[View], terms: Terms, *, prior_weight: float | None, seed: int, n_jobs: int | None
) -> Iterator[Step | Answer]:
    """Yield a step for each candidate, and the `Answer` last.

    Where pairs are known, the data are also heard without them: a few known pairs can mislead as much as they help, so
    their answer counts only if it is clearly the better one.

    Parameters
    ----------
    views : ways of seeing the two sets.
    terms : what the matching keeps to; a prior comes with weight 1.
    prior_weight : of the prior, beside the data; None tries several.
    seed : draws the unrelated sets.
    n_jobs : how many views are searched at the same time.
    """
    weights = (0.0,) if terms.prior is None else PRIOR_WEIGHTS if prior_weight is None else (prior_weight,)
    variants = [
        terms if terms.prior is None else replace(terms, prior=np.float32(weight) * terms.prior) for weight in weights
    ]
    history: list[Step] = []
    blind = [replace(variant, anchors=NO_ANCHORS) for variant in variants]
    finding = yield from search(views, blind, history, pool=[], seed=seed, n_jobs=n_jobs)
    if len(terms.anchors[0]):
        pool = pooled(finding.outlooks)
        informed = yield from search(views, variants, history, pool=pool, seed=seed, n_jobs=n_jobs)
        decided = replace(finding.consensus, indices=terms.impose(finding.consensus.indices))
        finding = replace(finding, consensus=decided)
        if clearly_better(views, informed, finding, n_jobs):
            finding = informed
    yield answer(views, finding, variants[0], history)


def search(
    views: Sequence[View],
    variants: Sequence[Terms],
    history: list[Step],
    *,
    pool: Sequence[Indices],
    seed: int,
    n_jobs: int | None,
) -> Generator[Step, None, Finding]:
    """Yield a step for each candidate, which are added to `history`; return what they say together.

    Parameters
    ----------
    views : ways of seeing the two sets.
    variants : what matchings keep to, with one or several weights of a prior.
    history : the steps so far.
    pool : solutions to try beside those that the search comes by.
    seed, n_jobs : as in `solve`.
    """
    outlooks = survey(views, variants[0], seed, n_jobs)
    followed = worth_following(outlooks)
    for k in set(range(len(views))).difference(followed):
        views[k].forget()
    pool = [*pool, *pooled(outlooks)]
    ways: list[tuple[View | Joint, list[Basin]]] = [(views[k], outlooks[k].basins) for k in followed]
    if len(followed) > 1:
        ways.append((Joint([views[k] for k in followed]), []))
    candidates: list[Candidate] = []
    tasks = [(view, variant, basins, pool) for variant in variants for view, basins in ways]
    for of_view in run(follow, tasks, n_jobs=n_jobs):
        start = history[-1].start + 1 if history else 0
        for number, candidate in enumerate(of_view):
            history.append(Step(start, number, candidate.indices, candidate.value))
            yield history[-1]
        candidates += of_view
    J = judge([views[k] for k in followed], [candidate.indices for candidate in candidates], n_jobs)
    first = views[0].y
    similarity = np.exp(-first / max(float(np.median(first)), 1e-30))
    weights = np.repeat([outlooks[k].excess for k in followed], len(JUDGES))
    return Finding(consensus(candidates, J, weights, similarity, variants[0], outlooks), outlooks, followed)


def survey(views: Sequence[View], terms: Terms, seed: int, n_jobs: int | None) -> list[Outlook]:
    """Look coarsely at every view, and longer where none stands out."""
    outlooks = list(run(look, [(view, terms, seed) for view in views], n_jobs=n_jobs))
    if max(outlook.excess for outlook in outlooks) < STANDS_OUT:
        again = [(view, terms, outlook, seed) for view, outlook in zip(views, outlooks, strict=True)]
        outlooks = list(run(look_longer, again, n_jobs=n_jobs))
    return outlooks


def judge(views: Sequence[View], matchings: list[Indices], n_jobs: int | None) -> Array:
    """Return the held-out scores J of matchings (rows) under the density-ratio models of all views (columns)."""
    return np.hstack(list(run(View.judge, [(view, matchings) for view in views], n_jobs=n_jobs)))


def clearly_better(views: Sequence[View], one: Finding, other: Finding, n_jobs: int | None) -> bool:
    """Return whether the score of one finding is well above that of the other, by the views that either followed."""
    followed = sorted({*one.followed, *other.followed})
    J = judge([views[k] for k in followed], [one.consensus.indices, other.consensus.indices], n_jobs)
    of_one, of_other = scores(J, np.repeat(one.excess(followed) + other.excess(followed), len(JUDGES)))
    return bool(of_one > of_other + CLEARLY)


def answer(views: Sequence[View], finding: Finding, terms: Terms, history: list[Step]) -> Answer:
    """Return what was found, with how likely it is."""
    decided, outlooks = finding.consensus, finding.outlooks
    soft = softened(Joint([views[k] for k in finding.followed]), terms, decided.indices)
    likely = pair_probabilities(decided, soft, outlooks, terms)
    matched = np.flatnonzero(decided.indices >= 0)
    sure = np.zeros(terms.n)
    sure[matched] = likely[matched, decided.indices[matched]]
    verdict = reliability(sure[matched], decided, outlooks)
    return Answer(decided.indices, sure, likely, verdict, decided, outlooks, history)


def pair_probabilities(decided: Consensus, soft: Single, outlooks: Sequence[Outlook], terms: Terms) -> Array:
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


def estimate_pairs(views: Sequence[View], answer: Answer) -> int:
    """Return how many pairs the fitted density ratio favours over chance: those with r(x_i, y_i) > 1, left one out."""
    named = {view.name: view for view in views}
    best = next(candidate.view for candidate in answer.consensus.candidates if candidate.view in named)  # not joint
    x, y = named[best].spectra(JUDGES[0])
    J = held_out(x, y, [answer.indices])[0]
    r = ratios(x, y, answer.indices, EPSILONS[int(J.argmin())])
    matched = np.flatnonzero(answer.indices >= 0)
    return max(1, int((r[matched, answer.indices[matched]] > 1.0).sum()))
