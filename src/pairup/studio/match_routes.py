"""Addresses of a match: what was read, the pairs page by page, the picture, downloads."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import FileResponse

from pairup.studio import match_results
from pairup.studio.match_document import LOOKS, RESULTS, Document
from pairup.studio.models import Identifier
from pairup.studio.project import Project
from pairup.studio.routes import PROBLEMS, get_project

router = APIRouter(prefix="/api/match", responses=PROBLEMS)


def get_match(project: Annotated[Project, Depends(get_project)]) -> Project:
    """Return the project that an address names, if it is a match.

    Parameters
    ----------
    project : Project
        The project.

    Returns
    -------
    Project
        The same.
    """
    if project.kind != "match":
        raise HTTPException(404, f"this project is a {project.kind}, not a match")
    return project


Match = Annotated[Project, Depends(get_match)]


def _locate(project: Project, folder: str, *parts: str) -> Path:
    """Return where something lies that a worker wrote."""
    path = project.folder.joinpath(folder, *parts)
    if not path.is_file():
        raise HTTPException(404, "there is no such result; match again")
    return path


@router.get("/{project_id}/looks/{look_id}", operation_id="read_look", response_class=FileResponse)
def read_look(project: Match, look_id: Identifier) -> FileResponse:
    """Return what was read of the files."""
    return FileResponse(_locate(project, LOOKS, f"{look_id}.json"), media_type="application/json")


@router.get("/{project_id}/results/{result_id}/picture", operation_id="read_picture", response_class=FileResponse)
def read_picture(project: Match, result_id: Identifier) -> FileResponse:
    """Return the places of all rows in the picture of both sets, their names, partners and confidences."""
    return FileResponse(_locate(project, RESULTS, result_id, "picture.json"), media_type="application/json")


@router.get("/{project_id}/results/{result_id}/code", operation_id="read_code", response_class=FileResponse)
def read_code(project: Match, result_id: Identifier) -> FileResponse:
    """Return the same matching as Python and as a command."""
    return FileResponse(_locate(project, RESULTS, result_id, "code.json"), media_type="application/json")


@router.get("/{project_id}/results/{result_id}/pairs", operation_id="read_pairs")
def read_pairs(
    project: Match,
    result_id: Identifier,
    show: Annotated[match_results.Show, Query()] = "all",
    order: Annotated[match_results.Order, Query()] = "uncertain",
    search: Annotated[str, Query(max_length=200)] = "",
    only: Annotated[int | None, Query(ge=0, le=10_000_000)] = None,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> match_results.PairPage:
    """Return some of the pairs."""
    path = _locate(project, RESULTS, result_id, "pairs-view.json")
    document = Document.model_validate(project.document)
    judged = match_results.Judgements(document.anchors, document.forbidden)
    chosen = match_results.Choice(show=show, order=order, search=search, only=only, offset=offset, limit=limit)
    return match_results.read_result(path).page(chosen, judged)


@router.get(
    "/{project_id}/results/{result_id}/files/{name}", operation_id="download_pairs", response_class=FileResponse
)
def download_pairs(project: Match, result_id: Identifier, name: match_results.Download) -> FileResponse:
    """Return the pairs as a file, or those that were confirmed or rejected before."""
    path = _locate(project, RESULTS, result_id, name)
    return FileResponse(path, media_type="application/octet-stream", filename=name)
