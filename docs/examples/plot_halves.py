"""
Left and right halves of pictures
=================================

The paper's second experiment on pictures that ship inside scikit-image and scikit-learn: every picture is cut
in the middle, the right halves are shuffled, and the task is to find the right half of each left half. This is
much harder than shreds, and about half of them are found.
"""

import matplotlib.pyplot as plt

import pairup
from pairup.datasets import half_images, load_tiles, to_lab
from pairup.metrics import match_accuracy
from pairup.plots import MatchedImagesDisplay

tiles = load_tiles(120)
X, Y, truth = half_images(to_lab(tiles))

# %%
# Each half is a vector of 40 × 20 Lab colours. No distance between a left and a right half is used, only
# distances within each set.

for method in ("ks-hsic", "ks-nocco", "lsom", "auto"):
    matching = pairup.match(X, Y, method=method)
    print(
        f"{method}: {match_accuracy(matching.indices, truth, Y):.0%} "
        f"of the right halves found"
    )
    print(f"  {matching.verdict}")
print(f"chance: {1 / len(X):.1%}")

# %%
# The matching of the default method. Wrong pairs are framed. Most of them are between plain tiles, such as sky:
# a left half of one sky goes with the right half of any other, and nothing within the sets tells them apart.
# The expected share of right pairs says how many that will be. On the paper's photos, which differ more, it is
# above nine in ten (:doc:`/guide/comparison`).

left, right = tiles[:, :, :20], tiles[truth.argsort(), :, 20:]
figure, ax = plt.subplots(figsize=(9, 7.2), layout="constrained")
display = MatchedImagesDisplay.from_matching(
    matching, left, right, truth=truth, ax=ax
)
