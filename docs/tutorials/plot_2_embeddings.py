"""
Embeddings of two models
========================

Two neural networks were trained apart, on different pictures. You have the vectors that each gives to the same
200 new pictures, but not which vector of one belongs to which of the other; or you want to know whether two
models see the world alike, without a single labelled pair. At the end of this page you know whether vectors of
one model can be searched with those of the other.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import pairup
from pairup.metrics import match_accuracy

# %%
# The data
# --------
# Two networks of different width and seed learn to read digits from different training sets. Their hidden
# layers are the embeddings. Replace `first` and `second` by your own arrays: one row per object, any number of
# columns.

digits = load_digits()
pixels = digits.data / 16


def train(rows, width, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sixty passes are enough here
        return MLPClassifier((width,), max_iter=60, random_state=seed).fit(
            pixels[rows], digits.target[rows]
        )


def embed(model, rows):
    return np.maximum(pixels[rows] @ model.coefs_[0] + model.intercepts_[0], 0)


one, two = train(slice(600, 1200), 32, 0), train(slice(1200, None), 48, 1)
rows = np.arange(200)
order = np.random.default_rng(0).permutation(200)
first, second = embed(one, rows), embed(two, rows)[order]
truth = np.argsort(order)
print(first.shape, second.shape)

# %%
# Coordinates mean nothing across models
# --------------------------------------
# The columns of the two have nothing to do with each other: even their number differs. What both models share
# is which pictures are alike. That is all that `match` uses.

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, Z, name in (
    (axes[0], first, "first model"),
    (axes[1], second[truth], "second model"),
):
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=-1)
    by_digit = np.argsort(digits.target[:200], kind="stable")
    ax.imshow(distances[np.ix_(by_digit, by_digit)], cmap="magma")
    ax.set_title(f"{name}: distances of 200 pictures")
    ax.axis("off")
figure.show()

# %%
# The matching
# ------------

matching = pairup.match(first, second)
print(matching.report)
print(f"right: {match_accuracy(matching.indices, truth):.0%}, which nobody told it")

# %%
# Is that luck? Compare with a model that saw something else
# ----------------------------------------------------------
# The same search on vectors of other pictures of the same digits. The verdict must be different, or it is worth
# nothing.

others = pairup.match(first, embed(two, np.arange(300, 500)))
print(others.verdict)

# %%
# Search one model with the other
# -------------------------------
# A hundred new pictures. `translate` carries their vectors from the first model into the space of the second;
# there we look for the nearest vector.

new = np.arange(200, 300)
images, targets = matching.translate(embed(one, new)), embed(two, new)
ranks = np.argsort(np.linalg.norm(images[:, None] - targets[None], axis=-1), axis=1)
first_hit = float(np.mean(ranks[:, 0] == np.arange(100)))
in_ten = float(np.mean([k in ranks[k, :10] for k in range(100)]))
digit = float(np.mean(digits.target[new][ranks[:, 0]] == digits.target[new]))
print(
    f"the very picture is the nearest: {first_hit:.0%}, "
    f"among the ten nearest: {in_ten:.0%}; "
    f"the nearest shows the same digit: {digit:.0%}"
)

# %%
# The decision
# ------------
# The verdict is "reliable" for the same pictures and "not reliable" for other ones, so it is not flattery. The
# two spaces can be searched as one, without training anything again. The figures of the last step are measured
# on pictures that the matching never saw: these are the ones to report. Models of real use differ more than
# these two; repeat the last step with some pairs that you do know before you rely on it.
