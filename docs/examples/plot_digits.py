"""
Handwritten digits in the shape of a word
=========================================

400 digits of scikit-learn, sorted by their pixels into letters. The labels are not used for sorting; they only
colour the second picture, which shows that equal digits found each other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pairup.album import Frame, Photos, Style, arrange
from pairup.album.render import draw_picture

digits = load_digits()
pictures = (255 * digits.images[:400] / 16).astype(np.uint8)
photos = Photos.from_arrays(np.repeat(pictures[..., None], 3, axis=-1))
album = arrange(photos, Frame.text("pair"), features=digits.data[:400])
print(album.quality.in_words)

figure, ax = plt.subplots(figsize=(10, 5), layout="constrained")
ax.imshow(draw_picture(album, Style(cell=30, gap=0.06)))
ax.axis("off")
figure.show()

# %%
# The same album, each digit a colour.

rows, columns = album.frame.cells.T
figure, ax = plt.subplots(figsize=(10, 4.4), layout="constrained")
points = ax.scatter(
    columns,
    -rows,
    c=digits.target[album.order],
    cmap="tab10",
    vmin=-0.5,
    vmax=9.5,
    marker="s",
    s=70,
)
ax.set_aspect("equal")
ax.axis("off")
figure.colorbar(points, ticks=range(10), label="digit", shrink=0.8)
figure.show()
