"""Kinds of projects: what a document holds, which actions change it, which jobs it has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pairup.studio.project import Project, RefusedError

__all__ = ["Change", "Kind", "RefusedError", "Task"]


@dataclass(frozen=True)
class Change:
    """A document after an action.

    Parameters
    ----------
    document : BaseModel
        The whole document.
    action : str
        What was done, in a few words, as undo names it.
    note : str, optional
        A line about the project for the home page.
    undoable : bool, default True
        Whether undo takes it back.
    """

    document: BaseModel
    action: str
    note: str | None = None
    undoable: bool = True


@dataclass(frozen=True)
class Task:
    """What a job hands to a worker.

    Parameters
    ----------
    name : str
        One of `pairup.studio.worker.TASKS`.
    arguments : dict
        Its arguments: plain values, paths and arrays.
    """

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of project.

    Parameters
    ----------
    name : str
        As in addresses: album, match or voice.
    title : str
        Name of a new project.
    document : type of BaseModel
        Its document; without arguments it is that of a new project.
    action : type
        The union of its actions, told apart by their field "type".
    job : type
        The union of its jobs, told apart by their field "task".
    roles : dict of str to int
        Roles that uploaded files may have, and how many bytes each may have.
    apply : callable
        ``apply(project, document, action)`` returns a Change, or raises RefusedError.
    prepare : callable
        ``prepare(project, document, job)`` returns a Task, or raises RefusedError.
    finish : callable
        ``finish(project, document, job, result)`` returns a Change, or None where nothing changes; `document` is the
        one of the moment in which the job ends.
    start_with : callable, optional
        ``start_with(project, paths)`` takes the files or folders named on the command line.
    start_demo : callable, optional
        ``start_demo(project)`` fills a new project with the demo.
    """

    name: str
    title: str
    document: type[BaseModel]
    action: Any
    job: Any
    roles: dict[str, int]
    apply: Callable[[Project, Any, Any], Change]
    prepare: Callable[[Project, Any, Any], Task]
    finish: Callable[[Project, Any, Any, Any], Change | None]
    start_with: Callable[[Project, list[Path]], None] | None = None
    start_demo: Callable[[Project], None] | None = None
