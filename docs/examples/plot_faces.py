"""
Faces in a ring
===============

A hundred small faces of scikit-image, arranged in a ring by their light and shape. One of them is pinned to the
top.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

from pairup.album import Frame, Photos, Style, arrange
from pairup.album.render import draw_picture

faces = np.load(Path(skimage.data.__file__).parent / "lfw_subset.npy")[:100]
pictures = np.repeat((255 * faces).astype(np.uint8)[..., None], 3, axis=-1)
photos = Photos.from_arrays(pictures)
frame = Frame.shape("ring").fit(100)
top = frame.cells[
    np.lexsort(
        (np.abs(frame.cells[:, 1] - frame.cells[:, 1].mean()), frame.cells[:, 0])
    )[0]
]
album = arrange(photos, frame, pins={7: tuple(top)})
print(album.quality.in_words)

figure, ax = plt.subplots(figsize=(7, 7), layout="constrained")
ax.imshow(draw_picture(album, Style(cell=40, gap=0.1, radius=0.5)))
ax.axis("off")
figure.show()

# %%
# The shape has as many cells as there are faces, symmetric at any number.

print(frame.preview())
