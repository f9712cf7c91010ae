"""The questions about a run under way and those that wait: cancel it, and close the window with them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QMessageBox, QPushButton, QWidget

from arena_desktop.widgets.buttons import give_kind
from arena_desktop.wording import run_queue as queue_words

if TYPE_CHECKING:
    from arena_desktop.desks.run_desk import RunDesk


class Choice(StrEnum):
    """What the person chose."""

    KEEP = "keep"
    NOTHING = "nothing"
    """As if nobody had asked: Esc, where KEEP does something too."""
    FINISH = "finish"
    STOP = "stop"


class RunQuestion(QMessageBox):
    """A question with three answers; `chosen(Choice)` follows. Esc keeps the run going.

    `escape` is what Esc and the close button of the question mean.
    """

    chosen = Signal(object)
    escape = Choice.KEEP

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
        self._drop: QCheckBox | None = None
        self._left = False
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
            give_kind(button, "primary")
            self.setDefaultButton(button)
            self.setEscapeButton(button)
        return button

    def offer_drop(self, text: str) -> None:
        """A box, not ticked: those that wait are dropped as well."""
        # Kept here: the binding does not hand the box over, and Qt would be left with a dead one.
        self._drop = QCheckBox(text, self)
        self._drop.setObjectName("check_drop_waiting")
        self.setCheckBox(self._drop)

    @property
    def drops_waiting(self) -> bool:
        """Whether those that wait are to be dropped as well."""
        return self._drop is not None and self._drop.isChecked()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._left = event.key() == Qt.Key.Key_Escape
        super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._left = True
        super().closeEvent(event)

    def _on_finished(self) -> None:
        if self._left:
            self.chosen.emit(self.escape)
            return
        pressed = self.clickedButton()
        self.chosen.emit(self._choices.get(pressed, Choice.KEEP))  # type: ignore[call-overload]


def costs_nothing(runs: RunDesk) -> bool:
    """Whether nothing in the run under way can be charged."""
    ready = runs.current.preflight.ready if runs.current is not None else ()
    return all(model.price is not None and model.price.free for model in ready)


def _on_the_way(question: RunQuestion, running: int, free: bool) -> str:
    if running == 0:
        return question.tr("None is on its way.")
    if free:
        many = question.tr("{count} are on their way.").format(count=running)
        return question.tr("1 is on its way.") if running == 1 else many
    if running == 1:
        return question.tr("1 is on its way and already paid for.")
    return question.tr("{count} are on their way and already paid for.").format(count=running)


def _saved(question: RunQuestion, done: int) -> str:
    if done == 1:
        return question.tr("1 answer is saved.")
    return question.tr("{count} answers are saved.").format(count=done)


def ask_cancel(parent: QWidget, runs: RunDesk) -> None:
    """Asks how the run under way should end and what becomes of those that wait, and sees to it.

    A run that is ending already is stopped now.
    """
    if not runs.running:
        return
    if runs.stopping:
        runs.stop_now()
        return
    following = runs.waiting.next_up()
    rest = (len(runs.waiting), following.order.name if following is not None else "")
    progress = runs.progress
    question = cancel_question(parent, progress.done, progress.running, rest, free=costs_nothing(runs))

    def on_chosen(choice: Choice) -> None:
        if choice is not Choice.KEEP and question.drops_waiting:
            runs.waiting.remove_all()
        if choice is Choice.FINISH:
            runs.cancel()
        elif choice is Choice.STOP:
            runs.stop_now()

    question.chosen.connect(on_chosen)
    question.open()


def cancel_question(
    parent: QWidget, done: int, running: int, rest: tuple[int, str] = (0, ""), *, free: bool = False
) -> RunQuestion:
    """Asks how a run should end. `done` answers are saved, `running` are on their way.

    `free`: nothing in it can be charged. `rest`: how many runs wait, and the name of the next one, empty
    where none starts by itself.
    """
    question = RunQuestion(parent, "dialog_cancel_run", parent.tr("Cancel this run?"), "")
    said = (_saved(question, done), _on_the_way(question, running, free), queue_words.cancel_rest(*rest))
    question.setInformativeText(" ".join(sentence for sentence in said if sentence))
    if rest[0]:
        question.offer_drop(queue_words.drop_too(rest[0]))
    finish = question.tr("Finish the ones under way, then stop")
    question.offer(Choice.FINISH, finish, "button_finish_then_stop")
    question.offer(Choice.STOP, question.tr("Stop now"), "button_stop_now")
    question.offer(Choice.KEEP, question.tr("Keep running"), "button_keep_running")
    return question


def close_question(
    parent: QWidget, done: int, running: int, waiting: int = 0, *, free: bool = False
) -> RunQuestion:
    """Asks what becomes of the run, and of those that wait, when the window is to close."""
    title = parent.tr("A run is going on.")
    question = RunQuestion(parent, "dialog_close_run", title, "")
    # The kept run goes on in a minimised window; who only leaves the question still looks at it.
    question.escape = Choice.NOTHING
    said = (_saved(question, done), _on_the_way(question, running, free), queue_words.close_rest(waiting))
    question.setInformativeText(" ".join(sentence for sentence in said if sentence))
    question.offer(
        Choice.FINISH, question.tr("Finish those under way, then close"), "button_finish_then_close"
    )
    question.offer(Choice.STOP, question.tr("Stop now and close"), "button_stop_and_close")
    question.offer(Choice.KEEP, question.tr("Keep running (window minimised)"), "button_keep_minimised")
    return question


def close_waiting_question(parent: QWidget, waiting: int) -> RunQuestion:
    """Asks before runs that have not started yet are dropped with the window. STOP = close, KEEP = not."""
    title = queue_words.close_idle_title(waiting)
    question = RunQuestion(parent, "dialog_close_waiting", title, queue_words.close_idle_text(waiting))
    question.offer(Choice.STOP, question.tr("Close and drop them"), "button_drop_and_close")
    question.offer(Choice.KEEP, question.tr("Keep the window open"), "button_keep_open")
    return question
