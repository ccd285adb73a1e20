"""How likely pairs are where a prior in nats, such as that of common columns, speaks beside the data."""

import numpy as np
from scipy.special import expit

from pairup.auto.calibration import balance, impose_known, log_odds
from pairup.auto.consensus import Consensus, of_pairs
from pairup.auto.geometry import GeometryPair
from pairup.auto.schedule import GEOMETRY, PRIOR_CALIBRATION
from pairup.constraints import Constraints
from pairup.density_ratio import SCORED_EPSILONS, density_ratios, held_out_scores
from pairup.types import Array, Float32Array, Indices


def prior_probabilities(constraints: Constraints, sharpness: float = 1.0, ratios: Float32Array | None = None) -> Array:
    """Return how likely every pair is by a prior in nats, and by ratios of densities beside it.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to, with the prior.
    sharpness : float, default 1.0
        What the scores are multiplied by.
    ratios : ndarray of float32, shape (n, m), optional
        How much likelier the data make each pair than chance.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; each row and column sums to 1 at the most.
    """
    assert constraints.prior is not None
    scores = sharpness * constraints.prior_unit * constraints.prior.astype(np.float64)
    if ratios is not None:
        scores += np.log(np.maximum(ratios, PRIOR_CALIBRATION.least_ratio))
    likely: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    likely[constraints.forbidden] = 0.0
    likely *= constraints.n_pairs / constraints.n / np.maximum(likely.sum(axis=1, keepdims=True), 1e-30)
    return balance(impose_known(likely, constraints), constraints)


def sharpen_prior(constraints: Constraints, indices: Indices) -> Array:
    """Return the probabilities by the prior under the sharpness that makes a matching likeliest.

    A prior does not know how closely right pairs agree; those of the matching show it. Where the search could choose
    pairs that agree by accident, this is too sure of them.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to, with the prior.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; each row and column sums to 1 at the most.
    """
    tried = [prior_probabilities(constraints, sharpness) for sharpness in PRIOR_CALIBRATION.sharpness]
    return max(tried, key=lambda likely: float(np.log(np.maximum(of_pairs(likely, indices), 1e-12)).mean()))


def features_by_prior(constraints: Constraints, indices: Indices) -> Array:
    """Return the features of the pairs of a matching by the prior alone.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to, with the prior.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        Log odds of each pair by the prior, as it is and sharpened.
    """
    likely = prior_probabilities(constraints), sharpen_prior(constraints, indices)
    least = PRIOR_CALIBRATION.least_probability
    return np.column_stack([log_odds(of_pairs(each, indices), least) for each in likely])


def features_of_both(consensus: Consensus, posterior: Array) -> Array:
    """Return the features of the pairs of a consensus by the search and by the prior.

    The search knew the prior, so that its votes are no evidence apart from it, and the two cannot be multiplied: a
    regression weighs them.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates, its significance known.
    posterior : ndarray of shape (n, m)
        Probabilities by the prior and by ratios of densities that are fitted to the other pairs.

    Returns
    -------
    ndarray of shape (n_pairs, 4)
        The vote share, log odds by the posterior, and two of the whole, times the logarithm of the number of objects:
        how far the matching exceeds unrelated data, and the mean vote share.
    """
    assert consensus.significance is not None
    votes = of_pairs(consensus.votes, consensus.indices)
    weight = np.log(min(*consensus.votes.shape, PRIOR_CALIBRATION.most_objects))
    of_set = consensus.significance.log_ratio, float(votes.mean()) if len(votes) else 0.0
    odds = log_odds(of_pairs(posterior, consensus.indices), PRIOR_CALIBRATION.least_probability)
    return np.column_stack([votes, odds, *(np.full_like(votes, weight * value) for value in of_set)])


def held_out_ratios(geometry: GeometryPair, indices: Indices) -> Float32Array:
    """Return the density ratios of all pairs under a matching, in one metric, at the ε of the best held-out score.

    Parameters
    ----------
    geometry : GeometryPair
        How objects are compared.
    indices : ndarray of int, shape (n,)
        The matching.

    Returns
    -------
    ndarray of float32, shape (n, m)
        How much likelier each pair is than chance by a model that neither of its objects has a part in.
    """
    x, y = geometry.spectra(GEOMETRY.scoring_kernels[0])
    J = held_out_scores(x, y, [indices])[0]
    return density_ratios(x, y, indices, SCORED_EPSILONS[int(J.argmin())])


def share_rest(shares: Array, indices: Indices, probability: Array, constraints: Constraints) -> Array:
    """Return probabilities of all pairs: those of a matching as given, what they leave shared by the others.

    Parameters
    ----------
    shares : ndarray of shape (n, m)
        In which proportions the others share.
    indices : ndarray of int, shape (n,)
        The matching.
    probability : ndarray of shape (n_pairs,)
        Probabilities of its pairs.
    constraints : Constraints
        What the matching keeps to.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; each row and column sums to 1 at the most, known pairs have 1 and forbidden ones 0.

    Examples
    --------
    >>> even = np.full((3, 3), 1 / 3)
    >>> share_rest(even, np.array([0, 1, 2]), np.full(3, 0.8), Constraints(3, 3, 3)).round(3)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    """
    uniform = PRIOR_CALIBRATION.uniform_share
    matched = np.flatnonzero(indices >= 0)
    likely: Array = (1.0 - uniform) * shares + uniform / constraints.m
    likely[constraints.forbidden] = 0.0
    likely[matched, indices[matched]] = 0.0
    left = np.full(constraints.n, 1.0 - probability.mean() if len(matched) else 1.0)  # others have their chance, too
    left[matched] = 1.0 - probability
    likely *= (left / np.maximum(likely.sum(axis=1), 1e-30))[:, None]
    likely[matched, indices[matched]] = probability
    return balance(impose_known(likely, constraints), constraints)


def calibrate_prior(constraints: Constraints) -> tuple[Indices, Array]:
    """Return the matching that a prior in nats prefers, and how likely all pairs are by it alone.

    Parameters
    ----------
    constraints : Constraints
        What the matching keeps to, with the prior.

    Returns
    -------
    indices : ndarray of int, shape (n,)
        The matching.
    likely : ndarray of shape (n, m)
        Probabilities of all pairs.
    """
    by_prior = prior_probabilities(constraints)
    indices = constraints.round(by_prior)
    weights = np.array(PRIOR_CALIBRATION.alone)
    probability: Array = expit(PRIOR_CALIBRATION.alone_intercept + features_by_prior(constraints, indices) @ weights)
    return indices, share_rest(by_prior, indices, probability, constraints)


def calibrate_both(consensus: Consensus, constraints: Constraints, geometry: GeometryPair) -> Array:
    """Return how likely every pair is by what the search found and by a prior in nats.

    Parameters
    ----------
    consensus : Consensus
        The combined result of all candidates, its significance known.
    constraints : Constraints
        What the matching keeps to, with the prior.
    geometry : GeometryPair
        The metric of its significance.

    Returns
    -------
    ndarray of shape (n, m)
        Probabilities; each row and column sums to 1 at the most.
    """
    posterior = prior_probabilities(constraints, ratios=held_out_ratios(geometry, consensus.indices))
    table = features_of_both(consensus, posterior)
    probability: Array = expit(PRIOR_CALIBRATION.intercept + table @ np.array(PRIOR_CALIBRATION.coefficients))
    return share_rest(posterior, consensus.indices, probability, constraints)


def tell_prior(constraints: Constraints) -> str:
    """Say how far a prior in nats tells the pairs by itself.

    Parameters
    ----------
    constraints : Constraints
        What a matching keeps to.

    Returns
    -------
    str
        One sentence.
    """
    indices, likely = calibrate_prior(constraints)
    share = float(of_pairs(likely, indices).mean())
    return f"By the common columns alone about {share:.0%} of the pairs would be right."
