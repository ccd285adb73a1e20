"""The kind of project "album"."""

import secrets
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import FileResponse
from pydantic import Field

from pairup.studio.album_actions import apply, describe, place
from pairup.studio.album_document import (
    MOST_CELLS,
    Action,
    Arrange,
    Document,
    Export,
    Fit,
    Frame,
    Job,
    MaskFrame,
    Quality,
    Read,
    ShapeFrame,
    Tiles,
)
from pairup.studio.album_sheets import SHEETS, Sheet, list_sheets
from pairup.studio.kinds import Change, Kind, RefusedError, Task
from pairup.studio.models import FileView, Record
from pairup.studio.project import FILES, Project
from pairup.studio.routes import PROBLEMS, Open, Service
from pairup.studio.worker import TaskError

LARGEST_SIDE = 2400  # pixels of a photo that is shown large
SOURCES = ("photo", "folder", "demo")  # roles of files that the job "read" reads
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}

router = APIRouter(prefix="/api/album", responses=PROBLEMS)


def list_photos(project: Project) -> dict[int, FileView]:
    """Return the photos that were read.

    Parameters
    ----------
    project : Project
        The project.

    Returns
    -------
    dict of int to FileView
        By their numbers.
    """
    return {file.details["number"]: file for file in project.files("photo") if "number" in file.details}


def list_unread(project: Project) -> list[FileView]:
    """Return the files that the job "read" would read.

    Parameters
    ----------
    project : Project
        The project.

    Returns
    -------
    list of FileView
        Photos, folders, or the demo.
    """
    return [file for file in project.files() if file.role in SOURCES and not file.details]


def _locate_photos(project: Project) -> list[Path]:
    """Return the files of all photos by their numbers."""
    photos = list_photos(project)
    return [project.locate(photos[number].id) for number in range(len(photos))]


def _describe_frame(project: Project, frame: Any) -> dict[str, Any]:
    """Return a frame in plain values, a picture as its path."""
    described: dict[str, Any] = frame.model_dump()
    if isinstance(frame, MaskFrame):
        try:
            described["path"] = str(project.locate(frame.file))
        except KeyError:
            raise RefusedError("the picture of this frame is not in the project; upload it first") from None
    return described


def _describe_vectors(project: Project, document: Document) -> dict[str, Any] | None:
    """Return the person's own features in plain values: their file, and what the photos are called."""
    if document.weights.file is None or not document.weights.vectors:
        return None
    found = {file.id: file for file in project.files("vectors")}.get(document.weights.file)
    if found is None:
        raise RefusedError("the file of your own features is not in the project; upload it first")
    photos = list_photos(project)
    names = [photos[number].name for number in range(len(photos))]
    return {"path": str(project.locate(found.id)), "name": found.name, "names": names}


def prepare(project: Project, document: Document, job: Any) -> Task:
    """Prepare a job of an album.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    job : Record
        One of the jobs of an album.

    Returns
    -------
    Task
        What the worker does.

    Raises
    ------
    RefusedError
        If there is nothing to be done.
    """
    folder = project.folder
    if isinstance(job, Read):
        sources = [
            {**file.model_dump(include={"id", "role", "name"}), "path": str(project.locate(file.id))}
            for file in list_unread(project)
        ]
        return Task("album.read", {"folder": folder, "sources": sources, "first": len(list_photos(project))})
    if isinstance(job, Tiles):
        arguments = {"folder": folder, "paths": _locate_photos(project), "level": job.level, "fit": job.fit}
        return Task("album.tiles", arguments)
    if not document.photos:
        raise RefusedError("the album has no photos yet; add some")
    shared = {
        "folder": folder,
        "photos": document.photos,
        "paths": _locate_photos(project),
        "rotations": document.rotations,
        "weights": document.weights.model_dump(exclude={"file"}),
        "vectors": _describe_vectors(project, document),
    }
    if isinstance(job, Arrange):
        kept = {*document.pins, *(document.moved if job.keep_moved else ())}
        pins = {photo: tuple(document.cells[cell]) for cell, photo in enumerate(document.order) if photo in kept}
        own = {
            "frame": _describe_frame(project, document.frame),
            "pins": pins,
            "style": document.style.model_dump(),
            "seed": job.seed,
        }
        return Task("album.arrange", {**shared, **own})
    return Task("album.export", {**shared, **_prepare_export(project, document, job)})


def _prepare_export(project: Project, document: Document, job: Export) -> dict[str, Any]:
    """Return what the export needs beside what the arrangement needs as well."""
    if not document.order:
        raise RefusedError("the photos have no places yet; arrange them first")
    photos = list_photos(project)
    print_options = {"cell": job.cell, "paper": job.paper, "dpi": job.dpi, "title": project.read_meta("name")}
    return {
        "names": [photos[number].name for number in document.photos],
        "cells": document.cells,
        "order": document.order,
        "pins": document.pins,
        "frame": document.frame.kind,
        "style": {**document.style.model_dump(), **print_options},
        "suffix": f".{job.format}",
    }


def finish(project: Project, document: Document, job: Any, result: Any) -> Change | None:
    """Write the result of a job.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document in the moment in which the job ends.
    job : Record
        The job.
    result : dict
        What the worker returned.

    Returns
    -------
    Change or None
        The new document; None where it stays.
    """
    if isinstance(job, Read):
        return _finish_reading(project, document, result)
    if isinstance(job, Export):
        for file in project.files("export"):
            if file.name.endswith(f".{job.format}"):
                project.remove_file(file.id)
        name = f"{project.read_meta('name')[:100]}.{job.format}"
        project.add_files("export", [(result["id"], name, None, {})])
        return None
    if isinstance(job, Arrange):
        if result["frame"] != _describe_frame(project, document.frame):  # undone or changed meanwhile
            return None
        placed = {photo for photo in result["order"] if photo >= 0}
        if not placed <= set(document.photos):  # photos were taken out meanwhile
            result["order"] = [photo if photo in document.photos else -1 for photo in result["order"]]
        change = place(document, result["cells"], result["order"], "arrange")
        if document.order == result["order"]:  # else photos were pinned meanwhile, and the page asks for it anew
            document.quality = Quality(**result["quality"])
        return change
    return None


def _finish_reading(project: Project, document: Document, result: Any) -> Change | None:
    """Write which photos were read, and which not."""
    files = result["files"]
    project.describe_files({file["id"]: file["details"] for file in files if file["known"]})
    fresh = [
        (file["id"], file["name"][-200:], None if file.get("own") else Path(file["path"]), file["details"])
        for file in files
        if not file["known"]
    ]
    project.add_files("photo", fresh)
    known = {file["id"] for file in files}
    project.describe_files({source: {"read": True} for source in result["sources"] if source not in known})
    added = [file["details"]["number"] for file in files if "number" in file["details"]]
    if not files:  # the studio was killed after the files were written and before the document was
        known_numbers = max([-1, *document.photos, *document.removed])
        added = [number for number in list_photos(project) if number > known_numbers]
    if not added:
        return None
    first = not document.photos
    document.photos = [*document.photos, *added]
    document.left_out = [*document.left_out, *added]
    document.arranged = False
    text = f"add {len(added)} photo{'' if len(added) == 1 else 's'}"
    # The first photos cannot be undone: an album without any has nothing to show.
    return Change(document, text, note=describe(document), undoable=not first)


def start_with(project: Project, paths: list[Path]) -> None:
    """Begin with the photos that the command line names, which are read where they are.

    Parameters
    ----------
    project : Project
        A new project.
    paths : list of Path
        Files or folders.
    """
    for path in paths:
        project.add_file("folder" if path.is_dir() else "photo", path.name or str(path), path=path)
    # Written as a job that waits, it begins with the studio, while the browser still opens.
    project.save_job(secrets.token_hex(8), Read(task="read").model_dump())


def start_demo(project: Project) -> None:
    """Begin with the demo pictures, which the job "read" makes, in a heart.

    Parameters
    ----------
    project : Project
        A new project.
    """
    with tempfile.NamedTemporaryFile(dir=project.folder / FILES, delete=False) as file:
        file.write(b"demo")
    project.add_file("demo", "demo pictures", content=Path(file.name))
    project.rename("Demo pictures")
    project.amend(Document(frame=ShapeFrame(kind="shape", name="heart")).model_dump(mode="json"))


class FrameView(Record):
    """The cells of a frame for the present number of photos."""

    cells: list[list[int]]
    photos: int


class FrameRequest(Record):
    """A frame to be previewed."""

    frame: Frame


def _check(project: Project) -> None:
    if project.kind != "album":
        raise HTTPException(404, f"this project is a {project.kind}, not an album")


@router.get("/{project_id}/sheets", operation_id="list_album_sheets")
def read_sheets(project: Open) -> list[Sheet]:
    """List the sheets of tiles that are drawn."""
    _check(project)
    return list_sheets(project.folder)


@router.get(
    "/{project_id}/sheets/{level}/{fit}/{index}/{count}", operation_id="read_album_sheet", response_class=FileResponse
)
def read_sheet(
    project: Open,
    level: Literal["40", "128", "256"],
    fit: Fit,
    index: Annotated[int, Field(ge=0, lt=MOST_CELLS)],
    count: Annotated[int, Field(ge=1, lt=MOST_CELLS)],
) -> FileResponse:
    """Return a sheet of tiles."""
    _check(project)
    path = project.folder / SHEETS / Sheet(level=int(level), fit=fit, index=index, count=count).name
    if not path.is_file():
        raise HTTPException(404, "this sheet is not drawn, or was drawn anew")
    return FileResponse(path, media_type="image/jpeg", headers=FOREVER)


@router.get("/{project_id}/photos/{number}", operation_id="read_album_photo", response_class=Response)
def read_photo(
    project: Open,
    studio: Service,
    number: Annotated[int, Field(ge=0, lt=MOST_CELLS)],
    side: Annotated[int, Query(ge=16, le=LARGEST_SIDE)] = 1600,
    quarters: Annotated[int, Query(ge=0, le=3)] = 0,
) -> Response:
    """Return one photo, decoded small enough to be shown, without metadata."""
    _check(project)
    photo = list_photos(project).get(number)
    if photo is None:
        raise HTTPException(404, "there is no such photo")
    arguments = {"path": project.locate(photo.id), "side": side, "quarters": quarters}
    try:
        picture = studio.errands.run("album.preview", arguments)
    except TaskError as error:
        raise HTTPException(409, str(error)) from None
    return Response(picture, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


@router.post("/{project_id}/frame", operation_id="preview_album_frame")
def preview_frame(project: Open, studio: Service, request: FrameRequest) -> FrameView:
    """Return the cells that a frame would have for the present photos."""
    _check(project)
    photos = len(Document.model_validate(project.document).photos)
    arguments = {"frame": _describe_frame(project, request.frame), "count": photos}
    try:
        cells = studio.errands.run("album.fit", arguments)
    except TaskError as error:
        raise RefusedError(str(error)) from None
    return FrameView(cells=cells, photos=photos)


@router.get("/{project_id}/quality", operation_id="measure_album")
def measure_album(project: Open, studio: Service) -> Quality:
    """Return how good the present places are, also after photos were moved by hand."""
    _check(project)
    document = Document.model_validate(project.document)
    if not document.order:
        raise RefusedError("the photos have no places yet; arrange them first")
    arguments = {
        "folder": project.folder,
        **document.model_dump(include={"photos", "rotations", "cells", "order"}),
        "weights": document.weights.model_dump(exclude={"file"}),
        "vectors": _describe_vectors(project, document),
    }
    try:
        return Quality(**studio.errands.run("album.measure", arguments))
    except TaskError as error:
        raise RefusedError(str(error)) from None


KIND = Kind(
    "album",
    "New album",
    Document,
    Action,
    Job,
    {"photo": 200_000_000, "mask": 20_000_000, "vectors": 200_000_000},
    apply,
    prepare,
    finish,
    start_with,
    start_demo,
)
