"""
Shredded pictures, put together again
=====================================

120 pictures are cut into ten strips each. The strips are dealt alternately onto two piles, and the second pile
is shuffled. Which strips belong together? No strip of one pile is ever compared with a strip of the other.
"""

import matplotlib.pyplot as plt

import pairup
from pairup.datasets import load_tiles
from pairup.shreds import Reunion, Shreds

shreds = Shreds.cut(load_tiles(120), "strips")
X, Y, truth = shreds.sets
print(
    f"pile 1: {X.shape[0]} objects of {X.shape[1]} numbers; "
    f"pile 2: {Y.shape[0]} of {Y.shape[1]}"
)

# %%
# Two arrays in, one result out. The true pairs are used only to count the right ones.

matching = pairup.match(X, Y)
reunion = Reunion(shreds, matching, "strips")
print(reunion.words)
print(matching.report)

# %%
# Both piles, and what became of them.

figure, ax = plt.subplots(figsize=(10, 6), layout="constrained")
ax.imshow(reunion.draw())
ax.axis("off")
figure.show()
