"""
Voices: how much speech is enough?
==================================

You want one speaker's recordings in the voice of another, who never said the same sentences. At the end of this
page you know how much to record, and whether the result is good enough for your purpose.
"""

import base64
import io

import soundfile

from pairup.datasets import make_voices
from pairup.voice import VoiceConverter
from pairup.voice.plots import LearningCurveDisplay
from pairup.voice.score import score_frames, summarize
from pairup.voice.splits import align_recordings

# %%
# The data
# --------
# Two synthetic speakers, so that this page needs no files; ``read_recordings("anna/")`` reads your own. The
# second has a shorter vocal tract and a higher pitch.

voices = make_voices(n_words=30, pitches=(105.0, 200.0), tract=0.8)
print(f"{sum(each.duration for each in voices.source):.0f} s of speech of each")

# %%
# What to expect: score before you train
# --------------------------------------
# If you have some sentences that both speakers said, they tell how good the conversion can be. Frames are
# drawn, their order is forgotten, and each method learns from them. The log-spectral distance is measured on
# other frames, in dB; less is better. "identity" does not convert, "oracle" knows the true pairs: no pairing
# can beat it.

frames = align_recordings(*voices)
methods = ["identity", "inca", "auto", "oracle"]
rows = list(
    score_frames(
        frames, train=[25, 50, 100, 200], splits=3, methods=methods, test=800
    )
)
curve = LearningCurveDisplay(rows=rows).plot()

# %%
# The same as numbers.

table = {(line["method"], line["n"]): line["mean"] for line in summarize(rows)}
for method in methods:
    print(
        f"{method:9}"
        + "".join(f"{table[method, n]:7.2f}" for n in (25, 50, 100, 200))
    )
gain = [table["identity", n] - table["auto", n] for n in (25, 50, 100, 200)]
print(f"gained over no conversion: {', '.join(f'{each:.2f}' for each in gain)} dB")

# %%
# Train on different words
# ------------------------
# Now as in real use: the two training sets have no word in common, and the test word is in neither.

converter = VoiceConverter(n_frames=300).fit(
    voices.source[:12], voices.target[12:24]
)
converted = converter.convert(voices.source[26])


class Player:
    """Recordings as an HTML page shows them."""

    def __init__(self, recordings):
        self.recordings = recordings

    def _repr_html_(self):
        return "".join(
            f"<p>{name}<br>{self.play(each)}</p>"
            for name, each in self.recordings.items()
        )

    @staticmethod
    def play(recording):
        buffer = io.BytesIO()
        soundfile.write(buffer, recording.signal, recording.rate, format="FLAC")
        sound = base64.b64encode(buffer.getvalue()).decode()
        return f'<audio controls src="data:audio/flac;base64,{sound}"></audio>'


Player(
    {
        "the source": voices.source[26],
        "converted": converted,
        "the target, for comparison": voices.target[26],
    }
)

# %%
# The decision
# ------------
# "auto" is nearly flat from the first point on, while "oracle" goes on falling: with more frames of different
# words the regression could do better, but the pairs do not get more exact. So do not record more of the same.
# If what you hear is good enough, stop at some ten seconds; if not, let both speakers read a few of the same
# sentences, for that is what lies between the two curves. On the command line: ``pairup voice score anna/
# ben/``, then ``pairup voice train anna/ ben/ -o ben.npz --listen``.
