"""Changes or deletes one test of the open project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.project_tests import change_test, remove_test
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.itemmodels.cases import reference_text
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import FieldNote, FormGrid, TextArea
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from engine.domain import Case

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_WIDTH, _HEIGHT = 600, 460


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeTestDialog", text)


class ChangeTestDialog(QDialog):
    """Question and right answer of one test. `changed(question, answer)` follows the button."""

    changed = Signal(str, str)

    def __init__(self, case: Case, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_change_test")
        self.setWindowTitle(_tr("Change the test"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.windowTitle(), "title"))
        form = FormGrid(above=True)
        self.question = TextArea(_tr("Question"), lines=6, name="edit_question")
        self.question.setPlainText(case.input or "")
        self._note = FieldNote()
        form.add(_tr("&Question"), self.question, note=self._note)
        self.answer = TextArea(_tr("Right answer"), lines=3, name="edit_answer")
        self.answer.setPlainText(reference_text(case))
        form.add(_tr("&Right answer"), self.answer)
        layout.addWidget(form)
        layout.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(_tr("Cancel"), name="button_cancel_change")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.button_change = Button(_tr("Change the test"), "primary", name="button_change")
        self.button_change.clicked.connect(self._on_change)
        row.addWidget(cancel)
        row.addWidget(self.button_change)
        layout.addLayout(row)
        self.focus_ring = FocusRing(self)
        self.question.textChanged.connect(self._check)
        resize_within_screen(self, _WIDTH, _HEIGHT)
        self.question.setFocus()

    def _check(self) -> None:
        blank = not self.question.toPlainText().strip()
        self._note.show_note(self.question, "bad", _tr("A test needs a question.") if blank else "")
        self.button_change.setEnabled(not blank)

    def _on_change(self) -> None:
        self.accept()
        self.changed.emit(self.question.toPlainText(), self.answer.toPlainText())


def open_change_test(context: AppContext, case: Case, parent: QWidget | None = None) -> ChangeTestDialog:
    """Opens the dialog; what is changed goes into the open project, which is then read again."""
    dialog = ChangeTestDialog(case, parent)

    def change(question: str, answer: str) -> None:
        project = context.projects.project
        if project is not None:
            write_to_project(
                context,
                lambda: change_test(project, case, question, answer),
                _tr("1 test changed."),
                name=_tr("change 1 test"),
            )

    dialog.changed.connect(change)
    dialog.show()
    return dialog


def delete_test(context: AppContext, case: Case) -> None:
    """Takes a test out of the open project; the strip offers the way back."""
    project = context.projects.project
    if project is not None:
        write_to_project(
            context, lambda: remove_test(project, case), _tr("1 test deleted."), name=_tr("delete 1 test")
        )
