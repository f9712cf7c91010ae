"""Marking a saved run again by the open project as it is now; no model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from engine.errors import ArenaError, UserError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from arena_desktop.desks.project_desk import ProjectDesk
    from arena_desktop.desks.result_desk import ResultDesk
    from engine.execution.rescore import Rescored
    from engine.keystore import KeyStore


class RescoreDesk(QObject):
    """One re-scoring at a time. GUI thread only; a stop changes nothing."""

    progressed = Signal(int, int)
    """Answers looked at, and how many there are."""
    done = Signal(object)
    """Rescored: stored; whoever shows the run reads it again."""
    failed = Signal(object)
    """ArenaError: nothing was changed."""
    state_changed = Signal()

    def __init__(
        self, background: Background, projects: ProjectDesk, results: ResultDesk, keys: KeyStore
    ) -> None:
        super().__init__()
        self._background, self._projects, self._results, self._keys = background, projects, results, keys
        self._job: Job | None = None

    @property
    def running(self) -> bool:
        """Whether a run is being marked again."""
        return self._job is not None

    def start(self, run_id: str) -> None:
        """Marks a run again by the open project; `done` or `failed` follows."""
        if self.running:
            return
        project = self._projects.project
        if project is None:
            hint = "Open the project that this run belongs to."
            self.failed.emit(UserError("no_project", "No project is open.", hint=hint))
            return
        store, keys = self._results.store, self._keys

        def work(job: Job) -> Rescored:
            from engine.execution.rescore import Tools, rescore, sandbox_for

            tools = Tools(
                trusted=keys.trust_book.is_trusted(project),
                sandbox=sandbox_for(project),
                should_stop=lambda: job.stopped,
                progress=self.progressed.emit,
            )
            return rescore(store(), run_id, project, tools)

        self._job = self._background.run(work, self._on_done, self._on_failed, name="rescore")
        self.state_changed.emit()

    def stop(self) -> None:
        """Ends it; the run stays as it was."""
        if self._job is not None:
            self._job.stop()
            self._end()

    def _end(self) -> None:
        self._job = None
        self.state_changed.emit()

    def _on_done(self, result: Rescored) -> None:
        self._end()
        self.done.emit(result)

    def _on_failed(self, error: Exception) -> None:
        self._end()
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
