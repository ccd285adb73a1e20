"""A match as a kind of project: actions, jobs, undo."""

import time

import pytest

from pairup.studio.kinds import RefusedError
from pairup.studio.match import KIND
from pairup.studio.match_document import Answer, Choose, Document, Judge, Look, Read, Run, SetOptions, Settings, Source


@pytest.fixture
def project(studio, tmp_path):
    """A project with two small tables that lie in a folder of their own."""
    paths = []
    for name in ("left.csv", "right.csv"):
        (tmp_path / name).write_text("name,a\nann,1\nbob,2\ncid,4\n", encoding="utf-8")
        paths.append(tmp_path / name)
    return studio.start_with("match", paths, "two tables")


def make_answer(settings, number=1, **changes):
    fields = {
        "id": f"{number:016x}",
        "settings": settings,
        "rows": (3, 3),
        "pairs": 3,
        "tone": "good",
        "verdict": "fine",
    }
    return Answer(**(fields | changes)).model_dump(mode="json")


def act(studio, project, action):
    studio.act(project, action)
    return studio.read(project)


def judge(x, y, as_):
    return Judge.model_validate({"type": "judge", "x": x, "y": y, "as": as_})


def answer(studio, project, number=1, **changes):
    """End a matching as a worker would."""
    document = studio.read(project)
    change = KIND.finish(project, document, Run(task="run"), make_answer(document.settings, number, **changes))
    studio._write(project, change)
    return studio.read(project)


def test_files_of_the_command_line_are_read_where_they_are(project, tmp_path):
    names = [(file.role, file.name) for file in project.files()]
    assert names == [("x", "left.csv"), ("y", "right.csv")]
    assert project.locate(project.files("x")[0].id) == tmp_path / "left.csv"
    assert project.can_undo is None


def test_the_demo_begins_by_itself(studio):
    project = studio.create("match")
    KIND.start_demo(project)
    document = studio.read(project)
    assert document.begins
    assert document.settings.x.file
    assert document.settings.y.file
    task = KIND.prepare(project, document, Run(task="run", first=True))
    assert task.name == "match.run"
    assert task.arguments["files"]["x"]["own_path"] is None
    assert not answer(studio, project).begins
    with pytest.raises(RefusedError, match="started already"):
        KIND.prepare(project, studio.read(project), Run(task="run", first=True))


def test_confirming_is_exclusive_and_can_be_undone(studio, project):
    with pytest.raises(RefusedError, match="match first"):
        act(studio, project, judge(0, 0, "confirmed"))
    answer(studio, project)
    assert act(studio, project, judge(0, 1, "confirmed")).anchors == [(0, 1)]
    assert act(studio, project, judge(2, 1, "confirmed")).anchors == [(2, 1)]  # a row has one partner
    rejected = act(studio, project, judge(2, 1, "rejected"))
    assert (rejected.anchors, rejected.forbidden) == ([], [(2, 1)])
    assert act(studio, project, judge(2, 1, "open")).forbidden == []
    studio.step(project, "undo")
    assert studio.read(project).forbidden == [(2, 1)]
    with pytest.raises(RefusedError, match="3, 3"):
        act(studio, project, judge(3, 0, "confirmed"))


def test_undo_brings_the_older_answer_back(studio, project):
    answer(studio, project, 1)
    act(studio, project, judge(0, 1, "confirmed"))
    assert answer(studio, project, 2).answer.id.endswith("2")
    studio.step(project, "undo")
    assert studio.read(project).answer.id.endswith("1")
    assert studio.read(project).anchors == [(0, 1)]
    assert project.can_redo == "match"


def test_another_file_forgets_what_was_known_of_the_rows_until_it_is_undone(studio, project, tmp_path):
    answer(studio, project)
    act(studio, project, judge(0, 1, "confirmed"))
    new = project.add_file("x", "third.csv", path=tmp_path / "left.csv")
    changed = act(studio, project, Choose(type="choose", side="x", file=new.id))
    assert changed.answer is None
    assert changed.anchors == []
    assert changed.settings.x.file == new.id
    studio.step(project, "undo")
    assert studio.read(project).anchors == [(0, 1)]
    with pytest.raises(RefusedError, match="no such file"):
        act(studio, project, Choose(type="choose", side="y", file=new.id))


def test_names_and_options_keep_what_was_confirmed(studio, project):
    answer(studio, project)
    act(studio, project, judge(0, 1, "confirmed"))
    changed = act(studio, project, Read(type="read", side="x", id_column="none"))
    assert changed.anchors == [(0, 1)]
    assert changed.settings.x.id_column == "none"
    changed = act(studio, project, SetOptions(type="options", metric="cosine", overlap=0.8))
    assert (changed.settings.metric, changed.settings.overlap, changed.settings.method) == ("cosine", 0.8, "auto")
    assert changed.answer is not None
    assert changed.answer.settings.metric == "auto"
    changed = act(studio, project, Read(type="read", side="x", header=False))  # other rows
    assert changed.answer is None
    assert changed.anchors == []
    with pytest.raises(RefusedError, match="nothing has changed"):
        act(studio, project, Read(type="read", side="x", header=False))


def test_an_answer_about_other_files_is_dropped(studio, project):
    other = Settings(x=Source(file="f" * 16), y=Source(file="e" * 16))
    assert KIND.finish(project, studio.read(project), Run(task="run"), make_answer(other)) is None


def test_jobs_that_cannot_work_are_refused_at_once(studio, project, tmp_path):
    empty = studio.create("match")
    with pytest.raises(RefusedError, match="no file yet"):
        KIND.prepare(empty, Document(), Look(task="look"))
    with pytest.raises(RefusedError, match="two files"):
        KIND.prepare(empty, Document(), Run(task="run"))
    (tmp_path / "left.csv").unlink()
    with pytest.raises(RefusedError, match=r"left\.csv is no longer where it was"):
        KIND.prepare(project, studio.read(project), Run(task="run"))


def test_a_look_is_taken_once_for_each_way_of_reading(studio, project):
    def wait():
        deadline = time.monotonic() + 60
        while not studio.jobs.latest(project.id).has_ended:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    studio.start(project, Look(task="look"))
    wait()
    first = studio.read(project).look
    assert first
    assert project.can_undo is None
    changed = act(studio, project, Read(type="read", side="x", id_column="none"))
    assert changed.look is None
    changed = act(studio, project, Read(type="read", side="x"))
    assert changed.look == first  # known from before
