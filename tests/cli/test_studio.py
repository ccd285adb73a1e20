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
