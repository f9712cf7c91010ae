"""Leaderboard: the answer as a sentence, then the table, then the pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.insight_desk import Insights
from arena_desktop.itemmodels.leaderboard import BoardRow
from arena_desktop.views.chart_saving import save_chart, set_chart_table
from arena_desktop.views.insights import AnswersWanted, InsightsSection
from arena_desktop.views.live_board import LiveBoard
from arena_desktop.views.result_details import ResultDetails
from arena_desktop.views.result_parts import ResultFacts, ResultPage, press
from arena_desktop.views.results_cards import NotesCard, Unfolded, WhatIfCard, changes_unfolded
from arena_desktop.views.results_charts import cost_points, knows_prices, score_bars
from arena_desktop.views.results_marks import OwnMarksSwitch
from arena_desktop.views.results_table import BoardTable
from arena_desktop.views.results_verdict import card_text
from arena_desktop.views.saved_steps import can_mark_again
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.chart_view import ChartCard, ChartView
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.turns import Turns
from arena_desktop.widgets.verdict_card import VerdictCard
from arena_desktop.wording import board as words
from arena_desktop.wording import marks as mark_words
from arena_desktop.wording.exact import cannot_tell
from arena_desktop.wording.must_haves import must_haves
from engine.errors import ArenaError
from engine.stats.board import Leaderboard

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class ResultsView(ResultPage):
    """The leaderboard of the run on show; of the run under way while that goes on."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "results", self.tr("Leaderboard"), scrolls=True)
        self._trial: Leaderboard | None = None
        self._summary = ""
        self._marks_are_others = False
        self.live = LiveBoard(self, context)
        self.live.failed.connect(self._on_live_failed)
        self._below = Turns(self)
        self._add_controls()
        self._add_parts()
        context.marks_changed.connect(self._on_marks_changed)
        context.rescoring.state_changed.connect(self._set_rescore)
        self.begin()

    # parts

    def _add_controls(self) -> None:
        self.button_export = Button(self.tr("Export…"), icon="export", name="button_export")
        self.button_export.clicked.connect(lambda: press(self, "action_export"))
        self.button_rescore = Button(self.tr("Mark again"), name="button_rescore")
        self.button_rescore.clicked.connect(self._on_rescore)
        self.button_run = Button(self.tr("Run again"), "primary", icon="run", name="button_run_again")
        self.button_run.clicked.connect(lambda: self.context.page_wanted.emit("run"))
        self.header.controls.addWidget(self.button_rescore)
        self.header.controls.addWidget(self.button_export)
        self.header.controls.addWidget(self.button_run)
        self.combo_run.activated.connect(lambda _index: self.live.leave())

    def _add_parts(self) -> None:
        self.empty_board = EmptyState("", "", self.tr("See the answers"))
        self.empty_board.pressed.connect(lambda: self.context.page_wanted.emit("answers"))
        self.content.addWidget(self.empty_board, 1)
        self._whole = QWidget()
        layout = QVBoxLayout(self._whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.content.addWidget(self._whole, 1)
        self.verdict = VerdictCard()
        self.verdict.pressed.connect(self._on_verdict_button)
        self.why = Unfolded("unfolded_why", self.tr("Why this one?"))
        self.change = Unfolded("unfolded_change", self.tr("What could change this?"))
        self.verdict.below.addWidget(self.why)
        self.verdict.below.addWidget(self.change)
        layout.addWidget(self.verdict)
        layout.addWidget(self._board_table())
        self.notes = NotesCard()
        layout.addWidget(self.notes)
        self._add_pictures(layout)
        self.insights = InsightsSection(self.context)
        self.insights.answers_wanted.connect(self._on_answers_wanted)
        self.insights.desk.read.connect(self._on_insights)
        layout.addWidget(self.insights)
        self.details = ResultDetails()
        layout.addWidget(self.details)
        layout.addStretch(1)

    def _board_table(self) -> BoardTable:
        self.list = BoardTable(self.context)
        self.table, self.rows = self.list.table, self.list.rows
        self.table.link_clicked.connect(self._on_link)
        self.table.activated_row.connect(lambda _row: self.context.page_wanted.emit("answers"))
        self.check_own = OwnMarksSwitch(self.context, self.strips)
        self.check_own.changed.connect(self._on_own_changed)
        self.list.bar.extra.addWidget(self.check_own)
        return self.list

    def _add_pictures(self, layout: QVBoxLayout) -> None:
        row = QHBoxLayout()
        row.setSpacing(16)
        self.what_if = WhatIfCard()
        self.what_if.previewed.connect(self._on_previewed)
        self.bars = self._chart_card(self.tr("Overall score"), "chart_leaderboard")
        row.addWidget(self.what_if, 2)
        row.addWidget(self.bars, 3)
        self._lower = row
        layout.addLayout(row)
        self.costs = self._chart_card(self.tr("Cost and score"), "chart_cost")
        layout.addWidget(self.costs)

    def _chart_card(self, title: str, name: str) -> ChartCard:
        card = ChartCard(title, ChartView(name))
        card.save_pressed.connect(lambda: save_chart(card, self.context))
        return card

    # what is shown

    def show_facts(self, facts: ResultFacts) -> None:
        info = facts.info
        self.check_own.show_result(facts.result)
        board = self.check_own.board
        self._set_rescore()
        self.insights.show_result(facts.result)
        self.header.set_title(self.header.title.text(), words.practice_sentence() if info.practice else "")
        self._say_live(facts)
        self.empty_board.setVisible(board is None)
        self._whole.setVisible(board is not None)
        if board is None:
            heading, sentence = words.empty_board_words(info.status)
            self.empty_board.set_texts(heading, sentence, self.tr("See the answers"))
            return
        self._show_board(board, facts)

    def _show_board(self, board: Leaderboard, facts: ResultFacts) -> None:
        self._trial = None
        self._show_verdict(board, facts)
        self._show_rows(board, facts)
        # Below the fold: together with the table they would be a stand-still.
        self._below.start(
            lambda: self._show_pictures(board, facts), lambda: self.details.show_board(board, facts.config)
        )

    def _say_live(self, facts: ResultFacts) -> None:
        self.button_run.setEnabled(not facts.result.live)
        if not facts.result.live:
            self.strips.close_message("live")
            return
        progress = self.context.runs.progress
        first, text = words.so_far_sentence(progress.done + progress.failed, progress.total)
        self.strips.show_message(Message("live", Tone.INFO, first, text, can_close=False))

    def _show_verdict(self, board: Leaderboard, facts: ResultFacts) -> None:
        trial = self._trial is not None
        self.verdict.set_text(card_text(board, trial=trial, live=facts.result.live))
        self.why.set_lines(words.why_lines(board))
        self.change.set_lines(changes_unfolded(board))
        lines = words.note_lines(board, facts.result.stored.notes)
        self.notes.set_lines(lines, cannot_tell(board))
        self._summary = words.summary_text(board, facts.info, lines, trial=trial)

    def _show_rows(self, board: Leaderboard, facts: ResultFacts) -> None:
        has = facts.config is not None and bool(must_haves(facts.config))
        self.list.show_board(board, facts.heads, must_haves=has, trial=self._trial is not None)

    def _show_bars(self, sentence: str) -> None:
        """The bars follow the table, so that both always say the same."""
        chart = score_bars(self.rows.rows())
        self.bars.set_chart(chart, self.tr("Overall score"), sentence)
        set_chart_table(self.bars, chart, self.tr("Overall score as a table"))

    def _show_pictures(self, board: Leaderboard, facts: ResultFacts) -> None:
        can_preview = facts.config is not None and board.winner is not None and not facts.result.live
        if can_preview and facts.config is not None:
            self.what_if.show_board(board, facts.config)
        self.what_if.setVisible(can_preview and len(self.what_if.sliders) > 1)
        self._show_bars(words.chart_sentence(board))
        self.costs.setVisible(knows_prices(board))
        self._show_costs(words.cost_chart_sentence())

    def _show_costs(self, sentence: str) -> None:
        if self.costs.isHidden():
            return
        costs = cost_points(self.rows.rows())
        self.costs.set_chart(costs, self.tr("Cost and score"), sentence)
        set_chart_table(self.costs, costs, self.tr("Cost and score as a table"))

    # doing

    def _on_verdict_button(self, button: str) -> None:
        if button == "duel":
            self.context.page_wanted.emit("duel")
            return
        if button == "copy":
            QGuiApplication.clipboard().setText(self._summary)
            self.strips.show_message(Message("copied", Tone.GOOD, self.tr("The summary is copied.")))
            return
        shown, other = (self.why, self.change) if button == "why" else (self.change, self.why)
        other.hide()
        shown.setVisible(shown.isHidden())
        if not shown.isHidden():
            announce(shown, " ".join(shown.texts()))

    def _on_previewed(self, trial: Leaderboard | None) -> None:
        facts, board = self.facts, self.check_own.board
        if facts is None or board is None:
            return
        self._below.finish()
        self._trial = trial
        shown = trial or board
        self._show_verdict(shown, facts)
        self._show_rows(shown, facts)
        self.details.show_board(shown, facts.config)
        self._show_bars(words.chart_sentence(board) if trial is None else words.preview_legend())
        self._show_costs(words.cost_chart_sentence() if trial is None else words.preview_legend())

    def _on_link(self, row: BoardRow, _link: str) -> None:
        config = self.facts.config if self.facts is not None else None
        entry = next((e for e in config.models if e.key == row.key), None) if config else None
        if entry is not None:
            self.context.key_wanted.emit(entry.provider or "")

    def _on_answers_wanted(self, wanted: AnswersWanted) -> None:
        self.context.page_wanted.emit("answers")
        self.context.answers_wanted.emit(wanted)

    def _on_rescore(self) -> None:
        if self.facts is not None:
            self.context.rescoring.start(self.facts.info.run_id)

    def _set_rescore(self) -> None:
        facts = self.facts
        can = facts is not None and not facts.result.live and can_mark_again(self.context, facts.info)
        self.button_rescore.setEnabled(can)
        sentence = mark_words.mark_again_sentence(facts.info.number) if facts is not None else ""
        self.button_rescore.setToolTip(sentence)

    # the person's own marks

    def _on_insights(self, found: Insights) -> None:
        self.check_own.set_marked(bool(found.marks.own))

    def _on_own_changed(self) -> None:
        facts, board = self.facts, self.check_own.board
        if facts is not None and board is not None:
            self._show_board(board, facts)

    def _on_marks_changed(self, run_id: str) -> None:
        if self.facts is not None and self.facts.info.run_id == run_id:
            self._marks_are_others = True
            self._follow_marks()

    def _follow_marks(self) -> None:
        """Reads again what depends on marks, once the page is looked at."""
        if not self._marks_are_others or self.facts is None or not self.isVisible():
            return
        self._marks_are_others = False
        self.insights.show_result(self.facts.result)
        self.check_own.read_again()

    # a run under way

    def _on_live_failed(self, error: ArenaError) -> None:
        self.strips.show_message(Message("live", Tone.WARN, error.message, error.hint))

    # Qt

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        way = QHBoxLayout.Direction.TopToBottom if narrow else QHBoxLayout.Direction.LeftToRight
        self._lower.setDirection(way)
        self.insights.set_narrow(narrow)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_marks()
        self._set_rescore()
        self.live.look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.live.rest()
