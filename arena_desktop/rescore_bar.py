"""Marking a saved run again as the whole window shows it: price, progress, a way to stop, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QCloseEvent

from arena_desktop.cells import Tone
from arena_desktop.context import AppContext
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.wording import formats
from arena_desktop.wording import mark_again as words

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from engine.errors import ArenaError
    from engine.execution.mark_again import MarkAgain
    from engine.execution.rescore import Rescored

KEY = "rescore"


class RescoreBar(QObject):
    """Follows the desk that marks runs again; one strip tells all of it. Closing the window waits for
    marks that are begun, because they are paid for."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._close_after = False
        desk = context.rescoring
        desk.state_changed.connect(self._on_state)
        desk.progressed.connect(self._on_progress)
        desk.priced.connect(self._on_priced)
        desk.done.connect(self._on_done)
        desk.failed.connect(self._on_failed)
        desk.unsaved.connect(self._on_unsaved)
        window.close_requested.connect(self._on_close)

    def _on_state(self) -> None:
        desk = self._context.rescoring
        if not desk.running:
            # What is said of its end follows; one that waits its turn is told where all of them are.
            self._window.close_message(KEY)
        elif desk.asking:
            self._say_asking()
        else:
            self._say(self.tr("Marking the answers again."), self.tr("No model is asked."))

    def _on_progress(self, done: int, total: int) -> None:
        desk = self._context.rescoring
        if not desk.running:
            # The last report may come after the person stopped it.
            return
        if desk.asking:
            self._say_asking()
            return
        text = self.tr("{done} of {total} answers. No model is asked.")
        counted = text.format(done=formats.whole(done), total=formats.whole(total))
        self._say(self.tr("Marking the answers again."), counted)

    def _say_asking(self) -> None:
        progress = self._context.rescoring.progress
        if progress is None:
            return
        spent, slowed = progress.spent_here, progress.slowed
        text = words.going_sentence(progress.marked, progress.answers, spent, slowed=slowed)
        if progress.stopping:
            first = self.tr("Stopping. Marks that are begun are finished.")
            self._say(first, text, button=self.tr("Stop now"))
        else:
            self._say(self.tr("The second AI is marking the answers again."), text)

    def _say(self, first: str, text: str, button: str = "") -> None:
        stop = StripButton(button or self.tr("Cancel"), self._stop)
        self._window.show_message(Message(KEY, Tone.INFO, first, text, (stop,), can_close=False))

    def _stop(self) -> None:
        desk = self._context.rescoring
        asking = desk.asking
        desk.stop()
        if asking:
            return
        first = self.tr("Marking again was cancelled.")
        self._window.show_message(Message(KEY, Tone.INFO, first, self.tr("All marks are as they were.")))

    # ---- the price

    def _on_priced(self, found: MarkAgain) -> None:
        from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog, CostQuestion

        self._window.close_message(KEY)
        question = CostQuestion(
            price=words.price_sentence(found),
            counts=words.counts_sentence(found),
            reasons=words.reasons(found),
            pay=words.pay_button(found),
            keep=words.keep_button(),
        )
        dialog = ConfirmCostDialog(self._window, question)
        dialog.agreed.connect(self._context.rescoring.go_on)
        dialog.rejected.connect(self._on_declined)
        dialog.open()

    def _on_declined(self) -> None:
        desk = self._context.rescoring
        run_id = desk.decline()
        first = self.tr("Nothing was asked, and all marks are as they were.")
        text = self.tr("What is free can be done alone: the marks of the second AI stay then.")
        free = StripButton(
            self.tr("Mark without the second AI"), lambda: desk.start_free(run_id), closes=True
        )
        self._window.show_message(Message(KEY, Tone.INFO, first, text, (free,)))

    # ---- the end

    def _on_done(self, result: Rescored) -> None:
        from arena_desktop.wording.marks import rescored_sentences

        desk = self._context.rescoring
        first, *rest = rescored_sentences(result)
        early = words.ended_sentence(desk.ended_as)
        see = StripButton(self.tr("See the result"), lambda: self._see(result.run_id), closes=True)
        shown = self._window.current_page() == "results"
        buttons = () if shown else (see,)
        tone = Tone.WARN if early else Tone.GOOD
        text = " ".join(part for part in (early, *rest, words.skipped_sentence(desk.skip)) if part)
        self._window.show_message(Message(KEY, tone, first, text, buttons))
        results = self._context.results
        if results.result is not None and results.result.run_id == result.run_id:
            results.open_run(result.run_id)
        project = self._context.projects.project
        if project is not None:
            results.list_runs(project.config.project)
        self._close_if_wanted()

    def _see(self, run_id: str) -> None:
        self._window.open_run(run_id)

    def _on_failed(self, error: ArenaError) -> None:
        self._window.show_message(Message(KEY, Tone.BAD, error.message, error.hint))
        self._close_if_wanted()

    def _on_unsaved(self, _finished: object) -> None:
        """The marks are offered to be saved; the window stays open for it."""
        self._close_after = False

    def _on_close(self, event: QCloseEvent) -> None:
        desk = self._context.rescoring
        if not desk.asking:
            return
        event.ignore()
        # A run that ends meanwhile closes the window again: only the strip's own button cuts off.
        if not self._close_after:
            self._close_after = True
            desk.stop()

    def _close_if_wanted(self) -> None:
        if self._close_after:
            self._close_after = False
            self._window.close()
