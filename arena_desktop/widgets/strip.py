"""Message strips: what happened, what it means, what to do. At most two are shown, newest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.theme import current, icon_size, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import card
from arena_desktop.theme.switch import renew_roles
from arena_desktop.theme.tokens import RADIUS_CARD, STRIP
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button, IconButton
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import LOOK_CHANGES, LeadLabel, Span

_LOOK = {
    Tone.INFO: ("info", "accentText", "tint", "infoEdge"),
    Tone.GOOD: ("good", "good", "goodBg", "goodEdge"),
    Tone.WARN: ("warn", "warn", "warnBg", "warnEdge"),
    Tone.BAD: ("bad", "bad", "badBg", "badEdge"),
}
SHOWN_AT_ONCE = 2
_ICON = 20


@dataclass(frozen=True, slots=True)
class StripButton:
    """A button of a strip. `strong` draws it as a secondary button instead of a quiet one."""

    text: str
    action: Callable[[], None]
    strong: bool = False
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `key` names it: a message with the same key takes the old one's place.

    `first` is drawn bold. At most two buttons. `can_close` False for states that leave by themselves.
    `of_project`: it speaks of the open project and leaves with it.
    """

    key: str
    tone: Tone
    first: str
    text: str = ""
    buttons: tuple[StripButton, ...] = field(default=())
    can_close: bool = True
    of_project: bool = False


class MessageStrip(QFrame):
    """One strip. Esc closes it while the focus is inside. `closed(key)` tells that the person closed it."""

    closed = Signal(str)

    def __init__(self, message: Message, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_strip")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setSpacing(8)
        self._words = LeadLabel("body", name="message_text")
        row.addWidget(self._words, 1)
        self._buttons = FlowLayout(right=True)
        row.addLayout(self._buttons)
        self._close = IconButton("close", self.tr("Close this message"), name="button_close_message")
        self._close.setProperty("place", "tinted")
        self._close.clicked.connect(self.dismiss)
        row.addWidget(self._close)
        row.setAlignment(self._buttons, Qt.AlignmentFlag.AlignVCenter)
        self._apply_size()
        self.set_message(message)

    @property
    def message(self) -> Message:
        """What it says."""
        return self._message

    def set_message(self, message: Message) -> None:
        """Says something else in place; buttons are made anew only when they differ."""
        old = getattr(self, "_message", None)
        self._message = message
        rest = f" {message.text}" if message.text else ""
        self._words.set_spans((Span(message.first, bold=True), Span(rest)))
        self.setAccessibleName(message.first + rest)
        self._close.setVisible(message.can_close)
        if old is None or [b.text for b in old.buttons] != [b.text for b in message.buttons]:
            self._make_buttons()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_message"):
            self._apply_size()

    def _apply_size(self) -> None:
        self.layout().setContentsMargins(28 + icon_size(_ICON), 7, 8, 7)
        self.setMinimumHeight(scaled(STRIP))

    def dismiss(self) -> None:
        """Closes it as the person would."""
        self.closed.emit(self._message.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._message.can_close:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        icon, ink, ground, edge = _LOOK[self._message.tone]
        theme, painter = current(), QPainter(self)
        card(painter, QRectF(self.rect()), RADIUS_CARD, theme.color(ground), theme.color(edge))
        size = icon_size(_ICON)
        middle = self.height() / 2 if self.height() < 2 * self.minimumHeight() else self.minimumHeight() / 2
        theme_icons.draw(painter, icon, theme[ink], QRectF(17, middle - size / 2, size, size))

    def _make_buttons(self) -> None:
        while (item := self._buttons.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for index, spec in enumerate(self._message.buttons[:2]):
            button = Button(
                spec.text, "secondary" if spec.strong else "quiet", name=f"message_button_{index + 1}"
            )
            button.clicked.connect(lambda _checked=False, index=index: self._press(index))
            self._buttons.addWidget(button)

    def _press(self, index: int) -> None:
        # Looked up late: the message may have been replaced by one with the same button texts.
        spec = self._message.buttons[index]
        if spec.closes:
            self.dismiss()
        spec.action()


class StripStack(QWidget):
    """The place for strips: the two newest, and "1 more" opens the rest. `shown_changed` after any change."""

    shown_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strips: dict[str, MessageStrip] = {}
        self._open = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._more = Button("", "quiet", name="button_more_messages")
        self._more.clicked.connect(self._toggle)
        self._layout.addWidget(self._more)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._arrange()

    def show_message(self, message: Message) -> None:
        """Shows it on top, or changes the one with the same key in place (spoken when its start changed)."""
        strip = self._strips.get(message.key)
        if strip is not None:
            before = strip.message.first
            strip.set_message(message)
            if before != message.first:
                announce(strip, f"{message.first} {message.text}")
            return
        strip = MessageStrip(message, self)
        strip.closed.connect(self.close_message)
        self._strips[message.key] = strip
        self._layout.insertWidget(0, strip)
        self._arrange()
        announce(strip, f"{message.first} {message.text}")

    def close_message(self, key: str) -> None:
        """Takes a message away; unknown keys are fine."""
        strip = self._strips.pop(key, None)
        if strip is None:
            return
        had_focus = strip.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
        strip.hide()
        strip.deleteLater()
        self._arrange()
        if had_focus:
            self.focusNextChild()

    def close_of_project(self) -> None:
        """Takes away what speaks of the project that was open."""
        for key in [strip.message.key for strip in self._strips.values() if strip.message.of_project]:
            self.close_message(key)

    def close_all(self) -> None:
        """Takes all messages away."""
        for key in list(self._strips):
            self.close_message(key)

    def close_newest(self) -> bool:
        """Esc anywhere on a page: closes the newest that can be closed. False when there is none."""
        for strip in self._ordered():
            if strip.message.can_close:
                strip.dismiss()
                return True
        return False

    def refresh(self) -> None:
        """Shows itself again after it was put into another layout, which hides a widget."""
        renew_roles(self)
        self._arrange()

    def messages(self) -> list[Message]:
        """All messages, newest first."""
        return [strip.message for strip in self._ordered()]

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self._strips else QSize(0, 0)

    def _ordered(self) -> list[MessageStrip]:
        return list(reversed(self._strips.values()))

    def _toggle(self) -> None:
        self._open = not self._open
        self._arrange()

    def _arrange(self) -> None:
        ordered = self._ordered()
        hidden = max(0, len(ordered) - SHOWN_AT_ONCE)
        if hidden == 0:
            self._open = False
        for place, strip in enumerate(ordered):
            strip.setVisible(self._open or place < SHOWN_AT_ONCE)
        self._more.setVisible(hidden > 0)
        self._more.setText(self.tr("Show fewer") if self._open else self.tr("%n more", "", hidden))
        self.setVisible(bool(ordered))
        self.shown_changed.emit()
