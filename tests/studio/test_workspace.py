"""The workspace: projects made, copied, deleted and brought back, in one studio at a time."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from pairup.studio.project import DATABASE
from pairup.studio.workspace import KEPT, Workspace, WorkspaceInUseError, default_workspace, summarize


@pytest.fixture
def workspace(tmp_path):
    made = Workspace(tmp_path / "workspace")
    yield made
    made.close()


def test_projects_come_most_recent_first(workspace):
    names = ["one", "two", "three"]
    made = [workspace.create("album", name, {}) for name in names]
    made[0].commit({"n": 1}, "change")
    assert [summary.name for summary in workspace.summaries()[0]] == ["one", "three", "two"]


def test_a_second_studio_is_refused_by_name_and_address(workspace):
    workspace.publish("http://localhost:1234/")
    with pytest.raises(WorkspaceInUseError, match=r"another studio .* at http://localhost:1234/; use that one"):
        Workspace(workspace.folder)
    workspace.close()
    Workspace(workspace.folder).close()


def test_a_killed_studio_leaves_no_lock(tmp_path):
    code = (
        "import sys, os\nfrom pathlib import Path\nfrom pairup.studio.workspace import Workspace\n"
        "w = Workspace(Path(sys.argv[1]))\nw.create('album', 'kept', {'n': 3})\nprint('open', flush=True)\n"
        "sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    with pytest.raises(WorkspaceInUseError):
        Workspace(tmp_path)
    process.kill()
    process.communicate()
    again = Workspace(tmp_path)
    (summary,) = again.summaries()[0]
    assert again.open(summary.id).document == {"n": 3}
    again.close()


def test_delete_and_restore(workspace):
    project = workspace.create("match", "pairs", {"n": 1})
    workspace.delete(project.id)
    assert workspace.summaries() == ([], [])
    with pytest.raises(KeyError):
        workspace.open(project.id)
    back = workspace.restore(project.id)
    assert (back.document, back.read_meta("name")) == ({"n": 1}, "pairs")
    with pytest.raises(KeyError):
        workspace.restore(project.id)


def test_what_was_deleted_long_ago_is_removed(tmp_path):
    workspace = Workspace(tmp_path)
    old, recent = (workspace.create("album", name, {}) for name in ("old", "recent"))
    for project in (old, recent):
        workspace.delete(project.id)
    past = time.time() - KEPT - 60
    os.utime(workspace.bin_folder / old.id, (past, past))
    unfinished = workspace.projects_folder / ".0123456789abcdef"
    unfinished.mkdir()
    workspace.close()
    again = Workspace(tmp_path)
    assert [folder.name for folder in again.bin_folder.iterdir()] == [recent.id]
    assert not unfinished.exists()
    again.close()


def test_a_copy_is_another_project(workspace):
    project = workspace.create("voice", "Ann", {"n": 1})
    copy = workspace.duplicate(project.id)
    assert copy.id != project.id
    assert (copy.document, copy.read_meta("name"), copy.kind) == ({"n": 1}, "Ann (copy)", "voice")


def test_a_damaged_project_does_not_hide_the_others(workspace):
    broken, fine = (workspace.create("album", name, {}) for name in ("broken", "fine"))
    shutil.copytree(fine.folder, workspace.projects_folder / f"{fine.id} - Copy")
    broken.close()
    del workspace._open[broken.id]
    (workspace.projects_folder / broken.id / DATABASE).write_bytes(b"nonsense" * 1000)
    summaries, damaged = workspace.summaries()
    assert [summary.id for summary in summaries] == [fine.id]
    assert len(damaged) == 2
    assert any(broken.id in text and "damaged" in text for text in damaged)


def test_a_cover_is_seen(workspace):
    project = workspace.create("album", "x", {})
    assert not summarize(project).cover
    (project.folder / "cover.jpg").write_bytes(b"x")
    assert summarize(project).cover


def test_the_default_place_can_be_set(monkeypatch, tmp_path):
    monkeypatch.setenv("PAIRUP_STUDIO", str(tmp_path / "here"))
    assert default_workspace() == tmp_path / "here"
    monkeypatch.delenv("PAIRUP_STUDIO")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_workspace() == tmp_path / "pairup" / "studio"


def test_a_workspace_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="cannot make the folder"):
        Workspace(tmp_path / "file" / "workspace")
