"""The two questions about a run under way: cancel it, and close the window with it."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget


class Choice(StrEnum):
    """What the person chose."""

    KEEP = "keep"
    FINISH = "finish"
    STOP = "stop"


class RunQuestion(QMessageBox):
    """A question with three answers; `chosen(Choice)` follows. Esc keeps the run going."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget, name: str, title: str, text: str) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(title)
        self.setInformativeText(text)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._choices: dict[QPushButton, Choice] = {}
        self.finished.connect(self._on_finished)

    def offer(self, choice: Choice, text: str, name: str) -> QPushButton:
        """Adds an answer; KEEP is what Esc and Enter choose, so that nothing is lost by accident."""
        keep = choice is Choice.KEEP
        role = QMessageBox.ButtonRole.RejectRole if keep else QMessageBox.ButtonRole.ActionRole
        button = self.addButton(text, role)
        button.setObjectName(name)
        button.setAccessibleName(text)
        self._choices[button] = choice
        if keep:
            self.setDefaultButton(button)
            self.setEscapeButton(button)
        return button

    def _on_finished(self) -> None:
        pressed = self.clickedButton()
        self.chosen.emit(self._choices.get(pressed, Choice.KEEP))  # type: ignore[call-overload]


def _on_the_way(question: RunQuestion, running: int) -> str:
    if running == 0:
        return question.tr("None is on its way.")
    if running == 1:
        return question.tr("1 is on its way and already paid for.")
    return question.tr("{count} are on their way and already paid for.").format(count=running)


def _saved(question: RunQuestion, done: int) -> str:
    if done == 1:
        return question.tr("1 answer is saved.")
    return question.tr("{count} answers are saved.").format(count=done)


def cancel_question(parent: QWidget, done: int, running: int) -> RunQuestion:
    """Asks how a run should end. `done` answers are saved, `running` are on their way."""
    question = RunQuestion(parent, "dialog_cancel_run", parent.tr("Cancel this run?"), "")
    question.setInformativeText(f"{_saved(question, done)} {_on_the_way(question, running)}")
    finish = question.tr("Finish the ones under way, then stop")
    question.offer(Choice.FINISH, finish, "button_finish_then_stop")
    question.offer(Choice.STOP, question.tr("Stop now"), "button_stop_now")
    question.offer(Choice.KEEP, question.tr("Keep running"), "button_keep_running")
    return question


def close_question(parent: QWidget, done: int, running: int) -> RunQuestion:
    """Asks what becomes of the run when the window is to close."""
    title = parent.tr("A run is going on.")
    question = RunQuestion(parent, "dialog_close_run", title, "")
    question.setInformativeText(f"{_saved(question, done)} {_on_the_way(question, running)}")
    question.offer(
        Choice.FINISH, question.tr("Finish those under way, then close"), "button_finish_then_close"
    )
    question.offer(Choice.STOP, question.tr("Stop now and close"), "button_stop_and_close")
    question.offer(Choice.KEEP, question.tr("Keep running (window minimised)"), "button_keep_minimised")
    return question
