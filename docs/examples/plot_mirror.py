"""
A curve and its mirror image
============================

Where a set looks the same from both ends, nothing in the data tells the two directions apart. Every pair may
then be wrong at once, in a perfectly dependent way. Look at `alternatives`, and give two or three known pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup.metrics import match_accuracy

rng = np.random.default_rng(0)
t = np.linspace(-1, 1, 80)
curve = np.column_stack([t, t**2])
wave = np.column_stack([np.sin(3 * t), t])[:, ::-1] + 0.02 * rng.normal(
    size=(80, 2)
)
order = rng.permutation(80)
truth = np.argsort(order)

alone = pairup.match(curve, wave[order])
print(alone.verdict)
print(f"right without known pairs: {match_accuracy(alone.indices, truth):.0%}")
for other in alone.alternatives:
    print(
        f"another solution, {other.score:.2f} as good, "
        f"with {other.agreement:.0%} of the pairs in common"
    )

# %%
# The verdict is wrong here. It knows that the two sets depend on each other, and they do; it cannot know from
# which end. The other solution gives it away: nearly as good, and no pair in common. With a set that is a
# curve, always look.

# %%
# Three known pairs.

known = [(5, truth[5]), (40, truth[40]), (70, truth[70])]
helped = pairup.match(curve, wave[order], anchors=known)
print(f"right with three known pairs: {match_accuracy(helped.indices, truth):.0%}")

# %%
# The colour of a point is its place along the first curve; a pair is right if its colours agree.

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
axes[0].scatter(*curve.T, c=t, s=22)
axes[0].set_title("the first set")
for ax, m, title in (
    (axes[1], alone, "matched alone"),
    (axes[2], helped, "with three known pairs"),
):
    ax.scatter(*wave[order][m.indices].T, c=t, s=22)
    ax.set_title(
        f"the second set, {title}:\n{match_accuracy(m.indices, truth):.0%} right"
    )
for ax in axes:
    ax.set_xticks([])
    ax.set_yticks([])
figure.show()
