"""The paper's protocol for voices: frames of two speakers with known partners, and random splits of them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from pairup.components import standardize
from pairup.metrics import log_spectral_distance
from pairup.types import Array, Indices
from pairup.voice.alignment import align
from pairup.voice.audio import Recording, Recordings, read_recordings
from pairup.voice.frames import Frames, Framing
from pairup.voice.lsf import envelope, lpc_from_lsf, repair_lsf

PAPERS_RATE = 44100
Setting = Literal["shuffled", "disjoint"]
Conversion = Callable[[Array], Array]
"""From line spectral frequencies of the source to those of the target."""


@dataclass(frozen=True)
class ParallelFrames:
    """Frames of two voices that say the same sentences, and the true partner of each frame.

    Parameters
    ----------
    X, Y : ndarray of shape (n, order) and (m, order)
        Line spectral frequencies of the source and the target, without silence.
    partner : ndarray of int of shape (n,)
        Row of Y that dynamic time warping pairs with each row of X.
    sentence_x, sentence_y : ndarray of int of shape (n,) and (m,)
        Number of the sentence that each frame is from.
    rate : int
        Samples per second.
    """

    X: Array
    Y: Array
    partner: Indices
    sentence_x: Indices
    sentence_y: Indices
    rate: int


def align_recordings(source: Recordings, target: Recordings, *, rate: int | None = None) -> ParallelFrames:
    """Cut two voices into frames and pair the frames by dynamic time warping.

    Recordings with the same file name are the same sentence. The warping compares mel cepstra that are z-scored within
    each recording; a frame that is aligned with several takes the nearest of them.

    Parameters
    ----------
    source, target : str, path or Recording, or an iterable of them
        The same sentences by both speakers: files, folders or Recording objects.
    rate : int, optional
        Samples per second to work at; by default the paper's 44100, or the lowest rate of the recordings if less.

    Returns
    -------
    frames : ParallelFrames
        All frames of speech of the sentences that both have.

    Examples
    --------
    >>> from pairup.voice.synthetic import make_voices
    >>> frames = align_recordings(*make_voices(n_words=2))
    >>> len(frames.partner) == len(frames.X), frames.rate
    (True, 16000)
    """
    pairs = pair_sentences(source, target)
    rates = {recording.rate for pair in pairs for recording in pair}
    framing = Framing.at(rate or min(*rates, PAPERS_RATE))
    x_parts, y_parts, found = [], [], []
    for spoken in pairs:
        x, y = (framing(recording).speech for recording in spoken)
        found.append(_find_nearest_on_path(standardize(x.mel_cepstrum), standardize(y.mel_cepstrum)))
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


def pair_sentences(source: Recordings, target: Recordings) -> list[tuple[Recording, Recording]]:
    """Pair the recordings of two speakers that have the same file name.

    Parameters
    ----------
    source, target : str, path or Recording, or an iterable of them
        Recordings of each speaker.

    Returns
    -------
    pairs : list of (Recording, Recording)
        The same sentence by source and target. A warning tells of recordings without a counterpart.
    """
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
    """One random split of the protocol: n frames of each voice to learn from, other sentences to test on.

    Parameters
    ----------
    X, Y : ndarray of shape (n, order)
        Training frames, unpaired.
    oracle : ndarray of shape (n, order)
        True partners of X.
    test_X, test_Y : ndarray of shape (k, order)
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
        """Return the log-spectral distance of a conversion on the test frames.

        Parameters
        ----------
        convert : callable
            From line spectral frequencies of the source to those of the target.

        Returns
        -------
        lsd : float
            Mean distance in dB; envelopes of gain 1, full band, 257 bins.
        """
        P, Q = (envelope(lpc_from_lsf(lsf)) for lsf in (self.test_Y, repair_lsf(convert(self.test_X))))
        return log_spectral_distance(P, Q)


def draw_split(
    frames: ParallelFrames,
    n: int,
    *,
    setting: Setting = "shuffled",
    test: int = 8000,
    random_state: int | Sequence[int] = 0,
) -> Split:
    """Draw one half of the sentences to learn from, and test frames from the other half.

    In the setting "shuffled", the paper's, Y holds the true partners of X in random order. In the setting "disjoint"
    X and Y come from different sentences, so that hardly any frame has a true partner.

    Parameters
    ----------
    frames : ParallelFrames
        Both voices.
    n : int
        Number of training frames of each voice.
    setting : {"shuffled", "disjoint"}, default "shuffled"
        Whether the training frames of the two voices come from the same sentences.
    test : int, default 8000
        Largest number of test frames.
    random_state : int or sequence of int, default 0
        Seed of the split.

    Returns
    -------
    split : Split
        Training and test frames.
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
            f"{n} training frames were asked for, but only {min(len(x), len(y))} are available; "
            "give more recordings or a smaller number"
        )
    return Split(
        X=frames.X[x],
        Y=frames.Y[y],
        oracle=frames.Y[frames.partner[x]],
        test_X=frames.X[tested],
        test_Y=frames.Y[frames.partner[tested]],
        rate=frames.rate,
    )


def _find_nearest_on_path(U: Array, V: Array) -> Indices:
    """Return for each row of U the nearest of the rows of V that time warping aligns with it."""
    path = align(U, V)
    cost = np.linalg.norm(U[path[:, 0]] - V[path[:, 1]], axis=1)
    dearest_first = path[np.argsort(-cost, kind="stable")]
    partner = np.empty(len(U), dtype=np.intp)
    partner[dearest_first[:, 0]] = dearest_first[:, 1]  # of several, the last written stays: the nearest
    return partner
