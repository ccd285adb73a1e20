"""Methods that learn a conversion from unpaired frames: ours, the paper's, and baselines."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from pairup.assignment import assign
from pairup.components import standardize
from pairup.matchers import KSHSIC, KSNOCCO, LSOM
from pairup.matching import match
from pairup.regression import MatchedRegressor
from pairup.types import Array
from pairup.voice.frames import mel_cepstrum
from pairup.voice.lsf import envelope, lpc_from_lsf
from pairup.voice.pairing import pair_frames, similarity, take_partners
from pairup.voice.splits import Conversion, Split


def inca(X: Array, Y: Array, *, start: Array | None = None, max_iter: int = 30) -> Conversion:
    """Learn a conversion by INCA (Erro, Moreno, Bonafonte 2010): nearest neighbours and conversion in turn.

    The source frames look for their nearest target frames, and the target frames for their nearest source frames; a
    conversion is learned from all these pairs; then the converted source frames look for neighbours, until the pairs
    no longer change. The conversion is the same regression that every other method uses.

    Parameters
    ----------
    X, Y : ndarray of shape (n, order) and (m, order)
        Line spectral frequencies of source and target.
    start : ndarray of shape (n, order), optional
        What the first search starts from; X by default.
    max_iter : int, default 30
        Largest number of iterations.

    Returns
    -------
    convert : callable
        From line spectral frequencies of the source to those of the target.
    """
    current = X if start is None else start
    rows = pairs = np.empty((2, 0), dtype=np.intp)
    for _ in range(max_iter):
        D = cdist(current, Y)
        rows = np.stack(
            [np.append(np.arange(len(X)), D.argmin(axis=0)), np.append(D.argmin(axis=1), np.arange(len(Y)))]
        )
        if np.array_equal(rows, pairs):
            break
        pairs = rows
        convert = _learn(X[pairs[0]], Y[pairs[1]])
        current = convert(X)
    return convert


def _learn(X: Array, Y: Array) -> Conversion:
    """Regress the partners Y on X."""
    convert: Conversion = MatchedRegressor().fit(X, Y).predict
    return convert


def _scale_mean_and_variance(split: Split) -> Conversion:
    """Give every coefficient the target's mean and variance."""
    X, Y = split.X, split.Y
    return lambda lsf: (lsf - X.mean(axis=0)) / X.std(axis=0) * Y.std(axis=0) + Y.mean(axis=0)


def _assign_z_scores(split: Split) -> Conversion:
    """Pair one to one at the least total squared distance of z-scores."""
    profit = -cdist(standardize(split.X), standardize(split.Y), "sqeuclidean")
    return _learn(split.X, split.Y[assign(profit)])


def _match_with_prior(split: Split) -> Conversion:
    """Match by the package's default method with the similarity of mel cepstra as prior."""
    return _learn(split.X, split.Y[match(split.X, split.Y, prior=similarity(*_compute_cepstra(split))).indices])


def _pair_softly(split: Split) -> Conversion:
    """Pair every frame with its expected partner, as `VoiceConverter` does."""
    return _learn(split.X, take_partners(split.Y, pair_frames(*_compute_cepstra(split))))


def _literal_lsom() -> LSOM:
    """Return LSOM with the step as the paper prints it, which takes negative coefficients too."""
    return LSOM(nonnegative=False, select="start")


def _compute_cepstra(split: Split) -> tuple[Array, Array]:
    """Return the mel cepstra of both training sets."""
    U, V = (mel_cepstrum(envelope(lpc_from_lsf(lsf)), split.rate) for lsf in (split.X, split.Y))
    return U, V


METHODS: dict[str, Callable[[Split], Conversion]] = {
    "identity": lambda split: lambda lsf: lsf,
    "mean-variance": _scale_mean_and_variance,
    "random": lambda split: _learn(split.X, split.Y),
    "z-score": _assign_z_scores,
    "inca": lambda split: inca(split.X, split.Y),
    "inca-z": lambda split: inca(split.X, split.Y, start=_scale_mean_and_variance(split)(split.X)),
    "ks-hsic": lambda split: _learn(split.X, split.Y[KSHSIC().fit_predict(split.X, split.Y)]),
    "ks-nocco": lambda split: _learn(split.X, split.Y[KSNOCCO().fit_predict(split.X, split.Y)]),
    "lsom-literal": lambda split: _learn(split.X, split.Y[_literal_lsom().fit_predict(split.X, split.Y)]),
    "lsom": lambda split: _learn(split.X, split.Y[LSOM().fit_predict(split.X, split.Y)]),
    "match": _match_with_prior,
    "auto": _pair_softly,
    "oracle": lambda split: _learn(split.X, split.oracle),
}
"""From a split to a conversion of line spectral frequencies; only "oracle" looks at the true partners."""
