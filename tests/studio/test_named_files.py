"""Files read under the names that people gave them."""

import pytest

from pairup.studio.named_files import open_named


def test_a_file_has_the_ending_of_its_name_for_a_while(tmp_path):
    stored = tmp_path / "0123456789abcdef"
    stored.write_text("a,b")
    with open_named(stored, "../../Käse <b>.CSV") as path:
        assert (path.suffix, path.read_text()) == (".csv", "a,b")
    assert not path.exists()
    assert stored.read_text() == "a,b"


def test_errors_name_the_file_as_people_do(tmp_path):
    stored = tmp_path / "0123456789abcdef"
    stored.write_text("a,b")
    with pytest.raises(ValueError, match=r"^Käse\.csv: no numbers$"), open_named(stored, "Käse.csv") as path:
        raise ValueError(f"{path}: no numbers")


def test_where_links_are_not_allowed_a_copy_is_read(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    (tmp_path / "stored").write_text("a,b")
    with open_named(tmp_path / "stored", "x.csv") as path:
        assert path.read_text() == "a,b"
        assert not path.is_symlink()
