"""The kind of project "match": two tables or two graphs, what is known of their pairs, and the answer."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pairup.studio.kinds import Change, Kind, RefusedError, Task
from pairup.studio.match_document import (
    LOOKS,
    MOST_JUDGED,
    RESULTS,
    SIDES,
    Action,
    Answer,
    Choose,
    Document,
    Forget,
    Job,
    Judge,
    Look,
    Read,
    Run,
    Settings,
    Source,
)
from pairup.studio.match_routes import router
from pairup.studio.project import FILES, Project

__all__ = ["KIND", "router"]
LARGEST = 500_000_000  # bytes of a table


def apply(project: Project, document: Document, action: Any) -> Change:
    """Change the document by an action.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    action : Choose, Read, SetOptions, Judge or Forget
        What is done.

    Returns
    -------
    Change
        The document afterwards.
    """
    if isinstance(action, Judge):
        return _judge(document, action)
    if isinstance(action, Forget):
        return Change(document.model_copy(update={"anchors": [], "forbidden": []}), "forget what was confirmed")
    new = document.model_copy(deep=True)
    if isinstance(action, Choose):
        file = next((file for file in project.files(action.side) if file.id == action.file), None)
        if file is None:
            raise RefusedError("there is no such file on this side; upload it first")
        setattr(new.settings, action.side, Source(file=action.file))
        new.settings.form = "auto"
        text = f"take {file.name}"
    elif isinstance(action, Read):
        file_id = getattr(new.settings, action.side).file
        setattr(new.settings, action.side, Source(file=file_id, **action.model_dump(exclude={"type", "side"})))
        text = f"read {action.side.upper()} in another way"
    else:
        given = action.model_dump(exclude={"type"}, exclude_none=True)
        new.settings = new.settings.model_copy(update=given)
        text = "change the options"
    if new.settings == document.settings:
        raise RefusedError("nothing has changed")
    if _rows_differ(document.settings, new.settings):  # what was known of the rows is of other rows
        new.anchors, new.forbidden, new.answer = [], [], None
    new.look = _existing_look(project, new)
    return Change(new, text)


def _rows_differ(old: Settings, new: Settings) -> bool:
    """Tell whether the rows of two settings may be different objects."""
    rows = [[(s.file, s.header) for s in (each.x, each.y)] + [each.form] for each in (old, new)]
    return rows[0] != rows[1]


def _judge(document: Document, action: Judge) -> Change:
    """Confirm or reject a pair, or take that back."""
    pair = (action.x, action.y)
    if document.answer is None:
        raise RefusedError("match first, then confirm or reject pairs")
    if not (action.x < document.answer.rows[0] and action.y < document.answer.rows[1]):
        raise RefusedError(f"there is no pair {pair}; the tables have {document.answer.rows} rows")
    anchors = [each for each in document.anchors if each != pair]
    forbidden = [each for each in document.forbidden if each != pair]
    if action.as_ == "confirmed":  # a row has one partner
        anchors = [*(each for each in anchors if each[0] != action.x and each[1] != action.y), pair]
    elif action.as_ == "rejected":
        forbidden.append(pair)
    if len(anchors) > MOST_JUDGED or len(forbidden) > MOST_JUDGED:
        raise RefusedError(f"at most {MOST_JUDGED:,} pairs can be confirmed or rejected")
    text = {"confirmed": "confirm a pair", "rejected": "reject a pair", "open": "open a pair again"}[action.as_]
    return Change(document.model_copy(update={"anchors": anchors, "forbidden": forbidden}), text)


def prepare(project: Project, document: Document, job: Look | Run) -> Task:
    """Return what a worker does for a job.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    job : Look or Run
        What was asked for.

    Returns
    -------
    Task
        The task.
    """
    files = {side: _find_file(project, getattr(document.settings, side)) for side in SIDES}
    settings = document.settings.model_dump(mode="json")
    if isinstance(job, Look):
        look = _name_look(project, document.settings)
        if look is None:
            raise RefusedError("there is no file yet; drop or choose one")
        return Task(
            "match.look", {"path": project.folder / LOOKS / f"{look}.json", "files": files, "settings": settings}
        )
    if None in files.values():
        raise RefusedError("two files are needed; drop or choose both")
    if job.first and not document.begins:
        raise RefusedError("this was started already")
    answer = document.answer
    previous = answer.id if answer is not None and not _rows_differ(answer.settings, document.settings) else None
    return Task(
        "match.run",
        {
            "folder": project.folder / RESULTS,
            "files": files,
            "settings": settings,
            "anchors": document.anchors,
            "forbidden": document.forbidden,
            "previous": previous,
        },
    )


def _find_file(project: Project, source: Source) -> dict[str, Any] | None:
    """Return where a file is and what it is called."""
    if source.file is None:
        return None
    name = next((file.name for file in project.files() if file.id == source.file), "file")
    path = project.locate(source.file)
    if not path.is_file():
        raise RefusedError(f"{name} is no longer where it was; choose it again")
    own = None if path.parent == project.folder / FILES else str(path)
    return {"path": path, "name": name, "own_path": own}


def _name_look(project: Project, settings: Settings) -> str | None:
    """Return the name of the look at the files as they are now and are read now; None without files."""
    marks: list[Any] = [settings.model_dump(mode="json", exclude={"overlap"})]
    for side in SIDES:
        source = getattr(settings, side)
        if source.file is not None:
            try:
                state = project.locate(source.file).stat()
                marks.append((state.st_size, state.st_mtime_ns))
            except (KeyError, OSError):
                marks.append("missing")
    return hashlib.sha256(json.dumps(marks).encode()).hexdigest()[:16] if len(marks) > 1 else None


def _existing_look(project: Project, document: Document) -> str | None:
    """Return the name of the look, if it was taken before."""
    name = _name_look(project, document.settings)
    return name if name is not None and (project.folder / LOOKS / f"{name}.json").is_file() else None


def finish(project: Project, document: Document, job: Look | Run, result: Any) -> Change | None:
    """Write what a job found.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document as it is now.
    job : Look or Run
        What was asked for.
    result : dict
        What the worker returned.

    Returns
    -------
    Change or None
        The document afterwards; None where it is about other files meanwhile.
    """
    if isinstance(job, Look):
        look = _existing_look(project, document)
        return Change(document.model_copy(update={"look": look}), "look", undoable=False)
    answer = Answer.model_validate(result)
    if _rows_differ(answer.settings, document.settings):
        return None
    note = f"{answer.pairs:,} pairs" + (
        "" if answer.reliability is None else f", {answer.reliability:.0%} expected right"
    )
    return Change(document.model_copy(update={"answer": answer, "begins": False}), "match", note=note)


def start_with(project: Project, paths: list[Path]) -> None:
    """Begin with two files of the command line, which are only read.

    Parameters
    ----------
    project : Project
        A new project.
    paths : list of Path
        The two files.
    """
    added = [project.add_file(side, path.name, path=path) for side, path in zip(SIDES, paths, strict=True)]
    settings = Settings(x=Source(file=added[0].id), y=Source(file=added[1].id))
    project.amend(Document(settings=settings).model_dump(mode="json"))


def start_demo(project: Project) -> None:
    """Begin with the demo: cities under two names.

    Parameters
    ----------
    project : Project
        A new project.
    """
    from pairup.studio.match_demo import make_tables

    identifiers = []
    for side, name, text in zip(SIDES, ("places.csv", "facts.csv"), make_tables(), strict=True):
        temporary = project.folder / FILES / f".{name}"
        temporary.write_text(text, encoding="utf-8", newline="")
        identifiers.append(project.add_file(side, name, content=temporary).id)
    settings = Settings(x=Source(file=identifiers[0]), y=Source(file=identifiers[1]))
    project.amend(Document(settings=settings, begins=True).model_dump(mode="json"))
    project.rename("European cities")


KIND = Kind(
    "match",
    "New match",
    Document,
    Action,
    Job,
    dict.fromkeys(SIDES, LARGEST),
    apply,
    prepare,
    finish,
    start_with,
    start_demo,
)
