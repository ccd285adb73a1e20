"""
One voice becomes another
=========================

Two synthetic speakers, who say different words. From some seconds of each, frames of the two are paired up, and
a regression on the pairs turns the first voice into the second. Listen to it.
"""

import base64
import io

import soundfile

from pairup.datasets import make_voices
from pairup.voice import VoiceConverter
from pairup.voice.plots import SpectrogramDisplay

voices = make_voices(n_words=24, pitches=(105.0, 200.0), tract=0.8)
converter = VoiceConverter(n_frames=300).fit(
    voices.source[:10], voices.target[10:20]
)  # no word in common
word = 22
converted = converter.convert(voices.source[word])


class Player:
    """A recording as an HTML page shows it."""

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
        data = base64.b64encode(buffer.getvalue()).decode()
        return f'<audio controls src="data:audio/flac;base64,{data}"></audio>'


# %%
# A word that neither training set contains: the first speaker, the same converted, and the second speaker
# saying it.

recordings = {
    "first speaker": voices.source[word],
    "converted": converted,
    "second speaker, whom the program never heard say it": voices.target[word],
}
Player(recordings)

# %%
# The dark bands are resonances of the vocal tract. Those of the converted word lie where the second speaker has
# them.

named = dict(
    zip(("first", "converted", "second"), recordings.values(), strict=True)
)
spectrograms = SpectrogramDisplay(recordings=named).plot()
