"""
Objects without a partner
=========================

Of 100 shredded pictures on the first pile and 80 on the second, only 60 are on both. With ``overlap``, the
share of the smaller set that has a partner at all, the others stay alone.
"""

import matplotlib.pyplot as plt
import numpy as np

import pairup
from pairup.datasets import load_tiles
from pairup.shreds import Shreds

pictures = load_tiles(120)
shreds = Shreds.cut(pictures, "strips")
X, Y, truth = shreds.sets
first, second = (
    np.arange(100),
    truth[np.arange(40, 120)],
)  # pictures 40 to 99 are on both piles
matching = pairup.match(X[first], Y[second], overlap=60 / 80)

paired = np.flatnonzero(matching.indices >= 0)
right = matching.indices[paired] == paired - 40
print(
    f"{len(paired)} pairs, {right.sum()} of them right; "
    f"{np.sum(paired >= 40)} of their pictures are on both piles"
)
print(matching.verdict)

# %%
# Some pairs that were found, and objects that stay alone.

alone = np.flatnonzero(matching.indices < 0)
pieces = shreds.pieces(0)[first], shreds.pieces(1)[second]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")


def sheet(tiles, columns=8):
    rows = [
        np.concatenate(list(tiles[k : k + columns]), axis=1)
        for k in range(0, columns * 4, columns)
    ]
    return np.concatenate(rows)


axes[0].imshow(sheet(shreds.join(truth)[paired[:32]]))
axes[0].set_title("pictures whose pieces found each other")
axes[1].imshow(sheet(pieces[0][alone[:32]]))
axes[1].set_title("pieces that stay alone")
for ax in axes:
    ax.axis("off")
figure.show()
