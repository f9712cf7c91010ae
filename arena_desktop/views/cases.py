"""Test cases: every question with its right answer, how it is marked, and whether it can be."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.desks.project_tests import can_change
from arena_desktop.dialogs.add_tests import open_add_tests
from arena_desktop.dialogs.change_checks import open_change_checks
from arena_desktop.dialogs.change_test import delete_test, open_change_test
from arena_desktop.itemmodels.cases import CaseRow, all_tags, case_columns, case_rows
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.theme.switch import set_width
from arena_desktop.views.case_pane import CasePane
from arena_desktop.views.check_tester import CheckTester
from arena_desktop.views.setup_parts import SetupView
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.kept_choices import KeptChoices, SideSplitter
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from arena_desktop.wording.formats import counted
from arena_desktop.wording.setup import problem_words
from engine.domain import Problem
from engine.execution.preflight import Preflight

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_ATTENTION = "\nattention"
"""What the tag box holds for "Need attention": no tag is like this."""
_PANE_WIDTH = 316


class CasesView(SetupView):
    """The tests as they were read. Rows are made in the background; the pane shows one in full."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "cases", self.tr("Test cases"))
        again = Button(self.tr("Read again"), name="button_reload")
        again.setToolTip(self.tr("Reads the files with test cases again after you changed them elsewhere"))
        again.clicked.connect(context.projects.reload)
        self.header.controls.addWidget(again)
        add = Button(self.tr("Add tests…"), icon="plus", name="button_add_tests")
        add.clicked.connect(self.add_tests)
        self.header.controls.addWidget(add)
        self._splitter = SideSplitter("splitter_cases")
        self._splitter.addWidget(self._list())
        self.pane = CasePane()
        self.pane.stepped.connect(self._on_step)
        self.pane.change_pressed.connect(self._on_change)
        self.pane.delete_pressed.connect(self._on_delete)
        self.pane.marking_pressed.connect(self._on_marking)
        self._splitter.addWidget(self.pane)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        set_width(self.pane, 280, least=True)
        self._splitter.set_usual([10_000, scaled(_PANE_WIDTH)])
        self.content.addWidget(self._splitter, 1)
        self._attention: tuple[CaseRow, ...] = ()
        self.begin()

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        self._splitter.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self._splitter.set_usual([300, 200] if narrow else [10_000, scaled(_PANE_WIDTH)])

    def add_tests(self) -> None:
        """Opens the sheet for new tests."""
        open_add_tests(self.context, self)

    # what is shown

    def show_project(self, opened: OpenProject) -> None:
        self.table.remember(self.context.settings, opened.project.root)
        self._work_out(opened, opened.project.problems)

    def show_preflight(self, preflight: Preflight) -> None:
        opened = self.context.projects.current
        if opened is not None:
            self._work_out(opened, preflight.problems)

    def show_attention(self) -> None:
        """Shows only the tests with something wrong, the first of them in the pane."""
        self._tags.setCurrentIndex(self._tags.findData(_ATTENTION))
        if self._attention:
            self.table.select_key(self._attention[0].case.id)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _work_out(self, opened: OpenProject, problems: tuple[Problem, ...]) -> None:
        if not self.rows.total_count():
            self._foot_left.setText(self.tr("Reading the tests…"))

        def work(_job: Job) -> tuple[OpenProject, list[CaseRow]]:
            return opened, case_rows(opened.project, problems)

        self.context.background.run(work, self._on_rows, self._on_failed, name="case rows", replace=True)

    def _on_rows(self, answer: tuple[OpenProject, list[CaseRow]]) -> None:
        opened, rows = answer
        if opened is not self.context.projects.current:
            return
        self._attention = tuple(row for row in rows if row.errors)
        self.rows.set_rows(rows)
        self._show_tags(rows)
        self._on_current(self.table.current_record())
        self._show_counts(rows)
        self._say_attention()

    def _on_failed(self, error: Exception) -> None:
        raise error

    # parts

    def _list(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.table = ArenaTable("table_cases", self.tr("Test cases"))
        self.rows: ColumnTable[CaseRow] = ColumnTable(
            case_columns(), key=lambda row: row.case.id, muted=lambda row: not row.counts, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.current_row_changed.connect(self._on_current)
        self.table.activated_row.connect(lambda _row: self.pane.focus_text())
        self.table.delete_pressed.connect(lambda: self._on_delete(self.table.current_record()))
        self.table.add_pressed.connect(self.add_tests)
        self._tags = Combo(self.tr("Tag"), name="combo_tag")
        self._kept = KeptChoices(self.context.settings, "cases", self, self._root)
        self._kept.keep_choice(self._tags)
        self._tags.currentIndexChanged.connect(lambda _index: self._filter())
        self.bar = FilterBar(self.table, self.tr("Filter"))
        self.bar.field.setAccessibleName(self.tr("Filter the tests"))
        self.bar.extra.addWidget(self._tags)
        column.addWidget(self.bar)
        self.card = TableCard(self.table)
        self.card.set_empty(
            self.tr("No test cases yet."),
            self.tr(
                "A test is one question and what a good answer looks like. Ten are enough to start; fifty"
                " tell close models apart."
            ),
            self.tr("Add the first test"),
        )
        self.card.empty_pressed.connect(self.add_tests)
        foot = self.card.add_foot()
        self._foot_left = Label("", "body", colour="text2", name="label_case_count")
        self._foot_right = Label("", "body", colour="warn", name="label_case_attention")
        foot.addWidget(self._foot_left)
        foot.addStretch(1)
        foot.addWidget(self._foot_right)
        column.addWidget(self.card, 1)
        return holder

    def _root(self) -> Path | None:
        project = self.context.projects.project
        return project.root if project is not None else None

    # filling

    def _show_tags(self, rows: list[CaseRow]) -> None:
        chosen = self._kept.chosen(self._tags)
        self._tags.blockSignals(True)
        self._tags.clear()
        self._tags.addItem(self.tr("All tags"), "")
        if self._attention:
            self._tags.addItem(self.tr("Need attention"), _ATTENTION)
        for tag in all_tags(rows):
            self._tags.addItem(tag, tag)
        self._tags.setCurrentIndex(max(0, self._tags.findData(chosen)))
        self._tags.blockSignals(False)
        self._tags.setVisible(self._tags.count() > 1)
        self._filter()

    def _filter(self) -> None:
        tag = self._tags.currentData()
        if not tag:
            self.rows.set_predicate(None)
        elif tag == _ATTENTION:
            self.rows.set_predicate(lambda row: bool(row.errors))
        else:
            self.rows.set_predicate(lambda row: tag in row.case.tags)

    def _show_counts(self, rows: list[CaseRow]) -> None:
        left_out = sum(not row.counts for row in rows)
        words = counted(len(rows), self.tr("1 test"), self.tr("{count} tests"))
        if left_out:
            words += ", " + counted(left_out, self.tr("1 left out"), self.tr("{count} left out"))
        self._foot_left.setText(words)
        attention = len(self._attention)
        self._foot_right.setText(
            counted(attention, self.tr("1 needs attention"), self.tr("{count} need attention"))
            if attention
            else ""
        )

    def _say_attention(self) -> None:
        if not self._attention:
            self.strips.close_message("attention")
            return
        count = len(self._attention)
        first = counted(
            count, self.tr("1 test cannot be marked."), self.tr("{count} tests cannot be marked.")
        )
        words = self.tr("Show it") if count == 1 else self.tr("Show them")
        self.strips.show_message(
            Message("attention", Tone.WARN, first, self._why(), (StripButton(words, self.show_attention),))
        )

    def _why(self) -> str:
        """The one cause, or that there are several."""
        codes = {problem.code for row in self._attention for problem in row.errors}
        if codes == {"reference_missing"}:
            one, many = self.tr("It has no right answer."), self.tr("They have no right answer.")
            return one if len(self._attention) == 1 else many
        problem = self._attention[0].errors[0]
        return problem_words(problem) if len(codes) == 1 else ""

    # doing

    def _on_current(self, row: CaseRow | None) -> None:
        opened = self.context.projects.current
        self.pane.show_case(row if opened is not None else None)

    def _on_change(self, row: CaseRow | None) -> None:
        if row is not None:
            open_change_test(self.context, row.case, self)

    def _on_marking(self, row: CaseRow | None) -> None:
        if row is not None:
            tester = partial(CheckTester, self.context, chosen_only=True)
            open_change_checks(self.context, self, tester, row.case)

    def _on_delete(self, row: CaseRow | None) -> None:
        if row is not None and can_change(row.case):
            delete_test(self.context, row.case)

    def _on_step(self, step: int) -> None:
        index = self.table.currentIndex()
        row = index.row() + step
        if 0 <= row < self.rows.shown_count():
            self.table.select_key(self.rows.row_key(row))
