"""Addresses that all kinds of projects share."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import FileResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from pairup.studio.kinds import Kind
from pairup.studio.models import (
    FileView,
    Identifier,
    JobView,
    NewProject,
    Problem,
    ProjectSummary,
    ProjectView,
    Record,
    Rename,
)
from pairup.studio.project import COVER, FILES, Project, ProjectError
from pairup.studio.service import Studio
from pairup.studio.uploads import MOST_FILES, clean_name, receive_file

SENT = {  # file types that a browser may show; all others are only downloaded
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
}
SPACING = 0.2  # seconds between two times that a page is told of the whole project
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What was sent is no JSON"},
    403: {"model": Problem, "description": "A request of another site"},
    404: {"model": Problem, "description": "There is no such project, file or job"},
    409: {"model": Problem, "description": "The project does not allow it now"},
    413: {"model": Problem, "description": "Too much was sent"},
    415: {"model": Problem, "description": "What was sent is of another type"},
    422: {"model": Problem, "description": "What was sent is not understood"},
}

router = APIRouter(prefix="/api", responses=PROBLEMS)


class ProjectList(Record):
    """The home page."""

    projects: list[ProjectSummary]
    damaged: list[str]


def get_studio(request: Request) -> Studio:
    """Return the studio that serves a request.

    Parameters
    ----------
    request : Request
        The request.

    Returns
    -------
    Studio
        The studio.
    """
    studio: Studio = request.app.state.studio
    return studio


def get_project(project_id: Identifier, studio: Annotated[Studio, Depends(get_studio)]) -> Project:
    """Return the project that an address names.

    Parameters
    ----------
    project_id : str
        Its identifier.
    studio : Studio
        The studio.

    Returns
    -------
    Project
        The project.
    """
    try:
        return studio.workspace.open(project_id)
    except KeyError:
        raise HTTPException(404, "there is no such project; it may have been deleted") from None
    except ProjectError as error:
        raise HTTPException(409, str(error)) from None


Open = Annotated[Project, Depends(get_project)]
Service = Annotated[Studio, Depends(get_studio)]


@router.get("/projects", operation_id="list_projects")
def list_projects(studio: Service) -> ProjectList:
    """List all projects, the one changed last first."""
    projects, damaged = studio.workspace.summaries()
    return ProjectList(projects=projects, damaged=damaged)


@router.post("/projects", operation_id="create_project", status_code=201)
def create_project(new: NewProject, studio: Service) -> ProjectView:
    """Make a project, empty or with the demo."""
    project = studio.create(new.kind, new.name)
    begin = studio.kinds[new.kind].start_demo
    if new.demo:
        if begin is None:
            studio.workspace.delete(project.id)
            raise HTTPException(409, f"there is no demo of a {new.kind}")
        begin(project)
    return studio.view(project)


@router.get("/projects/{project_id}", operation_id="read_project")
def read_project(project: Open, studio: Service) -> ProjectView:
    """Return a project."""
    return studio.view(project)


@router.patch("/projects/{project_id}", operation_id="rename_project")
def rename_project(project: Open, rename: Rename, studio: Service) -> ProjectView:
    """Give a project another name."""
    project.rename(rename.name)
    studio.tell(project)
    return studio.view(project)


@router.post("/projects/{project_id}/duplicate", operation_id="duplicate_project", status_code=201)
def duplicate_project(project: Open, studio: Service) -> ProjectSummary:
    """Make a copy of a project."""
    return studio.view(studio.workspace.duplicate(project.id))


@router.delete("/projects/{project_id}", operation_id="delete_project", status_code=204)
def delete_project(project: Open, studio: Service) -> None:
    """Delete a project; it can be restored."""
    studio.jobs.end_project(project.id)
    try:
        studio.workspace.delete(project.id)
    except KeyError:
        raise HTTPException(404, "there is no such project; it may have been deleted") from None
    studio.tell(project)


@router.post("/projects/{project_id}/restore", operation_id="restore_project")
def restore_project(project_id: Identifier, studio: Service) -> ProjectSummary:
    """Bring a deleted project back."""
    try:
        return studio.view(studio.workspace.restore(project_id))
    except KeyError:
        raise HTTPException(404, "this project is not among the deleted ones") from None


@router.get("/projects/{project_id}/cover", operation_id="read_cover", response_class=FileResponse)
def read_cover(project: Open) -> FileResponse:
    """Return the picture of a project on the home page."""
    path = project.folder / COVER
    if not path.is_file():
        raise HTTPException(404, "this project has no picture yet")
    return FileResponse(path, media_type="image/jpeg")


@router.post("/projects/{project_id}/undo", operation_id="undo")
def undo(project: Open, studio: Service) -> ProjectView:
    """Take the last action back."""
    return studio.step(project, "undo")


@router.post("/projects/{project_id}/redo", operation_id="redo")
def redo(project: Open, studio: Service) -> ProjectView:
    """Do again what was undone last."""
    return studio.step(project, "redo")


@router.post("/projects/{project_id}/files", operation_id="upload_file", status_code=201)
async def upload_file(
    request: Request,
    project: Open,
    studio: Service,
    role: Annotated[str, Query(max_length=40)],
    name: Annotated[str, Query(max_length=1000)] = "file",
) -> FileView:
    """Take a file, which is the body of the request as it is."""
    roles = studio.kinds[project.kind].roles
    if role not in roles:
        raise HTTPException(422, f"files of this project may be: {', '.join(roles)}; got {role[:40]!r}")
    if await asyncio.to_thread(project.count_files) >= MOST_FILES:
        raise HTTPException(409, f"a project holds {MOST_FILES} files at most")
    async with receive_file(request.stream(), project.folder / FILES, roles[role]) as temporary:
        file = await asyncio.to_thread(project.add_file, role, clean_name(name), content=temporary)
    studio.tell(project)
    return file


@router.get("/projects/{project_id}/files/{file_id}", operation_id="read_file", response_class=FileResponse)
def read_file(project: Open, file_id: Identifier) -> FileResponse:
    """Return a file of a project."""
    found = {file.id: file for file in project.files()}.get(file_id)
    if found is None or not (path := project.locate(file_id)).is_file():
        raise HTTPException(404, "there is no such file; it may have been moved")
    suffix = "." + found.name.rpartition(".")[2].lower()
    return FileResponse(
        path,
        media_type=SENT.get(suffix, "application/octet-stream"),
        filename=found.name,
        content_disposition_type="inline" if suffix in SENT else "attachment",
    )


@router.delete("/projects/{project_id}/jobs/{job_id}", operation_id="cancel_job")
def cancel_job(project: Open, job_id: Identifier, studio: Service) -> JobView:
    """Cancel a job."""
    try:
        return studio.jobs.cancel(project.id, job_id)
    except KeyError:
        raise HTTPException(404, "there is no such job; it may have ended") from None


@router.get("/projects/{project_id}/events", operation_id="listen", response_class=EventSourceResponse)
async def listen(project: Open, studio: Service) -> AsyncIterator[ServerSentEvent]:
    """Tell what happens in a project: the whole project, its job, and the steps of the job."""
    with studio.bus.subscribe(project.id) as listener:  # before the project is read, so that nothing is missed
        first = await asyncio.to_thread(_describe, studio, project)
        if first is None:
            return
        yield ServerSentEvent(event="project", data=first)
        job = studio.jobs.latest(project.id)
        if job is not None and job.step is not None and not job.has_ended:
            yield ServerSentEvent(event="step", data={"job": job.id, **job.step})
        told = time.monotonic()
        async for kind, data in listener.listen():
            if kind == "project":  # hundreds of uploads are told a few times a second
                await asyncio.sleep(max(told + SPACING - time.monotonic(), 0))
                told = time.monotonic()
            if kind == "project" and (data := await asyncio.to_thread(_describe, studio, project)) is None:
                return
            yield ServerSentEvent(event=kind, data=data)


def _describe(studio: Studio, project: Project) -> dict[str, Any] | None:
    """Return all that a page shows of a project; None where it was deleted meanwhile."""
    try:
        return studio.view(project).model_dump(mode="json")
    except sqlite3.ProgrammingError:  # its file is closed
        return None


def make_router(kind: Kind) -> APIRouter:
    """Make the addresses of one kind of project: its actions and its jobs.

    Parameters
    ----------
    kind : Kind
        The kind.

    Returns
    -------
    APIRouter
        Addresses below ``/api/<kind>/<project>``.
    """
    made = APIRouter(prefix=f"/api/{kind.name}", responses=PROBLEMS)
    Action, Request_, Document = kind.action, kind.job, kind.document

    def check(project: Project) -> None:
        if project.kind != kind.name:
            raise HTTPException(404, f"this project is a {project.kind}, not a {kind.name}")

    @made.post("/{project_id}/actions", operation_id=f"act_on_{kind.name}")
    def act(project: Open, action: Action, studio: Service) -> ProjectView:  # type: ignore[valid-type]
        """Change a project by an action."""
        check(project)
        return studio.act(project, action)

    @made.post("/{project_id}/jobs", operation_id=f"start_{kind.name}_job", status_code=202)
    def start(project: Open, job: Request_, studio: Service) -> JobView:  # type: ignore[valid-type]
        """Queue a job."""
        check(project)
        return studio.start(project, job)

    @made.get("/{project_id}/document", operation_id=f"read_{kind.name}_document")
    def read(project: Open, studio: Service) -> Document:  # type: ignore[valid-type]
        """Return the document of a project."""
        check(project)
        return studio.read(project)

    return made
