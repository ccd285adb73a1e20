"""Unpaired voice conversion: from recordings of two speakers to a converted recording."""

from pairup.voice.audio import Recording, read_recording, read_recordings
from pairup.voice.converter import VoiceConverter

__all__ = ["Recording", "VoiceConverter", "read_recording", "read_recordings"]
