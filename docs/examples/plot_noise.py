"""
How much noise it stands
========================

The same relation with more and more noise. The dots are what was right, the line is what `match` expected to be
right, without knowing the truth. Where the line falls below one half, the verdict is "not reliable".
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup.metrics import match_accuracy

levels = (0.0, 0.03, 0.06, 0.12, 0.25, 0.5)
right, expected = [], []
for level in levels:
    rng = np.random.default_rng(2)
    X = rng.gamma(2.0, size=(50, 4)) * [4, 3, 2, 1]
    Y = X @ rng.normal(size=(4, 6))
    order = rng.permutation(50)
    matching = pairup.match(
        X, (Y + level * Y.std() * rng.normal(size=Y.shape))[order]
    )
    right.append(match_accuracy(matching.indices, np.argsort(order)))
    expected.append(matching.reliability)

# %%

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(levels, expected, color="#b8005f", label="expected to be right")
ax.scatter(levels, right, color="#222222", zorder=3, label="right")
ax.axhline(0.5, color="0.6", linestyle="--", linewidth=1)
ax.text(
    levels[-1],
    0.52,
    "reliable above this line",
    ha="right",
    color="0.35",
    fontsize=9,
)
ax.set(
    xlabel="noise, in standard deviations of Y",
    ylabel="share of the pairs",
    ylim=(-0.03, 1.05),
)
ax.legend()
figure.show()
