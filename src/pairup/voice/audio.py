"""Recordings in and out: any format libsndfile knows, as mono float64."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from pairup.extras import require
from pairup.files import check_writable, replace_file
from pairup.methods import SOUND_SUFFIXES
from pairup.types import Array

LOWEST_RATE = 8000  # samples per second: that of the telephone


class DamagedRecording(ValueError):
    """A sound file that cannot be decoded, is silent, or holds samples that are not finite."""


@dataclass(frozen=True)
class Recording:
    """One channel of sound.

    Parameters
    ----------
    signal : ndarray of shape (n,)
        Samples, full scale at ±1.
    rate : int
        Samples per second, at least 8000.
    name : str, default "the recording"
        What the recording is called in messages.

    Examples
    --------
    >>> tone = Recording(np.sin(np.arange(16000.0)), rate=16000)
    >>> tone.duration, tone.resample(8000).rate
    (1.0, 8000)
    """

    signal: Array
    rate: int
    name: str = "the recording"

    def __post_init__(self) -> None:
        signal = np.asarray(self.signal, dtype=np.float64)
        if signal.ndim != 1 or not np.isfinite(signal).all():
            raise ValueError(
                f"a recording must be a vector of finite samples; {self.name} has shape {signal.shape}"
                f"{'' if signal.ndim != 1 else ' and samples that are infinite or not a number'}"
            )
        if self.rate < LOWEST_RATE:
            raise ValueError(f"{self.name} has {self.rate} samples per second; speech needs at least {LOWEST_RATE}")
        object.__setattr__(self, "signal", signal)

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self.signal) / self.rate

    def resample(self, rate: int) -> "Recording":
        """Return the same sound at another rate, by polyphase filtering.

        Parameters
        ----------
        rate : int
            Samples per second of the result.

        Returns
        -------
        recording : Recording
            A new recording of the same name; this one itself if the rate is its own.
        """
        if rate == self.rate:
            return self
        from scipy.signal import resample_poly

        common = np.gcd(rate, self.rate)
        signal = resample_poly(self.signal, rate // common, self.rate // common)
        return Recording(signal, rate, self.name)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the recording to a sound file; peaks beyond full scale are scaled down to it.

        Parameters
        ----------
        path : str or path
            File to write, completely or not at all. Its suffix chooses the format, such as .wav or .mp3.
        """
        soundfile = require("soundfile", extra="voice")
        with replace_file(check_sound_path(path)) as temporary:
            try:
                soundfile.write(temporary, self.signal / max(1.0, np.abs(self.signal).max(initial=0.0)), self.rate)
            except soundfile.LibsndfileError as error:  # a full disk, for instance
                raise OSError(f"cannot write {path}: {error}; is the disk full?") from error


Recordings: TypeAlias = "str | PathLike[str] | Recording | Iterable[str | PathLike[str] | Recording]"


def check_sound_path(path: str | PathLike[str]) -> Path:
    """Check, before any work starts, that sound can be written to a path.

    Parameters
    ----------
    path : str or path
        File to write.

    Returns
    -------
    path : Path
        The same path. If it cannot be written, an error says why.
    """
    path = Path(path)
    if path.suffix.lower() not in SOUND_SUFFIXES:
        raise ValueError(f"cannot write {path}: its name must end in one of {' '.join(SOUND_SUFFIXES)}")
    return check_writable(path)


def read_recording(path: str | PathLike[str]) -> Recording:
    """Read one sound file; several channels are averaged.

    A file that cannot be decoded or is silent raises `DamagedRecording`. A clipped file gives a warning, because
    clipping distorts the spectrum.

    Parameters
    ----------
    path : str or path
        File in any format that libsndfile reads: wav, flac, ogg, mp3, aiff and more.

    Returns
    -------
    recording : Recording
        Its name is the path.
    """
    soundfile = require("soundfile", extra="voice")
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no recording {path}")
    try:
        signal, rate = soundfile.read(path, dtype="float64", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise DamagedRecording(f"{path} cannot be read as sound: {error.error_string}") from error
    if not np.isfinite(signal).all():
        raise DamagedRecording(f"{path} holds samples that are infinite or not a number")
    peak = np.abs(signal).max(initial=0.0)
    if peak < 1e-4:  # 80 dB below full scale there is no speech
        raise DamagedRecording(f"{path} is {'empty' if len(signal) == 0 else 'silent'}")
    clipped = np.mean(np.abs(signal) >= 0.99)
    if clipped > 0.001:
        warnings.warn(
            f"{path} looks clipped: {clipped:.1%} of its samples are at full scale; record it at a lower level",
            stacklevel=2,
        )
    return Recording(signal.mean(axis=1), int(rate), str(path))


def read_recordings(source: Recordings) -> tuple[list[Recording], list[str]]:
    """Read the sound files of a list of files and folders; damaged files are skipped.

    Parameters
    ----------
    source : str, path or Recording, or an iterable of them
        A folder means all sound files below it, sorted by name.

    Returns
    -------
    recordings : list of Recording
        At least one; if none can be read, a ValueError says why.
    skipped : list of str
        One message per damaged file: its path and the reason.
    """
    entries = [source] if isinstance(source, str | PathLike | Recording) else list(source)
    recordings, skipped = [], []
    for entry in entries:
        if isinstance(entry, Recording):
            recordings.append(entry)
            continue
        for path in _list_sound_files(Path(entry)):
            try:
                recordings.append(read_recording(path))
            except DamagedRecording as error:
                skipped.append(str(error))
    if not recordings:
        reasons = "; ".join(skipped[:3]) or "nothing was given"
        raise ValueError(f"no recording could be read: {reasons}")
    return recordings, skipped


def _list_sound_files(path: Path) -> list[Path]:
    """Return the sound files below a folder, or the file itself."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in SOUND_SUFFIXES and file.is_file())
    if not found:
        raise ValueError(f"the folder {path} holds no sound files; expected one of {' '.join(SOUND_SUFFIXES)}")
    return found
