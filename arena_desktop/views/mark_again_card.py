"""Saved answers on the Scoring page: marking a run again by these rules, its price, how far it is, a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from arena_desktop.views.saved_steps import can_mark_again
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, CardHead
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.wording.mark_again import before_sentence, going_sentence
from arena_desktop.wording.marks import mark_again_sentence
from engine.domain import RunInfo, RunStatus

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.project_desk import OpenProject
    from engine.execution.mark_again import MarkAgain


class MarkAgainCard(Card):
    """Hidden while there is no run with answers of the open project. `page` is what it stands on."""

    def __init__(self, context: AppContext, page: QWidget) -> None:
        super().__init__(spacing=12, name="card_mark_again")
        self._context, self._page = context, page
        self._priced: tuple[OpenProject, RunInfo] | None = None
        self.body.addWidget(CardHead(self.tr("Saved answers")))
        self.label_again = Label("", wrap=True, name="label_mark_again")
        self.body.addWidget(self.label_again)
        self.label_price = Label("", "strong", wrap=True, name="label_mark_price")
        self.label_price.hide()
        self.body.addWidget(self.label_price)
        row = FlowLayout()
        self.button_rescore = Button("", name="button_rescore")
        self.button_rescore.clicked.connect(self._on_rescore)
        row.addWidget(self.button_rescore)
        self.body.addLayout(row)
        context.results.listed.connect(lambda _runs: self.refresh())
        context.results.shown.connect(lambda _result: self.refresh())
        context.rescoring.state_changed.connect(self.refresh)
        context.rescoring.looked.connect(self._on_price)
        context.rescoring.progressed.connect(lambda _done, _all: self._show_going())
        context.rescoring.done.connect(lambda _result: self._forget_price())

    def refresh(self) -> None:
        """Shows the run that would be marked now, and asks for its price while the page is looked at."""
        info = self._run_to_mark()
        self.setVisible(info is not None)
        if info is None:
            return
        self.label_again.setText(mark_again_sentence(info.number))
        if self._context.rescoring.asking:
            self._show_going()
            return
        self.button_rescore.setText(self.tr("Mark run {number} again").format(number=info.number))
        self.button_rescore.setEnabled(can_mark_again(self._context, info))
        self._ask_price(info)

    def _run_to_mark(self) -> RunInfo | None:
        """The run on show if it is this project's, else the newest with answers."""
        results, project = self._context.results, self._context.projects.project
        name = project.config.project if project is not None else None
        result = results.result
        shown = [result.stored.info] if result is not None and not result.live else []
        runs = [info for info in (*shown, *results.runs) if info.project == name]
        return next((i for i in runs if i.completed and i.status is not RunStatus.RUNNING), None)

    def _show_going(self) -> None:
        """How far a session of marking is, and the way to stop it, where it was started."""
        desk = self._context.rescoring
        if desk.progress is None or not desk.asking:
            return
        going = desk.progress
        text = going_sentence(going.marked, going.answers, going.spent_here, slowed=going.slowed)
        self.label_price.setText(text)
        self.label_price.show()
        stopping = self.tr("Stop now") if going.stopping else self.tr("Stop marking")
        self.button_rescore.setText(stopping)
        self.button_rescore.setEnabled(True)

    # ---- the price

    def _ask_price(self, info: RunInfo) -> None:
        """Has the price worked out, once for each state of the project and the run."""
        opened = self._context.projects.current
        if opened is None or not self._page.isVisible() or self._context.rescoring.running:
            return
        if self._priced is None or self._priced[0] is not opened or self._priced[1] != info:
            self._priced = (opened, info)
            self.label_price.hide()
            self._context.rescoring.look(info.run_id)

    def _forget_price(self) -> None:
        self._priced = None
        self.refresh()

    def _on_price(self, found: MarkAgain) -> None:
        if self._priced is None or self._priced[1].run_id != found.run_id or self._context.rescoring.asking:
            return
        text = before_sentence(found)
        self.label_price.setText(text)
        self.label_price.setVisible(bool(text))

    def _on_rescore(self) -> None:
        desk = self._context.rescoring
        if desk.asking:
            desk.stop()
            return
        info = self._run_to_mark()
        if info is not None:
            desk.start(info.run_id)
