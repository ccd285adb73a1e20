"""The studio behind the addresses: projects, actions, jobs, and who is told of them."""

from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any

from pydantic import BaseModel, TypeAdapter

from pairup.studio.errands import Errands
from pairup.studio.events import Bus
from pairup.studio.jobs import Job, Jobs
from pairup.studio.kinds import Change, Kind
from pairup.studio.models import JobView, ProjectView
from pairup.studio.project import Project
from pairup.studio.workspace import Workspace, summarize


class Studio:
    """Projects, actions and jobs.

    Parameters
    ----------
    workspace : Workspace
        Where the projects are.
    kinds : dict of str to Kind
        The kinds of projects, by name.
    """

    def __init__(self, workspace: Workspace, kinds: dict[str, Kind]) -> None:
        self.workspace = workspace
        self.kinds = kinds
        self.bus = Bus()
        self.jobs = Jobs(self._tell_job, self._save_job)
        self.errands = Errands()
        self._acting = RLock()

    def resume(self) -> None:
        """Queue the jobs that had not ended when the studio did."""
        for summary in self.workspace.summaries()[0]:
            project = self.workspace.open(summary.id)
            for identifier, request, step in project.pending_jobs:
                # A job that is no longer possible, for its files are gone or it was done after all, is forgotten.
                with suppress(ValueError, KeyError, OSError):
                    job = TypeAdapter(self.kinds[project.kind].job).validate_python(request)
                    self.start(project, job, step=step)
                project.drop_job(identifier)

    def view(self, project: Project) -> ProjectView:
        """Return all that a page shows of a project.

        Parameters
        ----------
        project : Project
            The project.

        Returns
        -------
        ProjectView
            Its document, files and job.
        """
        job = self.jobs.latest(project.id)
        return ProjectView(
            **summarize(project).model_dump(),
            revision=project.read_meta("revision"),
            can_undo=project.can_undo,
            can_redo=project.can_redo,
            document=self.read(project).model_dump(mode="json"),
            files=project.files(),
            job=None if job is None else job.view,
        )

    def read(self, project: Project) -> BaseModel:
        """Return the document of a project.

        Parameters
        ----------
        project : Project
            The project.

        Returns
        -------
        BaseModel
            The document of its kind.
        """
        return self.kinds[project.kind].document.model_validate(project.document)

    def create(self, kind: str, name: str | None = None) -> Project:
        """Make a project.

        Parameters
        ----------
        kind : str
            Its kind.
        name : str, optional
            Its name; by default that of the kind.

        Returns
        -------
        Project
            The project.
        """
        made = self.kinds[kind]
        return self.workspace.create(kind, name or made.title, made.document().model_dump(mode="json"))

    def act(self, project: Project, action: Any) -> ProjectView:
        """Change a project by an action, and tell all pages.

        Parameters
        ----------
        project : Project
            The project.
        action : BaseModel
            One of the actions of its kind.

        Returns
        -------
        ProjectView
            The project afterwards.
        """
        with self._acting:
            self._write(project, self.kinds[project.kind].apply(project, self.read(project), action))
        self.tell(project)
        return self.view(project)

    def _write(self, project: Project, change: Change | None) -> None:
        """Write a change before anybody sees it."""
        if change is None:
            return
        document = change.document.model_dump(mode="json")
        if not change.undoable:
            project.amend(document)
            if change.note is not None:
                project.write_meta("note", change.note)
        else:
            project.commit(document, change.action, note=change.note)

    def step(self, project: Project, direction: str) -> ProjectView:
        """Undo or redo, and tell all pages.

        Parameters
        ----------
        project : Project
            The project.
        direction : {"undo", "redo"}
            Which.

        Returns
        -------
        ProjectView
            The project afterwards.
        """
        with self._acting:
            project.step(direction)
        self.tell(project)
        return self.view(project)

    def tell(self, project: Project) -> None:
        """Tell all pages that a project has changed; each asks for it when it has time, once for many changes.

        Parameters
        ----------
        project : Project
            The project.
        """
        self.bus.publish(project.id, "project", None)

    def start(self, project: Project, request: Any, *, step: dict[str, Any] | None = None) -> JobView:
        """Queue a job.

        Parameters
        ----------
        project : Project
            The project.
        request : BaseModel
            One of the jobs of its kind.
        step : dict, optional
            The last step of the same job before a crash.

        Returns
        -------
        JobView
            Its state.
        """
        kind = self.kinds[project.kind]
        task = kind.prepare(project, self.read(project), request)  # what cannot work is refused at once

        def prepare() -> dict[str, Any]:
            return kind.prepare(project, self.read(project), request).arguments

        def finish(result: Any) -> None:
            with self._acting, project.write():
                self._write(project, kind.finish(project, self.read(project), request, result))
            self.tell(project)

        job = Job(project.id, task.name, prepare, finish, request.model_dump(mode="json"), step=step)
        return self.jobs.submit(job)

    def start_with(self, kind: str, paths: list[Path], name: str) -> Project:
        """Make a project of the files that the command line names.

        Parameters
        ----------
        kind : str
            Its kind.
        paths : list of Path
            Files or folders, which are only read.
        name : str
            Its name.

        Returns
        -------
        Project
            The project.
        """
        project = self.create(kind, name.encode(errors="backslashreplace").decode()[:200])
        begin = self.kinds[kind].start_with
        assert begin is not None
        try:
            begin(project, paths)
        except BaseException:
            self.workspace.delete(project.id)
            raise
        return project

    def _tell_job(self, job: Job, step: dict[str, Any] | None) -> None:
        """Tell the pages of a project about its job."""
        self.bus.publish(job.project, "job", job.view.model_dump(mode="json"))
        if step is not None:
            self.bus.publish(job.project, "step", {"job": job.id, **step})

    def _save_job(self, job: Job) -> None:
        """Write a job to its project, or drop it where it has ended."""
        try:
            project = self.workspace.open(job.project)
        except KeyError:  # deleted meanwhile
            return
        if job.has_ended:
            project.drop_job(job.id)
        else:
            project.save_job(job.id, job.request, job.step)

    def close(self) -> None:
        """End all work and close all projects."""
        self.jobs.close()
        self.errands.close()
        self.workspace.close()
