"""Asking chosen questions of a saved run again, from the Answers page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.views.answer_calls import CallPane
from arena_desktop.views.answer_pane import AnswerPane, CaseAnswers
from arena_desktop.views.answer_versions import Version
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import ask_again as words
from engine.domain import Cell, RunInfo, RunStatus
from engine.errors import ArenaError
from engine.storage.rows import CallRow

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class AskAgain(QObject):
    """Connects an Answers page to the run desk. GUI thread only; reads in the background.

    An answer that is there goes on counting. The run desk asks about what costs money, or may.
    """

    said = Signal(object)
    """A Message for the page."""

    def __init__(self, context: AppContext, page: QWidget, info: Callable[[], RunInfo | None]) -> None:
        """`info` gives the head of the run on show, or None."""
        super().__init__(page)
        self._context, self._page, self._info = context, page, info
        self._versions_for: CaseAnswers | None = None
        self._pane: AnswerPane | None = None

    def follow(self, pane: AnswerPane) -> None:
        """The answers side by side: a button below each, and what is kept beside it."""
        self._pane = pane
        pane.again_wanted.connect(lambda call: self.ask([call]))
        pane.case_shown.connect(self._read_versions)

    def follow_table(self, calls: CallPane) -> None:
        """The table of all calls: a button and a line in the menu, for all chosen rows."""
        button = Button(words.ask_again_button(1), name="button_ask_again")
        button.clicked.connect(lambda: self.ask(calls.chosen_calls()))

        def show() -> None:
            count = calls.chosen_count()
            button.setEnabled(count > 0)
            button.setText(words.ask_again_button(max(1, count)))

        def fill(menu: QMenu, _row: CallRow) -> None:
            text = words.ask_again_button(max(1, calls.chosen_count()))
            menu.addAction(text).triggered.connect(lambda: self.ask(calls.chosen_calls()))

        calls.table.set_row_menu(fill)
        calls.table.selectionModel().selectionChanged.connect(lambda *_changes: show())
        calls.calls.modelReset.connect(show)
        card = calls.findChild(TableCard)
        if card is not None:
            foot = card.add_foot()
            foot.setContentsMargins(12, 8, 20, 4)
            foot.addWidget(button)
        show()

    # asking

    def ask(self, calls: Sequence[Any]) -> None:
        """Asks these calls again (anything with a cell); the run desk asks first where it costs."""
        info = self._info()
        cells = tuple(dict.fromkeys(call.cell for call in calls))
        if info is None or not cells:
            return
        why = self._why_not(info)
        if why is not None:
            self.said.emit(why)
            return
        self._context.runs.carry_on(info.run_id, again=cells)

    def _why_not(self, info: RunInfo) -> Message | None:
        project = self._context.projects.project
        if self._context.runs.has(info.run_id) or info.status is RunStatus.RUNNING:
            return Message("again", Tone.INFO, words.goes_on(), words.goes_on_text())
        if project is not None and info.project_root == project.root:
            return None
        buttons: tuple[StripButton, ...] = ()
        root = info.project_root
        if root is not None and root.exists():
            open_it = self.tr("Open {name}").format(name=info.project)
            buttons = (StripButton(open_it, lambda: self._context.projects.open(root), closes=True),)
        return Message("again", Tone.INFO, words.needs_project(info.project), "", buttons)

    # what is kept beside

    def _read_versions(self, shown: CaseAnswers) -> None:
        self._versions_for = shown
        cells, run_id, open_store = tuple(shown.calls), shown.run_id, self._context.results.store

        def work(_job: Job) -> tuple[CaseAnswers, Mapping[Cell, list[Version]]]:
            return shown, open_store(run_id).kept_answers(run_id, cells)

        run = self._context.background.run
        run(work, self._on_versions, self._on_not_read, name="answers kept beside", replace=True)

    def _on_versions(self, answer: tuple[CaseAnswers, Mapping[Cell, list[Version]]]) -> None:
        shown, versions = answer
        if shown is self._versions_for and self._pane is not None:
            self._pane.set_versions(versions)

    def _on_not_read(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.said.emit(Message("answers", Tone.BAD, error.message, error.hint))
