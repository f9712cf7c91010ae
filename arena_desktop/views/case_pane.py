"""One test case in full: question, right answer, marking, what is wrong with it. Plain text only."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.project_checks import can_change_checks
from arena_desktop.desks.project_tests import can_change
from arena_desktop.itemmodels.cases import CaseRow, check_words, name_words, question_text, reference_text
from arena_desktop.views.setup_parts import Glyph, ValueText, clear
from arena_desktop.widgets.buttons import Button, IconButton
from arena_desktop.widgets.card import Card
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.scrolled import Scrolled
from arena_desktop.wording.must_haves import words_of
from arena_desktop.wording.setup import problem_words
from engine.domain import Case, CheckSpec, Problem, Severity


class CasePane(Card):
    """The pane. `stepped(-1 or 1)` asks for the test before or after; the others are about this one."""

    stepped = Signal(int)
    change_pressed = Signal(object)
    delete_pressed = Signal(object)
    marking_pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__(padding=20, spacing=12, name="detail")
        head = QHBoxLayout()
        head.setSpacing(4)
        self.title = Label("", "section", name="label_test")
        head.addWidget(self.title, 1)
        for icon, spoken, step in (
            ("up", self.tr("The test before"), -1),
            ("down", self.tr("The next test"), 1),
        ):
            button = IconButton(icon, spoken, name=f"button_{icon}")
            button.clicked.connect(lambda _checked=False, step=step: self.stepped.emit(step))
            head.addWidget(button)
        self.body.addLayout(head)
        holder = QWidget()
        self._parts = QVBoxLayout(holder)
        self._parts.setContentsMargins(0, 0, 8, 0)
        self._parts.setSpacing(4)
        self.area = Scrolled(holder, self.tr("The test in full"), name="scroll_test", stops=True)
        self.body.addWidget(self.area, 1)
        self._row: CaseRow | None = None
        self.body.addWidget(self._actions())
        self.show_case(None)

    def show_case(self, row: CaseRow | None) -> None:
        """Shows a test from its beginning; None says that none is chosen."""
        clear(self._parts)
        self._row = row
        self._doing.setVisible(row is not None and can_change_checks(row.case))
        for button in (self.button_change, self.button_delete):
            button.setVisible(row is not None and can_change(row.case))
        if row is None:
            self.title.setText(self.tr("No test chosen"))
            return
        self.title.setText(self.tr("Test {number}").format(number=row.number))
        for problem in row.problems:
            self._add_problem(problem)
        if not row.counts and not row.errors:
            left_out = self.tr(
                "This test is left out of a run: the project chooses others, or it asks nothing."
            )
            self._parts.addWidget(Label(left_out, wrap=True, colour="text2"))
            self._parts.addSpacing(8)
        for label, text in self._fields(row):
            self._parts.addWidget(Label(label, "head", colour="text2"))
            self._parts.addWidget(ValueText(text, spoken=label))
            self._parts.addSpacing(8)
        self._parts.addStretch(1)
        self.area.verticalScrollBar().setValue(0)

    def _actions(self) -> QWidget:
        self._doing = QWidget()
        row = FlowLayout(self._doing)
        row.setContentsMargins(0, 0, 0, 0)
        self.button_change = Button(self.tr("Change…"), icon="edit", name="button_change_test")
        self.button_change.setAccessibleName(self.tr("Change this test"))
        self.button_change.clicked.connect(lambda: self.change_pressed.emit(self._row))
        self.button_marking = Button(self.tr("Marking…"), icon="scoring", name="button_change_marking")
        self.button_marking.setAccessibleName(self.tr("Change how this test is marked"))
        self.button_marking.clicked.connect(lambda: self.marking_pressed.emit(self._row))
        self.button_delete = Button(self.tr("Delete test"), "danger", name="button_delete_test")
        self.button_delete.clicked.connect(lambda: self.delete_pressed.emit(self._row))
        row.addWidget(self.button_change)
        row.addWidget(self.button_marking)
        row.addWidget(self.button_delete)
        return self._doing

    def focus_text(self) -> None:
        """Puts the keyboard into the pane, so that it can be read and scrolled."""
        self.area.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_problem(self, problem: Problem) -> None:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 8)
        row.setSpacing(8)
        sign = ("warn", "warn") if problem.severity is Severity.ERROR else ("info", "text2")
        row.addWidget(Glyph(*sign), 0, Qt.AlignmentFlag.AlignTop)
        words = problem_words(problem)
        colour = "warn" if problem.severity is Severity.ERROR else "text2"
        row.addWidget(Label(words, wrap=True, colour=colour).selectable(), 1)
        self._parts.addWidget(line)

    def _fields(self, row: CaseRow) -> list[tuple[str, str]]:
        """Labels and values; what a test does not have is left out, but for the first three."""
        case = row.case
        fields = [
            (self.tr("Name"), name_words(row)),
            (self.tr("Question"), question_text(case) or self.tr("Nothing is asked")),
            (self.tr("Right answer"), reference_text(case) or self.tr("There is no right answer yet")),
            (self.tr("How it is marked"), "\n".join(self._check_line(spec, case) for spec in case.checks)),
            (self.tr("Counts"), self.tr("{weight}x").format(weight=f"{case.weight:g}")),
            (self.tr("Tags"), ", ".join(case.tags)),
            (self.tr("Belongs together with"), case.group or ""),
            (self.tr("Its own instructions"), case.context or ""),
            (self.tr("Pictures and files"), "\n".join((*case.images, *case.files))),
            (self.tr("Longest answer"), self._longest(case)),
            (self.tr("Written in"), self._place(case)),
        ]
        return [(label, text) for label, text in fields if text]

    def _check_line(self, spec: CheckSpec, case: Case) -> str:
        words = [check_words(spec)]
        if spec.must_pass:
            words.append(self.tr("must pass"))
        if len(case.checks) > 1:
            words.append(self.tr("counts {weight}x").format(weight=f"{spec.weight:g}"))
        return ", ".join(words)

    def _longest(self, case: Case) -> str:
        if case.max_tokens is None:
            return ""
        return self.tr("About {words} words").format(words=words_of(case.max_tokens))

    def _place(self, case: Case) -> str:
        if case.line is None:
            return case.file
        return self.tr("{file}, line {line}").format(file=case.file, line=case.line)
