"""Blind matching of real sets: `pairup.match` beside POT, scipy, SCOT and rotations of matched centres, in one run.

    python3 dev.py bench blind                        all rows, all methods
    python3 dev.py bench blind photos yeast           rows whose name contains one of these words
    python3 dev.py bench blind --methods pairup FAQ   methods whose name contains one of these words

Nobody is told a pair. "right" is the share of objects with their own partner; FOSCTTM the share of samples closer than
the true match (0 is perfect, ½ is chance). Two sets of cells: scGEM (177 cells, the mean partner by the plan, seen from
the true one) and PBMC (fitted on disjoint halves, all 2,407 cells carried over by one regression for everyone, seen
from the image; one split). Peers run with ten starts, from 700 objects on with two, or with the parameters or the rule
that their authors published. A method that takes no graphs, or takes too long, has no figure there.

Results are kept in blind.json and computed once; --again computes them anew. Data are read below PAIRUP_DATA, and what
is missing is left out.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import graphs
import numpy as np
from matching import barycentre_foscttm, cells, cut, flickr
from rivals import RIVALS, Plan

import pairup
from pairup.datasets import data_folder, shuffle_pair
from pairup.metrics import image_foscttm, match_accuracy
from pairup.parallel import pinned_blas
from pairup.regression import MatchedRegressor, predict_held_out, restore_spread

OURS = "pairup.match"
SLOW_FROM = 200  # objects from which the label-free rule of SCOT, some twenty solves, takes too long


@dataclass(frozen=True)
class Task:
    """One row of the table."""

    name: str
    score: str  # "right" or "FOSCTTM"
    load: Callable[[], tuple]
    n: int
    kind: str = "tables"  # "graphs", "halves" or "plan" otherwise


def embeddings(file: str, x: str, y: str, n: int) -> tuple:
    data = np.load(data_folder() / f"embeddings/{file}.npz")
    rows = np.random.default_rng(n).permutation(len(data[x]))[:n]
    return shuffle_pair(data[x][rows].astype(float), data[y][rows].astype(float), n)


def blood() -> tuple:
    data = np.load(data_folder() / "cells/pbmc2407.npz")
    order = np.random.default_rng(0).permutation(len(data["rna"]))
    return data["rna"].astype(float), data["atac"].astype(float), order


def tasks() -> list[Task]:
    """All rows, the quick ones first."""
    text = partial(partial, embeddings)
    return [
        Task("photos, left and right halves, n = 100", "right", lambda: cut(flickr()[:100], "left/right"), 100),
        Task("photos, left and right halves, n = 320", "right", lambda: cut(flickr(), "left/right"), 320),
        Task("cells scGEM, n = 177", "FOSCTTM", lambda: shuffle_pair(*cells()), 177, "plan"),
        Task("captions, two models, n = 300", "right", text("captions12k", "minilm_en", "wordllama_en", 300), 300),
        Task("sentences, two models, n = 300", "right", text("pud1000", "minilm_en", "wordllama_en", 300), 300),
        Task("languages, English and German, n = 300", "right", text("captions12k", "lsa_en", "lsa_de", 300), 300),
        Task("yeast networks, 5 % noise, n = 1004", "right", lambda: graphs.yeast(5), 1004, "graphs"),
        Task("yeast networks, 25 % noise, n = 1004", "right", lambda: graphs.yeast(25), 1004, "graphs"),
        Task("sentences, two models, n = 1000", "right", text("pud1000", "minilm_en", "wordllama_en", 1000), 1000),
        Task("languages, English and Russian, n = 1000", "right", text("pud1000", "minilm_en", "navec_ru", 1000), 1000),
        Task("cells PBMC, disjoint halves, n = 1203", "FOSCTTM", blood, 1203, "halves"),
    ]


# --- methods ---------------------------------------------------------------------------------------------------------
GRAPH_SOLVERS = {"POT Gromov-Wasserstein": graphs.by_pot, "scipy FAQ": graphs.by_scipy}


def reason_to_skip(method: str, task: Task) -> str:
    """Say why a method has no figure in a row; empty where it has one."""
    if method == OURS:
        return ""
    if task.kind == "graphs":
        return "" if method in GRAPH_SOLVERS else "takes no graphs"
    if method == "SCOT, label-free rule" and task.n >= SLOW_FROM:
        return "takes too long"
    module = RIVALS[method][0]
    return f"{module} is not installed" if module is not None and find_spec(module) is None else ""


def run(method: str, task: Task) -> dict[str, object]:
    """Return score, CPU seconds and verdict of a method on a row."""
    problem = task.load()
    verdict = ""
    start = time.process_time()
    with pinned_blas():
        if task.kind == "graphs":
            A, B, truth = problem
            if method == OURS:
                m = pairup.match(A, B)
                indices, verdict = m.indices, describe(m)
            else:
                indices = GRAPH_SOLVERS[method](A, B)
            seconds = time.process_time() - start
            value = match_accuracy(indices, truth)
        else:
            X, Y = problem[:2]
            a, b = halves(problem) if task.kind == "halves" else (np.arange(len(X)), np.arange(len(Y)))
            m = pairup.match(X[a], Y[b]) if method == OURS else None
            plan = RIVALS[method][1](X[a], Y[b]) if m is None else m.probabilities
            seconds = time.process_time() - start
            verdict = "" if m is None else describe(m)
            value = score(task, problem, plan, m)
    return {"score": value, "seconds": seconds, "verdict": verdict}


def halves(problem: tuple) -> tuple[np.ndarray, np.ndarray]:
    order = problem[2]
    return order[: len(order) // 2], order[len(order) // 2 :]


def describe(m: pairup.Matching) -> str:
    return f"{'reliable' if m.reliable else 'not reliable'}, {m.reliability:.0%} expected"


def score(task: Task, problem: tuple, plan: Plan, m: pairup.Matching | None) -> float:
    """Return the share of right pairs or the FOSCTTM of a plan."""
    X, Y = problem[:2]
    if task.kind == "halves":
        a, b = halves(problem)
        images = carry(X[a], Y[b], plan, X) if m is None else m.translate(X)
        return image_foscttm(images, np.arange(len(X)), Y)
    if task.kind == "plan":
        return barycentre_foscttm(plan, problem[2], Y)
    indices = pairup.assignment.assign(plan) if m is None else m.indices
    return match_accuracy(indices, problem[2], Y)


def carry(X: np.ndarray, Y: np.ndarray, plan: Plan, new: np.ndarray) -> np.ndarray:
    """Carry objects over by the regression of `Matching.translate`, fitted to the mean partners of a plan."""
    known = plan.sum(axis=1) > 1e-12
    points, partners = X[known], (plan[known] / plan[known].sum(axis=1, keepdims=True)) @ Y
    model = MatchedRegressor().fit(points, partners)
    return restore_spread(model.predict(new), predict_held_out(model, points, partners), Y)


# --- table and picture -----------------------------------------------------------------------------------------------
def table(results: dict, rows: list[Task], methods: list[str]) -> str:
    """Return the results in markdown: score, and CPU seconds in brackets."""
    lines = ["| set | score | " + " | ".join(methods) + " | verdict |", "|---" * (len(methods) + 3) + "|"]
    for task in rows:
        found = results.get(task.name, {})
        shown = [format_cell(found.get(method)) for method in methods]
        verdict = found.get(OURS, {}).get("verdict", "")
        lines.append(f"| {task.name} | {task.score} | " + " | ".join(shown) + f" | {verdict} |")
    return "\n".join(lines)


def format_cell(result: dict | None) -> str:
    if result is None or "skipped" in result:
        return "–"
    return f"{result['score']:.3f} ({result['seconds']:.0f} s)"


def draw(results: dict, rows: list[Task], methods: list[str], path: Path) -> None:
    """Draw one line per row, with a mark per method; accuracy above, FOSCTTM below."""
    import matplotlib.pyplot as plt

    parts = [[t for t in rows if t.score == kind and t.name in results] for kind in ("right", "FOSCTTM")]
    parts = [part for part in parts if part]
    if not parts:
        return
    figure, axes = plt.subplots(
        len(parts), 1, figsize=(8.5, 1.8 + 0.42 * sum(map(len, parts))), layout="constrained", squeeze=False,
        height_ratios=[len(part) + 1 for part in parts],
    )  # fmt: skip
    for ax, part in zip(axes[:, 0], parts, strict=True):
        for k, method in enumerate(methods):
            there = [(i, results[t.name].get(method, {})) for i, t in enumerate(part)]
            there = [(i, r["score"]) for i, r in there if "score" in r]
            if there:
                i, x = zip(*there, strict=True)
                size = 90 if method == OURS else 38
                ax.scatter(
                    x, i, s=size, marker="oDs^vP"[k], color=f"C{k}", label=method, zorder=3 - (k > 0), alpha=0.85
                )
        ax.set_yticks(range(len(part)), [t.name for t in part])
        ax.set_ylim(len(part) - 0.5, -0.5)
        ax.grid(axis="x", color="0.9")
        ax.grid(axis="y", color="0.93")
        accuracy = part[0].score == "right"
        ax.set_xlim((-0.02, 1.02) if accuracy else (0, None))
        ax.set_xlabel("share of objects with their right partner" if accuracy else "FOSCTTM (smaller is better)")
    handles = {label: h for ax in axes[:, 0] for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=3, frameon=False, fontsize="small"
    )
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="words that names of rows contain; all by default")
    parser.add_argument("--methods", nargs="*", default=[], help="words that names of methods contain")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"))
    parser.add_argument("--again", action="store_true", help="compute what is already there")
    args = parser.parse_args()
    everyone = [OURS, *RIVALS]
    methods = [m for m in everyone if not args.methods or any(word in m for word in args.methods)]
    rows = [t for t in tasks() if not args.rows or any(word in t.name for word in args.rows)]
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "blind.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for task in rows:
        for method in methods:
            done = results.setdefault(task.name, {})
            if method in done and not args.again:
                continue
            if reason := reason_to_skip(method, task):
                done[method] = {"skipped": reason}
                continue
            try:
                done[method] = run(method, task)
            except FileNotFoundError as error:
                print(f"{task.name}: left out, {error}")
                break
            path.write_text(json.dumps(results, indent=1, default=float) + "\n", encoding="utf-8")
            print(f"{task.name}; {method}: {format_cell(done[method])} {done[method]['verdict']}", flush=True)
    path.write_text(json.dumps(results, indent=1, default=float) + "\n", encoding="utf-8")
    text = table(results, tasks(), everyone)
    (args.out / "blind.md").write_text(text + "\n", encoding="utf-8")
    draw(results, tasks(), everyone, args.out / "blind.png")
    print(text)


if __name__ == "__main__":
    main()
