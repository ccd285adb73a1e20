"""Plots of conversions, as Display objects: construct one, call `plot`, find the artists in its attributes."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from pairup.extras import require
from pairup.plots import Display
from pairup.types import Array
from pairup.voice.audio import Recording
from pairup.voice.lsf import envelope, lpc_from_lsf
from pairup.voice.score import summarize


class EnvelopeDisplay(Display):
    """Spectral envelopes of one frame: the target's, the source's and the estimated one, as in figure 4 of the paper.

    Parameters
    ----------
    lsf : mapping of str to ndarray of shape (order,)
        Line spectral frequencies by name; the first is drawn thick, as the truth.
    rate : int
        Samples per second.

    Attributes
    ----------
    lines_ : list of Line2D
        One line per name.
    ax_, figure_ : Axes, Figure
        What was drawn on.

    Examples
    --------
    >>> frames = {"target": np.array([0.5, 1.0]), "source": np.array([0.7, 1.3])}
    >>> display = EnvelopeDisplay(lsf=frames, rate=8000).plot()
    >>> [line.get_label() for line in display.lines_]
    ['target', 'source']
    """

    lines_: list[Any]

    def __init__(self, *, lsf: Mapping[str, Array], rate: int) -> None:
        self.lsf = dict(lsf)
        self.rate = rate

    def plot(self, ax: Any = None) -> Self:
        """Draw one line per name, in dB over kHz.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        self : EnvelopeDisplay
            With the attributes set.
        """
        ax = self._draw_on(ax)
        self.lines_ = []
        for number, (name, lsf) in enumerate(self.lsf.items()):
            power = envelope(lpc_from_lsf(lsf[None]))[0]
            kilohertz = np.linspace(0, self.rate / 2000, len(power))
            self.lines_ += ax.plot(kilohertz, 10 * np.log10(power), label=name, linewidth=1.2 if number else 2.5)
        ax.set(xlabel="frequency (kHz)", ylabel="envelope (dB)")
        ax.legend()
        return self


class LearningCurveDisplay(Display):
    """Log-spectral distance against the number of training frames, mean and standard deviation over splits.

    Parameters
    ----------
    rows : iterable of dict
        Rows of one setting, as `score_frames` yields them.

    Attributes
    ----------
    lines_ : list of Line2D
        One line per method.
    ax_, figure_ : Axes, Figure
        What was drawn on.

    Examples
    --------
    >>> rows = [{"setting": "shuffled", "method": "inca", "n": n, "split": k, "lsd": 5 - n / 100 + k}
    ...         for n in (50, 100) for k in (0, 1)]
    >>> LearningCurveDisplay(rows=rows).plot().lines_[0].get_ydata()
    array([5. , 4.5])
    """

    lines_: list[Any]

    def __init__(self, *, rows: Iterable[dict[str, Any]]) -> None:
        self.summary = summarize(rows)

    def plot(self, ax: Any = None) -> Self:
        """Draw one line with error bars per method.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.

        Returns
        -------
        self : LearningCurveDisplay
            With the attributes set.
        """
        ax = self._draw_on(ax)
        self.lines_ = []
        for method in dict.fromkeys(line["method"] for line in self.summary):
            points = sorted((line for line in self.summary if line["method"] == method), key=lambda line: line["n"])
            n, mean, std = (np.array([point[key] for point in points]) for key in ("n", "mean", "std"))
            self.lines_.append(ax.errorbar(n, mean, yerr=std, label=method, capsize=3, marker="o")[0])
        ax.set(xlabel="training frames", ylabel="log-spectral distance (dB)")
        ax.legend()
        return self


class SpectrogramDisplay(Display):
    """Spectrograms of recordings one below the other, such as before and after conversion.

    Parameters
    ----------
    recordings : mapping of str to Recording
        Recordings by title.

    Attributes
    ----------
    images_, axes_ : list of AxesImage, list of Axes
        One per recording.
    ax_, figure_ : Axes, Figure
        The first axes, and the figure.

    Examples
    --------
    >>> tone = Recording(np.sin(np.arange(16000.0)), 16000)
    >>> len(SpectrogramDisplay(recordings={"before": tone, "after": tone}).plot().images_)
    2
    """

    images_: list[Any]
    axes_: list[Any]

    def __init__(self, *, recordings: Mapping[str, Recording]) -> None:
        self.recordings = dict(recordings)

    def plot(self) -> Self:
        """Draw all recordings on a new figure, each with a colour scale of 70 dB.

        Returns
        -------
        self : SpectrogramDisplay
            With the attributes set.
        """
        pyplot = require("matplotlib.pyplot", extra="plot")
        n = len(self.recordings)
        self.figure_, axes = pyplot.subplots(n, sharex=True, squeeze=False, layout="constrained", figsize=(7, 2.5 * n))
        self.axes_ = list(axes[:, 0])
        self.images_ = []
        for ax, (title, recording) in zip(self.axes_, self.recordings.items(), strict=True):
            size = 1 << (recording.rate // 60).bit_length()
            *_, image = ax.specgram(recording.signal + 1e-9, NFFT=size, Fs=recording.rate, noverlap=size * 3 // 4)
            top = image.get_clim()[1]
            image.set_clim(top - 70, top)
            ax.set(title=title, ylabel="Hz")
            self.images_.append(image)
        self.axes_[-1].set_xlabel("seconds")
        self.ax_ = self.axes_[0]
        return self
