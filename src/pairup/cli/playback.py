"""Playing a sound file, where the system has a player."""

import shutil
import subprocess
import sys
from pathlib import Path

PLAYERS = (
    ("afplay",),  # macOS
    ("paplay",), ("pw-play",), ("aplay", "-q"),  # Linux
    ("ffplay", "-nodisp", "-autoexit", "-loglevel", "error"),
    ("play", "-q"),
)  # fmt: skip
LONGEST = 60  # seconds that a player may take


def find_player() -> list[str] | None:
    """Return the command that plays a sound file, or None where there is none."""
    if sys.platform == "win32":
        code = "import sys, winsound; winsound.PlaySound(sys.argv[1], winsound.SND_FILENAME)"
        return [sys.executable, "-c", code]
    return next(([*player] for player in PLAYERS if shutil.which(player[0])), None)


def play(path: Path) -> bool:
    """Play a sound file and wait for its end; False where it could not be played."""
    player = find_player()
    if player is None:
        return False
    try:
        done = subprocess.run([*player, str(path.absolute())], timeout=LONGEST, check=False, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
