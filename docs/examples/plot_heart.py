"""
A heart of photos
=================

An album is a matching too: photos on one side, places of a frame on the other. Similar photos come to lie side
by side.
"""

import matplotlib.pyplot as plt

from pairup.album import Frame, Photos, Style, arrange
from pairup.album.render import draw_picture
from pairup.datasets import load_tiles

photos = Photos.from_arrays(load_tiles(220))  # or read_photos("photos/")
album = arrange(photos, Frame.shape("heart"))
print(album.quality.in_words)

# %%
# The heart has as many cells as there are photos, and the same number on both sides, whatever the number.

figure, ax = plt.subplots(figsize=(7, 6.4), layout="constrained")
ax.imshow(draw_picture(album, Style(cell=40, gap=0.08)))
ax.axis("off")
figure.show()

# %%
# The same photos in other frames. ``album.save("album.html")`` writes a page to zoom into,
# ``album.save("album.pdf", Style(paper="a3", bleed=3))`` a poster.

frames = ("shape:circle", "shape:star", "text:ABC", "auto:1.5")
figure, axes = plt.subplots(2, 2, figsize=(9, 7.4), layout="constrained")
for ax, frame in zip(axes.flat, frames, strict=True):
    ax.imshow(draw_picture(arrange(photos, frame), Style(cell=24, gap=0.08)))
    ax.set_title(f'arrange(photos, "{frame}")', fontsize=10)
    ax.axis("off")
figure.show()
