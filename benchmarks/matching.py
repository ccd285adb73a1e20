"""`pairup.match` beside its peers and over a study of data sets, in one run each; writes json, markdown and plots.

    python3 dev.py bench matching peers    us, the paper's methods, POT, OTT-JAX and scipy on the Flickr photos
    python3 dev.py bench matching study    label-free choice, calibration and reliability over the data sets
    python3 dev.py bench matching noise    accuracy against noise on generated relations
    python3 dev.py bench matching scgem    cells measured in two ways, whole and partial, beside SCOT
    python3 dev.py bench matching scale    CPU seconds and memory at n = 320, 1000 and 2000

Real data are read below the folder that PAIRUP_DATA names. Peers are no dependencies of the package: those that are
not installed are left out, and the table says so.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path

import numpy as np
from relations import RELATIONS
from scipy.linalg import eigh
from scipy.optimize import quadratic_assignment
from scipy.spatial.distance import cdist

import pairup
import pairup.assignment
from pairup.datasets import Pair, data_folder, half_images, load_flickr, load_tiles, shuffle_pair, to_lab
from pairup.kernels import center, squared_distances
from pairup.metrics import foscttm, match_accuracy, right_pairs
from pairup.parallel import pinned_blas
from pairup.starts import both_signs

MANY = 700  # objects from which peers get two starts instead of ten
ABOVE_CHANCE = 0.05  # an accuracy from which a matching is clearly better than chance, at every n of the study


# --- data ------------------------------------------------------------------------------------------------------------
def cut(images: np.ndarray, how: str, seed: int = 0) -> Pair:
    """Cut pictures in two: "left/right", "top/bottom" or "checkerboard"."""
    if how == "left/right":
        return half_images(images, random_state=seed)
    if how == "top/bottom":
        return half_images(images.swapaxes(1, 2), random_state=seed)
    h, w = images.shape[1:3]
    side = max(2, h // 5)
    white = (np.arange(h)[:, None] // side + np.arange(w) // side) % 2 == 0
    n = len(images)
    return shuffle_pair(
        images[:, white].reshape(n, -1).astype(float), images[:, ~white].reshape(n, -1).astype(float), seed
    )


def some(images: np.ndarray, n: int, seed: int) -> np.ndarray:
    return images[np.random.default_rng(seed).permutation(len(images))[:n]]


def flickr() -> np.ndarray:
    return to_lab(load_flickr())


def frey() -> np.ndarray:
    return np.load(data_folder() / "frey/freyfaces.npz")["X"].reshape(-1, 28, 20).astype(float)


def usps() -> np.ndarray:
    return np.load(data_folder() / "usps_zip/zip_train.npz")["X"].reshape(-1, 16, 16).astype(float)


def faces() -> np.ndarray:
    import skimage.data

    return np.load(Path(skimage.data.__file__).parent / "lfw_subset.npy").astype(float)


def digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return load_digits().images


def cells(suffix: str = "") -> tuple[np.ndarray, np.ndarray]:
    folder = data_folder() / "singlecell/scGEM"
    return tuple(np.loadtxt(folder / f"pamona_{kind}{suffix}.txt") for kind in ("expression", "methylation"))


def study_sets() -> dict[str, Callable[[], Pair]]:
    """The sets of the study: pictures cut in three ways, cells, and generated relations."""
    sets: dict[str, Callable[[], Pair]] = {}
    pictures = {
        "photos": (flickr, (320, 100, 40)),
        "tiles": (lambda: to_lab(load_tiles(320)), (320, 100)),
        "frey": (frey, (225, 100)),
        "usps": (usps, (200,)),
        "faces": (faces, (200,)),
        "digits": (digits, (300, 100)),
    }
    for name, (load, sizes) in pictures.items():
        for n in sizes:
            for how in ("left/right", "top/bottom", "checkerboard"):
                sets[f"{name} {how} {n}"] = lambda load=load, n=n, how=how: cut(some(load(), n, n), how, n)
    sets["scGEM 177"] = lambda: shuffle_pair(*cells())
    for kind, make in RELATIONS.items():
        for noise in (0.0, 0.1, 0.3):  # other seeds and sizes than the calibration's, the same kinds
            sets[f"{kind}, noise {noise}"] = lambda make=make, noise=noise: shuffle_pair(
                *make(np.random.default_rng([777, round(100 * noise)]), 120, noise), random_state=1
            )
    return sets


# --- peers -----------------------------------------------------------------------------------------------------------
def distances(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances within each set, the largest 1: the solvers below do better with them than with distances."""
    C, D = squared_distances(X), squared_distances(Y)
    return C / C.max(), D / D.max()


def eigen_plans(C: np.ndarray, D: np.ndarray) -> Iterator[np.ndarray]:
    """Ten starts for everyone: leading principal coordinates of five widths, both signs; two where there are many."""
    last = (len(C) - 1, len(C) - 1)
    for c in range(1, 6) if len(C) < MANY else (1,):
        K, L = (center(np.exp(-M / (c * np.median(M)))) for M in (C, D))
        for p in both_signs(*(eigh(M, subset_by_index=last)[1][:, 0] for M in (K, L))):
            yield np.eye(len(C))[p] / len(C)


def best_of_ten(C: np.ndarray, D: np.ndarray, solve: Callable[[np.ndarray], tuple[float, np.ndarray]]) -> np.ndarray:
    """Round the plan with the least value, by the solver's own objective."""
    return pairup.assignment.assign(min(map(solve, eigen_plans(C, D)), key=itemgetter(0))[1])


def scipy_faq(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    C, D = distances(X, Y)

    def solve(P: np.ndarray) -> tuple[float, np.ndarray]:
        result = quadratic_assignment(C, D, options={"maximize": True, "P0": len(P) * P})
        return -result.fun, np.eye(len(P))[result.col_ind]

    return best_of_ten(C, D, solve)


def pot(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    import ot

    C, D = distances(X, Y)

    def solve(P: np.ndarray) -> tuple[float, np.ndarray]:
        plan, log = ot.gromov.gromov_wasserstein(C, D, loss_fun="square_loss", G0=P, log=True)
        return log["gw_dist"], plan

    return best_of_ten(C, D, solve)


@cache
def ott_solver() -> Callable:
    """Return OTT's solver, compiled once for each size; ε = 1e-4 is its best on the photos, of 1e-1 to 3e-5."""
    import jax
    from ott.geometry.geometry import Geometry
    from ott.initializers.quadratic.initializers import QuadraticInitializer
    from ott.problems.quadratic.quadratic_problem import QuadraticProblem
    from ott.solvers.linear.sinkhorn import Sinkhorn
    from ott.solvers.quadratic.gromov_wasserstein import GromovWasserstein

    def solve(C, D, P):
        start = QuadraticInitializer(P)
        solver = GromovWasserstein(Sinkhorn(), epsilon=1e-4, initializer=start, warm_start=True)
        out = solver(QuadraticProblem(Geometry(C), Geometry(D)))
        return out.primal_cost, out.matrix

    return jax.jit(solve)


def ott(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    C, D = distances(X, Y)

    def solve(P: np.ndarray) -> tuple[float, np.ndarray]:
        cost, plan = map(np.asarray, ott_solver()(C, D, P))
        return (float(cost), plan) if np.isfinite(plan).all() else (np.inf, P)

    return best_of_ten(C, D, solve)


def scot_plan(X: np.ndarray, Y: np.ndarray, k: int, metric: str = "euclidean") -> np.ndarray:
    """SCOT (Demetci et al., 2022): entropic Gromov-Wasserstein on paths through k neighbours; ε as published."""
    return scot_solve(X, Y, k, metric, 5e-3)[0]


def scot_solve(X: np.ndarray, Y: np.ndarray, k: int, metric: str, epsilon: float) -> tuple[np.ndarray, float]:
    """Return SCOT's plan and its Gromov-Wasserstein distance."""
    import ot
    from scipy.sparse.csgraph import dijkstra
    from sklearn.neighbors import kneighbors_graph

    def steps(Z: np.ndarray) -> np.ndarray:
        D = dijkstra(kneighbors_graph(Z, k, metric=metric, include_self=True), directed=False)
        D[np.isinf(D)] = D[np.isfinite(D)].max()
        return D / D.max()

    plan, log = ot.gromov.entropic_gromov_wasserstein(
        steps(X), steps(Y), loss_fun="square_loss", epsilon=epsilon, warn=False, log=True
    )
    return plan, float(log["gw_dist"])


def scot(share: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda X, Y: pairup.assignment.assign(scot_plan(X, Y, min(50, round(share * len(X)))))


METHODS: dict[str, tuple[str | None, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "pairup.match": (None, lambda X, Y: pairup.match(X, Y).indices),
    "ProductLSOM": (None, lambda X, Y: pairup.ProductLSOM().fit_predict(X, Y)),
    "LSOM (paper)": (None, lambda X, Y: pairup.LSOM().fit_predict(X, Y)),
    "KS-NOCCO (paper)": (None, lambda X, Y: pairup.KSNOCCO().fit_predict(X, Y)),
    "KS-HSIC (paper)": (None, lambda X, Y: pairup.KSHSIC(width=10**0.5).fit_predict(X, Y)),
    "scipy FAQ, ten starts": (None, scipy_faq),
    "POT Gromov-Wasserstein, ten starts": ("ot", pot),
    "OTT-JAX entropic GW, ten starts": ("ott", ott),
    "SCOT, n/20 neighbours": ("ot", scot(1 / 20)),  # the least and
    "SCOT, n/5 neighbours": ("ot", scot(1 / 5)),  # the most that its own documentation names
}


def scot_as_published(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return SCOT's matching and plan with what its authors published for scGEM."""
    from sklearn.preprocessing import scale

    plan = scot_plan(scale(X), scale(Y), 35, "correlation")
    return pairup.assignment.assign(plan), plan


def match_and_plan(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m = pairup.match(X, Y)
    return m.indices, m.probabilities


def installed(words: Sequence[str] = ()) -> dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    """Return the methods whose name contains one of the words and that are there; all without words."""
    wanted = {name: method for name, method in METHODS.items() if not words or any(word in name for word in words)}
    for name, (module, _) in wanted.items():
        if module is not None and find_spec(module) is None:
            print(f"{name}: not installed, left out")
    return {name: f for name, (module, f) in wanted.items() if module is None or find_spec(module) is not None}


def timed(function: Callable, *args) -> tuple[np.ndarray, float]:
    start = time.process_time()
    with pinned_blas():
        return function(*args), time.process_time() - start


# --- runs ------------------------------------------------------------------------------------------------------------
def peers(out: Path, repeats: int, words: list[str]) -> None:
    rows, photos = [], flickr()
    for n, count in ((40, repeats), (100, repeats), (320, 1)):
        for name, function in installed(words).items():
            accuracy, seconds = [], []
            function(*cut(some(photos, n, count), "left/right")[:2])  # compilation is no one's speed
            for seed in range(count):
                X, Y, truth = cut(some(photos, n, seed), "left/right", seed)
                indices, cpu = timed(function, X, Y)
                accuracy.append(match_accuracy(indices, truth, Y))
                seconds.append(cpu)
            rows.append({"n": n, "method": name, "accuracy": np.mean(accuracy), "least": min(accuracy),
                         "cpu_seconds": np.mean(seconds), "sets": count})  # fmt: skip
            print("n={n:4d} {method:36s} {accuracy:.3f} (least {least:.2f}) {cpu_seconds:.2f} CPU s".format(**rows[-1]))
    write(out, "peers", rows)


def study(out: Path, with_anchors: bool) -> None:
    rows, said, was = [], [], []
    for name, make in study_sets().items():
        try:
            X, Y, truth = make()
        except FileNotFoundError as error:
            print(f"{name}: left out, {error}")
            continue
        m, cpu = timed(pairup.match, X, Y)
        right = right_pairs(m.indices, truth, Y)
        of_candidates = [match_accuracy(step.indices, truth, Y) for step in m.history]
        row = {
            "set": name, "n": len(X), "accuracy": right.mean(), "best": max(of_candidates),
            "median": np.median(of_candidates), "foscttm": foscttm(m.indices, truth, Y),
            "reliability": m.reliability, "reliable": m.reliable, "cpu_seconds": cpu,
        }  # fmt: skip
        if with_anchors:
            known = np.random.default_rng(0).permutation(len(X))[: max(1, round(0.05 * len(X)))]
            others = np.setdiff1d(np.arange(len(X)), known)
            helped = pairup.match(X, Y, anchors=[(int(i), int(truth[i])) for i in known])
            row["others_without_anchors"] = right[others].mean()
            row["others_with_anchors"] = right_pairs(helped.indices, truth, Y)[others].mean()
        said.append(m.confidence)
        was.append(right)
        rows.append(row)
        print(" ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)
    p, hit = np.concatenate(said), np.concatenate(was)
    place = np.minimum((10 * p).astype(int), 9)
    curve = [(p[place == k].mean(), hit[place == k].mean(), int((place == k).sum())) for k in range(10) if (place == k).any()]  # fmt: skip  # noqa: E501
    error = sum(count * abs(a - b) for a, b, count in curve) / len(p)
    from sklearn.metrics import roc_auc_score

    auc = roc_auc_score([row["accuracy"] > ABOVE_CHANCE for row in rows], [row["reliability"] for row in rows])
    bad = [row["set"] for row in rows if row["reliable"] and row["accuracy"] < 0.2]
    print(f"expected calibration error {error:.3f}; AUC of reliability {auc:.3f}; called reliable below .2: {bad}")
    write(out, "study", {"rows": rows, "curve": curve, "calibration_error": error, "auc": auc})
    plot_curve(out, curve, error)


def noise(out: Path, repeats: int) -> None:
    rows, ours = [], ("ProductLSOM", "LSOM (paper)", "KS-NOCCO (paper)", "KS-HSIC (paper)")
    methods = {name: f for name, f in installed().items() if name not in ours}
    for kind in ("swiss roll", "spiral", "mixture", "graph", "embeddings"):
        for level in (0.0, 0.05, 0.1, 0.2, 0.4):
            for name, function in methods.items():
                accuracy = []
                for seed in range(repeats):
                    rng = np.random.default_rng([seed, round(1000 * level)])
                    X, Y, truth = shuffle_pair(*RELATIONS[kind](rng, 100, level), random_state=seed)
                    accuracy.append(match_accuracy(timed(function, X, Y)[0], truth, Y))
                rows.append({"relation": kind, "noise": level, "method": name, "accuracy": np.mean(accuracy),
                             "spread": np.std(accuracy), "sets": repeats})  # fmt: skip
                print(
                    "{relation:12s} {noise:.2f} {method:36s} {accuracy:.3f} ± {spread:.3f}".format(**rows[-1]),
                    flush=True,
                )
    write(out, "noise", rows)
    plot_noise(out, rows)


def scgem(out: Path, repeats: int) -> None:
    """Score one partner each ("hard") and the mean of all, weighted by the plan ("barycentre"), in both spaces."""
    rows, of_one = [], lambda f: lambda X, Y: (p := f(X, Y), np.eye(len(Y))[p])
    for_any_size = {"pairup.match": match_and_plan, "SCOT as published": scot_as_published}
    others = {name: of_one(f) for name, f in installed().items() if name not in for_any_size}
    for suffix, methods in (("", for_any_size | others), ("_partial", for_any_size)):
        X, Y = cells(suffix)
        stage = np.loadtxt(data_folder() / f"singlecell/scGEM/pamona_expression_type{suffix}.txt")
        for name, function in methods.items():
            scores = []
            for seed in range(repeats):  # no method should feel the order of the cells
                _, shuffled, place = shuffle_pair(X, Y, seed)
                truth = np.r_[place, np.full(len(X) - len(Y), -1)]
                (indices, plan), cpu = timed(function, X, shuffled)
                back, known = inverse(indices, len(Y)), inverse(truth, len(Y))
                paired = indices >= 0
                scores.append({
                    "hard_Y": foscttm(indices, truth, shuffled), "hard_X": foscttm(back, known, X),
                    "barycentre_Y": barycentre_foscttm(plan, truth, shuffled),
                    "barycentre_X": barycentre_foscttm(plan.T, known, X),
                    "same_stage": (stage[paired] == stage[known][indices[paired]]).mean(), "cpu_seconds": cpu,
                })  # fmt: skip
            means = {key: np.mean([score[key] for score in scores]) for key in scores[0]}
            worst = max(score["hard_Y"] for score in scores)
            rows.append({"cells": f"{len(X)} and {len(Y)}", "method": name, **means, "worst_hard_Y": worst})
            print(" ".join(f"{v:.3f}" if isinstance(v, float) else f"{v:36s}" for v in rows[-1].values()), flush=True)
    write(out, "scgem", rows)


def inverse(indices: np.ndarray, size: int) -> np.ndarray:
    back = np.full(size, -1)
    back[indices[indices >= 0]] = np.flatnonzero(indices >= 0)
    return back


def barycentre_foscttm(plan: np.ndarray, truth: np.ndarray, Y: np.ndarray) -> float:
    plan, Y_true = plan[truth >= 0], Y[truth[truth >= 0]]
    D = cdist(Y_true, plan @ Y / np.maximum(plan.sum(axis=1, keepdims=True), 1e-300)).round(9)
    own = np.diag(D)[:, None]
    return ((D < own).sum(axis=1) + 0.5 * ((own == D).sum(axis=1) - 1)).mean() / (len(D) - 1)


def scale(out: Path, sizes: list[int]) -> None:
    rows = []
    for n in sizes:
        rng = np.random.default_rng(n)
        X, Y, truth = shuffle_pair(*RELATIONS["embeddings"](rng, n, 0.3), random_state=n)
        m, cpu = timed(pairup.match, X, Y)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append({"n": n, "accuracy": match_accuracy(m.indices, truth), "cpu_seconds": cpu, "peak_gb": peak})
        print(
            "n={n}: {accuracy:.3f} right, {cpu_seconds:.1f} CPU s, peak {peak_gb:.2f} GB".format(**rows[-1]), flush=True
        )
    write(out, "scale", rows)


# --- pictures and files ----------------------------------------------------------------------------------------------
def write(out: Path, name: str, content: object) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / f"matching-{name}.json").write_text(json.dumps(content, indent=1, default=float) + "\n")


def plot_curve(out: Path, curve: list[tuple[float, float, int]], error: float) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    said, was, count = zip(*curve, strict=True)
    ax.plot([0, 1], [0, 1], color="0.7")
    ax.scatter(said, was, s=[4 + 200 * c / max(count) for c in count])
    ax.set(xlabel="confidence", ylabel="share of pairs that are right", title=f"expected calibration error {error:.3f}")
    figure.savefig(out / "matching-calibration.png", dpi=120)


def plot_noise(out: Path, rows: list[dict]) -> None:
    import matplotlib.pyplot as plt

    kinds, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("relation", "method"))
    columns = (len(kinds) + 2) // 2  # two rows, with room for the legend
    figure, axes = plt.subplots(2, columns, figsize=(3.2 * columns, 6), sharey=True, layout="constrained")
    for ax in axes.flat[len(kinds) :]:
        ax.axis("off")
    for ax, kind in zip(axes.flat, kinds, strict=False):
        for k, method in enumerate(methods):
            x, y, spread = zip(
                *(
                    (r["noise"], r["accuracy"], r["spread"])
                    for r in rows
                    if (r["relation"], r["method"]) == (kind, method)
                ),
                strict=True,
            )
            aside = 0.004 * (k - (len(methods) - 1) / 2)  # bars beside each other can be told apart
            ax.errorbar(np.add(x, aside), y, spread, marker="o", ms=4, lw=2.5 - 1.5 * (k > 0), capsize=2, label=method)
        ax.set(title=kind, xlabel="noise", ylim=(-0.03, 1.03))
    figure.supylabel(f"accuracy, mean and deviation of {rows[0]['sets']} sets", fontsize="medium")
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize="small")
    figure.savefig(out / "matching-noise.png", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["peers", "study", "noise", "scgem", "scale"])
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--repeats", type=int, help="random sets per figure (10 for peers, 5 elsewhere)")
    parser.add_argument("--methods", nargs="+", default=[], help="peers: those whose name contains one of these words")
    parser.add_argument("--no-anchors", action="store_true", help="study: leave the runs with 5 %% known pairs out")
    parser.add_argument("--sizes", type=int, nargs="+", default=[320, 1000, 2000])
    args = parser.parse_args()
    if args.what == "study":
        study(args.out, with_anchors=not args.no_anchors)
    elif args.what == "scale":
        scale(args.out, args.sizes)
    elif args.what == "peers":
        peers(args.out, args.repeats or 10, args.methods)
    else:
        run = {"noise": noise, "scgem": scgem}[args.what]
        run(args.out, args.repeats or 5)


if __name__ == "__main__":
    main()
