"""
Two maps without names
======================

Sixty towns on a map, and the same towns on another map that is turned, stretched, drawn by hand and has no
names. Which town is which? Only the distances within each map are used.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import pairup
from pairup.metrics import match_accuracy

rng = np.random.default_rng(4)
towns = rng.gamma(2.0, size=(60, 2)) * [
    3,
    2,
]  # some regions have many towns, some few
turned = (
    towns
    @ np.array([[np.cos(2.2), -np.sin(2.2)], [np.sin(2.2), np.cos(2.2)]])
    * [1, 1.3]
)
order = rng.permutation(60)
drawn = (turned + 0.06 * rng.normal(size=turned.shape))[order]

matching = pairup.match(towns, drawn)
print(matching.report)
print(f"right: {match_accuracy(matching.indices, np.argsort(order)):.0%}")

# %%
# Partners have one colour. The lines join each town with the partner that was found.

colours = plt.cm.viridis((towns[:, 0] - towns[:, 0].min()) / np.ptp(towns[:, 0]))
left, right = (
    (Z - Z.mean(axis=0)) / Z.std() for Z in (towns, drawn[matching.indices])
)
right = right + np.array([5.5, 0])
figure, ax = plt.subplots(figsize=(10, 5), layout="constrained")
ax.add_collection(
    LineCollection(
        np.stack([left, right], axis=1), colors="0.85", linewidths=0.7, zorder=0
    )
)
ax.scatter(*left.T, c=colours, s=70, edgecolors="white")
ax.scatter(*right.T, c=colours, s=70, edgecolors="white")
ax.set_title("the map, and the drawing by hand")
ax.set_aspect("equal")
ax.axis("off")
figure.show()
