import re
import sys
import tomllib
from pathlib import Path

import pytest

from pairup.extras import require


def test_a_module_that_is_there_is_returned():
    import json.decoder

    assert require("json.decoder", extra="album") is json.decoder


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part"])
def test_a_missing_package_names_the_install_line(module):
    with pytest.raises(ModuleNotFoundError, match=r"needs no_such_package, .*pip install 'pairup\[voice\]'$") as caught:
        require(module, extra="voice")
    assert caught.value.name == "no_such_package"


def test_a_broken_package_speaks_for_itself(tmp_path, monkeypatch):
    """It is installed, but what it imports is not: our install line would not help."""
    (tmp_path / "broken_package.py").write_text("import something_else_missing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'something_else_missing'$"):
        require("broken_package", extra="album")
    assert "broken_package" not in sys.modules


def test_the_docs_name_what_each_extra_brings_and_its_licence():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {"pairup": project["dependencies"], **project["optional-dependencies"]}
    del brought["all"]
    _, _, table = (root / "docs" / "install.md").read_text(encoding="utf-8").partition("## Licences")
    named, extra = {}, ""
    for first, packages, licence in re.findall(r"^\| *(.*?) *\| (.*?) \| (.*?) \|$", table, re.MULTILINE):
        extra = first.strip("`") or extra
        if licence != "licence":
            named.setdefault(extra, set()).update(packages.lower().split(", "))
    required = {
        extra: {re.split(r"[^\w-]", requirement)[0] for requirement in requirements} - {"pairup"}  # its own extras
        for extra, requirements in brought.items()
    }
    assert named == required
