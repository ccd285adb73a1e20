from pairup.studio.album_sheets import SHEETS, Sheet, list_sheets


def test_names_say_what_is_on_a_sheet(tmp_path):
    assert list_sheets(tmp_path) == []
    (tmp_path / SHEETS).mkdir()
    made = [Sheet(level=40, fit="crop", index=0, count=320), Sheet(level=128, fit="whole", index=10, count=7)]
    for sheet in reversed(made):
        (tmp_path / SHEETS / sheet.name).touch()
    (tmp_path / SHEETS / ".128-crop-0-5.x3f.jpg").touch()  # one that is being written
    (tmp_path / SHEETS / "other.jpg").touch()
    assert list_sheets(tmp_path) == made
