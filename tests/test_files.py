import os
import stat

import pytest

from pairup.files import check_writable, claim, replace_file


def test_a_file_appears_whole(tmp_path):
    with replace_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("all")
        assert temporary.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "all"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_nothing_is_left_behind_and_the_old_file_stays(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail():
        with replace_file(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    mask = os.umask(0o022)
    try:
        with replace_file(tmp_path / "new.txt") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o644
    (tmp_path / "new.txt").chmod(0o600)
    with replace_file(tmp_path / "new.txt") as temporary:
        temporary.write_text("y")
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o600


def test_a_folder_is_no_output(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a folder; give a file name"):
        check_writable(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_full_disk_names_the_path_and_leaves_nothing(tmp_path):
    import resource

    (tmp_path / "a.txt").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot write .*a\.txt: File too large; make room or choose another output"):
            write(tmp_path / "a.txt", "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_other_errors_keep_their_own_words(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such thing"), replace_file(tmp_path / "a.txt"):
        raise FileNotFoundError("no such thing")


def write(path, text):
    with replace_file(path) as temporary:
        temporary.write_text(text)


def test_a_claim_excludes_others_until_it_ends(tmp_path):
    first = claim(tmp_path / "lock")
    assert first is not None
    assert claim(tmp_path / "lock") is None
    first.close()
    second = claim(tmp_path / "lock")
    assert second is not None
    second.close()


def test_a_claim_of_what_cannot_be_locked_is_none_and_rubbish_is_no_lock(tmp_path):
    assert claim(tmp_path / "none" / "lock") is None
    (tmp_path / "lock").write_bytes(b"rubbish" * 500)
    found = claim(tmp_path / "lock")
    assert found is not None
    found.close()
