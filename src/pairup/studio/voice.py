"""Voices: recordings of two speakers, the voice learned from them, and what was converted."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse
from pydantic import Field

from pairup.methods import SOUND_SUFFIXES
from pairup.studio.kinds import Change, Kind, RefusedError, Task
from pairup.studio.models import FileView, Identifier, Record
from pairup.studio.project import COVER, Project
from pairup.studio.routes import PROBLEMS, Open

FOLDER = "voice"  # below the project: outlines, learned voices and results, each by its identifier
LARGEST = 200_000_000  # bytes of a recording
LONGEST_SIDE = 900.0  # seconds of all recordings of a speaker
MOST_RESULTS = 100
TYPES = {"WAV": "audio/wav", "WAVEX": "audio/wav", "FLAC": "audio/flac", "MP3": "audio/mpeg", "OGG": "audio/ogg"}

Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Hertz = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Decibels = Annotated[float, Field(ge=0, le=1e3, allow_inf_nan=False)]
Note = Annotated[str, Field(max_length=1000)]
Synthesis = Literal["world", "residual"]
Beginning = Literal["", "demo", "look", "learn", "convert"]


class LearnedVoice(Record):
    """A learned voice: from which recordings, at which rate, and the mean pitch of both speakers."""

    id: Identifier
    sources: list[Identifier] = Field(max_length=5000)
    targets: list[Identifier] = Field(max_length=5000)
    rate: int = Field(ge=1, le=1_000_000)
    frames: int = Field(ge=1)
    seconds: tuple[Seconds, Seconds]
    pitch: tuple[Hertz | None, Hertz | None]
    notes: list[Note] = Field(default_factory=list, max_length=50)


class Result(Record):
    """A converted recording: of what, with which voice, and its pitch before and after."""

    id: Identifier
    input: Identifier
    name: str = Field(max_length=300)
    example: Identifier | None = None
    voice: Identifier
    synthesis: Synthesis
    seconds: Seconds
    pitch: tuple[Hertz | None, Hertz | None]
    distance: tuple[Decibels, Decibels]
    notes: list[Note] = Field(default_factory=list, max_length=50)


class Document(Record):
    """What a project holds beside its recordings; `begin` names the job that an open page starts by itself."""

    begin: Beginning = ""
    removed: list[Identifier] = Field(default_factory=list, max_length=5000)
    synthesis: Synthesis = "world"
    voice: LearnedVoice | None = None
    results: list[Result] = Field(default_factory=list, max_length=MOST_RESULTS)


class Remove(Record):
    """Take recordings out; their files stay."""

    type: Literal["remove"]
    files: list[Identifier] = Field(min_length=1, max_length=5000)


class PutBack(Record):
    """Take recordings in again."""

    type: Literal["put_back"]
    files: list[Identifier] = Field(min_length=1, max_length=5000)


class RemoveResult(Record):
    """Take a result off the page."""

    type: Literal["remove_result"]
    result: Identifier


class Choose(Record):
    """Choose how sound is made from converted frames."""

    type: Literal["choose"]
    synthesis: Synthesis


class Begin(Record):
    """Take over the job that is to start by itself: of several open pages only one may start it."""

    type: Literal["begin"]
    step: Beginning


class MakeDemo(Record):
    """Make recordings of two synthetic voices."""

    task: Literal["demo"]
    onward: bool = False


class Look(Record):
    """Read the recordings that were not read yet; `onward` goes on with learning."""

    task: Literal["look"]
    onward: bool = False


class Learn(Record):
    """Learn the voice; `onward` goes on with a first conversion."""

    task: Literal["learn"]
    onward: bool = False


class Convert(Record):
    """Convert recordings."""

    task: Literal["convert"]
    files: list[Identifier] = Field(default_factory=list, max_length=50)
    onward: bool = False


Action = Annotated[Remove | PutBack | RemoveResult | Choose | Begin, Field(discriminator="type")]
Job = Annotated[MakeDemo | Look | Learn | Convert, Field(discriminator="task")]


def list_kept(project: Project, document: Document, role: str) -> list[FileView]:
    """List the recordings of a role that can be used: read without a problem, and not removed.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    role : {"source", "target", "input"}
        The role.

    Returns
    -------
    list of FileView
        The recordings.
    """
    removed = set(document.removed)
    return [file for file in project.files(role) if file.id not in removed and "seconds" in file.details]


def apply(project: Project, document: Document, action: Any) -> Change:
    """Change a document by an action.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    action : Action
        What to do.

    Returns
    -------
    Change
        The document afterwards.
    """
    if isinstance(action, Remove | PutBack):
        return _move(project, document, action)
    if isinstance(action, RemoveResult):
        kept = [result for result in document.results if result.id != action.result]
        if len(kept) == len(document.results):
            raise RefusedError("this result is not there any more")
        return Change(
            document.model_copy(update={"results": kept}), "remove a result", note=_tell(document.voice, kept)
        )
    if isinstance(action, Choose):
        return Change(document.model_copy(update={"synthesis": action.synthesis}), "choose the synthesis")
    if not action.step or document.begin != action.step:
        raise RefusedError("another page has begun with it")
    return Change(document.model_copy(update={"begin": ""}), "begin", undoable=False)


def _move(project: Project, document: Document, action: Remove | PutBack) -> Change:
    """Take recordings out or in."""
    known = {file.id: file.name for file in project.files()}
    chosen = dict.fromkeys(action.files)
    if missing := [identifier for identifier in chosen if identifier not in known]:
        raise RefusedError(f"there is no recording {missing[0]}")
    if isinstance(action, Remove):
        removed, word = list(dict.fromkeys([*document.removed, *chosen])), "remove"
    else:
        removed, word = [identifier for identifier in document.removed if identifier not in chosen], "put back"
    what = known[action.files[0]] if len(chosen) == 1 else f"{len(chosen)} recordings"
    return Change(document.model_copy(update={"removed": removed}), f"{word} {what}"[:200])


def prepare(project: Project, document: Document, job: Any) -> Task:
    """Say what a worker is to do.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        Its document.
    job : Job
        What is asked for.

    Returns
    -------
    Task
        The task; RefusedError where recordings or the voice are missing.
    """
    folder = project.folder / FOLDER
    if isinstance(job, MakeDemo):
        return Task("voice.demo", {"folder": folder})
    if isinstance(job, Look):
        unread = [file for file in project.files() if not {"seconds", "problem"} & set(file.details)]
        return Task("voice.look", {"files": _name(project, unread), "folder": folder})
    if isinstance(job, Learn):
        sides = [list_kept(project, document, role) for role in ("source", "target")]
        for role, side in zip(("source", "target"), sides, strict=True):
            _check_side(role, side)
        sources, targets = (_name(project, side) for side in sides)
        return Task(
            "voice.learn",
            {"sources": sources, "targets": targets, "folder": folder, "identifier": secrets.token_hex(8)},
        )
    return _prepare_conversion(project, document, job)


def _check_side(role: str, side: list[FileView]) -> None:
    """Refuse a speaker without recordings, or with hours of them."""
    if not side:
        raise RefusedError(f"there is no recording of the {role} yet; drop one in or record one")
    total = sum(file.details["seconds"] for file in side)
    if total > LONGEST_SIDE:
        raise RefusedError(
            f"the recordings of the {role} last {total / 60:.0f} minutes; a voice is learned from "
            f"{LONGEST_SIDE / 60:.0f} at most: remove some"
        )


def _prepare_conversion(project: Project, document: Document, job: Convert) -> Task:
    """Say which recordings to convert; without a choice the first that wait for it, or else one of the source."""
    if document.voice is None:
        raise RefusedError("no voice was learned yet; learn it first")
    inputs, sources = (list_kept(project, document, role) for role in ("input", "source"))
    by_id = {file.id: file for file in (*inputs, *sources)}
    chosen = list(dict.fromkeys(job.files)) or [file.id for file in inputs[:3] or sources[:1]]
    if not chosen or any(identifier not in by_id for identifier in chosen):
        raise RefusedError("this recording is not there any more, or cannot be read; choose another")
    targets = list_kept(project, document, "target")
    return Task(
        "voice.convert",
        {
            "inputs": _name(project, [by_id[identifier] for identifier in chosen]),
            "examples": {file.name: file.id for file in reversed(targets)},
            "example": targets[0].id if targets else None,
            "voice": document.voice.id,
            "synthesis": document.synthesis,
            "folder": project.folder / FOLDER,
            "cover": project.folder / COVER,
        },
    )


def _name(project: Project, files: list[FileView]) -> list[tuple[str, str, Path]]:
    """Return identifier, name and place of files."""
    return [(file.id, file.name, project.locate(file.id)) for file in files]


def finish(project: Project, document: Document, job: Any, result: Any) -> Change | None:
    """Take the result of a job into the document.

    Parameters
    ----------
    project : Project
        The project.
    document : Document
        The document of this moment.
    job : Job
        What was asked for.
    result : dict
        What the worker returned.

    Returns
    -------
    Change or None
        The document afterwards; None where only files changed.
    """
    if isinstance(job, MakeDemo):
        have = {(file.role, file.name) for file in project.files()}
        for role, name, path in result["files"]:
            if (role, name) not in have:
                project.add_file(role, name, content=Path(path))
        return Change(document.model_copy(update={"begin": "look"}), "demo", undoable=False)
    if isinstance(job, Look):
        for identifier, details in result["details"].items():
            project.describe_file(identifier, details)
        ready = all(list_kept(project, document, role) for role in ("source", "target"))
        if not (job.onward and ready):
            return None
        return Change(document.model_copy(update={"begin": "learn"}), "read", undoable=False)
    if isinstance(job, Learn):
        voice = LearnedVoice.model_validate(result["voice"])
        update = {"voice": voice, "begin": "convert" if job.onward else ""}
        return Change(document.model_copy(update=update), "learn the voice", note=_tell(voice, document.results))
    made = [Result.model_validate(each) for each in result["results"]]
    results = [*made, *document.results][:MOST_RESULTS]
    what = made[0].name if len(made) == 1 else f"{len(made)} recordings"
    changed = document.model_copy(update={"results": results})
    return Change(changed, f"convert {what}"[:200], note=_tell(document.voice, results))


def _tell(voice: LearnedVoice | None, results: list[Result]) -> str:
    """Return the line for the home page."""
    if voice is None:
        return ""
    return f"voice learned, {len(results)} converted" if results else "voice learned"


def start_with(project: Project, paths: list[Path]) -> None:
    """Take recordings or folders of them: those of the source, those of the target, and what is to be converted.

    Parameters
    ----------
    project : Project
        The project.
    paths : list of Path
        Files or folders in this order; they are only read.
    """
    roles = ["source", "target", *["input"] * len(paths)]
    for role, path in zip(roles, paths, strict=False):
        for file in _find_sounds(path):
            project.add_file(role, file.name, path=file)
    project.amend(Document(begin="look").model_dump(mode="json"))


def _find_sounds(path: Path) -> Iterator[Path]:
    """Yield a file, or the sound files below a folder."""
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if p.suffix.lower() in SOUND_SUFFIXES and p.is_file())
    else:
        yield path


def start_demo(project: Project) -> None:
    """Let the first page that opens make the demo: two synthetic voices.

    Parameters
    ----------
    project : Project
        The project.
    """
    project.rename("Demo voices")
    project.amend(Document(begin="demo").model_dump(mode="json"))


router = APIRouter(prefix="/api/voice", responses=PROBLEMS)


def _find(project: Project, name: str) -> Path:
    """Return a file below the folder of a voice, or answer that there is none."""
    path = project.folder / FOLDER / name
    if project.kind != "voice" or not path.is_file():
        raise HTTPException(404, "there is no such sound; it may have been removed")
    return path


@router.get("/{project_id}/outlines/{identifier}", operation_id="read_outline")
def read_outline(project: Open, identifier: Identifier) -> list[int]:
    """Return how loud a recording or a result is from moment to moment, from 0 to 100."""
    outline: list[int] = json.loads(_find(project, f"{identifier}.outline.json").read_bytes())
    return outline


@router.get("/{project_id}/sounds/{identifier}", operation_id="read_sound", response_class=FileResponse)
def read_sound(project: Open, identifier: Identifier) -> FileResponse:
    """Return a recording or a result in a form that browsers play."""
    found = {file.id: file for file in project.files()}.get(identifier)
    if found is None or not found.details.get("plays"):
        return FileResponse(_find(project, f"{identifier}.wav"), media_type="audio/wav")
    path = project.locate(identifier)
    if project.kind != "voice" or not path.is_file():
        raise HTTPException(404, "there is no such sound; it may have been moved")
    return FileResponse(path, media_type=TYPES.get(found.details.get("format", ""), "application/octet-stream"))


@router.get("/{project_id}/results/{identifier}/envelopes", operation_id="read_envelopes", response_class=FileResponse)
def read_envelopes(project: Open, identifier: Identifier) -> FileResponse:
    """Return the spectral envelopes of a result beside those of its source and of the target."""
    return FileResponse(_find(project, f"{identifier}.envelopes.json"), media_type="application/json")


@router.get("/{project_id}/results/{identifier}/download", operation_id="download_result", response_class=FileResponse)
def download_result(project: Open, identifier: Identifier) -> FileResponse:
    """Return a converted recording as a file to keep."""
    path = _find(project, f"{identifier}.wav")
    made = {each["id"]: each["name"] for each in project.document.get("results", [])}
    stem = Path(made.get(identifier, "recording")).stem[:120] or "recording"
    return FileResponse(path, media_type="audio/wav", filename=f"{stem} (converted).wav")


@router.get("/{project_id}/voices/{identifier}/download", operation_id="download_voice", response_class=FileResponse)
def download_voice(project: Open, identifier: Identifier) -> FileResponse:
    """Return a learned voice, which ``pairup voice convert`` takes."""
    path = _find(project, f"{identifier}.npz")
    return FileResponse(path, media_type="application/octet-stream", filename=f"{project.read_meta('name')[:120]}.npz")


ROLES = {"source": LARGEST, "target": LARGEST, "input": LARGEST}
KIND = Kind("voice", "New voice", Document, Action, Job, ROLES, apply, prepare, finish, start_with, start_demo)
