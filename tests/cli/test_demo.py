import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from pairup.cli import pairup_command
from pairup.mosaic import MARK

RESULTS = ["album.html", "album.png", "demo.html", "demo.png"]


def demo(*arguments):
    return CliRunner().invoke(pairup_command, ["demo", "--no-open", *arguments])


def framed_tiles(path):
    """Count the tiles of a sheet whose upper left corner bears a frame."""
    sheet = np.asarray(Image.open(path))
    marks = (sheet == MARK).all(axis=2)
    corners = marks[1:, 1:] & ~marks[:-1, 1:] & ~marks[1:, :-1]
    return int(corners.sum())


def test_demo_puts_shredded_pictures_together(tmp_path):
    result = demo("--tiles", "60", "--output", str(tmp_path), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["task"], answer["pairs"]) == ("strips", 60)
    assert answer["right"] >= 57
    assert answer["sure"] >= 50
    assert answer["sure_and_right"] >= 0.95 * answer["sure"]
    assert framed_tiles(answer["picture"]) == 60 - answer["right"]
    for name in ("page", "album"):
        assert "<title>pairup demo</title>" in Path(answer[name]).read_text(encoding="utf-8")


def test_halves_are_harder_and_the_wrong_ones_are_framed(tmp_path):
    answer = json.loads(demo("--task", "halves", "--tiles", "40", "--output", str(tmp_path), "--json").stdout)
    assert 4 < answer["right"] < 40
    assert answer["sure"] < 40
    assert framed_tiles(answer["picture"]) == 40 - answer["right"]


def test_demo_tells_what_it_found_and_where_and_what_to_try_next(tmp_path):
    folder = tmp_path / "new" / "folder"
    result = demo("--tiles", "12", "--output", str(folder))
    assert re.match(r"\d+ of 12 pictures put together correctly, without labels \(at random: 1\)\. ", result.stdout)
    assert "\nIts own verdict: " in result.stdout
    assert str(folder / "demo.png") in result.stdout
    assert sorted(path.name for path in folder.iterdir()) == RESULTS
    tried = result.stdout.partition("Try next:")[2]
    assert re.findall(r"^  (pairup \w+)", tried, re.MULTILINE) == ["pairup album", "pairup match", "pairup studio"]


def test_demo_overwrites_nothing_unless_forced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairup-demo").mkdir()
    assert demo("--tiles", "5").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "pairup-demo-2").iterdir()) == RESULTS
    refused = demo("--tiles", "5", "--output", "pairup-demo-2")
    assert refused.exit_code == 1
    assert "pairup-demo-2/demo.png and 3 more exist; choose another output or pass --force" in refused.stderr
    assert demo("--tiles", "5", "--output", "pairup-demo-2", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tiles", "1"), "1 is not in the range"),
        (("--tiles", "99999"), "n must lie between 1 and"),
        (("--task", "confetti"), "'confetti' is not one of 'strips'"),
    ],
)
def test_demo_refuses_what_cannot_be(arguments, said, tmp_path):
    result = demo(*arguments, "--output", str(tmp_path))
    assert result.exit_code != 0
    assert said in result.stderr + str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_demo_says_why_it_cannot_write(tmp_path):
    (tmp_path / "file").touch()
    result = demo("--output", str(tmp_path / "file" / "folder"))
    assert isinstance(result.exception, OSError)
    assert re.match(r"cannot make the folder .*: Not a directory; choose another output", str(result.exception))
