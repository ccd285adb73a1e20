"""Unpaired voice conversion: learned from recordings in which two speakers say different sentences."""

import warnings
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, Self

import numpy as np
from scipy.ndimage import convolve1d
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import check_is_fitted

from pairup.archives import check_format, expect, open_archive
from pairup.files import check_writable, replace_file
from pairup.kernels import gaussian
from pairup.methods import SOUND_SUFFIXES
from pairup.parallel import pinned_blas
from pairup.regression import MatchedRegressor
from pairup.types import Array, Indices
from pairup.voice.audio import Recording, Recordings, check_sound_path, read_recording, read_recordings
from pairup.voice.frames import Frames, Framing, lpc_order
from pairup.voice.lsf import lpc_from_lsf, repair_lsf
from pairup.voice.pairing import Pairing, pair_frames, take_partners
from pairup.voice.synthesis import change_pitch, estimate_pitch, filter_residual

FORMAT = 1
SHORTEST_TRAINING = 0.5  # seconds of speech, below which no map can be learned
SHORTEST_INPUT = 0.1  # seconds, below which WORLD finds no pitch
HIGHEST_RATE = 48000
PASSES = 2  # overlapping frames keep a little of the old envelope: with WORLD the second pass gains 0.2 dB of MCD
SMOOTHED = 5  # frames that an envelope is averaged over; gains 0.1 dB of MCD on takes 15 to 17 of AudioMNIST
BLOCK = 16384  # frames mapped at once, 80 s of speech: the kernel of a long recording would fill the memory
TARGET_FRAMES = 3000  # many frames of the target cost little: the map is fitted to those of the source


@dataclass(frozen=True)
class VoiceStep:
    """What is being done now.

    Parameters
    ----------
    text : str
        In a few words.
    progress : float
        Share of the work that is behind, from 0 to 1.
    """

    text: str
    progress: float


def smooth(lsf: Array, places: Indices) -> Array:
    """Average each frame with its neighbours in time.

    The vocal tract moves slowly, but a regression frame by frame does not know that.

    Parameters
    ----------
    lsf : ndarray of shape (n, order)
        Line spectral frequencies; the average of ordered frequencies is ordered.
    places : ndarray of int of shape (n,)
        Number of each frame in the recording; frames are neighbours where these numbers are consecutive.

    Returns
    -------
    lsf : ndarray of shape (n, order)
        Weighted averages over five frames; runs of consecutive frames do not mix.

    Examples
    --------
    >>> smooth(np.array([[0.0], [1.0], [0.0], [9.0]]), np.array([4, 5, 6, 20])).round(2).T
    array([[0.25, 0.33, 0.25, 9.  ]])
    """
    window = np.hanning(SMOOTHED + 2)[1:-1]
    runs = np.split(lsf, np.flatnonzero(np.diff(places) > 1) + 1)
    smoothed: Array = np.concatenate([convolve1d(run, window / window.sum(), axis=0, mode="nearest") for run in runs])
    return smoothed


class VoiceConverter(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Convert one voice into another, learned from recordings of different sentences.

    Frames of the two voices are paired, the line spectral frequencies of the partner are regressed on the speaker's
    own by `MatchedRegressor`, and pitch is mapped in log mean and variance.

    Parameters
    ----------
    n_frames : int, default 1200
        How many frames of the source to learn from; if there are more, they are chosen to cover its sounds.
    matcher : callable, optional
        ``matcher(X, Y)`` pairs line spectral frequencies of equally many frames and returns indices or a soft plan;
        for instance ``KSHSIC().fit_predict``. By default each frame is paired with its expected partner under the
        soft plan of `pair_frames`.
    rate : int, optional
        Samples per second to work at; by default the lowest rate among the recordings, at most 48000.
    length : float, default 0.025
        Length of a frame in seconds.
    hop : float, default 0.005
        Time from one frame to the next in seconds.
    random_state : int, default 0
        Seed for the choice of frames, if there are too many, and for the folds of the regression.

    Attributes
    ----------
    framing_ : Framing
        How speech is cut and modelled.
    samples_ : ndarray of shape (n, order)
        Line spectral frequencies of the source's frames that were learned from.
    width_ : float
        Width of the Gaussian kernel k(x) around the samples.
    weights_ : ndarray of shape (n, order)
        W of the regression k(x)ᵀ W + mean.
    mean_ : ndarray of shape (order,)
        Mean of the regression.
    pitch_ : ndarray of shape (2, 2)
        Mean and standard deviation of log F0, of source and target.
    skipped_ : list of str
        Files that could not be read, and why.

    Examples
    --------
    >>> from pairup.datasets import make_voices
    >>> voices = make_voices(n_words=4)
    >>> converter = VoiceConverter(n_frames=100).fit(voices.source[:2], voices.target[2:])
    >>> converter.convert(voices.source[3]).rate
    16000
    """

    framing_: Framing
    samples_: Array
    width_: float
    weights_: Array
    mean_: Array
    pitch_: Array
    skipped_: list[str]

    def __init__(
        self,
        *,
        n_frames: int = 1200,
        matcher: Callable[[Array, Array], Pairing] | None = None,
        rate: int | None = None,
        length: float = 0.025,
        hop: float = 0.005,
        random_state: int = 0,
    ) -> None:
        self.n_frames = n_frames
        self.matcher = matcher
        self.rate = rate
        self.length = length
        self.hop = hop
        self.random_state = random_state

    def fit(self, source: Recordings, target: Recordings) -> Self:
        """Learn from recordings of the source and of the target.

        Parameters
        ----------
        source, target : str, path or Recording, or an iterable of them
            Recordings of each speaker: files, folders or Recording objects, of any rate.

        Returns
        -------
        self : VoiceConverter
            The fitted converter.
        """
        for _ in self.fit_steps(source, target):
            pass
        return self

    def fit_steps(self, source: Recordings, target: Recordings) -> Iterator[VoiceStep]:
        """Learn as `fit` does, step by step: to stop iterating is to cancel.

        Parameters
        ----------
        source, target : str, path or Recording, or an iterable of them
            Recordings of each speaker: files, folders or Recording objects, of any rate.

        Yields
        ------
        VoiceStep
            What comes next. The converter is fitted when the last step was taken, and as before if one was not.

        Examples
        --------
        >>> from pairup.datasets import make_voices
        >>> voices = make_voices(n_words=4)
        >>> converter = VoiceConverter(n_frames=100)
        >>> steps = [step.text for step in converter.fit_steps(voices.source[:2], voices.target[2:])]
        >>> steps[0], steps[-1]
        ('reading the recordings', 'measuring the pitch of the target, 2 of 2')
        """
        yield VoiceStep("reading the recordings", 0.0)
        (sources, skipped), (targets, also_skipped) = read_recordings(source), read_recordings(target)
        skipped += also_skipped
        if skipped:
            warnings.warn(f"skipped {len(skipped)} recordings: {'; '.join(skipped)}", stacklevel=3)
        rate = self.rate or _choose_rate(sources + targets)
        framing = Framing(rate=rate, order=lpc_order(rate), length=self.length, hop=self.hop)
        frames_x = yield from _cut_speech(sources, framing, "source", 0.01)
        frames_y = yield from _cut_speech(targets, framing, "target", 0.06)
        yield VoiceStep("choosing frames that cover the sounds", 0.12)
        if self.matcher is None:
            with pinned_blas():
                chosen_x, weights = self._choose_covering(frames_x, self.n_frames)
            draw = np.random.default_rng(self.random_state).permutation(len(frames_y))
            chosen_y = frames_y[draw[:TARGET_FRAMES]]
            yield VoiceStep(f"pairing {len(chosen_x)} frames with {len(chosen_y)}", 0.2)
            with pinned_blas():
                pairing: Pairing = pair_frames(chosen_x.mel_cepstrum, chosen_y.mel_cepstrum, weights=weights)
        else:
            n = min(self.n_frames, len(frames_x), len(frames_y))
            with pinned_blas():
                (chosen_x, _), (chosen_y, _) = self._choose_covering(frames_x, n), self._choose_covering(frames_y, n)
            yield VoiceStep(f"pairing {n} frames with {n}", 0.2)
            pairing = self.matcher(chosen_x.lsf, chosen_y.lsf)
        yield VoiceStep("learning the map from voice to voice", 0.4)
        model = MatchedRegressor(random_state=self.random_state)
        with pinned_blas():  # threads of BLAS gain nothing at this size, and lose minutes where others compute too
            model.fit(chosen_x.lsf, take_partners(chosen_y.lsf, pairing))
        pitch_x = yield from _measure_pitch(sources, framing, "source", 0.8)
        pitch_y = yield from _measure_pitch(targets, framing, "target", 0.9)
        self.framing_, self.samples_, self.width_ = framing, chosen_x.lsf, model.features_.width_
        self.weights_, self.mean_ = model.weights_, model.mean_
        self.pitch_, self.skipped_ = np.array([pitch_x, pitch_y]), skipped

    def convert(
        self,
        recording: str | PathLike[str] | Recording,
        output: str | PathLike[str] | None = None,
        *,
        synthesis: Literal["world", "residual"] = "world",
    ) -> Recording:
        """Convert a recording of the source to the target's voice.

        Parameters
        ----------
        recording : str, path or Recording
            What the source says, at least 0.1 s.
        output : str or path, optional
            File to save the result to; the suffix chooses the format.
        synthesis : {"world", "residual"}, default "world"
            "world" also converts the pitch, with the WORLD vocoder; "residual" keeps the source's pitch and breath.

        Returns
        -------
        recording : Recording
            As long, as loud and at the same rate as the input.
        """
        *_, result = self.convert_steps(recording, output, synthesis=synthesis)
        assert isinstance(result, Recording)
        return result

    def convert_steps(
        self,
        recording: str | PathLike[str] | Recording,
        output: str | PathLike[str] | None = None,
        *,
        synthesis: Literal["world", "residual"] = "world",
    ) -> Iterator[VoiceStep | Recording]:
        """Convert as `convert` does, step by step: to stop iterating is to cancel.

        Parameters
        ----------
        recording : str, path or Recording
            What the source says, at least 0.1 s.
        output : str or path, optional
            File to save the result to; the suffix chooses the format.
        synthesis : {"world", "residual"}, default "world"
            "world" also converts the pitch, with the WORLD vocoder; "residual" keeps the source's pitch and breath.

        Yields
        ------
        VoiceStep or Recording
            What comes next; the converted recording last.
        """
        check_is_fitted(self)
        if synthesis not in ("world", "residual"):
            raise ValueError(f"synthesis must be 'world' or 'residual', got {synthesis!r}")
        if output is not None:
            check_sound_path(output)
        if not isinstance(recording, Recording):
            recording = read_recording(recording)
        if recording.duration < SHORTEST_INPUT:
            raise ValueError(
                f"{recording.name} lasts {recording.duration:.3f} s; at least {SHORTEST_INPUT} s are needed"
            )
        if recording.rate != self.framing_.rate:
            warnings.warn(
                f"{recording.name} has {recording.rate} samples per second and the voice was trained at "
                f"{self.framing_.rate}; it is resampled, and the result is resampled back",
                stacklevel=3,
            )
        yield VoiceStep("converting the envelopes", 0.0)
        working = recording.resample(self.framing_.rate)
        frames = self.framing_(working)
        speech = frames.is_speech
        if not speech.any():
            raise ValueError(f"{recording.name} is silent; there is nothing to convert")
        lpc = lpc_from_lsf(smooth(self.convert_lsf(frames[speech].lsf), np.flatnonzero(speech)))
        converted = working
        if synthesis == "world":
            yield VoiceStep("finding the pitch", 0.2)
            f0 = estimate_pitch(working, self.framing_, careful=True)
            yield VoiceStep("changing the pitch", 0.55)
            converted = change_pitch(working, self.framing_, f0, self.convert_pitch(f0))
        for number in range(PASSES):
            yield VoiceStep(f"filtering, {number + 1} of {PASSES}", 0.8 + 0.1 * number)
            spoken = self.framing_(converted)
            wanted = spoken.lpc.copy()
            wanted[speech] = lpc
            converted = filter_residual(converted, spoken, wanted)
        signal = converted.resample(recording.rate).signal[: len(recording.signal)]
        result = Recording(signal, recording.rate, recording.name)
        if output is not None:
            result.save(output)
        yield result

    def convert_lsf(self, lsf: Array) -> Array:
        """Map line spectral frequencies of the source to those of the target.

        Parameters
        ----------
        lsf : ndarray of shape (k, order)
            Frames of the source.

        Returns
        -------
        lsf : ndarray of shape (k, order)
            Their images k(x)ᵀ W + mean, repaired so that every filter is stable.
        """
        blocks = np.split(lsf, range(BLOCK, len(lsf), BLOCK))
        with pinned_blas():
            mapped = [gaussian(block, self.samples_, width=self.width_) @ self.weights_ for block in blocks]
        return repair_lsf(np.concatenate(mapped) + self.mean_)

    def convert_pitch(self, f0: Array) -> Array:
        """Map F0 so that its logarithm has the target's mean and variance.

        Parameters
        ----------
        f0 : ndarray of shape (k,)
            Pitch of the source's frames in Hz, 0 where there is none.

        Returns
        -------
        f0 : ndarray of shape (k,)
            Pitch in the target's voice; 0 stays 0. Unchanged if no pitch was found in one of the voices.
        """
        (mean_x, std_x), (mean_y, std_y) = self.pitch_
        if not np.isfinite(self.pitch_).all():
            return f0
        voiced = f0 > 0
        mapped = np.zeros_like(f0)
        logs = (np.log(f0[voiced]) - mean_x) * (std_y / std_x) + mean_y
        # A monotonous source beside a lively target maps beyond all bounds; WORLD needs 1 Hz to half the rate.
        mapped[voiced] = np.exp(np.clip(logs, 0.0, np.log(self.framing_.rate / 2)))
        return mapped

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted converter.

        Parameters
        ----------
        path : str or path
            File to write, completely or not at all: an .npz without pickle.
        """
        check_is_fitted(self)
        with replace_file(check_voice_path(path)) as temporary, open(temporary, "wb") as file:
            np.savez(
                file,
                format=FORMAT,
                rate=self.framing_.rate,
                order=self.framing_.order,
                length=self.framing_.length,
                hop=self.framing_.hop,
                samples=self.samples_,
                width=self.width_,
                weights=self.weights_,
                mean=self.mean_,
                pitch=self.pitch_,
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "VoiceConverter":
        """Load a converter that `save` wrote.

        Parameters
        ----------
        path : str or path
            File to read.

        Returns
        -------
        voice : VoiceConverter
            Converts exactly as the one that was saved.
        """
        with open_archive(path, "a saved voice", "a file of VoiceConverter.save") as archive:

            def number(name: str, low: float = 0, high: float = 1e12) -> float:
                return float(archive.read_finite(name, low, high, ()))

            check_format(path, int(archive.read("format", "iu", ())), FORMAT)
            rate, order = int(number("rate")), int(number("order"))
            voice = cls()
            voice.framing_ = Framing(rate=rate, order=order, length=number("length"), hop=number("hop"))
            voice.samples_ = archive.read_finite("samples", 0, np.pi, (None, order))
            n = len(voice.samples_)
            expect(n > 0, "it has no samples")
            voice.width_ = number("width", 1e-9, 1e9)
            voice.weights_ = archive.read_finite("weights", -1e30, 1e30, (n, order))
            voice.mean_ = archive.read_finite("mean", 0, np.pi, (order,))
            voice.pitch_ = archive.read("pitch", "f", (2, 2))
            # NaN stands for a voice without pitch; mean and deviation of log F0 of any other lie within these.
            fine = np.isnan(voice.pitch_).all(axis=1) | (
                (np.abs(voice.pitch_[:, 0]) < 20) & (voice.pitch_[:, 1] >= 1e-3) & (voice.pitch_[:, 1] < 20)
            )
            expect(bool(fine.all()), f"pitch should hold mean and deviation of log F0, got {voice.pitch_.tolist()}")
        voice.skipped_ = []
        return voice

    def _choose_covering(self, frames: Frames, n: int) -> tuple[Frames, Array]:
        """Choose n frames far from each other, so that rare sounds are kept, and each one's share of the speech."""
        if len(frames) <= n:
            return frames, np.full(len(frames), 1 / len(frames))
        chosen = frames[kmeans_plusplus(frames.mel_cepstrum, n, random_state=self.random_state)[1]]
        _, nearest = KDTree(chosen.mel_cepstrum).query(frames.mel_cepstrum)
        return chosen, np.bincount(nearest, minlength=n) / len(frames)


def check_voice_path(path: str | PathLike[str]) -> Path:
    """Check, before any work starts, that a voice can be saved to a path.

    Parameters
    ----------
    path : str or path
        File to write.

    Returns
    -------
    path : Path
        The same path; a ValueError for the name of a sound file, an OSError where nothing can be written.

    Examples
    --------
    >>> check_voice_path("ben.wav")
    Traceback (most recent call last):
    ...
    ValueError: ben.wav is the name of a sound file, and a voice is no sound; save it as ben.npz
    """
    path = Path(path)
    if path.suffix.lower() in SOUND_SUFFIXES:
        raise ValueError(
            f"{path} is the name of a sound file, and a voice is no sound; save it as {path.with_suffix('.npz')}"
        )
    return check_writable(path)


def _cut_speech(
    recordings: list[Recording], framing: Framing, whose: str, progress: float
) -> Generator[VoiceStep, None, Frames]:
    """Return the frames of all recordings without silence, or refuse too few."""
    parts = []
    for number, recording in enumerate(recordings):
        done = progress + 0.05 * number / len(recordings)
        yield VoiceStep(f"cutting the {whose} into frames, {number + 1} of {len(recordings)}", done)
        parts.append(framing(recording).speech)
    speech = Frames.concatenate(parts)
    seconds = len(speech) * framing.step / framing.rate
    if seconds < SHORTEST_TRAINING:
        raise ValueError(
            f"the {whose} has {seconds:.2f} s of speech in {len(recordings)} recordings; at least "
            f"{SHORTEST_TRAINING} s are needed, ten seconds are recommended"
        )
    return speech


def _measure_pitch(
    recordings: list[Recording], framing: Framing, whose: str, progress: float
) -> Generator[VoiceStep, None, tuple[float, float]]:
    """Return mean and standard deviation of log F0, or NaN where hardly any frame has a pitch."""
    parts = []
    for number, recording in enumerate(recordings):
        done = progress + 0.1 * number / len(recordings)
        yield VoiceStep(f"measuring the pitch of the {whose}, {number + 1} of {len(recordings)}", done)
        parts.append(estimate_pitch(recording, framing))
    f0 = np.concatenate(parts)
    logs = np.log(f0[f0 > 0])
    if len(logs) < 0.05 * len(f0):  # in noise a pitch is found here and there
        warnings.warn(f"no pitch was found in the {whose}; pitch will not be converted", stacklevel=4)
        return np.nan, np.nan
    return float(logs.mean()), max(float(logs.std()), 1e-3)


def _choose_rate(recordings: list[Recording]) -> int:
    """Return the lowest rate of the recordings, at most 48000."""
    rates = sorted({recording.rate for recording in recordings})
    rate = min(rates[0], HIGHEST_RATE)
    if len(rates) > 1:
        warnings.warn(
            f"the recordings have different rates ({', '.join(map(str, rates))}): all are resampled to {rate}",
            stacklevel=4,
        )
    return rate
