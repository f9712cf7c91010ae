"""The open project: loading it, looking at its connections, what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop.desks.edit_history import EditHistory
from arena_desktop.settings import RecentProject, Settings
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from engine.execution.preflight import Preflight
    from engine.keystore import KeyStore
    from engine.pricing import PriceBook
    from engine.project import Project


@dataclass(frozen=True, slots=True)
class OpenProject:
    """A loaded project with its prices."""

    project: Project
    prices: PriceBook


class ProjectDesk(QObject):
    """At most one open project. Loading and preflight run in the background; answers come as signals.

    `edits` are the steps of editing it in the window, for undo and redo.
    """

    opening = Signal(str)
    """The path whose loading has begun; `opened` or `failed` follows."""
    opened = Signal(object)
    """OpenProject: loaded, faults included; the page decides what can be done with it."""
    failed = Signal(object)
    """ArenaError: the folder cannot be opened; the project before stays open."""
    examined = Signal(object)
    """Preflight of the open project."""
    closed = Signal()

    def __init__(self, background: Background, settings: Settings, keys: KeyStore) -> None:
        super().__init__()
        self._background, self._settings, self._keys = background, settings, keys
        self.edits = EditHistory(background, self)
        self._open: OpenProject | None = None
        self._preflight: Preflight | None = None
        self._include_gated = False

    @property
    def current(self) -> OpenProject | None:
        """The open project, or None."""
        return self._open

    @property
    def project(self) -> Project | None:
        """The open project itself, or None."""
        return self._open.project if self._open else None

    @property
    def preflight(self) -> Preflight | None:
        """The newest look at the open project's connections; None while it is under way."""
        return self._preflight

    def open(self, path: Path) -> None:
        """Loads a project folder; `opened` or `failed` follows."""

        def work(_job: Job) -> OpenProject:
            from engine.pricing import PriceBook
            from engine.project import load_project

            project = load_project(path)
            return OpenProject(project, PriceBook.for_config(project.config, project.root))

        self.opening.emit(str(path))
        self._background.run(work, self._on_loaded, self._on_failed, name="open project", replace=True)

    def reload(self) -> None:
        """Reads the open project's files again."""
        if self._open is not None:
            self.open(self._open.project.root)

    def examine(self) -> None:
        """Looks at keys and local servers; `examined` follows. Nothing is spent."""
        opened = self._open
        if opened is None:
            return
        self._preflight = None
        include_gated = self._include_gated

        def work(job: Job) -> Preflight:
            from engine.execution.preflight import examine

            return examine(
                opened.project,
                keystore=self._keys,
                pricebook=opened.prices,
                should_stop=lambda: job.stopped,
                include_gated=include_gated,
            )

        self._background.run(work, self._on_examined, self._on_failed, name="examine project", replace=True)

    def include_gated(self, on: bool) -> None:
        """Whether models that break a must-have are asked as well; `examined` follows."""
        self._include_gated = on
        self.examine()

    def close(self) -> None:
        """Closes the project; nothing is lost, its files are as they were."""
        self._open = self._preflight = None
        self.edits.clear()
        self.closed.emit()

    def remember_best(self, best: str) -> None:
        """Keeps the newest result's sentence for the list of recent projects."""
        if self._open is not None:
            self._remember(self._open.project, best)

    def _remember(self, project: Project, best: str | None = None) -> None:
        path = str(project.root)
        before = next((item for item in self._settings.recent() if item.path == path), None)
        kept = best if best is not None else (before.best if before else "")
        now = datetime.now(UTC).isoformat()
        self._settings.remember_project(RecentProject(path, project.config.project, kept, now))

    def _on_loaded(self, opened: OpenProject) -> None:
        if self._open is None or self._open.project.root != opened.project.root:
            self._include_gated = False
            self.edits.clear()
        self._open, self._preflight = opened, None
        self._remember(opened.project)
        self.opened.emit(opened)
        self.examine()

    def _on_examined(self, preflight: Preflight) -> None:
        self._preflight = preflight
        self.examined.emit(preflight)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
