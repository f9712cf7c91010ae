"""Adds test cases by typing them or by pasting them from a spreadsheet. One line makes one test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Align, Column
from arena_desktop.desks.project_tests import NewTest, add_tests_to_project, cells_to_tests
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.itemmodels.cases import one_line
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.clipboard import from_tsv
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording.formats import counted

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.edit_steps import EditStep

_WIDTH, _HEIGHT = 840, 560
_EMPTY_LINES = 5
BLANK = NewTest("")


def _tr(text: str) -> str:
    return QCoreApplication.translate("AddTestsDialog", text)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the sheet; blank until somebody writes into it."""

    number: int
    test: NewTest = BLANK

    @property
    def blank(self) -> bool:
        """Whether nothing stands in it."""
        return not (self.test.question.strip() or self.test.answer.strip() or self.test.name.strip())


class AddTestsDialog(QDialog):
    """A small sheet: question, right answer, name. `chosen(tests)` follows the button, tests in order."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_add_tests")
        self.setWindowTitle(_tr("Add tests"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(_tr("Add tests"), "title"))
        layout.addWidget(
            Label(
                _tr(
                    "One line is one test. Type into the cells, or copy the columns in your spreadsheet"
                    " and paste them here."
                ),
                colour="text2",
                wrap=True,
            )
        )
        layout.addWidget(self._sheet(), 1)
        self._count = Label("", "body", colour="text2", wrap=True, name="label_new_tests")
        layout.addWidget(self._count)
        layout.addLayout(self._buttons())
        self.focus_ring = FocusRing(self)
        self.table.setCurrentIndex(self.lines.index(0, self.lines.section_of("question")))
        # As by the keyboard: the ring shows in which cell the first letter will land.
        self.table.setFocus(Qt.FocusReason.TabFocusReason)
        self._show_count()
        resize_within_screen(self, _WIDTH, _HEIGHT)

    @property
    def tests(self) -> tuple[NewTest, ...]:
        """The lines that ask something."""
        return tuple(line.test for line in self.lines.rows() if line.test.question.strip())

    def paste(self) -> None:
        """Puts what a spreadsheet copied below the lines that are filled."""
        found = cells_to_tests(from_tsv(QGuiApplication.clipboard().text()))
        if not found:
            self._say(_tr("There is nothing to paste. Copy the columns in your spreadsheet first."))
            return
        kept = [line.test for line in self.lines.rows() if not line.blank]
        self._fill([*kept, *found])
        words = counted(len(found), _tr("1 line was pasted."), _tr("{count} lines were pasted."))
        self._show_count(words)

    # parts

    def _sheet(self) -> QWidget:
        self.table = ArenaTable("table_new_tests", _tr("New tests"), cells=True)
        self.lines: ColumnTable[Line] = ColumnTable(
            self._columns(), key=lambda line: line.number, parent=self.table
        )
        self.table.setModel(self.lines)
        self.table.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self._fill(())
        self.table.paste_pressed.connect(self.paste)
        self.table.delete_pressed.connect(self._on_delete)
        return TableCard(self.table)

    def _columns(self) -> list[Column[Line]]:
        def column(name: str, title: str, **size: int) -> Column[Line]:
            def put(line: Line, value: Any) -> bool:
                test = replace(line.test, **{name: str(value)})
                self.lines.replace(replace(line, test=test))
                self._after_edit()
                return True

            def text(line: Line) -> str:
                return one_line(getattr(line.test, name))

            def edit(line: Line) -> str:
                return str(getattr(line.test, name))

            return Column(name, title, text, edit=edit, put=put, sortable=False, can_hide=False, **size)

        return [
            Column("number", "", lambda line: str(line.number), align=Align.RIGHT, width=48, sortable=False),
            column("question", _tr("Question"), stretch=3, minimum=200),
            column("answer", _tr("Right answer"), stretch=2, minimum=160),
            column("name", _tr("Name, if you like"), width=160),
        ]

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        paste = Button(_tr("Paste from a spreadsheet"), icon="import", name="button_paste_tests")
        paste.clicked.connect(self.paste)
        row.addWidget(paste)
        row.addStretch(1)
        cancel = Button(_tr("Cancel"), name="button_cancel_add")
        cancel.clicked.connect(self.reject)
        self.button_add = Button("", "primary", name="button_add_chosen")
        self.button_add.clicked.connect(self._on_add)
        for button in (paste, cancel):
            button.setAutoDefault(False)
        row.addWidget(cancel)
        row.addWidget(self.button_add)
        return row

    # inside

    def _fill(self, tests: Sequence[NewTest]) -> None:
        lines = [Line(number, test) for number, test in enumerate(tests, start=1)]
        lines += [Line(len(lines) + number) for number in range(1, _EMPTY_LINES + 1)]
        self.lines.set_rows(lines)

    def _after_edit(self) -> None:
        lines = list(self.lines.rows())
        if not lines[-1].blank:
            self.lines.set_rows([*lines, Line(len(lines) + 1)])
        self._show_count()

    def _on_delete(self) -> None:
        gone = {line.number for line in self.table.chosen_records()}
        current = self.table.current_record()
        if not gone and current is not None:
            gone = {current.number}
        self._fill([line.test for line in self.lines.rows() if not line.blank and line.number not in gone])
        self._show_count()

    def _show_count(self, before: str = "") -> None:
        count = len(self.tests)
        self.button_add.setEnabled(count > 0)
        self.button_add.setText(
            counted(count, _tr("Add 1 test"), _tr("Add {count} tests")) if count else _tr("Add tests")
        )
        words = [before] if before else []
        asking = sum(not line.blank for line in self.lines.rows()) - count
        if asking:
            one, many = (
                _tr("1 line has no question and is left out."),
                _tr("{count} lines have no question and are left out."),
            )
            words.append(counted(asking, one, many))
        without = sum(not test.answer.strip() for test in self.tests)
        if without:
            one, many = _tr("1 test has no right answer yet."), _tr("{count} tests have no right answer yet.")
            words.append(counted(without, one, many))
        if not words:
            words.append(_tr("Ten tests are enough to start; fifty tell close models apart."))
        self._say(" ".join(words), aloud=bool(before))

    def _say(self, words: str, *, aloud: bool = True) -> None:
        self._count.setText(words)
        if aloud:
            announce(self._count, words)

    def _on_add(self) -> None:
        tests = self.tests
        self.accept()
        self.chosen.emit(tests)


def open_add_tests(context: AppContext, parent: QWidget | None = None) -> AddTestsDialog:
    """Opens the sheet; what comes of it goes into the open project, which is then read again."""
    dialog = AddTestsDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.chosen.connect(lambda tests: add_to_project(context, tests))
    dialog.show()
    return dialog


def add_to_project(context: AppContext, tests: Sequence[NewTest]) -> None:
    """Writes tests into the open project in the background and says what became of it."""
    project = context.projects.project
    if project is None or not tests:
        return

    def where(made: EditStep) -> str:
        if len(tests) == 1 or not made.edits:
            return ""
        words = _tr("They are in {file} in the project folder.")
        return words.format(file=made.edits[0].path.name)

    write_to_project(
        context,
        lambda: add_tests_to_project(project, tests),
        counted(len(tests), _tr("1 test was added."), _tr("{count} tests were added.")),
        name=counted(len(tests), _tr("add 1 test"), _tr("add {count} tests")),
        more=where,
    )
