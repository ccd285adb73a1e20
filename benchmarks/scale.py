"""Time, memory and accuracy of matching against the number of objects, ours beside its peers.

    python3 dev.py bench scale                           captions and views, all methods, all sizes
    python3 dev.py bench scale views:0.1 100000          one set of one size
    python3 dev.py bench scale captions --methods POT    methods whose name contains one of these words
    python3 dev.py bench scale languages 12000 --methods translate   images of X by regression on the pairs

Sets: captions (MiniLM against WordLlama, needs PAIRUP_DATA), languages (English against German bags of words, needs it
too), or a relation of benchmarks/relations.py, such as embeddings or views (two smooth views of one mixture in 10
dimensions; views20 and views50), with :NOISE standard deviations of each column added, none unless given.

Each line is a process of its own on one thread: CPU seconds, verdict included, and its peak of memory. A peer that
takes more CPU seconds than --limit or more memory than --gigabytes is stopped, and is not tried with more objects.
Solvers that take a start get two, the order of the first principal component and its reverse, and keep the better end;
all else is as their libraries have it, but for the ranks, which are told. "right" is the share of objects whose largest
entry of the plan is their own partner. FOSCTTM (0 is perfect, ½ is chance) is measured in the space of Y on 500 objects
against all, from the expected partner of a soft plan, ours too; embeddings are compared by the cosine.

Results are kept in scale.json and computed once (--again computes them anew), so an interrupted run goes on; table and
picture, with exponents fitted from 1,000 objects on, are drawn from all that is there.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import psutil
from relations import MANY, RELATIONS
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from pairup.datasets import data_folder

EMBEDDINGS = {"captions": ("minilm_en", "wordllama_en"), "languages": ("lsa_en", "lsa_de")}
SIZES = {"captions": (300, 1000, 3000, 12_000), "views": (300, 1000, 3000, 10_000, 30_000, 100_000)}
OURS = "pairup.match"
CARRIED = "Matching.translate"  # not unless it is named
RANK = 20  # of the plans that are low-rank
PEERS_UP_TO = 12_000
FITTED_FROM = 1000  # objects; fewer take as long as the start of a program
PAUSE = 0.1  # seconds between two looks at a process

Result = tuple[np.ndarray, np.ndarray, str]  # partners, images of X in the space of Y, what the method said


def load(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two sets, the second shuffled, and the true partner of each object of the first."""
    rng = np.random.default_rng(0)
    if name in EMBEDDINGS:
        with np.load(data_folder() / "embeddings" / "captions12k.npz") as data:
            rows = rng.permutation(len(data[EMBEDDINGS[name][0]]))[:n]
            X, Y = (data[each][rows].astype(float) for each in EMBEDDINGS[name])
    else:
        kind, _, noise = name.partition(":")
        X, Y = (RELATIONS | MANY)[kind](rng, n, float(noise or 0.0))
    order = rng.permutation(len(X))
    return X, Y[order], np.argsort(order)


# --- methods ---------------------------------------------------------------------------------------------------------
def ours(X: np.ndarray, Y: np.ndarray) -> Result:
    import pairup

    m = pairup.match(X, Y)
    said = f"claimed {m.reliability:.2f}, {'reliable' if m.reliable else 'not reliable'}"
    images = m.expected_partner()
    return m.indices, np.where(np.isnan(images), Y[m.indices], images), said


def ours_carried(X: np.ndarray, Y: np.ndarray) -> Result:
    """Carry X over by regression on the pairs, which averages over partners that are nearly right."""
    import pairup

    m = pairup.match(X, Y)
    return m.indices, m.translate(X), ""


def of_plan(plan: np.ndarray, Y: np.ndarray) -> Result:
    return plan.argmax(axis=1), plan @ Y / np.maximum(plan.sum(axis=1, keepdims=True), 1e-300), ""


def of_factors(Q: np.ndarray, R: np.ndarray, g: np.ndarray, Y: np.ndarray) -> Result:
    """Read the plan Q diag(1/g) Rᵀ by blocks."""
    right = R / g
    found = np.concatenate([(block @ right.T).argmax(axis=1) for block in np.array_split(Q, len(Q) // 1000 + 1)])
    return found, Q @ (right.T @ Y) / np.maximum(Q @ right.sum(axis=0), 1e-300)[:, None], ""


def unit_distances(X: np.ndarray, Y: np.ndarray) -> list[np.ndarray]:
    from pairup.kernels import squared_distances

    found = []
    for Z in (X, Y):
        D = squared_distances(Z)
        D /= D.max()
        found.append(D)
    return found


def both_orders(X: np.ndarray, Y: np.ndarray) -> list[np.ndarray]:
    """Return the y of every x by the order of the first principal component, and by its reverse."""
    from pairup.components import principal_components

    x, y = (np.argsort(principal_components(Z - Z.mean(axis=0), solver="gram")[0][:, 0]) for Z in (X, Y))
    starts = np.empty((2, len(x)), dtype=np.intp)
    starts[0, x], starts[1, x] = y, y[::-1]
    return list(starts)


def pot_exact(X: np.ndarray, Y: np.ndarray) -> Result:
    import ot

    C, D = unit_distances(X, Y)
    best, found = np.inf, np.empty(0, dtype=np.intp)
    for start in both_orders(X, Y):
        plan = np.zeros(C.shape)
        plan[np.arange(len(C)), start] = 1.0 / len(C)
        plan, log = ot.gromov.gromov_wasserstein(C, D, loss_fun="square_loss", G0=plan, log=True)
        if log["gw_dist"] < best:
            best, found = log["gw_dist"], plan.argmax(axis=1)
    return found, Y[found], ""


def pot_sampled(X: np.ndarray, Y: np.ndarray) -> Result:
    import ot

    C, D = unit_distances(X, Y)
    equal = np.full(len(C), 1.0 / len(C))
    loss = lambda a, b: (a - b) ** 2  # noqa: E731
    return of_plan(ot.gromov.sampled_gromov_wasserstein(C, D, equal, equal, loss, random_state=0), Y)


def pot_low_rank(X: np.ndarray, Y: np.ndarray) -> Result:
    import ot

    Q, R, g = ot.gromov.lowrank_gromov_wasserstein_samples(X, Y, rank=RANK, warn=False)
    return of_factors(Q, R, g, Y)


def ott_low_rank(X: np.ndarray, Y: np.ndarray) -> Result:
    import jax.numpy as jnp
    from ott.geometry.pointcloud import PointCloud
    from ott.problems.quadratic.quadratic_problem import QuadraticProblem
    from ott.solvers.quadratic.gromov_wasserstein_lr import LRGromovWasserstein

    x, y = (PointCloud(jnp.asarray(Z), scale_cost="mean") for Z in (X, Y))
    found = LRGromovWasserstein(RANK)(QuadraticProblem(x, y))
    return of_factors(*(np.asarray(each, dtype=float) for each in (found.q, found.r, found.g)), Y)


def scipy_faq(X: np.ndarray, Y: np.ndarray) -> Result:
    from scipy.optimize import quadratic_assignment

    C, D = unit_distances(X, Y)
    results = []
    for start in both_orders(X, Y):
        P = np.zeros(C.shape)
        P[np.arange(len(C)), start] = 1.0
        results.append(quadratic_assignment(C, D, options={"maximize": True, "P0": P}))
    found = max(results, key=lambda result: result.fun).col_ind
    return found, Y[found], ""


def centres(X: np.ndarray, Y: np.ndarray) -> Result:
    from rivals import rotate_by_profiles

    found = rotate_by_profiles(X, Y).argmax(axis=1)
    return found, Y[found], ""


METHODS: dict[str, tuple[str | None, Callable[[np.ndarray, np.ndarray], Result]]] = {
    OURS: (None, ours),
    CARRIED: (None, ours_carried),
    "POT Gromov-Wasserstein": ("ot", pot_exact),
    "POT sampled": ("ot", pot_sampled),
    "POT low rank": ("ot", pot_low_rank),
    "OTT-JAX low rank": ("ott", ott_low_rank),
    "scipy FAQ": (None, scipy_faq),
    "centres, profiles, rotations": (None, centres),
}


# --- one process for each line ---------------------------------------------------------------------------------------
def closer(Y: np.ndarray, images: np.ndarray, truth: np.ndarray, count: int = 500) -> float:
    """Return FOSCTTM over some objects: the share of y that lie closer to the image of x than its true partner does."""
    some = np.random.default_rng(0).permutation(len(truth))[:count]
    return float(
        np.mean([(((Y - image) ** 2).sum(axis=1) < ((own - image) ** 2).sum()).mean()
                 for image, own in zip(images[some], Y[truth[some]], strict=True)])
    )  # fmt: skip


def peak() -> float:
    """Return the peak of the memory of this process in GB."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**20
    except (OSError, StopIteration):  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def measure(name: str, n: int, method: str) -> None:
    """Match one set by one method, and print what came out of it as JSON."""
    X, Y, truth = load(name, n)
    began = time.process_time()
    with threadpool_limits(1):
        indices, images, said = METHODS[method][1](X, Y)
    seconds, gigabytes = time.process_time() - began, peak()
    right = float((indices == truth).mean())
    if name in EMBEDDINGS:
        Y, images = normalize(Y), normalize(images)
    found = {"right": right, "foscttm": closer(Y, images, truth), "seconds": seconds, "gigabytes": gigabytes}
    print(json.dumps(found | {"said": said}), flush=True)


def observe(name: str, n: int, method: str, limit: float, gigabytes: float) -> dict:
    """Measure in a process of its own, which is stopped where it goes beyond the limits."""
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"), "1")
    variables |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    command = [sys.executable, "-W", "ignore", __file__, "--one", name, str(n), method]
    child = subprocess.Popen(
        command, env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        watched = psutil.Process(child.pid)
        while child.poll() is None:
            time.sleep(PAUSE)
            try:
                times, memory = watched.cpu_times(), watched.memory_info().rss
            except psutil.Error:
                continue
            if times.user + times.system > limit:
                return {"stopped": f"more than {limit:.0f} s"}
            if memory > gigabytes * 2**30:
                return {"stopped": f"more than {gigabytes:.0f} GB"}
        out, error = child.communicate()
    finally:  # Ctrl-C too
        child.kill()
        child.wait()
    if child.returncode:
        return {"stopped": (error.strip().splitlines() or [f"signal {-child.returncode}"])[-1][:80]}
    return dict(json.loads(out.splitlines()[-1]))


# --- table and picture -----------------------------------------------------------------------------------------------
def exponent(found: dict[str, dict], what: str) -> float | None:
    """Return the exponent of n by least squares of the logarithms; None where there are fewer than two sizes."""
    there = [(int(n), one[what]) for n, one in found.items() if what in one and int(n) >= FITTED_FROM]
    if len(there) < 2:
        return None
    n, values = np.log(np.array(there, dtype=float)).T
    return float(np.polyfit(n, values, 1)[0])


def table(results: dict, name: str) -> str:
    """Return the results of one set in markdown: right, FOSCTTM, CPU seconds, GB."""
    sizes = sorted({int(n) for found in results[name].values() for n in found})
    lines = [f"| {name} | " + " | ".join(f"{n:,}" for n in sizes) + " | time grows as |"]
    lines.append("|---" * (len(sizes) + 2) + "|")
    for method in METHODS:
        found = results[name].get(method, {})
        grows = exponent(found, "seconds")
        cells = [format_cell(found.get(str(n))) for n in sizes]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {'–' if grows is None else f'n^{grows:.1f}'} |")
    return "\n".join(lines)


def format_cell(one: dict | None) -> str:
    if one is None:
        return "–"
    if "stopped" in one:
        return str(one["stopped"])
    distance = f"{one['foscttm']:.4f}".lstrip("0")
    return f"{one['right']:.3f}, {distance}; {one['seconds']:.3g} s, {one['gigabytes']:.2g} GB"


def draw(results: dict, path: Path) -> None:
    """Draw time, memory and share right against n, one column for each set."""
    import matplotlib.pyplot as plt

    names = list(results)
    figure, axes = plt.subplots(3, len(names), figsize=(4.2 * len(names), 8.2), sharex="col", sharey="row",
                                layout="constrained", squeeze=False)  # fmt: skip
    rows = (("seconds", "CPU seconds"), ("gigabytes", "peak memory, GB"), ("right", "share of right pairs"))
    for column, name in zip(axes.T, names, strict=True):
        column[0].set_title(name)
        column[-1].set_xlabel("objects")
        for ax, (what, words) in zip(column, rows, strict=True):
            ax.set_xscale("log")
            if what != "right":
                ax.set_yscale("log")
            for k, method in enumerate(METHODS):
                found = results[name].get(method, {})
                there = sorted((int(n), one[what]) for n, one in found.items() if what in one)
                if there:
                    n, values = zip(*there, strict=True)
                    grows = None if what == "right" else exponent(found, what)
                    ax.plot(n, values, marker="oDs^vPXh"[k], color=f"C{k}", label=method, markersize=7 if k == 0 else 5,
                            linewidth=2.2 if k == 0 else 1.2, zorder=3 - (k > 0))  # fmt: skip
                    if grows is not None:
                        ax.annotate(f"{grows:.1f}", (n[-1], values[-1]), (6, 0), textcoords="offset points",
                                    color=f"C{k}", fontsize="small", va="center")  # fmt: skip
            ax.grid(color="0.92")
            ax.margins(x=0.12)
            if ax in axes[:, 0]:
                ax.set_ylabel(words)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", help="a set; captions and views by default")
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of objects")
    parser.add_argument("--methods", nargs="*", default=[], help="words that names of methods contain")
    parser.add_argument("--limit", type=float, default=100.0, help="CPU seconds of a peer [100]")
    parser.add_argument("--gigabytes", type=float, default=8.0, help="memory of a peer [8]")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "scale.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    chosen = [m for m in METHODS if any(word in m for word in args.methods) or (not args.methods and m != CARRIED)]
    for name in [args.set] if args.set else list(SIZES):
        for n in args.sizes or SIZES.get(name, (3000, 12_000)):
            for method in chosen:
                done = results.setdefault(name, {}).setdefault(method, {})
                module = METHODS[method][0]
                fewer = any("stopped" in one and int(size) < n for size, one in done.items())
                if (str(n) in done and not args.again) or fewer or (method not in (OURS, CARRIED) and n > PEERS_UP_TO):
                    continue
                if module is not None and find_spec(module) is None:
                    continue
                print(f"{name}, n = {n:,}, {method}: ", end="", flush=True)
                bounds = (np.inf, np.inf) if method in (OURS, CARRIED) else (args.limit, args.gigabytes)
                done[str(n)] = one = observe(name, n, method, *bounds)
                print(format_cell(one), one.get("said", ""), flush=True)
                path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join(table(results, name) for name in results)
    (args.out / "scale.md").write_text(text + "\n", encoding="utf-8")
    draw(results, args.out / "scale.png")
    print(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
