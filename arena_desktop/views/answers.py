"""Answers: every test with what each model said, side by side or as one table of all calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget

from arena_desktop.cells import Tone
from arena_desktop.itemmodels.answer_tests import MOST_MARKS, TestRow
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.theme import scaled
from arena_desktop.views.answer_again import AskAgain
from arena_desktop.views.answer_calls import CallPane
from arena_desktop.views.answer_list import TestList
from arena_desktop.views.answer_marking import AnswerMarking
from arena_desktop.views.answer_pane import AnswerPane, CaseAnswers
from arena_desktop.views.answer_reader import AnswerReader
from arena_desktop.views.answer_tools import AnswerTools
from arena_desktop.views.insights import AnswersWanted
from arena_desktop.views.result_parts import ResultFacts, ResultPage
from arena_desktop.views.saved_steps import can_retry, retry
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.kept_choices import KeptChoices, SideSplitter
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message
from arena_desktop.wording.board import practice_sentence
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_LIST_WIDTH = 296
_LIST_HEIGHT = 220
_PANE_HEIGHT = 440
_SIDE_BY_SIDE, _TABLE = 0, 1


class AnswersView(ResultPage):
    """Reads everything in the background; holds which test is looked at, and nothing else.

    The table of all calls is built when it is first wanted, and reads nothing while it is not shown.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "answers", self.tr("Answers"))
        self._heads: tuple[ModelHead, ...] = ()
        self._run_id = ""
        self._found: frozenset[str] | None = None
        self._only_run = ""
        self._wanted_case: str | None = None
        self._calls: CallPane | None = None
        self._reader = AnswerReader(context.results)
        self._reader.tests.connect(self._on_tests)
        self._reader.answers.connect(self._on_answers)
        self._reader.found.connect(self._on_found)
        self._reader.failed.connect(self._on_not_read)
        self.pane = AnswerPane()
        self.marking = AnswerMarking(context, self.strips)
        self.marking.changed.connect(self._on_marks)
        self.again = AskAgain(context, self, lambda: self.facts.info if self.facts is not None else None)
        self.again.said.connect(self.strips.show_message)
        self.again.follow(self.pane)
        self._add_tools()
        self._add_sides()
        kept = KeptChoices(context.settings, "answers", self)
        kept.keep_choice(self.combo_show)
        kept.keep_switch(self.check_marks)
        kept.keep_switch(self.check_blind)
        context.answers_wanted.connect(self.show_wanted)
        self.begin()

    # parts

    def _add_tools(self) -> None:
        self.tools = tools = AnswerTools()
        self.combo_show, self.filter, self.count = tools.combo_show, tools.filter, tools.count
        self.chip_only, self.button_clear, self.button_retry = (
            tools.chip_only,
            tools.button_clear,
            tools.button_retry,
        )
        self.check_marks, self.check_blind, self.button_table = (
            tools.check_marks,
            tools.check_blind,
            tools.button_table,
        )
        tools.wanted.connect(self.apply_filter)
        tools.clear_wanted.connect(self.clear_filter)
        tools.filter.down_pressed.connect(lambda: self.tests.setFocus(Qt.FocusReason.ShortcutFocusReason))
        tools.button_retry.clicked.connect(self._on_retry)
        tools.check_marks.toggled.connect(self.pane.set_mark_differences)
        tools.check_blind.toggled.connect(self._on_blind)
        tools.button_table.clicked.connect(lambda: self.show_table(not self.as_table))
        self.button_duel = Button(self.tr("Compare blind"), icon="compare", name="button_duel")
        self.button_duel.clicked.connect(lambda: self.context.page_wanted.emit("duel"))
        self.header.controls.addWidget(self.button_duel)
        self.content.addWidget(tools)
        self.label_agreement = Label("", "caption", colour="text2", wrap=True, name="label_agreement")
        self.label_agreement.hide()
        self.content.addWidget(self.label_agreement)

    def _add_sides(self) -> None:
        self.stack = QStackedWidget()
        self.splitter = SideSplitter("splitter_answers")
        self.list = TestList()
        self.tests, self.rows, self.label_at = self.list.tests, self.list.rows, self.list.label_at
        self.button_up, self.button_down = self.list.button_up, self.list.button_down
        self.tests.set_filter_field(self.filter)
        self.tests.current_row_changed.connect(self._on_current)
        self.rows.counts_changed.connect(lambda *_counts: self._show_counts())
        self.list.clear_pressed.connect(self.clear_filter)
        self.list.answer_stepped.connect(self.pane.step)
        self.list.answer_marked.connect(self.pane.mark_at)
        self.splitter.addWidget(self.list)
        self.pane.mark_chosen.connect(self.marking.give)
        self.pane.copied.connect(self._on_copied)
        self.splitter.addWidget(self.pane)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.set_usual([scaled(_LIST_WIDTH), scaled(700)])
        self.stack.addWidget(self.splitter)
        self.content.addWidget(self.stack, 1)

    @property
    def call_pane(self) -> CallPane:
        """The table of all calls."""
        if self._calls is None:
            self._calls = pane = CallPane(self._reader, self.context.settings)
            pane.table.set_filter_field(self.filter)
            pane.case_wanted.connect(self._on_case_wanted)
            pane.clear_wanted.connect(self.clear_filter)
            pane.counts_changed.connect(self._show_counts)
            self.again.follow_table(pane)
            self.stack.addWidget(pane)
            if self.facts is not None:
                pane.set_run(self._run_id, self.facts.heads, trials=self.facts.info.trials)
        return self._calls

    # what is shown

    def show_facts(self, facts: ResultFacts) -> None:
        info = facts.info
        self.header.set_title(self.header.title.text(), practice_sentence() if info.practice else "")
        skipped = {skip.model_key for skip in facts.result.stored.skipped}
        self._heads = tuple(head for key, head in facts.heads.items() if key not in skipped)
        self._reader.set_facts(facts, self._heads)
        if info.run_id != self._run_id:
            self._change_run(facts)
        self._reader.read_tests(facts.result.stored.cases, first=not self.rows.total_count())
        if self.as_table:
            self._show_calls()

    def _change_run(self, facts: ResultFacts) -> None:
        run_id = self._run_id = facts.info.run_id
        self._found = None
        if self._only_run != run_id:
            self.tools.only = None
        self.marking.load(run_id)
        self.rows.set_rows(())
        self.pane.show_case(None)
        self.pane.prepare(len(self._heads))
        self._fit_list()
        if self._calls is not None:
            self._calls.set_run(run_id, facts.heads, trials=facts.info.trials)

    def _on_tests(self, rows: list[TestRow]) -> None:
        self.list.set_heads(self._heads, blind=self.check_blind.isChecked())
        self.rows.set_rows(rows)
        self.apply_filter()
        wanted, self._wanted_case = self._wanted_case, None
        if wanted is None or not self.tests.select_key(wanted):
            current = self.list.current or (self.rows.shown_rows() or (None,))[0]
            if current is not None:
                self.tests.select_key(current.case.id)
                self._on_current(current)

    def _fit_list(self) -> None:
        """Wide enough for the names beside the marks; the person may still move the handle."""
        self.splitter.widget(0).setMinimumHeight(scaled(_LIST_HEIGHT) if self.narrow else 0)
        if self.narrow:
            self.splitter.set_usual([scaled(_LIST_HEIGHT), scaled(_PANE_HEIGHT)])
            return
        marks = len(self._heads) if len(self._heads) <= MOST_MARKS and not self.check_blind.isChecked() else 0
        wanted = scaled(_LIST_WIDTH - 60) + 21 * marks
        self.splitter.set_usual([wanted, max(scaled(260), self.splitter.width() - wanted - 16)])

    def _on_current(self, row: TestRow | None) -> None:
        self._show_counts()
        if row is not None and not self.as_table:
            self._reader.read_answers(row.case)

    def _on_answers(self, answers: CaseAnswers) -> None:
        self.pane.show_case(replace(answers, marks=self.marking.own))

    def _show_counts(self) -> None:
        if self.as_table:
            calls = self.call_pane.calls
            self.tools.show_counts(calls.shown_count(), calls.total_count())
        else:
            self.tools.show_counts(self.rows.shown_count(), self.rows.total_count())
        self._show_retry()
        self.list.show_place()

    # filter

    def apply_filter(self) -> None:
        """Shows what the controls ask for now; answers are searched in the background."""
        self.tools.settle()
        text = self.tools.choice.text
        if not text:
            self._found = None
        self._refilter()
        if self.as_table:
            self._show_calls()
        elif text:
            self._reader.search(text)

    def _on_found(self, text: str, found: frozenset[str]) -> None:
        if text == self.tools.choice.text:
            self._found = found
            self._refilter()

    def _refilter(self) -> None:
        choice = self.tools.choice
        marked = frozenset(cell.case_id for cell in self.marking.own)
        self.rows.set_predicate(choice.keep(found=self._found, marked=marked))
        told = bool(self.label_agreement.text())
        self.label_agreement.setVisible(choice.show == "marked" and told)
        self._show_counts()

    def clear_filter(self) -> None:
        """Shows everything again."""
        self.tools.clear()
        self.pane.point_at(None)
        self.apply_filter()

    def show_wanted(self, wanted: AnswersWanted) -> None:
        """Shows exactly the tests that another page speaks of, and the model if it is about one."""
        result = self.context.results.result
        self.tools.clear()
        self.tools.only, self._only_run = wanted, result.run_id if result is not None else ""
        self.pane.point_at(wanted.model_key)
        self.apply_filter()
        shown = self.rows.shown_rows()
        if shown:
            self.tests.select_key(shown[0].case.id)

    def _show_retry(self) -> None:
        """Beside the questions that could not be asked: a way to ask them again."""
        facts = self.facts
        unasked = self.tools.choice.show == "unasked"
        can = facts is not None and unasked and can_retry(self.context, facts.info)
        self.tools.offer_retry(facts.info.errors if can and facts is not None else 0)

    def _on_retry(self) -> None:
        if self.facts is not None and can_retry(self.context, self.facts.info):
            retry(self.context, self.facts.info)

    # all calls as a table

    @property
    def as_table(self) -> bool:
        """Whether the table of all calls is on show."""
        return self.stack.currentIndex() == _TABLE

    def show_table(self, on: bool) -> None:
        """All calls as one table, or the tests side by side."""
        if on:
            self.stack.setCurrentWidget(self.call_pane)
        else:
            self.stack.setCurrentIndex(_SIDE_BY_SIDE)
        self.tools.show_as_table(on)
        self.apply_filter()
        if not on:
            self._on_current(self.list.current)

    def _show_calls(self) -> None:
        self.call_pane.show_calls(self.tools.choice.calls())

    def _on_case_wanted(self, case_id: str) -> None:
        self.show_table(False)
        self.show_case(case_id)

    def show_case(self, case_id: str) -> None:
        """Looks at one test, whatever the filter was."""
        if self.rows.row_of(case_id) < 0:
            self.clear_filter()
        if not self.tests.select_key(case_id):
            self._wanted_case = case_id

    # doing

    def _on_blind(self, blind: bool) -> None:
        self.list.set_heads(self._heads, blind=blind)
        self.pane.set_blind(blind)
        row = self.list.current
        if row is not None:
            self.tests.select_key(row.case.id)

    def _on_marks(self) -> None:
        self.pane.set_marks(self.marking.own)
        self.label_agreement.setText(self.marking.agreement)
        self._refilter()

    def _on_copied(self) -> None:
        self.strips.show_message(Message("copied", Tone.GOOD, self.tr("Question and answers are copied.")))

    def _on_not_read(self, error: ArenaError) -> None:
        self.strips.show_message(Message("answers", Tone.BAD, error.message, error.hint))

    # Qt

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        self.splitter.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self._fit_list()
