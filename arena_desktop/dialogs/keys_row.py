"""One service in the list of access keys: how it stands, Check, and the way to its card."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.connections import KnownConnection
from arena_desktop.desks.key_desk import KeyState
from arena_desktop.theme import current, scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.labels import LOOK_CHANGES, ElidedLabel
from arena_desktop.wording import keys as words

_CHIPS, _ACTIONS = 114, 168


class ConnectionRow(QWidget):
    """A service: name and a grey sentence, chip, Check, and the button that opens its card."""

    open_wanted = Signal(str)
    check_wanted = Signal(str)
    change_wanted = Signal(str)

    def __init__(self, place: KnownConnection) -> None:
        super().__init__()
        self.place_key = place.key
        self._place = place
        self._chosen = False
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 10, 12, 10)
        row.setSpacing(8)
        column = QVBoxLayout()
        column.setSpacing(0)
        self.name = ElidedLabel(place.title, "strong")
        self.sentence = ElidedLabel("", "caption", colour="text2")
        column.addWidget(self.name)
        column.addWidget(self.sentence)
        row.addLayout(column, 1)
        self.chip = Chip()
        self._holders = (_holder(self.chip, 0), _holder(None, 1))
        row.addWidget(self._holders[0])
        row.addWidget(self._holders[1])
        self.check = Button(self.tr("Check"), "quiet", name=f"button_check_{place.connection.id}")
        self.check.setAccessibleName(self.tr("Check {service}").format(service=place.title))
        self.check.clicked.connect(lambda: self.check_wanted.emit(self.place_key))
        self.open = Button("", name=f"button_key_{place.connection.id}")
        self.open.clicked.connect(self._on_open)
        actions = self._holders[1].layout()
        actions.addWidget(self.check)
        actions.addWidget(self.open)
        self._fit()

    def show_state(self, state: KeyState) -> None:
        """How it stands."""
        self._place = state.place
        facts = facts_of(state)
        said = words.state_words(facts)
        self.sentence.setText(said.sentence)
        self.chip.set_chip(said.chip, Tone(said.tone), said.icon)
        usable = state.code == "found"
        self.check.setVisible(usable)
        self.open.setText(self._button(state))
        spoken = self.tr("{what}: {service}").format(what=self.open.text(), service=state.place.title)
        self.open.setAccessibleName(spoken)
        self.setAccessibleName(f"{state.place.title}: {said.chip}. {said.sentence}")

    def set_chosen(self, chosen: bool) -> None:
        """Whether its card is on show."""
        self._chosen = chosen
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "open"):
            self._fit()

    def _fit(self) -> None:
        # The same widths in every row make columns of chips and buttons.
        for holder, width in zip(self._holders, (_CHIPS, _ACTIONS), strict=True):
            holder.setFixedWidth(scaled(width))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.open_wanted.emit(self.place_key)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._chosen:
            return
        painter, theme = QPainter(self), current()
        painter.fillRect(self.rect(), theme.color("tint"))
        painter.fillRect(QRectF(0, 0, 3, self.height()), theme.color("accent"))

    def _button(self, state: KeyState) -> str:
        if state.place.origin == "own" and not state.kept_here:
            return self.tr("Change…")
        if state.source == "environment":
            return self.tr("Add here…")
        return self.tr("Replace…") if state.kept_here else self.tr("Add key…")

    def _on_open(self) -> None:
        if self._place.origin == "own" and self.open.text() == self.tr("Change…"):
            self.change_wanted.emit(self.place_key)
        else:
            self.open_wanted.emit(self.place_key)


def _holder(widget: QWidget | None, stretch_at: int) -> QWidget:
    """A part of a row; `stretch_at` 0 keeps its widgets left, 1 right."""
    holder = QWidget()
    line = QHBoxLayout(holder)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(8)
    if stretch_at:
        line.addStretch(1)
    if widget is not None:
        line.addWidget(widget)
        line.addStretch(1)
    return holder


def facts_of(state: KeyState) -> words.KeyFacts:
    """A state as the wording takes it."""
    checked = state.checked
    return words.KeyFacts(
        code=state.code,
        source=state.source,
        ends_in=state.ends_in,
        name=state.name,
        host=state.place.host,
        reason=state.reason,
        kept_at=state.kept_at,
        checked_code=checked.code if checked else "",
        checked_at=checked.at if checked else None,
        has_key=state.has_key,
        local=state.place.local,
    )
