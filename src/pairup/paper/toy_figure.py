"""Figure 1 of the paper, panels (a) to (f), from the rows of the toy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairup.datasets import make_cubic
from pairup.extras import require
from pairup.paper.protocol import Task
from pairup.paper.runner import Row


def draw(rows: Sequence[Row]) -> Any:
    """Draw the first run: unpaired data, eigenvalue-based start, two matchings, two convergence curves.

    The title of a matching says how much of it is right or, if that is more, mirrored; the mirrored curve is dashed.
    The curve of LSOM is that of one setting: LSMI at different widths is not comparable.

    Parameters
    ----------
    rows : sequence of dict
        Rows of the experiment "toy".

    Returns
    -------
    figure : matplotlib Figure
        Six panels; those of a method without rows stay empty.
    """
    pyplot = require("matplotlib.pyplot", extra="plot")
    first = {row["method"]: row for row in rows if row["run"] == 0}
    task = Task("toy", "KS-NOCCO", rows[0]["n"], 0)
    X, Y, _ = make_cubic(task.n, random_state=task.seed)
    line = np.linspace(-1, 1, 200)
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7), layout="constrained")
    panels = [("(a) unpaired data", np.arange(len(X)))]
    if "KS-NOCCO" in first:
        panels.append(("(b) eigenvalue-based start", np.array(first["KS-NOCCO"]["result"]["start"])))
    for letter, method in (("c", "KS-NOCCO"), ("d", "LSOM")):
        if method in first:
            result = first[method]["result"]
            right, mirrored = result["accuracy"], result["accuracy_mirror"]
            share = f"{mirrored:.0%} mirrored" if mirrored > right else f"{right:.0%} right"
            panels.append((f"({letter}) matched by {method}: {share}", np.array(result["indices"])))
    for ax, (title, indices) in zip(axes.flat, panels, strict=False):
        ax.plot(line, line**3, color="0.6", zorder=0)
        if title.endswith("mirrored"):
            ax.plot(line, -(line**3), color="0.6", linestyle="--", zorder=0)
        ax.scatter(X[:, 0], Y[indices, 0], s=16, facecolors="none", edgecolors="C0")
        ax.set(title=title, xlabel="x", ylabel="y")
    curves = ((axes[1, 1], "e", "KS-NOCCO", "NOCCO"), (axes[1, 2], "f", "LSOM, c = √10, λ = 0.1", "LSMI"))
    for ax, letter, method, label in curves:
        if method in first:
            values = first[method]["result"]["values"]
            ax.plot(range(len(values)), values, marker="o")
            ax.set(title=f"({letter}) {label} in {method}", xlabel="iteration", ylabel=label)
            ax.set_xticks(range(0, len(values), max(1, len(values) // 8)))
    return figure
