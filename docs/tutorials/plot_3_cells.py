"""
Cells measured in two ways
==========================

Genes of some cells were sequenced, and the open chromatin of others from the same sample, because one cell does
not survive both. Which cells correspond? Here a careful answer is worth more than a bold one: at the end of
this page you know what may be said of single cells, and what of cell types.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup.metrics import image_foscttm, match_accuracy

# %%
# The data
# --------
# 150 cells that develop from one origin into three types, counted twice with the noise that counts have. With
# your own data take the counts of both measurements, normalized as you always do; the logarithm is enough here.

rng = np.random.default_rng(0)
n = 150
kind, age = rng.integers(0, 3, n), rng.beta(1.6, 0.8, n)
state = np.zeros((n, 4))
state[:, 0] = age
state[np.arange(n), 1 + kind] = 2 * np.maximum(
    age - 0.3, 0
)  # the types part at the age of 0.3
genes = rng.poisson(4.0 * np.exp(state @ (rng.gamma(1.0, 1.0, (4, 60)) - 1)))
peaks = rng.poisson(2.5 * np.exp(state @ (rng.gamma(1.0, 1.0, (4, 90)) - 1)))
order = rng.permutation(n)
X, Y, truth = np.log1p(genes), np.log1p(peaks)[order], np.argsort(order)
print(f"{X.shape[1]} genes, {Y.shape[1]} peaks, {n} cells each")

# %%
# Without any known pair
# ----------------------

matching = pairup.match(X, Y)
print(matching.report)

# %%
# It says not to rely on it, and why: another solution is as good. The three types have the same shape, so they
# can be exchanged without a trace, as the next line shows. No method that sees only likeness within each set
# can do better.


def describe(m):
    pairs, types = (
        match_accuracy(m.indices, truth),
        np.mean(kind[order][m.indices] == kind),
    )
    ages = np.corrcoef(age[order][m.indices], age)[0, 1]
    return f"pairs {pairs:.0%}, type {types:.0%}, age correlated {ages:.2f}"


print(f"right, by the truth: {describe(matching)}")

# %%
# A few known pairs
# -----------------
# In practice something is known: a marker gene and the peak beside it, or a few cells measured in both ways.
# Three old cells of each type are enough to tell the types apart.

known = [
    int(k)
    for each in range(3)
    for k in np.flatnonzero(kind == each)[np.argsort(-age[kind == each])[:3]]
]
helped = pairup.match(X, Y, anchors=[(k, int(truth[k])) for k in known])
print(helped.report)
print(f"right, by the truth: {describe(helped)}")

# %%
# Ask for less than pairs
# -----------------------
# Cells of the same type and age are alike up to noise. A single pair is then a coin toss, but the *expected*
# partner, the mean over all pairs weighted by their probabilities, is not. FOSCTTM is the share of cells that
# are nearer to it than the true partner: 0 is perfect, 0.5 is chance.

expected = helped.expected_partner()
print(f"FOSCTTM of the expected partners: {image_foscttm(expected, truth, Y):.3f}")

votes = np.stack(
    [helped.probabilities @ (kind[order] == each) for each in range(3)], axis=1
)
guess, share = votes.argmax(axis=1), votes.max(axis=1) / votes.sum(axis=1)
print(
    f"type of the other measurement, "
    f"by these probabilities: {np.mean(guess == kind):.0%} right; "
    f"where the vote is above 0.8: {np.mean((guess == kind)[share > 0.8]):.0%} "
    f"of {np.sum(share > 0.8)} cells"
)

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
flat = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
for ax, points, colours, title in (
    (axes[0], Y[truth], kind, "chromatin, coloured by the true type"),
    (axes[1], Y[truth], guess, "coloured by the type that the genes vote for"),
):
    ax.scatter(
        *((points - Y.mean(axis=0)) @ flat[2][:2].T).T,
        c=colours,
        cmap="Set1",
        vmin=0,
        vmax=8,
        s=24,
    )
    ax.set_title(title, fontsize=10)
    ax.set_xticks([])
    ax.set_yticks([])
figure.show()

# %%
# The decision
# ------------
# Do not report single pairs: the verdict forbids it, and the truth agrees. Report types carried over from genes
# to chromatin for the cells with a clear vote, with the nine known cells named as what they rest on. Without
# known cells, report nothing but the age. Real cells are harder than these: :doc:`/guide/comparison` has the
# figures.
