"""What travels between the browser and the studio."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

KINDS = ("album", "match", "voice")
KindName = Literal["album", "match", "voice"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
IDENTIFIER = "[0-9a-f]{16}"
Identifier = Annotated[str, StringConstraints(pattern=f"^{IDENTIFIER}$")]
"""Name of a project, a file or a job in addresses: never a path."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""What a person calls a project or a file; shown as text."""


class Record(BaseModel):
    """What is sent and received: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class FileView(Record):
    """A file of a project."""

    id: Identifier
    role: str
    name: str
    size: int
    details: dict[str, Any] = Field(default_factory=dict)


class JobView(Record):
    """A job: queued, at work or ended."""

    id: Identifier
    task: str
    status: JobStatus
    progress: float | None = None
    text: str = ""
    error: str | None = None


class ProjectSummary(Record):
    """A project in the list of the home page."""

    id: Identifier
    kind: KindName
    name: str
    created: float
    changed: float
    cover: bool = False
    note: str = ""


class ProjectView(ProjectSummary):
    """All that a page shows of a project; `document` is the one of its kind."""

    revision: int
    can_undo: str | None = None
    can_redo: str | None = None
    document: dict[str, Any]
    files: list[FileView]
    job: JobView | None = None


class NewProject(Record):
    """A project to be made."""

    kind: KindName
    name: Name | None = None
    demo: bool = False


class Rename(Record):
    """A new name."""

    name: Name


class Problem(Record):
    """Why a request was refused, in one sentence."""

    detail: str
