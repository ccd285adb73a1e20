"""
Two sets that have nothing to do with each other
================================================

Any two sets can be paired up. The verdict says whether the pairs mean anything: it compares them with those
that the same search finds in unrelated sets of the same shape.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup

rng = np.random.default_rng(0)
X = rng.gamma(2.0, size=(60, 4)) * [4, 3, 2, 1]
related = X[::-1] @ rng.normal(size=(4, 6)) + 0.1 * rng.normal(size=(60, 6))
unrelated = rng.gamma(2.0, size=(60, 4)) @ rng.normal(size=(4, 6))

matchings = {
    "related": pairup.match(X, related),
    "unrelated": pairup.match(X, unrelated),
}
for name, matching in matchings.items():
    print(f"{name}: {matching.verdict}")

# %%
# The probabilities of the pairs. Those of the unrelated sets are near zero: nobody should act on them.

figure, axes = plt.subplots(
    1, 2, figsize=(9, 3.2), layout="constrained", sharey=True
)
for ax, (name, matching) in zip(axes, matchings.items(), strict=True):
    ax.hist(
        matching.confidence,
        bins=np.linspace(0, 1, 21),
        color="#b8005f" if matching.reliable else "0.6",
    )
    ax.set_title(f"{name}: {'reliable' if matching.reliable else 'not reliable'}")
    ax.set_xlabel("probability that the pair is right")
axes[0].set_ylabel("pairs")
figure.show()
