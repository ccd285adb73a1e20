"""
The paper's toy: a cubic curve
==============================

Figure 1 of the paper. One hundred numbers x are drawn from (−1, 1), and y = x³ is shuffled; the task is to find
which y belongs to which x, from the distributions of the two sets alone.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup import KSNOCCO, LSOM
from pairup.datasets import make_cubic
from pairup.metrics import match_accuracy
from pairup.plots import ConvergenceDisplay, MatchedPairsDisplay

X, Y, truth = make_cubic()


def cube(x):
    return x**3


# %%
# Both methods of the paper. KS-NOCCO has its best setting there; LSOM chooses its own. The dashed line is the
# mirror image of the curve. LSMI of different widths is not comparable, so the curve in (f) is that of one
# setting.

nocco = KSNOCCO(width=10**0.5, epsilon=0.05).fit(X, Y)
lsom = LSOM().fit(X, Y)
fixed = LSOM(widths=[10**0.5], lambdas=[0.1]).fit(X, Y)

mirror = np.empty(len(X), dtype=int)
mirror[np.argsort(X[:, 0])] = np.argsort(-Y[:, 0])


def share(indices):
    right, mirrored = (match_accuracy(indices, known) for known in (truth, mirror))
    return f"{mirrored:.0%} mirrored" if mirrored > right else f"{right:.0%} right"


pairings = {
    "(a) unpaired": np.arange(len(X)),
    "(b) a start": nocco.history_[0].indices,
    f"(c) KS-NOCCO: {share(nocco.assignment_)}": nocco.assignment_,
    f"(d) LSOM: {share(lsom.assignment_)}": lsom.assignment_,
}
searches = {"(e) NOCCO": nocco, "(f) LSMI": fixed}

figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
for ax, (title, indices) in zip(axes.flat, pairings.items(), strict=False):
    MatchedPairsDisplay.from_indices(indices, X, Y, function=cube, ax=ax)
    if title.endswith("mirrored"):
        ax.plot(
            np.sort(X[:, 0]),
            -(np.sort(X[:, 0]) ** 3),
            color="0.6",
            linestyle="--",
            zorder=0,
        )
    ax.set_title(title)
for ax, (title, model) in zip(axes.flat[4:], searches.items(), strict=True):
    ConvergenceDisplay.from_estimator(model, ax=ax)
    ax.set_title(title)

# %%
# A measure of dependence does not distinguish a curve from its mirror image: x against x³ and x against (−x)³
# are equally dependent, up to differences of the sample. So the matching is scored against both.

for name, model in {"KS-NOCCO": nocco, "LSOM": lsom}.items():
    right, mirrored = (
        match_accuracy(model.assignment_, t) for t in (truth, mirror)
    )
    print(
        f"{name}: {right:.0%} right, {mirrored:.0%} mirrored; "
        f"iterations: {model.n_iter_}"
    )

# %%
# The data cannot tell which it is, and more: any two sets of numbers can be sorted against each other, related
# or not. A result of `pairup.match` compares what was found with what is found in unrelated sets, and says so.

print(pairup.match(X, Y, method="lsom").report)
