"""
How dependent are two paired sets?
==================================

The measures behind the matching are useful by themselves: they detect dependence of any form, while correlation
detects linear dependence only.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 200)
noise = rng.normal(scale=0.1, size=200)
sets = {
    "line": x + noise,
    "parabola": x**2 + noise,
    "circle": rng.choice([-1, 1], 200) * np.sqrt(1 - x**2) + noise,
    "independent": rng.uniform(-1, 1, 200),
}

# %%
# LSMI chooses its kernel width and regulariser by cross-validation, so no parameter has to be set. It estimates
# the squared-loss mutual information, which is 0 for independent sets.

figure, axes = plt.subplots(
    1, 4, figsize=(11, 3), sharex=True, layout="constrained"
)
for ax, (name, y) in zip(axes, sets.items(), strict=True):
    correlation = np.corrcoef(x, y)[0, 1]
    ax.scatter(x, y, s=6)
    ax.set_title(
        f"{name}\ncorrelation {correlation:.2f}\nLSMI {pairup.dependence(x, y):.2f}"
    )

# %%
# All four measures of the paper, paired and after shuffling.

print(f"{'measure':8} {'paired':>8} {'shuffled':>9}")
for measure in ("lsmi", "hsic", "nocco", "mi"):
    paired = pairup.dependence(x, sets["circle"], measure=measure)
    shuffled = pairup.dependence(
        x, rng.permutation(sets["circle"]), measure=measure
    )
    print(f"{measure:8} {paired:8.3f} {shuffled:9.3f}")
