"""The reports that a project asks for, written when one of its runs has ended, and said where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from arena_desktop.widgets.strip import Message, StripButton, Tone
from engine.domain import RunStatus
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext
    from engine.execution.events import RunFinished

_KEY = "project_reports"


class ProjectReports(QObject):
    """Follows the run desk. GUI thread only; writing is done in the background."""

    written = Signal(object)
    """tuple[Path, ...]: the new files."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        context.runs.ended.connect(self._on_ended)

    def _on_ended(self, finished: RunFinished) -> None:
        began, results = self._context.runs.current, self._context.results
        if began is None or finished.unsaved or finished.status is RunStatus.ABORTED:
            return
        project, run_id = began.project, finished.run_id
        if not (project.config.output.dir or project.config.output.formats):
            return

        def work(_job: Job) -> tuple[Path, ...]:
            from arena_desktop.reports.after_run import write_reports

            return write_reports(results.store(run_id), run_id, project)

        self._context.background.run(work, self._on_written, self._on_failed, name=f"reports of {run_id}")

    def _on_written(self, files: tuple[Path, ...]) -> None:
        if not files:
            return
        folder = QUrl.fromLocalFile(str(files[0].parent))
        show = StripButton(self.tr("Open folder"), lambda: QDesktopServices.openUrl(folder))
        first = self.tr("The report is in the project.")
        if len(files) > 1:
            first = self.tr("{count} reports are in the project.").format(count=len(files))
        self._say(Message(_KEY, Tone.INFO, first, "\n".join(str(path) for path in files), (show,)))
        self.written.emit(files)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self._say(Message(_KEY, Tone.WARN, error.message, error.hint))

    def _say(self, message: Message) -> None:
        self._context.message_wanted.emit(message)
