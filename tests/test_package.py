import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
from release import find_faults

import pairup

ROOT = Path(__file__).parents[1]
HEAVY = ("dask", "joblib", "matplotlib", "numba", "numpy", "pandas", "PIL", "rich", "scipy", "skimage", "sklearn")


def imported_by(code):
    """Return which of the heavy packages a fresh interpreter has imported after running `code`."""
    report = f"{code}\nimport sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(
    "code",
    [
        "import pairup; dir(pairup)",
        "from pairup.cli import pairup_command; pairup_command(['--help'], standalone_mode=False)",
        "from pairup.cli import pairup_command; pairup_command(['match', '--help'], standalone_mode=False)",
        "from pairup.cli import COMMANDS; from importlib import import_module\n"
        "for name in COMMANDS: import_module(f'pairup.cli.{name}')",
    ],
    ids=["import", "help", "help of a command", "all commands"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    assert imported_by(code) == []


def test_the_core_imports_no_extra():
    extras = {"dask", "matplotlib", "PIL", "skimage"}  # not pandas: scikit-learn imports it where it is there
    assert not extras & set(imported_by("import pairup; [getattr(pairup, name) for name in pairup.__all__]"))


def test_public_names_resolve_and_others_do_not():
    assert {name for name in pairup.__all__ if getattr(pairup, name) is not None} == set(pairup.__all__)
    assert set(dir(pairup)) == set(pairup.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'macth'"):
        pairup.macth  # noqa: B018


def test_the_version_is_told_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/pairup/__init__.py"
    assert f"version: {pairup.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_a_release_is_refused_while_a_file_tells_another_version(tmp_path):
    for name, text in (
        ("src/pairup/__init__.py", '__version__ = "1.2.0"\n'),
        ("CITATION.cff", "version: 1.2.0\n"),
        ("CHANGELOG.md", "# Changelog\n\n## [1.2.0] – 2027-01-31\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert find_faults("v1.2.0", tmp_path) == []
    assert len(find_faults("v1.2.1", tmp_path)) == 1
    (tmp_path / "CHANGELOG.md").write_text("## [1.2.0] – unreleased\n")
    assert "CHANGELOG.md" in find_faults("v1.2.0", tmp_path)[0]
    assert find_faults("v0.1.0"), "this is a version for development"


def test_the_supported_pythons_are_those_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    tested = re.search(r"python: \[(.+)\]", (ROOT / ".github/workflows/tests.yml").read_text())[1]
    assert re.findall(r"[\d.]+", tested) == told
    assert project["requires-python"] == f">={told[0]}"


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    source = ROOT / "src"
    compiled = {".nbi", ".nbc", ".pyc"}
    expected = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and path.suffix not in compiled
    }
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert "pairup/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < 2**20
    assert "Provides-Extra: album" in metadata
    assert f"Version: {pairup.__version__}" in metadata
