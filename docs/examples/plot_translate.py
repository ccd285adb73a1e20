"""
From matched sets to new objects
================================

Once two sets are matched, new objects can be carried over: `translate` predicts where the partner of a new x
lies, and `assign` pairs up new sets without a new search.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup.metrics import match_accuracy

rng = np.random.default_rng(3)
X = rng.gamma(2.0, size=(110, 2))
Y = np.column_stack([np.log1p(X[:, 0]), np.sqrt(X[:, 1]) + 0.3 * np.log1p(X[:, 0])])
order = rng.permutation(80)
matching = pairup.match(X[:80], Y[:80][order])
print(matching.verdict)

# %%
# Thirty objects that the matching never saw.

images = matching.translate(X[80:])
error = np.linalg.norm(images - Y[80:], axis=1)
spread = np.linalg.norm(Y - Y.mean(axis=0), axis=1)
print(
    f"median distance to the true partner {np.median(error):.2f}, "
    f"to the middle of Y {np.median(spread):.2f}"
)
print(
    "new objects paired up: "
    f"{match_accuracy(matching.assign(X[80:], Y[80:]), np.arange(30)):.0%} right"
)

figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax.scatter(*Y[:80].T, s=14, color="0.75", label="the set that was matched")
ax.scatter(
    *Y[80:].T,
    s=34,
    facecolors="none",
    edgecolors="#222222",
    label="partners of new objects",
)
ax.scatter(*images.T, s=18, color="#b8005f", label="where they were expected")
for start, end in zip(Y[80:], images, strict=True):
    ax.plot(*zip(start, end, strict=True), color="#b8005f", linewidth=0.7)
ax.legend()
figure.show()
