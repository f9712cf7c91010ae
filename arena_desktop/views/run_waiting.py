"""The runs that wait their turn, as a quiet list on the Run page; on demand the one that goes on first."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.run_desk import RunDesk
from arena_desktop.desks.run_orders import Wait, WaitingRun
from arena_desktop.dialogs.waiting_question import ask_to_agree
from arena_desktop.views.setup_parts import clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import DENSE, Card
from arena_desktop.widgets.labels import ElidedLabel, Label
from arena_desktop.wording import run_queue as words


class RunLine(Card):
    """Hidden while nothing waits and the run that goes on is on show anyway."""

    show_pressed = Signal()
    """The person wants to see the run that goes on."""

    def __init__(self, runs: RunDesk) -> None:
        super().__init__(DENSE, spacing=4, name="card_waiting")
        self._runs, self._waiting = runs, runs.waiting
        self._with_running = False
        self.running = self._running_row()
        self.body.addWidget(self.running)
        self.title = Label("", "head", colour="text2", name="label_waiting_title")
        self.body.addWidget(self.title)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self.body.addLayout(self._rows)
        self._waiting.changed.connect(self._fill)
        self._fill()

    def _running_row(self) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        self.label_running = ElidedLabel("", "strong", name="label_other_run")
        self.button_show = Button(self.tr("Show it"), "quiet", name="button_show_run")
        self.button_show.setAccessibleName(self.tr("Show the run that goes on"))
        self.button_show.clicked.connect(self.show_pressed)
        line.addWidget(self.label_running, 1)
        line.addWidget(self.button_show)
        return row

    def set_with_running(self, shown: bool) -> None:
        """Whether the run that goes on is listed too, because the page shows something else."""
        self._with_running = shown
        self._show_parts()

    def set_running(self, text: str) -> None:
        """How the run that goes on stands."""
        if self.label_running.text() != text:
            self.label_running.setText(text)

    def _show_parts(self) -> None:
        waits = len(self._waiting)
        self.running.setVisible(self._with_running)
        self.title.setVisible(waits > 0)
        self.setVisible(self._with_running or waits > 0)

    def _fill(self) -> None:
        focus = self._focused()
        clear(self._rows)
        place = 0
        for number, entry in enumerate(self._waiting.entries, start=1):
            place += entry.wait is Wait.TURN
            self._rows.addWidget(self._row(number, entry, place if entry.wait is Wait.TURN else 0))
        markings = sum(entry.order.marking is not None for entry in self._waiting.entries)
        self.title.setText(words.waiting_title(len(self._waiting), markings))
        self._show_parts()
        if focus is not None:
            self._focus_near(focus)

    def _row(self, number: int, entry: WaitingRun, place: int) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(12)
        told = words.order_line(entry.order, entry.most)
        name = ElidedLabel(told, name=f"label_waiting_{number}")
        name.setAccessibleName(f"{told}. {words.turn_word(entry, place)}")
        held = entry.wait in (Wait.ASKS, Wait.CANNOT)
        state = Label(
            words.turn_word(entry, place), "strong" if held else "body", colour="warn" if held else "text2"
        )
        state.setObjectName(f"label_waiting_state_{number}")
        state.setToolTip(words.held_text(entry) if held else "")
        line.addWidget(name, 1)
        line.addWidget(state)
        if entry.wait is Wait.ASKS:
            decide = Button(self.tr("Decide…"), name=f"button_decide_{number}")
            decide.clicked.connect(lambda: ask_to_agree(self, self._waiting, entry))
            line.addWidget(decide)
        elif entry.wait is Wait.CANNOT:
            again = Button(self.tr("Try again"), name=f"button_look_again_{number}")
            again.clicked.connect(lambda: self._waiting.look_again(entry.number))
            line.addWidget(again)
        remove = Button(self.tr("Remove"), "quiet", name=f"button_remove_waiting_{number}")
        remove.setAccessibleName(self.tr("Remove {name} from the waiting runs").format(name=entry.order.name))
        remove.clicked.connect(lambda: self._waiting.remove([entry.number]))
        line.addWidget(remove)
        return row

    # the focus stays in the list while its rows are made anew

    def _removers(self) -> list[Button]:
        rows = [self._rows.itemAt(at).widget() for at in range(self._rows.count())]
        found = [row.findChild(Button, f"button_remove_waiting_{at}") for at, row in enumerate(rows, start=1)]
        return [button for button in found if button is not None]

    def _focused(self) -> int | None:
        for at in range(self._rows.count()):
            widget = self._rows.itemAt(at).widget()
            inside = widget.focusWidget() if widget is not None else None
            if inside is not None and inside.hasFocus():
                return at
        return None

    def _focus_near(self, at: int) -> None:
        removers = self._removers()
        if removers:
            removers[min(at, len(removers) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        elif self._with_running:
            self.button_show.setFocus(Qt.FocusReason.OtherFocusReason)
