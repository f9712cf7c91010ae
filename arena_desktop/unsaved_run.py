"""Results and marks that the history could not take: tried again, saved elsewhere, not lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QFileDialog

from arena_desktop.dialogs.run_questions import Choice, RunQuestion
from arena_desktop.widgets.strip import Message, StripButton, Tone
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext
    from arena_desktop.main_window import MainWindow
    from engine.execution.controller import RunController
    from engine.execution.events import RunFinished

_KEY = "unsaved_run"


class UnsavedRun(QObject):
    """Follows the desks that run and mark; what is not saved stays in memory. GUI thread only."""

    saved = Signal(str)
    """Where the results are now; the history file or another."""

    def __init__(self, window: MainWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._run: RunController | None = None
        self._count = 0
        self._why = ""
        self._busy = self._let_go = False
        self._marks = False
        context.runs.ended.connect(self._on_ended)
        context.rescoring.unsaved.connect(self._on_marks)
        window.close_requested.connect(self._on_close)

    @property
    def pending(self) -> bool:
        """Whether results are in memory only."""
        return self._run is not None

    def _on_ended(self, finished: RunFinished) -> None:
        if not finished.unsaved:
            return
        self._keep(finished, marks=False)

    def _on_marks(self, finished: RunFinished) -> None:
        self._keep(finished, marks=True)

    def _keep(self, finished: RunFinished, *, marks: bool) -> None:
        self._run, self._count, self._why = self._context.runs.unsaved, finished.unsaved, finished.error or ""
        self._marks = marks
        self._offer()

    def _offer(self) -> None:
        again = StripButton(self.tr("Try again"), self.try_again, strong=True)
        elsewhere = StripButton(self.tr("Save in another file…"), self.ask_where)
        first = self.tr("The results of this run are not saved.")
        text = self.tr("{why} The results stay in memory until the program is closed.")
        if self._marks:
            first = self.tr("The new marks are not saved.")
            text = self.tr("{why} The marks stay in memory until the program is closed.")
        text = text.format(why=self._why)
        self._say(Message(_KEY, Tone.BAD, first, text, (again, elsewhere), can_close=False))

    # saving

    def try_again(self) -> None:
        """Tries the usual place once more; `saved` follows, or the offer stays."""
        run = self._run
        if run is None or self._busy:
            return
        self._busy = True
        path = str(run.store_path)

        def work(_job: Job) -> str:
            return path if run.save_again() else ""

        self._context.background.run(work, self._on_saved, self._on_failed, name="save again")

    def ask_where(self) -> None:
        """Asks for a file and saves there."""
        start = Path(self._context.settings.export_folder or Path.home()) / "arena-results.sqlite"
        chosen, _kind = QFileDialog.getSaveFileName(
            self._window, self.tr("Save the results"), str(start), self.tr("Run history (*.sqlite)")
        )
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, path: Path) -> None:
        """Saves the run in a file of its own; `saved` follows, or the offer stays."""
        run = self._run
        if run is None or self._busy:
            return
        self._busy = True

        def work(_job: Job) -> str:
            run.rescue(path)
            return str(path)

        self._context.background.run(work, self._on_saved, self._on_failed, name="save elsewhere")

    def _on_saved(self, place: str) -> None:
        self._busy = False
        if not place:
            self._offer()
            return
        self._run = None
        self._context.runs.results_are_saved()
        first = self.tr("The results of the run are saved.")
        if self._marks:
            first = self.tr("The new marks are saved, with their run.")
        self._say(Message(_KEY, Tone.GOOD, first, self.tr("They are in {path}.").format(path=place)))
        results = self._context.results
        results.list_runs(None)
        if self._marks and results.result is not None:
            results.open_run(results.result.run_id)
        self.saved.emit(place)

    def _on_failed(self, error: Exception) -> None:
        self._busy = False
        if not isinstance(error, ArenaError):
            raise error
        self._why = f"{error.message} {error.hint}".strip()
        self._offer()

    def _say(self, message: Message) -> None:
        self._context.message_wanted.emit(message)

    # closing

    def _on_close(self, event: QCloseEvent) -> None:
        if not self.pending or self._let_go or not event.isAccepted():
            return
        event.ignore()
        title = self.tr("Close and lose results?")
        text = self.tr("The results of the last run are in memory only. Closing the window loses them.")
        if self._marks:
            text = self.tr("The new marks are in memory only. Closing the window loses them.")
        question = RunQuestion(self._window, "dialog_unsaved_run", title, text)
        question.offer(Choice.STOP, self.tr("Close and lose them"), "button_lose_results")
        question.offer(Choice.KEEP, self.tr("Keep the window open"), "button_keep_open")
        question.chosen.connect(self._on_close_chosen)
        question.open()

    def _on_close_chosen(self, choice: Choice) -> None:
        if choice is Choice.STOP:
            self._let_go = True
            self._window.close()
