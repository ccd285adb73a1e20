"""The attack: damaged, odd and hostile input by the thousand, interruptions, lost schedulers; outcomes counted.

    python3 dev.py bench attack                        the long run: everything below
    python3 dev.py bench attack tables --count 100     pictures, tables, arrays, saved, interruptions or cluster

Every case runs in a process of its own, which may neither crash nor hang. A case that is refused must say so in words,
name the file that is at fault, and leave nothing behind. Good input of the same kind runs first: no case may take
500 MB more memory than that. Seeds are printed, so that a case can be repeated alone (--seed). POSIX only: cases are
forked from a process that has everything loaded.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from bombs import ALBUMS, PICTURES, archive_bombs
from cases import FINE, Case, Outcome, judge, run_call, run_command
from damage import damage_archive, make_object, write_picture, write_table
from interruptions import attack_interruptions, prepare_interruptions

CLUSTER_LIMIT = 30.0  # seconds, start-up included, after which a fault of the cluster must have been told
MEMORY_LIMIT = 500e6 / 2**20  # MiB above what good input of the same kind takes
COUNTS = {"pictures": 1000, "tables": 1000, "arrays": 2000, "saved": 1000, "interruptions": 200, "cluster": 50}
MEASURED = ("pictures", "tables", "arrays", "saved")
VALID = 5  # cases of good input
HOSTILE = 10  # every tenth picture and saved file is a bomb
METHODS = ("auto", "ks-hsic", "ks-nocco", "ks-mi", "lsom")
ALBUM_OUTPUTS = ("a.html", "a.png", "a.json", "a.csv")


def attack_pictures(case: Case) -> Outcome:
    """An album of three good pictures and one that is odd, damaged or a bomb; or a photo of 12 megapixels."""
    from PIL import Image

    photos = case.folder / "photos"
    photos.mkdir()
    for k in range(3):
        Image.fromarray(case.rng.integers(0, 256, size=(20, 30, 3), dtype=np.uint8)).save(photos / f"good{k}.png")
    if case.valid:
        odd = photos / "photo.jpg"
        odd.write_bytes(GOOD["photo"])
    elif case.number % HOSTILE == HOSTILE - 1:
        name = list(PICTURES)[case.number // HOSTILE % len(PICTURES)]
        odd = photos / name
        odd.write_bytes(PICTURES[name]())
    else:
        odd = write_picture(photos / "odd", case.rng)
    output = case.folder / str(case.rng.choice(ALBUM_OUTPUTS))
    outcome = run_command(["album", str(photos), "--no-cache", "-o", str(output)], case.folder, output=output)
    if outcome.verdict == "answered" and "skipped" in outcome.text and odd.name not in outcome.text:
        return replace(outcome, verdict="unnamed")
    if len(outcome.text.splitlines()) > 2:
        return replace(outcome, verdict="chatter")
    return outcome


def attack_tables(case: Case) -> Outcome:
    """Two tables, one or both of them odd, matched by one of the methods."""
    rng, folder = case.rng, case.folder
    good = folder / "good.csv"
    np.savetxt(good, rng.normal(size=(12, 3)), delimiter=",", header="a,b,c", comments="")
    if case.valid:
        tables = [good, good]
    else:
        tables = [write_table(folder / "odd", rng), good]
        if rng.random() < 0.3:
            tables[1] = write_table(folder / "other", rng)
        if rng.random() < 0.5:
            tables.reverse()
    method = METHODS[case.number % len(METHODS)]
    output = folder / str(rng.choice(["pairs.csv", "pairs.json"]))
    arguments = ["match", *map(str, tables), "--method", method, "-o", str(output)]
    if rng.random() < 0.2:
        arguments += ["--id-column", "0"]
    named = tuple(path.name for path in tables if path != good or case.valid)
    return run_command(arguments, folder, named=named, output=output)


def attack_arrays(case: Case) -> Outcome:
    """Two objects, passed to `match`."""
    import pairup

    X, Y = (case.rng.normal(size=(12, 3)) if case.valid else make_object(case.rng) for _ in range(2))
    method = METHODS[case.number % len(METHODS)]
    return run_call(lambda: json.dumps(pairup.match(X, Y, method=method).to_dict(), allow_nan=True), case.folder)


def attack_saved(case: Case) -> Outcome:
    """A saved matching, voice or album, damaged or made a bomb, and opened again."""
    import pairup

    folder = case.folder
    kind = ("album", "matching", "voice")[case.number % 3]
    path = folder / f"saved{'.json' if kind == 'album' else '.npz'}"
    if case.valid:
        path.write_bytes(GOOD[kind])
    elif case.number % HOSTILE == HOSTILE - 1:
        path.write_bytes(pick_bomb(kind, case.number // (3 * HOSTILE)))
    else:
        path.write_bytes(damage_archive(GOOD[kind], case.rng))
    if kind == "matching":

        def load() -> None:
            matching = pairup.Matching.load(path)
            matching.to_csv()
            repr(matching)

        return run_call(load, folder, named=(path.name,))
    if kind == "album":
        output = folder / "again.csv"
        arguments = ["album", str(path), "-o", str(output)]
    else:
        output = folder / "out.wav"
        (folder / "in.wav").write_bytes(GOOD["sound"])
        arguments = ["voice", "convert", str(path), str(folder / "in.wav"), "-o", str(output)]
    return run_command(arguments, folder, named=(path.name,), output=output)


def pick_bomb(kind: str, number: int) -> bytes:
    """Return one of the bombs of a kind of saved file."""
    if kind == "album":
        return list(ALBUMS.values())[number % len(ALBUMS)]()
    bombs = archive_bombs(GOOD[kind])
    return bombs[number % len(bombs)]()


def attack_cluster(case: Case) -> Outcome:
    """A scheduler that is not there, does not answer, or is killed midway."""
    rng, folder = case.rng, case.folder
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
        return Outcome("hang", fault)
    finally:
        silent.close()
        if scheduler is not None:
            scheduler.wait()
    left = [name for name in os.listdir(folder) if name.startswith(".")]
    outcome = judge(process.returncode, text, 0.0, left=left)
    if outcome.verdict == "answered" and fault != "killed":
        return Outcome("wrong answer", fault)
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

ATTACKS: dict[str, Callable[[Case], Outcome]] = {
    "pictures": attack_pictures,
    "tables": attack_tables,
    "arrays": attack_arrays,
    "saved": attack_saved,
    "interruptions": attack_interruptions,
    "cluster": attack_cluster,
}
GOOD: dict[str, bytes] = {}


def prepare(folder: Path) -> None:
    """Make one good file of each kind, and load and compile what the cases need, before they are forked."""
    from PIL import Image

    import pairup
    from pairup.album import arrange
    from pairup.voice import VoiceConverter
    from pairup.voice.synthetic import make_voices

    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(20, 3))
    for method in METHODS:
        pairup.match(X, X[::-1], method=method).save(folder / "m.npz")
    GOOD["matching"] = (folder / "m.npz").read_bytes()
    arrange(rng.random((12, 3)), "3x4").save(folder / "a.json")
    GOOD["album"] = (folder / "a.json").read_bytes()
    source, target = make_voices()
    model = VoiceConverter().fit(source[:3], target[:3])
    model.save(folder / "v.npz")
    GOOD["voice"] = (folder / "v.npz").read_bytes()
    source[0].save(folder / "in.wav")
    GOOD["sound"] = (folder / "in.wav").read_bytes()
    small = Image.fromarray(rng.integers(0, 256, size=(75, 100, 3), dtype=np.uint8))
    small.resize((4000, 3000)).save(folder / "photo.jpg")
    GOOD["photo"] = (folder / "photo.jpg").read_bytes()


def run_cases(kind: str, count: int, seed: int, *, valid: bool = False) -> Iterator[tuple[int, Outcome]]:
    """Run cases one after another, each with a seed and a folder of its own."""
    for number in range(seed, seed + count):
        with tempfile.TemporaryDirectory() as folder:
            rng = np.random.default_rng([sorted(ATTACKS).index(kind), number, valid])
            yield number, ATTACKS[kind](Case(number, rng, Path(folder), valid))


def measure_valid(kind: str) -> tuple[float, int]:
    """Run good input; return the largest peak in MiB, and how many cases were not answered."""
    peak, faults = 0.0, 0
    for number, outcome in run_cases(kind, VALID, 0, valid=True):
        peak = max(peak, outcome.peak)
        if outcome.verdict != "answered":
            faults += 1
            print(f"{kind}, good input {number}: {outcome.verdict}\n  {outcome.text.strip()[-600:]}", flush=True)
    return peak, faults


def attack(kind: str, count: int, seed: int) -> int:
    """Run the cases of one kind, print what came of them, and return the number of faults."""
    counts: Counter[str] = Counter()
    began = time.monotonic()
    valid, faults = measure_valid(kind) if kind in MEASURED else (0.0, 0)
    peak, largest = 0.0, seed
    for number, outcome in run_cases(kind, count, seed):
        if kind in MEASURED and outcome.peak > valid + MEMORY_LIMIT:
            outcome = replace(outcome, verdict="memory", text=f"{outcome.peak:.0f} MiB: {outcome.text}")
        counts[outcome.verdict] += 1
        if outcome.peak > peak:
            peak, largest = outcome.peak, number
        if outcome.verdict not in FINE:
            faults += 1
            print(f"{kind} --seed {number} --count 1: {outcome.verdict}\n  {outcome.text.strip()[-600:]}", flush=True)
    told = ", ".join(f"{verdict} {n}" for verdict, n in counts.most_common())
    if kind in MEASURED:
        above = f"{max(peak - valid, 0):.0f} above"
        told += f"; peak {peak:.0f} MiB (--seed {largest}), valid {valid:.0f} MiB, {above}"
    print(f"{kind}: {told}; {time.monotonic() - began:.0f} s", flush=True)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*ATTACKS, []], help="which attacks; all unless given")
    parser.add_argument("--count", type=int, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    kinds = options.kinds or list(ATTACKS)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        if "interruptions" in kinds:
            prepare_interruptions(Path(folder), GOOD["voice"])
        faults = sum(attack(kind, options.count or COUNTS[kind], options.seed) for kind in kinds)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
