"""Albums: photos in a frame of any shape, similar photos side by side."""

from pairup.album.album import Album
from pairup.album.arrangement import arrange, arrange_steps
from pairup.album.features import photo_features
from pairup.album.frames import Frame
from pairup.album.photos import Photos
from pairup.album.reading import read_photos
from pairup.album.render import Style

__all__ = ["Album", "Frame", "Photos", "Style", "arrange", "arrange_steps", "photo_features", "read_photos"]
