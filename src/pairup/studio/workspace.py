"""The workspace: the folder that holds all projects, open in one studio at a time."""

import json
import os
import secrets
import shutil
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any

from pairup.files import make_folder
from pairup.studio.models import ProjectSummary
from pairup.studio.project import COVER, DATABASE, Project, ProjectError, RefusedError

KEPT = 30 * 24 * 3600  # seconds for which a deleted project can be brought back


class WorkspaceInUseError(OSError):
    """Another studio has the workspace open."""


def default_workspace() -> Path:
    """Return the folder of projects unless one is given: below ``$PAIRUP_STUDIO``, or the system's place for data.

    Returns
    -------
    Path
        The folder; it may not exist yet.
    """
    if "PAIRUP_STUDIO" in os.environ:
        return Path(os.environ["PAIRUP_STUDIO"])
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share"))
    return base / "pairup" / "studio"


class Workspace:
    """A folder of projects.

    Parameters
    ----------
    folder : Path
        The folder; it is made where it is missing.

    Raises
    ------
    WorkspaceInUseError
        If another studio has it open.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = make_folder(folder)
        self._lock = RLock()
        self._claim = self._take()
        self._open: dict[str, Project] = {}
        self.projects_folder = make_folder(folder / "projects")
        self.bin_folder = make_folder(folder / "deleted")
        self._empty_bin()

    def _take(self) -> sqlite3.Connection:
        """Keep others out: a lock of SQLite ends with the process, however that ends."""
        claim = sqlite3.connect(
            self.folder / "workspace.sqlite", timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            claim.execute("PRAGMA locking_mode=EXCLUSIVE")
            claim.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            claim.close()
            if "locked" not in str(error):
                raise OSError(f"cannot use the workspace {self.folder}: {error}; choose another --workspace") from error
            raise WorkspaceInUseError(
                f"another studio has the workspace {self.folder} open{self._address()}; use that one, stop it, or "
                "choose another --workspace"
            ) from None
        return claim

    def _address(self) -> str:
        """Return where the other studio runs, as far as it has said so."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            return f" at {json.loads((self.folder / 'address.json').read_text(encoding='utf-8'))['address']}"
        return ""

    def publish(self, address: str) -> None:
        """Write where this studio runs, for who tries to open the workspace a second time.

        Parameters
        ----------
        address : str
            Its address, without a token.
        """
        (self.folder / "address.json").write_text(json.dumps({"address": address}), encoding="utf-8")

    def close(self) -> None:
        """Close all projects and let others open the workspace."""
        with self._lock:
            for project in self._open.values():
                project.close()
            self._open.clear()
            self._claim.close()
            (self.folder / "address.json").unlink(missing_ok=True)

    def _empty_bin(self) -> None:
        """Remove projects that were deleted long ago, and what was left of one that was being made."""
        for folder in self.bin_folder.iterdir():
            if time.time() - folder.stat().st_mtime > KEPT:
                shutil.rmtree(folder, ignore_errors=True)
        for folder in self.projects_folder.glob(".*"):
            shutil.rmtree(folder, ignore_errors=True)

    def create(self, kind: str, name: str, document: dict[str, Any]) -> Project:
        """Make a project.

        Parameters
        ----------
        kind : str
            What it is about: an album, a match or a voice.
        name : str
            What a person calls it.
        document : dict
            Its first document.

        Returns
        -------
        Project
            The project.
        """
        with self._lock:
            identifier = secrets.token_hex(8)
            # Made beside its place and then moved there: a crash leaves no half of a project.
            unfinished = self.projects_folder / f".{identifier}"
            Project.create(unfinished, kind=kind, name=name, document=document).close()
            unfinished.rename(self.projects_folder / identifier)
            return self.open(identifier)

    def open(self, identifier: str) -> Project:
        """Return a project.

        Parameters
        ----------
        identifier : str
            Its identifier.

        Returns
        -------
        Project
            The project; KeyError where there is none.
        """
        with self._lock:
            if identifier not in self._open:
                if not (self.projects_folder / identifier / DATABASE).is_file():
                    raise KeyError(identifier)
                self._open[identifier] = Project(self.projects_folder / identifier)
            return self._open[identifier]

    def summaries(self) -> tuple[list[ProjectSummary], list[str]]:
        """List all projects, the one changed last first.

        Returns
        -------
        summaries : list of ProjectSummary
            The projects.
        damaged : list of str
            A sentence about each project that cannot be opened.
        """
        found, damaged = [], []
        for folder in self.projects_folder.iterdir():
            if folder.name.startswith("."):
                continue
            try:
                found.append(summarize(self.open(folder.name)))
            except ProjectError as error:
                damaged.append(str(error))
            except (KeyError, ValueError, sqlite3.Error):  # a folder of another name, an unknown kind, a damaged file
                damaged.append(f"the folder {folder.name} in the workspace holds no project that can be opened")
        return sorted(found, key=lambda summary: -summary.changed), damaged

    def duplicate(self, identifier: str) -> Project:
        """Make a copy of a project.

        Parameters
        ----------
        identifier : str
            The project.

        Returns
        -------
        Project
            The copy.
        """
        project, copy = self.open(identifier), secrets.token_hex(8)
        name = f"{project.read_meta('name')[:190]} (copy)"
        unfinished = self.projects_folder / f".{copy}"
        try:
            project.copy(unfinished, name).close()
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        unfinished.rename(self.projects_folder / copy)
        return self.open(copy)

    def delete(self, identifier: str) -> None:
        """Delete a project; `restore` brings it back.

        Parameters
        ----------
        identifier : str
            The project.
        """
        with self._lock:
            self.open(identifier).close()
            del self._open[identifier]
            target = self.bin_folder / identifier
            try:
                (self.projects_folder / identifier).rename(target)
            except OSError as error:  # on Windows, while one of its files is being sent
                raise RefusedError(f"a file of this project is in use ({error.strerror}); try again") from error
            os.utime(target)

    def restore(self, identifier: str) -> Project:
        """Bring a deleted project back.

        Parameters
        ----------
        identifier : str
            The project.

        Returns
        -------
        Project
            The project; KeyError where it is not among the deleted ones.
        """
        with self._lock:
            if not (self.bin_folder / identifier / DATABASE).is_file():
                raise KeyError(identifier)
            (self.bin_folder / identifier).rename(self.projects_folder / identifier)
            return self.open(identifier)


def summarize(project: Project) -> ProjectSummary:
    """Return what the home page shows of a project.

    Parameters
    ----------
    project : Project
        The project.

    Returns
    -------
    ProjectSummary
        Its name, kind, times and whether it has a picture.
    """
    return ProjectSummary(
        id=project.id,
        kind=project.kind,
        name=project.read_meta("name"),
        created=project.read_meta("created"),
        changed=project.read_meta("changed"),
        cover=(project.folder / COVER).is_file(),
        note=project.read_meta("note"),
    )
