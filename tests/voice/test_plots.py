import numpy as np
import pytest

from pairup.voice.lsf import envelope, lpc_from_lsf
from pairup.voice.plots import EnvelopeDisplay, LearningCurveDisplay, SpectrogramDisplay

pytest.importorskip("matplotlib").use("Agg")


def test_envelopes_are_drawn_in_decibels_over_kilohertz(voices, converter):
    frames = converter.framing_(voices.source[0])
    lsf = frames[frames.is_speech].lsf[10]
    display = EnvelopeDisplay(lsf={"target": lsf, "estimated": converter.convert_lsf(lsf[None])[0]}, rate=16000).plot()
    x, y = display.lines_[0].get_data()
    assert x[-1] == 8
    np.testing.assert_allclose(y, 10 * np.log10(envelope(lpc_from_lsf(lsf[None]))[0]))
    assert display.ax_.get_legend_handles_labels()[1] == ["target", "estimated"]


def test_learning_curves_have_a_point_per_number_and_bars():
    rows = [
        {"setting": "shuffled", "method": method, "n": n, "split": k, "lsd": 5.0 - n / 100 + k}
        for method in ("inca", "auto")
        for n in (100, 50)
        for k in (-1, 1)
    ]
    display = LearningCurveDisplay(rows=rows).plot()
    assert [line.get_xdata().tolist() for line in display.lines_] == [[50, 100]] * 2
    assert display.lines_[0].get_ydata().tolist() == [4.5, 4.0]
    bars = display.ax_.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(bars[0][:, 1], [3.5, 5.5])


def test_spectrograms_share_time_and_show_the_loudest_tone(voices):
    display = SpectrogramDisplay(recordings={"before": voices.source[0], "after": voices.target[0]}).plot()
    assert [ax.get_title() for ax in display.axes_] == ["before", "after"]
    low, high = display.images_[0].get_clim()
    assert high - low == pytest.approx(70)
