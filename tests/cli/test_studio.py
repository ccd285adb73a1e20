"""``pairup studio``: what is refused before anything starts."""

import pytest
from click.testing import CliRunner

from pairup.cli.studio import command

pytest.importorskip("fastapi", reason="needs the extra: pip install 'pairup[studio]'")


@pytest.mark.parametrize("names", [("a.csv",), ("a.csv", "b.csv", "c.csv"), ("a.csv", "photos")])
def test_tables_come_in_twos(tmp_path, names):
    (tmp_path / "photos").mkdir()
    for name in names:
        if name.endswith(".csv"):
            (tmp_path / name).write_text("1,2\n")
    done = CliRunner().invoke(command, [*(str(tmp_path / name) for name in names), "--no-browser"])
    assert done.exit_code == 2
    assert "pairup studio x.csv y.csv" in done.stderr


def test_a_missing_path_is_named(tmp_path):
    done = CliRunner().invoke(command, [str(tmp_path / "nothing"), "--no-browser"])
    assert done.exit_code == 2
    assert "nothing" in done.stderr


def test_the_help_has_examples_of_both():
    done = CliRunner().invoke(command, ["--help"])
    assert done.exit_code == 0
    assert "PHOTOS" in done.stdout
    assert "--workspace" in done.stdout


@pytest.mark.parametrize("names", [("a.wav",), ("a.wav", "photo.jpg"), ("a.wav", "photos")])
def test_voices_come_in_twos(tmp_path, names):
    (tmp_path / "photos").mkdir()
    for name in names:
        if name != "photos":
            (tmp_path / name).write_bytes(b"x")
    done = CliRunner().invoke(command, [*(str(tmp_path / name) for name in names), "--no-browser"])
    assert done.exit_code == 2
    assert "pairup studio anna.wav ben.wav" in done.stderr


def test_folders_of_two_voices_open_a_voice(tmp_path, monkeypatch):
    for name in ("anna", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hello.wav").write_bytes(b"x")
    said = []
    monkeypatch.setattr("pairup.studio.server.serve", lambda app, *, host, port, started: said.append(app.state.studio))
    arguments = [str(tmp_path / "anna"), str(tmp_path / "ben"), "--no-browser", "--workspace", str(tmp_path / "work")]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    (studio,) = said
    ((project,), _) = studio.workspace.summaries()
    assert (project.kind, project.name) == ("voice", "anna and ben")
    files = studio.workspace.open(project.id).files()
    assert [(file.role, file.name) for file in files] == [("source", "hello.wav"), ("target", "hello.wav")]
    studio.close()
