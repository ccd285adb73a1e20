import csv
import json
from pathlib import Path

import numpy as np
import pytest
from album_photos import last, read_folder, write_photos
from PIL import Image

from pairup.album import Album
from pairup.studio.album_export import export
from pairup.studio.album_tasks import read


@pytest.fixture
def written(tmp_path):
    """Write an album of twelve photos, the first turned, the last left out, to a file."""
    files = read_folder(read, tmp_path / "project", write_photos(tmp_path / "photos"))

    def write(suffix, **style):
        result = last(
            export(
                tmp_path / "project",
                photos=list(range(12)),
                names=[file["name"] for file in files],
                paths=[Path(file["path"]) for file in files],
                rotations={0: 1},
                cells=[[row, column] for row in range(3) for column in range(4)],
                order=[*range(11), -1],
                pins=[3],
                frame="grid",
                weights={"colour": 1.0, "edges": 0.5, "date": 0.0},
                style={"gap": 0.0, "radius": 0.0, "background": "#102030", "fit": "crop", "title": "<b>T</b>", **style},
                suffix=suffix,
            )
        )
        path = tmp_path / "project" / "files" / result["id"]
        assert [other.name for other in path.parent.iterdir()] == [path.name]
        return path

    return write


def test_a_picture_shows_photos_in_their_places_turned_where_they_are(written):
    pixels = np.asarray(Image.open(written(".png", cell=30)).convert("RGB"))
    assert pixels.shape == (90, 120, 3)
    assert pixels[3, 26].min() > 200  # the light corner of the first photo, turned to the right
    assert pixels[3, 3].max() < 220
    assert pixels[3, 33].min() > 200  # that of the second, where it was
    assert pixels[75, 105].tolist() == [16, 32, 48]  # the empty cell


@pytest.mark.parametrize(
    ("suffix", "start"), [(".jpg", b"\xff\xd8"), (".pdf", b"%pdf"), (".svg", b"<svg"), (".html", b"<!doctype html>")]
)
def test_other_formats(written, suffix, start):
    content = written(suffix, paper="a6", dpi=40).read_bytes()
    assert content.lower().startswith(start)
    assert b"<b>T" not in content


def test_a_table_names_cells_and_what_is_left_out(written):
    rows = list(csv.reader(written(".csv").read_text().splitlines()))
    assert rows[1] == ["img1.png", "0", "0"]
    assert rows[-1] == ["img12.png", "", ""]


def test_a_saved_album_can_be_loaded_from_anywhere(written, tmp_path):
    content = written(".json").read_bytes()
    (tmp_path / "elsewhere.json").write_bytes(content)
    album = Album.load(tmp_path / "elsewhere.json")
    assert album.photos[0].quarters == 1
    assert album.pins == {3: 3}
    assert album.left_out == (11,)
    assert json.loads(content)["frame"]["name"] == "grid"
