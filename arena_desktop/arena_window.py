"""The main window with its work connected: actions, project, run, results, messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from arena_desktop.last_place import LastPlace
from arena_desktop.main_window import MainWindow, PageEntry
from arena_desktop.project_reports import ProjectReports
from arena_desktop.rescore_bar import RescoreBar
from arena_desktop.run_bar import RunBar
from arena_desktop.run_care import RunCare
from arena_desktop.samples import working_copy
from arena_desktop.trust_guard import TrustGuard
from arena_desktop.unsaved_run import UnsavedRun
from arena_desktop.widgets.rail_look import Mark
from arena_desktop.widgets.strip import Message, StripButton, Tone
from arena_desktop.window_actions import WindowActions
from arena_desktop.wording.formats import counted
from engine.domain import Severity
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.project_desk import OpenProject
    from arena_desktop.store_repair import StoreRepair
from arena_desktop.theme.switch import Theme


class ArenaWindow(MainWindow):
    """What `app.create` returns. `open_project` and `open_run` work in the background."""

    project_opened = Signal(object)
    """The Project that was opened."""
    run_opened = Signal(str)
    """The id of the saved run that is on show now."""

    def __init__(self, context: AppContext, theme: Theme, pages: Sequence[PageEntry]) -> None:
        super().__init__(context.settings, theme, pages)
        self._context = context
        self._wanted_run: str | None = None
        self.page_after_opening = ""
        """The page to show once a project is open, when Home is still on show; empty: the usual one."""
        context.open_sample = self.open_sample
        self.setAcceptDrops(True)
        self._connect_desks()
        self._run_bar = RunBar(self, context)
        self._rescore_bar = RescoreBar(self, context)
        self._actions = WindowActions(self, context)
        self._trust = TrustGuard(self, context)
        self._unsaved = UnsavedRun(self, context)
        self._reports = ProjectReports(context)
        self._place = LastPlace(self, context)

    @property
    def context(self) -> AppContext:
        """The services and shared state of this window."""
        return self._context

    def keep(self, care: RunCare, repair: StoreRepair) -> None:
        """Holds the two that look after runs and the store for as long as the window lives."""
        self._care, self._repair = care, repair

    # the contract

    def come_back(self) -> None:
        """Opens the project and the page of the last time, if the program was closed with one open."""
        self._place.come_back()

    def open_project(self, path: Path | str) -> None:
        """Opens a project folder; `project_opened` follows."""
        self._context.projects.open(Path(path))

    def open_run(self, run_id: str) -> None:
        """Opens a saved run and shows its leaderboard; no project folder is needed."""
        self._wanted_run = run_id
        self._context.results.open_run(run_id)

    def open_sample(self, sample_id: str) -> None:
        """Opens the person's copy of a sample project."""
        try:
            self.open_project(working_copy(self._context.samples[sample_id]))
        except ArenaError as error:
            self._say_error("sample", error)

    # connections

    def _connect_desks(self) -> None:
        context = self._context
        context.projects.opened.connect(self._on_project_opened)
        context.projects.closed.connect(self._on_project_closed)
        context.projects.failed.connect(lambda error: self._say_error("project", error))
        context.results.failed.connect(lambda error: self._say_error("results", error))
        context.runs.failed.connect(lambda error: self._say_error("run", error))
        context.results.shown.connect(self._on_result_shown)
        context.page_wanted.connect(self.show_page)
        context.page_left.connect(self.leave_page)
        context.message_wanted.connect(self.show_message)

    # what the desks say

    def _on_project_opened(self, opened: OpenProject) -> None:
        project = opened.project
        self.close_message("project")
        self.set_project(project.config.project)
        self.status.set_saved(self.tr("All changes saved"))
        self.status.set_summary(_summary(opened))
        attention = bool(project.errors)
        self.rail.set_mark("project", Mark.ATTENTION if attention else Mark.NONE)
        self._context.results.list_runs(project.config.project)
        wanted, self.page_after_opening = self.page_after_opening, ""
        if self.current_page() in ("", "home"):
            usual = "project" if attention else "run"
            self.show_page(wanted if self.has_page(wanted) else usual)
        self._say_faults(opened)
        self.project_opened.emit(project)

    def _on_project_closed(self) -> None:
        self.set_project("")
        self.status.set_saved("")
        self.status.set_summary("")
        self.show_page("home")

    def _on_result_shown(self, result: object) -> None:
        if result is None or self._wanted_run is None:
            return
        wanted, self._wanted_run = self._wanted_run, None
        if not self._context.projects.current:
            self.set_project(result.stored.info.project)  # type: ignore[attr-defined]
        self.show_page("results")
        self.run_opened.emit(wanted)

    def _say_faults(self, opened: OpenProject) -> None:
        if not any(problem.severity is Severity.ERROR for problem in opened.project.problems):
            self.close_message("faults")
            return
        # How many there are is said once, beside the list: a closer look finds more than the files tell.
        first = self.tr("The project has faults.")
        text = self.tr("It can be looked at, and it runs once they are mended.")
        show = StripButton(self.tr("Show the faults"), lambda: self.show_page("project"))
        self.show_message(Message("faults", Tone.BAD, first, text, (show,)))

    def _say_error(self, key: str, error: ArenaError) -> None:
        self.show_message(Message(key, Tone.BAD, error.message, error.hint))

    # Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_folder(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        folder = _dropped_folder(event.mimeData())
        if folder is not None:
            event.acceptProposedAction()
            self.open_project(folder)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        if event.isAccepted():
            self._place.end()
            self._care.close()
            self._context.background.close()
            self._context.results.close()
            QApplication.instance().quit()


def _summary(opened: OpenProject) -> str:
    config, project = opened.project.config, opened.project
    models = sum(entry.enabled for entry in config.models)
    tests = len(project.cases)

    def tr(text: str) -> str:
        return QApplication.translate("ArenaWindow", text)

    parts = [counted(tests, tr("1 test"), tr("{count} tests"))]
    if config.run.trials > 1:
        parts.append(tr("asked {trials} times each").format(trials=config.run.trials))
    parts.append(counted(models, tr("1 model"), tr("{count} models")))
    return ", ".join(parts)


def _dropped_folder(data: QMimeData) -> Path | None:
    for url in data.urls():
        path = Path(url.toLocalFile())
        if path.is_dir() or path.name in (
            "config.yaml",
            "config.yml",
            "config.json",
            "arena.yaml",
            "arena.json",
        ):
            return path
    return None
