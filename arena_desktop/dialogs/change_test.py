"""Changes or deletes one test of the open project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QWidget

from arena_desktop.desks.project_tests import change_test, remove_test
from arena_desktop.dialogs.edit_dialog import EditDialog, column
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.itemmodels.cases import reference_text
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import TextArea
from arena_desktop.widgets.forms import FieldNote, FormGrid
from engine.domain import Case

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeTestDialog", text)


class ChangeTestDialog(EditDialog):
    """Question and right answer of one test. `changed(question, answer)` follows the button."""

    changed = Signal(str, str)

    def __init__(self, case: Case, parent: QWidget | None = None) -> None:
        super().__init__("test", _tr("Change the test"), parent)
        form = FormGrid(above=True)
        self.question = TextArea(_tr("Question"), lines=6, name="edit_question")
        self.question.setPlainText(case.input or "")
        self._note = FieldNote()
        form.add(_tr("&Question"), self.question, note=self._note)
        self.answer = TextArea(_tr("Right answer"), lines=3, name="edit_answer")
        self.answer.setPlainText(reference_text(case))
        form.add(_tr("&Right answer"), self.answer)
        change = Button(_tr("Change the test"), "primary", name="button_change")
        self.set_content(column(form), change, 600, 460)
        self.button_cancel.setObjectName("button_cancel_change")
        self.question.textChanged.connect(self._check)
        self.question.setFocus()

    def _check(self) -> None:
        blank = not self.question.toPlainText().strip()
        self._note.show_note(self.question, "bad", _tr("A test needs a question.") if blank else "")
        self.button_change.setEnabled(not blank)

    def given(self) -> tuple[str, str]:
        return self.question.toPlainText(), self.answer.toPlainText()


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
