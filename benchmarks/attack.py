"""The attack: damaged and odd input by the thousand, interruptions, lost schedulers; outcomes counted.

    python3 dev.py bench attack                        the long run: everything below
    python3 dev.py bench attack tables --count 100     pictures, tables, arrays, saved, interruptions or cluster

Every case runs in a process of its own, which may neither crash nor hang. A case that is refused must say so in words,
name the file that is at fault, and leave nothing behind. Seeds are printed, so that a case can be repeated alone
(--seed). POSIX only: cases are forked from a process that has everything loaded.
"""

import argparse
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from damage import damage_archive, make_object, write_picture, write_table

TIME_LIMIT = 60.0  # seconds; a case that takes longer hangs
CLUSTER_LIMIT = 30.0  # seconds, start-up included, after which a fault of the cluster must have been told
ACCEPTED = (ValueError, TypeError, OSError, MemoryError, ImportError)
COUNTS = {"pictures": 1000, "tables": 1000, "arrays": 2000, "saved": 1000, "interruptions": 200, "cluster": 50}


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    verdict: str  # answered, refused, or a fault: crash, hang, traceback, no words, unnamed, leftover
    text: str  # what it printed on stderr
    peak: float  # MiB


FINE = ("answered", "refused", "interrupted", "killed")


def run_forked(work: Callable[[], None], folder: Path) -> tuple[int | None, str, float]:
    """Run a function in a forked process; return its exit code (None if it hangs), its stderr and its peak memory."""
    said = folder / "stderr.txt"
    pid = os.fork()
    if pid == 0:
        with open(said, "wb") as err, open(os.devnull, "wb") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(70)
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), said.read_text("utf-8", "replace"), usage.ru_maxrss / 1024
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.wait4(pid, 0)
    return None, said.read_text("utf-8", "replace"), 0.0


def judge(code: int | None, text: str, peak: float, *, named: str = "", left: list[str] | None = None) -> Outcome:
    """Say how a case ended."""
    if code is None:
        verdict = "hang"
    elif "Traceback" in text:
        verdict = "traceback"
    elif code < 0 or code not in (0, 1, 2):
        verdict = "crash"
    elif left:
        verdict = "leftover"
    elif code and not text.strip():
        verdict = "no words"
    elif code and named and named not in text:
        verdict = "unnamed"
    else:
        verdict = "refused" if code else "answered"
    return Outcome(verdict, text, peak)


def run_command(arguments: list[str], folder: Path, *, named: str = "", output: Path | None = None) -> Outcome:
    """Run a command of pairup in a forked process."""
    before = set(os.listdir(folder)) | {"stderr.txt"}

    def work() -> None:
        from pairup.__main__ import main

        sys.argv = ["pairup", *arguments]
        main()

    code, text, peak = run_forked(work, folder)
    made = {output.name} if output is not None and not code else set()
    return judge(code, text, peak, named=named, left=sorted(set(os.listdir(folder)) - before - made))


def attack_pictures(rng: np.random.Generator, folder: Path) -> Outcome:
    """An album of three good pictures and one that is odd or damaged."""
    from PIL import Image

    photos = folder / "photos"
    photos.mkdir()
    for k in range(3):
        Image.fromarray(rng.integers(0, 256, size=(20, 30, 3), dtype=np.uint8)).save(photos / f"good{k}.png")
    odd = write_picture(photos / "odd", rng)
    output = folder / str(rng.choice(["a.html", "a.png", "a.json", "a.csv"]))
    outcome = run_command(["album", str(photos), "--no-cache", "-o", str(output)], folder, output=output)
    if outcome.verdict == "answered" and "3 photos" in outcome.text and odd.name not in outcome.text:
        return Outcome("unnamed", outcome.text, outcome.peak)
    return outcome


def attack_tables(rng: np.random.Generator, folder: Path) -> Outcome:
    """Two tables, one or both of them odd, matched by one of the methods."""
    odd = write_table(folder / "odd", rng)
    if rng.random() < 0.5:
        other = folder / "good.csv"
        np.savetxt(other, rng.normal(size=(12, 3)), delimiter=",", header="a,b,c", comments="")
    else:
        other = write_table(folder / "other", rng)
    method = str(rng.choice(["auto", "ks-hsic", "ks-nocco", "ks-mi", "lsom"]))
    output = folder / str(rng.choice(["pairs.csv", "pairs.json"]))
    arguments = ["match", str(odd), str(other), "--method", method, "-o", str(output)]
    if rng.random() < 0.3:
        arguments += ["--id-column", "0"]
    return run_command(arguments, folder, output=output)


def attack_arrays(rng: np.random.Generator, folder: Path) -> Outcome:
    """Two objects, passed to `match` or to an estimator."""
    X, Y = make_object(rng), make_object(rng)
    method = str(rng.choice(["auto", "ks-hsic", "ks-nocco", "ks-mi", "lsom"]))

    def work() -> None:
        import pairup

        try:
            matching = pairup.match(X, Y, method=method)
            json.dumps(matching.to_dict(), allow_nan=True)
        except ACCEPTED as error:
            print(error, file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)

    return judge(*run_forked(work, folder))


def attack_saved(rng: np.random.Generator, folder: Path) -> Outcome:
    """A saved matching, voice or album, damaged and opened again."""
    kind = str(rng.choice(sorted(SAVED)))
    whole = SAVED[kind]
    path = folder / f"saved{'.json' if kind == 'album' else '.npz'}"
    path.write_bytes(damage_archive(whole, rng))
    if kind == "album":
        output = folder / "again.csv"
        return run_command(["album", str(path), "-o", str(output)], folder, named=path.name, output=output)
    if kind == "voice":
        output = folder / "out.wav"
        (folder / "in.wav").write_bytes(SOUND[0])
        arguments = ["voice", "convert", str(path), str(folder / "in.wav"), "-o", str(output)]
        return run_command(arguments, folder, named=path.name, output=output)

    def work() -> None:
        import pairup

        try:
            matching = pairup.Matching.load(path)
            matching.to_csv()
            repr(matching)
        except ACCEPTED as error:
            print(error, file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)

    return judge(*run_forked(work, folder), named=path.name)


def attack_interruptions(rng: np.random.Generator, folder: Path) -> Outcome:
    """A command that is interrupted or killed at a random moment, and what it leaves."""
    rows = rng.gamma(2.0, size=(60, 3))
    for name, table in (("x.csv", rows), ("y.csv", rows[::-1] @ rng.normal(size=(3, 4)))):
        np.savetxt(folder / name, table, delimiter=",")
    output = folder / "pairs.csv"
    output.write_text("before\n")
    commands = (
        ["match", str(folder / "x.csv"), str(folder / "y.csv"), "--no-header", "-o", str(output)],
        ["demo", "--tiles", "60", "--no-open", "-o", str(folder / "demo")],
        ["paper", "run", "toy", "--runs", "2", "--out", str(folder / "paper")],
        ["--help"],
    )
    arguments = commands[int(rng.integers(len(commands)))]
    sent = signal.SIGINT if rng.random() < 0.5 else signal.SIGKILL
    process = subprocess.Popen(
        [sys.executable, "-m", "pairup", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    time.sleep(float(rng.uniform(0.02, 4.0)))
    process.send_signal(sent)
    try:
        text = process.communicate(timeout=TIME_LIMIT)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        return Outcome("hang", "", 0.0)
    content = output.read_text()
    whole = content == "before\n" or content.count("\n") == 61
    hidden = [] if sent == signal.SIGKILL else [name for name in os.listdir(folder) if name.startswith(".")]
    if "Traceback" in text:
        return Outcome("traceback", text, 0.0)
    if not whole:
        return Outcome("lost result", content[:200], 0.0)
    if hidden:
        return Outcome("leftover", " ".join(hidden), 0.0)
    if process.returncode == 0:
        return Outcome("answered", text, 0.0)
    if sent == signal.SIGKILL and process.returncode == -signal.SIGKILL:
        return Outcome("killed", text, 0.0)
    return Outcome("interrupted" if process.returncode == 130 else "crash", f"exit {process.returncode}: {text}", 0.0)


def attack_cluster(rng: np.random.Generator, folder: Path) -> Outcome:
    """A scheduler that is not there, does not answer, or is killed midway."""
    rows = rng.gamma(2.0, size=(80, 3))
    for name, table in (("x.csv", rows), ("y.csv", rows[::-1] @ rng.normal(size=(3, 4)))):
        np.savetxt(folder / name, table, delimiter=",")
    fault = str(rng.choice(["no file", "empty", "silent", "refused", "no host", "killed", "killed"]))
    (folder / "cluster.json").write_text("{}")
    scheduler, silent = None, socket.socket()
    silent.bind(("127.0.0.1", 0))
    address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
    if fault == "silent":
        silent.listen()
    if fault == "killed":
        (folder / "cluster.json").unlink()
        scheduler = subprocess.Popen(
            [sys.executable, "-c", SCHEDULER, str(folder / "cluster.json")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while not (folder / "cluster.json").exists():
            time.sleep(0.05)
    chosen = {"no file": str(folder / "nosuch.json"), "silent": address, "refused": address}
    chosen |= {"no host": "tcp://no.such.host.invalid:8786"}
    given = chosen.get(fault, str(folder / "cluster.json"))
    output = folder / "pairs.csv"
    command = ["match", str(folder / "x.csv"), str(folder / "y.csv"), "--cluster", given, "-o", str(output)]
    process = subprocess.Popen(
        [sys.executable, "-m", "pairup", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        if scheduler is not None:
            time.sleep(float(rng.uniform(1.5, 7.0)))
            os.killpg(scheduler.pid, signal.SIGKILL)
        text = process.communicate(timeout=CLUSTER_LIMIT)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Outcome("hang", fault, 0.0)
    finally:
        silent.close()
        if scheduler is not None:
            scheduler.wait()
    left = [name for name in os.listdir(folder) if name.startswith(".")]
    outcome = judge(process.returncode, text, 0.0, left=left)
    if outcome.verdict == "answered" and fault != "killed":
        return Outcome("wrong answer", fault, 0.0)
    return outcome


SCHEDULER = """
import json, sys, time
from pathlib import Path
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    part = Path(sys.argv[1] + ".part")
    part.write_text(json.dumps(cluster.scheduler.identity() | {"address": cluster.scheduler_address}, default=str))
    part.rename(sys.argv[1])
    time.sleep(120)
"""

ATTACKS: dict[str, Callable[[np.random.Generator, Path], Outcome]] = {
    "pictures": attack_pictures,
    "tables": attack_tables,
    "arrays": attack_arrays,
    "saved": attack_saved,
    "interruptions": attack_interruptions,
    "cluster": attack_cluster,
}
SAVED: dict[str, bytes] = {}
SOUND: list[bytes] = []


def prepare(folder: Path) -> None:
    """Make one good file of each kind, and load and compile what the cases need, before they are forked."""
    import pairup
    from pairup.album import arrange
    from pairup.voice import VoiceConverter
    from pairup.voice.synthetic import make_voices

    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(20, 3))
    for method in ("lsom", "ks-hsic", "ks-nocco", "ks-mi", "auto"):
        pairup.match(X, X[::-1], method=method).save(folder / "m.npz")
    SAVED["matching"] = (folder / "m.npz").read_bytes()
    arrange(rng.random((12, 3)), "3x4").save(folder / "a.json")
    SAVED["album"] = (folder / "a.json").read_bytes()
    source, target = make_voices()
    model = VoiceConverter().fit(source[:3], target[:3])
    model.save(folder / "v.npz")
    SAVED["voice"] = (folder / "v.npz").read_bytes()
    source[0].save(folder / "in.wav")
    SOUND.append((folder / "in.wav").read_bytes())


def run_cases(kind: str, count: int, seed: int) -> Iterator[tuple[int, Outcome]]:
    """Run cases one after another, each with a seed and a folder of its own."""
    for number in range(seed, seed + count):
        with tempfile.TemporaryDirectory() as folder:
            rng = np.random.default_rng([sorted(ATTACKS).index(kind), number])
            yield number, ATTACKS[kind](rng, Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*ATTACKS, []], help="which attacks; all unless given")
    parser.add_argument("--count", type=int, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    faults = 0
    for kind in options.kinds or ATTACKS:
        counts: Counter[str] = Counter()
        peak, began = 0.0, time.monotonic()
        for number, outcome in run_cases(kind, options.count or COUNTS[kind], options.seed):
            counts[outcome.verdict] += 1
            peak = max(peak, outcome.peak)
            if outcome.verdict not in FINE:
                faults += 1
                print(
                    f"{kind} --seed {number} --count 1: {outcome.verdict}\n  {outcome.text.strip()[-600:]}", flush=True
                )
        told = ", ".join(f"{verdict} {n}" for verdict, n in counts.most_common())
        print(f"{kind}: {told}; peak {max(peak - base, 0):.0f} MiB above {base:.0f}; {time.monotonic() - began:.0f} s")
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
