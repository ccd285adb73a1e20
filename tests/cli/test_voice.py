import json

import pytest
from click.testing import CliRunner

from pairup.cli import pairup_command
from pairup.datasets import make_voices
from pairup.voice import read_recording


def run(*arguments):
    return CliRunner().invoke(pairup_command, ["voice", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two speakers' folders with the same file names, and a voice learned from some of them."""
    folder = tmp_path_factory.mktemp("voices")
    for name, recordings in make_voices(6)._asdict().items():
        (folder / name).mkdir()
        for number, recording in enumerate(recordings):
            recording.save(folder / name / f"{number}.wav")
    done = run("train", folder / "source", folder / "target", "-o", folder / "voice.npz", "--frames", 80, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "voice": str(folder / "voice.npz"),
        "rate": 16000,
        "order": 18,
        "frames": 80,
        "skipped": [],
    }
    return folder


@pytest.mark.parametrize("synthesis", ["world", "residual"])
def test_a_recording_is_converted(folder, tmp_path, synthesis):
    source, output = folder / "source" / "0.wav", tmp_path / "out.flac"
    done = run("convert", folder / "voice.npz", source, "-o", output, "--synthesis", synthesis)
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert done.stderr == f"{source} converted to {output}\n"
    assert len(read_recording(output).signal) == len(read_recording(source).signal)


def test_a_folder_is_converted_and_what_fails_is_listed(folder, tmp_path):
    recordings = tmp_path / "in"
    recordings.mkdir()
    spoken = read_recording(folder / "source" / "1.wav")
    spoken.save(recordings / "good.wav")
    type(spoken)(spoken.signal[4000:4800], spoken.rate).save(recordings / "short.wav")
    (recordings / "broken.wav").write_bytes(b"nonsense")
    done = run("convert", folder / "voice.npz", recordings, "-o", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["output"] for line in done.stdout.splitlines()] == [str(tmp_path / "out" / "good.wav")]
    assert "broken.wav cannot be read as sound" in done.stderr
    assert "short.wav lasts 0.050 s; at least 0.1 s are needed" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["good.wav"]


def test_existing_outputs_are_refused_without_force(folder, tmp_path):
    kept = (folder / "voice.npz").read_bytes()
    done = run("train", folder / "source", folder / "target", "-o", folder / "voice.npz")
    assert done.exit_code == 1
    assert "voice.npz exists; choose another output or pass --force" in done.stderr
    assert (folder / "voice.npz").read_bytes() == kept
    output = tmp_path / "out.wav"
    output.write_bytes(b"precious")
    arguments = ("convert", folder / "voice.npz", folder / "source" / "0.wav", "-o", output)
    assert run(*arguments).exit_code == 1
    assert output.read_bytes() == b"precious"
    assert run(*arguments, "--force").exit_code == 0
    assert output.read_bytes() != b"precious"


def test_scores_are_rows_of_json_or_a_table(folder):
    arguments = ("score", folder / "source", folder / "target", "--train", 30, "--splits", 2, "--test", 100)
    chosen = ("--method", "identity", "--method", "auto")
    done = run(*arguments, *chosen, "--json")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["method"], row["n"], row["split"]) for row in rows] == [
        ("identity", 30, 0),
        ("auto", 30, 0),
        ("identity", 30, 1),
        ("auto", 30, 1),
    ]
    table = run(*arguments, *chosen).stdout.splitlines()
    assert table[0].split("\t") == ["n", "method", "LSD mean", "std", "worst"]
    mean = sum(row["lsd"] for row in rows if row["method"] == "auto") / 2
    assert table[2].split("\t")[:3] == ["30", "auto", f"{mean:.3f}"]


def test_a_trained_voice_is_scored_on_whole_recordings(folder):
    done = run("score", folder / "source", folder / "target", "--voice", folder / "voice.npz", "--json")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == [str(number) for number in range(6)]
    assert sum(row["mcd"] for row in rows) < sum(row["mcd_before"] for row in rows)
    single = folder / "source" / "0.wav", folder / "target" / "0.wav"
    table = run("score", *single, "--voice", folder / "voice.npz").stdout.splitlines()
    assert table[1].split("\t")[:3] == ["0", f"{rows[0]['mcd_before']:.2f}", f"{rows[0]['mcd']:.2f}"]


def test_the_former_names_of_auto_and_of_the_seed_are_accepted(folder):
    arguments = ("score", folder / "source", folder / "target", "--train", 30, "--splits", 1, "--test", 100, "--json")
    new = run(*arguments, "--method", "auto", "--random-state", 3)
    old = run(*arguments, "--method", "default", "--seed", 3)
    assert new.stdout == old.stdout != run(*arguments, "--method", "auto").stdout
    assert json.loads(old.stdout)["method"] == "auto"
    assert new.stderr == ""
    assert old.stderr == "Warning: the method 'default' is now called 'auto'\n"
    assert "default|" not in run("score", "--help").stdout
    assert run(*arguments, "--method", "magic").exit_code == 2


def test_a_sample_is_heard_at_once(folder, tmp_path, monkeypatch):
    heard = []
    monkeypatch.setattr("pairup.cli.playback.play", lambda path: not heard.append(path))
    arguments = ["train", folder / "source", folder / "target", "--frames", 80, "--listen", "-o", tmp_path / "ben.npz"]
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert heard == [tmp_path / "ben-sample.wav"]
    assert f"saved to {heard[0]} (played)" in done.stderr
    longest = max(read_recording(path).duration for path in (folder / "source").iterdir())
    assert read_recording(heard[0]).duration == pytest.approx(longest)
    assert run(*arguments).exit_code in (1, 2)
    monkeypatch.setattr("pairup.cli.playback.play", lambda path: False)
    done = run(*arguments, "--force", "--json")
    assert json.loads(done.stdout)["sample"] == str(heard[0])


def test_a_voice_is_not_saved_as_a_sound(folder, tmp_path):
    done = run("train", folder / "source", folder / "target", "-o", tmp_path / "voice.wav")
    assert done.exit_code == 2
    assert "a voice is no sound; expected a name that ends in .npz" in done.stderr
    assert list(tmp_path.glob("*.wav")) == []
