import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from pairup.cli import pairup_command
from pairup.mosaic import MARK


def demo(*arguments):
    return CliRunner().invoke(pairup_command, ["demo", "--no-open", *arguments])


def framed_tiles(path):
    """Count the tiles of a sheet whose upper left corner bears a frame."""
    sheet = np.asarray(Image.open(path))
    marks = (sheet == MARK).all(axis=2)
    corners = marks[1:, 1:] & ~marks[:-1, 1:] & ~marks[1:, :-1]
    return int(corners.sum())


def test_demo_finds_more_than_chance_and_frames_the_wrong_pairs(tmp_path):
    result = demo("--tiles", "60", "--output", str(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["pairs"] == 60
    assert answer["right"] > 6 * answer["chance"]
    assert framed_tiles(answer["picture"]) == 60 - answer["right"]
    page = Path(answer["album"]).read_text(encoding="utf-8")
    assert "<title>pairup demo</title>" in page


def test_demo_tells_what_it_found_and_where(tmp_path):
    result = demo("--tiles", "30", "--output", str(tmp_path / "new" / "folder"))
    assert re.match(r"\d+ of 30 halves matched correctly by [a-z-]+; at random it would be 1\n", result.stdout)
    assert str(tmp_path / "new" / "folder" / "halves.png") in result.stdout
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "album.html",
        "album.png",
        "halves.png",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--tiles", "1"), "1 is not in the range"), (("--tiles", "99999"), "n must lie between 1 and")],
)
def test_demo_refuses_numbers_of_tiles_that_cannot_be(arguments, said, tmp_path):
    result = demo(*arguments, "--output", str(tmp_path))
    assert result.exit_code != 0
    assert said in result.stderr + str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_demo_says_why_it_cannot_write(tmp_path):
    (tmp_path / "file").touch()
    result = demo("--output", str(tmp_path / "file" / "folder"))
    assert isinstance(result.exception, OSError)
    assert re.match(r"cannot make the folder .*: Not a directory; choose another output", str(result.exception))
