"""The search of a matching of two graphs: annealing from every start, and by the fitted edge model."""

from collections.abc import Generator, Iterable

import numpy as np

from pairup.climb import Step
from pairup.graph.blocks import exchange_blocks
from pairup.graph.edge_model import classify_pairs, fit_log_odds
from pairup.graph.problem import Padded
from pairup.graph.schedule import SCHEDULE
from pairup.graph.swaps import Terms, anneal_swaps
from pairup.types import Indices


def search(padded: Padded, starts: Iterable[Indices], seed: int, history: list[Step]) -> Generator[Step, None, Indices]:
    """Anneal from every start, and return the matching that keeps most.

    Parameters
    ----------
    padded : Padded
        The graphs.
    starts : iterable of ndarray of int, shape (size,)
        Matchings.
    seed : int
        Draws the swaps.
    history : list of Step
        Gets one step per start.

    Returns
    -------
    ndarray of int, shape (size,)
        The best matching.

    Yields
    ------
    Step
        A step for each start.
    """
    terms, fixed, best, top = padded.terms(), padded.fixed, np.arange(padded.constraints.n), -np.inf
    schedule = SCHEDULE
    for number, start in enumerate(starts):
        p = anneal_swaps(
            terms, start, fixed, hot=schedule.hot, cold=schedule.cold, steps=count_swaps(len(start)), seed=seed + number
        )
        p = max(p, start, key=padded.value)
        step = Step(len(history), 0, p, padded.value(p))
        history.append(step)
        yield step
        if step.value > top:
            best, top = p, step.value
    return best


def count_swaps(n: int) -> int:
    """Return how many swaps an annealing of n nodes proposes."""
    return min(SCHEDULE.swaps_per_node * n, SCHEDULE.most_swaps)


def refine(padded: Padded, p: Indices, seed: int) -> tuple[Terms, Indices]:
    """Fit the edge model to a matching, anneal its log-likelihood and exchange blocks, a few times.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.
    seed : int
        Draws the swaps.

    Returns
    -------
    terms : Terms
        The log-likelihood.
    p : ndarray of int, shape (size,)
        The annealed matching.
    """
    terms = padded.terms()
    for number in range(SCHEDULE.refits):
        terms = fit_terms(padded, p, terms)
        p = anneal_swaps(
            terms,
            p,
            padded.fixed,
            hot=SCHEDULE.model_hot,
            cold=SCHEDULE.model_cold,
            steps=count_swaps(len(p)) // 2,
            seed=seed + number,
        )
        p = exchange_blocks(terms, p, padded.fixed, seed=seed + number)
    return terms, p


def fit_terms(padded: Padded, p: Indices, terms: Terms) -> Terms:
    """Fit the edge model to a matching.

    Directed and weighted graphs, and self-loops, have the log-odds of an edge that is kept as the only parameter.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.
    terms : Terms
        The same graphs as energy.

    Returns
    -------
    Terms
        The log-likelihood.
    """
    odds = edge_log_odds(padded, p)
    if padded.weighted:
        odds = min(odds, weight_log_odds(padded, p))
    if padded.directed or padded.weighted:
        terms = terms._replace(M=np.float32(odds) * padded.B.toarray().astype(np.float32))
    else:
        a, b = ((Z != 0).toarray().astype(np.float64) for Z in (padded.A, padded.B))
        M, _ = fit_log_odds(classify_pairs(padded.B), a, np.argsort(p))
        K, _ = fit_log_odds(classify_pairs(padded.A), b, p)
        np.fill_diagonal(M, 2.0 * odds * padded.B.diagonal())
        terms = terms._replace(M=np.float32(0.5) * M, K=np.float32(0.5) * K)
    return terms._replace(S=padded.score_pairs(odds))


def edge_log_odds(padded: Padded, p: Indices) -> float:
    """Return log(n₁₁n₀₀ / n₁₀n₀₁) of the pairs of nodes by whether they are linked in either graph.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.

    Returns
    -------
    float
        What one edge that is kept adds to the log-likelihood.
    """
    kept, n = padded.count_kept(p), len(p)
    a, b = ((Z.nnz if padded.directed else Z.nnz // 2) for Z in (padded.A, padded.B))
    pairs = n * (n - 1) // (1 if padded.directed else 2)
    counts = np.array([kept, pairs - a - b + kept, a - kept, b - kept], dtype=np.float64) + 0.5
    return float(np.log(counts[0] * counts[1] / (counts[2] * counts[3])))


def weight_log_odds(padded: Padded, p: Indices) -> float:
    """Return what the product of two weights adds to the log-likelihood if the weights are normally distributed.

    Parameters
    ----------
    padded : Padded
        The graphs.
    p : ndarray of int, shape (size,)
        The matching.

    Returns
    -------
    float
        The number ρ / (1 − ρ²) / (σ_a σ_b), ρ the correlation over all pairs of nodes; large where weights are equal.
    """
    pairs = len(p) * (len(p) - 1)
    means = [Z.sum() / pairs for Z in (padded.A, padded.B)]
    spreads = [
        np.sqrt(max((Z.data**2).sum() / pairs - mean**2, 1e-12))
        for Z, mean in zip((padded.A, padded.B), means, strict=True)
    ]
    covariance = padded.A.multiply(padded.B[p][:, p]).sum() / pairs - means[0] * means[1]
    scale = float(spreads[0] * spreads[1])
    correlation = float(np.clip(covariance / scale, 1e-3, 0.999))
    return correlation / (1.0 - correlation**2) / scale
