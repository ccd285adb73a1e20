"""The set-up script, as far as it can be tested without setting anything up."""

import ast
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[1] / "dev.py"


@pytest.fixture
def dev(tmp_path):
    """The names of a copy of the script that lies alone in a folder."""
    copy = shutil.copy(SCRIPT, tmp_path)
    return SimpleNamespace(**runpy.run_path(copy))


def run_copy(folder, preparation, *arguments):
    copy = shutil.copy(SCRIPT, folder)
    code = f"import sys, runpy\n{preparation}\nsys.argv[0] = {copy!r}\nrunpy.run_path({copy!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_alone_it_lists_its_commands(tmp_path):
    result = run_copy(tmp_path, "")
    assert result.returncode == 0
    assert [line.split()[2] for line in result.stdout.splitlines()] == ["demo", "test", "lint", "docs", "bench"]


def test_an_unknown_command_is_an_error(tmp_path):
    result = run_copy(tmp_path, "", "tset")
    assert result.returncode == 2
    assert "dev.py test" in result.stdout


def test_an_old_python_can_read_it_and_is_told_so(tmp_path):
    ast.parse(SCRIPT.read_text(), feature_version=(3, 7))
    result = run_copy(tmp_path, "sys.version_info = (3, 9, 2, 'final', 0)", "test")
    assert result.returncode == 1
    assert result.stderr.startswith("pairup needs Python 3.11 or newer, and this is 3.9; ")


def test_a_python_without_venv_is_told_what_brings_it(tmp_path):
    result = run_copy(tmp_path, "sys.modules['ensurepip'] = None", "lint")
    assert result.returncode == 1
    package = f"apt-get install -y python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    assert (package if shutil.which("apt-get") else "venv and ensurepip") in result.stderr
    assert not (tmp_path / ".venv").exists()


def test_every_step_runs_and_the_first_failure_counts(dev, capsys):
    steps = [(str(code), (sys.executable, "-c", f"raise SystemExit({code})")) for code in (0, 3, 4)]
    assert dev.run_all(steps) == 3
    told = capsys.readouterr().out.splitlines()[-1]
    assert [word for word in told.split() if word in ("ok", "failed")] == ["ok", "failed", "failed"]


def test_a_stamp_counts_only_for_the_state_it_was_made_in(dev):
    assert dev.installed_for("now") == set()
    dev.STAMP.parent.mkdir()
    dev.STAMP.write_text(json.dumps({"state": "now", "installed": ["[all]", "test"]}))
    assert dev.installed_for("now") == {"[all]", "test"}
    assert dev.installed_for("later") == set()
    dev.STAMP.write_text("{")  # cut off by a full disk
    assert dev.installed_for("now") == set()
