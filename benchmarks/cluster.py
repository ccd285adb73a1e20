"""Many objects on two threads, and on a Dask cluster of two workers with little memory, beside one process alone.

    python3 dev.py bench cluster [SET [N]] [--parts alone threads cluster] [--folder FOLDER]

SET is a relation as in bench scale (views), N 100000 unless given. First one process matches the sets alone, then one
with two threads. Then two workers of one thread, each limited to a share of the peak of memory of the first process,
match the same sets, which a client maps from files; when all objects have been matched for the first time, one of the
workers is killed. All results must be the same, bit for bit. Everything runs on this machine; times mean something
where nothing else does. The parts can be run one by one with one FOLDER.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from scale import load, peak

SHARE = 0.75  # of the peak of one process that each worker may take


def anonymous() -> float:
    """Return the memory of this process that no file backs, in GB."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 2**20


def match(folder: Path, part: str, address: str | None) -> None:
    """Match the two sets of a folder, alone or on a cluster, and write down how it went."""
    import pairup
    from pairup.cluster import on_cluster

    X, Y = (np.load(folder / f"{name}.npy", mmap_mode=None if address is None else "r") for name in "xy")
    began, cpu, most = time.perf_counter(), time.process_time(), [0.0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            most[0] = max(most[0], anonymous())

    threading.Thread(target=watch, daemon=True).start()
    killed, matching, workers = None, None, {}
    with on_cluster(address):
        for step in pairup.match_steps(X, Y, n_jobs=2 if part == "threads" else None):
            if isinstance(step, pairup.Matching):
                matching = step
            elif address is not None and killed is None and (step.indices >= 0).mean() > 0.9:
                killed = kill_a_worker(address)
        if address is not None:
            workers = ask(address, peak)
    ended.set()
    assert matching is not None
    np.savez(folder / f"{part}.npz", indices=matching.indices, confidence=matching.confidence)
    found = {
        "peak": peak(),
        "anonymous": most[0],
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - began,
    }
    found |= {"killed": killed, "workers": list(workers.values()), "reliability": matching.reliability}
    (folder / f"{part}.json").write_text(json.dumps(found), encoding="utf-8")


def ask(address: str, function) -> dict:
    """Call a function on every worker."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return client.run(function)


def kill_a_worker(address: str) -> int:
    """Kill one of the workers, and return its process."""
    pid = min(ask(address, os.getpid).values())
    threading.Timer(2.0, os.kill, (pid, 9)).start()  # in the middle of what follows
    return pid


def start_cluster(folder: Path, gigabytes: float) -> tuple[list[subprocess.Popen], str]:
    """Start a scheduler and two workers, each a process of its own."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    python = [sys.executable, "-W", "ignore", "-m"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    place = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    processes = [subprocess.Popen([*python, "distributed.cli.dask_scheduler", "--port", "0", *place], **quiet)]
    limits = ["--nthreads", "1", "--memory-limit", f"{gigabytes:.3f}GiB", "--local-directory", str(folder)]
    variables = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):
        command = [*python, "distributed.cli.dask_worker", *limits, *place]
        processes.append(subprocess.Popen(command, env=variables, **quiet))
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            address = json.loads(file.read_text("utf-8"))["address"]
            if len(ask(address, os.getpid)) == 2:
                return processes, address
        except (OSError, ValueError):
            pass
        time.sleep(0.5)
    raise TimeoutError("the cluster did not come up")


def run(folder: Path, part: str, address: str = "") -> str:
    """Run a part in a process of its own, and return a line about it."""
    command = [sys.executable, "-W", "ignore", __file__, "--match", str(folder), part, address]
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    done = json.loads((folder / f"{part}.json").read_text("utf-8"))
    line = f"{part}: {done['wall']:.0f} s, {done['cpu']:.0f} CPU s, {done['peak']:.2f} GB at most"
    line += f", {done['anonymous']:.2f} GB without what lies in files, {done['reliability']:.2f} claimed"
    if done["workers"]:
        line += f"; workers {' and '.join(f'{each:.2f}' for each in done['workers'])} GB, one of them killed"
    if part != "alone":
        one, other = (np.load(folder / f"{each}.npz") for each in ("alone", part))
        same = all(np.array_equal(one[key], other[key]) for key in ("indices", "confidence"))
        line += f"; {'the same result' if same else 'ANOTHER RESULT'}"
    return line


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", default="views")
    parser.add_argument("n", nargs="?", type=int, default=100_000)
    parser.add_argument("--parts", nargs="+", default=["alone", "threads", "cluster"])
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = args.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        X, Y, truth = load(args.set, args.n)
        np.save(folder / "x.npy", X)
        np.save(folder / "y.npy", Y)
        del X, Y
        print(f"{args.set}, n = {args.n}", flush=True)
        for part in args.parts:
            if part != "cluster":
                print(run(folder, part), flush=True)
                continue
            limit = SHARE * json.loads((folder / "alone.json").read_text("utf-8"))["peak"]
            processes, address = start_cluster(folder, limit)
            try:
                print(f"{run(folder, part, address)}; each was allowed {limit:.2f} GB", flush=True)
            finally:
                for process in reversed(processes):
                    process.terminate()
                    process.wait()
        right = (np.load(folder / "alone.npz")["indices"] == truth).mean()
        print(f"{right:.4f} right", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--match"]:
        match(Path(sys.argv[2]), sys.argv[3], sys.argv[4] or None)
    else:
        main()
