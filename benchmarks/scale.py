"""Time, memory and accuracy of matching against the number of objects, ours beside a peer; one process for each line.

python3 dev.py bench scale [SET[:NOISE]] [N …]

SET is captions (MiniLM against WordLlama, needs PAIRUP_DATA), languages (English against German bags of words, needs
it too), or a relation of benchmarks/relations.py, such as embeddings or views (two smooth views of one mixture in 10
dimensions; views20 and views50), with NOISE standard deviations of each column added, none unless given. The sizes are
3000 and 12000 unless given. CPU seconds of one thread, the verdict included. FOSCTTM is measured in the space of Y on
500 objects against all.
"""

import os
import resource
import subprocess
import sys
import time

import numpy as np
from relations import MANY, RELATIONS
from threadpoolctl import threadpool_limits

from pairup.datasets import data_folder

SETS = {"captions": ("minilm_en", "wordllama_en"), "languages": ("lsa_en", "lsa_de")}
METHODS = ("pairup", "centres")
PEER_UP_TO = 4000  # objects: its last step is an assignment of all pairs


def load(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two sets, the second shuffled, and the true partner of each object of the first."""
    rng = np.random.default_rng(0)
    if name in SETS:
        with np.load(data_folder() / "embeddings" / "captions12k.npz") as data:
            rows = rng.permutation(len(data[SETS[name][0]]))[:n]
            X, Y = (data[each][rows].astype(float) for each in SETS[name])
    else:
        kind, _, noise = name.partition(":")
        X, Y = (RELATIONS | MANY)[kind](rng, n, float(noise or 0.0))
    order = rng.permutation(len(X))
    return X, Y[order], np.argsort(order)


def closer(Y: np.ndarray, images: np.ndarray, truth: np.ndarray, count: int = 500) -> float:
    """Return FOSCTTM over some objects: the share of y that lie closer to the true partner than the found one does."""
    some = np.random.default_rng(0).permutation(len(truth))[:count]
    own = ((images[some] - Y[truth[some]]) ** 2).sum(axis=1)
    others = [((Y - Y[j]) ** 2).sum(axis=1) for j in truth[some]]
    return float(np.mean([(d < o).mean() for d, o in zip(others, own, strict=True)]))


def measure(name: str, n: int, method: str) -> None:
    """Match one set by one method, and print a line."""
    X, Y, truth = load(name, n)
    began = time.process_time()
    with threadpool_limits(1):
        if method == "pairup":
            import pairup

            m = pairup.match(X, Y)
            indices, said = m.indices, f"claimed {m.reliability:.3f}, {'reliable' if m.reliable else 'not reliable'}"
        else:
            from rivals import rotate_by_profiles

            indices, said = rotate_by_profiles(X, Y).argmax(axis=1), ""
    seconds = time.process_time() - began
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    right, distance = (indices == truth).mean(), closer(Y, Y[indices], truth)
    print(
        f"{name}, n = {n}, {method}: {right:.4f} right, FOSCTTM {distance:.5f}, {seconds:.1f} CPU s, "
        f"{gigabytes:.2f} GB at most{', ' + said if said else ''}",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    """Start one process for each size and method, so that each peak of memory is its own."""
    if arguments[:1] == ["--one"]:
        measure(arguments[1], int(arguments[2]), arguments[3])
        return
    name, sizes = (arguments or ["captions"])[0], [int(n) for n in arguments[1:]] or [3000, 12_000]
    for n in sizes:
        for method in METHODS:
            if method == "pairup" or n <= PEER_UP_TO:
                subprocess.run([sys.executable, __file__, "--one", name, str(n), method], env=os.environ, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
