"""Projects: one SQLite file and one folder of files each; nothing shown that is not written."""

import json
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from pairup.studio.models import FileView

DATABASE = "project.sqlite"
FILES = "files"
COVER = "cover.jpg"
MIGRATIONS = (
    # Version 1. A state is the whole document after an action; undo and redo move along the states.
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE states (
        id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, action TEXT NOT NULL, document TEXT NOT NULL
    );
    CREATE TABLE files (
        id TEXT PRIMARY KEY, role TEXT NOT NULL, name TEXT NOT NULL, path TEXT, size INTEGER NOT NULL,
        added INTEGER NOT NULL, details TEXT NOT NULL
    );
    CREATE TABLE jobs (id TEXT PRIMARY KEY, request TEXT NOT NULL, step TEXT);
    """,
)
"""One script for each version of the format; a file of an older version is brought up by those it lacks."""


class ProjectError(ValueError):
    """A project that cannot be opened."""


class RefusedError(ValueError):
    """What the present state of a project does not allow; the sentence is shown on the page."""


class Project:
    """One project.

    Parameters
    ----------
    folder : Path
        Its folder, named by its identifier.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self._lock = RLock()
        path = folder / DATABASE
        if not path.is_file():
            raise ProjectError(f"the project {folder.name} has no file {DATABASE}; it was removed or is damaged")
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")  # a power cut loses nothing that was committed
            self._migrate()
            self.kind = self.read_meta("kind")
        except (sqlite3.Error, KeyError, TypeError, json.JSONDecodeError) as error:
            raise ProjectError(f"the project {folder.name} cannot be opened ({error}); its file is damaged") from error

    @classmethod
    def create(cls, folder: Path, *, kind: str, name: str, document: dict[str, Any]) -> "Project":
        """Make a new project.

        Parameters
        ----------
        folder : Path
            Its folder, which does not exist yet.
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
        (folder / FILES).mkdir(parents=True)
        (folder / DATABASE).touch()
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        connection.executescript(f"BEGIN; {MIGRATIONS[0]} PRAGMA user_version = 1; COMMIT;")
        now = time.time()
        with connection:
            connection.execute("BEGIN")
            values = {"kind": kind, "name": name, "created": now, "changed": now, "revision": 0, "note": ""}
            pairs = [(key, json.dumps(value)) for key, value in values.items()]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", pairs)
            first = connection.execute(
                "INSERT INTO states (time, action, document) VALUES (?, ?, ?)", (now, "new", json.dumps(document))
            ).lastrowid
            connection.execute("INSERT INTO meta VALUES ('current', ?)", (json.dumps(first),))
            connection.execute("COMMIT")
        connection.close()
        return cls(folder)

    def _migrate(self) -> None:
        """Bring the file to the present version."""
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise ProjectError(
                f"the project {self.id} was written by a newer pairup (format {version}, this one knows "
                f"{len(MIGRATIONS)}); install the newest pairup"
            )
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")

    def close(self) -> None:
        """Close the file; the project cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Write several things at once, or none of them; each writing is a new revision.

        Yields
        ------
        sqlite3.Connection
            The file. A block inside another one is a part of it.
        """
        with self._lock:
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self.write_meta("revision", self.read_meta("revision") + 1)
                self.write_meta("changed", time.time())
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk ends it by itself
                    self._connection.execute("ROLLBACK")
                raise

    def read_meta(self, key: str) -> Any:
        """Return one of the project's own values: kind, name, created, changed, revision, current or note.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        object
            The value.
        """
        with self._lock:
            row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def write_meta(self, key: str, value: Any) -> None:
        """Write one of the project's own values.

        Parameters
        ----------
        key : str
            Its name.
        value : object
            Anything that JSON holds.
        """
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def rename(self, name: str) -> None:
        """Give the project another name.

        Parameters
        ----------
        name : str
            The name.
        """
        with self.write():
            self.write_meta("name", name)

    @property
    def document(self) -> dict[str, Any]:
        """The present document."""
        with self._lock:
            row = self._connection.execute(
                "SELECT document FROM states WHERE id = ?", (self.read_meta("current"),)
            ).fetchone()
        document: dict[str, Any] = json.loads(row[0])
        return document

    def commit(self, document: dict[str, Any], action: str, *, note: str | None = None) -> None:
        """Write the document after an action; what was undone before is forgotten.

        Parameters
        ----------
        document : dict
            The whole document.
        action : str
            What was done, in a few words, such as "pin a photo".
        note : str, optional
            A line about the project for the home page.
        """
        with self.write() as connection:
            connection.execute("DELETE FROM states WHERE id > ?", (self.read_meta("current"),))
            number = connection.execute(
                "INSERT INTO states (time, action, document) VALUES (?, ?, ?)",
                (time.time(), action, json.dumps(document)),
            ).lastrowid
            self.write_meta("current", number)
            if note is not None:
                self.write_meta("note", note)

    def amend(self, document: dict[str, Any]) -> None:
        """Write the document in place of the present one, without a step that can be undone.

        Parameters
        ----------
        document : dict
            The whole document.
        """
        with self.write() as connection:
            connection.execute(
                "UPDATE states SET document = ? WHERE id = ?", (json.dumps(document), self.read_meta("current"))
            )

    def _neighbour(self, direction: str) -> tuple[int, str] | None:
        """Return the state before or after the present one, and the action that lies between them."""
        current = self.read_meta("current")
        with self._lock:
            if direction == "undo":
                row = self._connection.execute(
                    "SELECT (SELECT max(id) FROM states WHERE id < ?1), action FROM states WHERE id = ?1", (current,)
                ).fetchone()
            else:
                row = self._connection.execute(
                    "SELECT id, action FROM states WHERE id > ? ORDER BY id LIMIT 1", (current,)
                ).fetchone()
        return None if row is None or row[0] is None else (int(row[0]), str(row[1]))

    @property
    def can_undo(self) -> str | None:
        """The action that undo would take back, if any."""
        found = self._neighbour("undo")
        return found and found[1]

    @property
    def can_redo(self) -> str | None:
        """The action that redo would do again, if any."""
        found = self._neighbour("redo")
        return found and found[1]

    def step(self, direction: str) -> str | None:
        """Undo or redo one action.

        Parameters
        ----------
        direction : {"undo", "redo"}
            Which.

        Returns
        -------
        str or None
            The action that was undone or done again; None where there is none.
        """
        with self._lock:
            found = self._neighbour(direction)
            if found is None:
                return None
            with self.write():
                self.write_meta("current", found[0])
        return found[1]

    def files(self, role: str | None = None) -> list[FileView]:
        """List the files in the order in which they came.

        Parameters
        ----------
        role : str, optional
            Only those of one role, such as "photo".

        Returns
        -------
        list of FileView
            The files.
        """
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, role, name, size, details FROM files WHERE ?1 IS NULL OR role = ?1 ORDER BY added", (role,)
            ).fetchall()
        return [FileView(id=i, role=r, name=n, size=s, details=json.loads(d)) for i, r, n, s, d in rows]

    def count_files(self) -> int:
        """Count the files.

        Returns
        -------
        int
            How many there are, of all roles.
        """
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM files").fetchone()[0])

    def add_file(
        self, role: str, name: str, *, content: Path | None = None, path: Path | None = None, details: Any = None
    ) -> FileView:
        """Add a file: one that is moved into the project, or one that stays where it is.

        Parameters
        ----------
        role : str
            What it is for, such as "photo".
        name : str
            What a person calls it.
        content : Path, optional
            A temporary file, which is moved into the project.
        path : Path, optional
            A file of the person's own, which is only read.
        details : dict, optional
            What else is known of it.

        Returns
        -------
        FileView
            The file.
        """
        assert (content is None) != (path is None)
        if not f"{name}{path or ''}".isascii():
            _check_text(f"{name}{path or ''}")
        identifier = secrets.token_hex(8)
        size = (content or path).stat().st_size  # type: ignore[union-attr]
        if content is not None:
            content.replace(self.folder / FILES / identifier)
        with self.write() as connection:
            place = connection.execute("SELECT coalesce(max(added), 0) + 1 FROM files").fetchone()[0]
            connection.execute(
                "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
                (identifier, role, name, path and str(path.absolute()), size, place, json.dumps(details or {})),
            )
        return FileView(id=identifier, role=role, name=name, size=size, details=details or {})

    def add_files(self, role: str, entries: list[tuple[str, str, Path | None, dict[str, Any]]]) -> None:
        """Add many files at once.

        Parameters
        ----------
        role : str
            What they are for.
        entries : list of (str, str, Path or None, dict)
            Identifier, name, place and details of each; None where its content lies in the project already.
        """
        with self.write() as connection:
            first = connection.execute("SELECT coalesce(max(added), 0) + 1 FROM files").fetchone()[0]
            rows = []
            for place, (identifier, name, path, details) in enumerate(entries, first):
                found = path or self.folder / FILES / identifier
                size = found.stat().st_size if found.exists() else 0
                rows.append((identifier, role, name, path and str(path.absolute()), size, place, json.dumps(details)))
            connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def describe_files(self, described: dict[str, dict[str, Any]]) -> None:
        """Write what else is known of many files.

        Parameters
        ----------
        described : dict of str to dict
            By identifier; fields that a file had before and that are not named stay.
        """
        with self.write() as connection:
            known = dict(connection.execute("SELECT id, details FROM files").fetchall())
            rows = [
                (json.dumps({**json.loads(known[identifier]), **details}), identifier)
                for identifier, details in described.items()
                if identifier in known
            ]
            connection.executemany("UPDATE files SET details = ? WHERE id = ?", rows)

    def remove_file(self, identifier: str) -> None:
        """Remove a file from the project; one of the person's own stays where it is.

        Parameters
        ----------
        identifier : str
            The file.
        """
        with self.write() as connection:
            connection.execute("DELETE FROM files WHERE id = ?", (identifier,))
        (self.folder / FILES / identifier).unlink(missing_ok=True)

    def describe_file(self, identifier: str, details: dict[str, Any]) -> None:
        """Write what else is known of a file.

        Parameters
        ----------
        identifier : str
            The file.
        details : dict
            What is known of it; fields that it had before and that are not named stay.
        """
        with self.write() as connection:
            row = connection.execute("SELECT details FROM files WHERE id = ?", (identifier,)).fetchone()
            if row is not None:
                merged = json.dumps({**json.loads(row[0]), **details})
                connection.execute("UPDATE files SET details = ? WHERE id = ?", (merged, identifier))

    def locate(self, identifier: str) -> Path:
        """Return where a file lies.

        Parameters
        ----------
        identifier : str
            The file.

        Returns
        -------
        Path
            Its place; KeyError where there is no such file.
        """
        with self._lock:
            row = self._connection.execute("SELECT path FROM files WHERE id = ?", (identifier,)).fetchone()
        if row is None:
            raise KeyError(identifier)
        return Path(row[0]) if row[0] else self.folder / FILES / identifier

    def save_job(self, identifier: str, request: dict[str, Any], step: dict[str, Any] | None = None) -> None:
        """Write a job that is queued or at work, so that it goes on after a crash.

        Parameters
        ----------
        identifier : str
            The job.
        request : dict
            What was asked for.
        step : dict, optional
            The last step that was shown.
        """
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)",
                (identifier, json.dumps(request), None if step is None else json.dumps(step)),
            )

    def drop_job(self, identifier: str) -> None:
        """Forget a job that has ended.

        Parameters
        ----------
        identifier : str
            The job.
        """
        with self._lock:
            self._connection.execute("DELETE FROM jobs WHERE id = ?", (identifier,))

    @property
    def pending_jobs(self) -> list[tuple[str, dict[str, Any], dict[str, Any] | None]]:
        """Jobs that had not ended when the studio did: identifier, request and last step."""
        with self._lock:
            rows = self._connection.execute("SELECT id, request, step FROM jobs ORDER BY rowid").fetchall()
        return [(i, json.loads(request), step and json.loads(step)) for i, request, step in rows]

    def copy(self, folder: Path, name: str) -> "Project":
        """Make a copy of the project.

        Parameters
        ----------
        folder : Path
            The folder of the copy, which does not exist yet.
        name : str
            The name of the copy.

        Returns
        -------
        Project
            The copy.
        """
        with self._lock:
            shutil.copytree(
                self.folder, folder, ignore=shutil.ignore_patterns(f"{DATABASE}*", ".*"), copy_function=_copy_if_there
            )
            target = sqlite3.connect(folder / DATABASE)
            self._connection.backup(target)
            target.execute("DELETE FROM jobs")
            target.commit()
            target.close()
        copied = Project(folder)
        copied.rename(name)
        return copied


def _copy_if_there(source: str, target: str) -> None:
    """Copy a file, unless it has gone meanwhile: a job at work replaces files."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


def _check_text(name: str) -> None:
    """Raise a ValueError for a name that is no text: SQLite would not take it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name!r}: its name or path is not UTF-8; rename it") from None
