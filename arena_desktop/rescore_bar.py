"""Marking a saved run again as the whole window shows it: progress, a way to stop it, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from arena_desktop.cells import Tone
from arena_desktop.context import AppContext
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.wording import formats

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from engine.errors import ArenaError
    from engine.execution.rescore import Rescored

KEY = "rescore"


class RescoreBar(QObject):
    """Follows the desk that marks runs again; one strip tells all of it."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        desk = context.rescoring
        desk.state_changed.connect(self._on_state)
        desk.progressed.connect(self._on_progress)
        desk.done.connect(self._on_done)
        desk.failed.connect(self._on_failed)

    def _on_state(self) -> None:
        if self._context.rescoring.running:
            self._say(self.tr("Marking the answers again."), self.tr("No model is asked."))

    def _on_progress(self, done: int, total: int) -> None:
        if not self._context.rescoring.running:
            # The last report may come after the person stopped it.
            return
        text = self.tr("{done} of {total} answers. No model is asked.")
        counted = text.format(done=formats.whole(done), total=formats.whole(total))
        self._say(self.tr("Marking the answers again."), counted)

    def _say(self, first: str, text: str) -> None:
        stop = StripButton(self.tr("Cancel"), self._stop)
        self._window.show_message(Message(KEY, Tone.INFO, first, text, (stop,), can_close=False))

    def _stop(self) -> None:
        self._context.rescoring.stop()
        first = self.tr("Marking again was cancelled.")
        self._window.show_message(Message(KEY, Tone.INFO, first, self.tr("All marks are as they were.")))

    def _on_done(self, result: Rescored) -> None:
        from arena_desktop.wording.marks import rescored_sentences

        first, *rest = rescored_sentences(result)
        see = StripButton(self.tr("See the result"), lambda: self._see(result.run_id), closes=True)
        shown = self._window.current_page() == "results"
        buttons = () if shown else (see,)
        self._window.show_message(Message(KEY, Tone.GOOD, first, " ".join(rest), buttons))
        results = self._context.results
        if results.result is not None and results.result.run_id == result.run_id:
            results.open_run(result.run_id)
        project = self._context.projects.project
        if project is not None:
            results.list_runs(project.config.project)

    def _see(self, run_id: str) -> None:
        self._window.open_run(run_id)

    def _on_failed(self, error: ArenaError) -> None:
        self._window.show_message(Message(KEY, Tone.BAD, error.message, error.hint))
