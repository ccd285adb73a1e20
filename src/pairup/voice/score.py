"""How well voices are converted: the paper's protocol with every baseline, and whole recordings."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from pairup.assignment import assign
from pairup.matchers import KSHSIC, KSNOCCO, LSOM
from pairup.matching import match
from pairup.metrics import log_spectral_distance, mel_cepstral_distortion, pitch_error
from pairup.regression import MatchedRegressor
from pairup.types import Array, Indices
from pairup.voice.alignment import align
from pairup.voice.audio import Recording, Recordings, read_recordings
from pairup.voice.converter import VoiceConverter
from pairup.voice.frames import Frames, Framing, mel_cepstrum
from pairup.voice.lsf import envelope, lpc_from_lsf, repair_lsf
from pairup.voice.pairing import pair_frames, partners, similarity
from pairup.voice.synthesis import pitch

PAPERS_RATE = 44100
Setting = Literal["shuffled", "disjoint"]
Conversion = Callable[[Array], Array]


@dataclass(frozen=True)
class ParallelFrames:
    """Frames of two voices that say the same sentences, and which frame is whose partner.

    Parameters
    ----------
    X, Y : array of shape (n, order) and (m, order)
        Line spectral frequencies of the source and the target, without silence.
    partner : array of shape (n,)
        Row of Y that dynamic time warping pairs with each row of X.
    sentence_x, sentence_y : array of shape (n,) and (m,)
        Which sentence each frame is from.
    rate : int
        Samples per second.
    """

    X: Array
    Y: Array
    partner: Indices
    sentence_x: Indices
    sentence_y: Indices
    rate: int


def parallel_frames(source: Recordings, target: Recordings, *, rate: int | None = None) -> ParallelFrames:
    """Cut two voices into frames and pair them by dynamic time warping.

    Recordings of the same sentence are known by the same file name. The warping compares mel cepstra that are z-scored
    within each recording; a frame that meets several takes the nearest.

    Parameters
    ----------
    source, target : files, folders or Recording objects
        The same sentences by both speakers.
    rate : int, optional
        Samples per second to work at; by default the paper's 44100, or the lowest among the recordings if less.
    """
    pairs = same_sentences(source, target)
    rates = {recording.rate for pair in pairs for recording in pair}
    framing = Framing.at(rate or min(*rates, PAPERS_RATE))
    x_parts, y_parts, found = [], [], []
    for spoken in pairs:
        x, y = (_speech(framing(recording)) for recording in spoken)
        found.append(_nearest_on_path(_z_score(x.mel_cepstrum), _z_score(y.mel_cepstrum)))
        x_parts.append(x)
        y_parts.append(y)
    lengths = np.array([len(part) for part in y_parts])
    offsets = np.cumsum(lengths) - lengths
    return ParallelFrames(
        X=Frames.concatenate(x_parts).lsf,
        Y=Frames.concatenate(y_parts).lsf,
        partner=np.concatenate([rows + offset for rows, offset in zip(found, offsets, strict=True)]),
        sentence_x=np.repeat(np.arange(len(pairs)), [len(part) for part in x_parts]),
        sentence_y=np.repeat(np.arange(len(pairs)), lengths),
        rate=framing.rate,
    )


def same_sentences(source: Recordings, target: Recordings) -> list[tuple[Recording, Recording]]:
    """Return the recordings whose file name both speakers have, pair by pair; warn of those left over."""
    (sources, skipped_x), (targets, skipped_y) = read_recordings(source), read_recordings(target)
    by_name = {Path(recording.name).stem: recording for recording in targets}
    pairs = [(x, by_name[Path(x.name).stem]) for x in sources if Path(x.name).stem in by_name]
    if not pairs:
        raise ValueError(
            "the two voices share no sentence: scoring needs recordings of the same words by both, "
            "under the same file names in two folders"
        )
    left_over = len(sources) + len(targets) - 2 * len(pairs)
    skipped = skipped_x + skipped_y
    if left_over or skipped:
        warnings.warn(
            f"{len(pairs)} sentences are scored; {left_over} recordings have no counterpart of the same name"
            f"{''.join('; skipped: ' + reason for reason in skipped)}",
            stacklevel=3,
        )
    return pairs


@dataclass(frozen=True)
class Split:
    """One draw of the protocol: n frames of each voice to learn from, other sentences to test on.

    Parameters
    ----------
    X, Y : array of shape (n, order)
        Training frames, unpaired.
    oracle : array of shape (n, order)
        True partners of X.
    test_X, test_Y : array of shape (k, order)
        True pairs of other sentences.
    rate : int
        Samples per second.
    """

    X: Array
    Y: Array
    oracle: Array
    test_X: Array
    test_Y: Array
    rate: int

    def lsd(self, convert: Conversion) -> float:
        """Return the log-spectral distance on the test frames: envelopes of gain 1, full band, 257 bins."""
        P, Q = (envelope(lpc_from_lsf(lsf)) for lsf in (self.test_Y, repair_lsf(convert(self.test_X))))
        return log_spectral_distance(P, Q)


def draw_split(
    frames: ParallelFrames, n: int, *, setting: Setting = "shuffled", test: int = 8000, random_state: Any = 0
) -> Split:
    """Draw one half of the sentences to learn from, and at most `test` frames of the other half to test on.

    In the setting "shuffled", the paper's, Y holds the true partners of X in random order. In the setting "disjoint"
    X and Y come from different sentences, so that hardly any frame has a true partner.
    """
    rng = np.random.default_rng(random_state)
    sentences = rng.permutation(frames.sentence_x[-1] + 1)
    half, quarter = len(sentences) // 2, len(sentences) // 4
    tested = rng.permutation(np.flatnonzero(np.isin(frames.sentence_x, sentences[half:])))[:test]
    if setting == "shuffled":
        x = rng.permutation(np.flatnonzero(np.isin(frames.sentence_x, sentences[:half])))[:n]
        y = rng.permutation(frames.partner[x])
    elif setting == "disjoint":
        x = rng.permutation(np.flatnonzero(np.isin(frames.sentence_x, sentences[:quarter])))[:n]
        y = rng.permutation(np.flatnonzero(np.isin(frames.sentence_y, sentences[quarter:half])))[:n]
    else:
        raise ValueError(f"setting must be 'shuffled' or 'disjoint', got {setting!r}")
    if min(len(x), len(y)) < n:
        raise ValueError(
            f"{n} training frames were asked for, and half of the recordings hold only {min(len(x), len(y))}; "
            f"give more recordings or a smaller number"
        )
    return Split(
        X=frames.X[x],
        Y=frames.Y[y],
        oracle=frames.Y[frames.partner[x]],
        test_X=frames.X[tested],
        test_Y=frames.Y[frames.partner[tested]],
        rate=frames.rate,
    )


def _learn(X: Array, Y: Array) -> Conversion:
    convert: Conversion = MatchedRegressor().fit(X, Y).predict
    return convert


def _mean_variance(split: Split) -> Conversion:
    X, Y = split.X, split.Y
    return lambda lsf: (lsf - X.mean(axis=0)) / X.std(axis=0) * Y.std(axis=0) + Y.mean(axis=0)


def _z_score_assignment(split: Split) -> Conversion:
    profit = -cdist(_z_score(split.X), _z_score(split.Y), "sqeuclidean")
    return _learn(split.X, split.Y[assign(profit)])


def inca(X: Array, Y: Array, *, start: Array | None = None, max_iter: int = 30) -> Conversion:
    """Pair by INCA (Erro, Moreno, Bonafonte 2010): nearest neighbours both ways, conversion, and again.

    The source frames, or `start`, look for their nearest target frames and the target frames for theirs; all these
    pairs train a conversion; the converted source frames look anew, until the pairs stay. The conversion is the same
    regression that every other method gets.
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


def _cepstra(split: Split) -> tuple[Array, Array]:
    U, V = (mel_cepstrum(envelope(lpc_from_lsf(lsf)), split.rate) for lsf in (split.X, split.Y))
    return U, V


def _match_with_prior(split: Split) -> Conversion:
    return _learn(split.X, split.Y[match(split.X, split.Y, prior=similarity(*_cepstra(split))).indices])


def _expected_partners(split: Split) -> Conversion:
    return _learn(split.X, partners(split.Y, pair_frames(*_cepstra(split))))


METHODS: dict[str, Callable[[Split], Conversion]] = {
    "identity": lambda split: lambda lsf: lsf,
    "mean-variance": _mean_variance,
    "random": lambda split: _learn(split.X, split.Y),
    "z-score": _z_score_assignment,
    "inca": lambda split: inca(split.X, split.Y),
    "inca-z": lambda split: inca(split.X, split.Y, start=_mean_variance(split)(split.X)),
    "ks-hsic": lambda split: _learn(split.X, split.Y[KSHSIC().fit_predict(split.X, split.Y)]),
    "ks-nocco": lambda split: _learn(split.X, split.Y[KSNOCCO().fit_predict(split.X, split.Y)]),
    "lsom": lambda split: _learn(split.X, split.Y[LSOM().fit_predict(split.X, split.Y)]),
    "match": _match_with_prior,
    "default": _expected_partners,
    "oracle": lambda split: _learn(split.X, split.oracle),
}
"""From a split to a conversion of line spectral frequencies; only "oracle" looks at the true partners."""


def score_frames(
    frames: ParallelFrames,
    *,
    train: Sequence[int] = (50, 100, 200),
    splits: int = 20,
    methods: Iterable[str] = tuple(METHODS),
    setting: Setting = "shuffled",
    test: int = 8000,
    random_state: int = 0,
) -> Iterator[dict[str, Any]]:
    """Yield {setting, method, n, split, lsd} for every method, number of training frames and random split.

    Parameters
    ----------
    frames : ParallelFrames
        Both voices.
    train : sequence of int
        Numbers of training frames.
    splits : int
        Number of random splits; all methods see the same.
    methods : iterable of str
        Names of METHODS.
    setting : "shuffled" or "disjoint"
        Whether the training frames of the two voices come from the same sentences.
    test : int
        The largest number of test frames.
    random_state : int
        Draws the splits.
    """
    chosen = list(methods)
    if unknown := set(chosen) - METHODS.keys():
        raise ValueError(f"unknown methods: {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    for n in train:
        for number in range(splits):
            split = draw_split(frames, n, setting=setting, test=test, random_state=[random_state, number])
            for method in chosen:
                lsd = split.lsd(METHODS[method](split))
                yield {"setting": setting, "method": method, "n": n, "split": number, "lsd": lsd}


def summarize(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean, standard deviation and largest value of the LSD for each setting, n and method.

    >>> summarize([{"setting": "shuffled", "method": "inca", "n": 50, "split": k, "lsd": 4.0 + k} for k in (0, 2)])
    [{'setting': 'shuffled', 'n': 50, 'method': 'inca', 'splits': 2, 'mean': 5.0, 'std': 1.0, 'worst': 6.0}]
    """
    groups: dict[tuple[str, int, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row["setting"], row["n"], row["method"]), []).append(row["lsd"])
    return [
        {
            "setting": setting,
            "n": n,
            "method": method,
            "splits": len(values),
            "mean": float(np.mean(values)),
            "std": float(np.std(values)),
            "worst": max(values),
        }
        for (setting, n, method), values in groups.items()
    ]


def score_voice(
    voice: VoiceConverter,
    source: Recordings,
    target: Recordings,
    *,
    synthesis: Literal["world", "residual"] = "world",
) -> Iterator[dict[str, Any]]:
    """Yield {name, mcd_before, mcd, pitch_before, pitch} for each sentence that both speakers recorded.

    Before and after conversion: mel-cepstral distortion to the target in dB and pitch error in cents, both along the
    time warping of the speech frames. The converted sound is analysed anew, so that the synthesis counts too.
    """
    for spoken, wanted in same_sentences(source, target):
        converted = voice.convert(spoken, synthesis=synthesis)
        row: dict[str, Any] = {"name": Path(spoken.name).stem}
        for suffix, recording in (("_before", spoken), ("", converted)):
            mcd, cents = compare(recording, wanted, voice.framing_)
            row |= {f"mcd{suffix}": mcd, f"pitch{suffix}": cents}
        yield row


def compare(recording: Recording, wanted: Recording, framing: Framing) -> tuple[float, float]:
    """Return mel-cepstral distortion (dB) and pitch error (cents) of a recording along its warping to another."""
    cepstra, pitches = [], []
    for each in (recording, wanted):
        frames, f0 = framing(each), pitch(each, framing)
        n = min(len(frames), len(f0))
        speech = frames[:n].is_speech
        cepstra.append(frames[:n][speech].mel_cepstrum)
        pitches.append(f0[:n][speech])
    i, j = align(*cepstra).T
    return mel_cepstral_distortion(cepstra[0][i], cepstra[1][j]), pitch_error(pitches[0][i], pitches[1][j])


def _speech(frames: Frames) -> Frames:
    return frames[frames.is_speech]


def _z_score(C: Array) -> Array:
    scaled: Array = (C - C.mean(axis=0)) / C.std(axis=0)
    return scaled


def _nearest_on_path(U: Array, V: Array) -> Indices:
    path = align(U, V)
    cost = np.linalg.norm(U[path[:, 0]] - V[path[:, 1]], axis=1)
    dearest_first = path[np.argsort(-cost, kind="stable")]
    partner = np.empty(len(U), dtype=np.intp)
    partner[dearest_first[:, 0]] = dearest_first[:, 1]  # of several, the last written stays: the nearest
    return partner
