"""The right side of the Answers page: the question, then every model's answer side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.theme import scaled
from arena_desktop.views.answer_column import AnswerColumn
from arena_desktop.views.answer_foot import AnswerFoot
from arena_desktop.views.answer_marks import expected_marks, only_here_marks
from arena_desktop.views.answer_question import QuestionCard
from arena_desktop.views.answer_versions import Version
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.answer_view import TextMark
from arena_desktop.wording import answers as words
from engine.domain import CallDone, Case, Cell
from engine.stats.own_marks import OwnView

_ANSWERS_HEIGHT = 200
_FIRST_COLUMNS = 4
"""Columns made at once: as many as a wide window shows. The others follow one by one, so that a test
with many models does not hold up the window."""


@dataclass(frozen=True, slots=True)
class CaseAnswers:
    """One test with the answers of all models. `calls` by cell; a missing one was not asked."""

    run_id: str
    case: Case
    heads: tuple[ModelHead, ...]
    trials: int
    calls: Mapping[Cell, CallDone]
    marks: Mapping[Cell, OwnView] = field(default_factory=dict)


class AnswerPane(QWidget):
    """Shows `CaseAnswers`. `mark_chosen(Cell, OwnView | None)`: the person marked an answer."""

    mark_chosen = Signal(object, object)
    again_wanted = Signal(object)
    """A CallDone whose question is to be asked again."""
    case_shown = Signal(object)
    """CaseAnswers: another test, or the same one read anew."""
    copied = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("detail")
        self._shown: CaseAnswers | None = None
        self._columns: list[AnswerColumn] = []
        self._at = 0
        self._pointed: str | None = None
        self._blind = False
        self._mark_differences = True
        self._scrolling = False
        self._heads: Sequence[ModelHead] = ()
        self._prepared = 0
        self._versions: Mapping[Cell, Sequence[Version]] = {}
        self._text_marks: list[list[TextMark]] = []
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._add_column)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        self.asked = QuestionCard()
        self.question, self.reference = self.asked.question, self.asked.reference
        layout.addWidget(self.asked)
        layout.addWidget(self._answers(), 1)
        self.foot = AnswerFoot()
        self.combo_trial, self.check_together = self.foot.combo_trial, self.foot.check_together
        self.combo_trial.activated.connect(lambda _index: self._fill())
        self.button_copy = self.foot.button_copy
        self.button_copy.clicked.connect(self.copy)
        layout.addWidget(self.foot)

    # parts

    def _answers(self) -> QScrollArea:
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setAccessibleName(self.tr("Answers side by side"))
        area.viewport().setAutoFillBackground(False)
        inner = QWidget()
        self._row = QHBoxLayout(inner)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        area.setWidget(inner)
        inner.setAutoFillBackground(False)
        self._area = area
        return area

    # what is shown

    def show_case(self, answers: CaseAnswers | None) -> None:
        """Another test; None empties the pane."""
        self._shown, self._versions = answers, {}
        self.setVisible(answers is not None)
        if answers is None:
            return
        self.asked.show_case(answers.case, self.width())
        self.foot.set_trials(answers.trials)
        self._fill()
        self.case_shown.emit(answers)

    def set_versions(self, versions: Mapping[Cell, Sequence[Version]]) -> None:
        """The answers that are kept for the questions on show, by cell."""
        self._versions = versions
        for column in self.answer_columns():
            if column.call is not None:
                column.set_versions(versions.get(column.call.cell, ()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # A page too low for everything scrolls as a whole, rather than leave a slit of each answer.
        self._area.setMinimumHeight(scaled(_ANSWERS_HEIGHT))
        self.asked.fit(self.width())

    def set_marks(self, marks: Mapping[Cell, OwnView]) -> None:
        """The person's marks as they are kept now."""
        if self._shown is None:
            return
        self._shown = replace(self._shown, marks=marks)
        for column in self.answer_columns():
            if column.call is not None and not column.score.hasFocus():
                column.set_mark(marks.get(column.call.cell))

    def point_at(self, model_key: str | None) -> None:
        """Draws attention to one model's answer in every test, until another one is looked at."""
        self._pointed = model_key
        self._point()

    def _point(self) -> None:
        heads = [column.head.key for column in self.answer_columns() if column.head is not None]
        if self._pointed in heads and not self._blind:
            self._set_at(heads.index(str(self._pointed)), speak=True)

    def set_blind(self, blind: bool) -> None:
        """Hides or shows who said what."""
        self._blind = blind
        self._fill()

    def set_mark_differences(self, on: bool) -> None:
        """Marks pieces of the answers, or none."""
        self._mark_differences = on
        self._fill_marks()

    def answer_columns(self) -> list[AnswerColumn]:
        """The columns in their order on the screen."""
        return [column for column in self._columns if not column.isHidden()]

    def _ordered(self, answers: CaseAnswers) -> Sequence[ModelHead]:
        if not self._blind:
            return answers.heads

        # A fixed shuffle per test: the place must not tell the model.
        def place(head: ModelHead) -> str:
            return hashlib.sha256(f"{answers.run_id}|{answers.case.id}|{head.key}".encode()).hexdigest()

        return sorted(answers.heads, key=place)

    def _fill(self) -> None:
        answers = self._shown
        if answers is None:
            return
        self._heads = self._ordered(answers)
        self._read_marks(answers)
        wanted = len(self._heads)
        for number in range(min(wanted, max(_FIRST_COLUMNS, len(self._columns)))):
            self._fill_column(number)
        for number, column in enumerate(self._columns):
            column.setVisible(number < wanted)
        if len(self._columns) < wanted:
            self._more.start()
        self._set_at(min(self._at, max(0, wanted - 1)))
        self._point()

    def _fill_column(self, number: int) -> None:
        answers = self._shown
        if answers is None:
            return
        if number == len(self._columns):
            self._make_column(number)
        head = self._heads[number]
        cell = self._cell(answers, head)
        alias = self._alias(number)
        column = self._columns[number]
        call, mark = answers.calls.get(cell), answers.marks.get(cell)
        column.show_answer(head, call, mark, alias=alias, text_marks=self._text_marks[number])
        column.set_versions(self._versions.get(cell, ()))

    def prepare(self, count: int) -> None:
        """Makes the columns for so many models one by one, while their answers are still being read."""
        self._prepared = count
        if len(self._columns) < count:
            self._more.start()

    def _add_column(self) -> None:
        """The next column that is still missing: with an answer, or hidden until there is one."""
        number = len(self._columns)
        shown = len(self._heads) if self._shown is not None else 0
        if number < shown:
            self._fill_column(number)
            self._columns[number].show()
        elif number < self._prepared:
            self._make_column(number)
            self._columns[number].hide()
        if number + 1 < max(shown, self._prepared):
            self._more.start()
        elif number < shown:
            self._point()

    def _make_column(self, number: int) -> None:
        column = AnswerColumn(number + 1)
        column.mark_chosen.connect(lambda mark: self._on_mark(number, mark))
        column.again_pressed.connect(lambda: self.again_wanted.emit(column.call))
        column.view.scroll_bar().valueChanged.connect(lambda _value: self._on_scrolled(number))
        self._row.addWidget(column, 1)
        self._columns.append(column)

    def _alias(self, number: int) -> str:
        """What stands for the name while names are hidden; empty = the name."""
        return words.letter(number) if self._blind else ""

    def _cell(self, answers: CaseAnswers, head: ModelHead) -> Cell:
        return Cell(head.key, answers.case.id, self.foot.trial)

    def _read_marks(self, answers: CaseAnswers) -> None:
        """What to mark in each answer; from the answers themselves, whose columns may not be there yet."""
        texts = [words.shown_text(answers.calls.get(self._cell(answers, head))) for head in self._heads]
        self._text_marks = [
            [
                *only_here_marks(text, [*texts[:number], *texts[number + 1 :]]),
                *expected_marks(text, answers.case),
            ]
            if self._mark_differences
            else []
            for number, text in enumerate(texts)
        ]
        self.foot.show_legend({mark.kind for marks in self._text_marks for mark in marks})

    def _fill_marks(self) -> None:
        if self._shown is None:
            return
        self._read_marks(self._shown)
        for column, marks in zip(self._columns, self._text_marks, strict=False):
            column.set_text_marks(marks)

    # keys and marks

    def step(self, by: int) -> None:
        """The next answer to the left or right."""
        count = len(self.answer_columns())
        self._pointed = None
        if count:
            self._set_at(min(count - 1, max(0, self._at + by)), speak=True)

    def mark_at(self, mark: str | None) -> None:
        """Marks the answer that the keys mean."""
        columns = self.answer_columns()
        if columns and columns[self._at].mark.isEnabled():
            own = None if mark is None else OwnView(mark == "good")
            columns[self._at].set_mark(own)
            self._on_mark(self._at, own)

    def _set_at(self, at: int, *, speak: bool = False) -> None:
        self._at = at
        for number, column in enumerate(self._columns):
            column.set_at(number == at and speak)
        columns = self.answer_columns()
        if speak and columns:
            self._area.ensureWidgetVisible(columns[at], 12, 0)
            announce(columns[at], columns[at].spoken())

    def _on_mark(self, number: int, mark: OwnView | None) -> None:
        column = self._columns[number]
        if column.call is not None:
            self.mark_chosen.emit(column.call.cell, mark)

    def _on_scrolled(self, number: int) -> None:
        if self._scrolling or not self.check_together.isChecked():
            return
        bar = self._columns[number].view.scroll_bar()
        share = bar.value() / bar.maximum() if bar.maximum() else 0.0
        self._scrolling = True
        for other, column in enumerate(self.answer_columns()):
            if other != number:
                mine = column.view.scroll_bar()
                mine.setValue(round(share * mine.maximum()))
        self._scrolling = False

    def copy(self) -> None:
        """Puts question, right answer and all answers on the clipboard."""
        answers = self._shown
        if answers is None:
            return
        said = [
            (self._alias(number) or head.label, answers.calls.get(self._cell(answers, head)))
            for number, head in enumerate(self._heads)
        ]
        QGuiApplication.clipboard().setText(words.copy_text(answers.case, said))
        self.copied.emit()
