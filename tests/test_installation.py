import re

import pairup
from pairup.installation import count_cores, describe, examine, find_versions, group_requirements, measure_folder


def test_requirements_are_grouped_by_extra():
    groups = group_requirements(
        ["click>=8.1", "pi-heif>=0.18; extra == 'album'", 'pillow; extra == "album"', "pairup[album]; extra == 'all'"]
    )
    assert groups == {"": ["click"], "album": ["pi-heif", "pillow"]}


def test_versions_are_found_without_an_import():
    assert find_versions(["no-such-package", "numpy"])["no-such-package"] is None
    assert re.match(r"\d+\.\d+", find_versions(["NumPy"])["NumPy"])


def test_a_folder_is_measured_with_what_is_below_it(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "below" / "b").write_bytes(b"45")
    assert measure_folder(tmp_path) == 5
    assert measure_folder(tmp_path / "none") == 0


def test_a_missing_extra_comes_with_the_line_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PAIRUP_CACHE", str(tmp_path))
    found = examine()
    found["extras"] = {
        "album": {"packages": {"pillow": "12.0", "pi-heif": None}, "install": "pip install 'pairup[album]'"},
        "plot": {"packages": {"matplotlib": "3.10"}, "install": "pip install 'pairup[plot]'"},
    }
    text = describe(found)
    assert re.search(r"^\[album\] +missing pi-heif; run: pip install 'pairup\[album\]'$", text, re.MULTILINE)
    assert re.search(r"^\[plot\] +matplotlib 3\.10$", text, re.MULTILINE)
    assert f"0.0 MiB in {tmp_path / 'thumbnails'}" in text
    assert pairup.__version__ in text


def test_cores_and_memory_are_those_of_this_process():
    found = examine()
    assert found["cores"] == count_cores() >= 1
    assert found["memory"]["free"] > 0
    assert found["memory"]["limit"].startswith("of ")
