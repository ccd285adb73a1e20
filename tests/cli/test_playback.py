import sys

import pytest

from pairup.cli import playback


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has a player of its own")
def test_the_first_player_on_the_path_plays_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert playback.find_player() is None
    assert not playback.play(tmp_path / "a.wav")
    player = tmp_path / "aplay"
    player.write_text('#!/bin/sh\nprintf "%s" "$2" > "$(/usr/bin/dirname "$0")/heard"\n')
    player.chmod(0o755)
    assert playback.find_player() == ["aplay", "-q"]
    assert playback.play(tmp_path / "a.wav")
    assert (tmp_path / "heard").read_text() == str(tmp_path / "a.wav")
    player.write_text("#!/bin/sh\nexit 1\n")
    assert not playback.play(tmp_path / "a.wav")
