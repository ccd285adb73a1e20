"""
A thousand colours in order
===========================

Albums sort anything that has features. Here the items are 1,024 random colours, three numbers each, and the
frame is a square.
"""

import matplotlib.pyplot as plt
import numpy as np

from pairup.album import Frame, arrange

colours = np.random.default_rng(0).random((1024, 3))
album = arrange(colours, Frame.grid(32, 32))

figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
axes[0].imshow(colours.reshape(32, 32, 3))
axes[0].set_title("as drawn")
axes[1].imshow(colours[album.order].reshape(32, 32, 3))
axes[1].set_title("in order")
print(album.quality.in_words)
for ax in axes:
    ax.axis("off")
figure.show()

# %%
# Three dimensions do not fit into two without a break; how much of the order is kept is measured by DPQ16,
# which is 1 for a perfect order. :doc:`/guide/comparison` has it beside other programs.

print(album.quality)
