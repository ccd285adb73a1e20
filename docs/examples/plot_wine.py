"""
One table torn in two
=====================

The chemistry of 60 wines, torn into two tables of different columns. By dependence alone hardly any wine finds
its other half; with two columns that both tables have, measured twice, most of them do. What is claimed stays
far below that: nothing is known beforehand about how closely the two measurements agree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import pairup
from pairup.metrics import match_accuracy

wine = (
    load_wine(as_frame=True).data.sample(60, random_state=0).reset_index(drop=True)
)
common = ["color_intensity", "flavanoids"]
left = wine[["malic_acid", "ash", "magnesium", "proline", *common]]
right = wine[
    ["total_phenols", "proanthocyanins", "alcalinity_of_ash", "hue", *common]
].sample(frac=1, random_state=1)
truth = np.argsort(right.index)
right = right.reset_index(drop=True)
right[common] *= np.random.default_rng(0).normal(
    1, 0.03, size=(60, 2)
)  # measured again, 3 % off

# %%
# The common columns are found by themselves and compared directly; ``on="none"`` leaves them among the others.

shares = {}
for name, on in (("not compared", "none"), ("compared", "auto")):
    matching = pairup.match(left, right, on=on)
    shares[name] = match_accuracy(matching.indices, truth)
    print(f"common columns {name}: {shares[name]:.0%} right\n{matching.report}\n")

# %%

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(list(shares), list(shares.values()), color=["0.7", "#b8005f"])
ax.bar_label(bars, [f" {share:.0%}" for share in shares.values()])
ax.set(
    xlim=(0, 1),
    xlabel="share of wines that found their other half",
    title="two common columns",
)
figure.show()
