"""Answers: every test with what each model said, side by side or as one table of all calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.itemmodels.answer_tests import MOST_MARKS, TestRow, list_columns, make_test_rows
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.theme.switch import set_width
from arena_desktop.views.answer_calls import CallPane
from arena_desktop.views.answer_marking import AnswerMarking
from arena_desktop.views.answer_pane import AnswerPane, CaseAnswers
from arena_desktop.views.insights import AnswersWanted
from arena_desktop.views.result_parts import ResultFacts, ResultPage, can_retry, retry
from arena_desktop.widgets.buttons import Button, IconButton
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.fields import Combo, FilterField
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import answers as words
from arena_desktop.wording.board import practice_sentence
from arena_desktop.wording.resume import retry_button, retry_sentence
from engine.domain import CallStatus
from engine.errors import ArenaError
from engine.storage.rows import CallFilter
from engine.storage.store import Store

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_LIST_WIDTH = 296
_LIST_HEIGHT = 220
_PANE_HEIGHT = 440
_FILTER_DELAY_MS = 150
_FOUND_AT_MOST = 5_000
_MANY_CASES = 2_000

_SHOWS: dict[str, tuple[Callable[[TestRow], bool], CallFilter]] = {
    "all": (lambda _row: True, CallFilter()),
    "differ": (lambda row: row.differ, CallFilter(differ=True)),
    "failed": (lambda row: row.failed, CallFilter(passed=False)),
    "passed": (lambda row: row.passed, CallFilter(passed=True)),
    "unasked": (lambda row: row.unasked, CallFilter(statuses=(CallStatus.ERROR, CallStatus.STOPPED))),
    "marked": (lambda _row: True, CallFilter(marked=True)),
}


class AnswersView(ResultPage):
    """Reads everything in the background; holds which test is looked at, and nothing else."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "answers", self.tr("Answers"))
        self._heads: tuple[ModelHead, ...] = ()
        self._run_id = ""
        self._found: frozenset[str] | None = None
        self._only: AnswersWanted | None = None
        self._only_run = ""
        self._wanted_case: str | None = None
        self._wait = QTimer(self, singleShot=True, interval=_FILTER_DELAY_MS)
        self._wait.timeout.connect(self.apply_filter)
        self.pane = AnswerPane()
        self.marking = AnswerMarking(context, self.strips)
        self.marking.changed.connect(self._on_marks)
        self._add_tools()
        self._add_sides()
        context.answers_wanted.connect(self.show_wanted)
        self.begin()

    # parts

    def _add_tools(self) -> None:
        tools = QWidget()
        row = FlowLayout(tools)
        self.combo_show = Combo(self.tr("Which tests to show"), name="combo_show")
        for key, text in (
            ("all", self.tr("All")),
            ("differ", self.tr("Where models differ")),
            ("failed", self.tr("Failed")),
            ("passed", self.tr("Passed")),
            ("unasked", self.tr("Could not be asked")),
            ("marked", self.tr("My marks")),
        ):
            self.combo_show.addItem(text, key)
        self.combo_show.activated.connect(lambda _index: self.apply_filter())
        self.filter = FilterField(self.tr("Filter text"))
        set_width(self.filter, 200)
        self.filter.textChanged.connect(lambda _text: self._wait.start())
        self.filter.returnPressed.connect(self.apply_filter)
        self.filter.down_pressed.connect(lambda: self.tests.setFocus(Qt.FocusReason.ShortcutFocusReason))
        self.count = Label("", colour="text2", name="label_filter_count")
        self.button_clear = Button(self.tr("Clear"), "quiet", name="button_clear_filter")
        self.button_clear.setAccessibleName(self.tr("Show all tests"))
        self.button_clear.clicked.connect(self.clear_filter)
        self.chip_only = Chip(name="chip_only_these")
        self.chip_only.hide()
        self.button_retry = Button("", name="button_retry_failed")
        self.button_retry.clicked.connect(self._on_retry)
        self.button_retry.hide()
        for widget in (self.combo_show, self.filter, self.chip_only, self.count, self.button_clear):
            row.addWidget(widget)
        row.addWidget(self.button_retry)
        row.addStretch(1)
        self.check_marks = QCheckBox(self.tr("Mark differences"))
        self.check_marks.setObjectName("check_mark_differences")
        self.check_marks.setChecked(True)
        self.check_marks.toggled.connect(self.pane.set_mark_differences)
        self.check_blind = QCheckBox(self.tr("Hide model names"))
        self.check_blind.setObjectName("check_hide_names")
        self.check_blind.toggled.connect(self._on_blind)
        self.button_table = Button(self.tr("Show as table"), "quiet", name="button_all_calls")
        self.button_table.clicked.connect(lambda: self.show_table(self.stack.currentIndex() == 0))
        self.button_duel = Button(self.tr("Compare blind"), icon="compare", name="button_duel")
        self.button_duel.clicked.connect(lambda: self.context.page_wanted.emit("duel"))
        self.header.controls.addWidget(self.button_duel)
        for switch in (self.check_marks, self.check_blind, self.button_table):
            row.addWidget(switch)
        tools.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.content.addWidget(tools)
        self.label_agreement = Label("", "caption", colour="text2", wrap=True, name="label_agreement")
        self.label_agreement.hide()
        self.content.addWidget(self.label_agreement)

    def _add_sides(self) -> None:
        self.stack = QStackedWidget()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(16)
        self.splitter.addWidget(self._test_list())
        self.pane.mark_chosen.connect(self.marking.give)
        self.pane.copied.connect(self._on_copied)
        self.splitter.addWidget(self.pane)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([scaled(_LIST_WIDTH), scaled(700)])
        self.stack.addWidget(self.splitter)
        self.call_pane = CallPane(self._read)
        self.call_pane.case_wanted.connect(self._on_case_wanted)
        self.call_pane.clear_wanted.connect(self.clear_filter)
        self.call_pane.counts_changed.connect(self._show_counts)
        self.stack.addWidget(self.call_pane)
        self.content.addWidget(self.stack, 1)

    def _test_list(self) -> QWidget:
        self.tests = ArenaTable("table_tests", self.tr("Tests"), lines=3)
        self.rows: ColumnTable[TestRow] = ColumnTable(
            list_columns((), blind=False), key=lambda row: row.case.id, parent=self.tests
        )
        self.tests.setModel(self.rows)
        self.tests.installEventFilter(self)
        self.tests.current_row_changed.connect(self._on_current)
        self.rows.counts_changed.connect(lambda *_counts: self._show_counts())
        card = TableCard(self.tests)
        set_width(card, 220, least=True)
        card.watch()
        foot = card.add_foot()
        foot.setContentsMargins(12, 8, 20, 4)
        self.button_up = IconButton("up", self.tr("Test before"), name="button_test_before")
        self.button_down = IconButton("down", self.tr("Next test"), name="button_test_next")
        self.button_up.clicked.connect(lambda: self._step_test(-1))
        self.button_down.clicked.connect(lambda: self._step_test(1))
        self.label_at = Label("", colour="text2", name="label_test_at")
        steps = QWidget()
        row = QHBoxLayout(steps)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.button_up)
        row.addWidget(self.button_down)
        foot.addWidget(steps)
        foot.addStretch(1)
        foot.addWidget(self.label_at)
        return card

    # what is shown

    def show_facts(self, facts: ResultFacts) -> None:
        info = facts.info
        self.header.set_title(self.header.title.text(), practice_sentence() if info.practice else "")
        skipped = {skip.model_key for skip in facts.result.stored.skipped}
        self._heads = tuple(head for key, head in facts.heads.items() if key not in skipped)
        changed = info.run_id != self._run_id
        self._run_id = info.run_id
        if changed:
            self._found = None
            if self._only_run != info.run_id:
                self._only = None
            self.marking.load(info.run_id)
            self.rows.set_rows(())
            self.pane.show_case(None)
            self._fit_list()
            self.call_pane.set_run(info.run_id, facts.heads, trials=info.trials)
        self._read_tests(facts)
        if self.stack.currentIndex() == 1:
            self._show_calls()

    def _read_tests(self, facts: ResultFacts) -> None:
        cases, keys = facts.result.stored.cases, [head.key for head in self._heads]
        if len(cases) > _MANY_CASES and not self.rows.total_count():
            # The marks of very many tests take a moment; the tests themselves need not wait for them.
            self._read(
                lambda _store: (facts.info.run_id, make_test_rows(cases, (), ())),
                self._on_tests,
                "tests without marks",
            )

        def work(store: Store) -> tuple[str, list[TestRow]]:
            return facts.info.run_id, make_test_rows(cases, store.case_marks(facts.info.run_id), keys)

        self._read(work, self._on_tests, "answer tests")

    def _on_tests(self, answer: tuple[str, list[TestRow]]) -> None:
        run_id, rows = answer
        if run_id != self._run_id:
            return
        self._set_list_columns()
        self.rows.set_rows(rows)
        self.apply_filter()
        wanted, self._wanted_case = self._wanted_case, None
        if wanted is None or not self.tests.select_key(wanted):
            current = self.tests.current_record() or (self.rows.shown_rows() or (None,))[0]
            if current is not None:
                self.tests.select_key(current.case.id)
                self._on_current(current)

    def _set_list_columns(self) -> None:
        blind = self.check_blind.isChecked()
        self.rows.set_columns(list_columns(self._heads, blind=blind))

    def _fit_list(self) -> None:
        """Wide enough for the names beside the marks; the person may still move the handle."""
        self.splitter.widget(0).setMinimumHeight(scaled(_LIST_HEIGHT) if self.narrow else 0)
        if self.narrow:
            self.splitter.setSizes([scaled(_LIST_HEIGHT), scaled(_PANE_HEIGHT)])
            return
        marks = len(self._heads) if len(self._heads) <= MOST_MARKS and not self.check_blind.isChecked() else 0
        wanted = scaled(_LIST_WIDTH - 60) + 21 * marks
        self.splitter.setSizes([wanted, max(scaled(260), self.splitter.width() - wanted - 16)])

    def _on_current(self, row: TestRow | None) -> None:
        self._show_counts()
        facts = self.facts
        if row is None or facts is None or not self._run_id:
            return
        run_id, heads, trials = self._run_id, self._heads, facts.info.trials

        def work(store: Store) -> CaseAnswers:
            calls = store.calls(run_id, case_id=row.case.id)
            return CaseAnswers(run_id, row.case, heads, trials, {call.cell: call for call in calls})

        self._read(work, self._on_answers, "answers of a test")

    def _on_answers(self, answers: CaseAnswers) -> None:
        if answers.run_id == self._run_id:
            self.pane.show_case(replace(answers, marks=self.marking.own))

    def _show_counts(self) -> None:
        shown, total = self.rows.shown_count(), self.rows.total_count()
        if self.stack.currentIndex() == 1:
            calls = self.call_pane.calls
            shown, total = calls.shown_count(), calls.total_count()
        self.count.setText(self.tr("{shown} of {total} shown").format(shown=shown, total=total))
        self.count.setVisible(total > 0)
        filtered = bool(self.filter.text()) or self._show_key() != "all" or self._only is not None
        self.button_clear.setVisible(filtered)
        self._show_only()
        self._show_retry()
        row = self.tests.current_record()
        at = self.rows.row_of(row.case.id) + 1 if row is not None else 0
        self.label_at.setText(words.at_of(at, self.rows.shown_count()))

    # filter

    def _show_key(self) -> str:
        return str(self.combo_show.currentData())

    def apply_filter(self) -> None:
        """Shows the tests that the controls ask for now; answers are searched in the background."""
        self._wait.stop()
        text = self.filter.text().strip()
        if not text:
            self._found = None
        self._refilter()
        if text and self._run_id:
            self._search(text)
        if self.stack.currentIndex() == 1:
            self._show_calls()

    def _search(self, text: str) -> None:
        run_id = self._run_id

        def work(store: Store) -> tuple[str, str, frozenset[str]]:
            page = store.calls_page(run_id, CallFilter(text=text), limit=_FOUND_AT_MOST)
            return run_id, text, frozenset(row.cell.case_id for row in page.rows)

        self._read(work, self._on_found, "answer search")

    def _on_found(self, answer: tuple[str, str, frozenset[str]]) -> None:
        run_id, text, found = answer
        if run_id == self._run_id and text == self.filter.text().strip():
            self._found = found
            self._refilter()

    def _refilter(self) -> None:
        key, text, found = self._show_key(), self.filter.text().strip().casefold(), self._found
        fits = _SHOWS[key][0]
        only = frozenset(self._only.case_ids) if self._only is not None else None
        marked = frozenset(cell.case_id for cell in self.marking.own) if key == "marked" else None

        def keep(row: TestRow) -> bool:
            if not fits(row) or (marked is not None and row.case.id not in marked):
                return False
            if only is not None and row.case.id not in only:
                return False
            return not text or text in row.searched or (found is not None and row.case.id in found)

        self.rows.set_predicate(keep)
        self.label_agreement.setVisible(key == "marked" and bool(self.label_agreement.text()))
        self._show_counts()

    def clear_filter(self) -> None:
        """Shows all tests again."""
        self._only = None
        self.pane.point_at(None)
        self.filter.clear()
        self.combo_show.setCurrentIndex(0)
        self.apply_filter()

    def show_wanted(self, wanted: AnswersWanted) -> None:
        """Shows exactly the tests that another page speaks of, and the model if it is about one."""
        result = self.context.results.result
        self.clear_filter()
        self._only, self._only_run = wanted, result.run_id if result is not None else ""
        self.pane.point_at(wanted.model_key)
        self.apply_filter()
        shown = self.rows.shown_rows()
        if shown:
            self.tests.select_key(shown[0].case.id)

    def _show_only(self) -> None:
        only = self._only
        self.chip_only.setVisible(only is not None)
        if only is not None:
            self.chip_only.set_chip(words.only_these(len(only.case_ids), only.title), Tone.INFO)
            self.chip_only.setToolTip(only.title)

    def _show_retry(self) -> None:
        """Beside the questions that could not be asked: a way to ask them again."""
        facts = self.facts
        can = facts is not None and self._show_key() == "unasked" and can_retry(self.context, facts.info)
        self.button_retry.setVisible(can)
        if can and facts is not None:
            self.button_retry.setText(retry_button(facts.info.errors))
            self.button_retry.setToolTip(retry_sentence(facts.info.errors))

    def _on_retry(self) -> None:
        if self.facts is not None and can_retry(self.context, self.facts.info):
            retry(self.context, self.facts.info)

    # all calls as a table

    def show_table(self, on: bool) -> None:
        """All calls as one table, or the tests side by side."""
        self.stack.setCurrentIndex(1 if on else 0)
        self.button_table.setText(self.tr("Side by side") if on else self.tr("Show as table"))
        self.check_marks.setVisible(not on)
        self.check_blind.setVisible(not on)
        if on:
            self._show_calls()
        self._show_counts()

    def _show_calls(self) -> None:
        chosen = _SHOWS[self._show_key()][1]
        if self._only is not None:
            models = (self._only.model_key,) if self._only.model_key else ()
            chosen = replace(chosen, cases=self._only.case_ids, models=models)
        self.call_pane.show_calls(chosen, self.filter.text().strip())

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
        self._set_list_columns()
        self.pane.set_blind(blind)
        row = self.tests.current_record()
        if row is not None:
            self.tests.select_key(row.case.id)

    def _on_marks(self) -> None:
        self.pane.set_marks(self.marking.own)
        self.label_agreement.setText(self.marking.agreement)
        self._refilter()

    def _on_copied(self) -> None:
        self.strips.show_message(Message("copied", Tone.GOOD, self.tr("Question and answers are copied.")))

    def _step_test(self, by: int) -> None:
        row = self.tests.current_record()
        at = self.rows.row_of(row.case.id) if row is not None else -1
        to = min(self.rows.shown_count() - 1, max(0, at + by))
        if to >= 0:
            self.tests.select_key(self.rows.row_key(to))

    def _read(self, work: Callable[[Store], Any], done: Callable[[Any], None], name: str) -> None:
        open_store = self.context.results.store

        def job(_job: Job) -> Any:
            return work(open_store())

        self.context.background.run(job, done, self._on_not_read, name=name, replace=True)

    def _on_not_read(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.strips.show_message(Message("answers", Tone.BAD, error.message, error.hint))

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.tests and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._list_key(event)
        return super().eventFilter(watched, event)

    def _list_key(self, event: QKeyEvent) -> bool:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        marks = {Qt.Key.Key_G: "good", Qt.Key.Key_B: "bad"}
        key = Qt.Key(event.key())
        if key in steps:
            self.pane.step(steps[key])
            return True
        if key in marks:
            self.pane.mark_at(marks[key])
            return True
        return False

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        self.splitter.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self._fit_list()
