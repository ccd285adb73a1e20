"""The strong default: candidates from many views, kernels and starts, chosen and combined without labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pairup.annealing import Terms
from pairup.confidence import Reliability, probabilities, reliability
from pairup.consensus import Consensus, consensus
from pairup.kernels import Array
from pairup.measures import Indices
from pairup.parallel import run
from pairup.ratio import EPSILONS, held_out, ratios
from pairup.search import STANDS_OUT, Basin, Candidate, Outlook, follow, look, look_longer, pooled, worth_following
from pairup.solvers import Step
from pairup.views import JUDGES, Joint, View

PRIOR_WEIGHTS = (0.2, 1.0)  # of a prior, beside the data, unless given


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


def _judge(view: View, matchings: list[Indices]) -> Array:
    return view.judge(matchings)


def solve(
    views: Sequence[View], terms: Terms, *, prior_weight: float | None, seed: int, n_jobs: int | None
) -> Iterator[Step | Answer]:
    """Yield a step for each candidate, and the `Answer` last.

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
    outlooks = list(run(look, [(view, variants[0], seed) for view in views], n_jobs=n_jobs))
    if max(outlook.excess for outlook in outlooks) < STANDS_OUT:
        tasks = [(view, variants[0], outlook, seed) for view, outlook in zip(views, outlooks, strict=True)]
        outlooks = list(run(look_longer, tasks, n_jobs=n_jobs))
    followed = worth_following(outlooks)
    for k in set(range(len(views))).difference(followed):
        views[k].forget()
    candidates: list[Candidate] = []
    history: list[Step] = []
    pool = pooled(outlooks)
    ways: list[tuple[View | Joint, list[Basin]]] = [(views[k], outlooks[k].basins) for k in followed]
    if len(followed) > 1:
        ways.append((Joint([views[k] for k in followed]), []))
    to_follow = [(view, variant, basins, pool) for variant in variants for view, basins in ways]
    for start, of_view in enumerate(run(follow, to_follow, n_jobs=n_jobs)):
        for number, candidate in enumerate(of_view):
            step = Step(start, number, candidate.indices, candidate.value)
            history.append(step)
            yield step
        candidates += of_view
    matchings = [candidate.indices for candidate in candidates]
    J = np.hstack(list(run(_judge, [(views[k], matchings) for k in followed], n_jobs=n_jobs)))
    believed = np.repeat([outlooks[k].excess for k in followed], J.shape[1] // len(followed))
    first = views[0].y
    similarity = np.exp(-first / max(float(np.median(first)), 1e-30))
    decided = consensus(candidates, J, believed, similarity, terms, outlooks)
    likely = pair_probabilities(decided, outlooks, terms)
    matched = np.flatnonzero(decided.indices >= 0)
    sure = np.zeros(terms.n)
    sure[matched] = likely[matched, decided.indices[matched]]
    verdict = reliability(sure[matched], decided, outlooks)
    yield Answer(decided.indices, sure, likely, verdict, decided, outlooks, history)


def pair_probabilities(decided: Consensus, outlooks: Sequence[Outlook], terms: Terms) -> Array:
    """Return how likely every pair is; each row sums to 1 at the most, and known pairs have 1.

    Pairs without a vote share what the others of their row leave.
    """
    voted = decided.votes > 0
    likely = np.where(voted, probabilities(decided.votes, decided, outlooks), 0.0)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1.0)
    others = np.maximum((~voted).sum(axis=1, keepdims=True), 1)
    left = (1.0 - likely.sum(axis=1, keepdims=True)) * terms.pairs / terms.n
    likely += np.where(voted, 0.0, left / others)
    rows, columns = terms.anchors
    likely[rows, :] = 0.0
    likely[:, columns] = 0.0
    likely[rows, columns] = 1.0
    return likely


def estimate_pairs(views: Sequence[View], answer: Answer) -> int:
    """Return how many pairs the fitted density ratio favours over chance: those with r(x_i, y_i) > 1, left one out."""
    name = answer.consensus.candidates[0].view
    x, y = next(view for view in views if view.name == name).spectra(JUDGES[0])
    J = held_out(x, y, [answer.indices])[0]
    r = ratios(x, y, answer.indices, EPSILONS[int(J.argmin())])
    matched = np.flatnonzero(answer.indices >= 0)
    return max(1, int((r[matched, answer.indices[matched]] > 1.0).sum()))
