"""Projects: what is written is there after a crash, and undo has no limit."""

import sqlite3

import pytest

from pairup.studio import project as module
from pairup.studio.project import DATABASE, FILES, Project, ProjectError


@pytest.fixture
def project(tmp_path):
    made = Project.create(tmp_path / ("a" * 16), kind="album", name="Us", document={"n": 0})
    yield made
    made.close()


def test_a_project_that_is_opened_again_is_the_same(project):
    project.commit({"n": 1}, "add one", note="one photo")
    project.rename("Them")
    again = Project(project.folder)
    assert (again.document, again.kind, again.can_undo) == ({"n": 1}, "album", "add one")
    assert (again.read_meta("name"), again.read_meta("note")) == ("Them", "one photo")
    again.close()


def test_undo_and_redo_have_no_limit(project):
    for n in range(1, 301):
        project.commit({"n": n}, f"add {n}")
    for n in range(299, -1, -1):
        assert project.step("undo") == f"add {n + 1}"
        assert project.document == {"n": n}
    assert project.step("undo") is None
    assert project.can_undo is None
    for n in range(1, 301):
        assert project.step("redo") == f"add {n}"
    assert project.document == {"n": 300}
    assert project.step("redo") is None


def test_an_action_after_undo_forgets_what_was_undone(project):
    project.commit({"n": 1}, "one")
    project.commit({"n": 2}, "two")
    project.step("undo")
    project.commit({"n": 3}, "three")
    assert project.can_redo is None
    project.step("undo")
    assert project.document == {"n": 1}


def test_amending_is_no_step(project):
    project.commit({"n": 1}, "one")
    project.amend({"n": 5})
    assert project.document == {"n": 5}
    project.step("undo")
    assert project.document == {"n": 0}


def test_every_writing_is_a_new_revision(project):
    seen = [project.read_meta("revision")]
    for write in (lambda: project.commit({"n": 1}, "x"), lambda: project.step("undo"), lambda: project.rename("b")):
        write()
        seen.append(project.read_meta("revision"))
    assert seen == [0, 1, 2, 3]


def test_a_failed_writing_changes_nothing(project):
    with pytest.raises(TypeError):
        project.commit({"n": object()}, "cannot be written")
    assert (project.document, project.read_meta("revision")) == ({"n": 0}, 0)
    project.commit({"n": 1}, "fine")
    assert project.document == {"n": 1}


def test_files_are_moved_in_or_stay_where_they_are(project, tmp_path):
    upload, own = project.folder / FILES / ".upload", tmp_path / "mine.csv"
    upload.write_bytes(b"abc")
    own.write_bytes(b"12345")
    inside = project.add_file("photo", "a.jpg", content=upload)
    outside = project.add_file("x", "mine.csv", path=own, details={"rows": 3})
    project.describe_file(outside.id, {"columns": 2})
    assert not upload.exists()
    assert project.locate(inside.id).read_bytes() == b"abc"
    assert project.locate(outside.id) == own
    assert [file.name for file in project.files()] == ["a.jpg", "mine.csv"]
    assert project.count_files() == 2
    assert project.files("x")[0].details == {"rows": 3, "columns": 2}
    assert [file.size for file in project.files()] == [3, 5]
    with pytest.raises(KeyError):
        project.locate("0" * 16)


def test_jobs_are_kept_until_they_end(project):
    project.save_job("1" * 16, {"task": "a"})
    project.save_job("2" * 16, {"task": "b"}, {"progress": 0.5})
    again = Project(project.folder)
    assert again.pending_jobs == [("1" * 16, {"task": "a"}, None), ("2" * 16, {"task": "b"}, {"progress": 0.5})]
    again.drop_job("1" * 16)
    assert len(project.pending_jobs) == 1
    again.close()


def test_a_copy_shares_nothing(project, tmp_path):
    project.commit({"n": 1}, "one")
    (project.folder / FILES / "content").write_bytes(b"x")
    project.save_job("1" * 16, {"task": "a"})
    copy = project.copy(tmp_path / ("b" * 16), "Copy")
    copy.commit({"n": 2}, "two")
    (project.folder / FILES / "content").write_bytes(b"y")
    assert (project.document, copy.document, copy.pending_jobs) == ({"n": 1}, {"n": 2}, [])
    assert (copy.folder / FILES / "content").read_bytes() == b"x"
    copy.step("undo")
    copy.step("undo")
    assert copy.document == {"n": 0}
    copy.close()


def test_an_older_format_is_brought_up_and_a_newer_one_refused(project, monkeypatch):
    folder = project.folder
    project.commit({"n": 4}, "four")
    project.close()
    later = (*module.MIGRATIONS, "ALTER TABLE files ADD COLUMN colour TEXT;")
    with monkeypatch.context() as patch:
        patch.setattr(module, "MIGRATIONS", later)
        newer = Project(folder)
        assert newer.document == {"n": 4}
        newer.close()
    connection = sqlite3.connect(folder / DATABASE)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert "colour" in {row[1] for row in connection.execute("PRAGMA table_info(files)")}
    connection.close()
    with pytest.raises(ProjectError, match=r"newer pairup \(format 2, this one knows 1\)"):
        Project(folder)


def test_a_migration_that_fails_leaves_the_old_format(project, monkeypatch):
    folder = project.folder
    project.close()
    with monkeypatch.context() as patch:
        patch.setattr(module, "MIGRATIONS", (*module.MIGRATIONS, "CREATE TABLE extra (a); SELECT nonsense;"))
        with pytest.raises(ProjectError, match="nonsense"):
            Project(folder)
    again = Project(folder)
    assert again.document == {"n": 0}
    again.close()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be looked at" * 20])
def test_a_damaged_project_is_named(tmp_path, content):
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / DATABASE).write_bytes(content)
    with pytest.raises(ProjectError, match="damaged"):
        Project(folder)
    with pytest.raises(ProjectError, match="has no file"):
        Project(tmp_path / "nothing")
