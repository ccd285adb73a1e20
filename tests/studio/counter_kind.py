"""A kind of project that counts, for tests of what all kinds share."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pairup.studio.kinds import Change, Kind, RefusedError, Task
from pairup.studio.models import Record
from pairup.studio.project import Project


class Counter(Record):
    n: int = 0


class Add(Record):
    type: Literal["add"]
    by: int = Field(default=1, ge=-1000, le=1000)


class Reset(Record):
    type: Literal["reset"]


class Sleep(Record):
    task: Literal["sleep"]
    seconds: float = Field(default=0.2, ge=0, le=60)
    parts: int = Field(default=4, ge=1, le=100)


class Missing(Record):
    task: Literal["missing"]


Action = Annotated[Add | Reset, Field(discriminator="type")]
Job = Annotated[Sleep | Missing, Field(discriminator="task")]


def apply(project: Project, document: Counter, action: Any) -> Change:
    if isinstance(action, Reset):
        return Change(Counter(), "reset", undoable=False)
    if document.n + action.by < 0:
        raise RefusedError("the counter cannot go below 0")
    return Change(Counter(n=document.n + action.by), f"add {action.by}", note=f"{document.n + action.by}")


def prepare(project: Project, document: Counter, job: Any) -> Task:
    if isinstance(job, Sleep):
        return Task("sleep", {"seconds": job.seconds, "parts": job.parts})
    return Task("no such task", {})


def finish(project: Project, document: Counter, job: Any, result: Any) -> Change:
    return Change(Counter(n=document.n + 100), "sleep")


TOY = Kind("album", "New counter", Counter, Action, Job, {"photo": 1000}, apply, prepare, finish)
