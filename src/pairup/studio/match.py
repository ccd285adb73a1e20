"""The kind of project "match"."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from pairup.studio.kinds import Change, Kind, Task
from pairup.studio.models import Record
from pairup.studio.project import Project

router = APIRouter(prefix="/api/match")


class Document(Record):
    """What a project holds."""

    counter: int = 0


class Count(Record):
    """Add to the counter."""

    type: Literal["count"]


class Sleep(Record):
    """Do nothing for a while."""

    task: Literal["sleep"]
    seconds: float = 1.0


Action = Annotated[Count, Field(discriminator=None)]
Job = Annotated[Sleep, Field(discriminator=None)]


def apply(project: Project, document: Document, action: Count) -> Change:
    """Count."""
    return Change(Document(counter=document.counter + 1), "count")


def prepare(project: Project, document: Document, job: Sleep) -> Task:
    """Sleep."""
    return Task("sleep", {"seconds": job.seconds})


def finish(project: Project, document: Document, job: Sleep, result: object) -> Change | None:
    """End."""
    return None


KIND = Kind("match", "New match", Document, Action, Job, {"photo": 200_000_000}, apply, prepare, finish)
