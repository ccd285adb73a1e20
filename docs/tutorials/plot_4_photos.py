"""
Photos: from a folder to a poster
=================================

A folder of photos, and a wall that wants a poster. At the end of this page there is a PDF that a print shop
takes, and a reason why it looks as it does.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

from pairup.album import Frame, Style, arrange, photo_features, read_photos
from pairup.album.render import draw_picture
from pairup.datasets import load_tiles

# %%
# The data
# --------
# A folder of photos. Here it is made of tiles that ship with scikit-image; use your own folder instead.

folder = Path(tempfile.mkdtemp()) / "photos"
folder.mkdir()
for number, tile in enumerate(load_tiles(180)):
    Image.fromarray(tile).save(folder / f"IMG_{number:04d}.jpg")

photos = read_photos(folder)
print(f"{len(photos)} photos, {len(photos.skipped)} files skipped")

# %%
# Choose a frame
# --------------
# A frame fits itself to the number of photos. Look at it before sorting; text needs enough photos to be read,
# and `legible` says whether there are enough.

for name in ("auto:1.4", "shape:heart", "text:2024"):
    frame = Frame.parse(name).fit(len(photos))
    print(
        f"{name}: {len(frame.cells)} cells,",
        "can be read" if frame.legible else "too few photos to be read",
    )

# %%
# What should be alike?
# ---------------------
# By default photos are compared by colours and edges. Sort by colour alone, and by edges alone, and compare.

wanted = {
    "colour and edges": None,
    "colour alone": {"edges": 0},
    "edges alone": {"colour": 0},
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for ax, (name, weights) in zip(axes, wanted.items(), strict=True):
    album = arrange(photos, "auto:1.4", features=photo_features(photos, weights))
    ax.imshow(draw_picture(album, Style(cell=20, gap=0.05)))
    ax.set_title(
        f"{name}:\n{album.quality.likeness:.1f}× more alike than in a random order",
        fontsize=10,
    )
    ax.axis("off")
figure.show()

# %%
# The numbers cannot be compared across the three, since each is measured by its own features: use your eyes.
# Seen from afar, a poster is read by its colours, so we take the default.
#
# Put one photo where it must be
# ------------------------------
# A pin fixes a photo to a cell, and the others arrange themselves around it.

frame = Frame.parse("auto:1.4").fit(len(photos))
centre = tuple(int(value) for value in frame.cells[len(frame.cells) // 2])
album = arrange(photos, frame, pins={"IMG_0042.jpg": centre})
print(album.quality.in_words)

# %%
# Print it
# --------
# A print shop wants a bleed: the picture goes 3 mm beyond the edge on each side and is cut there. The PDF says
# where.

style = Style(
    paper="a2", dpi=100, bleed=3, margin=12, background="#1d1d20", gap=0.06
)
poster = album.save(folder.parent / "poster.pdf", style)
sheets = album.save(
    folder.parent / "sheets.pdf",
    Style(paper="a4", dpi=100, page_rows=5, captions="name"),
)
web = album.save(folder.parent / "album.html")
print(
    [
        f"{path.name}: {path.stat().st_size // 1024} KiB"
        for path in (poster, sheets, web)
    ]
)

figure, ax = plt.subplots(
    figsize=(9, 6.4), layout="constrained", facecolor="#1d1d20"
)
ax.imshow(draw_picture(album, Style(cell=40, gap=0.06, background="#1d1d20")))
ax.axis("off")
figure.show()

# %%
# The decision
# ------------
# The rectangle, since 180 photos are enough for it without blanks; colours and edges, since the poster is seen
# from afar; one photo pinned; A2 with bleed. The same on the command line::
#
#     pairup album photos/ -o poster.pdf --frame auto:1.4 --pin IMG_0042.jpg=5,8 \
#         --paper a2 --bleed 3 --background '#1d1d20'
#
# ``album.save("album.json")`` keeps the order, so that the next print looks the same.
