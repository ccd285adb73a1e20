"""Interruptions: every command stopped at a random moment, by Ctrl-C or for good, and what it leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cases import TIME_LIMIT, Case, Outcome

EARLIEST = 0.05  # seconds; before that, Python itself is starting
PATIENCE = 5.0  # seconds until processes of an ended command must have ended too
BEFORE = b"before\n"
PLACE: list[Path] = []  # the folder of the inputs
# Each command, the files it writes, and about how many seconds it takes. {in} is the folder of the inputs.
COMMANDS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("match {in}/x.csv {in}/y.csv --no-header -o pairs.csv --save pairs.npz --force", ("pairs.csv", "pairs.npz"), 3.0),
    ("album {in}/photos --force -o a.html -o a.png", ("a.html", "a.png"), 2.5),
    ("album {in}/photos --force --no-cache -o a.json -o a.csv", ("a.json", "a.csv"), 2.5),
    ("demo --tiles 60 --no-open --force -o demo", ("demo/album.html", "demo/album.png", "demo/demo.png"), 5.0),
    ("voice train {in}/source {in}/target --frames 200 -o v.npz --force", ("v.npz",), 3.0),
    ("voice convert {in}/v.npz {in}/source/0.wav -o out.wav --force", ("out.wav",), 3.0),
    ("voice score {in}/source {in}/target --splits 1 --train 50 --method match", (), 4.0),
    ("paper run toy --runs 2 --out paper", ("paper/rows.jsonl",), 4.0),
    ("paper run toy --runs 2 --out paper --processes --jobs 2", ("paper/rows.jsonl",), 6.0),
    ("paper report --force --out paper", ("paper/report.html", "paper/report.md", "paper/figure-1.svg"), 4.0),
    ("--help", (), 0.3),
)


def prepare_interruptions(folder: Path, voice: bytes) -> None:
    """Write the inputs of the commands."""
    from PIL import Image

    from pairup.voice.synthetic import make_voices

    rng = np.random.default_rng(1)
    rows = rng.gamma(2.0, size=(60, 3))
    np.savetxt(folder / "x.csv", rows, delimiter=",")
    np.savetxt(folder / "y.csv", rows[::-1] @ rng.normal(size=(3, 4)), delimiter=",")
    for name in ("photos", "source", "target"):
        (folder / name).mkdir()
    for k in range(60):
        colours = Image.fromarray(rng.integers(0, 256, size=(3, 4, 3), dtype=np.uint8))
        colours.resize((800, 600)).save(folder / "photos" / f"{k}.jpg")
    for name, voices in zip(("source", "target"), make_voices(), strict=True):
        for k in range(3):
            voices[k].save(folder / name / f"{k}.wav")
    (folder / "v.npz").write_bytes(voice)
    subprocess.run(
        [sys.executable, "-m", "pairup", "paper", "run", "toy", "--quick", "--runs", "1", "--out", folder / "paper"],
        check=True,
        capture_output=True,
    )
    PLACE[:] = [folder]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of the background ignores it, and so would its own


def attack_interruptions(case: Case) -> Outcome:
    """Stop a command at a random moment: odd cases by SIGKILL, even ones by SIGINT."""
    text, outputs, seconds = COMMANDS[case.number // 2 % len(COMMANDS)]
    arguments = text.replace("{in}", str(PLACE[0])).split()
    _write_outputs(case.folder, arguments, outputs)
    (case.folder / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "pairup", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=case.folder,
        env=os.environ | {"TMPDIR": str(case.folder / "tmp"), "PAIRUP_CACHE": str(case.folder / "cache")},
        start_new_session=True,
    )
    time.sleep(float(case.rng.uniform(EARLIEST, seconds)))
    is_killed, sent = case.number % 2 == 1, time.monotonic()
    if process.poll() is None:
        if is_killed:
            process.kill()
        elif case.rng.random() < 0.5:
            os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal: its processes get it too
        else:
            process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=TIME_LIMIT)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        list(_end_orphans(process.pid))
        process.communicate()
        return Outcome("hang", text)
    verdict, reason = _judge(process.returncode, said, is_killed)
    if verdict == "answered" and time.monotonic() - sent > PATIENCE:
        verdict = "deaf"
    orphans = list(_end_orphans(process.pid))
    if orphans:
        verdict, reason = "orphan", " ".join(orphans)
    broken = [name for name in outputs if not _is_whole(case.folder / name)]
    if broken:
        verdict, reason = "lost result", " ".join(broken)
    left = [] if is_killed else sorted(_leftovers(case.folder))
    if left:
        verdict, reason = "leftover", " ".join(left)
    return Outcome(verdict, f"pairup {text}: exit {process.returncode}: {reason}")


def _write_outputs(folder: Path, arguments: list[str], outputs: tuple[str, ...]) -> None:
    """Put files in the place of the outputs, as an earlier call would have left them."""
    for name in outputs:
        (folder / name).parent.mkdir(exist_ok=True)
        if not name.endswith(".jsonl"):  # rows are appended to those that are there
            (folder / name).write_bytes(BEFORE)
    if arguments[:2] == ["paper", "report"]:
        shutil.copy(PLACE[0] / "paper" / "rows.jsonl", folder / "paper")


def _judge(code: int, said: str, is_killed: bool) -> tuple[str, str]:
    """Say how the command ended."""
    if is_killed and code == -signal.SIGKILL:
        return "killed", said
    if "Traceback" in said:
        is_ours = f"{os.sep}pairup{os.sep}" in said
        return ("traceback" if is_ours or code != -signal.SIGINT else "at start"), said
    if code == 130:
        return ("interrupted" if said.strip() == "interrupted" else "chatter"), said
    return ("answered" if code == 0 else "crash"), said


def _end_orphans(session: int) -> Iterator[str]:
    """Wait until no process of a session is left; end those that stay, and yield what they are."""
    import psutil

    def members() -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (OSError, psutil.Error):
                pass
        return found

    deadline = time.monotonic() + PATIENCE
    while members() and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in members():
        yield " ".join(process.cmdline())[:200]
        process.kill()


def _leftovers(folder: Path) -> Iterator[str]:
    """Yield what should not be there: hidden files beside the outputs, and anything in the temporary folder."""
    for path in folder.rglob("*"):
        if path.name.startswith(".") or path.is_relative_to(folder / "tmp" / path.name):
            yield str(path.relative_to(folder))


def _is_whole(path: Path) -> bool:
    """Tell whether a file is as it was before, or complete."""
    if path.suffix == ".jsonl":  # a killed process may leave half a line, which the next run cuts off
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return all(isinstance(json.loads(line), dict) for line in lines)
    if not path.exists():
        return False
    content = path.read_bytes()
    return content == BEFORE or CHECKS[path.suffix](path, content)


def _is_picture(path: Path, content: bytes) -> bool:
    from PIL import Image

    with Image.open(path) as picture:
        picture.load()
    return True


def _is_sound(path: Path, content: bytes) -> bool:
    import soundfile

    with soundfile.SoundFile(path) as file:
        return len(file.read()) == len(file) > 0


def _is_archive(path: Path, content: bytes) -> bool:
    with np.load(path) as arrays:
        return all(arrays[name] is not None for name in arrays.files)


CHECKS = {
    ".csv": lambda path, content: content.count(b"\n") == 61,
    ".json": lambda path, content: isinstance(json.loads(content), dict),
    ".html": lambda path, content: content.rstrip().endswith(b"</html>"),
    ".svg": lambda path, content: content.rstrip().endswith(b"</svg>"),
    ".md": lambda path, content: content.endswith(b"\n"),
    ".png": _is_picture,
    ".wav": _is_sound,
    ".npz": _is_archive,
}
