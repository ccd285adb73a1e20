"""`pairup album` as a user runs it."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from pairup.cli.album import command

image = pytest.importorskip("PIL.Image", reason="needs the extra: pip install 'pairup[album]'")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRUP_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "photos"
    place.mkdir()
    for i, colour in enumerate(np.random.default_rng(1).integers(0, 255, (9, 3))):
        image.new("RGB", (60, 40), tuple(colour.tolist())).save(place / f"img {i}.jpg")
    (place / "notes.txt").write_text("not a photo")
    return place


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_several_outputs_one_line_of_quality_and_the_skipped_on_stderr(folder, tmp_path):
    outputs = [tmp_path / f"album.{suffix}" for suffix in ("html", "png", "json", "csv")]
    result = run(folder, "--frame", "3x3", *(part for output in outputs for part in ("-o", output)))
    assert result.exit_code == 0, result.stderr
    assert re.match(
        r"9 photos in 3x3: neighbours are \d\.\d× more alike than in a random order\nwritten: ", result.stdout
    )
    assert "notes.txt': not a picture" in result.stderr
    assert all(output.stat().st_size > 0 for output in outputs)
    again = run(outputs[2], "-o", tmp_path / "again.csv")
    assert again.exit_code == 0, again.stderr
    assert (tmp_path / "again.csv").read_text() == outputs[3].read_text()


def test_json(folder):
    answer = json.loads(run(folder, "--frame", "2x2", "--json", "--draft").stdout)
    assert answer["photos"] == 4
    assert len(answer["left_out"]) == 5
    assert answer["skipped"] == [{"file": "notes.txt", "reason": "not a picture of a known format"}]
    assert set(answer["quality"]) == {"dpq", "random", "tie_free", "kept", "likeness"}


def test_preview_needs_no_sorting(folder):
    assert run(folder, "--frame", "shape:circle", "--preview").stdout == "###\n###\n###\n"


def test_pins_weights_and_features(folder, tmp_path):
    np.save(tmp_path / "v.npy", np.arange(9.0)[:, None])
    output = tmp_path / "album.csv"
    options = ("--frame", "1x9", "--features", tmp_path / "v.npy", "--weight", "vectors=2", "-o", output)
    assert run(folder, *options).exit_code == 0
    column = [line.split(",")[0] for line in output.read_text().splitlines()[1:]]
    assert column in (sorted(column), sorted(column, reverse=True))
    assert run(folder, *options, "--pin", "img 4.jpg=0,0", "--force").exit_code == 0
    assert output.read_text().splitlines()[1] == "img 4.jpg,0,0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--frame", "nonsense"), "unknown frame"),
        (("--pin", "img 1.jpg"), "expected PHOTO=ROW,COLUMN"),
        (("--pin", "nobody.jpg=0,0"), "no photo is named"),
        (("--weight", "colour"), "expected NAME=NUMBER"),
        (("-o", "no/such/folder/a.html"), "does not exist"),
        (("-o", "album.doc"), "end its name in one of"),
        (("--background", "blurple"), "unknown colour"),
        (("--method", "magic"), "'magic' is not one of 'auto', 'lsom', 'ks-hsic', 'ks-nocco'"),
    ],
)
def test_wrong_calls(folder, options, message):
    result = run(folder, *options)
    assert result.exit_code != 0
    assert message in f"{result.exception} {result.stderr}"


def test_photos_are_decoded_on_the_cluster_that_is_named(folder, monkeypatch):
    from pairup import cluster

    def refuse(address):
        raise ConnectionError(f"no answer from {address}")

    monkeypatch.setattr(cluster, "on_cluster", refuse)
    assert str(run(folder, "--cluster", "tcp://127.0.0.1:1").exception) == "no answer from tcp://127.0.0.1:1"


def test_no_photos_given():
    result = run()
    assert result.exit_code == 2
    assert "no photos given; give a folder" in result.stderr


def test_photos_left_out_are_listed(folder):
    result = run(folder, "--frame", "2x2", "--draft")
    assert re.search(r"5 photos left out; a similar photo represents each:\n  '[^']+\.jpg'\n", result.stdout)


def test_many_photos_left_out_are_listed_only_with_verbose(folder):
    for i in range(6):
        image.new("RGB", (60, 40), (40 * i, 90, 90)).save(folder / f"more {i}.jpg")
    brief, long = run(folder, "--frame", "1x1"), run(folder, "--frame", "1x1", "--verbose")
    assert brief.stdout.startswith("1 photo in 1x1: ")
    assert brief.stdout.count(".jpg") == 10
    assert "… and 4 more; --verbose lists all" in brief.stdout
    assert long.stdout.count(".jpg") == 14
    assert "DPQ16" in long.stdout
    assert "DPQ16" not in brief.stdout


def test_existing_outputs_are_kept_unless_forced(folder, tmp_path):
    output = tmp_path / "album.csv"
    output.write_text("mine")
    refused = run(folder, "-o", output)
    assert refused.exit_code == 1
    assert "album.csv exists; choose another output or pass --force" in refused.stderr
    assert output.read_text() == "mine"
    assert run(folder, "-o", output, "--force").exit_code == 0
    assert output.read_text() != "mine"


def test_color_and_colour_are_one_weight(folder):
    answers = [run(folder, "--weight", f"{name}=0.3", "--json").stdout for name in ("color", "colour")]
    assert answers[0] == answers[1]
    assert answers[0] != run(folder, "--weight", "colour=0", "--json").stdout


def test_a_frame_that_cannot_be_read_or_filled_is_told(folder):
    result = run(folder, "--frame", "text:777", "--preview")
    assert re.search(r"Warning: 9 photos are too few to show text:777; it needs about \d+, or a simpler", result.stderr)
    result = run(folder, "--frame", "5x4", "--preview")
    assert result.stdout.splitlines() == ["####"] * 3
    assert "2 rows of 5x4 left out: 9 photos would leave them blank" in result.stderr


def test_seed_and_random_state_are_one_option(folder, tmp_path):
    texts = []
    for option in ("--seed", "--random-state"):
        assert run(folder, option, 3, "-o", tmp_path / "album.csv", "--force").exit_code == 0
        texts.append((tmp_path / "album.csv").read_text())
    assert texts[0] == texts[1]


def test_the_old_name_of_the_method_is_accepted_and_reported_on_stderr(folder):
    old, new = (run(folder, "--method", name) for name in ("default", "auto"))
    assert old.exit_code == 0
    assert old.stdout == new.stdout
    assert "'default' is now called 'auto'" in old.stderr
    assert "now called" not in new.stderr
    assert "default|" not in run("--help").stdout


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode there")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_names_that_are_not_utf8_are_printed(options, folder, tmp_path):
    (folder / "img 0.jpg").rename(folder / os.fsdecode(b"caf\xe9.jpg"))
    output = tmp_path / os.fsdecode(b"alb\xe9m.json")
    done = run(folder, "--frame", "1x1", "--draft", "-o", output, *options)
    assert done.exit_code == 0
    assert "caf\\udce9.jpg" in done.stdout
    assert output.exists()


def test_a_json_that_is_no_album_is_named(tmp_path):
    for content in ("[]", "{}", '{"format": "pairup album"}', '{"format": "pairup album", "version": 1, "frame": 3}'):
        (tmp_path / "a.json").write_text(content)
        done = run(tmp_path / "a.json")
        assert isinstance(done.exception, ValueError)
        assert f"{tmp_path / 'a.json'} is not a saved album" in str(done.exception)


def test_decoders_write_nothing_between_the_words(folder, tmp_path, rng):
    """The C libraries behind Pillow write what they find in damaged files to stderr by themselves."""
    picture = image.fromarray(rng.integers(0, 256, size=(60, 80, 3), dtype=np.uint8))
    for name in ("tiff_lzw", "tiff_adobe_deflate", "jpeg"):
        picture.save(folder / f"{name}.tif", compression=name)
        data = bytearray((folder / f"{name}.tif").read_bytes())
        data[200:2000] = bytes(byte ^ 0x5A for byte in data[200:2000])
        (folder / f"{name}.tif").write_bytes(data)
    outputs = [part for suffix in ("png", "json") for part in ("-o", str(tmp_path / f"a.{suffix}"))]
    command = [sys.executable, "-m", "pairup", "album", str(folder), "--force", *outputs]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = done.stderr.splitlines()
    assert told[0].endswith("files skipped:")
    assert all(line.startswith("  '") for line in told[1:]), done.stderr
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PAIRUP_DEBUG": "1"})
    assert len(shown.stderr.splitlines()) > len(told), "they would have written"


def test_a_folder_or_a_zip_becomes_a_wall(folder, tmp_path):
    done = run(folder, "-o", tmp_path / "wall", "-o", tmp_path / "wall.zip", "-o", tmp_path / "a.csv", "--frame", "3x3")
    assert done.exit_code == 0, done.stderr
    assert f"written: {tmp_path / 'wall'}\nwritten: {tmp_path / 'wall.zip'}\n" in done.stdout
    assert (tmp_path / "wall" / "index.html").is_file()
    refused = run(folder, "-o", tmp_path / "wall")
    assert refused.exit_code == 1
    assert "wall exists; choose another output or pass --force" in str(refused.exception)
    assert run(folder, "-o", tmp_path / "wall", "--force", "--originals", "copy").exit_code == 0
    assert len(list((tmp_path / "wall" / "originals").rglob("*.jpg"))) == 9
    refused = run(folder, "-o", folder, "--force")
    assert "holds other things" in str(refused.exception)
    assert len(list(folder.iterdir())) == 10


def test_a_large_page_suggests_a_wall(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("pairup.cli.album.LARGE", 8)
    done = run(folder, "-o", tmp_path / "a.html", "--draft")
    assert "a.html holds 9 photos in one file, small and slow to open; -o" in done.stderr
    assert "suggest" not in run(folder, "-o", tmp_path / "a.csv", "--draft").stderr


def test_embeddings_by_file_name(folder, tmp_path):
    np.save(tmp_path / "v.npy", np.arange(9.0)[::-1, None])
    (tmp_path / "names.txt").write_text("\n".join(f"img {i}.jpg" for i in range(9)))
    output = tmp_path / "album.csv"
    common = (folder, "--frame", "1x9", "-o", output, "--force")
    done = run(*common, "--features", tmp_path / "v.npy", "--feature-names", tmp_path / "names.txt")
    assert done.exit_code == 0, done.stderr
    order = [line.split(",")[0] for line in output.read_text().splitlines()[1:]]
    assert order in ([f"img {i}.jpg" for i in range(9)], [f"img {i}.jpg" for i in range(8, -1, -1)])
    assert run(*common, "--feature-names", tmp_path / "names.txt").exit_code == 2
    (tmp_path / "v.csv").write_text("\n".join(f"img {i}.jpg,{i}" for i in range(7)))
    lacking = run(*common, "--features", tmp_path / "v.csv")
    assert "no line for 2 of 9 photos, such as 'img 7.jpg', 'img 8.jpg'" in str(lacking.exception)


def test_previews_of_cameras(folder, tmp_path):
    assert run(folder, "--previews", "-o", tmp_path / "a.csv").exit_code == 0


def test_a_contact_sheet_with_captions_of_your_own(folder, tmp_path):
    words = tmp_path / "words.csv"
    words.write_text("photo,caption\nimg 3.jpg,Ann at the sea\n")
    sheet, page = tmp_path / "sheet.pdf", tmp_path / "sheet.html"
    options = ("--contact-sheet", "2x2", "--captions", words, "--dpi", 60, "--bleed", 3, "--draft")
    result = run(folder, "-o", sheet, "-o", page, *options)
    assert result.exit_code == 0, result.stderr
    assert sheet.read_bytes().count(b"/Subtype /Image") == 3  # nine photos, four on a page
    assert page.read_text().count("Ann at the sea") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--contact-sheet", "7"), "expected ROWSxCOLUMNS"),
        (("--contact-sheet", "7x5", "--frame", "3x3"), "leave --frame out"),
        (("--captions", "nowhere.csv"), "expected name, date, or a csv file"),
        (("--bleed", "3"), "a bleed needs a paper"),
    ],
)
def test_what_cannot_be_printed_is_refused(folder, options, message):
    result = run(folder, *options)
    assert result.exit_code != 0
    assert message in f"{result.stderr}{result.exception}"


def test_captions_of_photos_that_are_not_there_are_refused_before_the_sorting(folder, tmp_path):
    words = tmp_path / "words.csv"
    words.write_text("nobody.jpg,Ann at the sea\n")
    result = run(folder, "--captions", words)
    assert "no photo is named 'nobody.jpg'" in str(result.exception)
