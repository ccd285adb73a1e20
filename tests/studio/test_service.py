"""The studio behind the addresses: what is shown is written, jobs go on after a crash."""

import threading
from dataclasses import replace

import pytest
from counter_kind import TOY, Add, Counter, Reset, Sleep

from pairup.studio.kinds import RefusedError
from pairup.studio.service import Studio
from pairup.studio.workspace import Workspace


@pytest.fixture
def toy(tmp_path):
    studio = Studio(Workspace(tmp_path / "workspace"), {"album": TOY})
    yield studio
    studio.close()


def wait(studio, project):
    done = threading.Event()
    for _ in range(600):
        job = studio.jobs.latest(project.id)
        if job is not None and job.has_ended:
            return job
        done.wait(0.05)
    raise AssertionError("the job does not end")


def test_an_action_is_written_before_it_is_shown(toy):
    project = toy.create("album")
    view = toy.act(project, Add(type="add", by=5))
    assert (view.document, view.can_undo, view.note, view.name) == ({"n": 5}, "add 5", "5", "New counter")
    assert project.document == {"n": 5}
    assert toy.step(project, "undo").document == {"n": 0}
    assert toy.step(project, "undo").document == {"n": 0}
    assert toy.step(project, "redo").document == {"n": 5}
    assert toy.act(project, Reset(type="reset")).can_undo == "add 5"


def test_what_is_refused_changes_nothing(toy):
    project = toy.create("album")
    with pytest.raises(RefusedError, match="below 0"):
        toy.act(project, Add(type="add", by=-1))
    assert (project.document, project.can_undo) == ({"n": 0}, None)


def test_a_job_changes_the_document_of_the_moment_it_ends(toy):
    project = toy.create("album")
    toy.start(project, Sleep(task="sleep", seconds=0.5))
    toy.act(project, Add(type="add", by=1))
    assert wait(toy, project).status == "done"
    assert project.document == {"n": 101}
    assert toy.step(project, "undo").document == {"n": 1}
    assert project.pending_jobs == []


def test_a_job_goes_on_after_a_crash(tmp_path):
    first = Studio(Workspace(tmp_path), {"album": TOY})
    project = first.create("album")
    project.save_job("0" * 16, {"task": "sleep", "seconds": 0.1, "parts": 1}, {"progress": 0.3, "text": "before"})
    first.close()
    again = Studio(Workspace(tmp_path), {"album": TOY})
    again.resume()
    opened = again.workspace.open(project.id)
    assert again.jobs.latest(project.id) is not None
    assert wait(again, opened).status == "done"
    assert opened.document == {"n": 100}
    assert opened.pending_jobs == []
    again.close()


def test_a_cancelled_job_does_not_come_back(toy):
    project = toy.create("album")
    view = toy.start(project, Sleep(task="sleep", seconds=60, parts=100))
    assert len(project.pending_jobs) == 1
    toy.jobs.cancel(project.id, view.id)
    assert project.pending_jobs == []
    assert wait(toy, project).status == "cancelled"
    assert toy.view(project).job.status == "cancelled"
    assert isinstance(toy.read(project), Counter)


def test_a_job_that_is_no_longer_possible_is_forgotten(tmp_path):
    first = Studio(Workspace(tmp_path), {"album": TOY})
    project = first.create("album")
    for number, request in enumerate([{"task": "sleep", "parts": "many"}, {"task": "dance"}, {"task": "sleep"}]):
        project.save_job(f"{number:016x}", request)
    first.close()
    again = Studio(Workspace(tmp_path), {"album": TOY})
    again.resume()
    opened = again.workspace.open(project.id)
    assert wait(again, opened).status == "done"
    assert opened.pending_jobs == []
    again.close()


def test_what_a_job_finds_is_written_whole_or_not_at_all(tmp_path):
    def finish(project, document, job, result):
        project.write_meta("note", "half")
        raise RefusedError("no more")

    studio = Studio(Workspace(tmp_path), {"album": replace(TOY, finish=finish)})
    project = studio.create("album")
    studio.start(project, Sleep(task="sleep", seconds=0))
    assert wait(studio, project).error == "no more"
    assert project.read_meta("note") == ""
    studio.close()
